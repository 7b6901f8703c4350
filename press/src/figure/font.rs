//! Knows the font that pages and figures carry, so that a text takes the room that was measured for
//! it. Knows no text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::LazyLock;

/// Noto Sans, WOFF2: Latin with some Greek and signs, no layout features; see `fonts/OFL.txt`.
pub const REGULAR: &[u8] = include_bytes!("../../fonts/NotoSans-Regular.woff2");
/// Its semi-bold cut.
pub const SEMI_BOLD: &[u8] = include_bytes!("../../fonts/NotoSans-SemiBold.woff2");

static FACES: LazyLock<String> =
    LazyLock::new(|| [(REGULAR, "400 500"), (SEMI_BOLD, "600 700")].map(face).concat());

fn face((font, weight): (&[u8], &str)) -> String {
    let data = STANDARD.encode(font);
    format!(
        "@font-face {{ font-family: \"stend sans\"; font-weight: {weight}; \
         src: url(data:font/woff2;base64,{data}) format(\"woff2\"); }}\n"
    )
}

/// The rules that bring the font into a page, where it is called `stend sans`.
#[must_use]
pub fn font_faces() -> &'static str {
    &FACES
}
