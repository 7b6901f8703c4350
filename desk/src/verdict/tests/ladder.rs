//! Ladders with planted truths: the part that held the load down, and no other.

use super::*;
use crate::record::Value;
use crate::verdict::simulated::Truth;
use crate::verdict::{ClaimNeed, Ladder, Standing, Step};

fn climbed(truth: Truth, seed: u64, noise: f64) -> Run {
    Simulated { truth, seed, noise, ..Simulated::default() }.climbed()
}

fn ladder(run: &Run) -> Ladder {
    let mut all = analyse(run).ladders;
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn steps(ladder: &Ladder) -> Vec<Step> {
    ladder.rungs.iter().map(|rung| rung.step).collect()
}

// The slowest part that is left bounds the path: sink 1, source 3, copy 4, link 4.
fn slow_sink(cell: Cell) -> f64 {
    match cell.offload {
        "as it is" => 1.0,
        "sink" => 3.0,
        _ => 4.0,
    }
}

#[test]
fn the_parts_that_held_a_load_down_are_named_and_no_others() {
    use Step::{First, Gain, Same};
    let planted: [(Truth, [Step; 5]); 5] = [
        (slow_sink, [First, Gain, Gain, Same, Same]),
        (|_| 1.0, [First, Same, Same, Same, Same]),
        (|c| if c.offload == "copy" { 1.006 } else { 1.0 }, [First, Same, Same, Same, Same]),
        (|c| if c.offload == "frames" { 1.1 } else { 1.0 }, [First, Same, Same, Same, Gain]),
        (|c| if c.offload == "as it is" { 1.0 } else { 1.2 }, [First, Gain, Same, Same, Same]),
    ];
    let (mut right, mut astray) = (0, 0);
    for (truth, due) in planted {
        for seed in 0..20 {
            let found = steps(&ladder(&climbed(truth, seed, 0.003)));
            let is_false = |(found, due): (&Step, Step)| *found != due && *found != Step::Open;
            right += usize::from(found == due);
            astray += usize::from(found.iter().zip(due).any(is_false));
        }
    }
    assert!(right >= 94 && astray <= 5, "{right} of 100 in full, {astray} with a false step");
}

#[test]
fn a_rung_has_its_figure_its_change_and_its_ratio() {
    let run = climbed(slow_sink, 1, 0.003);
    let found = ladder(&run);
    let second = &found.rungs[1];
    assert_eq!(second.level, "sink");
    let changes: Vec<String> =
        second.changes.iter().map(|c| format!("{} {} {}", c.key, c.from, c.to)).collect();
    assert_eq!(changes, ["sink in out"]);
    assert!((second.ratio.as_ref().unwrap().centre.value / 3.0 - 1.0).abs() < 0.02);
    assert!(second.figure.centre.value > 2.0 * found.rungs[0].figure.centre.value);
    assert!(found.rungs[0].changes.is_empty() && found.rungs[0].ratio.is_none());
    assert_eq!(
        found.of(Step::Gain).map(|rung| rung.level.as_str()).collect::<Vec<_>>(),
        ["sink", "source"]
    );
}

#[test]
fn a_rung_that_could_not_be_measured_leaves_the_next_with_two_changes() {
    let mut run = climbed(slow_sink, 1, 0.003);
    for record in &mut run.records {
        if record.trial.treatment.levels["offload"] == "source" {
            record.outcome.fault = Some(crate::record::Fault::NotAvailable { what: String::new() });
        }
    }
    let found = ladder(&run);
    assert_eq!(steps(&found), [Step::First, Step::Gain, Step::Gain, Step::Same]);
    assert_eq!(found.rungs[2].changes.len(), 2, "source and copy, and it is not known which");
}

#[test]
fn too_few_blocks_and_too_much_noise_leave_a_step_open() {
    let mut run = climbed(slow_sink, 1, 0.003);
    run.records.retain(|record| record.trial.block <= 3);
    assert_eq!(ladder(&run).of(Step::Gain).count(), 0, "three blocks have no verdict");
    let noisy = ladder(&climbed(|_| 1.0, 3, 0.2));
    assert_eq!(noisy.of(Step::Same).count(), 0);
}

#[test]
fn a_plan_without_a_ladder_has_none() {
    assert!(analyse(&Simulated::default().run()).ladders.is_empty());
}

#[test]
fn a_published_claim_on_a_part_is_held_against_its_steps() {
    let signs = |truth: Truth| {
        let mut run = climbed(truth, 1, 0.003);
        run.plan.published = Some("001".into());
        let claims = analyse(&run).claims;
        ["001-4", "001-5"].map(|id| {
            match &claims.iter().find(|claim| claim.id == id).unwrap().standing {
                Standing::Compared { sign, ours, .. } => Ok((*sign, ours.len())),
                Standing::NotMeasured { missing } => Err(*missing),
                other => panic!("{other:?}"),
            }
        })
    };
    let lacks = Err(ClaimNeed::Feature);
    assert_eq!(signs(slow_sink), [Ok((Some(true), 2)), lacks], "no rung switches checksums");
    assert_eq!(signs(|_| 1.0), [Ok((Some(false), 2)), lacks]);
}

#[test]
fn two_states_of_a_rung_leave_the_steps_to_it_and_from_it_open() {
    let mut run =
        Simulated { blocks: 20, noise: 0.003, truth: slow_sink, ..Simulated::default() }.climbed();
    for record in &mut run.records {
        let at = record.trial.treatment.levels["offload"].as_str();
        if at == "source" && record.trial.block % 2 == 0 {
            record.outcome.samples[0].quantity.value *= 3.0;
        }
    }
    use Step::{First, Gain, Open, Same};
    assert_eq!(steps(&ladder(&run)), [First, Gain, Open, Open, Same]);
}

#[test]
fn a_load_that_was_set_and_carried_rules_no_part_out() {
    let mut run = climbed(|_| 1.0, 1, 0.0001);
    let offered = Quantity::new(1e9, Unit::BitPerSecond);
    let load = &mut run.plan.loads[0];
    load.fixed.insert("offered_load".into(), Value::Quantity(offered));
    for record in &mut run.records {
        record.trial.point.params.insert("offered_load".into(), Value::Quantity(offered));
        record.outcome.samples[0].quantity = offered;
    }
    let found = ladder(&run);
    assert_eq!(found.rungs[0].limit.as_ref().unwrap().kind, LimitKind::OfferedLoad);
    assert_eq!(found.of(Step::Same).count(), 0);
}
