//! Knows how samples of pairs become figures, and where each pair's own figure is told. Pure.

use super::run::block;
use crate::lab::Lab;
use crate::workload::alone::{Alone, Order, Recipe, Taken};
use crate::workload::{Checked, Edge, Job, Workload};
use desk::record::{Fault, Reading, Sample};
use desk::unit::{Quantity, Unit};

/// How the figure of one pair is named until it becomes a reading.
const PAIR: &str = "pair ";
/// Hand-overs a second of a plain machine, and bytes a second of its hand-over of blocks.
const NOMINAL: (f64, f64) = (1.8e7, 8e9);

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
    let mut sorted: Vec<Quantity> = rates.iter().map(|rate| of_pair(*rate)).collect();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    let middle = median(&sorted);
    let mut samples = Vec::new();
    if handover {
        samples.push(sample("bandwidth", middle));
    } else {
        samples.push(sample("latency", middle));
        samples.extend(sorted.last().map(|worst| sample("worst_latency", *worst)));
    }
    let names = taken.word("pairs").split(' ').filter(|name| !name.is_empty());
    let of_pairs = names.zip(&rates);
    samples.extend(of_pairs.map(|(name, rate)| sample(&[PAIR, name].concat(), of_pair(*rate))));
    Ok(samples)
}

/// The middle one, or the mean of the two in the middle; not of none.
fn median(sorted: &[Quantity]) -> Quantity {
    let half = sorted.len() / 2;
    let upper = sorted.get(half).copied().unwrap_or(Quantity::count(0));
    if sorted.len() % 2 == 1 {
        return upper;
    }
    let lower = half.checked_sub(1).and_then(|at| sorted.get(at)).copied().unwrap_or(upper);
    Quantity::new(f64::midpoint(lower.value, upper.value), upper.unit)
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

/// Work of each pair in a second of a simulated lab: hand-overs, or blocks.
pub fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a block has at most 2^20 bytes")]
    let bytes = block(order).max(64) as f64;
    let rate = if order.word("method") == "handover" { NOMINAL.1 / bytes } else { NOMINAL.0 };
    let all = cpus.max(2) * (cpus.max(2) - 1) / 2;
    let most = usize::try_from(order.count("pairs")).unwrap_or(1).max(1);
    let pairs = if order.word("pair") == "all" { all.min(most) } else { 1 };
    vec![rate; pairs]
}

/// The conductor's side: that of every load of one machine, and the figure of each pair.
pub struct Pairs(Alone);

impl Pairs {
    /// Nothing is staged yet.
    #[must_use]
    pub const fn new(recipe: &'static Recipe) -> Self {
        Self(Alone::new(recipe))
    }
}

impl Workload for Pairs {
    fn stage(&mut self, lab: &mut Lab, job: &Job) -> Result<(), Fault> {
        self.0.stage(lab, job)
    }

    fn drive(&mut self, lab: &mut Lab, edges: &mut dyn FnMut(Edge)) -> Result<(), Fault> {
        self.0.drive(lab, edges)
    }

    fn check(&self) -> Result<Checked, Fault> {
        let mut checked = self.0.check()?;
        tell_pairs(&mut checked);
        Ok(checked)
    }
}
