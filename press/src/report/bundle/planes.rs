//! Knows how numbers that hardly differ from those of their like are written as a letter or two.
//!
//! Each number becomes a whole count of its last decimal, less the one before it of the same
//! group, and that a few letters of 6 bits: all lowest letters first, then all next ones. So the
//! letters that chance makes stand apart from those that hardly change, which then cost nothing in
//! gzip. Must not know what the numbers mean.

use super::error::BundleError;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;

/// Letters of 6 bits.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Most letters of a number.
const PLANES_MAX: usize = 21;
/// Largest count of last decimals, so that a difference of two fits into [`PLANES_MAX`] letters.
const WHOLE_MAX: i128 = 1 << 120;
/// Most decimals after the point.
const DECIMALS_MAX: i32 = 40;

/// What a number is told from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Before {
    /// The one before it.
    Any,
    /// The one before it of the same group.
    Group,
}

/// The numbers of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Planes {
    /// Decimals after the point; none where all are integers.
    decimals: Option<u32>,
    before: Before,
    planes: Vec<String>,
}

impl Planes {
    /// Numbers with the group of each; none if they would not come back to the last bit.
    pub(super) fn of(values: &[Number], groups: &[usize], before: Before) -> Option<Self> {
        let (decimals, whole) = wholes(values)?;
        let mut last: BTreeMap<usize, i128> = BTreeMap::new();
        let told = |(whole, group): (&i128, &usize)| {
            let group = if before == Before::Group { *group } else { 0 };
            let step = *whole - last.insert(group, *whole).unwrap_or(0);
            u128::from_ne_bytes(((step << 1) ^ (step >> 127)).to_ne_bytes())
        };
        let mut rest: Vec<u128> = whole.iter().zip(groups).map(told).collect();
        let mut planes = Vec::new();
        while planes.is_empty() || rest.iter().any(|left| *left > 0) {
            let letter = |left: &u128| {
                let worth = usize::try_from(left & 63).unwrap_or(0);
                LETTERS[worth]
            };
            planes.push(rest.iter().map(|left| char::from(letter(left))).collect());
            rest.iter_mut().for_each(|left| *left >>= 6);
        }
        Some(Self { decimals, before, planes })
    }
}

/// Counts of the last decimal that any has, and how many decimals that are.
fn wholes(values: &[Number]) -> Option<(Option<u32>, Vec<i128>)> {
    if let Some(whole) = values.iter().map(integer).collect::<Option<Vec<_>>>() {
        return Some((None, whole));
    }
    let parts = values.iter().map(decimal).collect::<Option<Vec<_>>>()?;
    let most = parts.iter().map(|(_, decimals)| *decimals).max().unwrap_or(0).max(0);
    let decimals = u32::try_from(most).ok().filter(|_| most <= DECIMALS_MAX)?;
    let scaled = |(whole, own): &(i128, i32)| {
        let scale = 10_i128.checked_pow(u32::try_from(most - own).ok()?)?;
        whole.checked_mul(scale).filter(|whole| whole.abs() < WHOLE_MAX)
    };
    let whole = parts.iter().map(scaled).collect::<Option<Vec<_>>>()?;
    let is_back = |(value, whole): (&Number, &i128)| {
        let bits = |number: &Number| number.as_f64().map(f64::to_bits);
        self::number(*whole, Some(decimals)).is_some_and(|back| bits(&back) == bits(value))
    };
    values.iter().zip(&whole).all(is_back).then_some((Some(decimals), whole))
}

fn integer(value: &Number) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// The shortest decimal that reads back to the same double: digits, and how many stand after the
/// point.
fn decimal(value: &Number) -> Option<(i128, i32)> {
    let value = value.as_f64().filter(|_| value.is_f64())?;
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e')?;
    let after = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let whole: i128 = digits.replace('.', "").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    Some((whole, i32::try_from(after).ok()? - exponent))
}

fn number(whole: i128, decimals: Option<u32>) -> Option<Number> {
    match decimals {
        None => Number::from_i128(whole),
        Some(decimals) => Number::from_f64(format!("{whole}e-{decimals}").parse().ok()?),
    }
}

/// Planes being read.
pub(super) struct Letters {
    decimals: Option<u32>,
    before: Before,
    planes: Vec<Vec<u8>>,
}

impl Letters {
    /// Takes planes as they were packed.
    ///
    /// # Errors
    /// None or too many of them, of unlike lengths, or with other letters.
    pub(super) fn new(packed: Planes) -> Result<Self, BundleError> {
        let Planes { decimals, before, planes } = packed;
        let planes: Vec<Vec<u8>> = planes.into_iter().map(String::into_bytes).collect();
        let alike = planes.windows(2).all(|pair| pair[0].len() == pair[1].len());
        let known = planes.iter().flatten().all(|letter| worth(*letter).is_some());
        if planes.is_empty() || planes.len() > PLANES_MAX || !alike || !known {
            return Err(BundleError::Impossible("a column of unlike letters".into()));
        }
        Ok(Self { decimals, before, planes })
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.planes.first().map_or(0, Vec::len)
    }

    /// The number at a place; places must be taken in their order, with the same memory of the
    /// last count of every group.
    pub(super) fn take(
        &self,
        at: usize,
        group: usize,
        last: &mut BTreeMap<usize, i128>,
    ) -> Option<Number> {
        let mut told = 0_u128;
        for plane in self.planes.iter().rev() {
            told = (told << 6) | u128::from(worth(*plane.get(at)?)?);
        }
        let half = i128::try_from(told >> 1).ok()?;
        let step = if told & 1 == 0 { half } else { -half - 1 };
        let group = if self.before == Before::Group { group } else { 0 };
        let last = last.entry(group).or_insert(0);
        *last = last.checked_add(step)?;
        number(*last, self.decimals)
    }
}

/// The 6 bits of a letter.
const fn worth(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
