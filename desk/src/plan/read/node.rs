//! Knows where a value stands in the text and which TOML type it has; nothing of what it means.

use super::error::PlanError;
use super::nearest::remedy;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value with its key and its line.
#[derive(Clone)]
pub(super) struct Node<'d> {
    /// Last part of the key.
    pub key: String,
    /// Line of the value, from 1.
    pub line: u32,
    value: &'d DeValue<'d>,
    text: &'d str,
}

/// A table with its entries in the order of the text.
pub(super) struct Section<'d> {
    /// Line of its header, or of the table around it if it is not written.
    pub line: u32,
    /// Entries.
    pub entries: Vec<Node<'d>>,
}

/// Dotted key to line of everything in the text.
#[derive(Default)]
pub(super) struct Lines(BTreeMap<String, u32>);

/// The root table of a text.
pub(super) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, PlanError> {
    DeTable::parse(text).map_err(|error| PlanError::Syntax {
        line: error.span().map_or(1, |span| line_at(text, span.start)),
        what: error.message().lines().collect::<Vec<_>>().join(", "),
    })
}

fn line_at(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}

impl<'d> Section<'d> {
    /// The entries of a table.
    pub(super) fn new(text: &'d str, table: &'d DeTable<'d>, line: u32) -> Self {
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let node = |(key, value): (&'d Spanned<DeString<'d>>, &'d Spanned<DeValue<'d>>)| Node {
            key: key.get_ref().to_string(),
            line: line_at(text, key.span().start),
            value: value.get_ref(),
            text,
        };
        Self { line, entries: keys.into_iter().map(node).collect() }
    }

    /// Refuses every key outside the list.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), PlanError> {
        match self.entries.iter().find(|node| !known.contains(&node.key.as_str())) {
            None => Ok(()),
            Some(node) => Err(PlanError::UnknownKey {
                line: node.line,
                key: node.key.clone(),
                remedy: remedy(&node.key, known),
            }),
        }
    }

    /// An entry.
    pub(super) fn get(&self, key: &str) -> Option<&Node<'d>> {
        self.entries.iter().find(|node| node.key == key)
    }

    /// A table among the entries, empty if it is not written.
    pub(super) fn section(&self, key: &str) -> Result<Self, PlanError> {
        self.get(key)
            .map_or_else(|| Ok(Self { line: self.line, entries: Vec::new() }), Node::section)
    }

    /// A text among the entries.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, PlanError> {
        self.get(key).map(|node| node.string().map(str::to_owned)).transpose()
    }
}

impl<'d> Node<'d> {
    /// The table that it is.
    pub(super) fn section(&self) -> Result<Section<'d>, PlanError> {
        let table = self.value.as_table().ok_or_else(|| self.wrong("a table, key = value"))?;
        Ok(Section::new(self.text, table, self.line))
    }

    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// The items of the list that it is, each with its own line.
    pub(super) fn list(&self) -> Option<Vec<Self>> {
        let item = |value: &'d Spanned<DeValue<'d>>| Node {
            key: self.key.clone(),
            line: line_at(self.text, value.span().start),
            value: value.get_ref(),
            text: self.text,
        };
        self.value.as_array().map(|array| array.iter().map(item).collect())
    }

    /// The text in quotes that it is.
    pub(super) fn string(&self) -> Result<&'d str, PlanError> {
        self.text_like("a text in quotes")
    }

    /// The text in quotes that it is, or a complaint that says what is wanted.
    pub(super) fn text_like(&self, wanted: &str) -> Result<&'d str, PlanError> {
        self.value.as_str().ok_or_else(|| self.wrong(wanted))
    }

    /// Text or bare number, as written; a list or a table has none.
    pub(super) fn written(&self, wanted: &str) -> Result<&'d str, PlanError> {
        match self.value {
            DeValue::String(text) => Ok(text),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str()),
            DeValue::Float(number) => Ok(number.as_str()),
            _ => Err(self.wrong(wanted)),
        }
    }

    /// The truth value that it is.
    pub(super) fn flag(&self) -> Result<bool, PlanError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// The complaint that it is of another type.
    pub(super) fn wrong(&self, wanted: &str) -> PlanError {
        let found = match self.value {
            DeValue::String(text) => format!("the text \"{text}\""),
            DeValue::Integer(number) => format!("the number {}", number.as_str()),
            DeValue::Float(number) => format!("the number {}", number.as_str()),
            DeValue::Boolean(flag) => format!("the truth value {flag}"),
            DeValue::Datetime(date) => format!("the date {date}"),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        PlanError::WrongType {
            line: self.line,
            key: self.key.clone(),
            found,
            wanted: wanted.into(),
        }
    }
}

impl Lines {
    /// The lines of all keys of a text.
    pub(super) fn new(root: &Section) -> Self {
        let mut lines = Self::default();
        lines.add("", root);
        lines
    }

    fn add(&mut self, path: &str, section: &Section) {
        for node in &section.entries {
            let path =
                if path.is_empty() { node.key.clone() } else { format!("{path}.{}", node.key) };
            self.0.insert(path.clone(), node.line);
            if let Ok(inner) = node.section() {
                self.add(&path, &inner);
            }
        }
    }

    /// The line of a dotted key that is written.
    pub(super) fn exact(&self, path: &str) -> Option<u32> {
        self.0.get(path).copied()
    }

    /// The line of a dotted key, or of the nearest table around it.
    pub(super) fn of(&self, path: &str) -> u32 {
        self.0
            .get(path)
            .copied()
            .unwrap_or_else(|| path.rsplit_once('.').map_or(1, |(outer, _)| self.of(outer)))
    }
}
