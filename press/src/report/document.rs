//! Knows the parts of an article: the neutral tree that every medium is made from.
//!
//! Never: a colour, a tag, a width. Every text in it is [`Prose`], which remembers the arguments
//! that its figures came from, so that no number in a report can be typed by hand.

use crate::claim::Claim;
use crate::figure::Figure;
use desk::stats::Estimate;
use desk::unit::{Quantity, Unit, show_range};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A text together with every argument that was set into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    text: String,
    arguments: Vec<Argument>,
    links: Vec<Link>,
}

/// Something that was set into a text, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As it was formatted.
    pub text: String,
    /// Where it came from.
    pub source: Source,
}

/// Where an argument came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Words of a person or of a machine, shown as they are.
    Name,
    /// A number of things.
    Count,
    /// A setting, a size, a reading: a quantity that is no estimate.
    Quantity,
    /// Centres or ends of estimates of the analysis, each as it stands there.
    Estimate(Vec<Exact>),
}

/// A value to the last bit, with its unit, so that it can be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exact {
    bits: u64,
    unit: Unit,
}

impl From<Quantity> for Exact {
    fn from(quantity: Quantity) -> Self {
        Self { bits: quantity.value.to_bits(), unit: quantity.unit }
    }
}

/// Words of a text that lead to another place of the article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The words, as they stand in the text: `Figure 3`.
    pub words: String,
    /// Anchor of the section, figure or table.
    pub anchor: String,
}

impl Prose {
    /// A said sentence; only the words of the report make these.
    pub(super) fn said(text: String, arguments: Vec<Argument>, links: Vec<Link>) -> Self {
        Self { text, arguments, links }.kept()
    }

    /// Words of the person or of the machine, shown as they are.
    #[must_use]
    pub fn verbatim(text: &str) -> Self {
        Self::from_source(text.into(), Source::Name)
    }

    /// What stands in a cell that has nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::verbatim("–")
    }

    /// A quantity in its own unit and prefix, never broken before the unit.
    #[must_use]
    pub fn quantity(quantity: Quantity) -> Self {
        Self::from_source(unbroken(&quantity.to_string()), Source::Quantity)
    }

    /// The centre of an estimate, its interval standing elsewhere.
    #[must_use]
    pub fn estimate(estimate: &Estimate) -> Self {
        let text = unbroken(&estimate.centre.to_string());
        Self::from_source(text, Source::Estimate(vec![estimate.centre.into()]))
    }

    /// Two centres in one unit, `96.2–99.1 %`.
    #[must_use]
    pub fn range(low: &Estimate, high: &Estimate) -> Self {
        let text = unbroken(&show_range(low.centre, high.centre));
        Self::from_source(text, Source::Estimate(vec![low.centre.into(), high.centre.into()]))
    }

    /// A number of things.
    #[must_use]
    pub fn count(count: usize) -> Self {
        Self::from_source(count.to_string(), Source::Count)
    }

    /// A text that is one argument from a source.
    pub(super) fn from_source(text: String, source: Source) -> Self {
        let arguments = vec![Argument { text: text.clone(), source }];
        Self { text, arguments, links: Vec::new() }.kept()
    }

    /// Remembers what was said, so that a test can trace the texts of figures, which hold no more
    /// than their words.
    #[cfg(test)]
    fn kept(self) -> Self {
        LEDGER.with_borrow_mut(|ledger| ledger.push(self.clone()));
        self
    }

    #[cfg(not(test))]
    const fn kept(self) -> Self {
        self
    }

    /// Several texts as one, with spaces between; empty ones are passed over.
    #[must_use]
    pub fn join(parts: &[Self]) -> Self {
        Self::join_with(parts, " ")
    }

    /// Several texts as one, with a separator that holds no figure.
    #[must_use]
    pub fn join_with(parts: &[Self], separator: &str) -> Self {
        let texts: Vec<&str> = parts.iter().map(Self::text).filter(|t| !t.is_empty()).collect();
        Self {
            text: texts.join(separator),
            arguments: parts.iter().flat_map(|p| p.arguments.clone()).collect(),
            links: parts.iter().flat_map(|p| p.links.clone()).collect(),
        }
    }

    /// The text with the first such words in it leading to an anchor.
    #[must_use]
    pub fn linked(mut self, words: &str, anchor: &str) -> Self {
        self.links.push(Link { words: words.into(), anchor: anchor.into() });
        self
    }

    /// The same as the beginning of a sentence; a name at its beginning stays as it was given.
    #[must_use]
    pub(super) fn capitalised(mut self) -> Self {
        let given = |argument: &Argument| {
            !argument.text.is_empty() && self.text.starts_with(&argument.text)
        };
        if !self.arguments.iter().any(given) {
            let mut signs = self.text.chars();
            let first = signs.next().into_iter().flat_map(char::to_uppercase);
            self.text = first.chain(signs).collect();
        }
        self
    }

    /// What leads elsewhere, in the order of the text.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every argument in it, as it was formatted.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(|argument| argument.text.as_str()).collect()
    }

    /// Every argument in it, with where it came from.
    #[must_use]
    pub fn sources(&self) -> &[Argument] {
        &self.arguments
    }
}

impl Serialize for Prose {
    /// As plain text: a no-break space is a space.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text.replace('\u{a0}', " "))
    }
}

impl JsonSchema for Prose {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
thread_local! {
    /// Everything that was said on this thread.
    pub(super) static LEDGER: std::cell::RefCell<Vec<Prose>> =
        const { std::cell::RefCell::new(Vec::new()) };
}

pub(super) use crate::claim::unbroken;

/// How a statement should look: the same four outcomes as a verdict, and none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Better.
    Good,
    /// Worse.
    Bad,
    /// No relevant difference.
    Even,
    /// Not decided.
    Open,
    /// Mixed, or no judgement at all.
    Plain,
}

/// One line of the verdict box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ruling {
    /// Outcome.
    pub tone: Tone,
    /// The condition it holds under; empty if there is only one.
    pub label: Prose,
    /// The sentence.
    pub sentence: Prose,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Column {
    /// Heading.
    pub title: Prose,
    /// Whether its cells are figures, set flush right.
    pub numeric: bool,
}

/// A table; the first cell of a row is its heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Table {
    /// What it shows.
    pub caption: Prose,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with as many cells as there are columns.
    pub rows: Vec<Vec<Prose>>,
    /// Whether it is long and of interest to few, so that a medium may fold it away.
    pub folded: bool,
    /// What its signs and dashes mean, below it.
    pub notes: Vec<Prose>,
}

/// One part of an article.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A heading with what stands under it.
    Section {
        /// Anchor.
        id: String,
        /// Heading.
        title: Prose,
        /// Content.
        body: Vec<Node>,
        /// Whether it is of interest to few, so that a medium may fold it away.
        folded: bool,
    },
    /// Running text.
    Paragraph(Prose),
    /// The answer, first of all.
    VerdictBox {
        /// Outcome as a whole.
        tone: Tone,
        /// The answer in a sentence.
        headline: Prose,
        /// One line a comparison.
        rulings: Vec<Ruling>,
        /// Heading of what it does not decide.
        caution: Prose,
        /// What it does not decide.
        limits: Vec<Prose>,
    },
    /// Keys and values.
    Facts(Vec<(Prose, Prose)>),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// Points of equal rank.
    List(Vec<Prose>),
    /// Text to be copied as it stands.
    Code {
        /// What it is.
        caption: Prose,
        /// The text.
        text: String,
    },
    /// A doubt: what it rests on, then what follows from it and what would remove it.
    Note {
        /// The evidence.
        lead: Prose,
        /// Consequence and remedy.
        text: Prose,
    },
}

impl Node {
    /// A section that stands open.
    #[must_use]
    pub const fn section(id: String, title: Prose, body: Vec<Self>) -> Self {
        Self::Section { id, title, body, folded: false }
    }

    /// The section or table folded away; any other node as it was.
    #[must_use]
    pub fn fold(mut self) -> Self {
        match &mut self {
            Self::Section { folded, .. } => *folded = true,
            Self::Table(table) => table.folded = true,
            _ => {}
        }
        self
    }
}

/// An article.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Language of its words, BCP 47.
    pub language: &'static str,
    /// What every medium shows before and behind everything else; empty for an article that may be
    /// believed.
    pub watermark: Prose,
    /// Run, date and version, above the title.
    pub kicker: Prose,
    /// Title.
    pub title: Prose,
    /// The question it answers, below the title; empty if none was asked.
    pub question: Prose,
    /// Content.
    pub body: Vec<Node>,
    /// What it claims, the answer first.
    pub claims: Vec<Claim>,
}
