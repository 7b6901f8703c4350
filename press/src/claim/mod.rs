//! Knows what may be said, as data: the kind of a statement, its subjects, the estimates and the
//! comparisons that it rests on.
//!
//! Gives: [`Claim`]; [`claims`] (all that a run says, the answer first), [`together`] (several
//! comparisons of one question as one claim); [`Part`] and the comparisons of parts; what levels
//! and conditions are called. Never: a sentence, which the article makes of a claim, or a figure
//! that the desk did not compute. Start reading at [`Claim`], then `of.rs`.

mod kind;
mod names;
mod of;
mod part;
mod several;
#[cfg(test)]
mod tests;

pub use kind::{Kind, Topic};
pub use names::{
    PATH, Setting, key_words, level_name, level_names, nature, setting_name, shown, unbroken,
};
pub use of::{
    claims, of_advice, of_comparison, of_cost, of_index, of_interaction, of_order, of_region,
    regions, subjects,
};
pub use part::{Judged, Part, Role, asked, decisive, grouped, is_of_one_pair, primary, same};
pub use several::{answering, answers, extremes, is_split, of_outcome, together};

use desk::record::Replicate;
use desk::stats::{Estimate, MoreBlocks};
use desk::unit::Quantity;
use desk::verdict::{LimitKind, Reader, Withheld};
use schemars::JsonSchema;
use serde::Serialize;

/// A statement on the figures of a run, before it is put into words.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// What it is about.
    pub topic: Topic,
    /// What it says of that.
    pub kind: Kind,
    /// Of whom, and under what.
    pub subjects: Subjects,
    /// What it rests on, the ratio that decides first. Of several comparisons the closest and the
    /// widest; of an interaction the ratio of both effects, then the two.
    pub estimates: Vec<Estimate>,
    /// Where it came from.
    pub evidence: Evidence,
    /// The claims that it is made of: of several comparisons each; of a comparison the stretches
    /// of its curve that say otherwise; of an order its levels, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Claim>,
}

/// A name in the plan, and as every text has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Named {
    /// In the plan.
    pub key: String,
    /// In a text.
    pub name: String,
}

/// Of whom a claim is, and under what it holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Subjects {
    /// Id of the run.
    pub run: String,
    /// Title of its plan.
    pub plan: String,
    /// The factor compared.
    pub factor: String,
    /// Its levels: the baseline, then the one that is judged. Of an order the first places.
    pub levels: Vec<Named>,
    /// Load of the plan; empty over all of them.
    pub load: String,
    /// Whether the plan has several, so that a text has to name it.
    #[serde(skip)]
    pub(crate) among_loads: bool,
    /// Parameters of the load and levels of other factors under which it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub condition: Vec<Setting>,
    /// The metric that decides; its name in a text is empty where the desk derives it.
    pub metric: Named,
    /// First and last value of the curve parameter, of a stretch of a curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<[String; 2]>,
    /// The two levels of another factor, of an interaction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<Named>,
    /// Best and worst rank that a level can have, of one in an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<[u32; 2]>,
    /// For whom advice is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// What was full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitKind>,
}

/// Where a claim came from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Names of the comparisons.
    pub comparisons: Vec<String>,
    /// Blocks, or boots where these are compared.
    pub n: u32,
    /// Under how many conditions, of an order over all of them.
    #[serde(skip_serializing_if = "is_none")]
    pub conditions: u32,
    /// What n counts, where that is not what all of the article counts.
    #[serde(skip)]
    pub(crate) replicate: Option<Replicate>,
    /// The declared margin.
    pub margin: Quantity,
    /// The curve parameter, where it is over a curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<String>,
    /// Further blocks that a decision takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<MoreBlocks>,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}

/// Whether a number of things is left out of what is written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Claim {
    /// The baseline and the level that is judged; empty names where there are none.
    #[must_use]
    pub fn pair(&self) -> [&str; 2] {
        let name = |at: usize| self.subjects.levels.get(at).map_or("", |level| &level.name);
        [name(0), name(1)]
    }
}

impl Subjects {
    /// Under what a claim holds besides its own two levels, `load` if the load is to be named where
    /// the plan has several; empty if under nothing in particular.
    #[must_use]
    pub fn condition(&self, load: bool) -> String {
        let load = (load && self.among_loads).then_some(self.load.as_str());
        let names = self.condition.iter().map(|setting| setting.name.as_str());
        load.into_iter().chain(names).collect::<Vec<_>>().join(", ")
    }

    /// The same, values that speak for themselves first and without their keys.
    #[must_use]
    pub fn short_condition(&self) -> String {
        let words = self.condition.iter().filter(|s| s.speaks).map(|s| unbroken(&s.value));
        let load = self.among_loads.then(|| self.load.clone());
        let rest = self.condition.iter().filter(|s| !s.speaks).map(|s| s.name.clone());
        words.chain(load).chain(rest).collect::<Vec<_>>().join(", ")
    }
}
