//! Knows what of a load becomes rows, what columns and what stands before the rows.
//!
//! Never: a figure.

use crate::report::compose::names::{key_words, level_name, setting};
use crate::report::compose::ruling::shown;
use crate::report::document::Prose;
use desk::record::{LoadPlan, Plan, Value};
use desk::verdict::MeasuredPoint;

/// Most columns that one axis may have; a longer one goes down the page.
const COLUMNS: usize = 8;

/// A parameter that is swept, or a factor, with two steps or more.
pub(super) struct Axis<'p> {
    key: &'p str,
    /// A parameter of the load; else a factor.
    of_load: bool,
    /// As the record has it, and as it is shown.
    steps: Vec<(String, Prose)>,
}

impl Axis<'_> {
    /// Heading over the steps.
    pub(super) fn title(&self) -> Prose {
        Prose::verbatim(&key_words(self.key))
    }

    /// The steps in the order of the plan: as the record has them, and as they are shown.
    pub(super) fn steps(&self) -> &[(String, Prose)] {
        &self.steps
    }

    /// Where a point stands on it: the value of the parameter, or the level as it is shown.
    pub(super) fn value(&self, point: &MeasuredPoint) -> Option<Value> {
        match self.of_load {
            true => point.at.get(self.key).cloned(),
            false => Some(Value::Word(self.said(point).text().to_owned())),
        }
    }

    /// Its place among the steps.
    pub(super) fn place(&self, point: &MeasuredPoint) -> Option<usize> {
        let step = self.step(point);
        self.steps.iter().position(|(known, _)| *known == step)
    }

    fn step(&self, point: &MeasuredPoint) -> String {
        let step = match self.of_load {
            true => point.at.get(self.key).map(ToString::to_string),
            false => point.levels.get(self.key).cloned(),
        };
        step.unwrap_or_default()
    }

    /// `size 16 KiB`, `thp never`.
    fn said(&self, point: &MeasuredPoint) -> Prose {
        let step = self.step(point);
        match self.of_load {
            true => setting(self.key, &step),
            false => self
                .steps
                .iter()
                .find(|(known, _)| *known == step)
                .map_or_else(Prose::default, |(_, shown)| shown.clone()),
        }
    }
}

/// How the figures of a load are laid out.
pub(super) struct Layout<'p> {
    /// A column each before the rows, the slowest first.
    pub(super) heads: Vec<Axis<'p>>,
    /// Down the page; none for a load that sweeps nothing.
    pub(super) rows: Option<Axis<'p>>,
    /// Across it.
    pub(super) columns: Option<Axis<'p>>,
}

impl<'p> Layout<'p> {
    /// Rows are the curve of the load, else its longest sweep; columns the factor that is compared,
    /// else the longest of what is left that fits.
    pub(super) fn of(plan: &'p Plan, load: &'p LoadPlan) -> Self {
        let mut heads = axes(plan, load);
        let curve = plan.curve(load);
        let is_curve = |axis: &Axis<'_>| axis.of_load && Some(axis.key) == curve;
        let rows = heads.iter().position(is_curve).or_else(|| longest(&heads, |a| a.of_load));
        let rows = rows.map(|at| heads.remove(at));
        let fits = |axis: &Axis<'_>| axis.steps.len() <= COLUMNS;
        let compared = |axis: &Axis<'_>| !axis.of_load && axis.key == plan.method.compare;
        let columns = heads.iter().position(|axis| compared(axis) && fits(axis));
        let columns = columns.or_else(|| longest(&heads, fits)).map(|at| heads.remove(at));
        Self { heads, rows, columns }
    }

    /// Heads, then rows.
    pub(super) fn down(&self) -> impl Iterator<Item = &Axis<'p>> {
        self.heads.iter().chain(&self.rows)
    }

    /// Every axis in the order of [`Self::key`].
    pub(super) fn all(&self) -> impl Iterator<Item = &Axis<'p>> {
        self.down().chain(&self.columns)
    }

    /// Where a point stands.
    pub(super) fn key(&self, point: &MeasuredPoint) -> Vec<String> {
        self.all().map(|axis| axis.step(point)).collect()
    }

    /// The same in words; empty where there is only one point.
    pub(super) fn place(&self, point: &MeasuredPoint) -> Prose {
        Prose::join_with(&self.all().map(|axis| axis.said(point)).collect::<Vec<_>>(), ", ")
    }

    /// Every row: its steps as the record has them, and as they are shown.
    pub(super) fn lines(&self) -> Vec<(Vec<String>, Vec<Prose>)> {
        let mut lines = vec![(Vec::new(), Vec::new())];
        for axis in self.down() {
            let longer = |(keys, said): &(Vec<String>, Vec<Prose>)| {
                let with = |(key, shown): &(String, Prose)| {
                    let mut line = (keys.clone(), said.clone());
                    line.0.push(key.clone());
                    line.1.push(shown.clone());
                    line
                };
                axis.steps.iter().map(with).collect::<Vec<_>>()
            };
            lines = lines.iter().flat_map(longer).collect();
        }
        lines
    }
}

/// Place of the first of the longest axes that are wanted.
fn longest(axes: &[Axis<'_>], wanted: impl Fn(&Axis<'_>) -> bool) -> Option<usize> {
    let all = axes.iter().enumerate().rev().filter(|(_, axis)| wanted(axis));
    all.max_by_key(|(_, axis)| axis.steps.len()).map(|(at, _)| at)
}

fn axes<'p>(plan: &'p Plan, load: &'p LoadPlan) -> Vec<Axis<'p>> {
    let swept = load.over.iter().map(|(key, values)| Axis {
        key,
        of_load: true,
        steps: values.iter().map(|v| (v.to_string(), Prose::verbatim(&shown(v)))).collect(),
    });
    let factors = plan.factors.iter().map(|factor| Axis {
        key: &factor.name,
        of_load: false,
        steps: factor
            .levels
            .iter()
            .map(|l| (l.name.clone(), Prose::verbatim(&level_name(plan, &factor.name, &l.name))))
            .collect(),
    });
    factors.chain(swept).filter(|axis| axis.steps.len() > 1).collect()
}
