//! Knows the two roofs over a curve of throughput by request size, and if the curve shows them.
//!
//! Never: two roofs from two highest figures alone; every curve has those.

use super::analysis::Analysis;
use super::ceiling::BEYOND;
use super::finding::{Comparison, PointResult, Roofs, Top};
use super::knee::KNEE;
use crate::record::Value;
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};
use std::collections::BTreeMap;

/// Bits of a byte.
const BITS: f64 = 8.0;
/// A curve lies along a roof from so many of its points on.
const ALONG: usize = 2;

/// A figure of a level at a size that stands for the level: not in two states, and not held down by
/// the clients.
struct Seen<'a> {
    at: &'a Value,
    bytes: f64,
    level: &'a str,
    rate: &'a Estimate,
}

/// Requests a second.
fn requests(seen: &Seen<'_>) -> f64 {
    seen.rate.centre.value / (BITS * seen.bytes)
}

/// Bits a second.
const fn throughput(seen: &Seen<'_>) -> f64 {
    seen.rate.centre.value
}

/// What ceilings leave at the largest point of each comparison, for each of its levels.
pub(super) type Tops = BTreeMap<String, Vec<(String, Vec<Top>)>>;

/// The roofs of every curve of bits a second by bytes, which are those of a request, that lies
/// along both; with them the ceilings that no point is beyond.
pub(super) fn roofs(found: &Analysis, tops: &Tops) -> Vec<Roofs> {
    let with_ceilings = |c: &Comparison| {
        let roofs = of(found, c)?;
        let its = tops.get(&c.id).into_iter().flatten();
        let its = its.filter(|(level, _)| *level == roofs.level).flat_map(|(_, tops)| tops);
        let highest = roofs.throughput.centre.value;
        let above = |top: &&Top| top.throughput.centre.value * BEYOND >= highest;
        let ceilings = its.filter(above).cloned().collect();
        Some(Roofs { ceilings, ..roofs })
    };
    found.comparisons.iter().filter_map(with_ceilings).collect()
}

fn of(found: &Analysis, c: &Comparison) -> Option<Roofs> {
    let is_rate = |p: &PointResult| p.base.centre.unit == Unit::BitPerSecond;
    if c.curve.is_none() || !c.points.iter().all(is_rate) {
        return None;
    }
    let seen = seen(found, c);
    let highest = |of: fn(&Seen<'_>) -> f64| seen.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
    let (most, top) = (highest(requests)?, highest(throughput)?);
    let along = |level: &str, of: fn(&Seen<'_>) -> f64, roof: f64| {
        let near = |s: &&Seen<'_>| s.level == level && of(s) >= roof * (1.0 - KNEE.value);
        seen.iter().filter(near).count() >= ALONG
    };
    // The level that reaches highest, if both lie along both.
    let level = [top.level, most.level, &c.base, &c.other].into_iter().find(|level| {
        along(level, requests, requests(most)) && along(level, throughput, throughput(top))
    })?;
    let meet = throughput(top) / (BITS * requests(most));
    let off = |s: &Seen<'_>| (s.bytes / meet).ln().abs();
    let nearest = seen.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
    Some(Roofs {
        comparison: c.id.clone(),
        level: level.into(),
        requests: scaled(most.rate, 1.0 / (BITS * most.bytes)),
        throughput: top.rate.clone(),
        meet: nearest.at.clone(),
        ceilings: Vec::new(),
    })
}

fn seen<'a>(found: &'a Analysis, c: &'a Comparison) -> Vec<Seen<'a>> {
    let good = |level: &String, at: Option<&Value>| {
        let torn = found.two_states.iter().map(|s| (&s.comparison, &s.level, &s.at));
        let bound = found.generator_bound.iter().map(|b| (&b.comparison, &b.level, &b.at));
        !torn
            .chain(bound)
            .any(|(id, bad, place)| *id == c.id && bad == level && place.as_ref() == at)
    };
    let mut all = Vec::new();
    for point in &c.points {
        let Some(at) = &point.at else { continue };
        let bytes = at.quantity().filter(|q| q.unit == Unit::Byte && q.value > 0.0);
        let Some(bytes) = bytes.map(|q| q.value) else { continue };
        for (level, rate) in [(&c.base, &point.base), (&c.other, &point.other)] {
            if good(level, Some(at)) {
                all.push(Seen { at, bytes, level, rate });
            }
        }
    }
    all
}

/// A rate as requests a second.
fn scaled(rate: &Estimate, by: f64) -> Estimate {
    let of = |q: Quantity| Quantity::new(q.value * by, Unit::OperationPerSecond);
    Estimate { centre: of(rate.centre), low: of(rate.low), high: of(rate.high), ..rate.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::analyse;
    use crate::verdict::simulated::{Cell, Simulated, size};

    fn found(truth: fn(Cell) -> f64) -> Analysis {
        let sizes = vec![64, 128, 256, 512, 1024, 2048];
        analyse(&Simulated { sizes, truth, noise: 1e-4, ..Simulated::default() }.run())
    }

    // By hand: 1 Gbit/s x 2 at 64 B are 3.9 M requests a second, 8 Gbit/s the ceiling; they meet at
    // 8e9 / (8 x 3.9e6) = 256 B.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    fn a_curve_that_rises_with_its_size_and_then_stays_has_both_roofs() {
        let found = found(|cell| (cell.size as f64 / 32.0).min(8.0));
        let [roofs] = found.roofs.as_slice() else { panic!("{:?}", found.roofs) };
        assert_eq!((roofs.level.as_str(), &roofs.meet), ("pro1000", &size(256)));
        assert!((roofs.requests.centre.value / 3.906e6 - 1.0).abs() < 0.02, "{roofs:?}");
        assert!((roofs.throughput.centre.value / 8e9 - 1.0).abs() < 0.02, "{roofs:?}");
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    fn a_ceiling_that_was_read_stands_over_the_curve_unless_a_point_is_beyond_it() {
        let with_line = |rate: f64| {
            let truth: fn(Cell) -> f64 = |cell| (cell.size as f64 / 32.0).min(8.0);
            let sizes = vec![64, 128, 256, 512, 1024, 2048];
            let mut run = Simulated { sizes, truth, noise: 1e-4, ..Simulated::default() }.run();
            for record in &mut run.records {
                record.readings.push(crate::record::Reading {
                    probe: "qdisc".into(),
                    host: "sut".into(),
                    key: "rate".into(),
                    quantity: Quantity::new(rate, Unit::BitPerSecond),
                });
            }
            analyse(&run).roofs[0].ceilings.clone()
        };
        let [top] = &with_line(10e9)[..] else { panic!() };
        // By hand: 1448 of 1514 bytes of each frame.
        assert!((top.throughput.centre.value / 9.564e9 - 1.0).abs() < 0.001, "{top:?}");
        assert_eq!(with_line(4e9), []);
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    fn a_flat_curve_and_one_that_still_rises_have_no_cause_to_tell() {
        assert_eq!(found(|_| 1.0).roofs, [], "flat at the rate of the line");
        assert_eq!(found(|cell| cell.size as f64 / 32.0).roofs, [], "no ceiling was seen");
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    fn a_figure_of_the_clients_is_no_roof() {
        let mut found = found(|cell| (cell.size as f64 / 32.0).min(8.0));
        let id = found.comparisons[0].id.clone();
        let bound = |at| crate::verdict::GeneratorBound {
            comparison: id.clone(),
            level: "pro1000".into(),
            at: Some(size(at)),
            sign: crate::verdict::GeneratorSign::Busy,
            evidence: Estimate::exact(Quantity::new(0.99, Unit::Share)),
        };
        found.generator_bound = [512, 1024, 2048].map(bound).to_vec();
        assert_eq!(roofs(&found, &Tops::new()), [], "a single good point at the ceiling is left");
    }
}
