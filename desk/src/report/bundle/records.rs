//! Knows how records are taken apart into shapes and columns, and put together again.
//!
//! A shape is a record with its numbers replaced by the numbers of their columns; most records of
//! a run share a few. Whatever a later record has besides comes along by itself.

use super::columns::{Column, Reader, pack, pack_one};
use super::error::BundleError;
use crate::record::TrialRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most records of a run: every trial of the largest plan, visited as often as it may be.
const RECORDS_MAX: usize = 400_000;
/// Most values of all records together.
const VALUES_MAX: usize = 120_000_000;

/// The records of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Packed {
    /// How many there are.
    count: usize,
    shapes: Vec<Value>,
    /// The shape of each record.
    shape_of: Column,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Taken {
    numbers: BTreeMap<(String, bool), usize>,
    columns: Vec<Vec<Number>>,
}

/// Takes records apart.
///
/// # Errors
/// A record that cannot be written as JSON.
pub(super) fn take_apart(records: &[TrialRecord]) -> Result<Packed, serde_json::Error> {
    let mut taken = Taken::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let (mut shapes, mut shape_of) = (Vec::new(), Vec::with_capacity(records.len()));
    for record in records {
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
    Ok(Packed { count: records.len(), shapes, shape_of: pack_one(&shape_of), columns })
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
                    self.columns.push(Vec::new());
                }
                let number = std::mem::replace(number, Number::from(column));
                self.columns[column].push(number);
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
/// Counts that do not fit one another, more than a run can have, or what is no record.
pub(super) fn put_together(packed: Packed) -> Result<Vec<TrialRecord>, BundleError> {
    let Packed { count, shapes, shape_of, columns } = packed;
    if count > RECORDS_MAX {
        return Err(BundleError::Impossible(format!("a run of {count} records")));
    }
    let sizes: Vec<usize> = shapes.iter().map(size).collect();
    let mut order = Reader::new(vec![shape_of])?;
    let mut columns = Reader::new(columns)?;
    let mut records = Vec::new();
    let mut values = 0_usize;
    for at in 0..count {
        let number = order.take(0)?.as_u64().and_then(|n| usize::try_from(n).ok());
        let shape = number.and_then(|n| Some((shapes.get(n)?, *sizes.get(n)?)));
        let Some((shape, size)) = shape else {
            return Err(BundleError::Impossible(format!(
                "record {at} has a shape that is not there"
            )));
        };
        values = values.saturating_add(size);
        if values > VALUES_MAX {
            return Err(BundleError::Impossible(format!("more than {VALUES_MAX} values")));
        }
        let mut record = shape.clone();
        fill(&mut record, &mut columns)?;
        let record = serde_json::from_value(record)
            .map_err(|e| BundleError::Impossible(format!("record {at}: {e}")))?;
        records.push(record);
    }
    if columns.is_at_its_end() && order.is_at_its_end() {
        Ok(records)
    } else {
        Err(BundleError::Impossible("numbers are left over".into()))
    }
}

/// How many values a shape makes.
fn size(shape: &Value) -> usize {
    1 + match shape {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(items) => items.values().map(size).sum(),
        _ => 0,
    }
}

fn fill(value: &mut Value, columns: &mut Reader) -> Result<(), BundleError> {
    match value {
        Value::Number(number) => {
            let column = number.as_u64().and_then(|n| usize::try_from(n).ok());
            *number = columns.take(column.unwrap_or(usize::MAX))?;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| fill(item, columns)),
        Value::Object(items) => items.values_mut().try_for_each(|item| fill(item, columns)),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}
