//! Knows the reasons to doubt a run, and finds them in its facts; never softens a verdict.

use super::bridged::shipped_bridge;
use super::compared::Compared;
use super::compound::compound;
use super::course::course;
use super::diagnostics::{diagnoses, in_words};
use super::efficiency::{foreign, worst_disagreement};
use super::finding::{Comparison, Cost};
use super::merged::TooFew;
use super::more_work::faster_with_more_work;
use super::steady_state::{few_rounds, outside};
use super::storage::{array_activity, not_from_disk};
use super::together::leaves_one_out;
use super::uneven::Uneven;
use super::winner::Judged;
use crate::record::{
    Completeness, Counted, Fault, LabKind, LinkPlan, LoadPlan, Metric, Run, Treatment, TrialKind,
    TrialRecord, address_of_page,
};
use crate::search::names;
use crate::stats::{Estimate, EstimateMethod, Summary, mean_or_single, t_quantile};
use crate::unit::{Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Share of stolen CPU time from which it is told.
const STEAL: f64 = 0.01;
/// CPUs that processes not ours may take without a word.
const FOREIGN: f64 = 0.02;
/// Share of trials that may be unsteady without a word.
const UNSTEADY: f64 = 0.1;
/// Probability with which the smallest effect is seen.
pub const POWER: f64 = 0.8;

/// A reason to doubt, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Caveat {
    /// Server and clients share one machine and its CPUs.
    OneMachine,
    /// Whole machines are compared: no part of them is.
    Compound {
        /// Their names.
        machines: String,
        /// In how many recorded facts they differ.
        differences: Quantity,
        /// The first of these facts, by their keys.
        named: String,
    },
    /// The hosts are processes on the loopback interface.
    Loopback {
        /// Why there were no namespaces.
        why: String,
    },
    /// The machine is a guest of a hypervisor.
    Guest {
        /// Which.
        hypervisor: String,
    },
    /// Time stolen by the hypervisor during the windows.
    Steal {
        /// Share of all CPU time.
        share: Estimate,
    },
    /// The A against A comparison differs.
    NoiseFloor {
        /// Ratio A/A.
        ratio: Estimate,
    },
    /// Searches of a load ended at an end of their range.
    SearchEnds {
        /// Name of the load.
        load: String,
        /// How many did.
        ended: Quantity,
        /// Of how many that found anything or nothing.
        of: Quantity,
    },
    /// The ratio of a comparison moved over the run: a trend over its blocks, larger than the
    /// margin.
    RatioMoved {
        /// The comparison in which it is surest, in words.
        first: String,
        /// Ratio in the last block over that in the first, by the median slope.
        change: Estimate,
        /// p value among all diagnoses of the run (Holm), a share.
        p: Quantity,
        /// In how many comparisons it is so.
        seen: Quantity,
        /// Of how many that were looked at.
        of: Quantity,
    },
    /// A load was faster with more work to do for each unit of it.
    FasterWithMore {
        /// Which load.
        load: String,
        /// The parameter that says how much work.
        work: String,
        /// The smaller amount.
        less: String,
        /// The larger one.
        more: String,
        /// How many times as fast the load was with the larger amount.
        gain: Estimate,
    },
    /// Bridges showed every frame to the filter of IP, at all levels.
    ShippedBridge {
        /// Their hosts.
        hosts: String,
    },
    /// The figures of all levels drifted over the run, by more than the margin.
    Drifted {
        /// The load in which it is surest; empty where the plan has one.
        load: String,
        /// Figure in the last block over that in the first, by least squares.
        change: Estimate,
    },
    /// The figures of all levels changed at once at a moment of the run, by more than the margin.
    Stepped {
        /// The load in which it is surest; empty where the plan has one.
        load: String,
        /// Figure after that moment over the figure before.
        change: Estimate,
        /// When the first block after it began, seconds since the run began.
        at: Quantity,
    },
    /// Nothing was visited for a minute or more in the middle of the run.
    Paused {
        /// How often.
        times: Quantity,
        /// The longest, seconds.
        longest: Quantity,
        /// When that began, seconds since the run began.
        at: Quantity,
    },
    /// Neighbouring blocks have ratios that resemble each other: they are no independent draws.
    NeighboursAlike {
        /// The comparison in which it is surest, in words.
        first: String,
        /// How far the rank of a block follows that of the one before: 1 - half of von Neumann's
        /// ratio of ranks, a share.
        follows: Quantity,
        /// p value among all diagnoses of the run (Holm), a share.
        p: Quantity,
        /// In how many comparisons it is so.
        seen: Quantity,
        /// Of how many that were looked at.
        of: Quantity,
    },
    /// One block, or round of boots, stands apart from all others, by more than the margin.
    BlockApart {
        /// The comparison in which it is surest, in words.
        first: String,
        /// Its number.
        block: Quantity,
        /// Its ratio over the middle one of all blocks.
        off: Estimate,
        /// Its share of the scatter (squared distances of the logs from the middle one).
        share: Quantity,
        /// p value among all diagnoses of the run (Holm), a share.
        p: Quantity,
        /// In how many comparisons a block stands apart.
        seen: Quantity,
        /// Of how many that were looked at.
        of: Quantity,
    },
    /// A level collapses now and then, so that its typical and its mean ratio answer differently.
    Uneven {
        /// The comparison in which it is worst, in words.
        first: String,
        /// The trials, and both ratios.
        uneven: Box<Uneven>,
        /// In how many comparisons it is so.
        seen: Quantity,
        /// Of how many.
        of: Quantity,
    },
    /// Places without a verdict, for too few values carry the quantile that decides there.
    TooFew {
        /// What a heading calls the metric.
        metric: String,
        /// The place with the fewest.
        least: TooFew,
    },
    /// Trials whose rate was not steady when the window opened.
    NotSteady {
        /// How many.
        trials: Quantity,
        /// Of how many.
        of: Quantity,
    },
    /// Trials whose rate reached no steady state within the window, or reached it late.
    Unsettled {
        /// How many reached none.
        never: Quantity,
        /// How many reached it after more than a tenth of the window.
        late: Quantity,
        /// Of how many that were tested.
        of: Quantity,
    },
    /// Trials whose steady state ended within the window.
    LeftSteadyState {
        /// How many.
        trials: Quantity,
        /// Of how many that were tested.
        of: Quantity,
        /// In how many the rate fell and stayed below.
        lower: Quantity,
        /// In how many it fell several times.
        repeated: Quantity,
        /// In how many it fell once and returned.
        recovered: Quantity,
        /// In how many it rose.
        higher: Quantity,
        /// When it ended first, seconds since the window opened.
        earliest: Quantity,
    },
    /// Trials whose windows hold too few rounds to test for a steady state.
    FewRounds {
        /// How many.
        trials: Quantity,
        /// Of how many with rounds.
        of: Quantity,
        /// The fewest rounds.
        rounds: Quantity,
        /// The fewest that can be tested.
        needs: Quantity,
    },
    /// Trials that asked to go past the page cache, and were served from memory.
    NotFromDisk {
        /// How many.
        trials: Quantity,
        /// Of how many that asked so.
        of: Quantity,
        /// The smallest share of the bytes that block devices served.
        least: Quantity,
    },
    /// Trials that were staged while an array under their file was being rebuilt or checked.
    ArrayActivity {
        /// How many.
        trials: Quantity,
        /// Of how many of which the device is known.
        of: Quantity,
        /// The array and what it did, in the first of them.
        first: String,
    },
    /// Operations that failed, or never ended, in valid trials.
    FailedOperations {
        /// In how many of these trials.
        trials: Quantity,
        /// Of how many.
        of: Quantity,
        /// Each class with its number, the largest first: `unanswered 244`.
        classes: String,
    },
    /// Nothing was measured at all: the hosts are a model.
    Simulated,
    /// Machines are emulated by software: drivers are real, and no figure tells a speed.
    Emulated {
        /// By what.
        emulator: String,
    },
    /// Servers that stend did not start, and saw from outside.
    FromOutside {
        /// The addresses of their pages.
        servers: String,
    },
    /// Trials of which no valid visit showed anything but the limit of the clients.
    ClientsOnly {
        /// How many pairs of a load point and a treatment.
        places: Quantity,
        /// The first one in words.
        first: String,
    },
    /// Visits spoilt by faults.
    Faults {
        /// How many.
        trials: Quantity,
        /// Trials of these that another visit made good.
        again: Quantity,
        /// Trials of these without a valid visit.
        lost: Quantity,
        /// The first one's words.
        first: String,
    },
    /// The run ended early.
    Partial {
        /// Why.
        why: String,
    },
    /// Under 90 % of the counted trials that were visited are valid.
    Incomplete {
        /// How many are.
        valid: Quantity,
        /// Of how many.
        of: Quantity,
    },
    /// Blocks, or boots where the compared factor needs them, are too few for the margin.
    FewBlocks {
        /// How many.
        blocks: Quantity,
        /// Smallest effect that would be seen in four of five such runs, as a ratio.
        smallest: Estimate,
    },
    /// Links are virtual: no wire, no adapter, no line rate.
    VirtualLinks,
    /// Other programs used CPU during the windows.
    Foreign {
        /// How much, in CPUs.
        cpu: Estimate,
    },
    /// An adapter sent or received pause frames while a load ran: its throughput was held back by
    /// flow control, without a loss (IEEE 802.3 annex 31B).
    PauseFrames {
        /// Name of the adapter.
        adapter: String,
        /// How many it sent, in all valid trials.
        sent: Quantity,
        /// How many it received.
        received: Quantity,
        /// In how many valid trials there were any.
        trials: Quantity,
        /// Of how many.
        of: Quantity,
    },
    /// The ways of counting CPU time disagree.
    CpuMethods {
        /// The largest difference, in CPUs.
        by: Estimate,
    },
}

/// Every reason to doubt, the heaviest first: what makes the verdicts wrong, then what makes them
/// incomplete or weak, then what limits them to this kind of machine.
pub(super) fn caveats(
    run: &Run,
    compared: &Compared<'_>,
    (judged, costs): (&[Judged], &[Cost]),
) -> Vec<Caveat> {
    let mut all = Vec::from_iter(simulated(run));
    all.extend(emulated(run));
    all.extend(from_outside(run));
    all.extend(noise_floor(judged));
    all.extend(faster_with_more_work(run));
    all.extend(shipped_bridge(run));
    all.extend(loopback(run));
    all.extend(partial(run));
    all.extend(incomplete(run));
    let few =
        |(metric, least): (&Metric, _)| Caveat::TooFew { metric: metric.title.clone(), least };
    all.extend(compared.too_few().map(few));
    all.extend(clients_only(run));
    let (faults, mended): (Vec<_>, Vec<_>) = faults(run).into_iter().partition(is_lasting);
    all.extend(faults);
    all.extend(uneven(run, judged));
    all.extend(diagnoses(run, judged));
    all.extend(course(run));
    all.extend(few_blocks(run, judged));
    all.extend(run.plan.loads.iter().filter_map(|load| search_ends(run, load)));
    all.extend(failed_operations(run));
    all.extend(not_from_disk(valid(run)));
    all.extend(array_activity(valid(run)));
    all.extend(not_steady(run));
    all.extend(outside(valid(run)));
    all.extend(steal(run));
    all.extend(foreign_cpu(run));
    all.extend(pause_frames(run));
    all.extend(few_rounds(valid(run)));
    all.extend(worst_disagreement(costs).map(|by| Caveat::CpuMethods { by }));
    all.extend(shared_machine(run));
    all.extend(compound(run));
    all.extend(mended);
    all
}

fn counted(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    run.records.iter().filter(|r| r.trial.kind == TrialKind::Counted)
}

pub(super) fn valid(run: &Run) -> impl Iterator<Item = &TrialRecord> {
    counted(run).filter(|r| r.outcome.fault.is_none())
}

fn noise_floor(judged: &[Judged]) -> Vec<Caveat> {
    let differs = judged
        .iter()
        .map(|j| &j.comparison)
        .filter(|c| leaves_one_out(c.verdict, &c.overall) && c.aa);
    differs.map(|c| Caveat::NoiseFloor { ratio: c.overall.clone() }).collect()
}

/// The comparison whose levels differ most in how often they collapse, of those that are uneven.
fn uneven(run: &Run, judged: &[Judged]) -> Option<Caveat> {
    let uneven =
        |c: &Comparison| c.uneven.as_ref().map(|uneven| (uneven.clone(), in_words(run, c)));
    let all: Vec<_> = judged.iter().filter_map(|j| uneven(&j.comparison)).collect();
    let seen = Quantity::count(all.len() as u64);
    let apart = |u: &Uneven| (u.base.share.centre.value - u.other.share.centre.value).abs();
    let (uneven, first) = all.into_iter().max_by(|a, b| apart(&a.0).total_cmp(&apart(&b.0)))?;
    Some(Caveat::Uneven {
        first,
        uneven: Box::new(uneven),
        seen,
        of: Quantity::count(judged.len() as u64),
    })
}

/// Told only of a run in which something goes over a link.
fn loopback(run: &Run) -> Option<Caveat> {
    match &run.environment().lab {
        Some((LabKind::Loopback, why)) if !run.plan.is_alone() && !is_outside(run) => {
            Some(Caveat::Loopback { why: why.clone() })
        }
        _ => None,
    }
}

fn partial(run: &Run) -> Option<Caveat> {
    match &run.completeness {
        Completeness::Partial { why } => Some(Caveat::Partial { why: why.clone() }),
        Completeness::Complete => None,
    }
}

/// Too few of the trials are valid, whether the run went to its end or not.
fn incomplete(run: &Run) -> Option<Caveat> {
    let counted = Counted::of(&run.records);
    (!counted.is_enough()).then(|| Caveat::Incomplete {
        valid: Quantity::count(counted.valid.into()),
        of: Quantity::count(counted.visited.into()),
    })
}

fn faults(run: &Run) -> Option<Caveat> {
    let faults: Vec<(u32, &Fault)> = counted(run)
        .filter_map(|r| Some((r.trial.id, r.outcome.fault.as_ref()?)))
        .filter(|(_, fault)| !matches!(fault, Fault::Cancelled | Fault::NotAvailable { .. }))
        .collect();
    let first = faults.first()?.1.to_string();
    let hit: BTreeSet<u32> = faults.iter().map(|(id, _)| *id).collect();
    let good: BTreeSet<u32> = valid(run).map(|r| r.trial.id).collect();
    let again = hit.intersection(&good).count();
    Some(Caveat::Faults {
        trials: Quantity::count(faults.len() as u64),
        again: Quantity::count(again as u64),
        lost: Quantity::count((hit.len() - again) as u64),
        first,
    })
}

/// Whether trials were lost for good; one that another visit made good changes no verdict.
fn is_lasting(caveat: &Caveat) -> bool {
    !matches!(caveat, Caveat::Faults { lost, .. } if lost.value == 0.0)
}

/// Searches of a load that found nothing, or the largest load that they might try.
fn search_ends(run: &Run, load: &LoadPlan) -> Option<Caveat> {
    let (search, metric) = (load.search.as_ref()?, names(load).pop()?);
    let of_load = valid(run).filter(|record| record.trial.point.load == load.name);
    let found: Vec<f64> =
        of_load.filter_map(|r| r.outcome.metric(&metric)).map(|load| load.value).collect();
    let most = search.to.number()?;
    let ended = found.iter().filter(|load| **load <= 0.0 || **load >= most).count();
    (ended > 0).then(|| Caveat::SearchEnds {
        load: load.name.clone(),
        ended: Quantity::count(ended as u64),
        of: Quantity::count(found.len() as u64),
    })
}

/// Places at which every visit that says anything says that the clients were at their limit.
fn clients_only(run: &Run) -> Option<Caveat> {
    let mut places: BTreeMap<(u32, &Treatment), (&TrialRecord, bool)> = BTreeMap::new();
    for record in counted(run) {
        let good = match &record.outcome.fault {
            None => true,
            Some(Fault::GeneratorLimit { .. }) => false,
            Some(_) => continue,
        };
        let place = (record.trial.point_index, &record.trial.treatment);
        places.entry(place).or_insert((record, false)).1 |= good;
    }
    let lost: Vec<&TrialRecord> =
        places.into_values().filter(|(_, good)| !good).map(|(record, _)| record).collect();
    let first = lost.first()?;
    let levels = first.trial.treatment.levels.iter().map(|(key, level)| format!("{key} {level}"));
    let params = first.trial.point.params.iter().map(|(key, value)| format!("{key} {value}"));
    let first = levels.chain(params).collect::<Vec<_>>().join(", ");
    Some(Caveat::ClientsOnly { places: Quantity::count(lost.len() as u64), first })
}

fn simulated(run: &Run) -> Option<Caveat> {
    run.environment().is_simulated().then_some(Caveat::Simulated)
}

/// Whether no server shares the machine of the clients.
fn is_outside(run: &Run) -> bool {
    let here = |server: &str| {
        address_of_page(server).is_some_and(|(address, _)| address.starts_with("127."))
    };
    let mut records = run.records.iter();
    !run.records.is_empty()
        && records.all(|record| run.plan.is_external(&record.trial))
        && !run.plan.externals().any(here)
}

fn from_outside(run: &Run) -> Option<Caveat> {
    let servers: BTreeSet<&str> = run.plan.externals().collect();
    let servers = servers.into_iter().collect::<Vec<_>>().join(", ");
    (!servers.is_empty()).then_some(Caveat::FromOutside { servers })
}

fn emulated(run: &Run) -> Option<Caveat> {
    let machine = run.environments.values().find(|machine| machine.is_emulated())?;
    let emulator = machine.cpu.hypervisor.as_ref().unwrap_or(&machine.cpu.model).clone();
    Some(Caveat::Emulated { emulator })
}

/// Told when the smallest effect that four of five such runs would see exceeds the margin.
///
/// ln effect = (t(1 - alpha/2, n - 1) + t(0.8, n - 1)) sd / √n, the usual approximation of the
/// power of a t test by two quantiles; sd is pooled over the comparisons, n that of the weakest of
/// them. Nothing is told where no comparison has two blocks: there is no spread to go by, and their
/// verdicts are undecided anyway.
fn few_blocks(run: &Run, judged: &[Judged]) -> Option<Caveat> {
    let logs = |j: &Judged| j.blocks.iter().map(|(_, log)| *log).collect::<Vec<f64>>();
    let samples: Vec<Summary> = judged.iter().filter_map(|j| Summary::of(&logs(j))).collect();
    let n = samples.iter().map(|s| s.n).min()?;
    let freedom: f64 = samples.iter().map(Summary::freedom).sum();
    let squares: f64 = samples.iter().map(|s| s.freedom() * s.sd * s.sd).sum();
    let alpha = run.plan.method.alpha();
    let steps =
        t_quantile(0.5 * alpha, f64::from(n - 1)) + t_quantile(1.0 - POWER, f64::from(n - 1));
    let effect = (steps * (squares / freedom).sqrt() / f64::from(n).sqrt()).exp();
    if effect <= 1.0 + run.plan.method.margin.value {
        return None;
    }
    let exact = Estimate::exact(Quantity::new(effect, Unit::Ratio));
    let smallest = Estimate { n, level: 1.0 - alpha, method: EstimateMethod::Planned, ..exact };
    Some(Caveat::FewBlocks { blocks: Quantity::count(n.into()), smallest })
}

fn failed_operations(run: &Run) -> Option<Caveat> {
    // A search offers more than is carried, on purpose.
    let fixed = || valid(run).filter(|record| record.trial.search.is_none());
    let failed = || fixed().filter(|record| !record.outcome.work.errors.is_empty());
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, count) in failed().flat_map(|record| &record.outcome.work.errors) {
        *classes.entry(class).or_default() += count;
    }
    let mut classes: Vec<(&str, u64)> = classes.into_iter().collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words: Vec<String> = classes.iter().map(|(class, n)| format!("{class} {n}")).collect();
    (!words.is_empty()).then(|| Caveat::FailedOperations {
        trials: Quantity::count(failed().count() as u64),
        of: Quantity::count(fixed().count() as u64),
        classes: words.join(", "),
    })
}

#[expect(clippy::cast_precision_loss, reason = "trials are counted in thousands")]
fn not_steady(run: &Run) -> Option<Caveat> {
    let of = valid(run).count();
    let trials = valid(run).filter(|r| !r.outcome.steady).count();
    (trials as f64 > UNSTEADY * of as f64).then(|| Caveat::NotSteady {
        trials: Quantity::count(trials as u64),
        of: Quantity::count(of as u64),
    })
}

/// The share of all CPU time (0-1) that the hypervisor took during the valid windows of runs, their
/// mean; none where no window has the reading.
pub fn stolen<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<Estimate> {
    let readings = runs.flat_map(valid).filter_map(|r| r.reading("cpu", "machine", "steal"));
    let shares: Vec<f64> = readings.map(|q| q.value).collect();
    mean_or_single(&shares, Unit::Share)
}

fn steal(run: &Run) -> Option<Caveat> {
    let share = stolen(std::iter::once(run))?;
    (share.centre.value >= STEAL).then_some(Caveat::Steal { share })
}

fn foreign_cpu(run: &Run) -> Option<Caveat> {
    let cpu = foreign(valid(run))?;
    (cpu.centre.value > FOREIGN).then_some(Caveat::Foreign { cpu })
}

/// Adapters that sent or received pause frames, in the order of their names.
fn pause_frames(run: &Run) -> Vec<Caveat> {
    let mut adapters: BTreeMap<&str, BTreeMap<usize, [f64; 2]>> = BTreeMap::new();
    for (visit, record) in valid(run).enumerate() {
        for row in record.readings.iter().filter(|r| r.probe == "nic") {
            let frames = |kind: &str| Some((row.key.strip_prefix(kind)?, row.quantity.value));
            let (sent, received) = (frames("tx_pause."), frames("rx_pause."));
            let counts = [sent, received].map(|found| found.map_or(0.0, |(_, count)| count));
            if let Some((adapter, _)) = sent.or(received) {
                let sums = adapters.entry(adapter).or_default().entry(visit).or_default();
                *sums = [sums[0] + counts[0], sums[1] + counts[1]];
            }
        }
    }
    let of = Quantity::count(valid(run).count() as u64);
    let caveat = |(adapter, trials): (&str, BTreeMap<usize, [f64; 2]>)| {
        let sum = |at: usize| trials.values().map(|counts| counts[at]).sum::<f64>();
        let count = |frames| Quantity::new(frames, Unit::Count);
        let held = trials.values().filter(|[sent, received]| sent + received > 0.0).count();
        (held > 0).then(|| Caveat::PauseFrames {
            adapter: adapter.into(),
            sent: count(sum(0)),
            received: count(sum(1)),
            trials: Quantity::count(held as u64),
            of,
        })
    };
    adapters.into_iter().filter_map(caveat).collect()
}

/// What a lab inside one machine cannot show.
fn shared_machine(run: &Run) -> Vec<Caveat> {
    let mut all = Vec::new();
    if let Some((kind, _)) = &run.environment().lab {
        if *kind == LabKind::Simulated {
            return all;
        }
        if !run.plan.is_alone() {
            let apart = run.plan.lab.machines.len() > 1 || is_outside(run);
            all.extend((!apart).then_some(Caveat::OneMachine));
            let real = run.plan.lab.links.iter().all(LinkPlan::is_real);
            let is_virtual = *kind != LabKind::Loopback && !real;
            all.extend(is_virtual.then_some(Caveat::VirtualLinks));
        }
    }
    let machine = run.environment();
    let hypervisor = machine.cpu.hypervisor.clone().filter(|_| !machine.is_emulated());
    all.extend(hypervisor.map(|hypervisor| Caveat::Guest { hypervisor }));
    all
}
