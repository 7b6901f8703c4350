//! Knows which claims follow from the findings of the desk, one for each.

use super::names::{level_name, level_names, nature, shown};
use super::part::{Judged, Part, Role, same};
use super::{Claim, Evidence, Kind, Named, Subjects, Topic, several};
use desk::record::{Better, Run};
use desk::stats::Estimate;
use desk::unit::Quantity;
use desk::verdict::{
    Advice, Comparison, Cost, Index, Interaction, Limit, RankedPair, Ranking, Region, Verdict,
    is_beyond, objection,
};

/// Everything that is claimed of some parts: the answer first, then finding by finding.
#[must_use]
pub fn claims(parts: &[Part<'_>]) -> Vec<Claim> {
    let mut all: Vec<Claim> = several::answers(parts);
    for (run, c) in same(parts) {
        all.push(Claim { topic: Topic::Noise, kind: Kind::Shown, ..of_comparison((run, c)) });
    }
    for part in parts.iter().filter(|part| part.role != Role::NoiseFloor) {
        let (run, found) = (part.run, part.analysis);
        let tested = || found.comparisons.iter().chain(&found.others).filter(|c| !c.aa);
        for c in tested() {
            all.push(of_comparison((run, c)));
            all.extend(c.regions.iter().map(|region| of_region((run, c), region)));
        }
        all.extend(found.rankings.iter().map(|one| of_order(part, one)));
        all.extend(found.indexes.iter().map(|one| of_index(run, one)));
        all.extend(found.interactions.iter().map(|one| of_interaction(run, one)));
        let of = |id: &str| found.comparisons.iter().find(|c| c.id == id);
        for cost in found.costs.iter().filter(|cost| !cost.cpu.aa) {
            all.extend([&cost.per_work, &cost.index].map(|c| of_cost(run, (cost, c))));
        }
        let limits =
            found.limits.iter().filter_map(|l| Some(of_limit((run, of(&l.comparison)?), l)));
        all.extend(limits);
        let advice =
            found.advice.iter().filter_map(|a| Some(of_advice((run, of(&a.comparison)?), a)));
        all.extend(advice);
    }
    all
}

/// The verdict on a comparison.
#[must_use]
pub fn of_comparison((run, c): Judged<'_>) -> Claim {
    let more = match c.verdict {
        Verdict::Undecided { more_blocks } => more_blocks,
        _ => None,
    };
    Claim {
        topic: Topic::Comparison,
        kind: Kind::of_whole(c),
        subjects: subjects(run, c),
        estimates: vec![c.overall.clone()],
        evidence: Evidence { more, ..evidence(c) },
        parts: Vec::new(),
    }
}

/// Of whom a comparison is, and under what it holds.
#[must_use]
pub fn subjects(run: &Run, c: &Comparison) -> Subjects {
    let [base, other] = level_names(run, c);
    let named = |key: &str, name| Named { key: key.to_owned(), name };
    let title = run.metric(&c.load, &c.metric).map(|m| m.title.clone());
    Subjects {
        factor: c.factor.clone(),
        levels: vec![named(&c.base, base), named(&c.other, other)],
        load: c.load.clone(),
        condition: nature(&run.plan, &c.fixed, &c.stratum),
        metric: named(&c.metric, title.unwrap_or_default()),
        ..of_run(run)
    }
}

fn of_run(run: &Run) -> Subjects {
    Subjects {
        run: run.id.clone(),
        plan: run.plan.title.clone(),
        among_loads: run.plan.loads.len() > 1,
        ..Subjects::default()
    }
}

fn evidence(c: &Comparison) -> Evidence {
    Evidence { curve: c.curve.clone(), ..bare(vec![c.id.clone()], (c.overall.n, c.margin)) }
}

pub(super) const fn bare(comparisons: Vec<String>, (n, margin): (u32, Quantity)) -> Evidence {
    Evidence {
        comparisons,
        n,
        margin,
        conditions: 0,
        replicate: None,
        curve: None,
        more: None,
        withheld: None,
    }
}

/// What a level is called in a plan and in a text.
fn level(run: &Run, factor: &str, level: &str) -> Named {
    Named { key: level.to_owned(), name: level_name(&run.plan, factor, level) }
}

/// What a metric is called by the run; its name is empty where the desk derives it.
fn metric(run: &Run, key: &str) -> Named {
    let known = run.metrics.iter().find(|m| m.name == key);
    Named { key: key.to_owned(), name: known.map(|m| m.title.clone()).unwrap_or_default() }
}

/// A stretch on which one side is ahead: better where the other level is.
#[must_use]
pub fn of_region((run, c): Judged<'_>, region: &Region) -> Claim {
    let places = Some([shown(&region.from), shown(&region.to)]);
    let ends = match region.least.distance() <= region.most.distance() {
        true => [&region.least, &region.most],
        false => [&region.most, &region.least],
    };
    Claim {
        topic: Topic::Region,
        kind: if region.other_ahead { Kind::Better } else { Kind::Worse },
        subjects: Subjects { places, ..subjects(run, c) },
        estimates: ends.map(Estimate::clone).to_vec(),
        evidence: evidence(c),
        parts: Vec::new(),
    }
}

/// The stretches of a comparison on which one side is ahead by more than the margin, of those that
/// are wanted.
#[must_use]
pub fn regions((run, c): Judged<'_>, ahead: bool, wanted: impl Fn(&Region) -> bool) -> Vec<Claim> {
    let beyond = |r: &&Region| r.other_ahead == ahead && is_beyond(r, c.margin.value) && wanted(r);
    c.regions.iter().filter(beyond).map(|region| of_region((run, c), region)).collect()
}

/// Two levels over all loads and strata.
#[must_use]
pub fn of_index(run: &Run, one: &Index) -> Claim {
    let margin = run.plan.method.margin;
    Claim {
        topic: Topic::Index,
        kind: Kind::of(one.verdict, (&one.ratio, margin), better(run, &one.metric)),
        subjects: Subjects {
            factor: one.factor.clone(),
            levels: [&one.base, &one.other].map(|l| level(run, &one.factor, l)).to_vec(),
            metric: metric(run, &one.metric),
            ..of_run(run)
        },
        estimates: vec![one.ratio.clone()],
        evidence: bare(one.over.clone(), (one.ratio.n, margin)),
        parts: Vec::new(),
    }
}

fn better(run: &Run, metric: &str) -> Better {
    run.metrics.iter().find(|m| m.name == metric).map_or(Better::Higher, |m| m.better)
}

/// Whether an effect depends on another factor.
#[must_use]
pub fn of_interaction(run: &Run, one: &Interaction) -> Claim {
    let (plan, margin) = (&run.plan, run.plan.method.margin);
    Claim {
        topic: Topic::Interaction,
        kind: Kind::of(one.verdict, (&one.difference, margin), Better::Higher),
        subjects: Subjects {
            factor: one.factor.clone(),
            levels: [&one.base, &one.other].map(|l| level(run, &one.factor, l)).to_vec(),
            load: one.load.clone(),
            condition: nature(plan, &one.fixed, &one.stratum),
            metric: metric(run, &one.metric),
            under: [&one.by_base, &one.by_other].map(|l| level(run, &one.by, l)).to_vec(),
            ..of_run(run)
        },
        estimates: [&one.difference, &one.first, &one.second].map(Estimate::clone).to_vec(),
        evidence: Evidence {
            replicate: Some(plan.replicate_of(&[&one.factor, &one.by])),
            ..bare(Vec::new(), (one.difference.n, margin))
        },
        parts: Vec::new(),
    }
}

/// One figure of a cost, with the reason where it has no verdict.
#[must_use]
pub fn of_cost(run: &Run, (cost, c): (&Cost, &Comparison)) -> Claim {
    let claim = of_comparison((run, c));
    let withheld = objection(cost, &c.metric);
    let kind = if withheld.is_some() { Kind::Withheld } else { claim.kind };
    let evidence = Evidence { withheld, ..claim.evidence };
    let topic = if c.better == Better::Higher { Topic::Efficiency } else { Topic::Cost };
    Claim { topic, kind, evidence, ..claim }
}

/// What was full under a level.
fn of_limit((run, c): Judged<'_>, limit: &Limit) -> Claim {
    let levels = vec![level(run, &c.factor, &limit.level)];
    let limits = limit.named().collect();
    Claim {
        topic: Topic::Limit,
        kind: Kind::Full,
        subjects: Subjects { levels, limits, ..subjects(run, c) },
        estimates: vec![limit.evidence.clone()],
        evidence: evidence(c),
        parts: Vec::new(),
    }
}

/// What a kind of reader should take: better where that is the level and not the baseline.
#[must_use]
pub fn of_advice((run, c): Judged<'_>, advice: &Advice) -> Claim {
    let kind = match (&advice.choice, &advice.withheld) {
        (Some(choice), _) if *choice == c.base => Kind::Worse,
        (Some(_), _) => Kind::Better,
        (None, Some(_)) => Kind::Withheld,
        (None, None) if advice.verdict == Verdict::Equivalent => Kind::Equivalent,
        (None, None) => Kind::Undecided,
    };
    let of = subjects(run, c);
    let metric = metric(run, &advice.metric);
    let evidence =
        Evidence { withheld: advice.withheld.clone(), n: advice.effect.n, ..evidence(c) };
    Claim {
        topic: Topic::Advice,
        kind,
        subjects: Subjects { metric, reader: Some(advice.reader), ..of },
        estimates: vec![advice.effect.clone()],
        evidence,
        parts: Vec::new(),
    }
}

/// The order of several levels: who is first, and by how much against the nearest.
#[must_use]
pub fn of_order(part: &Part<'_>, of: &Ranking) -> Claim {
    let run = part.run;
    let (kind, nearest) = first_place(of);
    let next = nearest.map(|pair| &pair.worse);
    let margin = of.margin;
    let subjects = Subjects {
        factor: of.factor.clone(),
        levels: of.first.iter().chain(next).map(|l| level(run, &of.factor, l)).collect(),
        load: of.load.clone().unwrap_or_default(),
        condition: nature(&run.plan, &of.fixed, &of.stratum),
        metric: metric(run, &of.metric),
        ..of_run(run)
    };
    let n = of.pairs.iter().map(|pair| pair.ratio.n).min().unwrap_or(0);
    let under = |r: &&Ranking| of.load.is_none() && r.factor == of.factor && r.load.is_some();
    let conditions = part.analysis.rankings.iter().filter(under).count();
    let conditions = u32::try_from(conditions).unwrap_or(u32::MAX);
    let place = |one: &desk::verdict::RankedLevel| Claim {
        topic: Topic::Place,
        kind: if one.level == of.base { Kind::Baseline } else { Kind::Ranked },
        subjects: Subjects {
            levels: vec![level(run, &of.factor, &one.level)],
            ranks: Some([one.from, one.to]),
            ..subjects.clone()
        },
        estimates: vec![one.ratio.clone()],
        evidence: bare(of.over.clone(), (one.ratio.n, margin)),
        parts: Vec::new(),
    };
    Claim {
        topic: Topic::Order,
        kind,
        estimates: nearest.map(|pair| pair.ratio.clone()).into_iter().collect(),
        evidence: Evidence { conditions, ..bare(of.over.clone(), (n, margin)) },
        parts: of.levels.iter().map(place).collect(),
        subjects,
    }
}

/// Who holds the first place; of a single level also the one nearest to it.
fn first_place(of: &Ranking) -> (Kind, Option<&RankedPair>) {
    if of.pairs.iter().all(|pair| !pair.differs) {
        let even = of.pairs.iter().all(|pair| pair.equivalent);
        return (if even { Kind::Equivalent } else { Kind::Undecided }, None);
    }
    let [winner] = of.first.as_slice() else { return (Kind::Shared, None) };
    let by = |pair: &&RankedPair| pair.ratio.distance();
    let behind = of.pairs.iter().filter(|pair| pair.better == *winner);
    let nearest = behind.min_by(|a, b| by(a).total_cmp(&by(b)));
    let room = 1.0 + of.margin.value;
    let inside =
        nearest.is_some_and(|p| p.ratio.low.value > 1.0 / room && p.ratio.high.value < room);
    (if inside { Kind::FirstInside } else { Kind::First }, nearest)
}
