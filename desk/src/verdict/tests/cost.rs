//! Costs, and every reason why they have no verdict.

use super::{SIZES, change, close, machine, read};
use crate::record::{LabKind, Run, TrialKind, TrialRecord, Value};
use crate::unit::{Quantity, Unit};
use crate::verdict::simulated::{Cell, Simulated, size, word};
use crate::verdict::{
    Analysis, Basis, Caveat, Cost, LimitKind, Verdict, Withheld, analyse, busy_by_level,
};

/// The judged level needs 0.4 of four CPUs, the baseline 0.5, at throughputs alike but for noise.
fn cheaper(truth: fn(Cell) -> f64, change: impl Fn(&mut TrialRecord)) -> Run {
    let mut run = Simulated { noise: 0.001, truth, ..Simulated::default() }.run();
    for record in &mut run.records {
        machine(record, if super::judged(record) { 0.4 } else { 0.5 });
        change(record);
    }
    run
}

fn only(analysis: &Analysis) -> &Cost {
    assert_eq!(analysis.costs.len(), 1);
    &analysis.costs[0]
}

fn withheld(run: &Run) -> Option<Withheld> {
    let analysis = analyse(run);
    let cost = only(&analysis);
    assert_eq!(cost.withheld.len(), cost.index.points.len());
    assert_eq!(cost.withheld[0], cost.withheld_overall);
    cost.withheld_overall.clone()
}

// By hand: 0.4 / 0.5 = 0.8; the index of equal throughput is 1 / 0.8 = 1.25. The baseline moves
// 1 Gbit/s = 0.125 GB/s with 2 CPUs: 16 s/GB, and 1000 / 50 = 20 Mbit/s/%.
#[test]
fn costs_are_ratios_within_blocks_like_any_other() {
    let mut run = cheaper(|_| 1.0, |_| ());
    // The noise of whole blocks would blur the absolute figures.
    run.records.iter_mut().for_each(|r| r.outcome.samples[0].quantity.value = 1e9);
    let analysis = analyse(&run);
    let cost = only(&analysis);
    assert_eq!(cost.comparison, analysis.comparisons[0].id);
    assert_eq!((cost.basis, cost.equal_load), (Basis::Server, false));
    assert_eq!((cost.withheld.as_slice(), &cost.withheld_overall), ([None].as_slice(), &None));
    for (comparison, metric, ratio, base) in [
        (&cost.cpu, "cpu", 0.8, 0.5),
        (&cost.index, "pe_index", 1.25, 20.0),
        (&cost.per_work, "cpu_per_gb", 0.8, 16.0),
    ] {
        assert_eq!((comparison.metric.as_str(), comparison.verdict), (metric, Verdict::Better));
        close(comparison.overall.centre.value, ratio, 1e-9);
        close(comparison.points[0].base.centre.value, base, 1e-9);
        assert_eq!(comparison.overall.n, 5);
    }
    let busy = busy_by_level(&[cost, cost]);
    assert_eq!(busy.len(), 2);
    for ((level, busy), (name, share)) in
        busy.into_iter().zip([(&cost.cpu.base, 0.5), (&cost.cpu.other, 0.4)])
    {
        assert_eq!(&level, name);
        close(busy.value, share, 1e-9);
    }
    assert!(!analysis.comparisons[0].points[0].has_two_answers());
    assert_eq!(cost.displaced, None);
    run.environment_mut().lab = Some((LabKind::UserNamespaces, String::new()));
    assert_eq!(only(&analyse(&run)).basis, Basis::Pair);
}

// The baseline does 1e9 operations a second with 2 CPUs: 2 ns each, and 1e9 / 50 a per cent.
#[test]
fn work_in_operations_costs_time_an_operation() {
    let mut run = cheaper(|_| 1.0, |_| ());
    run.metrics[0].unit = Unit::OperationPerSecond;
    for record in &mut run.records {
        record.outcome.samples[0].quantity = Quantity::new(1e9, Unit::OperationPerSecond);
    }
    let analysis = analyse(&run);
    let cost = only(&analysis);
    assert_eq!(
        (cost.index.metric.as_str(), &*cost.per_work.metric),
        ("pe_index", "cpu_per_operation")
    );
    for (comparison, base) in [
        (&cost.index, Quantity::new(2e7, Unit::OperationPerCpuPercent)),
        (&cost.per_work, Quantity::new(2e-9, Unit::Second)),
    ] {
        assert_eq!(
            (comparison.verdict, comparison.points[0].base.centre.unit),
            (Verdict::Better, base.unit)
        );
        close(comparison.points[0].base.centre.value, base.value, 1e-9);
    }
    // A metric that is no rate decides nothing of it.
    run.metrics[0].role = crate::record::MetricRole::Latency;
    assert!(analyse(&run).costs.is_empty());
}

#[test]
fn an_index_of_equal_things_is_called_different_in_one_run_of_twenty() {
    let (mut alone, mut alarms) = (0, 0);
    for seed in 0..400 {
        // The busy share has noise of its own: the throughput of another run.
        let noise = Simulated { seed: seed + 10_000, ..Simulated::default() }.run();
        let mut run = Simulated { seed, ..Simulated::default() }.run();
        for (record, noise) in run.records.iter_mut().zip(&noise.records) {
            machine(record, 0.5e-9 * noise.outcome.samples[0].quantity.value);
        }
        let found = analyse(&run);
        let index = &only(&found).index;
        alone += u32::from(index.overall.low.value > 1.0 || index.overall.high.value < 1.0);
        alarms += u32::from(matches!(index.verdict, Verdict::Better | Verdict::Worse));
    }
    // Costs are judged together with all else that is not the question, at half of its error.
    assert!((8..=32).contains(&alone) && alarms <= 20, "{alone} alone, {alarms} of 400");
}

// By hand, of 2 CPUs: server 1, client 0.78, conductor 0.02, kernel 0.2, of which 0.05 is made to
// go nowhere.
#[test]
fn the_parts_add_up_to_the_machine() {
    let run = cheaper(
        |_| 1.0,
        |record| {
            change(record, ["kernel", "machine", "threads"], -0.05);
            change(record, ["cpu", "machine", "steal"], 0.01);
            read(record, ["cgroup", "sut", "cpu"], 1.01);
            read(record, ["cgroup", "c01", "cpu"], 0.79);
        },
    );
    let analysis = analyse(&run);
    let [base, other] = &only(&analysis).parts[..] else { panic!("two levels") };
    assert_eq!((base.level.as_str(), other.level.as_str()), ("onboard", "pro1000"));
    for (part, by_hand) in [
        (Some(&base.machine), 2.0),
        (Some(&base.server), 1.0),
        (Some(&base.clients), 0.78),
        (base.conductor.as_ref(), 0.02),
        (Some(&base.kernel), 0.15),
        (Some(&base.unattributed), 0.05),
        (Some(&base.steal), 0.04),
        (base.second.as_ref(), 1.8),
        (Some(&other.machine), 1.6),
    ] {
        close(part.unwrap().centre.value, by_hand, 1e-9);
    }
    assert_eq!(base.foreign.centre.value, 0.0);
}

// Of the 0.15 CPUs of kernel threads a relay is made to have 0.1 and a device 0.04.
#[test]
fn what_a_relay_takes_is_its_own_part_and_in_no_cost_of_the_load() {
    let run = cheaper(
        |_| 1.0,
        |record| {
            change(record, ["kernel", "machine", "threads"], -0.14);
            read(record, ["process", "wan", "cpu"], 0.1);
            read(record, ["process", "box", "cpu"], 0.04);
            read(record, ["relay", "wan", "waiting"], 0.0);
        },
    );
    let analysis = analyse(&run);
    let cost = only(&analysis);
    let base = &cost.parts[0];
    for (part, by_hand) in [
        (base.relay.as_ref(), 0.1),
        (base.between.as_ref(), 0.04),
        (Some(&base.server), 1.0),
        (Some(&base.machine), 2.0),
    ] {
        close(part.unwrap().centre.value, by_hand, 1e-9);
    }
    // 2 CPUs less 0.1 of four.
    close(cost.cpu.points[0].base.centre.value, 0.475, 1e-9);
}

// Of the judged level 10 % are 0.16 CPU, of the baseline 0.2.
#[test]
fn methods_that_disagree_by_a_tenth_withhold_the_verdict() {
    let unexplained = |cpu: f64, baseline: f64| {
        cheaper(
            |_| 1.0,
            move |record| {
                change(record, ["process", "sut", "cpu"], -cpu);
                change(record, ["cpu", "machine", "baseline"], baseline);
            },
        )
    };
    assert_eq!(withheld(&unexplained(0.15, 0.0)), None);
    assert_eq!(withheld(&unexplained(0.3, 0.2)), None, "the idle lab has it too");
    for (run, largest) in [(unexplained(0.3, 0.0), 0.3), (unexplained(-0.3, 0.05), 0.35)] {
        let Some(Withheld::MethodsDisagree { by }) = withheld(&run) else { panic!() };
        close(by.centre.value, largest, 1e-9);
        assert!(by.low.value <= by.centre.value && by.centre.value <= by.high.value);
        let told = analyse(&run).caveats.into_iter().find_map(|caveat| match caveat {
            Caveat::CpuMethods { by } => Some(by),
            _ => None,
        });
        assert_eq!(told, Some(by));
    }
    let groups = |apart: f64| {
        cheaper(
            |_| 1.0,
            move |record| {
                let clock = record.reading("process", "c01", "cpu").unwrap().value;
                read(record, ["cgroup", "c01", "cpu"], clock + apart);
            },
        )
    };
    assert_eq!(withheld(&groups(0.005)), None);
    assert!(matches!(withheld(&groups(-0.25)), Some(Withheld::MethodsDisagree { .. })));
}

// One CPU, 6 % busy: a tenth is 0.006 CPU, so the floor of 0.01 decides.
#[test]
fn a_hundredth_of_a_cpu_is_no_disagreement() {
    let apart = |cpu: f64| {
        let mut run = Simulated { noise: 0.001, ..Simulated::default() }.run();
        for record in &mut run.records {
            machine(record, 0.06);
            change(record, ["cpu", "machine", "cpus"], -3.0);
            // The readings were those of four CPUs.
            change(record, ["process", "sut", "cpu"], -0.18 - cpu);
        }
        withheld(&run)
    };
    assert_eq!(apart(0.008), None);
    assert!(matches!(apart(0.012), Some(Withheld::MethodsDisagree { .. })));
}

#[test]
fn an_idle_machine_has_no_index() {
    let idle = |busy: f64| {
        let mut run = Simulated { noise: 0.001, ..Simulated::default() }.run();
        for record in &mut run.records {
            machine(record, if super::judged(record) { busy } else { 0.5 });
        }
        withheld(&run)
    };
    assert_eq!(idle(0.051), None);
    let Some(Withheld::LowCpu { busy }) = idle(0.049) else { panic!() };
    close(busy.centre.value, 0.049, 1e-9);
}

#[test]
fn levels_that_differ_in_multithreading_have_no_index() {
    let mut run = cheaper(|_| 1.0, |_| ());
    run.plan.factors[0].levels[1].settings.insert("smt".into(), word("off"));
    assert_eq!(withheld(&run), Some(Withheld::SmtDiffers));
    run.plan.factors[0].levels[0].settings.insert("smt".into(), word("off"));
    assert_eq!(withheld(&run), None);
    let mut one = run.clone();
    one.records.iter_mut().for_each(|r| r.readings.retain(|x| x.probe != "process"));
    assert_eq!(withheld(&one), Some(Withheld::NotRead));
}

fn offer(record: &mut TrialRecord, rate: f64) {
    let rate = Value::Quantity(Quantity::new(rate, Unit::BitPerSecond));
    record.trial.point.params.insert("offered_load".into(), rate);
}

#[test]
fn unequal_throughput_at_saturation_is_shown_without_a_verdict() {
    let faster = cheaper(|_| 1.2, |_| ());
    let Some(Withheld::UnequalAtSaturation { throughput }) = withheld(&faster) else { panic!() };
    close(throughput.centre.value, 1.2, 0.01);
    let index = only(&analyse(&faster)).index.overall.centre.value;
    close(index, 1.5, 0.01);
    // A difference inside the margin is certain here, and too small to matter.
    let a_little = cheaper(|_| 1.01, |_| ());
    assert_eq!(analyse(&a_little).comparisons[0].verdict, Verdict::Better);
    assert_eq!(withheld(&a_little), None);
}

// Noise of a block is 1 %: 0.9 Gbit/s is reached by both, 1.1 Gbit/s by the faster level alone.
#[test]
fn an_equal_load_that_both_reached_lets_the_cost_decide() {
    let reached = cheaper(|_| 1.2, |record| offer(record, 0.9e9));
    assert!(only(&analyse(&reached)).equal_load);
    assert_eq!(withheld(&reached), None);
    let limit = |run: &Run| analyse(run).limits[0].kind;
    assert_eq!(limit(&reached), LimitKind::OfferedLoad);
    let missed = cheaper(|_| 1.2, |record| offer(record, 1.1e9));
    assert!(!only(&analyse(&missed)).equal_load);
    assert_ne!(limit(&missed), LimitKind::OfferedLoad);
    assert!(matches!(withheld(&missed), Some(Withheld::UnequalAtSaturation { .. })));
}

#[test]
fn one_point_without_a_meaning_takes_it_from_the_whole_curve() {
    let mut run = Simulated { sizes: SIZES.to_vec(), noise: 0.001, ..Simulated::default() }.run();
    for record in &mut run.records {
        let low = record.trial.point.params["size"] == size(256);
        machine(record, if low { 0.01 } else { 0.5 });
    }
    let analysis = analyse(&run);
    let cost = only(&analysis);
    let where_low: Vec<bool> = cost.withheld.iter().map(Option::is_some).collect();
    assert_eq!(where_low, [false, true, false, false, false, false]);
    assert!(matches!(cost.withheld_overall, Some(Withheld::LowCpu { .. })));
    assert_eq!(cost.parts.len(), 12);
}

#[test]
fn over_a_curve_a_bad_reading_is_told_before_unequal_throughput() {
    let truth = |cell: Cell| if cell.size == 64 { 1.5 } else { 1.0 };
    let sizes = SIZES.to_vec();
    let mut run = Simulated { sizes, truth, noise: 0.001, ..Simulated::default() }.run();
    run.records.iter_mut().for_each(|record| machine(record, 0.5));
    let overall = |run: &Run| only(&analyse(run)).withheld_overall.clone();
    // The whole curve differs by 1.5^(1/6) = 7 %, and that is the figure told.
    let Some(Withheld::UnequalAtSaturation { throughput }) = overall(&run) else { panic!() };
    close(throughput.centre.value, 1.5_f64.powf(1.0 / 6.0), 0.005);
    let large = |r: &&mut TrialRecord| r.trial.point.params["size"] == size(65536);
    run.records.iter_mut().filter(large).for_each(|r| change(r, ["cpu", "machine", "busy"], 0.3));
    assert!(matches!(overall(&run), Some(Withheld::MethodsDisagree { .. })));
}

#[test]
fn displaced_work_is_compared_where_a_soaker_ran() {
    let run = cheaper(
        |_| 1.0,
        |record| {
            let displaced = if super::judged(record) { 0.9 } else { 1.2 };
            read(record, ["soaker", "machine", "displaced"], displaced);
        },
    );
    let analysis = analyse(&run);
    let displaced = only(&analysis).displaced.as_ref().unwrap();
    close(displaced.overall.centre.value, 0.75, 1e-9);
    assert_eq!((displaced.verdict, displaced.metric.as_str()), (Verdict::Better, "displaced"));
}

#[test]
fn without_readings_there_is_no_cost() {
    assert!(analyse(&Simulated::default().run()).costs.is_empty());
}

#[test]
fn foreign_processes_are_told_from_a_fiftieth_of_a_cpu() {
    let foreign = |cpu: f64| {
        let run = cheaper(|_| 1.0, move |r| change(r, ["foreign", "machine", "cpu"], cpu));
        analyse(&run).caveats
    };
    assert!(foreign(0.019).is_empty());
    let told = foreign(0.03);
    let [Caveat::Foreign { cpu }] = &told[..] else { panic!("{told:?}") };
    close(cpu.centre.value, 0.03, 1e-9);
}

#[test]
fn pause_frames_are_told_of_each_adapter_that_had_any() {
    let held = |adapter: &'static str, sent: f64, received: f64| {
        move |r: &mut TrialRecord| {
            read(r, ["nic", "machine", &format!("tx_pause.{adapter}")], sent);
            read(r, ["nic", "machine", &format!("rx_pause.{adapter}")], received);
        }
    };
    assert!(analyse(&cheaper(|_| 1.0, held("eth1", 0.0, 0.0))).caveats.is_empty());
    let run = cheaper(
        |_| 1.0,
        |record| {
            let first = record.trial.block == 1;
            held("eth2", if first { 40.0 } else { 0.0 }, if first { 2.0 } else { 0.0 })(record);
            held("eth1", 0.0, 0.0)(record);
        },
    );
    let told = analyse(&run).caveats;
    let [Caveat::PauseFrames { adapter, sent, received, trials, of }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(adapter, "eth2");
    let first = run.records.iter().filter(|r| r.trial.block == 1);
    let first = first.filter(|r| r.trial.kind == TrialKind::Counted).count() as f64;
    assert_eq!((sent.value, received.value, trials.value), (40.0 * first, 2.0 * first, first));
    assert!(of.value > trials.value);
}
