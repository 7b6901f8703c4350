//! Knows what several comparisons say together, and which claims answer the question of a run.

use super::of::{bare, of_comparison, of_order, regions};
use super::part::{Judged, Part, decisive, grouped, is_of_one_pair, primary};
use super::{Claim, Kind, Subjects, Topic};
use desk::record::Better;
use desk::verdict::{Comparison, Ranking, Verdict, largest_gain, tried};

/// Up to this many conditions are told apart in a sentence.
const SIDES: usize = 4;
/// A level that is better by this factor under one condition only is the news of a survey.
const LARGE: f64 = 1.5;

/// Comparisons whose outcome is one of these, in their order.
#[must_use]
pub fn of_outcome<'a>(asked: &[Judged<'a>], outcomes: &[Kind]) -> Vec<Judged<'a>> {
    let is = |(_, c): &&Judged<'_>| outcomes.contains(&Kind::of_whole(c).coarse());
    asked.iter().filter(is).copied().collect()
}

/// Whether the same two levels came out differently under different conditions.
#[must_use]
pub fn is_split(group: &[Judged<'_>]) -> bool {
    let outcome = |judged: &Judged<'_>| Kind::of_whole(judged.1).coarse();
    let differ = group.windows(2).any(|w| outcome(&w[0]) != outcome(&w[1]));
    differ && group.len() <= SIDES
}

/// The comparisons with the smallest and with the largest effect.
#[must_use]
pub fn extremes<'a>(group: &[Judged<'a>]) -> Option<[&'a Comparison; 2]> {
    let by =
        |a: &&Comparison, b: &&Comparison| a.overall.distance().total_cmp(&b.overall.distance());
    let all = || group.iter().map(|(_, c)| *c);
    Some([all().min_by(by)?, all().max_by(by)?])
}

/// What comparisons say together: of one its verdict, of several of two levels what they have in
/// common. Stretches of curves that say otherwise are its parts. None for no comparison.
#[must_use]
pub fn together(group: &[Judged<'_>]) -> Option<Claim> {
    let first = group.first()?;
    let one = of_comparison(*first);
    if let [only] = group {
        return Some(Claim { parts: otherwise(*only), ..one });
    }
    let one_pair = group.iter().all(|judged| is_of_one_pair(*first, *judged));
    let kind = kind(group, one_pair);
    let ahead = match kind {
        Kind::MostBetter => of_outcome(group, &[Kind::Better]),
        Kind::MostWorse => of_outcome(group, &[Kind::Worse]),
        _ => group.to_vec(),
    };
    let estimates = extremes(&ahead)?.map(|c| c.overall.clone()).to_vec();
    let each = |judged: &Judged<'_>| Claim { parts: otherwise(*judged), ..of_comparison(*judged) };
    let ids = group.iter().map(|(_, c)| c.id.clone()).collect();
    Some(Claim {
        topic: Topic::Comparisons,
        kind,
        subjects: Subjects { load: String::new(), condition: Vec::new(), ..one.subjects },
        estimates,
        evidence: bare(ids, (one.evidence.n, one.evidence.margin)),
        parts: group.iter().map(each).collect(),
    })
}

fn kind(group: &[Judged<'_>], one_pair: bool) -> Kind {
    let many = |kind: Kind| of_outcome(group, &[kind]).len();
    let (better, worse, even) = (many(Kind::Better), many(Kind::Worse), many(Kind::Equivalent));
    let all = group.len();
    match (better, worse) {
        _ if even + better + worse == 0 => Kind::Undecided,
        _ if !one_pair => Kind::Tally,
        _ if is_split(group) => Kind::Split,
        _ if better == all => Kind::Better,
        _ if worse == all => Kind::Worse,
        _ if even == all => Kind::Equivalent,
        (1.., 0) => Kind::MostBetter,
        (0, 1..) => Kind::MostWorse,
        (0, 0) => Kind::Neither,
        _ => Kind::Mixed,
    }
}

/// Stretches of a curve where the side is ahead that is not on the whole.
fn otherwise(judged: Judged<'_>) -> Vec<Claim> {
    let whole = Kind::of_whole(judged.1);
    let against = |(ahead, kind): (bool, Kind)| match whole == kind {
        true => Vec::new(),
        false => regions(judged, ahead, |_| true),
    };
    [(true, Kind::Better), (false, Kind::Worse)].into_iter().flat_map(against).collect()
}

/// The ranking that answers the question of a run as a whole: its only one, or the one over all
/// conditions; none where the plan compares two levels or names a primary comparison.
#[must_use]
pub fn answering<'a>(part: &Part<'a>, asked: &[Judged<'_>]) -> Option<&'a Ranking> {
    if part.run.plan.method.primary_comparison.is_some() {
        return None;
    }
    let compared = &part.run.plan.method.compare;
    let counts =
        |r: &&Ranking| r.factor == *compared && asked.iter().any(|(_, c)| r.over.contains(&c.id));
    let all = part.analysis.rankings.iter().filter(counts);
    let (over, under): (Vec<&Ranking>, Vec<&Ranking>) = all.partition(|r| r.load.is_none());
    let is_under = |of: &Ranking, c: &Comparison| {
        (of.load.as_ref(), &of.stratum, &of.fixed) == (Some(&c.load), &c.stratum, &c.fixed)
    };
    match (over.as_slice(), under.as_slice()) {
        ([whole, ..], _) => Some(*whole),
        // Where some of the conditions have no ranking, the one that has is not the whole answer.
        ([], [only]) if asked.iter().all(|(_, c)| is_under(only, c)) => Some(*only),
        _ => None,
    }
}

/// The claim that answers the question, then one for each pair of levels where there are several:
/// the primary comparison of a plan, the order of three levels or more, the largest gain of the
/// settings that were tried, or what the comparisons say together. Nothing where nothing was
/// compared.
#[must_use]
pub fn answers(parts: &[Part<'_>]) -> Vec<Claim> {
    let asked = decisive(parts);
    // Where machines are emulated no comparison has a verdict, and one says why.
    if let Some(emulated) = asked.iter().find(|(_, c)| c.verdict == Verdict::Emulated) {
        return vec![of_comparison(*emulated)];
    }
    if let Some((one, _)) = primary(parts, &asked) {
        return together(&[one]).into_iter().collect();
    }
    if let [part] = parts
        && let Some(order) = answering(part, &asked)
    {
        return vec![of_order(part, order)];
    }
    let runs = parts.iter().map(|part| (part.run, part.analysis));
    if let Some(best) = largest_gain(runs) {
        return vec![of_comparison(best)];
    }
    let runs = parts.iter().map(|part| (part.run, part.analysis));
    let tried: Vec<Judged<'_>> = tried(runs).collect();
    if !tried.is_empty() {
        return together(&tried).into_iter().collect();
    }
    let groups = grouped(&asked);
    let rest: Vec<Claim> = groups.iter().filter_map(|group| together(group)).collect();
    match groups.as_slice() {
        [] | [_] => rest,
        _ => of_survey(&groups, &asked).into_iter().chain(rest).collect(),
    }
}

/// The split that nobody would guess, else the largest effect that is sure and not within the
/// margin, else the count.
fn of_survey(groups: &[Vec<Judged<'_>>], asked: &[Judged<'_>]) -> Option<Claim> {
    if let Some(group) = groups.iter().find(|g| is_split(g) && is_news(g)) {
        return together(group);
    }
    let nearest = |judged: &Judged<'_>| judged.1.overall.nearest();
    let decided = of_outcome(asked, &[Kind::Better, Kind::Worse]);
    match decided.into_iter().max_by(|a, b| nearest(a).total_cmp(&nearest(b))) {
        Some(most) => Some(of_comparison(most)),
        None => together(asked),
    }
}

/// Much better under one condition and surely not under another: a side that is undecided is no
/// news, so that a large effect that is sure goes before it.
fn is_news(group: &[Judged<'_>]) -> bool {
    let gain = |c: &Comparison| match c.better {
        Better::Higher => c.overall.centre.value,
        Better::Lower => 1.0 / c.overall.centre.value,
    };
    let large = |c: &Comparison| c.verdict == Verdict::Better && gain(c) >= LARGE;
    let not = |c: &Comparison| matches!(c.verdict, Verdict::Worse | Verdict::Equivalent);
    group.iter().any(|(_, c)| large(c)) && group.iter().all(|(_, c)| large(c) || not(c))
}
