//! Knows `stend run`: a plan from file to report.

use super::error::CliError;
use super::extent::Extent;
use super::files::Directory;
use super::manual::{self, Words};
use super::progress::Meter;
use super::report::report_in;
use super::session::Session;
use super::terminal::{self, COLUMNS, columns};
use super::{
    GIVEN_UP, INCOMPLETE, INTERRUPTED, OK, Options, Place, aa, files, invoked, outputs,
    owned_words, page, place, plans, quoted,
};
use desk::plan::{budget, narrow, quicken};
use desk::record::{Completeness, Counted, ENOUGH, LabKind, LoadPlan, ParamRole, Plan, Run};
use desk::unit::{Quantity, Unit};
use desk::verdict::{Analysis, analyse, noise_floor};
use press::report::{self, Bundle, Document};
use rig::service::{self, External};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::time::Duration;

/// What a load calls a server that is in this program.
const WITHIN: &str = "builtin";

/// What the command line changes of a plan.
#[derive(Clone, Copy, Debug)]
pub struct How<'w> {
    /// What of its loads, levels and sweeps is kept.
    pub only: &'w [String],
    /// Its quick form.
    pub quick: bool,
    /// With a soaker, whatever the plan says.
    pub displaced_work: bool,
    /// How many blocks, and in which order.
    pub extent: Extent,
}

impl How<'_> {
    /// Changes the plan; gives what repeats it, and a note for the reader.
    ///
    /// # Errors
    /// When the plan cannot have so many blocks, or the time holds too few.
    pub fn apply(self, plan: &mut Plan) -> Result<(Self, String), CliError> {
        narrow_to(plan, self.only)?;
        if self.quick {
            quicken(plan);
        }
        plan.method.displaced_work |= self.displaced_work;
        let (extent, told) = self.extent.apply(plan)?;
        Ok((Self { extent, ..self }, told))
    }

    /// The options as they have to be written again, each with a blank after it.
    pub fn words(self) -> String {
        let rows = [(self.quick, "--quick "), (self.displaced_work, "--displaced-work ")];
        let switches: String =
            rows.iter().filter(|(wanted, _)| *wanted).map(|(_, words)| *words).collect();
        let only = self.only.iter().map(|word| format!("--only {} ", quoted(word)));
        only.collect::<String>() + &switches + &self.extent.words()
    }
}

/// Narrows a plan to what words such as `request_size=64KiB,256KiB` name. A value may hold a comma:
/// what the plan knows as a whole is not taken apart.
///
/// # Errors
/// A word without a key, a key or a value that the plan has not.
pub fn narrow_to(plan: &mut Plan, words: &[String]) -> Result<(), CliError> {
    let mut keys: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for word in words {
        let (key, values) =
            word.split_once('=').ok_or_else(|| CliError::NoKey { word: word.clone() })?;
        let values = values.trim().to_owned();
        let mut alone = plan.clone();
        let values = match narrow(&mut alone, key.trim(), std::slice::from_ref(&values)) {
            Ok(()) => vec![values],
            Err(_) => values.split(',').map(|value| value.trim().to_owned()).collect(),
        };
        keys.entry(key.trim()).or_default().extend(values);
    }
    Ok(keys.iter().try_for_each(|(key, values)| narrow(plan, key, values))?)
}

/// The option that says once more whose the servers of a plan are, with a blank after it.
fn owned_again(plan: &Plan) -> String {
    let all = plan.externals().filter_map(External::of).filter_map(Result::ok);
    let all: BTreeSet<Ipv4Addr> = all.map(|page| *page.address.ip()).collect();
    owned_words(&all.into_iter().collect::<Vec<_>>())
}

/// A run that has ended, well or not.
pub struct Measured {
    /// The sitting, its lab still standing.
    pub session: Session,
    /// The run.
    pub run: Run,
    /// Where its files go.
    pub directory: Directory,
    /// Progress.
    pub meter: Meter,
}

impl Measured {
    /// Says where the run was kept, and what could not be brought back.
    pub fn say_left(&self) {
        say_left(&self.session, &self.run, &self.meter);
    }
}

/// Runs a plan and writes report and records.
///
/// # Errors
/// A bad plan, a lab that cannot be built, a file that cannot be written, or no valid trial at all.
pub fn run(
    name: &str,
    (how, levels): (How<'_>, &[String]),
    options: &Options,
) -> Result<u8, CliError> {
    let (plan, text) = plans::load_for(name, options.machines.as_deref())?;
    let measured = measure((name, plan, &text), (how, levels), options)?;
    finish(&measured.session, &measured.run, (&measured.directory, options.json), &measured.meter)
}

/// Measures a plan, by its name, itself and its text, at the levels that a person told.
///
/// # Errors
/// A level that nobody told, a lab that cannot be built, or a directory that cannot be written to.
pub fn measure(
    (name, plan, text): (&str, Plan, &str),
    (how, levels): (How<'_>, &[String]),
    options: &Options,
) -> Result<Measured, CliError> {
    let place = format!("{}{}", how.words(), options.place_words());
    let words = Words { verb: "run", options: &place, plan: name };
    let mut plan = manual::told(&plan, levels, &words)?;
    let (how, told) = how.apply(&mut plan)?;
    let levels = manual::again(levels);
    let place = format!("{}{}", how.words(), options.place_words());
    let command = format!("{} run {levels}{place}{}", invoked(), quoted(name));
    carry_out(&plan, text, (command, &told), options)
}

/// Runs a plan; `text` is the plan as written, `command` makes it again, `told` is said of its
/// extent before.
///
/// # Errors
/// A lab that cannot be built, a place that cannot be written to.
pub fn carry_out(
    plan: &Plan,
    text: &str,
    (command, told): (String, &str),
    options: &Options,
) -> Result<Measured, CliError> {
    if options.lab == Place::Loopback {
        place::refuse_without_links(plan, LabKind::Loopback, "")?;
    }
    let mut session = Session::begin(plan, options, command)?;
    session.refuse_without_links(plan)?;
    let budget = budget(plan);
    let mut meter = Meter::new(Duration::from_secs_f64(budget.longest.value), true);
    meter.say(&format!(
        "{}: {} trials, {} dry attempts, about {:.1} min",
        plan.title,
        budget.trials,
        budget.dry_trials,
        budget.longest.value / 60.0
    ));
    if !told.is_empty() {
        meter.say(told);
    }
    say_missing(plan, &meter);
    let seed = plan.method.seed;
    meter.say(&format!("the seed of the order is {seed}; --seed {seed} repeats it"));
    // Before anything is measured: a result that cannot be written is not worth the time.
    let directory = files::directory(options.out.as_deref(), &session.id)?;
    let run = session.run(plan, text, &mut meter)?;
    Ok(Measured { session, run, directory, meter })
}

/// Of a load that is answered from within this program: which other servers are not here, and the
/// command that installs each. Those of other machines, `stend lab doctor` tells.
fn say_missing(plan: &Plan, meter: &Meter) {
    let within = |load: &LoadPlan| {
        load.values(ParamRole::Engine).any(|engine| engine.word() == Some(WITHIN))
    };
    if !plan.loads.iter().any(within) || !plan.lab.machines.is_empty() {
        return;
    }
    for why in service::software().filter_map(|one| one.path().err()) {
        meter.say(&format!("the server is in this program; another one: {why}"));
    }
}

/// Writes the report of a run that has ended, well or not, and says where everything is.
///
/// # Errors
/// When it holds no valid trial, or a file cannot be written.
pub fn finish(
    session: &Session,
    run: &Run,
    (directory, json): (&Directory, bool),
    meter: &Meter,
) -> Result<u8, CliError> {
    say_left(session, run, meter);
    write_logs(run, directory)?;
    match refuse_empty(run) {
        Err(_) if session.stopped() => return Err(CliError::Stopped),
        refused => refused?,
    }
    let analysis = analyse(run);
    publish(run, &analysis, directory, json)?;
    let report = report_in(directory);
    meter.say(&format!("report: {} ({:.0} s)", report.display(), meter.elapsed().as_secs_f64()));
    if let Completeness::Partial { why } = &run.completeness {
        meter.warn(&format!(
            "the run is partial: {why}; go on with: {} resume {}{}",
            invoked(),
            owned_again(&run.plan),
            run.id
        ));
    }
    let counted = Counted::of(&run.records);
    if !counted.is_enough() {
        meter.warn(&format!("the run is incomplete: {}", valid_of(counted)));
    }
    Ok(match run.completeness {
        Completeness::Complete if !counted.is_enough() => INCOMPLETE,
        Completeness::Complete => OK,
        Completeness::Partial { .. } if session.stopped() => INTERRUPTED,
        Completeness::Partial { .. } => GIVEN_UP,
    })
}

/// How many trials are valid, in words.
pub fn valid_of(counted: Counted) -> String {
    let Counted { visited, valid } = counted;
    let least = Quantity::new(ENOUGH, Unit::Share);
    format!("{valid} of {visited} counted trials are valid ({}), under {least}", counted.share())
}

/// Says where a run was kept, and what could not be brought back.
fn say_left(session: &Session, run: &Run, meter: &Meter) {
    meter.say(&format!("kept as {} in {}", run.id, session.kept_in().display()));
    for left in session.left() {
        meter.warn(&format!("{left}; see {} factors status", invoked()));
    }
}

/// Not one valid counted trial is no result.
///
/// # Errors
/// The first fault's words; where nothing was visited, why the run ended.
pub fn refuse_empty(run: &Run) -> Result<(), CliError> {
    if run.records.iter().any(|r| r.outcome.fault.is_none() && r.trial.block > 0) {
        return Ok(());
    }
    let why = match &run.completeness {
        Completeness::Partial { why } => format!("none was finished: {why}"),
        Completeness::Complete => "the plan has none".into(),
    };
    let first = run.records.iter().find_map(|r| r.outcome.fault.as_ref());
    Err(CliError::NothingMeasured { first: first.map_or(why, ToString::to_string) })
}

/// Writes report and records, and prints one of them.
///
/// # Errors
/// When a file cannot be written.
pub fn publish(run: &Run, analysis: &Analysis, to: &Directory, json: bool) -> Result<(), CliError> {
    let document = report::compose(run, analysis)?;
    write_all(run, (&document, &Bundle::of_run(run)), to)?;
    let noise = noise_floor(analysis);
    let mut out = terminal::out();
    if json {
        let article = report::article(&document);
        if run.plan.method.elasticity.is_some() {
            let whole = outputs::Elasticity { run, elasticity: &analysis.elasticity, article };
            serde_json::to_writer_pretty(&mut out, &whole)?;
        } else {
            let whole = outputs::Result { run, analysis, noise: noise.as_ref(), article };
            serde_json::to_writer_pretty(&mut out, &whole)?;
        }
        out.write_all(b"\n")?;
    } else {
        out.write_all(report::summary(&document, columns(), terminal::unicode()).as_bytes())?;
        let noise = noise.map(|noise| aa::words(&run.plan, &noise)).unwrap_or_default();
        let noise = if terminal::unicode() { noise } else { report::ascii(&noise) };
        out.write_all(noise.as_bytes())?;
    }
    Ok(())
}

/// Writes the records of a run and its article in every medium.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(
    run: &Run,
    (document, bundle): (&Document, &Bundle<'_>),
    to: &Directory,
) -> Result<(), CliError> {
    let records = serde_json::to_string_pretty(run)?;
    files::write(to, "records.json", &records)?;
    write_logs(run, to)?;
    page::write(to, document, bundle)?;
    files::write(to, "report.txt", &report::text(document, COLUMNS, true))?;
    files::write_beside(to, document)
}

/// Writes the logs of programs that faults are of. A record from elsewhere may hold any name.
fn write_logs(run: &Run, to: &Directory) -> Result<(), CliError> {
    let logs = run.records.iter().flat_map(|record| &record.outcome.logs);
    for log in logs.filter(|log| log.has_plain_name()) {
        files::write(to, &log.name, &log.text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed(words: &[&str]) -> Result<Plan, CliError> {
        let mut plan = plans::load("nic-duel").unwrap().0;
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        narrow_to(&mut plan, &words)?;
        Ok(plan)
    }

    #[test]
    fn values_stand_behind_one_key_or_several() {
        let swept = |plan: &Plan, at: usize| plan.loads[0].over[at].1.len();
        let plan =
            narrowed(&["load=full", "direction=transmit, receive", "request_size=64KiB"]).unwrap();
        assert_eq!((plan.loads.len(), swept(&plan, 0), swept(&plan, 1)), (1, 2, 1));
        let plan = narrowed(&["request_size=64 B", "request_size=1KiB", "path=offload"]).unwrap();
        assert_eq!((plan.loads.len(), swept(&plan, 1)), (2, 2));
        assert_eq!(plan.method.compare, "mtu", "one level of a path is compared with nothing");
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let said = |word: &str| narrowed(&[word]).unwrap_err().to_string();
        assert!(said("full").contains("KEY=VALUE"));
        assert!(said("request_size=65 B").contains("64 B"));
        assert!(said("load=fool").contains("full"));
    }
}
