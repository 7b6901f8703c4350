//! Knows what of a document fits on a screen: the answer, the figures, the limits, the doubts.
//!
//! Never: a description of the machine or the method, or a table but the short ones of a plan that
//! only measures; the whole text has those.

use super::{Page, opened};
use crate::figure::{self, FigureKind};
use crate::report::document::{Document, Node};

/// Height of the drawing areas of all curves together, lines, and of one of them.
const ALL_ROWS: usize = 15;
const FIGURE_ROWS: std::ops::RangeInclusive<u16> = 4..=8;
/// Most rows of a table that a screen has room for.
const TABLE_ROWS: usize = 16;

/// The document in short, at most `columns` wide where its words allow it: for a terminal, where
/// the whole text would run past.
#[must_use]
pub fn summary(document: &Document, columns: u16, unicode: bool) -> String {
    let mut page = opened(document, columns, unicode);
    let curves = document.body.iter().map(curves).sum::<usize>().max(1);
    let rows = u16::try_from(ALL_ROWS / curves).unwrap_or(u16::MAX);
    let rows = rows.clamp(*FIGURE_ROWS.start(), *FIGURE_ROWS.end());
    for node in &document.body {
        match node {
            Node::VerdictBox { .. } => page.node(node, 1),
            Node::Figure(_) => figures(&mut page, std::slice::from_ref(node), rows),
            Node::Section { id, body, .. } if id == "results" => {
                figures(&mut page, body, rows);
                let limits = |n: &&Node| matches!(n, Node::Section { id, .. } if id == "limits");
                body.iter().filter(limits).for_each(|node| short(&mut page, node));
            }
            Node::Section { id, body, .. } if id == "measured" => measured(&mut page, body),
            Node::Section { id, .. } if id == "doubts" => short(&mut page, node),
            _ => {}
        }
    }
    page.finished()
}

/// The tables that fit, for where nothing is compared they are the answer.
fn measured(page: &mut Page, body: &[Node]) {
    for node in body {
        match node {
            Node::Section { body, .. } => measured(page, body),
            Node::Table(table) if table.rows.len() <= TABLE_ROWS => page.node(node, 1),
            _ => {}
        }
    }
}

/// A chapter by its points; nothing of one that has none.
fn short(page: &mut Page, node: &Node) {
    let is_point = |node: &Node| matches!(node, Node::List(_) | Node::Note { .. });
    if let Node::Section { title, body, .. } = node
        && body.iter().any(is_point)
    {
        page.gap();
        page.wrapped(title.text(), "", "");
        points(page, body);
    }
}

fn curves(node: &Node) -> usize {
    match node {
        Node::Section { id, .. } if is_detail(id) => 0,
        Node::Section { body, .. } => body.iter().map(curves).sum(),
        Node::Figure(drawn) => usize::from(drawn.kind == FigureKind::Sweep),
        _ => 0,
    }
}

/// Costs and interactions are in the whole text; the answer names what follows from them.
fn is_detail(id: &str) -> bool {
    ["cost", "interaction-", "limits", "published", "roofs-", "appendix"]
        .iter()
        .any(|detail| id.starts_with(detail))
}

/// Every figure under its finding; a curve also under the condition it holds for.
fn figures(page: &mut Page, body: &[Node], rows: u16) {
    for node in body {
        match node {
            Node::Section { id, .. } if is_detail(id) => {}
            Node::Section { body, .. } => figures(page, body, rows),
            Node::Figure(drawn) if matches!(drawn.kind, FigureKind::Sweep | FigureKind::Dots) => {
                page.gap();
                page.wrapped(&drawn.title, "", "");
                if drawn.kind == FigureKind::Sweep {
                    page.wrapped(&drawn.subtitle, "", "");
                }
                let columns = u16::try_from(page.width).unwrap_or(u16::MAX);
                let drawing = figure::braille(drawn, columns, rows, page.unicode);
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
