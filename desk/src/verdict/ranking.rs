//! Knows in which order the levels of a factor stand and which of them share a rank; never why.

use super::compared::{Asked, Compared, by_condition};
use super::interaction::{Number, block_means};
use super::pairing::Contest;
use super::ranks::{RankedLevel, RankedPair, Ranking};
use super::winner::{Rule, fixed_words, name};
use crate::record::{Better, Plan};
use crate::stats::{
    self, Estimate, JUDGED_FROM, decide, equivalence_p, every_two, holm_adjusted, mean,
    shared_ranks,
};
use crate::unit::{Quantity, Unit};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Fewest levels that have an order worth telling.
const FEWEST: usize = 3;

/// Block (or round of boots) and log ratio.
type Logs = Vec<(u32, f64)>;

/// The rankings of every factor with three levels or more, the compared one first: one for every
/// load, stratum and set of parameters, and one over all of those whose load was not set.
pub(super) fn rankings(
    plan: &Plan,
    compared: &Compared<'_>,
    others: &[Compared<'_>],
) -> Vec<Ranking> {
    let all = [compared].into_iter().chain(others);
    all.flat_map(|compared| of_factor(plan, &compared.asked)).collect()
}

fn of_factor(plan: &Plan, asked: &[Asked<'_>]) -> Vec<Ranking> {
    let fields: Vec<Field<'_, '_>> = by_condition(asked).filter_map(Field::of).collect();
    let mut all: Vec<Ranking> = fields.iter().filter_map(Field::ranking).collect();
    // Loads that go by different metrics have no common order.
    let alike = |a: &Field<'_, '_>, b: &Field<'_, '_>| kind(plan, a.one) == kind(plan, b.one);
    if fields.windows(2).all(|two| alike(&two[0], &two[1])) {
        all.extend(over_all(plan, &fields));
    }
    all
}

/// What loads must share to be put together: their workload and the metric that decides.
fn kind<'p>(plan: &'p Plan, contest: &Contest<'p>) -> (&'p str, &'p str) {
    (&contest.load.workload, plan.primary(&contest.load.name))
}

/// The levels of a factor under one condition, with the log ratios of each to the baseline.
struct Field<'c, 'r> {
    /// Any contest of it.
    one: &'c Contest<'r>,
    rule: Rule<'r>,
    /// Names of the comparisons.
    over: Vec<String>,
    /// The baseline, then the levels that can be ranked.
    names: Vec<String>,
    /// Log ratios by block, in the order of `names`; those of the baseline are 0.
    blocks: Vec<Logs>,
    /// The same by round of boots.
    rounds: Vec<Logs>,
    unranked: Vec<String>,
}

impl<'c, 'r> Field<'c, 'r> {
    /// None of fewer than three levels that can be ranked.
    ///
    /// A level that comes to the same settings as the baseline, has two states at every point, or
    /// fewer than two blocks has no rank. All others are ranked over the points at which each of
    /// them has one state, so that every pair of them is compared over the same.
    fn of(group: &'c [Asked<'r>]) -> Option<Self> {
        let Asked { contest: one, rule, .. } = group.first()?;
        let points = one.points.len();
        let has_place = |one: &Asked<'_>| (0..points).any(|at| one.is_whole(at));
        let ranked: Vec<&Asked<'r>> =
            group.iter().filter(|one| !one.contest.aa && has_place(one)).collect();
        let shared: Vec<usize> =
            (0..points).filter(|at| ranked.iter().all(|one| one.is_whole(*at))).collect();
        if shared.is_empty() {
            return None;
        }
        let of = |c: &Contest<'_>, number: Number| -> Logs {
            block_means(c, &shared, number).into_iter().collect()
        };
        let (mut names, mut over) = (vec![one.base.name.clone()], Vec::new());
        let (mut blocks, mut rounds) = (vec![Vec::new()], vec![Vec::new()]);
        for Asked { contest, .. } in ranked {
            let logs = of(contest, |pair| pair.block);
            if logs.len() > 1 {
                names.push(contest.other.name.clone());
                over.push(name(contest));
                rounds.push(of(contest, |pair| pair.round));
                blocks.push(logs);
            }
        }
        for all in [&mut blocks, &mut rounds] {
            let met: BTreeSet<u32> = all.iter().flatten().map(|(number, _)| *number).collect();
            all[0] = met.into_iter().map(|number| (number, 0.0)).collect();
        }
        let levels = group.iter().map(|one| &one.contest.other.name);
        let unranked = levels.filter(|level| !names.contains(level)).cloned().collect();
        let rule = *rule;
        (names.len() >= FEWEST).then_some(Self { one, rule, over, names, blocks, rounds, unranked })
    }

    fn ranking(&self) -> Option<Ranking> {
        let judged = judge(&self.names, &self.blocks, self.rule)?;
        let one = self.one;
        let mut parts = vec!["rank".to_owned(), one.factor.name.clone()];
        if !one.only_load {
            parts.push(one.load.name.clone());
        }
        let strata = one.stratum.iter();
        parts.extend(strata.flat_map(|(key, level)| [key.clone(), level.clone()]));
        parts.extend(fixed_words(&one.fixed));
        Some(Ranking {
            id: slug(&parts),
            factor: one.factor.name.clone(),
            base: one.base.name.clone(),
            stratum: one.stratum.clone(),
            fixed: one.fixed.clone(),
            load: Some(one.load.name.clone()),
            over: self.over.clone(),
            unranked: self.unranked.clone(),
            ..judged
        })
    }
}

fn slug(parts: &[String]) -> String {
    let slug = |c: char| if c.is_alphanumeric() { c } else { '-' };
    parts.join("-").to_lowercase().chars().map(slug).collect()
}

/// The levels that every field has, by their mean log ratios within each whole block over the
/// fields whose load was not set. None of one field.
fn over_all(plan: &Plan, fields: &[Field<'_, '_>]) -> Option<Ranking> {
    let free = |f: &&Field<'_, '_>| !f.one.load.is_paced(&f.one.fixed);
    let fields: Vec<&Field<'_, '_>> = fields.iter().filter(free).collect();
    let first = *fields.first().filter(|_| fields.len() > 1)?;
    let everywhere = |name: &&String| fields.iter().all(|f| f.names.contains(name));
    let names: Vec<String> = first.names.iter().filter(everywhere).cloned().collect();
    if names.len() < FEWEST {
        return None;
    }
    // What was measured in different boots shares no block, but a round.
    let apart = |factor: &str| {
        fields.iter().map(|f| f.one.stratum.get(factor)).collect::<BTreeSet<_>>().len() > 1
    };
    let by_round = plan.rebooted().any(|factor| apart(&factor.name));
    let logs = |name: &String| -> Logs {
        let of = |f: &&'_ Field<'_, '_>| {
            let at = f.names.iter().position(|n| n == name)?;
            Some(if by_round { f.rounds[at].clone() } else { f.blocks[at].clone() })
        };
        let series: Vec<Logs> = fields.iter().filter_map(of).collect();
        stats::block_means(&series.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let logs: Vec<Logs> = names.iter().map(logs).collect();
    let judged = judge(&names, &logs, first.rule)?;
    let all: BTreeSet<&String> =
        fields.iter().flat_map(|f| f.names.iter().chain(&f.unranked)).collect();
    let unranked = all.into_iter().filter(|level| !names.contains(level)).cloned().collect();
    let factor = first.one.factor.name.clone();
    Some(Ranking {
        id: slug(&["rank".into(), factor.clone(), "over-all".into()]),
        factor,
        base: first.one.base.name.clone(),
        over: fields.iter().flat_map(|f| f.over.clone()).collect(),
        unranked,
        ..judged
    })
}

/// A pair of levels by their places, with the log ratios first / second of the blocks of both.
struct Pair {
    places: (usize, usize),
    logs: Logs,
}

impl Pair {
    fn of(places: (usize, usize), all: &[Logs]) -> Self {
        let second: BTreeMap<u32, f64> = all[places.1].iter().copied().collect();
        let both = all[places.0].iter().filter_map(|(b, x)| Some((*b, x - second.get(b)?)));
        Self { places, logs: both.collect() }
    }

    fn values(&self) -> Vec<f64> {
        self.logs.iter().map(|(_, log)| *log).collect()
    }
}

/// Judges all pairs of levels by their log ratios to the first. None where a level has no block.
fn judge(names: &[String], all: &[Logs], rule: Rule<'_>) -> Option<Ranking> {
    let (method, sign) =
        (rule.method, if rule.metric.better == Better::Higher { 1.0 } else { -1.0 });
    let pairs: Vec<Pair> =
        every_two(names.len()).into_iter().map(|places| Pair::of(places, all)).collect();
    let even = |p: &Pair| {
        let judged = p.logs.len() >= JUDGED_FROM;
        equivalence_p(&p.values(), method.margin.value).filter(|_| judged).unwrap_or(1.0)
    };
    let even = holm_adjusted(&pairs.iter().map(even).collect::<Vec<f64>>());
    let alpha = method.alpha();
    let ratio = |logs: &[f64]| Some(decide(logs, method.rule())?.ratio);
    let mut told = Vec::new();
    for (pair, even) in pairs.iter().zip(even) {
        let values = pair.values();
        let (a, b) = pair.places;
        let ahead = values.is_empty() || sign * mean(&values) >= 0.0;
        let ((better, worse), turn) = if ahead { ((a, b), 1.0) } else { ((b, a), -1.0) };
        told.push(RankedPair {
            better: names[better].clone(),
            worse: names[worse].clone(),
            ratio: ratio(&values.iter().map(|x| turn * x).collect::<Vec<_>>())?,
            together: None,
            differs: false,
            equivalent: even <= alpha,
            blocks: pair.logs.clone(),
        });
    }
    let mut ranking = Ranking {
        id: String::new(),
        factor: String::new(),
        base: String::new(),
        stratum: BTreeMap::new(),
        fixed: BTreeMap::new(),
        load: None,
        over: Vec::new(),
        metric: rule.metric.name.clone(),
        better: rule.metric.better,
        margin: method.margin,
        first: Vec::new(),
        levels: levels(names, all, ratio)?,
        pairs: told,
        unranked: Vec::new(),
    };
    place(&mut ranking);
    Some(ranking)
}

/// The levels with their ratios to the first, not yet in order.
fn levels(
    names: &[String],
    all: &[Logs],
    ratio: impl Fn(&[f64]) -> Option<Estimate>,
) -> Option<Vec<RankedLevel>> {
    let level = |(at, name): (usize, &String)| {
        let logs: Vec<f64> = all[at].iter().map(|(_, log)| *log).collect();
        let ratio = match at {
            0 => Estimate::exact(Quantity::new(1.0, Unit::Ratio)),
            _ => ratio(&logs)?,
        };
        Some(RankedLevel { level: name.clone(), ratio, from: 1, to: 1, alike: Vec::new() })
    };
    names.iter().enumerate().map(level).collect()
}

/// Ranks the levels by the pairs that are told apart, the best first: by their ranks, of equal ones
/// by their centres.
pub(super) fn place(ranking: &mut Ranking) {
    let names: Vec<String> = ranking.levels.iter().map(|l| l.level.clone()).collect();
    let at = |level: &String| names.iter().position(|name| name == level);
    let apart = ranking.pairs.iter().filter(|pair| pair.differs);
    let shown: Vec<(usize, usize)> =
        apart.filter_map(|pair| Some((at(&pair.better)?, at(&pair.worse)?))).collect();
    for (level, rank) in ranking.levels.iter_mut().zip(shared_ranks(names.len(), &shown)) {
        (level.from, level.to) = (rank.from, rank.to);
    }
    let sign = if ranking.better == Better::Higher { 1.0 } else { -1.0 };
    let goodness = |level: &RankedLevel| sign * level.ratio.centre.value.ln();
    let order = |a: &RankedLevel, b: &RankedLevel| -> Ordering {
        let ranks = (a.from, a.to).cmp(&(b.from, b.to));
        ranks.then(goodness(b).total_cmp(&goodness(a)))
    };
    ranking.levels.sort_by(order);
    let ordered: Vec<String> = ranking.levels.iter().map(|l| l.level.clone()).collect();
    let is_apart = |a: &String, b: &String| {
        let both = at(a).zip(at(b));
        both.is_some_and(|(a, b)| shown.contains(&(a, b)) || shown.contains(&(b, a)))
    };
    for level in &mut ranking.levels {
        let name = &level.level;
        let alike = ordered.iter().filter(|other| *other != name && !is_apart(name, other));
        level.alike = alike.cloned().collect();
    }
    ranking.first = first(&ranking.levels);
}

/// Who holds the first place: all that nobody is shown better than; with a single such level that
/// is not shown better than all others, those it was not told apart from share it.
fn first(levels: &[RankedLevel]) -> Vec<String> {
    let best: Vec<&RankedLevel> = levels.iter().filter(|l| l.from == 1).collect();
    let mut names: Vec<String> = best.iter().map(|l| l.level.clone()).collect();
    if let [only] = best[..] {
        names.extend(only.alike.iter().cloned());
    }
    names
}
