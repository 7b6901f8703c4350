//! Knows how a long list of numbers is written short and read back to the last bit.
//!
//! A record repeats the same numbers a few thousand times; each has a column of its own here,
//! written in whichever way is shortest. Must not know what the numbers mean.

use super::error::BundleError;
use super::planes::{Before, Letters, Planes};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Number;
use std::collections::BTreeMap;
use std::io::Write as _;

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
    /// As letters, each number told from one before it.
    Planes(Planes),
}

/// The values of one number, and the group of the record that each is from.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) values: Vec<Number>,
    pub(super) groups: Vec<usize>,
}

/// Writes every column as short as it can be.
pub(super) fn pack(columns: &[Gathered]) -> Vec<Column> {
    let mut seen: BTreeMap<(String, &[usize]), usize> = BTreeMap::new();
    let mut packed = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        let key = (text(&column.values), column.groups.as_slice());
        if let Some(first) = seen.get(&key) {
            packed.push(Column::Same(*first));
            continue;
        }
        packed.push(shortest(column));
        seen.insert(key, at);
    }
    packed
}

/// One column on its own, of no groups.
pub(super) fn pack_one(values: Vec<Number>) -> Column {
    let groups = vec![0; values.len()];
    shortest(&Gathered { values, groups })
}

/// The way that takes the least room in the end, which is once gzip has been over it.
fn shortest(column: &Gathered) -> Column {
    let Gathered { values, groups } = column;
    if let Some(first) = values.first().filter(|first| values.iter().all(|v| is_same(v, first))) {
        return Column::Constant(first.clone());
    }
    let mut ways = Vec::new();
    if let Some(whole) = values.iter().map(Number::as_i64).collect::<Option<Vec<_>>>() {
        ways.extend(steps(&whole).map(Column::Steps));
    } else if let Some(parts) = values.iter().map(billionths).collect::<Option<Vec<_>>>() {
        ways.extend(steps(&parts).map(Column::BillionthSteps));
        ways.push(Column::Billionths(parts));
    }
    for before in [Before::Any, Before::Group] {
        ways.extend(Planes::of(values, groups, before).map(Column::Planes));
    }
    let plain = Column::Values(values.clone());
    let room = size(&plain);
    let best = ways.into_iter().map(|way| (size(&way), way)).min_by_key(|(size, _)| *size);
    best.filter(|(size, _)| *size < room).map_or(plain, |(_, way)| way)
}

/// Equal to the last bit: 0 and -0 are not.
fn is_same(a: &Number, b: &Number) -> bool {
    a == b && a.as_f64().map(f64::to_bits) == b.as_f64().map(f64::to_bits)
}

/// Bytes of a way once packed.
fn size(way: &Column) -> usize {
    let all = || -> std::io::Result<usize> {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(&serde_json::to_vec(way)?)?;
        Ok(deflate.finish()?.len())
    };
    all().unwrap_or(usize::MAX)
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
    places: Vec<Place>,
}

/// How far a column was read.
#[derive(Default)]
struct Place {
    /// Where its values stand.
    source: usize,
    next: usize,
    /// The last count of every group.
    last: BTreeMap<usize, i128>,
}

enum Unpacked {
    Always(Number),
    Each(Vec<Number>),
    Lettered(Letters),
}

impl Reader {
    /// Takes columns as they were packed.
    ///
    /// # Errors
    /// A column that refers to none before it, or numbers that do not fit.
    pub(super) fn new(packed: Vec<Column>) -> Result<Self, BundleError> {
        let mut columns: Vec<Unpacked> = Vec::new();
        let mut places = Vec::with_capacity(packed.len());
        for (at, column) in packed.into_iter().enumerate() {
            let source = match column {
                Column::Same(first) => *places.get(first).ok_or_else(|| {
                    BundleError::Impossible(format!("column {at} is as column {first}"))
                })?,
                column => {
                    columns.push(unpack(column)?);
                    columns.len() - 1
                }
            };
            places.push(source);
        }
        let places = places.into_iter().map(|source| Place { source, ..Place::default() });
        Ok(Self { columns, places: places.collect() })
    }

    /// The next value of a column, for a record of a group.
    ///
    /// # Errors
    /// When there is no such column, or it has ended.
    pub(super) fn take(&mut self, column: usize, group: usize) -> Result<Number, BundleError> {
        let ended = || BundleError::Impossible(format!("column {column} ends too early"));
        let place = self.places.get_mut(column).ok_or_else(ended)?;
        let value = match self.columns.get(place.source).ok_or_else(ended)? {
            Unpacked::Always(value) => Some(value.clone()),
            Unpacked::Each(values) => values.get(place.next).cloned(),
            Unpacked::Lettered(letters) => letters.take(place.next, group, &mut place.last),
        };
        place.next += 1;
        value.ok_or_else(ended)
    }

    /// Whether every value was taken.
    pub(super) fn is_at_its_end(&self) -> bool {
        self.places.iter().all(|place| match self.columns.get(place.source) {
            Some(Unpacked::Each(values)) => values.len() == place.next,
            Some(Unpacked::Lettered(letters)) => letters.len() == place.next,
            Some(Unpacked::Always(_)) | None => true,
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
        Column::Planes(planes) => Unpacked::Lettered(Letters::new(planes)?),
        Column::Same(first) => {
            return Err(BundleError::Impossible(format!("a column is as column {first}")));
        }
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
