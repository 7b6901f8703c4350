//! Knows what other machines gave, as `published/records.csv` holds it.
//!
//! Never: whether a machine is good; other programs on other machines are a scale and no more.

use serde::Deserialize;

/// The file as it stood when stend was built.
const RECORDS: &str = include_str!("../../../published/records.csv");

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
    /// The machine, or its processor.
    pub machine: String,
    /// When it was measured.
    pub year: u16,
    /// The published test that printed it, or `stend`, whose engine measured it.
    pub source: String,
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
        assert!(all.iter().all(|record| record.value.split_once(' ').is_some()));
        assert!(all.iter().all(|record| record.param.is_empty() == record.level.is_empty()));
    }
}
