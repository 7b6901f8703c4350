//! Knows how a laid out figure is written as SVG, and in which colours. Knows no positions.

use super::Figure;

/// The figure as inline SVG, `width` pixels wide.
#[must_use]
pub fn svg(figure: &Figure, width: u32) -> String {
    let _ = figure;
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"1\"/>")
}

/// The style sheet that every page with figures needs once: light, dark and print colours.
#[must_use]
pub const fn svg_style() -> &'static str {
    ""
}
