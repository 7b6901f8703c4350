//! Orders of several levels: planted ones are found, and equal ones have none.

use crate::record::{Better, Run, TrialKind};
use crate::verdict::simulated::{Cell, Simulated};
use crate::verdict::{Ranking, analyse};

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A run over five levels of the factor `offload`, on a link where these make no difference and on
/// one where they have this truth.
fn five(truth: fn(Cell) -> f64, blocks: u32, seed: u64) -> Run {
    let offloads = FIVE.to_vec();
    let mut run = Simulated { offloads, truth, blocks, seed, ..Simulated::default() }.run();
    run.plan.method.compare = "offload".into();
    run
}

fn planted(cell: Cell) -> f64 {
    match cell.offload {
        "a" => 1.0,
        "b" | "c" => 1.2,
        "d" => 1.5,
        _ => 0.7,
    }
}

fn order(of: &Ranking) -> Vec<(&str, u32, u32)> {
    of.levels.iter().map(|l| (l.level.as_str(), l.from, l.to)).collect()
}

#[test]
fn a_planted_order_is_found_and_equal_levels_share_all_ranks() {
    for blocks in [7, 10] {
        let found = analyse(&five(planted, blocks, 1));
        let of = |path: &str| {
            found.rankings.iter().find(|r| r.stratum.get("path").is_some_and(|p| p == path))
        };
        let (still, moved) = (of("onboard").unwrap(), of("pro1000").unwrap());
        assert_eq!(moved.id, "rank-offload-path-pro1000-transmit");
        assert_eq!(order(moved)[0], ("d", 1, 1));
        assert_eq!(order(moved)[3..], [("a", 4, 4), ("e", 5, 5)]);
        let mut second = order(moved)[1..3].to_vec();
        second.sort_unstable();
        assert_eq!(second, [("b", 2, 3), ("c", 2, 3)]);
        assert_eq!((moved.first.as_slice(), moved.pairs.len()), (&["d".to_owned()][..], 10));
        assert_eq!(moved.pairs.iter().filter(|p| !p.differs).count(), 1);
        assert!(still.pairs.iter().all(|p| !p.differs));
        assert!(still.first.len() == 5 && still.levels.iter().all(|l| l.alike.len() == 4));
        let base = moved.levels.iter().find(|l| l.level == "a").unwrap();
        assert_eq!((base.ratio.centre.value, base.ratio.low.value), (1.0, 1.0));
        let d = &moved.levels[0].ratio;
        let compared =
            found.comparisons.iter().find(|c| moved.over.contains(&c.id) && c.other == "d");
        assert_eq!(*d, compared.unwrap().overall, "one ratio has one figure");
        assert!((d.centre.value - 1.5).abs() < 0.03 && d.n == blocks, "{d:?}");
    }
}

#[test]
fn over_all_conditions_the_order_is_that_of_the_means_of_blocks() {
    let found = analyse(&five(planted, 10, 2));
    let all = found.rankings.iter().find(|r| r.load.is_none()).unwrap();
    assert_eq!((all.id.as_str(), all.over.len()), ("rank-offload-over-all", 8));
    assert_eq!(all.first, ["d"]);
    let d = all.levels[0].ratio.centre.value;
    assert!((d - 1.5_f64.sqrt()).abs() < 0.02, "{d}");
}

#[test]
fn lower_is_first_where_lower_is_better() {
    let offloads = FIVE.to_vec();
    let better = Better::Lower;
    let mut run = Simulated { offloads, better, truth: planted, ..Simulated::default() }.run();
    run.plan.method.compare = "offload".into();
    let found = analyse(&run);
    let moved = found.rankings.iter().find(|r| r.id.contains("pro1000")).unwrap();
    assert_eq!((order(moved)[0], order(moved)[4]), (("e", 1, 1), ("d", 5, 5)));
    let pair = moved.pairs.iter().find(|p| p.better == "e" && p.worse == "d").unwrap();
    assert!(pair.ratio.high.value < 0.5, "{:?}", pair.ratio);
}

#[test]
fn of_five_equal_levels_a_pair_is_told_apart_in_one_ranking_of_twenty_at_most() {
    for blocks in [5, 10] {
        let (mut wrong, mut seen) = (0, 0);
        for seed in 0..150 {
            for of in analyse(&five(|_| 1.0, blocks, seed)).rankings {
                seen += u32::from(of.load.is_some());
                wrong += u32::from(of.load.is_some() && of.pairs.iter().any(|p| p.differs));
            }
        }
        println!("{blocks} blocks: {wrong} of {seen} rankings of equal levels tell a pair apart");
        // 300 at 5 %: 15, standard deviation 3.8.
        assert!(seen == 300 && wrong <= 23, "{blocks} blocks: {wrong} of {seen}");
    }
}

/// Twelve blocks in four rounds of boots are four measurements of a level.
#[test]
fn levels_that_need_boots_are_ranked_by_boots() {
    let mut run = five(planted, 18, 3);
    (run.plan.method.boots, run.plan.method.blocks) = (6, 3);
    run.plan.factors[1].reboot = true;
    for record in run.records.iter_mut().filter(|r| r.trial.kind == TrialKind::Counted) {
        record.trial.round = (record.trial.block - 1) / 3 + 1;
    }
    let found = analyse(&run);
    let moved = found.rankings.iter().find(|r| r.id.contains("pro1000")).unwrap();
    assert!(moved.pairs.iter().all(|p| p.ratio.n == 6), "{:?}", moved.pairs);
    assert_eq!((order(moved)[0], order(moved)[4]), (("d", 1, 1), ("e", 5, 5)));
}

#[test]
fn a_level_that_sets_what_the_baseline_sets_has_no_rank_and_two_levels_no_ranking() {
    let mut run = five(planted, 5, 4);
    let same = run.plan.factors[1].levels[0].settings.clone();
    run.plan.factors[1].levels[4].settings = same;
    let found = analyse(&run);
    assert!(found.rankings.iter().all(|r| r.unranked == ["e"] && r.levels.len() == 4));
    run.plan.method.compare = "path".into();
    let ranked: Vec<String> = analyse(&run).rankings.into_iter().map(|r| r.factor).collect();
    assert!(!ranked.is_empty() && ranked.iter().all(|f| f == "offload"), "{ranked:?}");
}
