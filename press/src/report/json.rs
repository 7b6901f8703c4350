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
    pub watermark: String,
    /// Run, date and version.
    pub kicker: String,
    /// Title.
    pub title: String,
    /// The question it answers; empty if none was asked.
    pub question: String,
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
        title: String,
        /// Whether a medium may fold it away.
        folded: bool,
        /// Content.
        body: Vec<Piece>,
    },
    /// Running text.
    Paragraph {
        /// The text.
        text: String,
    },
    /// The answer.
    Verdict {
        /// Outcome as a whole.
        tone: Look,
        /// The answer in a sentence.
        headline: String,
        /// One entry a comparison.
        rulings: Vec<Said>,
        /// Heading of `limits`.
        caution: String,
        /// What the answer does not decide.
        limits: Vec<String>,
    },
    /// Keys and values.
    Facts {
        /// Each a key and its value.
        rows: Vec<(String, String)>,
    },
    /// A table.
    Table {
        /// What it shows.
        caption: String,
        /// Columns.
        columns: Vec<Heading>,
        /// Rows, each with as many cells as there are columns.
        rows: Vec<Vec<String>>,
        /// Whether a medium may fold it away.
        folded: bool,
        /// What its signs and dashes mean.
        notes: Vec<String>,
    },
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
        items: Vec<String>,
    },
    /// Text to be copied as it stands.
    Code {
        /// What it is.
        caption: String,
        /// The text.
        text: String,
    },
    /// A doubt.
    Note {
        /// The evidence.
        lead: String,
        /// Consequence and remedy.
        text: String,
    },
}

/// One line of the answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Said {
    /// Outcome.
    pub tone: Look,
    /// The condition it holds under; empty if there is only one.
    pub label: String,
    /// The sentence.
    pub sentence: String,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Heading {
    /// Heading.
    pub title: String,
    /// Whether its cells are figures.
    pub numeric: bool,
}

/// How a statement looks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// Better.
    Good,
    /// Worse.
    Bad,
    /// No relevant difference.
    Even,
    /// Not decided.
    Open,
    /// Mixed, or no judgement.
    Plain,
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
        watermark: plain(&document.watermark),
        kicker: plain(&document.kicker),
        title: plain(&document.title),
        question: plain(&document.question),
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

fn plain(prose: &Prose) -> String {
    spaced(prose.text())
}

fn spaced(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

fn all(prose: &[Prose]) -> Vec<String> {
    prose.iter().map(plain).collect()
}

fn piece(node: &Node) -> Piece {
    match node {
        Node::Section { id, title, body, folded } => Piece::Section {
            id: id.clone(),
            folded: *folded,
            title: plain(title),
            body: body.iter().map(piece).collect(),
        },
        Node::Paragraph(text) => Piece::Paragraph { text: plain(text) },
        Node::VerdictBox { tone, headline, rulings, caution, limits } => Piece::Verdict {
            tone: look(*tone),
            headline: plain(headline),
            rulings: rulings.iter().map(said).collect(),
            caution: plain(caution),
            limits: all(limits),
        },
        Node::Facts(rows) => Piece::Facts {
            rows: rows.iter().map(|(key, value)| (plain(key), plain(value))).collect(),
        },
        Node::Table(shown) => table(shown),
        Node::Figure(drawn) => {
            Piece::Figure { alt: spaced(&figure::alt_text(drawn)), figure: Box::new(worded(drawn)) }
        }
        Node::List(items) => Piece::List { items: all(items) },
        Node::Code { caption, text } => Piece::Code { caption: plain(caption), text: text.clone() },
        Node::Note { lead, text } => Piece::Note { lead: plain(lead), text: plain(text) },
    }
}

fn said(ruling: &Ruling) -> Said {
    Said { tone: look(ruling.tone), label: plain(&ruling.label), sentence: plain(&ruling.sentence) }
}

fn table(shown: &Table) -> Piece {
    let heading =
        |c: &super::document::Column| Heading { title: plain(&c.title), numeric: c.numeric };
    Piece::Table {
        caption: plain(&shown.caption),
        columns: shown.columns.iter().map(heading).collect(),
        rows: shown.rows.iter().map(|row| all(row)).collect(),
        folded: shown.folded,
        notes: all(&shown.notes),
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

const fn look(tone: Tone) -> Look {
    match tone {
        Tone::Good => Look::Good,
        Tone::Bad => Look::Bad,
        Tone::Even => Look::Even,
        Tone::Open => Look::Open,
        Tone::Plain => Look::Plain,
    }
}
