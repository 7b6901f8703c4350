//! Knows how the article of a bundle is made again.

use super::{Asked, Bundle, Judged, PartBundle};
use crate::report::compose::{
    Part, Role, compose, compose_comparison, compose_gate, compose_survey,
};
use crate::report::document::Document;
use crate::report::error::ReportError;
use desk::record::Run;
use desk::verdict::{
    Sides, Wanted, analyse, analyse_part, compare_sessions, gate, gated, judged_together,
};

impl Bundle<'_> {
    /// The article that these runs make.
    ///
    /// # Errors
    /// No run, missing words, or a comparison of what the runs have not.
    pub fn document(&self) -> Result<Document, ReportError> {
        match (&self.compare, self.parts.as_slice()) {
            (_, []) => Err(ReportError::NoRun),
            (Some(asked), parts) => compared(parts, asked),
            (_, [PartBundle { role: None, run }]) => match &self.gate {
                Some(asked) => judged(run, asked),
                None => compose(run, &analyse(run)),
            },
            (_, parts) => {
                let together = judged_together(parts.iter().map(|p| &p.run.plan));
                let analyses: Vec<_> =
                    parts.iter().map(|p| analyse_part(&p.run, together)).collect();
                let rows: Vec<Part<'_>> = parts
                    .iter()
                    .zip(&analyses)
                    .map(|(part, analysis)| {
                        let run: &Run = &part.run;
                        let role = part.role.unwrap_or_else(|| Role::of(run));
                        Part { role, run, analysis }
                    })
                    .collect();
                compose_survey(&rows)
            }
        }
    }
}

/// How many of the runs are sessions of either side.
fn sides(asked: &Asked) -> [usize; 2] {
    asked.sessions.unwrap_or([1, 1])
}

fn compared(parts: &[PartBundle<'_>], asked: &Asked) -> Result<Document, ReportError> {
    let runs: Vec<&Run> = parts.iter().map(|part| part.run.as_ref()).collect();
    let [of_a, of_b] = sides(asked);
    let (a, rest) = runs.split_at_checked(of_a).ok_or(ReportError::NoRun)?;
    let (b, others) = rest.split_at_checked(of_b).ok_or(ReportError::NoRun)?;
    let ([first, ..], [second, ..]) = (a, b) else { return Err(ReportError::NoRun) };
    let wanted = Wanted { metric: asked.metric.as_deref(), force: asked.force };
    let found = compare_sessions(Sides { a, b, others }, wanted)
        .map_err(|e| ReportError::Bundle(e.to_string()))?;
    compose_comparison(first, second, &found)
}

fn judged(run: &Run, asked: &Judged) -> Result<Document, ReportError> {
    let metric = asked.metric.as_deref();
    let run = gated(run, metric).map_err(|e| ReportError::Bundle(e.to_string()))?;
    let analysis = analyse(&run);
    compose_gate(&run, &analysis, &gate(&run, &analysis, asked.fail_if, metric))
}

impl Bundle<'_> {
    /// The commands that bring the runs back and make the same page again, a line each.
    #[must_use]
    pub(in crate::report) fn commands(&self) -> String {
        format!("stend import report.html\nstend {}", self.command())
    }

    /// Verb and options that make the same page again once the store has the runs.
    #[must_use]
    pub fn command(&self) -> String {
        let ids: Vec<&str> = self.parts.iter().map(|p| p.run.id.as_str()).collect();
        let by = |metric: &Option<String>| metric.as_ref().map(|name| format!(" --metric {name}"));
        if let (Some(asked), [id]) = (&self.gate, ids.as_slice()) {
            let (rule, metric) = (asked.fail_if.word(), by(&asked.metric).unwrap_or_default());
            // A gate over a kept run writes files only where it is told to.
            return format!("gate --run {id} --fail-if {rule}{metric} --out stend-out/{id}");
        }
        match (&self.compare, ids.as_slice()) {
            (Some(asked), all) => {
                let (metric, [a, b]) = (by(&asked.metric).unwrap_or_default(), sides(asked));
                let force = if asked.force { " --force" } else { "" };
                let side = |skip, most| -> String {
                    let ids: Vec<&str> = all.iter().copied().skip(skip).take(most).collect();
                    ids.join(",")
                };
                // The store may have further sessions, which this comparison did not have.
                let others = match all.len().saturating_sub(a.saturating_add(b)) {
                    0 => " --alone".to_owned(),
                    more => format!(" --spread {}", side(a + b, more)),
                };
                format!("compare {} {}{metric}{force}{others}", side(0, a), side(a, b))
            }
            (None, [_]) if self.parts.iter().any(|p| p.role.is_some()) => {
                format!("report --survey {}", ids.join(" "))
            }
            (None, _) => format!("report {}", ids.join(" ")),
        }
    }
}

impl Role {
    /// What a run is for in a survey: levels that all set the same are its noise floor, a swept
    /// parameter is its curve, all else is a duel.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let plan = &run.plan;
        let compared = plan.factors.iter().find(|factor| factor.name == plan.method.compare);
        let alike = |levels: &[desk::record::Level]| {
            levels.windows(2).all(|pair| pair[0].settings == pair[1].settings)
        };
        if compared.is_some_and(|factor| factor.levels.len() > 1 && alike(&factor.levels)) {
            Self::NoiseFloor
        } else if plan.loads.iter().any(|load| plan.curve(load).is_some()) {
            Self::Curve
        } else {
            Self::Duel
        }
    }
}
