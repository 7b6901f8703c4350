//! Knows in what a plan departs from RFC 2544, where a load asks to be held against it.
//!
//! Never: what was measured. Sections are those of RFC 2544; tests that it has and the plan does
//! not are named, too.

use crate::record::{
    Derivation, Direction, LoadPlan, ParamRole, Plan, SearchKind, SearchPlan, Value,
};
use crate::unit::{Quantity, Unit};
use serde::Serialize;

/// What is departed from.
pub const STANDARD: &str = "RFC 2544";
/// Where ports of flows come from, and a search by trials of several lengths.
pub const BESIDE: [&str; 2] = ["RFC 4814", "RFC 9971"];
/// Sizes of frames on Ethernet, bytes (section 9.1).
const SIZES: [f64; 7] = [64.0, 128.0, 256.0, 512.0, 1024.0, 1280.0, 1518.0];
/// Networks of the random addresses (section 12).
pub const NETWORKS: u32 = 256;
/// After a trial for the last frames, and before the next one, seconds (section 23).
pub const PAUSES: [f64; 2] = [2.0, 5.0];
/// The shortest trial, seconds (section 24), and the moment of the frame whose latency is taken
/// (section 26.2).
pub const TRIAL: f64 = 60.0;
/// A stream whose latency is taken, seconds (section 26.2).
pub const STREAM: f64 = 120.0;
/// Trials whose latencies are averaged (section 26.2).
pub const LATENCIES: u32 = 20;
/// The shortest trial of a burst, seconds, and how often it is repeated (section 26.4).
pub const BURST: (f64, u32) = (2.0, 50);

/// Rates of the loss curve are so far apart at the most, of the largest (section 26.3).
const STEP: f64 = 0.1;

/// A section that the plan departs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rfc2544 {
    /// 9.1: some sizes are not measured.
    FrameSizes,
    /// 11: no broadcasts, management frames or routing updates are among the frames.
    Modifiers,
    /// 12: addresses are of fewer networks, or do not vary.
    Addresses,
    /// 14: frames go one way.
    OneDirection,
    /// 23: what comes before and after a trial.
    Phases,
    /// 24: trials are shorter.
    Duration,
    /// 26.1: the throughput is sought otherwise.
    Search,
    /// 26.2: the latency is that of all frames with a stamp, by its quantiles.
    Latency,
    /// 26.4: bursts are shorter, or repeated less often.
    Bursts,
    /// 26: some tests are not made.
    Tests,
}

impl Rfc2544 {
    /// Its section.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::FrameSizes => "9.1",
            Self::Modifiers => "11",
            Self::Addresses => "12",
            Self::OneDirection => "14",
            Self::Phases => "23",
            Self::Duration => "24",
            Self::Search => "26.1",
            Self::Latency => "26.2",
            Self::Bursts => "26.4",
            Self::Tests => "26",
        }
    }
}

/// A test of section 26.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RfcTest {
    /// 26.1: the largest rate without loss.
    Throughput,
    /// 26.3: the loss over the rate.
    FrameLoss,
    /// 26.4: the longest burst without loss.
    BackToBack,
    /// 26.5: how long an overload has effects.
    Recovery,
    /// 26.6: how long a reset takes.
    Reset,
}

impl RfcTest {
    /// Its section.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::Throughput => "26.1",
            Self::FrameLoss => "26.3",
            Self::BackToBack => "26.4",
            Self::Recovery => "26.5",
            Self::Reset => "26.6",
        }
    }
}

/// All that a plan departs in.
#[derive(Clone, Debug, PartialEq)]
pub struct Departures {
    /// The sections, in their order.
    pub sections: Vec<Rfc2544>,
    /// Sizes that a load lacks, bytes.
    pub sizes: Vec<Quantity>,
    /// Tests that are not made.
    pub tests: Vec<RfcTest>,
    /// The largest number of addresses that frames go to.
    pub targets: u32,
    /// The window of the load with the shortest one.
    pub window: Quantity,
    /// Trials of a point under a level.
    pub blocks: u32,
}

/// In what a plan departs; none where no load asks for it.
#[must_use]
pub fn departures(plan: &Plan) -> Option<Departures> {
    let asks = |load: &&LoadPlan| load.asks(Derivation::Rfc2544).next().is_some();
    let loads: Vec<&LoadPlan> = plan.loads.iter().filter(asks).collect();
    if loads.is_empty() {
        return None;
    }
    let values = |role| loads.iter().flat_map(move |load| load.values(role));
    let has = |load: &LoadPlan, size: f64| {
        let mut its = load.values(ParamRole::Size).filter_map(Value::quantity);
        its.any(|its| its.value.total_cmp(&size).is_eq())
    };
    let sizes = SIZES.into_iter().filter(|size| !loads.iter().all(|load| has(load, *size)));
    let sizes: Vec<Quantity> = sizes.map(|size| Quantity::new(size, Unit::Byte)).collect();
    let both = values(ParamRole::Direction).filter_map(Value::word).filter_map(Direction::of);
    let one_way = !both.into_iter().any(|way| way == Direction::Duplex);
    let windows = loads.iter().map(|load| load.longest_window(plan.method.window));
    let window = windows.reduce(|a, b| if a.value < b.value { b } else { a })?;
    let targets = targets(plan, &loads);
    let (tests, blocks) = (lacking(&loads), plan.method.blocks);
    let bursts = searches(&loads, ParamRole::Burst).next().is_some();
    let mlr = searches(&loads, ParamRole::Offered).any(|one| one.kind == SearchKind::Mlr);
    let departs = |section: &Rfc2544| match section {
        Rfc2544::FrameSizes => !sizes.is_empty(),
        Rfc2544::OneDirection => one_way,
        Rfc2544::Duration => window.value < TRIAL,
        Rfc2544::Search => mlr,
        Rfc2544::Bursts => bursts && (window.value < BURST.0 || blocks < BURST.1),
        Rfc2544::Modifiers | Rfc2544::Addresses | Rfc2544::Phases => true,
        Rfc2544::Latency | Rfc2544::Tests => true,
    };
    let sections = ALL.into_iter().filter(departs).collect();
    Some(Departures { sections, sizes, tests, targets, window, blocks })
}

/// The largest number of addresses that frames go to, by loads and levels; 1 by default.
fn targets<'a>(plan: &'a Plan, loads: &[&'a LoadPlan]) -> u32 {
    let of = |load: &&'a LoadPlan| load.values_and_levels(ParamRole::Targets, &plan.factors);
    let all = loads.iter().flat_map(of);
    let most = all.filter_map(Value::count).max().unwrap_or(1);
    u32::try_from(most).unwrap_or(u32::MAX)
}

const ALL: [Rfc2544; 10] = [
    Rfc2544::FrameSizes,
    Rfc2544::Modifiers,
    Rfc2544::Addresses,
    Rfc2544::OneDirection,
    Rfc2544::Phases,
    Rfc2544::Duration,
    Rfc2544::Tests,
    Rfc2544::Search,
    Rfc2544::Latency,
    Rfc2544::Bursts,
];

/// Searches over the parameter of a role.
fn searches<'a>(loads: &'a [&LoadPlan], role: ParamRole) -> impl Iterator<Item = &'a SearchPlan> {
    loads.iter().filter_map(move |load| {
        load.search.as_ref().filter(|search| load.roles.get(&role) == Some(&search.over))
    })
}

/// The tests that no load makes.
fn lacking(loads: &[&LoadPlan]) -> Vec<RfcTest> {
    // A search by a limit other than none lost is another test.
    let lossless = |search: &SearchPlan| {
        let limit = search.limit.as_ref().is_some_and(|limit| limit.at.value == 0.0);
        limit || search.goals.iter().any(|goal| goal.loss.value == 0.0)
    };
    // Rates from the largest on, a tenth of it apart at the most.
    let swept = |load: &&LoadPlan| {
        let name = load.roles.get(&ParamRole::Offered);
        let all = load.over.iter().find(|(over, _)| Some(over) == name).map(|(_, values)| values);
        let all = all.into_iter().flatten().filter_map(Value::quantity);
        let mut rates: Vec<f64> = all.map(|rate| rate.value).collect();
        rates.sort_by(f64::total_cmp);
        let step = rates.last().map_or(0.0, |most| most * (STEP + 1e-9));
        rates.len() > 2 && rates.windows(2).all(|two| two[1] - two[0] <= step)
    };
    let makes = |test: &RfcTest| match test {
        RfcTest::Throughput => searches(loads, ParamRole::Offered).any(lossless),
        RfcTest::FrameLoss => loads.iter().any(swept),
        RfcTest::BackToBack => searches(loads, ParamRole::Burst).any(lossless),
        RfcTest::Recovery | RfcTest::Reset => false,
    };
    let all = [
        RfcTest::Throughput,
        RfcTest::FrameLoss,
        RfcTest::BackToBack,
        RfcTest::Recovery,
        RfcTest::Reset,
    ];
    all.into_iter().filter(|test| !makes(test)).collect()
}
