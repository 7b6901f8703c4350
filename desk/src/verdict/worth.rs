//! Knows what a load gives for the money and for the power: the primary metric of a trial over the
//! price of its level, or over the watts that it took.
//!
//! Never: which level is to be bought.

use super::compared::Asked;
use super::finding::{Comparison, CountedPart, PartsApart, PowerSource, Worth};
use super::pairing::Contest;
use super::winner::{Rule, judge};
use crate::record::{Better, Metric, Run, TrialRecord};
use crate::stats::Estimate;
use crate::unit::{Quantity, Unit};

/// What a person calls the facts.
const PRICE: &str = "price";
const POWER: &str = "power";
/// Reading of a probe of power: what the whole machine took, by its management controller.
const BOARD: [&str; 1] = ["watts.board"];
/// The same of what the packages and their memory took, each once.
const PACKAGES: [&str; 2] = ["watts.package", "watts.dram"];

/// The contest by money. None unless a person entered what both levels cost in one currency, and
/// the metric is one of which more is better: a time or a load over a price says nothing.
pub(super) fn price(run: &Run, asked: &Asked<'_>) -> Option<Worth> {
    let both = entered(run, asked, PRICE).filter(|[base, _]| base.unit.is_money())?;
    by_level(run, asked, (PRICE, both, None))
}

/// The contest by power: what a person entered for both levels, else what was measured in every
/// trial. The same as work for each joule. None without a source.
pub(super) fn power(run: &Run, asked: &Asked<'_>) -> Option<Worth> {
    let is_power = |both: &[Quantity; 2]| both[0].unit == Unit::Watt;
    if let Some(both) = entered(run, asked, POWER).filter(is_power) {
        return by_level(run, asked, (POWER, both, Some(PowerSource::Entered)));
    }
    let meter = Meter::of(run)?;
    let measured = |record: &TrialRecord| meter.watts(record);
    let both = mean_watts(&asked.contest, &measured)?;
    let both = both.map(|watts| Quantity::new(watts, Unit::Watt));
    let per_unit = per_unit(asked, POWER, &measured)?;
    let [base, other] = both;
    let comparison = per_unit.id.clone();
    let power = Some(meter.source);
    // A difference of measured watts is not exact.
    let (gain, parts, per_unit) = (None, None, Some(per_unit));
    Some(Worth { comparison, base, other, power, gain, parts, per_unit })
}

/// What a person entered of both levels, in one unit.
fn entered(run: &Run, asked: &Asked<'_>, what: &str) -> Option<[Quantity; 2]> {
    let factor = &asked.contest.factor.name;
    let taken = |level: &str| run.plan.taken(factor, level, what).filter(|q| q.value >= 0.0);
    let [base, other] = levels(asked).map(taken);
    Some([base?, other?]).filter(|[base, other]| base.unit == other.unit)
}

/// What watts of a run are read from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    /// The whole machine where as many trials have it, else its packages.
    pub source: PowerSource,
    /// Zones in the trial that has most: one in which a zone was not believed has too few watts.
    zones: usize,
}

impl Meter {
    /// The one of a run; none where nothing was measured.
    pub fn of(run: &Run) -> Option<Self> {
        let meters = [(PowerSource::Board, &BOARD[..]), (PowerSource::Packages, &PACKAGES[..])];
        let of = |(source, kinds): (PowerSource, &[&str])| {
            let count = |record: &TrialRecord| zones(record, kinds).count();
            let zones = run.records.iter().map(count).max().filter(|zones| *zones > 0)?;
            let meter = Self { source, zones };
            let told = run.records.iter().filter(|record| meter.watts(record).is_some()).count();
            Some((told, meter))
        };
        // A controller is asked once a second, so short windows may lack it.
        let best = meters.into_iter().filter_map(of).reduce(|a, b| if b.0 > a.0 { b } else { a });
        best.map(|(_, meter)| meter)
    }

    /// Watts in the window of a trial; none where a zone is missing.
    pub fn watts(self, record: &TrialRecord) -> Option<f64> {
        let kinds = if self.source == PowerSource::Board { &BOARD[..] } else { &PACKAGES[..] };
        (zones(record, kinds).count() == self.zones).then(|| zones(record, kinds).sum())
    }
}

/// Watts of the zones of these kinds in the window of a trial.
fn zones<'r>(record: &'r TrialRecord, kinds: &'r [&str]) -> impl Iterator<Item = f64> + 'r {
    let known = |key: &str| kinds.iter().any(|kind| key.starts_with(kind));
    let rows = record.readings.iter().filter(move |r| r.probe == POWER && known(&r.key));
    rows.map(|r| r.quantity.value)
}

/// Mean over the paired trials of each level.
fn mean_watts(
    contest: &Contest<'_>,
    measured: &dyn Fn(&TrialRecord) -> Option<f64>,
) -> Option<[f64; 2]> {
    let paired = contest.by(&measured);
    let mut sums = [(0.0, 0.0); 2];
    for point in &paired.points {
        for (sum, trials) in sums.iter_mut().zip(point.sides()) {
            for trial in trials {
                *sum = (sum.0 + trial.value, sum.1 + 1.0);
            }
        }
    }
    let [(base, of_base), (other, of_other)] = sums;
    (of_base > 0.0 && of_other > 0.0).then(|| [base / of_base, other / of_other])
}

/// The contest by what a person entered of each level. None of two that both take nothing.
fn by_level(
    run: &Run,
    asked: &Asked<'_>,
    (what, [base, other], power): (&str, [Quantity; 2], Option<PowerSource>),
) -> Option<Worth> {
    if base.value + other.value <= 0.0 {
        return None;
    }
    let Asked { contest, rule, barred, .. } = asked;
    let plain = judge(contest, *rule, barred).map(|judged| judged.comparison);
    let plain = plain.filter(|c| !c.aa && rule.metric.better == Better::Higher)?;
    let of = |record: &TrialRecord| {
        let level = record.trial.treatment.levels.get(&contest.factor.name)?;
        Some(if *level == contest.base.name { base } else { other }.value)
    };
    let takes = base.value > 0.0 && other.value > 0.0;
    let per_unit = if takes { per_unit(asked, what, &of) } else { None };
    let gain = gain(&plain.overall, base, other);
    let of_parts = run.plan.facts_of(&contest.factor.name, what).next().is_none();
    let parts = apart(run, asked, other.value > base.value).filter(|_| of_parts);
    Some(Worth { comparison: plain.id, base, other, power, gain, parts, per_unit })
}

/// The primary metric of every trial over what it took, judged like any metric.
fn per_unit(
    asked: &Asked<'_>,
    what: &str,
    of: &dyn Fn(&TrialRecord) -> Option<f64>,
) -> Option<Comparison> {
    let Asked { contest, rule, barred, .. } = asked;
    if rule.metric.better == Better::Lower {
        return None;
    }
    let paired = contest
        .by(&|record: &TrialRecord| Some(record.outcome.figure(rule.metric)?.value / of(record)?));
    let name = format!("{}_per_{what}", rule.metric.name);
    let metric = Metric { name, quantile: None, ..rule.metric.clone() };
    let judged = judge(&paired, Rule { metric: &metric, ..*rule }, barred)?.comparison;
    (!judged.aa).then_some(judged)
}

/// The parts by which the level that takes more differs from the other; none where the plan has
/// none of either.
fn apart(run: &Run, asked: &Asked<'_>, other_takes_more: bool) -> Option<PartsApart> {
    let [base, other] = levels(asked);
    let (more, less) = if other_takes_more { (other, base) } else { (base, other) };
    let factor = &asked.contest.factor.name;
    let only = |level: &str, lacks: &str| -> Vec<CountedPart> {
        let own = run.plan.parts_of(factor, level).filter(|part| !part.is_of(factor, lacks));
        own.map(|part| CountedPart { name: part.name.clone(), count: part.count }).collect()
    };
    let found = PartsApart { more: only(more, less), instead: only(less, more) };
    (found != PartsApart::default()).then_some(found)
}

/// What each unit that the dearer level takes more gives of the cheaper one's work: (r - 1) / d of
/// the ratio r of the dearer to the cheaper, and of the difference d of what they take, which is
/// exact; the interval of r gives that of the gain. None where both take the same.
fn gain(ratio: &Estimate, base: Quantity, other: Quantity) -> Option<Estimate> {
    let more = other.value - base.value;
    let for_each = |r: f64| Quantity::new((r - 1.0) / more.abs(), Unit::Share);
    let [centre, low, high] = match more {
        0.0 => return None,
        dearer if dearer > 0.0 => [ratio.centre, ratio.low, ratio.high].map(|q| q.value),
        _ => [ratio.centre, ratio.high, ratio.low].map(|q| 1.0 / q.value),
    };
    let [centre, low, high] = [centre, low, high].map(for_each);
    Some(Estimate { centre, low, high, ..ratio.clone() })
}

fn levels<'a>(asked: &'a Asked<'_>) -> [&'a str; 2] {
    [&asked.contest.base.name, &asked.contest.other.name]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{LevelName, ManualFact, PartPlan, Reading, Value};
    use crate::verdict::simulated::{Simulated, word};
    use crate::verdict::{Verdict, analyse};

    /// pro1000 is three times as fast and costs four times as much.
    fn run(better: Better) -> Run {
        with(better, PRICE, [(25.0, Unit::Euro), (100.0, Unit::Euro)])
    }

    fn with(better: Better, what: &str, values: [(f64, Unit); 2]) -> Run {
        let simulated = Simulated { truth: |_| 3.0, noise: 0.001, better, ..Simulated::default() };
        let mut run = simulated.run();
        run.plan.lab.links[1].settings.insert("tso".into(), word("off"));
        for (of, (value, unit)) in ["onboard", "pro1000"].into_iter().zip(values) {
            run.plan.facts.push(ManualFact {
                of: Some(of.into()),
                factor: None,
                what: what.into(),
                state: None,
                value: Value::Quantity(Quantity::new(value, unit)),
                source: "a list".into(),
                date: "2026-01-01".into(),
            });
        }
        run
    }

    // By hand: 1 Gbit/s / 25 EUR is 40 Mbit/s for each, 3 Gbit/s / 100 EUR is 30: 0.75 of it.
    #[test]
    fn the_faster_level_may_give_less_for_its_price_with_certainty() {
        let found = analyse(&run(Better::Higher));
        let [price] = found.prices.as_slice() else { panic!("{:?}", found.prices) };
        let (plain, money) = (&found.comparisons[0], price.per_unit.as_ref().unwrap());
        assert_eq!((plain.verdict, money.verdict), (Verdict::Better, Verdict::Worse));
        assert!((money.overall.centre.value / 0.75 - 1.0).abs() < 0.01, "{money:?}");
        assert!(money.overall.low < money.overall.centre, "an interval, not a figure alone");
        let each = money.points[0].base.centre;
        assert!((each.value / plain.points[0].base.centre.value * 25.0 - 1.0).abs() < 1e-9);
        assert_eq!(
            (price.base.value, price.other.value, each.unit),
            (25.0, 100.0, Unit::BitPerSecond)
        );
    }

    #[test]
    fn a_metric_of_which_less_is_better_two_currencies_or_one_price_make_no_ratio() {
        assert_eq!(analyse(&run(Better::Lower)).prices, []);
        let mut mixed = run(Better::Higher);
        mixed.plan.facts[1].value = Value::Quantity(Quantity::new(100.0, Unit::Dollar));
        assert_eq!(analyse(&mixed).prices, []);
        mixed.plan.facts.truncate(1);
        assert_eq!(analyse(&mixed).prices, []);
    }

    // By hand: three times the work for 75 EUR more is (3 - 1) / 75 = 2.67 % for each.
    #[test]
    fn the_gain_for_each_unit_more_has_the_interval_of_the_ratio() {
        let found = analyse(&run(Better::Higher));
        let gain = found.prices[0].gain.clone().unwrap();
        assert!((gain.centre.value - 2.0 / 75.0).abs() < 1e-4, "{gain:?}");
        assert!(gain.low < gain.centre && gain.centre < gain.high, "{gain:?}");
        let ratio = &found.comparisons[0].overall;
        assert!((gain.low.value * 75.0 + 1.0 - ratio.low.value).abs() < 1e-9, "{gain:?} {ratio:?}");
        // The dearer level is the slower one now: a third of the work for 75 EUR more.
        let dearer = with(Better::Higher, PRICE, [(100.0, Unit::Euro), (25.0, Unit::Euro)]);
        let gain = analyse(&dearer).prices[0].gain.clone().unwrap();
        assert!((gain.centre.value + 2.0 / 3.0 / 75.0).abs() < 1e-4, "{gain:?}");
        assert!(gain.low < gain.centre && gain.centre < gain.high, "{gain:?}");
        let same = with(Better::Higher, PRICE, [(25.0, Unit::Euro), (25.0, Unit::Euro)]);
        assert_eq!(analyse(&same).prices[0].gain, None);
    }

    /// pro1000 is three times as fast; its parts, with how many of each and what one costs.
    fn of_parts(parts: &[(&str, &[&str], u32, f64)]) -> Run {
        let mut run = with(Better::Higher, "colour", [(1.0, Unit::Watt), (1.0, Unit::Watt)]);
        let factor = run.plan.method.compare.clone();
        for (name, levels, count, price) in parts {
            let of = |level: &&str| LevelName { factor: factor.clone(), level: (*level).into() };
            run.plan.parts.push(PartPlan {
                name: (*name).into(),
                levels: levels.iter().map(of).collect(),
                count: *count,
                price: Some(Quantity::new(*price, Unit::Euro)),
                power: Some(Quantity::new(4.0, Unit::Watt)),
                mass: None,
                noise: None,
                source: "a list".into(),
                date: "2026-01-01".into(),
            });
        }
        run
    }

    // By hand: the card is the whole difference, 185 EUR for two thirds more than the work of
    // onboard thrice: (3 - 1) / 185 = 1.08 % for each, and (3 - 1) / 4 = 50 % for each watt.
    #[test]
    fn the_gain_of_the_only_part_that_differs_is_its_own() {
        let run = of_parts(&[("card", &["pro1000"], 1, 185.0)]);
        let found = analyse(&run);
        let [price] = found.prices.as_slice() else { panic!("{:?}", found.prices) };
        assert_eq!((price.base.value, price.other.value), (0.0, 185.0));
        assert_eq!(price.per_unit, None, "nothing is for each euro of no euro");
        let gain = price.gain.clone().unwrap();
        assert!((gain.centre.value - 2.0 / 185.0).abs() < 1e-4, "{gain:?}");
        assert!(gain.low < gain.centre && gain.centre < gain.high, "{gain:?}");
        let card = CountedPart { name: "card".into(), count: 1 };
        let apart = PartsApart { more: vec![card], instead: Vec::new() };
        assert_eq!(price.parts, Some(apart));
        let power = &found.powers[0];
        assert!((power.gain.clone().unwrap().centre.value - 0.5).abs() < 1e-2, "{power:?}");
        assert_eq!(power.power, Some(PowerSource::Entered));
    }

    #[test]
    fn parts_that_both_levels_have_cancel_and_several_that_differ_are_a_bundle() {
        let both = ["onboard", "pro1000"];
        let run = of_parts(&[
            ("case", &both, 1, 60.0),
            ("card", &both[1..], 1, 100.0),
            ("cable", &both[1..], 2, 5.0),
            ("dongle", &both[..1], 1, 10.0),
        ]);
        let price = analyse(&run).prices[0].clone();
        assert_eq!((price.base.value, price.other.value), (70.0, 170.0));
        // By hand: three times the work for 100 EUR more; for the price 3 x 70 / 170 of it.
        assert!((price.gain.unwrap().centre.value - 0.02).abs() < 1e-4);
        let ratio = price.per_unit.unwrap().overall.centre.value;
        assert!((ratio / (3.0 * 70.0 / 170.0) - 1.0).abs() < 0.01, "{ratio}");
        let named = |parts: &[CountedPart]| -> Vec<(String, u32)> {
            parts.iter().map(|part| (part.name.clone(), part.count)).collect()
        };
        let apart = price.parts.unwrap();
        assert_eq!(named(&apart.more), [("card".into(), 1), ("cable".into(), 2)]);
        assert_eq!(named(&apart.instead), [("dongle".into(), 1)]);
    }

    #[test]
    fn a_part_without_a_price_leaves_the_price_of_its_level_unknown() {
        let mut run = of_parts(&[("card", &["pro1000"], 1, 185.0), ("gift", &["onboard"], 1, 1.0)]);
        run.plan.parts[1].price = None;
        assert_eq!(analyse(&run).prices, []);
    }

    #[test]
    fn watts_are_those_of_the_person_else_of_the_packages_and_else_there_are_none() {
        let entered = with(Better::Higher, POWER, [(10.0, Unit::Watt), (20.0, Unit::Watt)]);
        let found = analyse(&entered);
        assert_eq!(found.powers[0].power, Some(PowerSource::Entered));
        assert!(
            (found.powers[0].per_unit.as_ref().unwrap().overall.centre.value / 1.5 - 1.0).abs()
                < 0.01
        );
        let mut measured = with(Better::Higher, "colour", [(1.0, Unit::Watt), (1.0, Unit::Watt)]);
        assert_eq!(analyse(&measured).powers, [], "nothing entered, nothing measured");
        for record in &mut measured.records {
            let fast = record.trial.treatment.levels.values().any(|level| level == "pro1000");
            let rows = [("watts.package-0", 20.0), ("watts.dram-0", 5.0), ("watts.psys", 99.0)];
            for (key, watts) in rows {
                let quantity = Quantity::new(if fast { 2.0 * watts } else { watts }, Unit::Watt);
                let (probe, host) = ("power".into(), "machine".into());
                record.readings.push(Reading { probe, host, key: key.into(), quantity });
            }
        }
        let found = analyse(&measured);
        let power = &found.powers[0];
        assert_eq!(power.power, Some(PowerSource::Packages));
        assert_eq!(
            (power.base.value, power.other.value),
            (25.0, 50.0),
            "what lies around is not added"
        );
        assert!((power.per_unit.as_ref().unwrap().overall.centre.value / 1.5 - 1.0).abs() < 0.01);
        assert_eq!(power.gain, None, "a difference of measured watts is not exact");
        // A controller that tells of the whole machine is preferred, in trials that have it.
        let mut of_board = measured.clone();
        for record in &mut of_board.records {
            let quantity = Quantity::new(80.0, Unit::Watt);
            let (probe, host) = ("power".into(), "machine".into());
            record.readings.push(Reading { probe, host, key: "watts.board".into(), quantity });
        }
        let power = &analyse(&of_board).powers[0];
        assert_eq!(power.power, Some(PowerSource::Board));
        assert_eq!((power.base.value, power.other.value), (80.0, 80.0));
        of_board.records[0].readings.retain(|r| r.key != "watts.board");
        let power = &analyse(&of_board).powers[0];
        assert_eq!(power.power, Some(PowerSource::Packages), "more trials have these");
        // A zone that one trial lacks leaves that trial out, and halves nothing.
        let zone = |r: &Reading| r.key == "watts.dram-0";
        measured.records[0].readings.retain(|r| !zone(r));
        let fewer = &analyse(&measured).powers[0];
        assert_eq!((fewer.base.value, fewer.other.value), (25.0, 50.0));
    }
}
