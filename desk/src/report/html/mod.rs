//! stub
use super::document::Document;

/// The document as one self-contained HTML file.
#[must_use]
pub fn html(document: &Document) -> String {
    document.title.text().to_owned()
}
