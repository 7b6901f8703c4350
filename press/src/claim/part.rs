//! Knows the runs that an article is on, and which of their comparisons answer its question.
//!
//! Never: a comparison of a level with itself among those; that is the noise floor, not an answer.

use desk::record::Run;
use desk::verdict::{Analysis, Comparison, Verdict, was_carried};
use serde::{Deserialize, Serialize};

/// What a part of a survey is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The same level against itself.
    NoiseFloor,
    /// Two levels at one load.
    Duel,
    /// Two levels along a curve.
    Curve,
}

/// One run with its analysis, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it is for.
    pub role: Role,
    /// The run.
    pub run: &'a Run,
    /// What was concluded from it.
    pub analysis: &'a Analysis,
}

/// A comparison with the run it was made in.
pub type Judged<'a> = (&'a Run, &'a Comparison);

/// The comparisons of two levels that differ.
#[must_use]
pub fn asked<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    judged(parts, |role, c| role != Role::NoiseFloor && !c.aa)
}

/// The comparisons of a level with itself.
#[must_use]
pub fn same<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    judged(parts, |role, c| role == Role::NoiseFloor || c.aa)
}

fn judged<'a>(parts: &[Part<'a>], wanted: fn(Role, &Comparison) -> bool) -> Vec<Judged<'a>> {
    let of = |p: &Part<'a>| {
        let (role, run) = (p.role, p.run);
        p.analysis.comparisons.iter().filter(move |c| wanted(role, c)).map(move |c| (run, c))
    };
    parts.iter().flat_map(of).collect()
}

/// Comparisons in their order, those of one run with the same two levels together.
#[must_use]
pub fn grouped<'a>(asked: &[Judged<'a>]) -> Vec<Vec<Judged<'a>>> {
    let mut groups: Vec<Vec<Judged<'a>>> = Vec::new();
    for judged in asked {
        match groups.iter_mut().find(|g| is_of_one_pair(g[0], *judged)) {
            Some(group) => group.push(*judged),
            None => groups.push(vec![*judged]),
        }
    }
    groups
}

/// Whether two comparisons are of the same two levels of one run, by one metric.
#[must_use]
pub fn is_of_one_pair((run, a): Judged<'_>, (other_run, b): Judged<'_>) -> bool {
    let key = |c: &Comparison| [&c.factor, &c.base, &c.other, &c.metric].map(String::clone);
    run.id == other_run.id && run.plan.title == other_run.plan.title && key(a) == key(b)
}

/// The comparisons that can differ in the metric: where both levels carried the load that was set,
/// they moved the same by design, and only their cost is of interest. Neither are those whose sides
/// are not comparable. All, if all are such.
#[must_use]
pub fn decisive<'a>(parts: &[Part<'a>]) -> Vec<Judged<'a>> {
    let set = |(run, c): &Judged<'a>| {
        let part = parts.iter().find(|p| std::ptr::eq(p.run, *run));
        part.is_some_and(|part| was_carried(&part.analysis.limits, &c.id))
    };
    let free = |all: Vec<Judged<'a>>, bar: &dyn Fn(&Judged<'a>) -> bool| -> Vec<Judged<'a>> {
        let free: Vec<Judged<'a>> = all.iter().filter(|judged| !bar(judged)).copied().collect();
        if free.is_empty() { all } else { free }
    };
    free(free(asked(parts), &|(_, c)| c.verdict == Verdict::NotComparable), &set)
}

/// The primary comparison and the others, if the plan of the only part names one that was judged.
#[must_use]
pub fn primary<'a>(
    parts: &[Part<'a>],
    asked: &[Judged<'a>],
) -> Option<(Judged<'a>, Vec<Judged<'a>>)> {
    let [part] = parts else { return None };
    part.run.plan.method.primary_comparison.as_ref()?;
    let name = part.analysis.primary.as_ref()?;
    let (one, rest): (Vec<_>, Vec<_>) = asked.iter().partition(|(_, c)| c.id == *name);
    Some((*one.first()?, rest))
}
