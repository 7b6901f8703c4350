//! Knows where a figure lies beside those of other machines.
//!
//! Never: whether that is good; more is better of some, less of others.

use crate::record::ReferenceRecord;
use crate::stats::Estimate;

/// Where the interval of a figure lies beside the range of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Below all of them.
    Below,
    /// Not certainly outside.
    Within,
    /// Above all of them.
    Above,
}

/// Where a figure lies beside these records; none without a record in its unit.
#[must_use]
pub fn beside<'r>(
    figure: &Estimate,
    records: impl Iterator<Item = &'r ReferenceRecord>,
) -> Option<Beside> {
    let known = records.filter_map(ReferenceRecord::quantity);
    let values: Vec<f64> =
        known.filter(|known| known.unit == figure.centre.unit).map(|known| known.value).collect();
    let (least, most) =
        (values.iter().copied().reduce(f64::min)?, values.into_iter().reduce(f64::max)?);
    Some(match figure {
        below if below.high.value < least => Beside::Below,
        above if above.low.value > most => Beside::Above,
        _ => Beside::Within,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordKind;
    use crate::unit::{Quantity, Unit};

    #[test]
    fn a_figure_is_outside_only_where_all_of_its_interval_is() {
        let record = |value: &str| ReferenceRecord {
            workload: "w".into(),
            metric: "m".into(),
            param: String::new(),
            level: String::new(),
            value: value.into(),
            kind: RecordKind::Usual,
            machine: "x".into(),
            year: 2009,
            source: "stend".into(),
        };
        let records = [record("10 GB/s"), record("30 GB/s"), record("1 ns")];
        let at = |[low, centre, high]: [f64; 3]| {
            let gb = |value: f64| Quantity::new(value * 1e9, Unit::BytePerSecond);
            let exact = Estimate::exact(gb(centre));
            beside(&Estimate { low: gb(low), high: gb(high), ..exact }, records.iter())
        };
        assert_eq!(at([8.0, 9.0, 9.9]), Some(Beside::Below));
        assert_eq!(at([8.0, 9.0, 10.1]), Some(Beside::Within));
        assert_eq!(at([29.0, 31.0, 33.0]), Some(Beside::Within));
        assert_eq!(at([30.1, 31.0, 33.0]), Some(Beside::Above));
        assert_eq!(beside(&Estimate::exact(Quantity::count(3)), records.iter()), None);
    }
}
