//! Knows the shapes of what the desk concludes; how it concludes stands in the neighbouring files.

pub use super::caveat::Caveat;
use super::parts::CpuParts;
use super::uneven::Uneven;
use crate::record::{Better, Settings, Value};
use crate::stats::{Estimate, MoreBlocks};
use crate::unit::Quantity;
pub use crate::validity::GeneratorSign;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The four verdicts on one comparison of a level against the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The interval of the ratio lies wholly on the better side of 1.
    Better,
    /// It lies wholly on the worse side of 1.
    Worse,
    /// Two one-sided tests put it within the margin: the 90 % interval lies inside, the 95 % one
    /// that is shown may stick out a little. At the points of a curve from 8 blocks on the one
    /// that is shown lies inside.
    Equivalent,
    /// One of the levels has two states here, fast or slow for a whole trial: a ratio would compare
    /// how often each was met, so there is no single verdict.
    TwoStates,
    /// The two sides were not made by the same: another engine, call path, features of the CPU or C
    /// library. Both figures stand, and there is no verdict.
    NotComparable,
    /// A machine is emulated by software: the figures are those of the emulator.
    Emulated,
    /// The generator alone reaches less than five times a figure: the ratio is that of what is
    /// measured and the generator together.
    NoHeadroom,
    /// None of these.
    Undecided {
        /// Further blocks (or boots, where the compared factor needs them) that it takes, an
        /// 80 % interval, if that can be said at all.
        more_blocks: Option<MoreBlocks>,
    },
}

/// Both levels at one load point, and their ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointResult {
    /// Value of the curve parameter here; none where nothing is swept.
    pub at: Option<Value>,
    /// The metric under the baseline.
    pub base: Estimate,
    /// The metric under the other level.
    pub other: Estimate,
    /// other / base; over a curve the interval is at the level of Holm's step, from 8 blocks on
    /// simultaneous.
    pub ratio: Estimate,
    /// Against the margin; what does not hold in its family is undecided.
    pub verdict: Verdict,
    /// p value of the difference in its family, a share, as [`Comparison::together`].
    #[serde(default)]
    pub together: Option<Quantity>,
    /// Whether both tests of equality put it within the margin, whatever the verdict is.
    #[serde(default)]
    pub within: bool,
    /// Blocks of the pairs, rising, or rounds of boots where the factor needs a reboot; none where
    /// trials are not paired.
    #[serde(default)]
    pub blocks: Vec<u32>,
    /// Metric of every paired trial under the baseline, or of every boot, in the order of `blocks`.
    pub base_runs: Vec<Quantity>,
    /// The same under the other level, in the same blocks or rounds.
    pub other_runs: Vec<Quantity>,
}

/// A stretch of the curve where one side is ahead with certainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// First point.
    pub from: Value,
    /// Last point.
    pub to: Value,
    /// True when the other level is ahead, false when the baseline is.
    pub other_ahead: bool,
    /// Ratio of the point where other / base is smallest.
    pub least: Estimate,
    /// Ratio of the point where other / base is largest.
    pub most: Estimate,
}

/// How the mean of a curve stands to its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// No region says otherwise than the mean.
    Alike,
    /// The mean has one side ahead with certainty, and a region the other.
    Opposed,
    /// The mean shows no difference that matters, and a region does.
    Hidden,
}

/// A curve decided both ways, side by side: by the mean over its points, and region by region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveVerdict {
    /// The comparison.
    pub comparison: String,
    /// The ratio over all points.
    pub mean: Estimate,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Points at which the other level is ahead with certainty.
    pub ahead: u32,
    /// At which it is behind.
    pub behind: u32,
    /// At which both are equal.
    pub even: u32,
    /// At which nothing is decided.
    pub open: u32,
    /// How both stand to each other.
    pub agreement: Agreement,
    /// The regions that say otherwise than the mean and lie beyond the margin somewhere.
    pub against: Vec<Region>,
}

/// One level against the baseline, at one load (a point or a curve), everything else equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Stable name, for instance `path-pro1000-transmit`.
    pub id: String,
    /// The factor compared.
    pub factor: String,
    /// Baseline level.
    pub base: String,
    /// The level that is judged.
    pub other: String,
    /// Whether it is one of A against A: both levels come to the same settings, for `path` two
    /// links set alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
    /// Levels of the other factors.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load that the plan sweeps besides the curve, for instance `direction`.
    pub fixed: Settings,
    /// Name of the load in the plan.
    pub load: String,
    /// Name of the metric.
    pub metric: String,
    /// Which way it is better.
    pub better: Better,
    /// The declared margin.
    pub margin: Quantity,
    /// The curve parameter, if there is one.
    pub curve: Option<String>,
    /// Points in order of the curve.
    pub points: Vec<PointResult>,
    /// The whole curve as one ratio: block means over the points.
    pub overall: Estimate,
    /// The verdict on `overall`; what does not hold in its family is undecided.
    pub verdict: Verdict,
    /// p value of the difference in its family, a share: by Holm below 8 blocks, by steps of sign
    /// flips of whole blocks (max-T) from there. The question of the plan is one family, all the
    /// rest another, whose p values are doubled, so that both are held against the error of the
    /// plan. None where it was not tested: fewer than 5 blocks, or no verdict by nature.
    #[serde(default)]
    pub together: Option<Quantity>,
    /// Whether both tests of equality put it within the margin, whatever the verdict is.
    #[serde(default)]
    pub within: bool,
    /// The typical and the mean ratio, and the trials that collapsed, where they disagree.
    #[serde(default)]
    pub uneven: Option<Uneven>,
    /// Where one side is ahead.
    pub regions: Vec<Region>,
    /// Counted trials in no ratio: a fault, no metric above 0, or the partner of such a trial.
    pub left_out: u32,
}

/// Where a limit is, and the setting that makes it one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitPlace {
    /// Host, end of a link, or CPUs: `c01`, `switch.c01`, `0, 1`.
    pub at: String,
    /// Kind of queueing discipline or kernel setting: `htb`, `tcp_rmem`; empty without one.
    #[serde(default)]
    pub what: String,
    /// What the setting allows, bytes; of one full CPU how busy the others were, a share.
    #[serde(default)]
    pub most: Option<Quantity>,
}

/// What held the figures down, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The comparison it belongs to.
    pub comparison: String,
    /// Which level.
    pub level: String,
    /// What it is.
    pub kind: LimitKind,
    /// The utilisation or share that shows it.
    pub evidence: Estimate,
    /// Where it is, as far as it was read.
    #[serde(default)]
    pub place: Option<LimitPlace>,
    /// What was full beside it: nothing read here tells them apart.
    #[serde(default)]
    pub ties: Vec<Rival>,
    /// What was read and was not full.
    #[serde(default)]
    pub rivals: Vec<Rival>,
}

/// From this logarithm on two ratios are two answers: 1 %.
const TWO_ANSWERS: f64 = 0.01;

impl PointResult {
    /// Whether the quotient of both figures is another answer than the typical ratio, as it is
    /// where single trials have several speeds.
    #[must_use]
    pub fn has_two_answers(&self) -> bool {
        let quotient = self.other.centre.value / self.base.centre.value;
        (quotient / self.ratio.centre.value).ln().abs() > TWO_ANSWERS
    }
}

impl Verdict {
    /// Whether a ratio is shown but says nothing by itself, so that it is in no family of tests.
    #[must_use]
    pub const fn is_barred(self) -> bool {
        matches!(self, Self::TwoStates | Self::NoHeadroom) || self.has_no_ratio()
    }

    /// Whether both figures stand, and their ratio means nothing.
    #[must_use]
    pub const fn has_no_ratio(self) -> bool {
        matches!(self, Self::NotComparable | Self::Emulated)
    }

    /// What stands for points that are all barred: the reason that weighs most.
    pub(super) fn of_barred(points: impl Iterator<Item = Option<Self>>) -> Self {
        let all: Vec<Self> = points.flatten().collect();
        let heaviest = [Self::Emulated, Self::NotComparable, Self::NoHeadroom];
        heaviest.into_iter().find(|bar| all.contains(bar)).unwrap_or(Self::TwoStates)
    }
}

impl Limit {
    /// The limit and what it ties with.
    pub fn named(&self) -> impl Iterator<Item = LimitKind> {
        std::iter::once(self.kind).chain(self.ties.iter().map(|tie| tie.kind))
    }
}

/// A ceiling beside the limit, and how near it the load came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rival {
    /// What it is.
    pub kind: LimitKind,
    /// Share of it that was in use; mean over the trials.
    pub utilisation: Estimate,
    /// Where it is, as far as it was read; of ceilings that were full.
    #[serde(default)]
    pub place: Option<LimitPlace>,
}

/// What held the figures down at one point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointLimit {
    /// Value of the curve parameter.
    pub at: Value,
    /// The limit there.
    pub limit: Limit,
}

/// What can be the limit: first the load and its clients, then what is bought or set, then the
/// CPUs, and last what only waits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The load offered: it was set, and it was carried.
    OfferedLoad,
    /// A quota of CPU time of the relay: the path was not let carry more.
    RelayQuota,
    /// The CPU of the relay: its thread ran all the time, or the CPUs are full because of it.
    RelayCpu,
    /// The relay, which did not carry all frames in time.
    Relay,
    /// A quota of CPU time of a client: the generator was not let.
    ClientQuota,
    /// The line rate of a client's own adapter.
    ClientLine,
    /// The clients' own threads: the system under test could have done more.
    Generator,
    /// A quota of CPU time of the system under test.
    ServerQuota,
    /// The rate of a token bucket at an end of the link.
    SetRate,
    /// The rate that the relay keeps.
    PathRate,
    /// A queueing discipline at an end of the link, whose rate was not read, held packets back.
    Shaper,
    /// A queue at an end of the link dropped packets.
    QueueDrops,
    /// The payload that the line rate of the adapter leaves beside headers.
    Goodput,
    /// The line rate of the adapter, headers and all.
    LineRate,
    /// The bus that the adapter sits on.
    Pcie,
    /// The rate at which memory is copied.
    Memory,
    /// The disk.
    Disk,
    /// Other programs ran on CPUs of the load, which were full.
    OtherPrograms,
    /// All CPUs of the machine busy.
    AllCpus,
    /// One CPU busy with interrupts and received packets.
    SoftirqCpu,
    /// One CPU busy, and not all of them.
    OneCpu,
    /// Connections waited in the accept queue: all workers of the server were taken.
    Workers,
    /// The sockets waited for the peer's receive window.
    ReceiveWindow,
    /// The sockets waited for their own send buffer.
    SendBuffer,
    /// Operations waited for acknowledgements that the other end delayed.
    DelayedAcks,
    /// Losses that the relay plants, where nothing else is full: senders slow down for them.
    PathLosses,
    /// None of the watched resources was full.
    NoneSeen,
}

/// Whose CPU a figure of cost holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Clients and server share one machine: the cost is that of the pair. The work of receiving is
    /// billed to the sender there, so the sides cannot be told apart.
    Pair,
    /// The server has a machine of its own.
    Server,
}

/// Why a cost has no verdict at a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Withheld {
    /// The methods of counting CPU time disagree by more than 10 % of it and 1 % of a CPU.
    MethodsDisagree {
        /// The largest difference, in CPUs.
        by: Estimate,
    },
    /// A level kept less than 5 % of the CPUs busy: the index divides by next to nothing.
    LowCpu {
        /// Busy share of the level that had least.
        busy: Estimate,
    },
    /// The levels differ in simultaneous multithreading: a per cent of logical CPUs is not the same
    /// thing on both sides.
    SmtDiffers,
    /// Both sides ran at saturation with unequal throughput: only an equal offered load decides.
    UnequalAtSaturation {
        /// Ratio of the throughputs.
        throughput: Estimate,
    },
    /// A level has two states.
    TwoStates,
    /// The generator of the load has too little headroom.
    NoHeadroom,
    /// No trial has the readings.
    NotRead,
}

impl Withheld {
    /// Why the points of a figure with such a verdict are in no mean, if they are in none.
    pub(super) const fn left_out(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::TwoStates => Some(Self::TwoStates),
            Verdict::NoHeadroom => Some(Self::NoHeadroom),
            _ => None,
        }
    }

    /// Whether a point with this reason is in no mean, and so objects to none.
    pub(super) const fn leaves_out(&self) -> bool {
        matches!(self, Self::TwoStates | Self::NoHeadroom)
    }
}

/// What the load of a comparison cost in CPU, level against level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The comparison of the primary metric that it belongs to.
    pub comparison: String,
    /// Whose CPU.
    pub basis: Basis,
    /// Whether the load offered was set and reached alike by both levels, so that the costs compare
    /// directly.
    pub equal_load: bool,
    /// Busy share of all CPUs, metric `cpu`.
    pub cpu: Comparison,
    /// P/E index, metric `pe_index`: the rate of work for each per cent of all CPUs.
    pub index: Comparison,
    /// CPU time per unit of work: per gigabyte, metric `cpu_per_gb`; of other work per operation,
    /// metric `cpu_per_operation`.
    pub per_work: Comparison,
    /// Application work displaced, metric `displaced`, if a soaker ran.
    pub displaced: Option<Comparison>,
    /// Why the index has no verdict at a point, in the order of `index.points`.
    pub withheld: Vec<Option<Withheld>>,
    /// Why it has none over all points.
    pub withheld_overall: Option<Withheld>,
    /// Where the CPU time went, a row a level and point.
    pub parts: Vec<CpuParts>,
}

/// One of the two states of a level at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The metric in this state.
    pub rate: Estimate,
    /// Mean segment in this state, bytes, where it was read.
    pub segment: Option<Estimate>,
    /// How many trials were in it.
    pub trials: u32,
}

/// A level that is fast or slow for a whole trial, by chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoStates {
    /// The comparison.
    pub comparison: String,
    /// The level.
    pub level: String,
    /// Value of the curve parameter, if there is one.
    pub at: Option<Value>,
    /// The state with the lower rate.
    pub slow: State,
    /// The state with the higher rate.
    pub fast: State,
}

/// A point at which the clients, not the system under test, held the figure down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorBound {
    /// The comparison.
    pub comparison: String,
    /// The level.
    pub level: String,
    /// Value of the curve parameter, if there is one.
    pub at: Option<Value>,
    /// How it shows.
    pub sign: GeneratorSign,
    /// The share that shows it: of a CPU, of the time, of the requests.
    pub evidence: Estimate,
}

/// Whether one factor's effect depends on the level of another: the difference of differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interaction {
    /// The factor whose effect it is.
    pub factor: String,
    /// Its baseline.
    pub base: String,
    /// Its other level.
    pub other: String,
    /// The factor on whose level the effect depends.
    pub by: String,
    /// The level of `by` under which `first` was found.
    pub by_base: String,
    /// The level of `by` under which `second` was found.
    pub by_other: String,
    /// Levels of further factors.
    pub stratum: BTreeMap<String, String>,
    /// Parameters of the load besides the curve.
    pub fixed: Settings,
    /// Name of the load.
    pub load: String,
    /// Name of the metric.
    pub metric: String,
    /// other / base under `by_base`.
    pub first: Estimate,
    /// other / base under `by_other`.
    pub second: Estimate,
    /// second / first, from the blocks.
    pub difference: Estimate,
    /// On `difference`: `Better` where the effect is larger under `by_other`.
    pub verdict: Verdict,
    /// p value of `difference` in its family, a share, as [`Comparison::together`].
    #[serde(default)]
    pub together: Option<Quantity>,
    /// Whether both tests of equality put `difference` within the margin.
    #[serde(default)]
    pub within: bool,
    /// Block and log of `difference`.
    #[serde(skip)]
    pub blocks: Vec<(u32, f64)>,
}

/// Two levels over all loads and strata of a plan as one ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    /// The factor compared.
    pub factor: String,
    /// Its baseline.
    pub base: String,
    /// The level that is judged.
    pub other: String,
    /// Name of the metric.
    pub metric: String,
    /// The comparisons in it, by name.
    pub over: Vec<String>,
    /// Geometric mean of their ratios, interval over the blocks.
    pub ratio: Estimate,
    /// Against the margin; what does not hold in its family is undecided.
    pub verdict: Verdict,
    /// p value of the difference in its family, a share, as [`Comparison::together`].
    #[serde(default)]
    pub together: Option<Quantity>,
    /// Whether both tests of equality put it within the margin.
    #[serde(default)]
    pub within: bool,
    /// Block and log ratio.
    #[serde(skip)]
    pub blocks: Vec<(u32, f64)>,
}

/// The two roofs over a curve of throughput by request size: what a request costs holds the small
/// sizes down, what a byte costs the large ones. Only of a curve that lies along both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roofs {
    /// The comparison.
    pub comparison: String,
    /// The level that lies along both.
    pub level: String,
    /// The most requests a second of either level at any point: throughput over the bits of a
    /// request, op/s.
    pub requests: Estimate,
    /// The highest throughput of either level at any point, bit/s.
    pub throughput: Estimate,
    /// The measured size that is nearest, by ratio, to where the roofs meet.
    pub meet: Value,
    /// What ceilings that were read leave of payload at the largest point, for the same level.
    #[serde(default)]
    pub ceilings: Vec<Top>,
}

/// The throughput at which a ceiling is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Top {
    /// The ceiling.
    pub kind: LimitKind,
    /// Throughput over the share in use, bit/s; mean over the trials.
    pub throughput: Estimate,
}

/// Where watts are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PowerSource {
    /// A person read a meter.
    Entered,
    /// The management controller, of the whole machine, in every trial.
    Board,
    /// The counters of the CPUs' packages and their memory, in every trial.
    Packages,
}

/// How many of a part, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedPart {
    /// What the plan calls it.
    pub name: String,
    /// How many, 1 or more.
    pub count: u32,
}

/// By which parts the level that takes more differs from the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartsApart {
    /// What it has and the other has not.
    pub more: Vec<CountedPart>,
    /// What the other has in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<CountedPart>,
}

/// What two levels give for what they take: the money or the power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Worth {
    /// The comparison.
    pub comparison: String,
    /// What the baseline takes: its price, or watts.
    pub base: Quantity,
    /// What the other level takes, in the same unit.
    pub other: Quantity,
    /// Where watts are from; none of prices, which are entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSource>,
    /// Work that the level which takes more gives for each unit more, as a share of the other's
    /// work; none where both take the same, and of measured watts, whose difference is not exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Estimate>,
    /// The parts that make the difference; none where it was entered of whole levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsApart>,
    /// The primary metric of every trial over what its level takes, judged like any metric; its
    /// figures are in the unit of the metric, for one unit of what is taken. None where a level has
    /// none of the parts, and takes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_unit: Option<Comparison>,
}

/// How single trials of a level come out at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialQuantiles {
    /// The first comparison that it is part of.
    pub comparison: String,
    /// The level.
    pub level: String,
    /// Value of the curve parameter, if there is one.
    pub at: Option<Value>,
    /// Paired trials, or boots where n counts boots.
    pub trials: u32,
    /// The middle trial.
    pub median: TrialQuantile,
    /// The worst of ten: a tenth of trials come out worse.
    pub worst: TrialQuantile,
}

/// A quantile of trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialQuantile {
    /// Share of trials that lie below it, 0-1.
    pub share: Quantity,
    /// The metric there, its interval between two of the trials; none with too few trials.
    pub value: Option<Estimate>,
    /// The fewest trials with which it has an interval.
    pub needs: u32,
}

/// Kinds of reader for whom different levels may be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// Wants the highest throughput, whatever it costs.
    PeakThroughput,
    /// Wants the lowest latency, whatever it costs.
    Latency,
    /// Runs other work on the server: what the load costs is taken from that work.
    OtherWork,
}

/// What a kind of reader should take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// For whom.
    pub reader: Reader,
    /// The comparison it rests on.
    pub comparison: String,
    /// The level to take; none if it does not matter or is not decided.
    pub choice: Option<String>,
    /// The metric that decides: the primary one, `displaced` or `cpu_per_gb`.
    pub metric: String,
    /// Its ratio other / base.
    pub effect: Estimate,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Why there is none, where it was withheld.
    pub withheld: Option<Withheld>,
}

/// How our finding stands to a published one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "standing")]
pub enum Standing {
    /// It was looked at here.
    Compared {
        /// Whether the curve has the same shape; none where the claim has none.
        shape: Option<bool>,
        /// Whether its knee is at the same place, within one step of the curve.
        knee: Option<bool>,
        /// Whether the difference has the same sign; undecided differences have none.
        sign: Option<bool>,
        /// Our figures: what each is, and its estimate.
        ours: Vec<(ClaimFigure, Estimate)>,
        /// Where our knee is, if the claim has one.
        knee_at: Option<Value>,
    },
    /// What each copy keeps where all CPUs run one was looked at here.
    PerCopy {
        /// Ours, one an algorithm and block.
        kept: Vec<KeptShare>,
        /// Whether all keep less than one alone; none where some are open.
        less: Option<bool>,
        /// Whether they keep about as much as was claimed; none where that is open.
        as_much: Option<bool>,
        /// Whether MD5 keeps more at the largest block than at the smallest; none where that is
        /// open.
        md5_rises: Option<bool>,
    },
    /// It was not: the plan or the machine lacks what it is about.
    NotMeasured {
        /// What is missing.
        missing: ClaimNeed,
    },
}

/// What each of all copies keeps of what one does alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptShare {
    /// What is computed.
    pub algorithm: String,
    /// Whose code does it.
    pub engine: String,
    /// Bytes of a message.
    pub block: Value,
    /// What is kept, a share.
    pub share: Estimate,
}

/// What a figure beside a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimFigure {
    /// The highest throughput of the curve.
    Highest,
    /// A ratio of two throughputs over the curve.
    ThroughputRatio,
    /// A ratio of two CPU loads over the curve.
    CpuRatio,
    /// A ratio of two bandwidths.
    BandwidthRatio,
    /// A ratio of two rates of requests.
    RateRatio,
}

/// What a claim needs that the run does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimNeed {
    /// Simultaneous multithreading that can be switched.
    Smt,
    /// The adapters themselves.
    Adapters,
    /// A file server.
    FileServer,
    /// The load or direction it is about.
    Load,
    /// A server whose CPUs the clients do not share.
    Server,
    /// The run's own verdicts for kinds of reader stand in its place.
    Verdicts,
    /// The feature that it is about, as a factor of the plan.
    Feature,
    /// A run with the feature at its other level, compared with this one.
    OtherLevel,
    /// A second core: all of one are one.
    SecondCore,
    /// A suite of programs for the CPU.
    Suite,
    /// A web server.
    WebServer,
    /// A database.
    Database,
    /// Machines of hardware: these are emulated by software.
    Hardware,
    /// A load generator that alone reaches five times the figures.
    Headroom,
    /// Nothing: it is a rule that every verdict here keeps.
    Rule,
}

/// A published claim beside our finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCheck {
    /// Its name, `000-1`.
    pub id: String,
    /// What was tested.
    pub subject: String,
    /// What was compared.
    pub compared: String,
    /// Where it holds.
    pub region: String,
    /// Which way.
    pub direction: String,
    /// How much.
    pub magnitude: String,
    /// The cause its authors gave.
    pub cause: String,
    /// How ours stands to it.
    pub standing: Standing,
}
