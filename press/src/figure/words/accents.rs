//! A language of accents, in which every vowel of a message has one and nothing else has: what
//! stands in a text without accents is no message.

use desk::unit::{Kind, Quantity};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Words that are the same in every language: a time zone, a file system.
const NAMES: [&str; 2] = ["UTC", "sysfs"];

/// Kinds of values whose units have a word that could be taken for one of a language.
const KINDS: [Kind; 4] = [Kind::Size, Kind::Duration, Kind::Rate, Kind::Operations];

thread_local! {
    /// Whether messages have accents in this thread.
    static SPOKEN: Cell<bool> = const { Cell::new(false) };
}

/// What a function gives while every message of this thread has accents.
pub(crate) fn with<T>(write: impl FnOnce() -> T) -> T {
    SPOKEN.set(true);
    let written = write();
    SPOKEN.set(false);
    written
}

/// A text of a message, with accents where that is the language.
pub(crate) fn accented(text: &str) -> Cow<'_, str> {
    let accent = |c| match c {
        'a' => 'à',
        'e' => 'è',
        'i' => 'ì',
        'o' => 'ò',
        'u' => 'ù',
        'y' => 'ÿ',
        'A' => 'À',
        'E' => 'È',
        'I' => 'Ì',
        'O' => 'Ò',
        'U' => 'Ù',
        'Y' => 'Ÿ',
        c => c,
    };
    if SPOKEN.get() { text.chars().map(accent).collect() } else { Cow::Borrowed(text) }
}

/// The words of a text that have a vowel and no accent.
pub(crate) fn bare(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphabetic());
    let vowel = |c: char| "aeiouy".contains(c.to_ascii_lowercase());
    words.filter(move |word| word.is_ascii() && word.len() > 1 && word.contains(vowel))
}

/// What a page shows and reads out: no style, no script and no command, but the names of its parts.
pub(crate) fn shown(page: &str) -> String {
    let mut rest = page.to_owned();
    for name in ["style", "script", "pre"] {
        while let Some((before, from)) = rest.split_once(&format!("<{name}")) {
            let (_, after) = from.split_once(&format!("</{name}>")).unwrap();
            rest = format!("{before} {after}");
        }
    }
    let mut said = String::new();
    for (tag, text) in rest.split('<').filter_map(|piece| piece.split_once('>')) {
        let names = ["aria-label=\"", "title=\"", "alt=\""].into_iter();
        let names = names.filter_map(|name| tag.split_once(name)?.1.split('"').next());
        names.chain([text]).for_each(|words| said += &format!("{words}\n"));
    }
    said.replace("&quot;", " ").replace("&lt;", " ").replace("&gt;", " ").replace("&amp;", " ")
}

/// Words that need no message: those that were given, and units.
pub(crate) struct Known(BTreeSet<String>);

impl Known {
    /// Units, and names that no language has words for.
    pub(crate) fn new() -> Self {
        let mut known = Self(BTreeSet::new());
        KINDS.into_iter().flat_map(Kind::units).chain(NAMES).for_each(|name| known.add(name));
        // A value may be too large to be typed.
        let sizes = (-9..=15).map(|power| 10_f64.powi(power));
        let values = sizes.flat_map(|size| KINDS.map(|kind| Quantity::new(size, kind.base())));
        values.for_each(|value| known.add(&value.to_string()));
        known
    }

    /// Adds the words of a text; the first letter of any may be raised.
    pub(crate) fn add(&mut self, text: &str) {
        for word in bare(text) {
            let (first, rest) = word.split_at(1);
            self.0.extend([word.to_owned(), first.to_uppercase() + rest]);
        }
    }

    /// Adds the words of every text of a record that counts; the names of its fields are none,
    /// but for the keys of the fields in `named`.
    pub(crate) fn read(&mut self, value: &Value, named: &[&str], counts: fn(&str) -> bool) {
        match value {
            Value::String(text) if counts(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.read(item, named, counts)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.read(field, named, counts);
                    let keys = field.as_object().filter(|_| named.contains(&name.as_str()));
                    keys.into_iter().flat_map(|map| map.keys()).for_each(|key| self.add(key));
                }
            }
            _ => {}
        }
    }

    /// The words of a text that are unknown, each with its line.
    pub(crate) fn unknown<'t>(&self, text: &'t str) -> Vec<(&'t str, &'t str)> {
        let words = text.lines().flat_map(|line| bare(line).map(move |word| (word, line)));
        words.filter(|(word, _)| !self.0.contains(*word)).collect()
    }
}
