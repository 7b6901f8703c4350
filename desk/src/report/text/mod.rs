//! stub
use super::document::Document;

/// The document as plain text, at most `columns` wide.
#[must_use]
pub fn text(document: &Document, _columns: u16, _unicode: bool) -> String {
    document.title.text().to_owned()
}
