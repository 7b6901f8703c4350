//! Knows `stend run`: a plan from file to report.

use super::error::CliError;
use super::progress::Meter;
use super::report::report_in;
use super::session::Session;
use super::{GIVEN_UP, INTERRUPTED, OK, Options, Place, files, invoked, place, plans};
use desk::plan::{budget, quicken};
use desk::record::{Completeness, Fault, LabKind, Plan, Run};
use desk::report::{self, Bundle};
use desk::verdict::{Analysis, analyse};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Columns of the text report.
const COLUMNS: u16 = 80;

/// What the command line changes of a plan.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Its quick form.
    pub quick: bool,
    /// With a soaker, whatever the plan says.
    pub displaced_work: bool,
}

impl How {
    fn apply(self, plan: &mut Plan) {
        if self.quick {
            quicken(plan);
        }
        plan.method.displaced_work |= self.displaced_work;
    }

    /// The options as they have to be written again, each with a blank after it.
    fn words(self) -> String {
        let rows = [(self.quick, "--quick "), (self.displaced_work, "--displaced-work ")];
        rows.iter().filter(|(wanted, _)| *wanted).map(|(_, words)| *words).collect()
    }
}

/// Runs a plan and writes report and records.
///
/// # Errors
/// A bad plan, a lab that cannot be built, a file that cannot be written, or no valid trial at all.
pub fn run(name: &str, how: How, options: &Options) -> Result<u8, CliError> {
    let (mut plan, text) = plans::load(name)?;
    how.apply(&mut plan);
    let command = format!("{} run {}{}{name}", invoked(), how.words(), options.place_words());
    if options.lab == Place::Loopback {
        place::refuse_without_links(&plan, LabKind::Loopback, "")?;
    }
    let mut session = Session::begin(&plan, options, command)?;
    session.refuse_without_links(&plan)?;
    let budget = budget(&plan);
    let mut meter = Meter::new(Duration::from_secs_f64(budget.longest.value), true);
    meter.say(&format!(
        "{}: {} trials, {} dry visits, about {:.1} min",
        plan.title,
        budget.trials,
        budget.dry_trials,
        budget.longest.value / 60.0
    ));
    // Before anything is measured: a result that cannot be written is not worth the time.
    let directory = files::directory(options.out.as_deref(), &session.id)?;
    let run = session.run(&plan, &text, &mut meter)?;
    finish(&session, &run, (&directory, options.json), &meter)
}

/// Writes the report of a run that has ended, well or not, and says where everything is.
///
/// # Errors
/// When it holds no valid trial, or a file cannot be written.
pub fn finish(
    session: &Session,
    run: &Run,
    (directory, json): (&Path, bool),
    meter: &Meter,
) -> Result<u8, CliError> {
    let kept = session.kept_in().display();
    meter.say(&format!("kept as {} in {kept}", run.id));
    for left in session.left() {
        meter.say(&format!("{left}; see {} factors status", invoked()));
    }
    refuse_empty(run)?;
    let analysis = analyse(run);
    publish(run, &analysis, directory, json)?;
    let report = report_in(directory);
    meter.say(&format!("report: {} ({:.0} s)", report.display(), meter.elapsed().as_secs_f64()));
    if let Completeness::Partial { why } = &run.completeness {
        meter.say(&format!(
            "the run is partial: {why}; go on with: {} resume {}",
            invoked(),
            run.id
        ));
    }
    Ok(match run.completeness {
        Completeness::Complete => OK,
        Completeness::Partial { .. } if session.stopped() => INTERRUPTED,
        Completeness::Partial { .. } => GIVEN_UP,
    })
}

/// Not one valid counted trial is no result.
///
/// # Errors
/// The first fault's words.
pub fn refuse_empty(run: &Run) -> Result<(), CliError> {
    if run.records.iter().any(|r| r.outcome.fault.is_none() && r.trial.block > 0) {
        return Ok(());
    }
    match run.records.iter().find_map(|r| r.outcome.fault.as_ref()) {
        None | Some(Fault::Cancelled) => Err(CliError::Stopped),
        Some(fault) => Err(CliError::NothingMeasured { first: fault.to_string() }),
    }
}

/// Writes report and records, and prints one of them.
///
/// # Errors
/// When a file cannot be written.
pub fn publish(run: &Run, analysis: &Analysis, to: &Path, json: bool) -> Result<(), CliError> {
    let records = serde_json::to_string_pretty(run)?;
    files::write(to, "records.json", &records)?;
    let document = report::compose(run, analysis)?;
    let page = report::page(&document, &Bundle::of_run(run))?;
    files::write(to, "report.html", &page)?;
    files::write(to, "report.txt", &report::text(&document, COLUMNS, true))?;
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &json!({ "run": run, "analysis": analysis }))?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(report::summary(&document, COLUMNS, true).as_bytes())?;
    }
    Ok(())
}
