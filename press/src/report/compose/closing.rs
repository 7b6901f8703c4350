//! Knows what closes an article on two runs: what it does not say, how to make them again, and what
//! is kept of each.

use super::appendix::{facts, faults, visits};
use super::doubts::{self, lead};
use super::names::level_names;
use super::ruling::{condition, shown};
use super::{Part, Role, Said, Writer, reproduce, sessions};
use crate::report::document::{Node, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::verdict::{Analysis, Caveat, Comparison, Unpaired};

/// How many doubts the verdict box repeats.
const BOX_DOUBTS: usize = 2;
/// What the two runs are called in every sentence.
const NAMES: [&str; 2] = ["A", "B"];

/// The doubts of both runs alone, as the parts of an article.
fn shells(found: &Unpaired) -> [Analysis; 2] {
    let shell =
        |caveats: &Vec<Caveat>| Analysis { caveats: caveats.clone(), ..Analysis::default() };
    [shell(&found.doubts_a), shell(&found.doubts_b)]
}

fn parts<'a>(runs: [&'a Run; 2], shells: &'a [Analysis; 2]) -> [Part<'a>; 2] {
    let part = |at: usize| Part { role: Role::Duel, run: runs[at], analysis: &shells[at] };
    [part(0), part(1)]
}

/// The heaviest doubts of either run in short, for the box.
pub(super) fn in_short(
    writer: &Writer,
    runs: [&Run; 2],
    found: &Unpaired,
) -> Result<Vec<Prose>, ReportError> {
    let shells = shells(found);
    doubts::heaviest_in_short(writer, &parts(runs, &shells), BOX_DOUBTS)
}

/// What was not compared and the doubts, which stand open; how to make the runs again and what is
/// kept of each, which do not.
pub(super) fn chapters(
    writer: &mut Writer,
    runs: [&Run; 2],
    found: &Unpaired,
) -> Result<(Vec<Node>, Vec<Node>), ReportError> {
    let shells = shells(found);
    let parts = parts(runs, &shells);
    let mut body = Vec::new();
    if !found.comparisons.is_empty() {
        let said = vec![Node::Paragraph(writer.label("compare-cost")?)];
        body.push(writer.section("cost", "cost-title", said)?);
    }
    let whose = |(_, worst): (&Part<'_>, &Caveat)| of_either(writer, &parts, worst);
    body.push(doubts::chapter_led(writer, &parts, &whose)?);
    let reproduce = reproduce::chapter(writer, &parts)?.fold();
    let mut kept = Vec::new();
    for (part, name) in parts.iter().zip(NAMES) {
        kept.push(of_run(writer, part, name)?);
    }
    for comparison in &found.comparisons {
        kept.push(Node::Table(values(writer, (runs[0], found), comparison)?));
    }
    let appendix = writer.section("appendix", "appendix-title", kept)?.fold();
    Ok((body, vec![reproduce, appendix]))
}

/// A doubt with the run that it is of where only one has it.
fn of_either(writer: &Writer, parts: &[Part<'_>; 2], worst: &Caveat) -> Said {
    let kind = std::mem::discriminant(worst);
    let of = |part: &Part<'_>| {
        let caveats = part.analysis.caveats.iter();
        caveats.filter(|c| std::mem::discriminant(*c) == kind).cloned().collect::<Vec<_>>()
    };
    let both = [of(&parts[0]), of(&parts[1])];
    let mut leads = Vec::new();
    if both[0] == both[1] {
        leads.extend(both[0].iter().map(|c| lead(writer, c)).collect::<Result<Vec<_>, _>>()?);
        return Ok(Prose::join(&leads));
    }
    for (caveats, name) in both.iter().zip(NAMES) {
        for caveat in caveats {
            let args = Args::new().name("run", name).prose("lead", &lead(writer, caveat)?);
            leads.push(writer.say("compare-doubt", args)?);
        }
    }
    Ok(Prose::join(&leads))
}

/// Every visit of a run, every fault, every fact.
fn of_run(writer: &mut Writer, part: &Part<'_>, name: &str) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    body.extend(visits(writer, part)?);
    body.push(faults(writer, std::slice::from_ref(part))?);
    body.push(Node::Table(facts(writer, part.run.environment())?));
    let args = Args::new().name("name", name).name("run", &part.run.id);
    let title = writer.say("compare-kept", args)?;
    Ok(Node::section(format!("appendix-{}", name.to_lowercase()), title, body))
}

/// Two rows a point: every value of each side.
fn values(
    writer: &mut Writer,
    (a, found): (&Run, &Unpaired),
    c: &Comparison,
) -> Result<Table, ReportError> {
    let mut rows = Vec::new();
    for point in &c.points {
        let at = match &point.at {
            Some(at) => Prose::verbatim(&shown(at)),
            None => writer.label("appendix-whole")?,
        };
        let sides = [&point.base_runs, &point.other_runs];
        for (name, runs) in level_names(a, c).iter().zip(sides) {
            let all: Vec<Prose> = runs.iter().map(|q| Prose::quantity(*q)).collect();
            let all = Prose::join_with(&all, ", ");
            rows.push(vec![at.clone(), Prose::verbatim(name), all]);
        }
    }
    let columns = writer.headed(&["appendix-point", "compare-run", "compare-values"])?;
    let name = condition(a, c);
    let caption = sessions::values_caption(writer, found)?;
    let caption = Prose::join_with(&[caption, name], ": ");
    Ok(Table { folded: true, ..writer.table(&caption, columns, rows)? })
}
