//! Knows how coarsely two values of a key are compared: versions by their numbers, sizes nearly.
//!
//! Never: what a difference means.

use crate::unit::{Kind, Quantity, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grain {
    /// All of it: any difference counts, down to the patch of a version.
    Whole,
    /// The first two numbers of a version; what comes after them is only warned of.
    Minor,
    /// The first number of a version; what comes after it is only warned of.
    Major,
    /// A size within 2 %: the kernel keeps a little more or less of the memory for itself.
    Near,
}

/// Two sizes that differ by less than this share are one.
const NEAR: f64 = 0.02;

/// How two values of a key stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// They are one.
    Same,
    /// They differ by less than the grain.
    Little,
    /// They differ.
    Different,
}

impl Grain {
    /// How two values stand to each other. A value that holds no version is compared as a whole.
    ///
    /// A version is read as words and numbers: `6.18.44-generic` has the numbers 6, 18, 44 and the
    /// word `generic`. Other words (`-rt`) are another thing, whatever the numbers.
    #[must_use]
    pub fn compare(self, a: &str, b: &str) -> Apart {
        if a == b {
            return Apart::Same;
        }
        let counted = match self {
            Self::Whole => return Apart::Different,
            Self::Near => return near(a, b),
            Self::Minor => 2,
            Self::Major => 1,
        };
        let (a, b) = (Version::read(a), Version::read(b));
        let numbers = |v: &Version| -> Vec<u64> {
            v.numbers.iter().copied().chain(std::iter::repeat(0)).take(counted).collect()
        };
        let versions = !a.numbers.is_empty() && !b.numbers.is_empty();
        match versions && a.words == b.words && numbers(&a) == numbers(&b) {
            true => Apart::Little,
            false => Apart::Different,
        }
    }
}

fn near(a: &str, b: &str) -> Apart {
    let size = |text: &str| parse(text, Kind::Size).ok();
    let (Some(a), Some(b)) = (size(a), size(b)) else { return Apart::Different };
    let close = |a: Quantity, b: Quantity| (a.value - b.value).abs() <= NEAR * a.value.max(b.value);
    if close(a, b) { Apart::Little } else { Apart::Different }
}

/// A version taken apart.
struct Version {
    /// The first run of numbers with points between.
    numbers: Vec<u64>,
    /// Letters before and after it, without the digits of builds and dates among them.
    words: Vec<String>,
}

impl Version {
    fn read(text: &str) -> Self {
        let start = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        let (before, rest) = text.split_at(start);
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (numbers, after) = rest.split_at(end);
        let letters = |part: &str| part.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric())
                .map(letters)
                .filter(|word| !word.is_empty())
                .collect()
        };
        Self {
            numbers: numbers.split('.').filter_map(|n| n.parse().ok()).collect(),
            words: [words(before), words(after)].concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Grain::{Major, Minor, Near, Whole};

    #[test]
    fn a_patch_is_little_and_a_minor_release_is_not() {
        for (grain, a, b, apart) in [
            (Minor, "6.18.3", "6.18.5", Apart::Little),
            (Minor, "6.18.3", "6.19.0", Apart::Different),
            (Minor, "6.18.44-fc-v669", "6.18.44-fc-v670", Apart::Little),
            (Minor, "6.1.0-28-amd64", "6.1.0-31-amd64", Apart::Little),
            (Minor, "6.1.0-28-amd64", "6.1.0-28-rt-amd64", Apart::Different),
            (Minor, "4.18.0-553.el8.x86_64", "4.18.0-513.el8_9.x86_64", Apart::Little),
            (Minor, "6.18", "6.18.0", Apart::Little),
            (Minor, "glibc 2.36", "glibc 2.41", Apart::Different),
            (Minor, "glibc 2.36", "musl 2.36", Apart::Different),
            (
                Minor,
                "Debian GNU/Linux 12 (bookworm)",
                "Debian GNU/Linux 13 (trixie)",
                Apart::Different,
            ),
            (Minor, "rolling", "tumbling", Apart::Different),
            (Major, "22.04", "22.10", Apart::Little),
            (Major, "22.04", "24.04", Apart::Different),
            (Whole, "0x1", "0x2", Apart::Different),
            (Whole, "6.18.3", "6.18.5", Apart::Different),
            (Near, "23.5 GiB", "23.4 GiB", Apart::Little),
            (Near, "23.5 GiB", "15.6 GiB", Apart::Different),
        ] {
            assert_eq!(grain.compare(a, b), apart, "{a} and {b}");
            assert_eq!(grain.compare(b, a), apart, "{b} and {a}");
            assert_eq!(grain.compare(a, a), Apart::Same);
        }
    }
}
