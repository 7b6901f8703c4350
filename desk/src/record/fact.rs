//! Knows what a person says of the things under test that no probe can read: price, noise, mass, as
//! facts of a whole level or of the parts that it has; and what a level takes by all of that.

use super::plan::Plan;
use super::trial::Value;
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact that a person entered, with where he has it from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManualFact {
    /// The level or the link that it is of; none for the whole test bed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The factor of that level; none of a link, and in records that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// What it is: `price`, `power`, `noise`, `mass`, `ambient`, or words of the person.
    pub what: String,
    /// Of a power: the share of the largest load, 0-1, at which it was so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Quantity>,
    /// A quantity with its unit; words where the person named the thing himself.
    pub value: Value,
    /// Where it is from: a price list, a meter.
    pub source: String,
    /// When it was so, `2026-11-21`.
    pub date: String,
}

/// A level of a factor of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LevelName {
    /// The factor.
    pub factor: String,
    /// Its level.
    pub level: String,
}

/// A part that some levels have and others lack, as a person entered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartPlan {
    /// Name.
    pub name: String,
    /// The levels that have it.
    pub levels: Vec<LevelName>,
    /// How many of it each of them has.
    pub count: u32,
    /// What one costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Quantity>,
    /// Watts that one takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Quantity>,
    /// Mass of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<Quantity>,
    /// Noise of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Quantity>,
    /// Where all that is from.
    pub source: String,
    /// When it was so, `2026-11-21`.
    pub date: String,
}

impl PartPlan {
    /// Whether a level has it.
    #[must_use]
    pub fn is_of(&self, factor: &str, level: &str) -> bool {
        self.levels.iter().any(|of| of.factor == factor && of.level == level)
    }

    /// What one of it takes, by the word of a fact: `price`, `power`, `mass`, `noise`.
    #[must_use]
    pub fn figure(&self, what: &str) -> Option<Quantity> {
        match what {
            "price" => self.price,
            "power" => self.power,
            "mass" => self.mass,
            "noise" => self.noise,
            _ => None,
        }
    }

    /// What all of it takes in one level. Levels of noise add by their powers: n like sources
    /// that know nothing of each other are 10 lg n dB above one.
    fn whole(&self, what: &str) -> Option<Quantity> {
        let one = self.figure(what)?;
        let count = f64::from(self.count);
        let value = match one.unit {
            Unit::DecibelA => one.value + 10.0 * count.log10(),
            _ => one.value * count,
        };
        Some(Quantity { value, ..one })
    }
}

impl Plan {
    /// The parts that a level has, in the order of the plan.
    pub fn parts_of(&self, factor: &str, level: &str) -> impl Iterator<Item = &PartPlan> {
        self.parts.iter().filter(move |part| part.is_of(factor, level))
    }

    /// What a person entered of whole levels of a factor.
    pub fn facts_of(&self, factor: &str, what: &str) -> impl Iterator<Item = &ManualFact> {
        let known = self.factors.iter().filter(move |f| f.name == factor);
        let levels: Vec<&str> =
            known.flat_map(|f| &f.levels).map(|level| level.name.as_str()).collect();
        self.facts.iter().filter(move |fact| {
            fact.what == what
                && fact.state.is_none()
                && fact.of.as_deref().is_some_and(|of| levels.contains(&of))
                && fact.factor.as_deref().is_none_or(|of| of == factor)
        })
    }

    /// What a level takes of `price`, `power`, `mass` or `noise`, as a person entered it: of
    /// whole levels of its factor, else the sum of its parts.
    ///
    /// Where a part of another level of the factor tells it, a level without parts takes 0; but
    /// noise: silence is no 0 dB(A). None where nobody told, or a part of the level does not.
    #[must_use]
    pub fn taken(&self, factor: &str, level: &str, what: &str) -> Option<Quantity> {
        let mut told = self.facts_of(factor, what).peekable();
        if told.peek().is_some() {
            return told.find(|fact| fact.of.as_deref() == Some(level))?.value.quantity();
        }
        let of_factor = self.parts.iter().filter(|p| p.levels.iter().any(|l| l.factor == factor));
        let unit = of_factor.filter_map(|part| part.figure(what)).next()?.unit;
        let parts: Option<Vec<Quantity>> =
            self.parts_of(factor, level).map(|part| part.whole(what)).collect();
        let parts = parts?;
        if parts.iter().any(|part| part.unit != unit) {
            return None;
        }
        let values = parts.iter().map(|part| part.value);
        let value = match unit {
            Unit::DecibelA if parts.is_empty() => return None,
            Unit::DecibelA => 10.0 * values.map(|v| 10_f64.powf(v / 10.0)).sum::<f64>().log10(),
            // The sum of no float is -0.
            _ => values.fold(0.0, |sum, value| sum + value),
        };
        Some(Quantity::new(value, unit))
    }
}
