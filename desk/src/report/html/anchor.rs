//! Knows which place of a page has which id, so that every id stands once and every link arrives.

use crate::report::document::{Document, Node, Prose};
use std::collections::{BTreeMap, BTreeSet};

/// Ids that the page itself uses.
const OWN: [&str; 6] = ["article", "title", "contents", "data", "page-data", "bundle"];

/// Ids given out so far.
pub(super) struct Ids {
    used: BTreeSet<String>,
    tables: usize,
}

impl Ids {
    /// None but those of the page itself.
    pub(super) fn new() -> Self {
        Self { used: OWN.map(str::to_owned).into(), tables: 0 }
    }

    /// An id for a place that wishes this one: the wish if it is free, else with a number.
    pub(super) fn claim(&mut self, wish: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let wish: String = wish.chars().map(plain).collect();
        let wish = if wish.is_empty() { "place".into() } else { wish };
        let mut id = wish.clone();
        let mut number = 1;
        while !self.used.insert(id.clone()) {
            number += 1;
            id = format!("{wish}-{number}");
        }
        id
    }

    /// The id of a table: by the number in its caption, which is the first thing set into it.
    pub(super) fn table(&mut self, caption: &Prose) -> String {
        self.tables += 1;
        let number = caption.arguments().first().and_then(|first| first.parse::<usize>().ok());
        match number {
            Some(number) => self.claim(&format!("table-{number}")),
            None => self.claim(&format!("facts-{}", self.tables)),
        }
    }
}

/// The id of every anchor of a document: of two with one name links lead to the first.
pub(super) fn targets(document: &Document) -> BTreeMap<String, String> {
    let (mut ids, mut targets) = (Ids::new(), BTreeMap::new());
    document.body.iter().for_each(|node| visit(node, &mut ids, &mut targets));
    targets
}

/// Gives out ids in the order in which the page does.
fn visit(node: &Node, ids: &mut Ids, targets: &mut BTreeMap<String, String>) {
    match node {
        Node::Section { id, body, .. } => {
            let own = ids.claim(id);
            ids.claim(&heading(&own));
            targets.entry(id.clone()).or_insert(own);
            body.iter().for_each(|node| visit(node, ids, targets));
        }
        Node::Figure(figure) => {
            let own = ids.claim(&figure.id);
            targets.entry(figure.id.clone()).or_insert(own);
        }
        Node::Table(table) => {
            let own = ids.table(&table.caption);
            targets.entry(own.clone()).or_insert(own);
        }
        _ => {}
    }
}

/// The id of a section's heading.
pub(super) fn heading(section: &str) -> String {
    format!("{section}-h")
}
