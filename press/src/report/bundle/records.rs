//! Knows how records are taken apart into shapes and columns, and put together again.
//!
//! A shape is a record with its numbers replaced by the numbers of their columns; most records of
//! a run share a few. Whatever a later record has besides comes along by itself.

use super::columns::{Column, Gathered, Reader, pack, pack_one};
use super::error::{BundleError, quoted};
use desk::record::TrialRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most records of a run: every trial of the largest plan, visited as often as it may be.
const RECORDS_MAX: usize = 400_000;
/// Most MiB of all records together, once put together: what a file of plain records may have.
const UNFOLDED_MAX: u64 = super::file::FILE_MAX >> 20;
/// What a value takes besides its words, bytes.
const VALUE: usize = 16;

/// What all records of a bundle together may take.
pub(super) struct Budget {
    records: usize,
    bytes: usize,
}

impl Budget {
    /// That of a bundle.
    pub(super) fn full() -> Self {
        let bytes = usize::try_from(UNFOLDED_MAX << 20).unwrap_or(usize::MAX);
        Self { records: RECORDS_MAX, bytes }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), BundleError> {
        let much =
            || BundleError::TooLarge { what: "what the records unfold to", most: UNFOLDED_MAX };
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(much)?;
        Ok(())
    }
}

/// The records of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Packed {
    /// How many there are.
    count: usize,
    shapes: Vec<Value>,
    /// The shape of each record.
    shape_of: Column,
    /// The group of each record: those of one point and treatment are alike.
    group_of: Column,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Taken {
    numbers: BTreeMap<(String, bool), usize>,
    columns: Vec<Gathered>,
    /// That of the record at hand.
    group: usize,
}

/// Takes records apart.
///
/// # Errors
/// A record that cannot be written as JSON.
pub(super) fn take_apart(records: &[TrialRecord]) -> Result<Packed, serde_json::Error> {
    let mut taken = Taken::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    let (mut shapes, mut shape_of) = (Vec::new(), Vec::with_capacity(records.len()));
    let mut group_of = Vec::with_capacity(records.len());
    for record in records {
        let like = serde_json::to_string(&(&record.trial.point, &record.trial.treatment))?;
        let fresh = groups.len();
        taken.group = *groups.entry(like).or_insert(fresh);
        group_of.push(Number::from(taken.group));
        let mut shape = serde_json::to_value(record)?;
        taken.lift(&mut shape, &mut String::new());
        let word = shape.to_string();
        let number = *known.entry(word).or_insert_with(|| {
            shapes.push(shape);
            shapes.len() - 1
        });
        shape_of.push(Number::from(number));
    }
    let columns = pack(&taken.columns);
    let (shape_of, group_of) = (pack_one(shape_of), pack_one(group_of));
    Ok(Packed { count: records.len(), shapes, shape_of, group_of, columns })
}

impl Taken {
    /// Replaces every number by that of its column, which depends on its place and its kind.
    fn lift(&mut self, value: &mut Value, path: &mut String) {
        let here = path.len();
        match value {
            Value::Number(number) => {
                let key = (path.clone(), number.is_f64());
                let fresh = self.columns.len();
                let column = *self.numbers.entry(key).or_insert(fresh);
                if column == fresh {
                    self.columns.push(Gathered::default());
                }
                let number = std::mem::replace(number, Number::from(column));
                self.columns[column].values.push(number);
                self.columns[column].groups.push(self.group);
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let _ = write!(path, "/{at}");
                    self.lift(item, path);
                    path.truncate(here);
                }
            }
            Value::Object(items) => {
                for (key, item) in items.iter_mut() {
                    path.push('/');
                    path.push_str(key);
                    self.lift(item, path);
                    path.truncate(here);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

/// Puts records together again.
///
/// # Errors
/// Counts that do not fit one another, more than the budget has left, or what is no record.
pub(super) fn put_together(
    packed: Packed,
    budget: &mut Budget,
) -> Result<Vec<TrialRecord>, BundleError> {
    let Packed { count, shapes, shape_of, group_of, columns } = packed;
    budget.records = budget
        .records
        .checked_sub(count)
        .ok_or_else(|| BundleError::Impossible(format!("a run of {count} records")))?;
    let weights: Vec<usize> = shapes.iter().map(weight).collect();
    let mut order = Reader::new(vec![shape_of, group_of])?;
    let mut columns = Reader::new(columns)?;
    let mut records = Vec::new();
    for at in 0..count {
        let shape = index(&order.take(0, 0)?);
        let shape = shape.and_then(|n| Some((shapes.get(n)?, *weights.get(n)?)));
        let (Some((shape, weight)), Some(group)) = (shape, index(&order.take(1, 0)?)) else {
            return Err(BundleError::Impossible(format!(
                "record {at} has a shape that is not there"
            )));
        };
        budget.spend(weight)?;
        let mut record = shape.clone();
        fill(&mut record, &mut columns, group)?;
        let record = serde_json::from_value(record)
            .map_err(|e| BundleError::Impossible(format!("record {at}: {}", quoted(&e))))?;
        records.push(record);
    }
    if columns.is_at_its_end() && order.is_at_its_end() {
        Ok(records)
    } else {
        Err(BundleError::Impossible("numbers are left over".into()))
    }
}

fn index(number: &Number) -> Option<usize> {
    number.as_u64().and_then(|n| usize::try_from(n).ok())
}

/// About how many bytes a shape makes.
fn weight(shape: &Value) -> usize {
    VALUE
        + match shape {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(items) => items.iter().map(|(key, item)| key.len() + weight(item)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

fn fill(value: &mut Value, columns: &mut Reader, group: usize) -> Result<(), BundleError> {
    match value {
        Value::Number(number) => {
            *number = columns.take(index(number).unwrap_or(usize::MAX), group)?;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, columns, group)),
        Value::Object(items) => items.values_mut().try_for_each(|item| fill(item, columns, group)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}
