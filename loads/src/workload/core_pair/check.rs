//! Knows how samples of pairs become figures, and where each pair's own figure is told. Pure.

use super::run::block;
use crate::engine::alone::{Order, Taken};
use desk::record::{Fault, Reading, Sample};
use desk::stats::median;
use desk::unit::{Quantity, Unit};
use rig::lab::Lab;
use rig::workload::{Checked, Edges, Job, Workload};

/// How the figure of one pair is named until it becomes a reading.
const PAIR: &str = "pair ";

/// The figures: of each pair the median of its samples, of all pairs their median and their worst.
///
/// # Errors
/// A pair that did nothing.
pub fn figures(order: &Order, taken: &Taken) -> Result<Vec<Sample>, Fault> {
    let rates = taken.per_thread();
    if rates.is_empty() || rates.iter().any(|rate| *rate <= 0.0) {
        return Err(Fault::WrongWork { what: "a pair handed nothing over".into() });
    }
    let sample = |metric: &str, quantity| Sample { metric: metric.into(), quantity };
    let handover = order.word("method") == "handover";
    #[expect(clippy::cast_precision_loss, reason = "a block has at most 2^20 bytes")]
    let bytes = block(order) as f64;
    let of_pair = |rate: f64| match handover {
        true => Quantity::new(rate * bytes, Unit::BytePerSecond),
        false => Quantity::new(1.0 / rate, Unit::Second),
    };
    let values: Vec<f64> = rates.iter().map(|rate| of_pair(*rate).value).collect();
    let unit = of_pair(rates[0]).unit;
    let middle = Quantity::new(median(&values).unwrap_or_default(), unit);
    let mut samples = Vec::new();
    if handover {
        samples.push(sample("bandwidth", middle));
    } else {
        samples.push(sample("latency", middle));
        let worst = values.iter().copied().fold(0.0, f64::max);
        samples.push(sample("worst_latency", Quantity::new(worst, unit)));
    }
    let names = taken.word("pairs").split(' ').filter(|name| !name.is_empty());
    let of_pairs = names.zip(&rates);
    samples.extend(of_pairs.map(|(name, rate)| sample(&[PAIR, name].concat(), of_pair(*rate))));
    Ok(samples)
}

/// Makes readings of the figures of single pairs: `core_pair` / `sut` / `0-1` of latencies,
/// `core_handover` of bandwidths.
pub fn tell_pairs(checked: &mut Checked) {
    let (pairs, metrics): (Vec<Sample>, Vec<Sample>) =
        checked.outcome.samples.drain(..).partition(|sample| sample.metric.starts_with(PAIR));
    checked.outcome.samples = metrics;
    checked.readings.extend(pairs.into_iter().map(|pair| Reading {
        probe: match pair.quantity.unit {
            Unit::Second => "core_pair".into(),
            _ => "core_handover".into(),
        },
        host: "sut".into(),
        key: pair.metric[PAIR.len()..].into(),
        quantity: pair.quantity,
    }));
}

/// The conductor's side: that of a load, and the figure of each pair.
pub struct Pairs(pub Box<dyn Workload>);

impl Workload for Pairs {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        self.0.stage(lab, job)
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut Edges<'_>) -> Result<(), Fault> {
        self.0.drive(lab, edges)
    }

    fn check(&self) -> Result<Checked, Fault> {
        let mut checked = self.0.check()?;
        tell_pairs(&mut checked);
        Ok(checked)
    }
}
