//! Knows a plan as it is meant: every default written out, every unit resolved.

use super::boxes::BoxPlan;
use super::derive::{Derivation, Derive};
use super::environment::{Fact, KeyClass};
use super::fact::{ManualFact, PartPlan};
use super::kind::address_of_page;
use super::search::SearchPlan;
use super::spec::ParamRole;
use super::topology::{HostPlan, LinkKind};
use super::trial::{Settings, Trial, Value, is_zero};
use crate::stats::{self, LEVEL};
use crate::unit::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Key of the setting that says which link carries the traffic.
const PATH: &str = "path";
/// The factor whose levels are versions of IP.
const IP_VERSION: &str = "ip_version";
/// Where the keys begin under which an environment says what a person told.
const TOLD: &str = "manual.";

/// One link, with its own settings (`mtu`, `tso`, `rate` ...).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPlan {
    /// Name, also that of the interface.
    pub name: String,
    /// What is set on it from the start, factor key to value.
    pub settings: Settings,
    /// Names of the hosts on it; none means the system under test and every client.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// How they are joined, where the plan says it; else by a bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<LinkKind>,
    /// Of a link of adapters, member to adapter by name or bus address; `clients` for every client.
    /// In a lab of several machines the adapter is written MACHINE/ADAPTER, and where several
    /// machines have a system under test, the member is written sut@MACHINE.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adapters: BTreeMap<String, String>,
    /// Cables of each member, where the plan says it; else one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cables: Option<u32>,
}

/// Who takes part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabPlan {
    /// Number of client hosts, 1-64.
    pub clients: u32,
    /// Most that one client can send or take, if the plan says so.
    pub client_rate: Option<Quantity>,
    /// What is set on every host for the whole run, factor key to value.
    pub settings: Settings,
    /// Links, one to eight.
    pub links: Vec<LinkPlan>,
    /// Hosts between links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostPlan>,
    /// External boxes on the cables of links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<BoxPlan>,
    /// The host that is the machine itself, with its adapters where they are; the others have
    /// namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Where the hosts are, in a lab of several machines; none means that all are on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Placement>,
}

/// A machine of a lab file, and the hosts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// Name of the machine in the lab file.
    pub machine: String,
    /// Names of its hosts. Each machine that is a level of `sut` has a system under test.
    pub hosts: Vec<String>,
}

/// One level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// What the report calls it.
    pub name: String,
    /// What it sets, factor key to value; one entry unless the factor is a profile.
    pub settings: Settings,
}

/// A factor and its levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactorPlan {
    /// Name in the plan.
    pub name: String,
    /// Levels, the baseline first.
    pub levels: Vec<Level>,
    /// Whether a level takes hold only when the machine starts: it is then met in boots of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reboot: bool,
    /// Whether a person sets its levels, because the machine cannot: a run is then made at one, as
    /// the person told it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
    /// Whether each level is the one before with a part of the path taken out, so that every level
    /// is compared with the one before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ladder: bool,
}

impl FactorPlan {
    /// A factor that is switched between the trials of a block.
    #[must_use]
    pub fn new(name: &str, levels: Vec<Level>) -> Self {
        Self { name: name.into(), levels, reboot: false, manual: false, ladder: false }
    }
}

/// What n of a verdict counts: what is drawn anew each time, so that its like can be averaged over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicate {
    /// Blocks: the levels meet within each.
    Block,
    /// Boots of each level: whatever a boot brings along is the same for all its trials, so that
    /// these say nothing of it.
    Boot,
}

/// A workload with fixed and swept parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPlan {
    /// Name in the plan.
    pub name: String,
    /// Workload.
    pub workload: String,
    /// Parameters that do not change, defaults written out.
    pub fixed: Settings,
    /// Parameters that are swept, in the order of the plan.
    pub over: Vec<(String, Vec<super::trial::Value>)>,
    /// Which load is sought, where one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchPlan>,
    /// Metric that decides here, where it is another than that of the method; [`Plan::primary`]
    /// tells for every load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<String>,
    /// Which parameter has which role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<ParamRole, String>,
    /// What is to be derived and drawn of its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derives: Vec<Derive>,
    /// Whether it loads the system under test alone, without clients or a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

impl LoadPlan {
    /// The parameter of a role among these; none where the workload has none, or it is not there.
    #[must_use]
    pub fn param<'s>(&self, role: ParamRole, params: &'s Settings) -> Option<&'s Value> {
        params.get(self.roles.get(&role)?)
    }

    /// What it asks for of a kind, in the order of its workload.
    pub fn asks(&self, what: Derivation) -> impl Iterator<Item = &Derive> {
        self.derives.iter().filter(move |derive| derive.what == what)
    }

    /// Every value that the plan gives to the parameter of a role; none where it has none.
    pub fn values(&self, role: ParamRole) -> impl Iterator<Item = &Value> {
        let name = self.roles.get(&role);
        let swept = self.over.iter().filter(move |(swept, _)| Some(swept) == name);
        let fixed = name.and_then(|name| self.fixed.get(name));
        let sought = self.search.iter().filter(move |search| Some(&search.over) == name);
        let sought = sought.flat_map(|search| [&search.from, &search.to]);
        fixed.into_iter().chain(swept.flat_map(|(_, values)| values)).chain(sought)
    }

    /// The same, and every value that a level of these factors gives to it.
    pub fn values_and_levels<'a>(
        &'a self,
        role: ParamRole,
        factors: &'a [FactorPlan],
    ) -> impl Iterator<Item = &'a Value> {
        let name = self.roles.get(&role);
        let levels = factors.iter().flat_map(|factor| &factor.levels);
        self.values(role).chain(levels.filter_map(move |level| level.settings.get(name?)))
    }

    /// Whether these parameters or the fixed ones set the load offered; a word such as `full` does
    /// not.
    #[must_use]
    pub fn is_paced(&self, params: &Settings) -> bool {
        let of = |params| self.param(ParamRole::Offered, params);
        [params, &self.fixed].into_iter().filter_map(of).any(|value| value.quantity().is_some())
    }

    /// Whether these parameters offer no load at all: a trial in which the machine is left idle.
    #[must_use]
    pub fn is_idle(&self, params: &Settings) -> bool {
        let offered = self.param(ParamRole::Offered, params).and_then(Value::quantity);
        offered.is_some_and(|offered| offered.value == 0.0)
    }

    /// Trials of one point under one treatment in a block, at most: the steps of its search, or 1.
    #[must_use]
    pub fn most_steps(&self) -> u32 {
        self.search.as_ref().map_or(1, |search| search.steps)
    }

    /// The longest window of its trials, where those of its search are longer than this one.
    #[must_use]
    pub fn longest_window(&self, usual: Quantity) -> Quantity {
        let Some(search) = self.search.as_ref().filter(|search| !search.goals.is_empty()) else {
            return usual;
        };
        let full = search.goals.iter().map(|goal| goal.full.value);
        Quantity::seconds(full.fold(0.0, f64::max))
    }

    /// [`Plan::curve`] by the curve of the method.
    pub(crate) fn curve<'p>(&'p self, usual: Option<&'p str>) -> Option<&'p str> {
        let swept = |name: &&str| self.over.iter().any(|(swept, _)| swept == name);
        let own = || longest_sweep(std::iter::once(self)).filter(|_| self.alone);
        usual.filter(swept).or_else(own)
    }
}

/// The number or size that loads sweep in most steps, of equals the first; none where none is
/// swept in two.
pub fn longest_sweep<'l>(loads: impl Iterator<Item = &'l LoadPlan>) -> Option<&'l str> {
    let is_word = |value: &super::trial::Value| value.word().is_some();
    let mut longest: Option<(&str, usize)> = None;
    for (name, values) in loads.flat_map(|load| &load.over) {
        let steps = values.len();
        let longer = longest.is_none_or(|(_, most)| steps > most);
        if steps > 1 && longer && !values.iter().any(is_word) {
            longest = Some((name, steps));
        }
    }
    longest.map(|(name, _)| name)
}

/// What becomes of a trial whose rate was not level when its window opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadyRule {
    /// It is invalid and is visited again.
    Required,
    /// It counts, and the report says how many did not settle: for plans that cannot wait.
    #[default]
    Noted,
}

/// How trials are made, ordered and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// Blocks, each a visit to every treatment of every point.
    pub blocks: u32,
    /// Whether every treatment of every point is visited once, uncounted, before the first block.
    pub dry: bool,
    /// Shortest time from go to the opening of the window.
    pub settle: Quantity,
    /// Longest time to wait for a steady rate.
    pub settle_max: Quantity,
    /// Length of the measured window.
    pub window: Quantity,
    /// Seed of the order and of everything else drawn by chance.
    pub seed: u64,
    /// Metric that decides on every load that names no other: [`Plan::primary`].
    pub primary: String,
    /// Factor whose levels are compared.
    pub compare: String,
    /// Differences below this are of no practical interest, a share such as 0.02.
    pub margin: Quantity,
    /// Parameter along which a curve is drawn, if any is swept: [`Plan::curve`].
    pub curve: Option<String>,
    /// Numbers of blocks after which the run may end because enough is known, rising; the last is
    /// [`Self::blocks`]. Empty: the blocks are fixed and nobody looks before.
    pub looks: Vec<u32>,
    /// What becomes of a trial whose rate was not level when its window opened.
    pub steady: SteadyRule,
    /// Whether a soaker at idle priority says how much application work the load displaced.
    pub displaced_work: bool,
    /// Boots at every level of a factor that needs a reboot, [`Self::blocks`] in each; 0 where no
    /// factor does.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub boots: u32,
    /// Time that a boot is taken to need, for what the plan costs; none where nothing reboots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_time: Option<Quantity>,
    /// The comparison that is judged by itself, if the plan names one; all others are judged
    /// together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_comparison: Option<PrimaryComparison>,
    /// What the plan takes down, one resource at a time, where that is its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elasticity: Option<super::throttle::Throttling>,
}

/// Which comparison is the primary one, every key written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrimaryComparison {
    /// The level of the compared factor that is set against the baseline.
    pub level: String,
    /// Name of the load.
    pub load: String,
    /// Levels of the other factors.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps besides the curve.
    pub fixed: Settings,
}

/// A plan with all its defaults written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Title of the report.
    pub title: String,
    /// The question in the reader's words.
    pub question: String,
    /// Who takes part.
    pub lab: LabPlan,
    /// Factors.
    pub factors: Vec<FactorPlan>,
    /// Loads.
    pub loads: Vec<LoadPlan>,
    /// How trials are made and judged.
    pub method: Method,
    /// The published test whose claims the report sets beside its own findings, such as `000`.
    pub published: Option<String>,
    /// Keys of the environment whose class the plan changes, `kernel.release` to info; the report
    /// says so.
    pub reclass: BTreeMap<String, KeyClass>,
    /// What a person says of the things under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<ManualFact>,
    /// Parts that some levels have and others lack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartPlan>,
}

impl Method {
    /// Error probability of a verdict, 0-1: 5 %, shared equally by the looks.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        let looks = u32::try_from(self.looks.len().max(1)).unwrap_or(u32::MAX);
        (1.0 - LEVEL) / f64::from(looks)
    }

    /// How log ratios are judged.
    #[must_use]
    pub fn rule(&self) -> stats::Rule {
        stats::Rule { margin: self.margin.value, alpha: self.alpha(), seed: self.seed }
    }
}

impl Plan {
    /// Length of the window of a counted trial: that of its step, else of the plan.
    #[must_use]
    pub fn window(&self, trial: &Trial) -> Quantity {
        trial.search.and_then(|step| step.window).unwrap_or(self.method.window)
    }

    /// The load of a name.
    #[must_use]
    pub fn load(&self, name: &str) -> Option<&LoadPlan> {
        self.loads.iter().find(|load| load.name == name)
    }

    /// The metric that decides on a load, by the name of the load; that of the method for a load
    /// that the plan does not have.
    #[must_use]
    pub fn primary(&self, load: &str) -> &str {
        let own = self.load(load);
        own.and_then(|one| one.primary.as_deref()).unwrap_or(&self.method.primary)
    }

    /// The parameter along which the curve of a load is drawn: that of the method where the load
    /// sweeps it, else the longest sweep of a load of the system under test alone, for such loads
    /// have little in common. None for other loads, whose sweeps are conditions.
    #[must_use]
    pub fn curve<'p>(&'p self, load: &'p LoadPlan) -> Option<&'p str> {
        load.curve(self.method.curve.as_deref())
    }

    /// Everything in force under these settings: those of the link that carries the traffic (the
    /// first one where nothing chooses), overridden by the settings themselves. Links of adapters
    /// differ also by these: which one it is, is then in force too.
    #[must_use]
    pub fn effective(&self, settings: &Settings) -> Settings {
        let links = &self.lab.links;
        let link = match settings.get(PATH) {
            Some(path) => links.iter().find(|l| Some(l.name.as_str()) == path.word()),
            None => links.first(),
        };
        let mut all = link.map(|l| l.settings.clone()).unwrap_or_default();
        let counts = |key: &str| key != PATH || link.is_some_and(LinkPlan::is_real);
        let own = settings.iter().filter(|(key, _)| counts(key));
        all.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        all
    }

    /// The version of IP over which loads go with these settings of a trial: 4, or what the plan
    /// says.
    #[must_use]
    pub fn ip_version(&self, settings: &Settings) -> u64 {
        let version = settings.get(IP_VERSION).or_else(|| self.lab.settings.get(IP_VERSION));
        version.and_then(Value::count).unwrap_or(4)
    }

    /// The servers that a load names, in itself and by factors.
    pub fn servers<'p>(&'p self, load: &'p LoadPlan) -> impl Iterator<Item = &'p str> {
        let key = load.roles.get(&ParamRole::Engine);
        let levels = self.factors.iter().flat_map(|factor| &factor.levels);
        let switched = levels.filter_map(move |level| level.settings.get(key?));
        load.values(ParamRole::Engine).chain(switched).filter_map(Value::word)
    }

    /// Those of all loads that somebody else has started, by the addresses of their pages.
    pub fn externals(&self) -> impl Iterator<Item = &str> {
        let all = self.loads.iter().flat_map(|load| self.servers(load));
        all.filter(|server| address_of_page(server).is_some())
    }

    /// Whether the server of a trial is one of those.
    #[must_use]
    pub fn is_external(&self, trial: &Trial) -> bool {
        let Some(load) = self.load(&trial.point.load) else { return false };
        let places = [&trial.settings, &trial.point.params, &load.fixed];
        let server = places.into_iter().find_map(|of| load.param(ParamRole::Engine, of)?.word());
        server.is_some_and(|server| address_of_page(server).is_some())
    }

    /// Whether every load is of the system under test alone: there are no clients and no links.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        !self.loads.is_empty() && self.loads.iter().all(|load| load.alone)
    }

    /// Whether a load, by its name, is of the system under test alone.
    #[must_use]
    pub fn runs_alone(&self, load: &str) -> bool {
        self.loads.iter().any(|one| one.alone && one.name == load)
    }

    /// Factors whose levels are met in boots of their own; none in a plan without boots.
    pub fn rebooted(&self) -> impl Iterator<Item = &FactorPlan> {
        self.factors.iter().filter(|factor| factor.reboot && self.method.boots > 0)
    }

    /// Factors whose levels a person sets.
    pub fn manual(&self) -> impl Iterator<Item = &FactorPlan> {
        self.factors.iter().filter(|factor| factor.manual)
    }

    /// The first factor that a person sets and whose level is not one for the whole plan, so that
    /// nobody can say at which its trials would be made.
    #[must_use]
    pub fn untold(&self) -> Option<&FactorPlan> {
        self.manual().find(|factor| {
            let mut set = factor.levels.iter().map(|level| &level.settings);
            let first = set.next();
            first.is_none() || set.any(|other| Some(other) != first)
        })
    }

    /// What a person told of the machine: the level of every factor that he sets.
    #[must_use]
    pub fn told(&self) -> Vec<Fact> {
        let told = self.manual().filter_map(|factor| {
            let (name, value) = factor.levels.first()?.settings.first_key_value()?;
            Some(Fact {
                key: format!("{TOLD}{name}"),
                value: value.to_string(),
                class: KeyClass::Factor,
                source: "told by the person who began the run".into(),
            })
        });
        told.collect()
    }

    /// What n of the plan's comparisons counts.
    #[must_use]
    pub fn replicate(&self) -> Replicate {
        self.replicate_of(&[&self.method.compare])
    }

    /// What n counts where levels of these factors stand against each other.
    #[must_use]
    pub fn replicate_of(&self, factors: &[&str]) -> Replicate {
        match self.rebooted().any(|factor| factors.contains(&factor.name.as_str())) {
            true => Replicate::Boot,
            false => Replicate::Block,
        }
    }

    /// Boots of the whole run: at every combination of levels that need one, in every round.
    #[must_use]
    pub fn boots(&self) -> u32 {
        let levels = self.rebooted().map(|f| u32::try_from(f.levels.len()).unwrap_or(u32::MAX));
        levels.fold(self.method.boots, u32::saturating_mul)
    }
}
