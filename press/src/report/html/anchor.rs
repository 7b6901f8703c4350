//! Knows which place of a page has which id, so that every id stands once and every link arrives.

use crate::report::document::{Document, Node, Prose};
use std::collections::{BTreeMap, BTreeSet};

/// Ids that the page itself uses.
const OWN: [&str; 6] = ["article", "title", "contents", "data", "page-data", "bundle"];

/// Ids given out so far.
struct Ids {
    used: BTreeSet<String>,
    tables: usize,
}

impl Ids {
    /// None but those of the page itself.
    fn new() -> Self {
        Self { used: OWN.map(str::to_owned).into(), tables: 0 }
    }

    /// An id for a place that wishes this one: the wish if it is free, else with a number.
    fn claim(&mut self, wish: &str) -> String {
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
    fn table(&mut self, caption: &Prose) -> String {
        self.tables += 1;
        let number = caption.arguments().first().and_then(|first| first.parse::<usize>().ok());
        match number {
            Some(number) => self.claim(&format!("table-{number}")),
            None => self.claim(&format!("facts-{}", self.tables)),
        }
    }
}

/// A node of the article with its ids, and what stands below it.
pub(super) struct Place<'d> {
    pub(super) node: &'d Node,
    /// Of a section, a figure or a table; empty for what nothing leads to.
    pub(super) id: String,
    /// Of the heading of a section.
    pub(super) heading: String,
    pub(super) below: Vec<Place<'d>>,
}

/// Every node of a document with its ids, given out in the order of the page.
pub(super) fn places(document: &Document) -> Vec<Place<'_>> {
    let mut ids = Ids::new();
    document.body.iter().map(|node| place(node, &mut ids)).collect()
}

fn place<'d>(node: &'d Node, ids: &mut Ids) -> Place<'d> {
    let (mut id, mut heading, mut below) = (String::new(), String::new(), Vec::new());
    match node {
        Node::Section { id: wish, body, .. } => {
            id = ids.claim(wish);
            heading = ids.claim(&format!("{id}-h"));
            below = body.iter().map(|node| place(node, ids)).collect();
        }
        Node::Figure(figure) => id = ids.claim(&figure.id),
        Node::Table(table) => id = ids.table(&table.caption),
        _ => {}
    }
    Place { node, id, heading, below }
}

/// The id of every anchor: of two with one name links lead to the first.
pub(super) fn targets(places: &[Place<'_>]) -> BTreeMap<String, String> {
    let mut targets = BTreeMap::new();
    lead(places, &mut targets);
    targets
}

fn lead(places: &[Place<'_>], targets: &mut BTreeMap<String, String>) {
    for place in places {
        let name = match place.node {
            Node::Section { id, .. } => id,
            Node::Figure(figure) => &figure.id,
            Node::Table(_) => &place.id,
            _ => continue,
        };
        targets.entry(name.clone()).or_insert_with(|| place.id.clone());
        lead(&place.below, targets);
    }
}
