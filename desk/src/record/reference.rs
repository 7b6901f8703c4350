//! Knows what other machines gave, as `published/records.csv` holds it.
//!
//! Never: whether a machine is good; other programs on other machines are a scale and no more.

use crate::unit::{Kind, Quantity, parse};
use serde::Deserialize;

/// The file as it stood when stend was built.
const RECORDS: &str = include_str!("../../../published/records.csv");

/// Where a figure lies among those of its kind that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// At the lower end.
    Low,
    /// Neither low nor high, or the only one.
    Usual,
    /// At the upper end.
    High,
}

/// One figure of another machine, in the columns of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ReferenceRecord {
    /// The workload that gives such a figure here.
    pub workload: String,
    /// Its metric.
    pub metric: String,
    /// The parameter that says where, `size`; empty where there is one figure.
    pub param: String,
    /// Its value there.
    pub level: String,
    /// The figure with its unit.
    pub value: String,
    /// Where it lies among its kind.
    pub kind: RecordKind,
    /// The machine, or its processor.
    pub machine: String,
    /// When it was measured.
    pub year: u16,
    /// The published test that printed it, or `stend`, whose engine measured it.
    pub source: String,
}

impl ReferenceRecord {
    /// The figure; none where its unit is none that a record has, which a test excludes.
    #[must_use]
    pub fn quantity(&self) -> Option<Quantity> {
        let kinds = [Kind::Throughput, Kind::Rate, Kind::Operations, Kind::Duration];
        kinds.into_iter().find_map(|kind| parse(&self.value, kind).ok())
    }

    /// Whether both are of one workload, metric and place.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let key = |r: &Self| [&r.workload, &r.metric, &r.param, &r.level].map(String::clone);
        key(self) == key(other)
    }
}

/// All records, in the order of the file. That every line can be read is a test.
#[must_use]
pub fn reference_records() -> Vec<ReferenceRecord> {
    csv::Reader::from_reader(RECORDS.as_bytes()).deserialize().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_a_record_with_a_unit() {
        let lines = RECORDS.lines().filter(|line| !line.is_empty()).count();
        let all = reference_records();
        assert_eq!(all.len(), lines - 1, "the first line names the columns");
        assert!(all.iter().all(|record| record.quantity().is_some()));
        assert!(all.iter().all(|record| record.param.is_empty() == record.level.is_empty()));
    }

    #[test]
    fn a_lower_figure_is_of_no_higher_kind() {
        let all = reference_records();
        let value = |record: &ReferenceRecord| record.quantity().unwrap().value;
        for one in &all {
            for other in all.iter().filter(|other| one.is_like(other)) {
                let ordered = value(one) >= value(other) || one.kind <= other.kind;
                assert!(ordered, "{one:?} {other:?}");
            }
        }
    }
}
