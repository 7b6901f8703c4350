//! Knows in which order trials run: randomised blocks from the plan's seed, in boots where a factor
//! needs them.
//!
//! A block visits every treatment of every point once. Treatments of a point run next to each
//! other, so that slow drift hits both sides of a ratio alike. Blocks come in pairs: the first of a
//! pair visits the treatments of a point in a random order, the second in the reverse of it. So of
//! any two treatments each precedes the other equally often in an even number of blocks, and once
//! more in an odd one: from two blocks on in at most 2/3 of them, however early a run ends. The
//! same holds for boots: a round has one at every level that needs one, and rounds come in pairs.

use super::expand::expand;
use crate::record::{
    LoadPoint, Plan, SearchPlan, SearchStep, Settings, Treatment, Trial, TrialKind, TrialRecord,
};
use crate::search::{self, Next};
use crate::unit::{Quantity, Unit};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

/// Every trial of the plan in the order in which it runs; the same plan gives the same order.
///
/// Dry visits come first, in the order of the plan. Within a block points are in random order, and
/// within a point so are the treatments: drawn anew in odd blocks, reversed in even ones (D. R.
/// Cox, "Some systematic experimental designs", Biometrika 38 (1951), 312-323, on orders balanced
/// for trend). In a plan without boots a larger number of blocks leaves the earlier ones as they
/// are.
///
/// In a plan with boots each boot has its own dry visits and blocks, of the treatments that it can
/// be at. The first visit of a boot is dry even where the plan wants no dry visits: it meets a
/// machine that has done nothing yet.
///
/// Of a search there is its first step, dry or counted, and the numbers of as many trials as it may
/// have steps; [`follows`] gives the others.
#[must_use]
pub fn order(plan: &Plan) -> Vec<Trial> {
    let (points, treatments) = expand(plan);
    let mut chance = ChaCha8Rng::seed_from_u64(plan.method.seed);
    let groups = boots(plan, &treatments);
    let mut boots: Vec<Boot> =
        groups.into_iter().map(|treatments| Boot::new(treatments, points.len())).collect();
    let mut layout = Layout {
        seed: plan.method.seed,
        point_order: (0..points.len()).collect(),
        searches: searches(plan, &points),
        points,
        treatments,
        trials: Vec::new(),
        numbers: 0,
        place: Place::default(),
    };
    let booted = plan.rebooted().next().is_some();
    let rounds = if booted { plan.method.boots } else { 1 };
    let mut turns = Mirrored::new((0..boots.len()).collect());
    for round in 1..=rounds {
        // Nothing is drawn where there is nothing to boot into.
        let turn = if booted { turns.next(&mut chance) } else { vec![0] };
        for boot in turn {
            let Some(boot) = boots.get_mut(boot) else { continue };
            if booted {
                (layout.place.boot, layout.place.round) = (layout.place.boot + 1, round);
            }
            if plan.method.dry {
                layout.dry(&boot.treatments);
            } else if booted {
                layout.dry_once(&boot.treatments);
            }
            for _ in 0..plan.method.blocks {
                layout.block(boot, &mut chance);
            }
        }
    }
    layout.trials
}

/// The treatments of each boot of a round, as indices: those that share the levels that need it.
/// One group of all where nothing reboots.
fn boots(plan: &Plan, treatments: &[(Treatment, Settings)]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (at, (treatment, _)) in treatments.iter().enumerate() {
        let place = plan.rebooted().map(|factor| {
            let level = treatment.levels.get(&factor.name);
            factor.levels.iter().position(|l| Some(&l.name) == level).unwrap_or_default()
        });
        groups.entry(place.collect()).or_default().push(at);
    }
    groups.into_values().collect()
}

/// An order that is drawn anew every other time, and reversed in between.
struct Mirrored {
    order: Vec<usize>,
    reverse: bool,
}

impl Mirrored {
    fn new(order: Vec<usize>) -> Self {
        Self { order, reverse: false }
    }

    fn next(&mut self, chance: &mut ChaCha8Rng) -> Vec<usize> {
        if self.reverse {
            self.order.reverse();
        } else {
            self.order.shuffle(chance);
        }
        self.reverse = !self.reverse;
        self.order.clone()
    }
}

/// What is visited in one kind of boot.
struct Boot {
    /// In the order of the plan.
    treatments: Vec<usize>,
    /// Their order at each point.
    at_points: Vec<Mirrored>,
}

impl Boot {
    fn new(treatments: Vec<usize>, points: usize) -> Self {
        let at_points = (0..points).map(|_| Mirrored::new(treatments.clone())).collect();
        Self { treatments, at_points }
    }
}

/// Where the run has come to, by its last block, boot and round.
#[derive(Default)]
struct Place {
    block: u32,
    boot: u32,
    round: u32,
}

/// The trials laid out so far, and what they are made of.
struct Layout {
    seed: u64,
    points: Vec<LoadPoint>,
    /// That of each point, if it has one.
    searches: Vec<Option<SearchPlan>>,
    point_order: Vec<usize>,
    treatments: Vec<(Treatment, Settings)>,
    trials: Vec<Trial>,
    /// Numbers given to trials so far.
    numbers: u32,
    place: Place,
}

impl Layout {
    fn visit(&mut self, kind: TrialKind, point: usize, treatment: usize) {
        let id = self.numbers;
        let search = self.searches[point].as_ref();
        let sought = search.filter(|_| kind == TrialKind::Counted);
        self.numbers = id.saturating_add(sought.map_or(1, |search| search.steps));
        let mut at = self.points[point].clone();
        let first = search.and_then(|search| Some((search, tried(&search::next(search, &[], 0))?)));
        let mut window = None;
        if let Some((search, tried)) = first {
            at.params.insert(search.over.clone(), search.load(tried.load));
            window = tried.window;
        }
        let (treatment, settings) = self.treatments[treatment].clone();
        self.trials.push(Trial {
            id,
            block: if kind == TrialKind::Dry { 0 } else { self.place.block },
            boot: self.place.boot,
            round: self.place.round,
            point_index: index(point),
            point: at,
            treatment,
            settings,
            seed: trial_seed(self.seed, id),
            kind,
            search: sought.map(|_| SearchStep { id, step: 1, window, share: None }),
        });
    }

    /// One uncounted visit to each of these treatments at every point.
    fn dry(&mut self, treatments: &[usize]) {
        for point in 0..self.points.len() {
            for treatment in treatments {
                self.visit(TrialKind::Dry, point, *treatment);
            }
        }
    }

    /// One uncounted visit to the first of these treatments at the first point.
    fn dry_once(&mut self, treatments: &[usize]) {
        if let (Some(first), false) = (treatments.first(), self.points.is_empty()) {
            self.visit(TrialKind::Dry, 0, *first);
        }
    }

    fn block(&mut self, boot: &mut Boot, chance: &mut ChaCha8Rng) {
        self.place.block += 1;
        self.point_order.shuffle(chance);
        for at in 0..self.point_order.len() {
            let point = self.point_order[at];
            for treatment in boot.at_points[point].next(chance) {
                self.visit(TrialKind::Counted, point, treatment);
            }
        }
    }
}

/// The search of each load point.
fn searches(plan: &Plan, points: &[LoadPoint]) -> Vec<Option<SearchPlan>> {
    let load = |point: &LoadPoint| plan.load(&point.load)?.search.clone();
    points.iter().map(load).collect()
}

/// The step that follows this one in its search, by the valid records of its steps up to this one,
/// in their order; none at its end, and after a trial that is no step of a search.
#[must_use]
pub fn follows(plan: &Plan, last: &Trial, records: &[&TrialRecord]) -> Option<Trial> {
    let (load, at) = (plan.load(&last.point.load)?, last.search?);
    let search = load.search.as_ref()?;
    let steps: Vec<_> = records.iter().filter_map(|record| search::step(load, record)).collect();
    let mut next = last.clone();
    next.id = last.id.checked_add(1)?;
    next.seed = trial_seed(plan.method.seed, next.id);
    let Tried { load, window, share } = tried(&search::next(search, &steps, next.seed))?;
    next.search = Some(SearchStep { step: at.step + 1, window, share, ..at });
    next.point.params.insert(search.over.clone(), search.load(load));
    Some(next)
}

/// What is tried next.
struct Tried {
    load: f64,
    /// Its window, where the search sets it.
    window: Option<Quantity>,
    /// The share of what was found that it is.
    share: Option<Quantity>,
}

/// The load that is tried next; none at the end.
fn tried(next: &Next) -> Option<Tried> {
    let (load, window, share) = match *next {
        Next::Try(load) => (load, None, None),
        Next::TryFor(load, seconds) => (load, Some(Quantity::seconds(seconds)), None),
        Next::TryAt(load, share) => (load, None, Some(Quantity::new(share, Unit::Share))),
        Next::Enough(_) => return None,
    };
    Some(Tried { load, window, share })
}

/// The seed of one trial: a stream of its own, so that it does not hang on how many draws came
/// before.
fn trial_seed(seed: u64, id: u32) -> u64 {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(u64::from(id) + 1);
    stream.next_u64()
}

/// A plan that was read has at most 100,000 trials, so that every index fits.
fn index(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::record::Level;
    use std::collections::BTreeSet;

    /// Point and treatment of every trial of a block, in order.
    fn visits(trials: &[Trial], block: u32) -> Vec<(u32, String)> {
        let of_block = trials.iter().filter(|t| t.block == block);
        of_block.map(|t| (t.point_index, format!("{:?}", t.treatment))).collect()
    }

    #[test]
    fn a_block_visits_every_treatment_of_every_point_once_and_next_to_each_other() {
        let trials = order(&small());
        assert_eq!(trials.len(), 16 * 6);
        for block in 0..=5 {
            let visits = visits(&trials, block);
            assert_eq!(visits.len(), 16);
            assert_eq!(visits.iter().collect::<BTreeSet<_>>().len(), 16);
            for group in visits.chunks(4) {
                assert!(group.iter().all(|(point, _)| *point == group[0].0), "{group:?}");
            }
        }
    }

    #[test]
    fn dry_visits_come_first_in_the_order_of_the_plan() {
        let mut plan = small();
        let trials = order(&plan);
        assert!(trials[..16].iter().all(|t| t.kind == TrialKind::Dry));
        assert!(trials[16..].iter().all(|t| t.kind == TrialKind::Counted));
        assert!(trials[..16].is_sorted_by_key(|t| t.point_index));
        assert_eq!(trials[0].settings["path"].to_string(), "one");
        assert!(trials.iter().enumerate().all(|(i, t)| t.id as usize == i));
        plan.method.dry = false;
        assert_eq!(order(&plan)[0].block, 1);
    }

    #[test]
    fn the_seed_alone_fixes_the_order() {
        let mut plan = small();
        let trials = order(&plan);
        assert_eq!(trials, order(&plan));
        let points = |block| visits(&trials, block).into_iter().map(|(p, _)| p).collect::<Vec<_>>();
        assert!((2..=5).any(|block| points(block) != points(1)));
        assert_ne!(visits(&trials, 1), visits(&trials, 2));
        let seeds: BTreeSet<u64> = trials.iter().map(|t| t.seed).collect();
        assert_eq!(seeds.len(), trials.len());
        plan.method.seed += 1;
        assert_ne!(visits(&trials, 1), visits(&order(&plan), 1));
    }

    /// The small plan with `tso` switched by booting: four rounds of two boots, five blocks each.
    fn booted() -> Plan {
        let mut plan = small();
        plan.factors[1].reboot = true;
        (plan.method.boots, plan.method.seed) = (4, 3);
        plan
    }

    #[test]
    fn a_round_boots_once_into_every_level_and_a_boot_holds_whole_blocks_of_the_rest() {
        let plan = booted();
        let trials = order(&plan);
        assert_eq!(trials.len(), 8 * 6 * 8);
        assert!(trials.is_sorted_by_key(|t| (t.round, t.boot)));
        let level = |t: &Trial| t.treatment.levels["tso"].clone();
        for (boot, here) in (1..).zip(trials.chunk_by(|a, b| a.boot == b.boot)) {
            assert!(here.iter().all(|t| t.boot == boot && level(t) == level(&here[0])));
            let (dry, counted) = here.split_at(8);
            assert!(dry.iter().all(|t| t.kind == TrialKind::Dry && t.block == 0));
            assert!(counted.iter().all(|t| t.kind == TrialKind::Counted));
            for (block, of) in (5 * (boot - 1) + 1..).zip(counted.chunks(8)) {
                assert!(of.iter().all(|t| t.block == block), "unique over the run");
                assert_eq!(visits(of, block).iter().collect::<BTreeSet<_>>().len(), 8);
            }
        }
        let rounds: Vec<Vec<String>> = trials
            .chunk_by(|a, b| a.round == b.round)
            .map(|of| of.chunk_by(|a, b| a.boot == b.boot).map(|boot| level(&boot[0])).collect())
            .collect();
        assert!(rounds.iter().all(|r| r.iter().collect::<BTreeSet<_>>().len() == 2), "{rounds:?}");
        assert!(rounds.iter().any(|round| round != &rounds[0]), "{rounds:?}");
        assert_eq!(trials, order(&plan));
    }

    #[test]
    fn the_first_visit_of_a_boot_is_never_counted() {
        let mut plan = booted();
        plan.method.dry = false;
        let trials = order(&plan);
        assert_eq!(trials.len(), 8 * (5 * 8 + 1));
        for boot in trials.chunk_by(|a, b| a.boot == b.boot) {
            assert_eq!(boot[0].kind, TrialKind::Dry);
            assert!(boot[1..].iter().all(|t| t.kind == TrialKind::Counted));
        }
    }

    #[test]
    fn two_factors_that_need_boots_are_met_in_every_combination() {
        let mut plan = booted();
        plan.factors[0].reboot = true;
        let trials = order(&plan);
        assert_eq!((plan.boots(), trials.last().unwrap().boot), (16, 16));
        for boot in trials.chunk_by(|a, b| a.boot == b.boot) {
            assert!(boot.iter().all(|t| t.treatment == boot[0].treatment));
        }
    }

    #[test]
    fn each_side_goes_first_about_half_the_time() {
        let mut plan = small();
        plan.factors.truncate(1);
        plan.method.blocks = 500;
        let trials = order(&plan);
        let counted: Vec<&Trial> = trials.iter().filter(|t| t.block > 0).collect();
        let first = counted.chunks(2).filter(|pair| pair[0].treatment.levels["path"] == "one");
        let first = first.count();
        // 2000 pairs: the standard deviation is 22.
        assert!((910..=1090).contains(&first), "{first} of 2000");
    }

    /// A plan of one factor of so many levels, at two points.
    fn levels(count: usize, blocks: u32, seed: u64) -> Plan {
        let mut plan = small();
        plan.factors.truncate(1);
        let first = plan.factors[0].levels[0].clone();
        let named = |at: usize| Level { name: format!("l{at}"), ..first.clone() };
        plan.factors[0].levels = (0..count).map(named).collect();
        plan.loads.truncate(1);
        (plan.method.blocks, plan.method.seed, plan.method.dry) = (blocks, seed, false);
        plan
    }

    /// In how many of the first `blocks` blocks of each point each level precedes each other: the
    /// most there is.
    fn most_often_first(trials: &[Trial], blocks: u32) -> u32 {
        let mut first: BTreeMap<(u32, &str, &str), u32> = BTreeMap::new();
        let level = |t: &Trial| t.treatment.levels["path"].clone();
        let names: Vec<(u32, u32, String)> = trials
            .iter()
            .filter(|t| t.block <= blocks)
            .map(|t| (t.block, t.point_index, level(t)))
            .collect();
        for visits in names.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (at, (_, point, before)) in visits.iter().enumerate() {
                for (_, _, after) in &visits[at + 1..] {
                    *first.entry((*point, before.as_str(), after.as_str())).or_default() += 1;
                }
            }
        }
        first.into_values().max().unwrap()
    }

    /// 1,000 runs, each of every number of levels, and of each every number of blocks from 2 to
    /// 20 at which it may be ended.
    #[test]
    fn no_level_precedes_another_in_more_than_two_thirds_of_the_blocks_of_a_point() {
        for seed in 0..1000 {
            let count = [2, 3, 4, 6][seed % 4];
            let trials = order(&levels(count, 20, seed as u64));
            for blocks in 2..=20 {
                let most = most_often_first(&trials, blocks);
                assert!(most <= 2 * blocks / 3, "{count} levels, {blocks} blocks: {most}");
            }
        }
    }

    #[test]
    fn a_larger_number_of_blocks_leaves_the_first_as_they_are() {
        for blocks in 3..12 {
            let (short, long) = (order(&levels(3, blocks, 9)), order(&levels(3, 12, 9)));
            assert_eq!(short[..], long[..short.len()]);
        }
    }

    /// The reverse is all that is not drawn: of three levels all six orders are met, in odd blocks
    /// and in even ones, and points do not share them.
    #[test]
    fn orders_are_drawn_anew_in_every_pair_of_blocks() {
        let trials = order(&levels(3, 200, 4));
        let mut met: BTreeMap<(u32, Vec<String>), u32> = BTreeMap::new();
        let mut alike = 0;
        for block in trials.chunk_by(|a, b| a.block == b.block) {
            let mut orders: Vec<(u32, Vec<String>)> = block
                .chunk_by(|a, b| a.point_index == b.point_index)
                .map(|at| {
                    let names = at.iter().map(|t| t.treatment.levels["path"].clone());
                    (at[0].point_index, names.collect())
                })
                .collect();
            orders.sort();
            alike += u32::from(orders[0].1 == orders[1].1);
            *met.entry((block[0].block % 2, orders[0].1.clone())).or_default() += 1;
        }
        assert_eq!(met.len(), 12, "{met:?}");
        // 100 blocks of each kind, six orders: 16.7 each, with a standard deviation of 3.7.
        assert!(met.values().all(|count| (2..=32).contains(count)), "{met:?}");
        assert!((10..=60).contains(&alike), "{alike} of 200");
    }

    #[test]
    fn rounds_of_boots_are_counterbalanced_too() {
        for seed in 0..50 {
            let mut plan = booted();
            (plan.method.boots, plan.method.seed) = (9, seed);
            let trials = order(&plan);
            let rounds: Vec<Vec<String>> = trials
                .chunk_by(|a, b| a.round == b.round)
                .map(|round| {
                    let boots = round.chunk_by(|a, b| a.boot == b.boot);
                    boots.map(|boot| boot[0].treatment.levels["tso"].clone()).collect()
                })
                .collect();
            for ended in 2..=rounds.len() {
                let first = rounds[..ended].iter().filter(|round| round[0] == rounds[0][0]).count();
                let most = first.max(ended - first);
                assert!(most <= 2 * ended / 3, "{most} of {ended}");
            }
        }
    }
}
