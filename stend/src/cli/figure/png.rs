//! Knows how an SVG becomes a picture, with a font of its own. Knows no figure.

use super::super::error::CliError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Group, Node, Options, Tree};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Latin, Greek and Cyrillic, and some signs; see `OFL.txt` beside them.
const FONTS: [&[u8]; 3] = [
    include_bytes!("../../../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../../../fonts/NotoSans-Bold.ttf"),
    include_bytes!("../../../fonts/NotoSansMath-Regular.ttf"),
];
/// Name of the first two.
const FAMILY: &str = "Noto Sans";
/// Pixels of one side; larger is a slip of the hand.
const LARGEST: f32 = 20_000.0;

/// The picture of an SVG whose colours are written out, `scale` pixels for each of its px.
///
/// # Errors
/// A letter that the fonts have not, a picture larger than 20,000 pixels, an SVG that is none.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, CliError> {
    let mut fonts = usvg::fontdb::Database::new();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    fonts.set_sans_serif_family(FAMILY);
    let options =
        Options { font_family: FAMILY.into(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| CliError::Png(e.to_string()))?;
    let missing = missing(tree.root());
    if !missing.is_empty() {
        let letters: String = missing.into_iter().collect();
        let why = format!("the font of stend has no sign for '{letters}'; write .svg instead");
        return Err(CliError::Png(why));
    }
    let size = tree.size();
    let [wide, high] = [size.width(), size.height()].map(|side| (side * scale).ceil());
    if wide > LARGEST || high > LARGEST {
        let why = format!("{wide} x {high} pixels are too many; choose a smaller --scale");
        return Err(CliError::Png(why));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 20,000")]
    let picture = Pixmap::new(wide as u32, high as u32);
    let mut picture = picture.ok_or_else(|| CliError::Png("it has no size".into()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut picture.as_mut());
    picture.encode_png().map_err(|e| CliError::Png(e.to_string()))
}

/// Characters that no font has: they would become boxes.
fn missing(group: &Group) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in group.children() {
        match node {
            Node::Group(group) => found.extend(missing(group)),
            Node::Text(text) => {
                let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
                found.extend(glyphs.filter(|g| g.id.0 == 0).map(|g| g.text.clone()));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Result<Vec<u8>, String> {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"30\">\
             <style>text {{ fill: #000; font-family: system-ui, \"Noto Sans\"; }}</style>\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
             <text x=\"2\" y=\"20\">{words}</text></svg>"
        );
        png(&svg, 2.0).map_err(|e| e.to_string())
    }

    #[test]
    fn a_picture_has_the_size_and_the_letters_of_its_drawing() {
        let bytes = of("Ab Жд Ωµ ≤ −1 ×").unwrap();
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (180, 60));
        assert_ne!(bytes, of("").unwrap(), "no letter was drawn");
    }

    #[test]
    fn a_letter_without_a_sign_is_an_error_and_no_box() {
        let said = of("a接收").unwrap_err();
        assert!(said.contains("'接收'") && said.contains(".svg"), "{said}");
    }

    #[test]
    fn the_fonts_are_small() {
        let bytes: usize = FONTS.iter().map(|font| font.len()).sum();
        assert!(bytes < 150_000, "{bytes}");
    }
}
