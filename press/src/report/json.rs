//! Knows how a document becomes JSON: the same tree, every text as it is printed.
//!
//! Never: a word or a figure of its own. A no-break space is written as a space, as in plain text;
//! where words lead is left out, for sections and figures carry their anchors.

use super::document::{Document, Node, Prose, Ruling, Table, Tone};
use crate::claim::Claim;
use crate::figure::{self, Figure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An article: every text as it is printed, figures with their numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Article {
    /// Language of its words, BCP 47.
    pub language: String,
    /// What marks an article that must not be believed; empty for others.
    pub watermark: Prose,
    /// Run, date and version.
    pub kicker: Prose,
    /// Title.
    pub title: Prose,
    /// The question it answers; empty if none was asked.
    pub question: Prose,
    /// Content in its order.
    pub body: Vec<Piece>,
    /// What it claims, as data: the answer first, then finding by finding.
    pub claims: Vec<Claim>,
}

/// One part of an article.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "node", rename_all = "snake_case")]
pub enum Piece {
    /// A heading with what stands under it.
    Section {
        /// Anchor.
        id: String,
        /// Heading.
        title: Prose,
        /// Whether a medium may fold it away.
        folded: bool,
        /// Content.
        body: Vec<Piece>,
    },
    /// Running text.
    Paragraph {
        /// The text.
        text: Prose,
    },
    /// The answer.
    Verdict {
        /// Outcome as a whole.
        tone: Tone,
        /// The answer in a sentence.
        headline: Prose,
        /// One entry a comparison.
        rulings: Vec<Ruling>,
        /// Heading of `limits`.
        caution: Prose,
        /// What the answer does not decide.
        limits: Vec<Prose>,
    },
    /// Keys and values.
    Facts {
        /// Each a key and its value.
        rows: Vec<(Prose, Prose)>,
    },
    /// A table.
    Table(Table),
    /// A figure.
    Figure {
        /// The figure in words.
        alt: String,
        /// What is drawn; numbers are in base units.
        figure: Box<Figure>,
    },
    /// Points of equal rank.
    List {
        /// The points.
        items: Vec<Prose>,
    },
    /// Text to be copied as it stands.
    Code {
        /// What it is.
        caption: Prose,
        /// The text.
        text: String,
    },
    /// A doubt.
    Note {
        /// The evidence.
        lead: Prose,
        /// Consequence and remedy.
        text: Prose,
    },
}

/// The document as JSON, an [`Article`]; null only if that cannot be written, which a test rules
/// out for every article there is.
#[must_use]
pub fn json(document: &Document) -> Value {
    serde_json::to_value(article(document)).unwrap_or_default()
}

/// The document as an article of plain values.
#[must_use]
pub fn article(document: &Document) -> Article {
    Article {
        language: document.language.into(),
        watermark: document.watermark.clone(),
        kicker: document.kicker.clone(),
        title: document.title.clone(),
        question: document.question.clone(),
        body: document.body.iter().map(piece).collect(),
        claims: document.claims.iter().cloned().map(bare).collect(),
    }
}

/// A claim with its names spaced as in plain text.
fn bare(mut claim: Claim) -> Claim {
    let subjects = &mut claim.subjects;
    let levels = subjects.levels.iter_mut().chain(&mut subjects.under).map(|l| &mut l.name);
    let settings = subjects.condition.iter_mut().map(|setting| &mut setting.name);
    let places = subjects.places.iter_mut().flatten();
    for name in levels.chain(settings).chain(places) {
        *name = spaced(name);
    }
    claim.parts = claim.parts.into_iter().map(bare).collect();
    claim
}

fn spaced(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

fn piece(node: &Node) -> Piece {
    match node {
        Node::Section { id, title, body, folded } => Piece::Section {
            id: id.clone(),
            folded: *folded,
            title: title.clone(),
            body: body.iter().map(piece).collect(),
        },
        Node::Paragraph(text) => Piece::Paragraph { text: text.clone() },
        Node::VerdictBox { tone, headline, rulings, caution, limits } => Piece::Verdict {
            tone: *tone,
            headline: headline.clone(),
            rulings: rulings.clone(),
            caution: caution.clone(),
            limits: limits.clone(),
        },
        Node::Facts(rows) => Piece::Facts { rows: rows.clone() },
        Node::Table(table) => Piece::Table(table.clone()),
        Node::Figure(drawn) => {
            Piece::Figure { alt: spaced(&figure::alt_text(drawn)), figure: Box::new(worded(drawn)) }
        }
        Node::List(items) => Piece::List { items: items.clone() },
        Node::Code { caption, text } => {
            Piece::Code { caption: caption.clone(), text: text.clone() }
        }
        Node::Note { lead, text } => Piece::Note { lead: lead.clone(), text: text.clone() },
    }
}

/// The figure with its words spaced as in plain text.
fn worded(drawn: &Figure) -> Figure {
    let mut worded = drawn.clone();
    for text in [&mut worded.title, &mut worded.subtitle, &mut worded.footnote] {
        *text = spaced(text);
    }
    let names = worded.series.iter_mut().map(|s| &mut s.name);
    let names = names.chain(worded.zones.iter_mut().map(|z| &mut z.name));
    let names = names.chain(worded.references.iter_mut().map(|r| &mut r.name));
    for name in names.chain(worded.roofs.iter_mut().map(|r| &mut r.name)) {
        *name = spaced(name);
    }
    for axis in [&mut worded.x, &mut worded.y] {
        axis.names.iter_mut().for_each(|name| *name = spaced(name));
        axis.label = spaced(&axis.label);
    }
    worded
}
