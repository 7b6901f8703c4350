//! Knows what a parameter or a factor level may be: which words, and which numbers of which unit.
//!
//! Never: how a plan writes it, nor what it means.

use super::Value;
use crate::unit::{Kind, Quantity, Unit};
use std::fmt;

/// Most CPUs of a machine that a set of the kernel's system calls holds here.
pub const MOST_CPUS: u32 = 1024;

/// What a parameter or a factor level may be: one of its words, or a number of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamKind {
    /// Which words.
    pub words: Words,
    /// Which numbers; none where only a word may stand.
    pub range: Option<Range>,
}

/// Which words a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// These, or none at all.
    Of(&'static [&'static str]),
    /// Any of 1 to 15 letters, digits, `-` and `_`.
    Any,
    /// One of these, or the address of a page: `http://192.0.2.7:8080/page`, or with `https`.
    UrlOr(&'static [&'static str]),
    /// One of these, or the path of a file from the root on: `/var/log/nginx/access.log`.
    PathOr(&'static [&'static str]),
    /// A list of CPUs: `0-1,4`.
    Cpus,
    /// A list of CPUs, or of one alone (`0`), or one of these words.
    CpusOr(&'static [&'static str]),
}

/// Which numbers a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// In which units it is written.
    pub family: Kind,
    /// Least value, base unit, inclusive.
    pub least: f64,
    /// Greatest value, base unit, inclusive.
    pub most: f64,
    /// What every value is a multiple of, base unit; 0 where it may be any.
    pub step: f64,
}

impl ParamKind {
    /// Any word of 1 to 15 letters, digits, `-` and `_`.
    pub const WORD: Self = Self { words: Words::Any, range: None };

    /// How many CPUs, or which: `2`, or a list such as `0-1,4`.
    pub const CPUS: Self = Self { words: Words::Cpus, ..Self::count(1, MOST_CPUS as u64) };

    /// A list of CPUs such as `0` or `0-1,4`, or one of these words.
    #[must_use]
    pub const fn cpus_or(words: &'static [&'static str]) -> Self {
        Self { words: Words::CpusOr(words), range: None }
    }

    /// One of these words, or the address of a page.
    #[must_use]
    pub const fn url_or(words: &'static [&'static str]) -> Self {
        Self { words: Words::UrlOr(words), range: None }
    }

    /// One of these words, or the path of a file from the root on.
    #[must_use]
    pub const fn path_or(words: &'static [&'static str]) -> Self {
        Self { words: Words::PathOr(words), range: None }
    }

    /// One of these words.
    #[must_use]
    pub const fn choice(words: &'static [&'static str]) -> Self {
        Self { words: Words::Of(words), range: None }
    }

    /// Values of a family, base unit, bounds inclusive.
    #[must_use]
    pub const fn within(family: Kind, least: f64, most: f64) -> Self {
        Self { words: Words::Of(&[]), range: Some(Range { family, least, most, step: 0.0 }) }
    }

    /// Whole bytes, bounds inclusive.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
    pub const fn size(least: u64, most: u64) -> Self {
        Self::within(Kind::Size, least as f64, most as f64).by(1.0)
    }

    /// A number of things, bounds inclusive.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub const fn count(least: u64, most: u64) -> Self {
        Self::within(Kind::Count, least as f64, most as f64).by(1.0)
    }

    /// Of its numbers only multiples of `step`, base unit.
    #[must_use]
    pub const fn by(self, step: f64) -> Self {
        match self.range {
            Some(range) => Self { range: Some(Range { step, ..range }), ..self },
            None => self,
        }
    }

    /// One of these words may stand in place of a number.
    #[must_use]
    pub const fn or(self, words: &'static [&'static str]) -> Self {
        Self { words: Words::Of(words), ..self }
    }

    /// One of these words, or the path of a file, may stand in place of a number.
    #[must_use]
    pub const fn or_path(self, words: &'static [&'static str]) -> Self {
        Self { words: Words::PathOr(words), ..self }
    }

    /// Whether a value is one of these.
    #[must_use]
    pub fn takes(&self, value: &Value) -> bool {
        match (value, self.range) {
            (Value::Word(word), _) => self.words.has(word),
            (_, None) => false,
            (Value::Count(count), Some(range)) => range.takes(Quantity::count(*count)),
            (Value::Quantity(quantity), Some(range)) => range.takes(*quantity),
        }
    }
}

impl Words {
    /// Whether a text is one of these.
    #[must_use]
    pub fn has(self, text: &str) -> bool {
        match self {
            Self::Of(words) => words.contains(&text),
            Self::Any => {
                let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                (1..=15).contains(&text.len()) && text.chars().all(fits)
            }
            Self::UrlOr(words) => words.contains(&text) || is_url(text),
            Self::PathOr(words) => {
                words.contains(&text) || (text.starts_with('/') && is_line(text))
            }
            Self::Cpus => text.contains([',', '-']) && text.split(',').all(is_cpus),
            Self::CpusOr(words) => words.contains(&text) || text.split(',').all(is_cpus),
        }
    }
}

/// How the address of a page begins: as it is, and encrypted.
const SCHEMES: [&str; 2] = ["http://", "https://"];
/// Longest address of a page, and longest path.
const LINE_MAX: usize = 200;

/// Of the address of a page what stands behind `http://` or `https://`, and whether it is the
/// latter; none of another text.
#[must_use]
pub fn address_of_page(text: &str) -> Option<(&str, bool)> {
    let behind = |(scheme, encrypted): (&str, bool)| Some((text.strip_prefix(scheme)?, encrypted));
    SCHEMES.into_iter().zip([false, true]).find_map(behind)
}

/// Whether a text may be the address of a page.
fn is_url(text: &str) -> bool {
    address_of_page(text).is_some_and(|(rest, _)| !rest.is_empty()) && is_line(text)
}

/// Whether a text needs no escapes in a quoted string of a plan.
fn is_line(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
    text.len() <= LINE_MAX && text.chars().all(fits)
}

/// Whether a text is `4` or `0-1`.
fn is_cpus(part: &str) -> bool {
    let number = |text: &str| {
        let digits = text.chars().all(|c| c.is_ascii_digit());
        text.parse().ok().filter(|number: &u32| digits && *number < MOST_CPUS)
    };
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    number(first).zip(number(last)).is_some_and(|(first, last)| first <= last)
}

impl Range {
    /// The value of a number in the base unit; none outside of the bounds and between two steps.
    #[must_use]
    pub fn value(&self, number: f64) -> Option<Value> {
        let near = self.on_step(number);
        let fits = (self.least..=self.most).contains(&near);
        (fits && (near - number).abs() <= self.step * 1e-6).then(|| self.typed(near))
    }

    /// The value nearest to a number in the base unit.
    #[must_use]
    pub fn nearest(&self, number: f64) -> Value {
        self.typed(self.on_step(number.clamp(self.least, self.most)))
    }

    /// The value of so many steps, whatever the bounds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "steps stay far below 2^53")]
    pub fn at_step(&self, steps: u64) -> Value {
        self.typed(self.on_step(steps as f64 * self.step))
    }

    /// How many steps a value is; none for a word, or where there are no steps.
    #[must_use]
    pub fn steps(&self, value: &Value) -> Option<f64> {
        let number = match value {
            Value::Count(count) => Quantity::count(*count),
            Value::Quantity(quantity) => *quantity,
            Value::Word(_) => return None,
        };
        (self.step > 0.0 && self.takes(number)).then(|| (number.value / self.step).round())
    }

    /// Whether its bounds are its only values, with others between them.
    #[must_use]
    pub fn is_pair(&self) -> bool {
        self.step > 1.0 && (self.most - self.least - self.step).abs() < 0.5
    }

    fn takes(&self, quantity: Quantity) -> bool {
        quantity.unit == self.family.base() && self.value(quantity.value).is_some()
    }

    /// The nearest multiple of the step, with no digit more than it has: of 1e-6 not 3.0000000004.
    fn on_step(&self, number: f64) -> f64 {
        match self.step {
            0.0 => number,
            step if step < 1.0 => (number / step).round() / (1.0 / step).round(),
            step => (number / step).round() * step,
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded before")]
    fn typed(&self, number: f64) -> Value {
        match self.family.base() {
            Unit::Count => Value::Count(number as u64),
            unit => Value::Quantity(Quantity::new(number, unit)),
        }
    }
}

/// Both bounds: `1 B to 1 MiB`; of two values both, `4 or 6`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [least, most] = [self.least, self.most];
        let [least, most] = [least, most].map(|bound| Quantity::new(bound, self.family.base()));
        let between = if self.is_pair() { "or" } else { "to" };
        write!(f, "{least} {between} {most}")
    }
}

/// As help tells it: `off, or 0.0100 CPU to 1024 CPU`.
impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.words, self.range) {
            (Words::Any, _) => f.write_str("a word"),
            (Words::UrlOr(words), _) => {
                write!(f, "{}, or the address of a page", words.join(", "))
            }
            (Words::PathOr(words), range) => {
                let range = range.map(|range| range.to_string());
                let all: Vec<_> = words.iter().map(|w| (*w).to_owned()).chain(range).collect();
                write!(f, "{}, or the path of a file", all.join(", "))
            }
            (Words::Cpus, _) => f.write_str("a number of CPUs, or a list such as 0-1"),
            (Words::CpusOr(words), _) => write!(f, "{}, or CPUs such as 0-1,4", words.join(", ")),
            (Words::Of([]), Some(range)) => range.fmt(f),
            (Words::Of(words), None) => f.write_str(&words.join(", ")),
            (Words::Of(words), Some(range)) => write!(f, "{}, or {range}", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_page_is_one_word_of_a_page() {
        let kind = ParamKind::url_or(&["nginx"]);
        let long = |length: usize| format!("http://{}", "x".repeat(length - 7));
        for right in ["nginx", "http://192.0.2.7:1/a?b", "https://192.0.2.7"] {
            assert!(kind.words.has(right), "{right}");
        }
        for wrong in [
            "http://",
            "https://",
            "ftp://192.0.2.7",
            "http://a b",
            "http://a\"b",
            "http://a\\",
            "http://ä",
        ] {
            assert!(!kind.words.has(wrong), "{wrong}");
        }
        assert!(kind.words.has(&long(200)) && !kind.words.has(&long(201)));
    }

    #[test]
    fn the_path_of_a_file_begins_at_the_root() {
        let kind = ParamKind::path_or(&["none"]);
        let has = ["none", "/var/log/access.log", "access.log", "/a b", "/a\"b"]
            .map(|w| kind.words.has(w));
        assert_eq!(has, [true, true, false, false, false]);
        assert_eq!(kind.to_string(), "none, or the path of a file");
        let kind = ParamKind::size(64, 1518).or_path(&["imix"]);
        assert!(kind.words.has("/a.pcap") && kind.takes(&Value::Quantity(Quantity::bytes(64))));
        assert_eq!(kind.to_string(), "imix, 64 B to 1518 B, or the path of a file");
        let kind = ParamKind::count(1, 9).or_path(&[]);
        assert_eq!(kind.to_string(), "1 to 9, or the path of a file");
    }

    #[test]
    fn a_number_is_held_on_its_step_and_refused_beside_it() {
        let range = ParamKind::within(Kind::Duration, 0.0, 1e-3).by(1e-6).range.unwrap();
        assert_eq!(range.value(0.02 * 1e-3), Some(Value::Quantity(Quantity::seconds(2e-5))));
        assert_eq!(
            [range.value(5e-7), range.value(1.001e-3), range.value(-1e-6)],
            [None, None, None]
        );
        assert_eq!(range.nearest(1.0), Value::Quantity(Quantity::seconds(1e-3)));
        assert_eq!(range.steps(&range.nearest(2.0000001e-5)), Some(20.0));
        assert_eq!(range.steps(&Value::Count(20)), None, "a number without its unit");
        assert_eq!(range.to_string(), "0 s to 1 ms");
    }

    #[test]
    fn a_kind_takes_its_words_and_its_numbers() {
        let quota = ParamKind::within(Kind::Cpus, 0.01, 1024.0).or(&["off"]);
        let cpus = |value| Value::Quantity(Quantity::new(value, Unit::Cpu));
        assert!(quota.takes(&cpus(0.5)) && quota.takes(&Value::Word("off".into())));
        assert!(!quota.takes(&cpus(0.0)) && !quota.takes(&Value::Count(1)));
        assert_eq!(quota.to_string(), "off, or 0.0100 CPU to 1024 CPU");
        assert_eq!(ParamKind::count(4, 6).by(2.0).to_string(), "4 or 6");
        assert_eq!(ParamKind::count(4, 8).by(2.0).to_string(), "4 to 8");
        assert!(ParamKind::CPUS.takes(&Value::Count(3)) && !ParamKind::CPUS.words.has("3"));
        let spread = ParamKind::cpus_or(&["spread"]);
        let takes = ["3", "0-1,4", "spread", "spred", "1-0", ""].map(|text| spread.words.has(text));
        assert_eq!(takes, [true, true, true, false, false, false]);
        assert!(!spread.takes(&Value::Count(3)), "a list is a text");
        assert_eq!(spread.to_string(), "spread, or CPUs such as 0-1,4");
    }
}
