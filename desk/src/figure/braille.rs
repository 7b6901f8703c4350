//! Knows how a figure is drawn with characters. Knows no pixels.

use super::Figure;

/// The figure as text, at most `columns` cells wide, its drawing area `rows` lines high.
#[must_use]
pub fn braille(figure: &Figure, columns: u16, rows: u16, unicode: bool) -> String {
    let _ = (columns, rows, unicode);
    figure.title.clone()
}
