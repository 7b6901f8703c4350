//! Knows which of the run's figures a published claim is about, and sets the two side by side.
//!
//! Never: old absolute figures beside ours; only shape, knee and sign can be compared.

use super::analysis::Analysis;
use super::effective::effective;
use super::finding::{ClaimCheck, ClaimFigure, ClaimNeed, Standing};
use super::knee::{knee, rises_then_flat};
use super::machine::{DerivedFact, DerivedKind, MachineCell};
use super::measure::{busy, is_paced, throughput};
use super::series::{Series, Side, block_logs};
use super::winner::ratio_alone;
use crate::record::{Claim, FactorPlan, LoadPlan, Method, Plan, Replicate, Run, Value, claims};
use crate::stats::{Estimate, EstimateMethod, log_ratio, mean, mean_or_single};
use crate::unit::Unit;
use std::collections::BTreeMap;

/// Bytes at which the curves of test 000 bend.
const BEND: f64 = 8192.0;

/// What of our run stands beside a claim.
enum Test {
    /// The throughput of a direction rises along the curve and is flat from this size on, bytes.
    Knee(&'static str, f64),
    /// One direction loads the CPU less than another.
    LessCpu(&'static str, &'static str),
    /// Duplex carries less than both directions one after the other together.
    UnderSum,
    /// Every one of these is true of multithreading off against on.
    SmtOff(&'static [SmtOff]),
    /// A feature of the machine on against off: copying or loading memory, by some of the loads.
    Feature(&'static [Part003]),
    /// Each of all copies of a cipher does less than one alone.
    LessPerCopy,
    /// Our runs do not have it.
    Missing(ClaimNeed),
}

/// Loads of a workload, and whether their figure is claimed to be higher with the feature on.
struct Part003 {
    workload: &'static str,
    belongs: fn(&MachineCell) -> bool,
    higher: bool,
}

/// A difference of multithreading off against on, in one direction.
struct SmtOff {
    direction: &'static str,
    part: Part,
    figure: ClaimFigure,
    /// Whether the figure is claimed to be higher with it off.
    higher: bool,
}

/// Points of the curve.
#[derive(Clone, Copy)]
enum Part {
    Small,
    Large,
    All,
}

const fn off(direction: &'static str, part: Part, higher: bool) -> SmtOff {
    SmtOff { direction, part, figure: ClaimFigure::ThroughputRatio, higher }
}

const fn busier(direction: &'static str) -> SmtOff {
    SmtOff { direction, part: Part::Small, figure: ClaimFigure::CpuRatio, higher: true }
}

// The claims on multithreading stand under `Smt` until a plan switches `smt`; two of them do even
// then: 000-8 is about an index that is withheld across its states, 000-10 about its effect on two
// adapters.
const TESTS: [(&str, Test); 23] = [
    ("000-1", Test::Knee("transmit", BEND)),
    ("000-2", Test::LessCpu("receive", "transmit")),
    ("000-3", Test::UnderSum),
    ("000-4", Test::SmtOff(&[off("receive", Part::Small, true)])),
    (
        "000-5",
        Test::SmtOff(&[off("transmit", Part::Small, false), off("transmit", Part::Large, true)]),
    ),
    ("000-6", Test::SmtOff(&[off("duplex", Part::All, true)])),
    ("000-7", Test::SmtOff(&[busier("transmit"), busier("receive"), busier("duplex")])),
    ("000-8", Test::Missing(ClaimNeed::Smt)),
    ("000-9", Test::Missing(ClaimNeed::FileServer)),
    ("000-10", Test::Missing(ClaimNeed::Smt)),
    ("000-11", Test::Missing(ClaimNeed::Adapters)),
    ("000-12", Test::Missing(ClaimNeed::Verdicts)),
    ("003-1", Test::Feature(&[on("mem_bandwidth", |cell| cell.word("size") == "memory", true)])),
    ("003-2", Test::Feature(&[on("mem_copy", is_wide, true), on("mem_copy", is_plain, false)])),
    ("003-3", Test::Missing(ClaimNeed::Suite)),
    ("003-4", Test::Missing(ClaimNeed::FileServer)),
    ("003-5", Test::Missing(ClaimNeed::Database)),
    ("003-6", Test::Missing(ClaimNeed::Suite)),
    ("004-1", Test::LessPerCopy),
    ("004-2", Test::Missing(ClaimNeed::WebServer)),
    ("004-3", Test::Missing(ClaimNeed::WebServer)),
    ("004-4", Test::Missing(ClaimNeed::WebServer)),
    ("004-5", Test::Missing(ClaimNeed::Rule)),
];

/// The factor that claims of test 003 are about.
const SNOOP_FILTER: &str = "snoop_filter";

const fn on(workload: &'static str, belongs: fn(&MachineCell) -> bool, higher: bool) -> Part003 {
    Part003 { workload, belongs, higher }
}

/// Copies by vector registers or in blocks, of memory.
fn is_wide(cell: &MachineCell) -> bool {
    let wide = ["sse", "avx", "block", "pages"];
    cell.word("size") == "memory" && wide.iter().any(|w| cell.word("algorithm").starts_with(w))
}

/// Plain copies of memory.
fn is_plain(cell: &MachineCell) -> bool {
    let plain = ["registers", "compiler"];
    cell.word("size") == "memory" && plain.iter().any(|w| cell.word("algorithm").starts_with(w))
}

/// The claims of the published test that the plan names, each beside what this run shows.
///
/// Our side is the first load that is not paced, under the first level of every factor: one curve,
/// as the published one was. A claim that no row of the table is about counts as one whose load is
/// missing. None if the plan names no published test.
pub(super) fn claim_checks(run: &Run, found: &Analysis) -> Vec<ClaimCheck> {
    let Some(source) = &run.plan.published else { return Vec::new() };
    let ours = claims().into_iter().filter(|claim| claim.source == *source);
    ours.map(|claim| {
        let row = TESTS.iter().find(|(id, _)| *id == claim.id);
        let missing = Standing::NotMeasured { missing: ClaimNeed::Load };
        beside(claim, row.map_or(missing, |(_, test)| standing(run, found, test)))
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

fn standing(run: &Run, found: &Analysis, test: &Test) -> Standing {
    let load = run.plan.loads.iter().find(|load| !is_paced(&load.fixed));
    let looked_at = match (test, load) {
        (Test::Missing(need), _) => Err(*need),
        (Test::Feature(parts), _) => feature(run, found, parts),
        (Test::LessPerCopy, _) => less_per_copy(found),
        // Theirs is a server's CPU; in a lab on one machine ours is the clients' too.
        (Test::LessCpu(..), _) if run.environment.lab.is_some() => Err(ClaimNeed::Server),
        (_, None) => Err(ClaimNeed::Load),
        (Test::Knee(direction, at), Some(load)) => bend(run, load, direction, *at),
        (Test::LessCpu(less, more), Some(load)) => {
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

/// The first level of every factor.
fn baseline(plan: &Plan) -> BTreeMap<String, String> {
    let first = |f: &FactorPlan| Some((f.name.clone(), f.levels.first()?.name.clone()));
    plan.factors.iter().filter_map(first).collect()
}

/// A direction under the first level of every factor: both sides in one boot.
fn side<'d>(plan: &Plan, direction: &'d str) -> Side<'d> {
    Side { levels: baseline(plan), direction, replicate: Replicate::Block }
}

fn bend(run: &Run, load: &LoadPlan, direction: &str, at: f64) -> Result<Standing, ClaimNeed> {
    let series = Series::of(run, load, &side(&run.plan, direction), &|r| throughput(&run.plan, r));
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
    let theirs = nearest(&course, at);
    Ok(Standing::Compared {
        shape: Some(rises_then_flat(&values)),
        knee: theirs.map(|theirs| bent && ours.abs_diff(theirs) <= 1),
        sign: None,
        ours: vec![(ClaimFigure::Highest, highest.clone())],
        knee_at: bent.then(|| course[ours].0.clone()),
    })
}

fn is_size(at: &Value) -> bool {
    at.quantity().is_some_and(|quantity| quantity.unit == Unit::Byte)
}

/// Index of the point nearest to a size, by ratio; none if the size lies outside our curve.
fn nearest(course: &[(&Value, Estimate)], size: f64) -> Option<usize> {
    let sizes = || course.iter().filter_map(|(at, _)| Some(at.quantity()?.value));
    let inside = sizes().any(|s| s <= size) && sizes().any(|s| s >= size);
    let distance = |s: f64| (s / size).ln().abs();
    let best = sizes().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    best.filter(|_| inside).map(|(index, _)| index)
}

/// Log ratios of two directions of the same treatment, one a block.
fn against(
    run: &Run,
    load: &LoadPlan,
    [other, base]: [&str; 2],
    measure: &super::pairing::Measure<'_>,
) -> Vec<f64> {
    let series = |direction| Series::of(run, load, &side(&run.plan, direction), measure);
    block_logs(&series(base), &series(other), |_| true)
}

/// Log ratios of duplex over the sum of both directions, one a block.
fn under_sum(run: &Run, load: &LoadPlan) -> Vec<f64> {
    let series = |direction| {
        Series::of(run, load, &side(&run.plan, direction), &|r| throughput(&run.plan, r))
    };
    let sum = series("transmit").plus(&series("receive"));
    block_logs(&sum, &series("duplex"), |_| true)
}

/// The factor that switches multithreading, with its levels off and on.
fn smt_levels(plan: &Plan) -> Option<(&FactorPlan, [&str; 2])> {
    plan.factors.iter().find_map(|factor| {
        let level = |word: &str| {
            let sets = |l: &&crate::record::Level| {
                effective(plan, &l.settings).get("smt").and_then(Value::word) == Some(word)
            };
            factor.levels.iter().find(sets).map(|l| l.name.as_str())
        };
        Some((factor, [level("off")?, level("on")?]))
    })
}

fn smt_off(run: &Run, load: &LoadPlan, parts: &[SmtOff]) -> Result<Standing, ClaimNeed> {
    let (factor, [off, on]) = smt_levels(&run.plan).ok_or(ClaimNeed::Smt)?;
    let of_cpu = |part: &SmtOff| matches!(part.figure, ClaimFigure::CpuRatio);
    if run.environment.lab.is_some() && parts.iter().any(of_cpu) {
        return Err(ClaimNeed::Server);
    }
    let logs = |part: &SmtOff| {
        let series = |level: &str| {
            let mut levels = baseline(&run.plan);
            levels.insert(factor.name.clone(), level.into());
            let replicate = run.plan.replicate_of(&[&factor.name]);
            let side = Side { levels, direction: part.direction, replicate };
            match part.figure {
                ClaimFigure::CpuRatio => Series::of(run, load, &side, &|r| busy(r)),
                _ => Series::of(run, load, &side, &|r| throughput(&run.plan, r)),
            }
        };
        block_logs(&series(on), &series(off), |at| within(part.part, at))
    };
    let all: Vec<_> = parts.iter().map(|part| ((part.figure, part.higher), logs(part))).collect();
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

/// A figure, whether it is claimed to be higher, and its log ratios by block.
type Claimed = ((ClaimFigure, bool), Vec<f64>);

/// Whether the differences have the signs that are claimed for them: true if all do, false if one
/// is certainly the other way (its interval excludes 1), none if some are open.
fn signed(method: &Method, all: &[Claimed]) -> Result<Standing, ClaimNeed> {
    let mut ours = Vec::new();
    let mut signs = Vec::new();
    for ((figure, higher), logs) in all {
        let ratio = ratio_alone(logs, method).ok_or(ClaimNeed::Load)?;
        signs.push(sign(&ratio).map(|above| above == *higher));
        ours.push((*figure, ratio));
    }
    let sign = if signs.contains(&Some(false)) {
        Some(false)
    } else {
        signs.iter().all(Option::is_some).then_some(true)
    };
    Ok(Standing::Compared { shape: None, knee: None, sign, ours, knee_at: None })
}

/// The feature on against off, over all cells of each part that are there under both.
fn feature(run: &Run, found: &Analysis, parts: &[Part003]) -> Result<Standing, ClaimNeed> {
    let level = |cell: &MachineCell, wanted: &str| {
        cell.levels.get(SNOOP_FILTER).is_some_and(|level| level == wanted)
    };
    let logs = |part: &Part003| {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let of = |cell: &&MachineCell| cell.workload == part.workload && (part.belongs)(cell);
        let cells: Vec<&MachineCell> = found.cells.iter().filter(of).collect();
        for off in cells.iter().filter(|cell| level(cell, "off")) {
            let twin = |cell: &&&MachineCell| {
                level(cell, "on") && cell.load == off.load && cell.params == off.params
            };
            let Some(on) = cells.iter().find(twin) else { continue };
            for (block, value) in &off.blocks {
                let log = on.blocks.get(block).and_then(|on| log_ratio(value.value, on.value));
                blocks.entry(*block).or_default().extend(log);
            }
        }
        let all = blocks.into_values().filter(|logs| !logs.is_empty());
        all.map(|logs| mean(&logs)).collect::<Vec<f64>>()
    };
    let all: Vec<Claimed> =
        parts.iter().map(|part| ((ClaimFigure::BandwidthRatio, part.higher), logs(part))).collect();
    signed(&run.plan.method, &all).map_err(|_| ClaimNeed::Feature)
}

/// What each copy keeps where all cores run one, by every cipher and digest that was measured so.
fn less_per_copy(found: &Analysis) -> Result<Standing, ClaimNeed> {
    let digests = ["md5", "sha256", "aes-256-cbc"];
    let of = |fact: &&DerivedFact| {
        let algorithm = fact.params.get("algorithm").and_then(Value::word).unwrap_or_default();
        fact.kind == DerivedKind::PerCopy && digests.contains(&algorithm)
    };
    let all = found.derived.iter().filter(of).filter_map(|fact| fact.figure.clone());
    let all: Vec<Estimate> = all.collect();
    if all.is_empty() {
        return Err(ClaimNeed::Load);
    }
    let signs: Vec<Option<bool>> = all.iter().map(|kept| sign(kept).map(|above| !above)).collect();
    let sign = if signs.contains(&Some(false)) {
        Some(false)
    } else {
        signs.iter().all(Option::is_some).then_some(true)
    };
    let ours = all.into_iter().map(|kept| (ClaimFigure::PerCopy, kept)).collect();
    Ok(Standing::Compared { shape: None, knee: None, sign, ours, knee_at: None })
}

/// Whether a ratio lies certainly above 1; none where its interval holds 1.
fn sign(ratio: &Estimate) -> Option<bool> {
    let certain = ratio.method != EstimateMethod::Exact;
    let differs = ratio.low.value > 1.0 || ratio.high.value < 1.0;
    (certain && differs).then_some(ratio.low.value > 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_every_claim_of_its_sources() {
        let ours = |c: &Claim| ["000", "003", "004"].contains(&c.source.as_str());
        let all: Vec<String> = claims().into_iter().filter(ours).map(|c| c.id).collect();
        assert_eq!(all, TESTS.map(|(id, _)| id));
    }
}
