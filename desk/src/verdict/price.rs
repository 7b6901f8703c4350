//! Knows what a load gives for the money: the primary metric of a trial over the entered price of
//! its level.
//!
//! Never: which level is to be bought.

use super::compared::Asked;
use super::finding::Price;
use super::winner::{Rule, judge};
use crate::record::{Better, Metric, Plan, TrialRecord, Value};
use crate::unit::Quantity;

/// What a person calls the fact.
const PRICE: &str = "price";

/// The contest by money. None unless both levels have a price in one currency, and the metric is
/// one of which more is better: a time or a load over a price says nothing.
pub(super) fn price(plan: &Plan, asked: &Asked<'_>) -> Option<Price> {
    let Asked { contest, rule, barred, .. } = asked;
    if rule.metric.better == Better::Lower {
        return None;
    }
    let of = |level: &str| entered(plan, level);
    let (base, other) = (of(&contest.base.name)?, of(&contest.other.name)?);
    if base.unit != other.unit {
        return None;
    }
    let paired = contest.by(&|record: &TrialRecord| {
        let level = record.trial.treatment.levels.get(&contest.factor.name)?;
        let price = if *level == contest.base.name { base } else { other };
        Some(record.outcome.figure(rule.metric)?.value / price.value)
    });
    let name = format!("{}_per_price", rule.metric.name);
    let metric = Metric { name, quantile: None, ..rule.metric.clone() };
    let per_money = judge(&paired, Rule { metric: &metric, ..*rule }, barred)?.comparison;
    (!per_money.aa).then(|| Price { comparison: per_money.id.clone(), base, other, per_money })
}

/// The price of a level, above 0: of the level itself, or of the link that it is.
fn entered(plan: &Plan, level: &str) -> Option<Quantity> {
    let mut facts = plan.facts.iter();
    let fact = facts.find(|f| f.what == PRICE && f.of.as_deref() == Some(level))?;
    let Value::Quantity(price) = fact.value else { return None };
    (price.value > 0.0 && price.unit.is_money()).then_some(price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ManualFact, Run};
    use crate::unit::Unit;
    use crate::verdict::simulated::{Simulated, word};
    use crate::verdict::{Verdict, analyse};

    /// pro1000 is three times as fast and costs four times as much.
    fn run(better: Better) -> Run {
        let simulated = Simulated { truth: |_| 3.0, noise: 0.001, better, ..Simulated::default() };
        let mut run = simulated.run();
        run.plan.lab.links[1].settings.insert("tso".into(), word("off"));
        for (of, value) in [("onboard", 25.0), ("pro1000", 100.0)] {
            run.plan.facts.push(ManualFact {
                of: Some(of.into()),
                what: PRICE.into(),
                value: Value::Quantity(Quantity::new(value, Unit::Euro)),
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
        let (plain, money) = (&found.comparisons[0], &price.per_money);
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
}
