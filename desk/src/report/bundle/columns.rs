//! Knows how a long list of numbers is written short and read back to the last bit.
//!
//! A record repeats the same numbers a few thousand times; each has a column of its own here,
//! written in whichever way is shortest. Must not know what the numbers mean.

use super::error::BundleError;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;

/// What a decimal fraction is counted in: a nanosecond of a second.
const BILLION: f64 = 1e9;

/// The values of one number over all records that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Column {
    /// All are this.
    Constant(Number),
    /// As they are.
    Values(Vec<Number>),
    /// Integers: the first, then each less the one before it.
    Steps(Vec<i64>),
    /// Fractions, each in billionths.
    Billionths(Vec<i64>),
    /// Both.
    BillionthSteps(Vec<i64>),
    /// As the column of this number, which stands before it.
    Same(usize),
}

/// Writes every column as short as it can be.
pub(super) fn pack(columns: &[Vec<Number>]) -> Vec<Column> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut packed = Vec::with_capacity(columns.len());
    for (at, values) in columns.iter().enumerate() {
        let plain = text(values);
        if let Some(first) = seen.get(&plain) {
            packed.push(Column::Same(*first));
            continue;
        }
        packed.push(shortest(values, plain.len()));
        seen.insert(plain, at);
    }
    packed
}

/// One column on its own.
pub(super) fn pack_one(values: &[Number]) -> Column {
    shortest(values, text(values).len())
}

fn shortest(values: &[Number], plain: usize) -> Column {
    if let Some(first) = values.first().filter(|first| values.iter().all(|v| v == *first)) {
        return Column::Constant(first.clone());
    }
    let mut ways = Vec::new();
    if let Some(whole) = values.iter().map(Number::as_i64).collect::<Option<Vec<_>>>() {
        ways.extend(steps(&whole).map(Column::Steps));
    } else if let Some(parts) = values.iter().map(billionths).collect::<Option<Vec<_>>>() {
        ways.extend(steps(&parts).map(Column::BillionthSteps));
        ways.push(Column::Billionths(parts));
    }
    let length = |way: &Column| serde_json::to_string(way).map_or(usize::MAX, |t| t.len());
    let best = ways.into_iter().map(|way| (length(&way), way)).min_by_key(|(length, _)| *length);
    match best {
        Some((length, way)) if length < plain => way,
        _ => Column::Values(values.to_vec()),
    }
}

fn text(values: &[Number]) -> String {
    let words: Vec<String> = values.iter().map(Number::to_string).collect();
    words.join(",")
}

/// The first, then each less the one before it; none if one does not fit.
fn steps(whole: &[i64]) -> Option<Vec<i64>> {
    let mut before = 0_i64;
    whole.iter().map(|value| value.checked_sub(std::mem::replace(&mut before, *value))).collect()
}

/// A fraction in billionths, if that brings back the same bits.
fn billionths(value: &Number) -> Option<i64> {
    let value = value.as_f64().filter(|_| value.is_f64())?;
    let scaled = (value * BILLION).round();
    if scaled.abs() > 9e15 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
    let whole = scaled as i64;
    (fraction(whole).to_bits() == value.to_bits()).then_some(whole)
}

#[expect(clippy::cast_precision_loss, reason = "what was written is below 2^53")]
fn fraction(whole: i64) -> f64 {
    whole as f64 / BILLION
}

/// Columns being read, each from its beginning on.
pub(super) struct Reader {
    columns: Vec<Unpacked>,
    next: Vec<usize>,
}

enum Unpacked {
    Always(Number),
    Each(Vec<Number>),
    As(usize),
}

impl Reader {
    /// Takes columns as they were packed.
    ///
    /// # Errors
    /// A column that refers to none before it, or numbers that do not fit.
    pub(super) fn new(packed: Vec<Column>) -> Result<Self, BundleError> {
        let mut columns: Vec<Unpacked> = Vec::with_capacity(packed.len());
        for (at, column) in packed.into_iter().enumerate() {
            let column = unpack(column)?;
            if let Unpacked::As(first) = column
                && (first >= at || matches!(columns.get(first), Some(Unpacked::As(_))))
            {
                return Err(BundleError::Impossible(format!("column {at} is as column {first}")));
            }
            columns.push(column);
        }
        let next = vec![0; columns.len()];
        Ok(Self { columns, next })
    }

    /// The next value of a column.
    ///
    /// # Errors
    /// When there is no such column, or it has ended.
    pub(super) fn take(&mut self, column: usize) -> Result<Number, BundleError> {
        let ended = || BundleError::Impossible(format!("column {column} ends too early"));
        let source = match self.columns.get(column).ok_or_else(ended)? {
            Unpacked::As(first) => *first,
            _ => column,
        };
        let at = self.next.get_mut(column).ok_or_else(ended)?;
        let value = match self.columns.get(source).ok_or_else(ended)? {
            Unpacked::Always(value) => Some(value.clone()),
            Unpacked::Each(values) => values.get(*at).cloned(),
            Unpacked::As(_) => None,
        };
        *at += 1;
        value.ok_or_else(ended)
    }

    /// Whether every value was taken.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.columns.iter().zip(&self.next).all(|(column, next)| match column {
            Unpacked::Each(values) => values.len() == *next,
            Unpacked::Always(_) | Unpacked::As(_) => true,
        })
    }
}

fn unpack(column: Column) -> Result<Unpacked, BundleError> {
    let fractions = |whole: Vec<i64>| -> Result<Vec<Number>, BundleError> {
        let number = |w: i64| Number::from_f64(fraction(w)).ok_or_else(overflow);
        whole.into_iter().map(number).collect()
    };
    Ok(match column {
        Column::Constant(value) => Unpacked::Always(value),
        Column::Values(values) => Unpacked::Each(values),
        Column::Steps(steps) => {
            Unpacked::Each(sums(steps)?.into_iter().map(Number::from).collect())
        }
        Column::Billionths(whole) => Unpacked::Each(fractions(whole)?),
        Column::BillionthSteps(steps) => Unpacked::Each(fractions(sums(steps)?)?),
        Column::Same(first) => Unpacked::As(first),
    })
}

fn sums(steps: Vec<i64>) -> Result<Vec<i64>, BundleError> {
    let mut sum = 0_i64;
    let add = |step: i64| {
        sum = sum.checked_add(step)?;
        Some(sum)
    };
    steps.into_iter().map(add).collect::<Option<_>>().ok_or_else(overflow)
}

fn overflow() -> BundleError {
    BundleError::Impossible("a number is beyond 2^63".into())
}
