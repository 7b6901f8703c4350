//! Knows what of a document fits on a screen: the answer, the figures, the limits, the doubts.
//!
//! Never: a table, a description of the machine or the method; the whole text has those.

use super::{Page, opened};
use crate::figure;
use crate::report::document::{Document, Node};

/// Height of the drawing area of a figure, lines.
const FIGURE_ROWS: u16 = 8;

/// The document in short, at most `columns` wide where its words allow it: for a terminal, where
/// the whole text would run past.
#[must_use]
pub fn summary(document: &Document, columns: u16, unicode: bool) -> String {
    let mut page = opened(document, columns, unicode);
    for node in &document.body {
        match node {
            Node::VerdictBox { .. } => page.node(node, 1),
            Node::Section { id, body, .. } if id.starts_with("result") => figures(&mut page, body),
            Node::Section { id, title, body } if id == "limits" || id == "doubts" => {
                page.gap();
                page.wrapped(title.text(), "", "");
                points(&mut page, body);
            }
            _ => {}
        }
    }
    page.finished()
}

/// Every figure under its finding.
fn figures(page: &mut Page, body: &[Node]) {
    for node in body {
        match node {
            Node::Section { body, .. } => figures(page, body),
            Node::Figure(drawn) => {
                page.gap();
                page.wrapped(&drawn.title, "", "");
                let columns = u16::try_from(page.width).unwrap_or(u16::MAX);
                let drawing = figure::braille(drawn, columns, FIGURE_ROWS, page.unicode);
                drawing.lines().for_each(|line| page.line(line));
            }
            _ => {}
        }
    }
}

/// Lists whole, of a doubt its evidence only.
fn points(page: &mut Page, body: &[Node]) {
    for node in body {
        match node {
            Node::List(items) => items.iter().for_each(|i| page.wrapped(i.text(), "- ", "  ")),
            Node::Note { lead, .. } => page.wrapped(lead.text(), "! ", "  "),
            _ => {}
        }
    }
}
