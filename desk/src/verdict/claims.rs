//! Knows which of the run's figures a published claim is about, and sets the two side by side.
//!
//! Never: old absolute figures beside ours; only shape, knee and sign can be compared.

use super::analysis::Analysis;
use super::finding::{
    ClaimCheck, ClaimFigure, ClaimNeed, Comparison, KeptShare, PointResult, Standing,
};
use super::headroom::has_headroom;
use super::knee::{knee, rises_then_flat};
use super::ladder::{Rung, Step as Climb};
use super::machine::{DerivedFact, DerivedKind, MachineCell};
use super::measure::{busy, throughput};
use super::own_count;
use super::series::{Series, Side, baseline, block_logs, direction_of};
use crate::record::{
    Claim, Derivation, FactorPlan, LoadPlan, Method, ParamRole, Plan, Replicate, Run, TrialRecord,
    Value, claims,
};
use crate::stats::{
    Between, Estimate, EstimateMethod, JUDGED_FROM, Session, decide, log_ratio, mean,
    mean_or_single,
};
use crate::unit::{Quantity, Unit};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Bytes at which the curves of test 000 bend.
const BEND: f64 = 8192.0;

/// How each claim is held against a run, by its name.
const TESTS: &str = include_str!("../../../published/tests.toml");

/// What of our run stands beside a claim.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Test {
    /// The throughput of a direction rises along the curve and is flat from [`BEND`] on.
    Knee(String),
    /// One direction loads the CPU less than another.
    LessCpu([String; 2]),
    /// Duplex carries less than both directions one after the other together.
    UnderSum,
    /// Every one of these is true of multithreading off against on.
    SmtOff(Vec<SmtOff>),
    /// A feature of the machine on against off, in two runs, by some of their cells.
    Feature(Vec<FeaturePart>),
    /// Each of all copies of a program does less than one alone, and about as much as claimed.
    LessPerCopy(PerCopy),
    /// The rates of a server at two numbers of connections.
    Concurrency(Vec<Step>),
    /// Throughput rises when one of these parts of the path goes out of a ladder.
    Rungs(Vec<String>),
    /// What another counted of the work is what the load counted, within the margin.
    SameCount {},
    /// The second level of what is compared against the first, at a size: whether it is higher.
    SecondLevel {
        /// Bytes.
        size: f64,
        /// Whether it is claimed to be higher.
        higher: bool,
    },
    /// Our runs do not have it.
    Needs(ClaimNeed),
}

/// A load with responses of so many bytes: more connections against fewer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The metric that decides there, by which the load is told from others.
    metric: String,
    /// What the load is told, parameter to word.
    with: BTreeMap<String, String>,
    size: f64,
    from: u64,
    to: u64,
    higher: bool,
}

/// Cells of loads that ask for something, and whether their figure is claimed to be higher with the
/// feature on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FeaturePart {
    asks: Derivation,
    /// How the words of parameters begin.
    only: BTreeMap<ParamRole, Vec<String>>,
    higher: bool,
}

impl FeaturePart {
    fn holds(&self, plan: &Plan, cell: &MachineCell) -> bool {
        let Some(load) = plan.load(&cell.load) else { return false };
        let begins = |(role, starts): (&ParamRole, &Vec<String>)| {
            let word = load.param(*role, &cell.params).and_then(Value::word);
            word.is_some_and(|word| starts.iter().any(|start| word.starts_with(start)))
        };
        load.asks(self.asks).next().is_some() && self.only.iter().all(begins)
    }
}

/// What the published copies computed, and with whose code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PerCopy {
    asks: Derivation,
    engine: String,
    algorithms: Vec<String>,
    /// The one of them that is claimed to keep more at larger blocks.
    rises: String,
}

/// A difference of multithreading off against on, in one direction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SmtOff {
    direction: String,
    part: Part,
    /// Of the CPU, not of the throughput.
    #[serde(default)]
    of_cpu: bool,
    /// Whether the figure is claimed to be higher with it off.
    higher: bool,
}

impl SmtOff {
    const fn figure(&self) -> ClaimFigure {
        if self.of_cpu { ClaimFigure::CpuRatio } else { ClaimFigure::ThroughputRatio }
    }
}

/// Points of the curve.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Small,
    Large,
    All,
}

/// The tests of all claims; that every one can be read is a test.
fn tests_of_claims() -> BTreeMap<String, Test> {
    toml::from_str(TESTS).unwrap_or_default()
}

/// The factor that claims of test 003 are about.
const SNOOP_FILTER: &str = "snoop_filter";

/// The claims of the published test that the plan names, each beside what this run shows.
///
/// Our side is the first load that is not paced, under the first level of every factor: one curve,
/// as the published one was. A claim that no row of the table is about counts as one whose load is
/// missing. None if the plan names no published test.
pub(super) fn claim_checks(run: &Run, found: &Analysis) -> Vec<ClaimCheck> {
    let Some(source) = &run.plan.published else { return Vec::new() };
    let ours = claims().into_iter().filter(|claim| claim.source == *source);
    let tests = tests_of_claims();
    ours.map(|claim| {
        let test = tests.get(&claim.id).unwrap_or(&Test::Needs(ClaimNeed::Load));
        let standing = standing(run, found, (test, &claim.magnitude));
        beside(claim, standing)
    })
    .collect()
}

fn beside(claim: Claim, standing: Standing) -> ClaimCheck {
    ClaimCheck {
        id: claim.id,
        subject: claim.subject,
        compared: claim.compared,
        region: claim.region,
        direction: claim.direction,
        magnitude: claim.magnitude,
        cause: claim.cause,
        standing,
    }
}

/// How a run stands to a claim of this magnitude.
fn standing(run: &Run, found: &Analysis, (test, magnitude): (&Test, &str)) -> Standing {
    let load = run.plan.loads.iter().find(|load| !load.is_paced(&load.fixed));
    let looked_at = match (test, load) {
        (Test::Needs(need), _) => Err(*need),
        _ if run.is_emulated() => Err(ClaimNeed::Hardware),
        (Test::Feature(parts), _) => Err(lacks(run, found, parts)),
        (Test::LessPerCopy(theirs), _) => less_per_copy(run, found, (theirs, magnitude)),
        // Theirs is a server's CPU; in a lab on one machine ours is the clients' too.
        (Test::LessCpu(..), _) if run.environment().lab.is_some() => Err(ClaimNeed::Server),
        (Test::Concurrency(steps), _) => by_concurrency(run, steps),
        (Test::Rungs(keys), _) => by_rungs(found, keys),
        (Test::SameCount {}, _) => own_count::same(run),
        (_, None) => Err(ClaimNeed::Load),
        (Test::SecondLevel { size, higher }, Some(load)) => has_headroom(run, found, (load, *size))
            .and_then(|()| second_level(run, load, (*size, *higher))),
        (Test::Knee(direction), Some(load)) => bend(run, load, direction),
        (Test::LessCpu([less, more]), Some(load)) => {
            let figure = (ClaimFigure::CpuRatio, false);
            let logs = against(run, load, [less, more], &|record| busy(record));
            signed(&run.plan.method, &[(figure, logs)])
        }
        (Test::UnderSum, Some(load)) => {
            let figure = (ClaimFigure::ThroughputRatio, false);
            signed(&run.plan.method, &[(figure, under_sum(run, load))])
        }
        (Test::SmtOff(parts), Some(load)) => smt_off(run, load, parts),
    };
    looked_at.unwrap_or_else(|missing| Standing::NotMeasured { missing })
}

/// A direction under the first level of every factor: both sides in one boot.
fn side<'d>(plan: &Plan, direction: Option<&'d str>) -> Side<'d> {
    Side { levels: baseline(plan), direction, replicate: Replicate::Block }
}

fn bend(run: &Run, load: &LoadPlan, direction: &str) -> Result<Standing, ClaimNeed> {
    let series =
        Series::of(run, load, &side(&run.plan, Some(direction)), &|r| throughput(&run.plan, r));
    let course: Vec<(&Value, Estimate)> = series
        .points
        .iter()
        .filter_map(|(place, blocks)| {
            let values: Vec<f64> = blocks.values().copied().collect();
            let size = place.as_ref().filter(|at| is_size(at))?;
            Some((size, mean_or_single(&values, Unit::BitPerSecond)?))
        })
        .collect();
    let values: Vec<f64> = course.iter().map(|(_, e)| e.centre.value).collect();
    let ours = knee(&values).filter(|_| values.len() > 2).ok_or(ClaimNeed::Load)?;
    let highest = course.iter().max_by(|a, b| a.1.centre.value.total_cmp(&b.1.centre.value));
    let (_, highest) = highest.ok_or(ClaimNeed::Load)?;
    let bent = ours + 1 < values.len();
    let inside = is_inside(&course, BEND);
    let apart = course[ours].0.quantity().map(|ours| (ours.value / BEND).ln().abs());
    Ok(Standing::Compared {
        shape: Some(rises_then_flat(&values)),
        knee: apart.filter(|_| inside).map(|apart| bent && apart <= SAME_KNEE.ln()),
        sign: None,
        ours: vec![(ClaimFigure::Highest, highest.clone())],
        knee_at: bent.then(|| course[ours].0.clone()),
    })
}

fn is_size(at: &Value) -> bool {
    at.quantity().is_some_and(|quantity| quantity.unit == Unit::Byte)
}

/// Whether a size lies within those that were measured.
fn is_inside(course: &[(&Value, Estimate)], size: f64) -> bool {
    let sizes = || course.iter().filter_map(|(at, _)| Some(at.quantity()?.value));
    sizes().any(|s| s <= size) && sizes().any(|s| s >= size)
}

/// Log ratios of two directions of the same treatment, one a block.
fn against(
    run: &Run,
    load: &LoadPlan,
    [other, base]: [&str; 2],
    measure: &super::pairing::Measure<'_>,
) -> Vec<f64> {
    let series = |direction| Series::of(run, load, &side(&run.plan, Some(direction)), measure);
    block_logs(&series(base), &series(other), |_| true)
}

/// Log ratios of duplex over the sum of both directions, one a block.
fn under_sum(run: &Run, load: &LoadPlan) -> Vec<f64> {
    let series = |direction| {
        Series::of(run, load, &side(&run.plan, Some(direction)), &|r| throughput(&run.plan, r))
    };
    let sum = series("transmit").plus(&series("receive"));
    block_logs(&sum, &series("duplex"), |_| true)
}

fn by_concurrency(run: &Run, steps: &[Step]) -> Result<Standing, ClaimNeed> {
    let mut all = Vec::new();
    for step in steps {
        let Some(load) = load_of(&run.plan, step) else { continue };
        let logs = of_step(run, load, step).ok_or(ClaimNeed::WebServer)?;
        all.push(((ClaimFigure::RateRatio, step.higher), logs));
    }
    if all.is_empty() { Err(ClaimNeed::WebServer) } else { signed(&run.plan.method, &all) }
}

/// The second level against the first of what is compared, at one size.
fn second_level(
    run: &Run,
    load: &LoadPlan,
    (size, higher): (f64, bool),
) -> Result<Standing, ClaimNeed> {
    let plan = &run.plan;
    let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
    let second = compared.and_then(|factor| Some((factor, factor.levels.get(1)?)));
    let (factor, second) = second.ok_or(ClaimNeed::Feature)?;
    let metric = plan.primary(&load.name);
    let of = |levels| {
        let (direction, replicate) = (direction_of(load), plan.replicate_of(&[&factor.name]));
        let side = Side { levels, direction, replicate };
        let measure = |record: &TrialRecord| record.outcome.metric(metric).map(|found| found.value);
        Series::of(run, load, &side, &measure)
    };
    let mut levels = baseline(plan);
    let base = of(levels.clone());
    levels.insert(factor.name.clone(), second.name.clone());
    let at = |place: Option<&Value>| {
        place.and_then(Value::quantity).is_some_and(|found| found.value.total_cmp(&size).is_eq())
    };
    let logs = block_logs(&base, &of(levels), at);
    signed(&plan.method, &[((ClaimFigure::ThroughputRatio, higher), logs)])
}

/// The steps of all ladders that take out nothing but one of these parts.
fn by_rungs(found: &Analysis, keys: &[String]) -> Result<Standing, ClaimNeed> {
    let rungs = found.ladders.iter().flat_map(|ladder| &ladder.rungs);
    let its: Vec<&Rung> = rungs.filter(|rung| rung.switches(keys)).collect();
    if its.is_empty() {
        return Err(ClaimNeed::Feature);
    }
    let is = |steps: &[Climb]| its.iter().filter(|rung| steps.contains(&rung.step)).count();
    let sign = match (is(&[Climb::Gain]), is(&[Climb::Same, Climb::Loss])) {
        (0, all) if all == its.len() => Some(false),
        (0, _) => None,
        _ => Some(true),
    };
    let ratios = its.iter().filter_map(|rung| rung.ratio.clone());
    let ours = ratios.map(|ratio| (ClaimFigure::ThroughputRatio, ratio)).collect();
    Ok(Standing::Compared { shape: None, knee: None, sign, ours, knee_at: None })
}

/// The curve over connections that a step is about.
fn load_of<'p>(plan: &'p Plan, step: &Step) -> Option<&'p LoadPlan> {
    let is_it = |load: &&LoadPlan| {
        let is_size = |size: Quantity| size.value.total_cmp(&step.size).is_eq();
        let mut sizes = load.values(ParamRole::Size).filter_map(Value::quantity).peekable();
        let curve = load.roles.get(&ParamRole::Concurrency).map(String::as_str);
        let told = |(key, word): (&String, &String)| {
            load.fixed.get(key).and_then(Value::word) == Some(word)
        };
        sizes.peek().is_some()
            && sizes.all(is_size)
            && curve.is_some()
            && plan.curve(load) == curve
            && plan.primary(&load.name) == step.metric
            && step.with.iter().all(told)
            && !load.is_paced(&load.fixed)
    };
    plan.loads.iter().find(is_it)
}

/// Log ratios, one a block; none where the curve lacks one of the numbers.
fn of_step(run: &Run, load: &LoadPlan, step: &Step) -> Option<Vec<f64>> {
    let plan = &run.plan;
    let series = Series::of(run, load, &side(plan, None), &|record| {
        let mut samples = record.outcome.samples.iter();
        Some(samples.find(|sample| sample.metric == step.metric)?.quantity.value)
    });
    let at = |count: u64| {
        let is_it = |place: &Option<Value>| place.as_ref().and_then(Value::count) == Some(count);
        series.points.iter().find(|(place, _)| is_it(place)).map(|(_, blocks)| blocks)
    };
    let (fewer, more) = (at(step.from)?, at(step.to)?);
    let pair = |(block, base): (&u32, &f64)| log_ratio(*base, *more.get(block)?);
    Some(fewer.iter().filter_map(pair).collect())
}

/// The factor that switches multithreading, with its levels off and on.
fn smt_levels(plan: &Plan) -> Option<(&FactorPlan, [&str; 2])> {
    plan.factors.iter().find_map(|factor| {
        let level = |word: &str| {
            let sets = |l: &&crate::record::Level| {
                plan.effective(&l.settings).get("smt").and_then(Value::word) == Some(word)
            };
            factor.levels.iter().find(sets).map(|l| l.name.as_str())
        };
        Some((factor, [level("off")?, level("on")?]))
    })
}

fn smt_off(run: &Run, load: &LoadPlan, parts: &[SmtOff]) -> Result<Standing, ClaimNeed> {
    let (factor, [off, on]) = smt_levels(&run.plan).ok_or(ClaimNeed::Smt)?;
    if run.environment().lab.is_some() && parts.iter().any(|part| part.of_cpu) {
        return Err(ClaimNeed::Server);
    }
    let logs = |part: &SmtOff| {
        let series = |level: &str| {
            let mut levels = baseline(&run.plan);
            levels.insert(factor.name.clone(), level.into());
            let replicate = run.plan.replicate_of(&[&factor.name]);
            let side = Side { levels, direction: Some(&part.direction), replicate };
            match part.of_cpu {
                true => Series::of(run, load, &side, &|r| busy(r)),
                false => Series::of(run, load, &side, &|r| throughput(&run.plan, r)),
            }
        };
        block_logs(&series(on), &series(off), |at| within(part.part, at))
    };
    let all: Vec<_> = parts.iter().map(|part| ((part.figure(), part.higher), logs(part))).collect();
    signed(&run.plan.method, &all)
}

fn within(part: Part, at: Option<&Value>) -> bool {
    let size = at.and_then(Value::quantity).map(|q| q.value);
    match part {
        Part::All => true,
        Part::Small => size.is_some_and(|s| s < BEND),
        Part::Large => size.is_some_and(|s| s > BEND),
    }
}

/// A figure, and whether it is claimed to be higher.
type Sign = (ClaimFigure, bool);

/// A figure, whether it is claimed to be higher, and its log ratios by block.
type Claimed = (Sign, Vec<f64>);

/// Whether the differences have the signs that are claimed for them.
fn signed(method: &Method, all: &[Claimed]) -> Result<Standing, ClaimNeed> {
    let ratio = |(claimed, logs): &Claimed| Some((*claimed, decide(logs, method.rule())?.ratio));
    let all: Option<Vec<(Sign, Estimate)>> = all.iter().map(ratio).collect();
    all.map(of_signs).ok_or(ClaimNeed::Load)
}

fn of_signs(all: Vec<(Sign, Estimate)>) -> Standing {
    let as_claimed =
        |((_, higher), ratio): &(Sign, Estimate)| sign(ratio).map(|above| above == *higher);
    let signs: Vec<Option<bool>> = all.iter().map(as_claimed).collect();
    let ours = all.into_iter().map(|((figure, _), ratio)| (figure, ratio)).collect();
    Standing::Compared { shape: None, knee: None, sign: all_of(&signs), ours, knee_at: None }
}

/// True if all are, false if one is certainly the other way, none if some are open.
fn all_of(signs: &[Option<bool>]) -> Option<bool> {
    if signs.contains(&Some(false)) {
        return Some(false);
    }
    signs.iter().all(Option::is_some).then_some(true)
}

/// What one run lacks for a claim about the feature: a person sets it, so a run has one level.
fn lacks(run: &Run, found: &Analysis, parts: &[FeaturePart]) -> ClaimNeed {
    if run.plan.factors.iter().all(|factor| factor.name != SNOOP_FILTER) {
        return ClaimNeed::Feature;
    }
    let is_there = |part: &FeaturePart| found.cells.iter().any(|cell| part.holds(&run.plan, cell));
    if parts.iter().all(is_there) { ClaimNeed::OtherLevel } else { ClaimNeed::Load }
}

/// The first run of a side and, of each of its sessions, the cells of its loads of the machine.
pub(super) type Measured<'a> = (&'a Run, &'a [&'a [MachineCell]]);

/// The published claims about a feature that a person switches, each beside what two comparable
/// sides show, of which one was made with it on and the other with it off; `found` is their
/// comparison.
///
/// None where the plans do not name the same published test, and where the runs do not differ in
/// such a feature.
pub(super) fn claims_of_two([a, b]: [Measured<'_>; 2], found: &[Comparison]) -> Vec<ClaimCheck> {
    let published = a.0.plan.published.as_ref();
    let source = published.filter(|ours| b.0.plan.published.as_ref() == Some(*ours));
    let runs = switched([a, b]);
    let (Some(runs), Some(source)) = (runs, source) else { return Vec::new() };
    let tests = tests_of_claims();
    let check = |claim: Claim| {
        let Test::Feature(parts) = tests.get(&claim.id)? else { return None };
        let emulated = runs.iter().any(|(run, _)| run.is_emulated());
        let standing =
            if emulated { Err(ClaimNeed::Hardware) } else { feature(runs, found, parts) };
        let standing = standing.unwrap_or_else(|missing| Standing::NotMeasured { missing });
        Some(beside(claim, standing))
    };
    claims().into_iter().filter(|claim| claim.source == *source).filter_map(check).collect()
}

/// The run with the feature off and the one with it on, if each was made at that level.
fn switched<'a>([a, b]: [Measured<'a>; 2]) -> Option<[Measured<'a>; 2]> {
    let is_at = |(run, _): Measured<'_>, wanted: &str| {
        let factor = run.plan.manual().find(|factor| factor.name == SNOOP_FILTER);
        factor.is_some_and(|f| matches!(f.levels.as_slice(), [only] if only.name == wanted))
    };
    let is_pair = |off, on| is_at(off, "off") && is_at(on, "on");
    if is_pair(a, b) {
        return Some([a, b]);
    }
    is_pair(b, a).then_some([b, a])
}

/// The feature on against off, over all cells of each part that both runs have.
fn feature(
    [off, on]: [Measured<'_>; 2],
    found: &[Comparison],
    parts: &[FeaturePart],
) -> Result<Standing, ClaimNeed> {
    let level = 1.0 - off.0.plan.method.alpha().min(on.0.plan.method.alpha());
    let between = |part: &FeaturePart| Some((part.higher, of_two([off, on], found, part)?));
    let all: Option<Vec<(bool, Between)>> = parts.iter().map(between).collect();
    let all = all.ok_or(ClaimNeed::Load)?;
    let are_enough = all.iter().all(|(_, between)| between.is_enough());
    let ratio = |(higher, between): (bool, Between)| {
        let ratio = between.test.ratio(level, EstimateMethod::WelchLog);
        ((ClaimFigure::BandwidthRatio, higher), ratio)
    };
    match of_signs(all.into_iter().map(ratio).collect()) {
        // Few sessions give figures and no sign.
        Standing::Compared { shape, knee, ours, knee_at, .. } if !are_enough => {
            Ok(Standing::Compared { shape, knee, sign: None, ours, knee_at })
        }
        found => Ok(found),
    }
}

/// on / off over the cells of a part that all sessions have and that no comparison bars: the
/// difference of their logs with the spread between sessions, from the blocks that have them all.
/// None where there is no such cell.
fn of_two(
    [(run, off), (_, on)]: [Measured<'_>; 2],
    found: &[Comparison],
    part: &FeaturePart,
) -> Option<Between> {
    let holds = |cell: &&MachineCell| part.holds(&run.plan, cell) && !is_barred(found, cell);
    let base = off.first()?.iter().filter(holds);
    let shared: Vec<&MachineCell> = base
        .filter(|base| off.iter().chain(on).all(|all| all.iter().any(|cell| is_twin(base, cell))))
        .collect();
    let session = |cells: &&[MachineCell]| {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let twin = |base: &&MachineCell| cells.iter().find(|cell| is_twin(base, cell));
        for (block, value) in shared.iter().filter_map(twin).flat_map(|cell| &cell.blocks) {
            if value.value > 0.0 {
                blocks.entry(*block).or_default().push(value.value.ln());
            }
        }
        let whole = blocks.into_values().filter(|logs| logs.len() == shared.len());
        Session::of(&whole.map(|logs| mean(&logs)).collect::<Vec<f64>>())
    };
    let [base, other] =
        [off, on].map(|side| side.iter().filter_map(session).collect::<Vec<Session>>());
    Between::of([&base, &other], &[])
}

/// Whether two cells differ in nothing but the feature.
fn is_twin(off: &MachineCell, on: &MachineCell) -> bool {
    let others = |cell: &MachineCell| {
        let mut levels = cell.levels.clone();
        levels.remove(SNOOP_FILTER);
        levels
    };
    off.load == on.load
        && off.params == on.params
        && off.metric == on.metric
        && others(off) == others(on)
}

/// Whether the comparison of the two runs gives no verdict at a cell: a level has two states there,
/// or the runs were not made by the same.
fn is_barred(found: &[Comparison], cell: &MachineCell) -> bool {
    let of = |comparison: &&Comparison| {
        let mut fixed = comparison.fixed.iter();
        let mut stratum = comparison.stratum.iter();
        comparison.load == cell.load
            && fixed.all(|(name, value)| cell.params.get(name) == Some(value))
            && stratum.all(|(factor, level)| cell.levels.get(factor) == Some(level))
    };
    let is_at = |comparison: &Comparison, point: &PointResult| {
        let curve = comparison.curve.as_ref();
        point.at.is_none() || curve.is_none_or(|curve| cell.params.get(curve) == point.at.as_ref())
    };
    let bars = |point: &&PointResult| point.verdict.is_barred();
    let mut all = found.iter().filter(of);
    all.any(|comparison| comparison.points.iter().filter(bars).any(|p| is_at(comparison, p)))
}

/// What each copy keeps where all cores run one, by everything that was measured so and that they
/// computed: with the engine of the published figures where it was, else with those that were.
/// `magnitude` is how much the claim says.
fn less_per_copy(
    run: &Run,
    found: &Analysis,
    (theirs, magnitude): (&PerCopy, &str),
) -> Result<Standing, ClaimNeed> {
    let of = |fact| kept_share(&run.plan, fact);
    let mut kept: Vec<KeptShare> = found.derived.iter().filter_map(of).collect();
    kept.retain(|one| theirs.algorithms.contains(&one.algorithm));
    if kept.iter().any(|one| one.engine == theirs.engine) {
        kept.retain(|one| one.engine == theirs.engine);
    }
    if kept.is_empty() {
        let loads = found.cells.iter().filter_map(|cell| run.plan.load(&cell.load));
        let is_there = loads.flat_map(|load| load.asks(theirs.asks)).next().is_some();
        let one_cpu = run.environment().cpu.logical == 1;
        return Err(if is_there && one_cpu { ClaimNeed::SecondCore } else { ClaimNeed::Load });
    }
    let less = |one: &KeptShare| sign(&one.share).map(|above| !above);
    let less: Vec<Option<bool>> = kept.iter().map(less).collect();
    Ok(Standing::PerCopy {
        less: all_of(&less),
        as_much: as_much(&kept, magnitude),
        md5_rises: rises(&kept, &theirs.rises),
        kept,
    })
}

fn kept_share(plan: &Plan, fact: &DerivedFact) -> Option<KeptShare> {
    let load = plan.load(&fact.load).filter(|_| fact.kind == DerivedKind::PerCopy)?;
    let word = |role| load.param(role, &fact.params).and_then(Value::word).map(str::to_owned);
    Some(KeptShare {
        algorithm: word(ParamRole::Algorithm)?,
        engine: word(ParamRole::Engine)?,
        block: load.param(ParamRole::Size, &fact.params)?.clone(),
        share: fact.figure.clone()?,
    })
}

/// Whether our range overlaps a claimed one, `0.46-0.74`: true if that of the centres does, false
/// if not even an interval reaches it, none between the two and where the claim gives no range.
fn as_much(kept: &[KeptShare], magnitude: &str) -> Option<bool> {
    let (low, high) = magnitude.split_once('-')?;
    let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    let meets = |[least, most]: [f64; 2]| least <= high && low <= most;
    if meets(range(kept, |share| [share.centre.value; 2])?) {
        return Some(true);
    }
    let reaches = meets(range(kept, |share| [share.low.value, share.high.value])?);
    (!reaches && kept.iter().all(|one| is_certain(&one.share))).then_some(false)
}

/// From the lowest to the highest.
fn range(kept: &[KeptShare], ends: fn(&Estimate) -> [f64; 2]) -> Option<[f64; 2]> {
    let all = kept.iter().map(|one| ends(&one.share));
    all.reduce(|[least, most], [low, high]| [least.min(low), most.max(high)])
}

/// Whether an algorithm keeps more at its largest block than at its smallest, by one engine; none
/// where their intervals overlap.
fn rises(kept: &[KeptShare], algorithm: &str) -> Option<bool> {
    let is_it = |one: &&KeptShare| one.algorithm == algorithm;
    let engine = &kept.iter().find(is_it)?.engine;
    let same = kept.iter().filter(is_it).filter(|one| one.engine == *engine);
    let mut by_block: Vec<(f64, &Estimate)> =
        same.filter_map(|one| Some((one.block.quantity()?.value, &one.share))).collect();
    by_block.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (small, large) = (by_block.first()?.1, by_block.last()?.1);
    let apart = large.low.value > small.high.value || large.high.value < small.low.value;
    let certain = is_certain(small) && is_certain(large);
    (apart && certain).then_some(large.centre.value > small.centre.value)
}

/// Knees are the same within a doubling, whatever sizes were measured.
const SAME_KNEE: f64 = 2.0 + 1e-9;

/// Whether an estimate has an interval.
fn is_certain(estimate: &Estimate) -> bool {
    estimate.method != EstimateMethod::Exact
}

/// Whether a ratio lies certainly above 1; none where its interval holds 1, or with too few blocks
/// for a verdict.
fn sign(ratio: &Estimate) -> Option<bool> {
    let differs = ratio.low.value > 1.0 || ratio.high.value < 1.0;
    let judged = ratio.n as usize >= JUDGED_FROM;
    (is_certain(ratio) && judged && differs).then_some(ratio.low.value > 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::DeriveSpec;
    use std::collections::BTreeSet;

    #[test]
    fn the_file_has_a_row_for_every_claim_of_its_sources() {
        let ours = |c: &Claim| ["000", "001", "002", "003", "004"].contains(&c.source.as_str());
        let all: BTreeSet<String> = claims().into_iter().filter(ours).map(|c| c.id).collect();
        let tests: BTreeMap<String, Test> = toml::from_str(TESTS).unwrap();
        assert!(all.iter().eq(tests.keys()), "{all:?}");
    }

    const MAGNITUDE: &str = "0.46-0.74";

    /// What each copy keeps by an algorithm at blocks of so many bytes: centre and half interval.
    fn fact(
        engine: &str,
        (algorithm, block): (&str, u64),
        [centre, half]: [f64; 2],
    ) -> DerivedFact {
        let word = |text: &str| Value::Word(text.into());
        let share = |value| Quantity::new(value, Unit::Share);
        let figure = Estimate {
            centre: share(centre),
            low: share(centre - half),
            high: share(centre + half),
            level: 0.95,
            n: 5,
            method: EstimateMethod::PairedLogT,
        };
        DerivedFact {
            kind: DerivedKind::PerCopy,
            load: "all".into(),
            params: [
                ("what".to_owned(), word(algorithm)),
                ("block".to_owned(), Value::Quantity(Quantity::bytes(block))),
                ("by".to_owned(), word(engine)),
            ]
            .into(),
            at: None,
            until: None,
            figure: Some(figure),
            beside: None,
            cache: None,
            told: Vec::new(),
            agrees: None,
        }
    }

    /// A run with a load of copies whose parameters have names of their own.
    fn run() -> Run {
        let mut run = Simulated::default().run();
        let load = &mut run.plan.loads[0];
        load.name = "all".into();
        load.derives = vec![DeriveSpec::along(Derivation::Roofline, "block").stored()];
        let roles =
            [(ParamRole::Algorithm, "what"), (ParamRole::Engine, "by"), (ParamRole::Size, "block")];
        load.roles = roles.map(|(role, name)| (role, name.to_owned())).into();
        run
    }

    fn held(run: &Run, found: &Analysis) -> Result<Standing, ClaimNeed> {
        let tests = tests_of_claims();
        let Test::LessPerCopy(theirs) = &tests["004-1"] else { panic!("another test") };
        less_per_copy(run, found, (theirs, MAGNITUDE))
    }

    /// Algorithms and blocks that are kept, and the three aspects.
    fn kept(all: Vec<DerivedFact>) -> (usize, [Option<bool>; 3]) {
        let found = Analysis { derived: all, ..Analysis::default() };
        match held(&run(), &found) {
            Ok(Standing::PerCopy { kept, less, as_much, md5_rises }) => {
                (kept.len(), [less, as_much, md5_rises])
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_copy_keeps_is_held_against_the_published_range() {
        let program = |small, large| {
            vec![
                fact("openssl_cli", ("md5", 16), [small, 0.01]),
                fact("openssl_cli", ("md5", 8192), [large, 0.01]),
            ]
        };
        let yes = Some(true);
        assert_eq!(kept(program(0.5, 0.74)), (2, [yes, yes, yes]));
        assert_eq!(kept(program(0.5, 0.5)), (2, [yes, yes, None]), "no growth is told");
        let without_siblings = [yes, Some(false), Some(false)];
        assert_eq!(kept(program(0.97, 0.94)), (2, without_siblings), "less, and not half");
        let mut wide = program(0.9, 0.9);
        wide[0].figure.as_mut().unwrap().low.value = 0.6;
        assert_eq!(kept(wide).1[1], None, "an interval reaches the range");
    }

    #[test]
    fn the_published_program_goes_before_other_engines() {
        let mut all = vec![
            fact("aws_lc", ("sha256", 16), [0.97, 0.01]),
            fact("aws_lc", ("chacha20-poly1305", 16), [0.97, 0.01]),
        ];
        assert_eq!(kept(all.clone()), (1, [Some(true), Some(false), None]));
        all.push(fact("openssl_cli", ("sha256", 16), [0.5, 0.01]));
        assert_eq!(kept(all), (1, [Some(true), Some(true), None]));
    }

    #[test]
    fn one_cpu_has_no_copies_side_by_side() {
        let mut run = run();
        let mut found = Analysis::default();
        let need = |run: &Run, found: &Analysis| held(run, found).unwrap_err();
        assert_eq!(need(&run, &found), ClaimNeed::Load);
        run.environment_mut().cpu.logical = 1;
        assert_eq!(need(&run, &found), ClaimNeed::Load, "no cipher was run");
        found.cells.push(MachineCell {
            load: "all".into(),
            workload: "cipher".into(),
            params: BTreeMap::new(),
            levels: BTreeMap::new(),
            metric: "rate".into(),
            bytes: None,
            threads: Some(1),
            clock: None,
            figures: BTreeMap::new(),
            blocks: BTreeMap::new(),
            pairs: BTreeMap::new(),
        });
        assert_eq!(need(&run, &found), ClaimNeed::SecondCore);
    }
}
