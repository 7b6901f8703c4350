//! Knows `stend gate`: a plan, a rule, and an exit status that a build can be stopped by.
//!
//! Never: whether a difference is one; the verdict says that.

use super::error::CliError;
use super::extent::Extent;
use super::files::Directory;
use super::manual::{self, Words};
use super::run::{How, measure, write_all};
use super::terminal::{self, columns};
use super::{
    GATE_FAILED, GIVEN_UP, INCONCLUSIVE, INTERRUPTED, INVALID, OK, Options, Place, enough, files,
    outputs, plans, session, store,
};
use clap::ValueEnum;
use desk::record::Run;
use desk::verdict::{FailIf, Gate, GateOutcome, analyse, gate as judge, gateable, gated};
use press::report::{self, Document, Prose};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Options of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// File of the plan, or the name of a built-in one
    #[arg(required_unless_present = "run", conflicts_with = "run")]
    plan: Option<String>,
    /// What makes the gate fail
    #[arg(long, value_enum, default_value_t = Rule::Worse, value_name = "RULE")]
    fail_if: Rule,
    /// Judge by this metric and not by the primary one: another of the plan's, or cpu, pe_index,
    /// cpu_per_gb, cpu_per_operation, displaced
    #[arg(long, value_name = "M")]
    metric: Option<String>,
    /// Write a JUnit report: a test case a comparison
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a summary for GitHub
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Keep only these loads, levels and values of sweeps, as in `stend run`
    #[arg(long, value_name = "KEY=VALUE[,VALUE]", conflicts_with = "run")]
    only: Vec<String>,
    /// Short windows and at most five blocks
    #[arg(long, conflicts_with = "run")]
    quick: bool,
    /// Also measure how much application work the load displaces
    #[arg(long, conflicts_with = "run")]
    displaced_work: bool,
    /// The level at which a factor is that a person sets (manual = true in the plan)
    #[arg(long, value_name = "FACTOR=LEVEL", conflicts_with = "run")]
    level: Vec<String>,
    /// Judge this run of the store instead of measuring: its id, a beginning of it, or last
    #[arg(long, value_name = "RUN", conflicts_with = "Extent")]
    run: Option<String>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    options: Options,
}

/// Names of the rules on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// A comparison is worse, by more than the margin as far as its interval reaches
    Worse,
    /// A comparison is not better by the margin
    NotBetter,
    /// A comparison differs by more than the margin as far as its interval reaches
    NotEquivalent,
    /// A comparison differs at all
    Different,
}

impl From<Rule> for FailIf {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Worse => Self::Worse,
            Rule::NotBetter => Self::NotBetter,
            Rule::NotEquivalent => Self::NotEquivalent,
            Rule::Different => Self::Different,
        }
    }
}

/// A run to judge, where its report goes, and whether the person stopped it.
struct Subject {
    run: Run,
    directory: Option<Directory>,
    stopped: bool,
}

/// Measures or takes a run, judges it, and says so in every form that was asked for. `typed` is
/// whether the place stands on the command line.
///
/// # Errors
/// A bad plan or metric, a lab that cannot be built, a file that cannot be written. Once there is a
/// judgement, what cannot be written is told, and only takes a gate's passing from it.
pub fn gate(wanted: &Wanted, typed: bool) -> Result<u8, CliError> {
    if wanted.run.is_none() && wanted.options.lab == Place::Sim && !typed {
        return Err(CliError::GateOfSim);
    }
    for path in [&wanted.junit, &wanted.markdown].into_iter().flatten() {
        files::try_file(path).map_err(|source| CliError::File { path: path.clone(), source })?;
    }
    let subject = subject(wanted)?;
    let metric = wanted.metric.as_deref();
    let run = gated(&subject.run, metric)?;
    let analysis = analyse(&run);
    let gate = judge(&run, &analysis, wanted.fail_if.into(), metric);
    let status = if subject.stopped { INTERRUPTED } else { status(&gate) };
    let document = report::compose_gate(&run, &analysis, &gate)?;
    let whole = outputs::Gate::of(&run, &gate, status, &document);
    let mut lost = false;
    for done in [
        keep(wanted, &subject, &document),
        asked_for(wanted, (&run, &gate), &document),
        show(wanted, &document, &whole),
        annotate(&run, &gate),
    ] {
        if let Err(error) = done {
            // Standard error may be what is broken.
            let _ = writeln!(std::io::stderr(), "stend: {error}");
            lost = true;
        }
    }
    Ok(if lost && status == OK { GIVEN_UP } else { status })
}

/// Report and records.
fn keep(wanted: &Wanted, subject: &Subject, document: &Document) -> Result<(), CliError> {
    let Some(directory) = &subject.directory else { return Ok(()) };
    let judged = report::Judged { fail_if: wanted.fail_if.into(), metric: wanted.metric.clone() };
    let bundle = report::Bundle::of_gate(&subject.run, judged);
    write_all(&subject.run, (document, &bundle), directory)?;
    super::progress::say(&format!("report: {}", directory.join("report.html").display()));
    Ok(())
}

/// The files that were asked for by name.
fn asked_for(
    wanted: &Wanted,
    (run, gate): (&Run, &Gate),
    document: &Document,
) -> Result<(), CliError> {
    if let Some(path) = &wanted.junit {
        write(path, &report::junit(run, gate)?)?;
    }
    match &wanted.markdown {
        Some(path) => write(path, &report::markdown(document)),
        None => Ok(()),
    }
}

fn subject(wanted: &Wanted) -> Result<Subject, CliError> {
    let options = &wanted.options;
    if let Some(name) = &wanted.run {
        let run = store::read(options.store.as_deref())?.load(name)?;
        enough::refuse_few_of(&run, "gate")?;
        let out = options.out.as_deref();
        let directory = out.map(|out| files::directory(Some(out), &run.id)).transpose()?;
        return Ok(Subject { run, directory, stopped: false });
    }
    let name = wanted.plan.as_deref().unwrap_or_default();
    let (plan, text) = plans::load_for(name, options.machines.as_deref())?;
    let Wanted { quick, displaced_work, extent, .. } = *wanted;
    let how = How { only: &wanted.only, quick, displaced_work, extent };
    // Before anything is measured.
    let words = Words { verb: "gate", options: "", plan: name };
    let mut asked = manual::told(&plan, &wanted.level, &words)?;
    how.apply(&mut asked)?;
    enough::refuse_few(&asked, "gate")?;
    gateable(&asked, &session::metrics(&asked), wanted.metric.as_deref())?;
    let measured = measure((name, plan, &text), (how, &wanted.level), options)?;
    let stopped = measured.session.stopped();
    measured.say_left();
    Ok(Subject { run: measured.run, directory: Some(measured.directory), stopped })
}

/// Nothing but an outcome that was shown gives 0.
const fn status(gate: &Gate) -> u8 {
    match gate.outcome {
        GateOutcome::Passed => OK,
        GateOutcome::Failed => GATE_FAILED,
        GateOutcome::Inconclusive => INCONCLUSIVE,
        GateOutcome::NotMeasured => INVALID,
    }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    files::replace(path, text.as_bytes())
        .map_err(|source| CliError::File { path: path.into(), source })
}

/// The gate alone; the article on the run is in the report. Nobody has to read all of it.
fn show(wanted: &Wanted, document: &Document, whole: &outputs::Gate<'_>) -> Result<(), CliError> {
    let text = if wanted.options.json {
        serde_json::to_string_pretty(whole)? + "\n"
    } else {
        let body = document.body.iter().take(1).cloned().collect();
        let short = Document { body, ..document.clone() };
        report::text(&short, columns(), terminal::unicode())
    };
    Ok(terminal::out().write_all(text.as_bytes())?)
}

/// A line for GitHub a comparison that did not pass. It reads standard error too, and standard
/// output belongs to the result.
fn annotate(run: &Run, gate: &Gate) -> Result<(), CliError> {
    if std::env::var_os("GITHUB_ACTIONS").is_none_or(|value| value.is_empty()) {
        return Ok(());
    }
    let mut out = io::stderr().lock();
    for (check, (name, said)) in gate.checks.iter().zip(report::gate_lines(run, gate)?) {
        let level = match check.outcome {
            GateOutcome::Passed => continue,
            GateOutcome::Failed => "error",
            GateOutcome::Inconclusive | GateOutcome::NotMeasured => "warning",
        };
        let title = property(&format!("stend gate: {}", plain(&name)));
        let line = format!("::{level} title={title}::{}\n", message(&plain(&said)));
        // Who does not listen misses nothing that is not in the report.
        let _ = out.write_all(line.as_bytes());
    }
    Ok(())
}

fn plain(prose: &Prose) -> String {
    prose.text().replace('\u{a0}', " ")
}

/// What ends a command of GitHub, written so that it does not.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_an_annotation_or_begin_another() {
        assert_eq!(message("5 %\n::error::x"), "5 %25%0A::error::x");
        assert_eq!(property("a,b::c"), "a%2Cb%3A%3Ac");
    }
}
