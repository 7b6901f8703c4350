//! Knows the verbs and their options; each verb has a file of its own.
//!
//! Gives: [`main`]. Never: decides anything about a measurement.
//! Start reading at `survey.rs`.

mod aa;
mod compare;
mod config;
mod destroy;
mod doctor;
mod elasticity;
mod enough;
mod error;
mod explain;
mod export;
mod extent;
mod factors;
mod figure;
mod files;
mod gate;
mod guardian;
#[cfg(feature = "machines")]
mod guests;
mod hand_out;
mod import;
#[cfg(feature = "machines")]
mod lab;
#[cfg(feature = "machines")]
mod lab_doctor;
mod list;
mod machine;
mod manual;
mod outputs;
mod outside;
mod owned;
mod page;
mod parquet;
mod place;
mod plan;
mod plans;
mod progress;
mod report;
mod resume;
mod run;
mod schema;
mod session;
mod settings;
mod sides;
mod store;
mod survey;
mod terminal;
mod tune;
mod unit;
mod watch;

pub use error::CliError;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{
    ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};
use desk::record::LabKind;
use rig::block;
use rig::lab::{Wanted, own};
use settings::Settings;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Everything measured, or the plan was shown.
const OK: u8 = 0;
/// Faults or a lost lab ended the run early; what was finished is in the report.
const GIVEN_UP: u8 = 1;
/// Nothing can be measured here.
const CANNOT: u8 = 5;
/// Two runs differ in more than was declared, so that nothing was compared.
const NOT_COMPARABLE: u8 = 3;
/// The gate failed, with evidence.
const GATE_FAILED: u8 = 3;
/// The gate can neither pass nor fail on what was measured.
const INCONCLUSIVE: u8 = 4;
/// Not one pair of valid trials.
const INVALID: u8 = 6;
/// It went to its end, but under 90 % of its counted trials are valid.
const INCOMPLETE: u8 = 7;
/// The person stopped it; what was finished is in the report.
const INTERRUPTED: u8 = 130;

/// What a script may rely on.
const EXIT_CODES: &str = "Exit status: 0 all was measured or shown, the gate passed; 1 ended early \
or a file could not be written; 2 wrong usage, a refused plan, or a run that cannot be resumed; \
3 the gate failed with evidence, or the runs are not comparable; 4 the gate is inconclusive; \
5 this place cannot measure it, or is not the one where the run began; 6 no trial gave a figure, \
or the runs share none; 7 complete, but under 90 % of the counted trials are valid; 130 stopped \
on request.";

/// Measures this machine and says which set-up is better, by how much, and what limits it.
///
/// Without a verb: what the machine is and what it carries, its memory, ciphers and network, in
/// about a minute. The result goes to standard output, progress to standard error.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    extent: extent::Extent,
    #[command(flatten)]
    options: Options,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: terminal::Colour,
    /// Print results and failures only
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Log every attempt at a trial
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Describe this machine in about a minute; with --tune say what other settings would gain
    #[command(after_help = EXIT_CODES)]
    Survey {
        #[command(flatten)]
        tune: survey::Tune,
        #[command(flatten)]
        extent: extent::Extent,
        #[command(flatten)]
        options: Options,
    },
    /// Run a plan and write its report
    #[command(after_help = EXIT_CODES)]
    Run {
        #[arg(help = format!("File of the plan, or the name of a built-in one: {}", plans::NAMES))]
        plan: String,
        /// Keep only these loads, levels and values of sweeps: load=NAME, FACTOR=LEVEL,
        /// PARAMETER=VALUE; several with commas
        #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
        only: Vec<String>,
        /// Short windows and at most five blocks: minutes instead of hours
        #[arg(long)]
        quick: bool,
        /// Also measure how much application work the load displaces, with a thread of the idle
        /// class on every CPU
        #[arg(long)]
        displaced_work: bool,
        /// Level of a factor that is set by hand (manual = true in the plan)
        #[arg(long, value_name = "FACTOR=LEVEL")]
        level: Vec<String>,
        #[command(flatten)]
        extent: extent::Extent,
        #[command(flatten)]
        options: Options,
    },
    /// Continue an interrupted run, or add blocks to one that ended
    #[command(after_help = EXIT_CODES)]
    Resume {
        #[command(flatten)]
        wanted: report::Wanted,
        /// Add N blocks to a run that has ended, or measure up to N in all: each end is then a look
        #[arg(long, value_name = "+N|N", value_parser = extent::further)]
        blocks: Option<desk::plan::Asked>,
        /// What the lab of a simulated run was made of
        #[arg(long, value_name = "FILE")]
        physics: Option<PathBuf>,
        /// Lab file of a run on several machines
        #[arg(long, value_name = "FILE")]
        machines: Option<PathBuf>,
        /// Address of a server of your own, which the run loads although stend did not start it
        #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
        i_own: Vec<Ipv4Addr>,
        #[command(flatten)]
        destroy: destroy::Destroy,
    },
    /// List stored runs, newest first
    List {
        /// File of stored runs [default: stend/lab.stend in the state directory]
        #[arg(long, value_name = "FILE")]
        store: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a run on the screen while it is measured, or the last one
    Watch(watch::Wanted),
    /// Write the report of a stored run again
    Report(report::Again),
    /// Import runs into the store from a report, a bundle or records
    Import(import::Wanted),
    /// Export a stored run as a table with a row for each attempt, or as JSON
    Export(export::Wanted),
    /// Show the trials, time and smallest detectable effect of a plan; measure nothing
    Plan(plan::Wanted),
    /// Run a plan with one treatment under two names: noise floor and false alarms
    Aa(aa::Wanted),
    /// Reduce one resource at a time and report the sensitivity to each
    #[command(after_help = EXIT_CODES)]
    Elasticity(elasticity::Wanted),
    /// Write a figure of a stored run as svg, png, csv or text, or list the figures
    Figure(figure::Wanted),
    /// Explain what a workload measures, how, and its limits; without a name, list workloads
    Explain {
        /// Name of the workload, such as tcp_stream
        workload: Option<String>,
    },
    /// Compare runs of different sessions, if they are comparable
    #[command(after_help = EXIT_CODES)]
    Compare(compare::Options),
    /// Run a plan and pass or fail a build; the exit status tells which
    #[command(after_help = EXIT_CODES)]
    Gate(gate::Wanted),
    /// Print the JSON Schema of a plan or of an output
    Schema {
        /// Plan or output
        #[arg(value_enum)]
        what: schema::What,
    },
    /// Show the factors of this machine, and restore what a killed run left changed
    Factors {
        #[command(subcommand)]
        what: factors::What,
    },
    /// Show effective settings from flags, STEND_* variables and stend.toml
    Config {
        #[command(subcommand)]
        what: config::What,
    },
    /// Print completions for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all verbs into a directory
    Man {
        /// Directory; created if missing
        directory: Option<PathBuf>,
    },
    /// Check capabilities and leftovers of killed runs; change nothing
    Doctor(doctor::Wanted),
    /// Make a lab of several machines, let machines in, list, check and remove them
    #[cfg(feature = "machines")]
    Lab {
        #[command(subcommand)]
        what: lab::What,
    },
    /// Join this machine to a lab of several
    #[cfg(feature = "machines")]
    Agent {
        #[command(subcommand)]
        part: lab::Part,
    },
}

/// What every measuring verb takes.
#[derive(Clone, Debug, Args)]
struct Options {
    /// Directory for the report and the records [default: stend-out/RUN]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the records and the analysis as JSON instead of text
    #[arg(long)]
    json: bool,
    /// File in which runs are kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Where the test hosts live
    #[arg(long, value_enum, default_value_t = Place::Best)]
    lab: Place,
    /// With --lab sim: what the simulated lab is made of [default: built in]
    #[arg(long, value_name = "FILE")]
    physics: Option<PathBuf>,
    /// Lab file: machines, their adapters and roles [default: all hosts on this machine]
    #[arg(long, value_name = "FILE")]
    machines: Option<PathBuf>,
    /// Address of a server of your own, which the plan may load although stend did not start it
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    i_own: Vec<Ipv4Addr>,
    #[command(flatten)]
    destroy: destroy::Destroy,
}

impl Options {
    /// Place, physics and lab file as they have to be written again, each with a blank after it.
    fn place_words(&self) -> String {
        let place = place_words(self.lab, self.physics.as_deref(), self.machines.as_deref());
        place + &owned_words(&self.i_own) + &self.destroy.words()
    }
}

/// Addresses of one's own as they have to be written again, each with a blank after it.
fn owned_words(addresses: &[Ipv4Addr]) -> String {
    addresses.iter().map(|address| format!("--i-own {address} ")).collect()
}

/// The same for a verb that has no more of the options.
fn place_words(lab: Place, physics: Option<&Path>, machines: Option<&Path>) -> String {
    let of = |option: &str, file: Option<&Path>| {
        let file = file.map(|file| quoted(&file.to_string_lossy()));
        file.map(|file| format!("--{option} {file} ")).unwrap_or_default()
    };
    format!("{}{}{}", lab.words(), of("physics", physics), of("machines", machines))
}

/// Names of the kinds of place on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Place {
    /// The best that the kernel grants
    Best,
    /// Network namespaces made as root
    Root,
    /// Network namespaces in a user namespace
    User,
    /// Processes on the loopback interface
    Loopback,
    /// Nowhere: a simulation, which measures nothing and says so
    Sim,
}

impl Place {
    /// As it is written on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The option as it has to be written again, with a blank after it; nothing for the default.
    fn words(self) -> String {
        match self {
            Self::Best => String::new(),
            place => format!("--lab {} ", place.name()),
        }
    }
}

impl From<Place> for Wanted {
    fn from(place: Place) -> Self {
        match place {
            Place::Best => Self::Best,
            Place::Root => Self::Only(LabKind::RootNamespaces),
            Place::User => Self::Only(LabKind::UserNamespaces),
            Place::Loopback => Self::Only(LabKind::Loopback),
            Place::Sim => Self::Only(LabKind::Simulated),
        }
    }
}

/// This program as the person called it, so that a command in its output can be typed again.
fn invoked() -> String {
    let name = std::env::args().next().unwrap_or_default();
    if name.contains('/') { quoted(&name) } else { "stend".into() }
}

/// A word as a shell reads it again.
fn quoted(word: &str) -> String {
    let bare = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(bare) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What stend starts itself: no verb of a person, and it depends on nobody's settings. `agent`
/// alone serves as a host of a lab, `guardian JOURNAL` brings back what a dead conductor left,
/// `service` keeps a program under test, `guest` is what stands around and in a machine in software
/// emulation.
fn own() -> Option<Result<u8, CliError>> {
    let mut words = std::env::args_os().skip(1);
    let (verb, next) = (words.next()?, words.next());
    match (verb.to_str()?, next) {
        ("agent", None) => {
            Some(rig::run::serve_agent(loads::ALL).map_err(CliError::Agent).map(|()| OK))
        }
        ("service", next) => {
            let words: Vec<String> =
                next.into_iter().chain(words).map(|w| w.to_string_lossy().into_owned()).collect();
            Some(rig::service::keep(&words).map_err(CliError::Agent).map(|()| OK))
        }
        ("guardian", next) => Some(guardian::guardian(Path::new(&next?))),
        #[cfg(feature = "machines")]
        ("guest", Some(next)) => {
            let words = std::iter::once(next).chain(words);
            let words: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
            Some(guests::own(&words))
        }
        #[cfg(not(feature = "machines"))]
        ("agent" | "lab", _) => Some(Err(CliError::NoMachines)),
        _ => None,
    }
}

/// The command line, with what environment and file say as its defaults.
fn command_line() -> Result<(Cli, ArgMatches, Settings), CliError> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    // Help, and verbs that have no settings, do not need what may be wrong with them.
    let (settings, wrong) = match settings::gather(std::env::current_dir().ok().as_deref()) {
        Ok(settings) => (settings, None),
        Err(e) => (Settings::default(), Some(e)),
    };
    // The parser itself has to know before it has parsed.
    let after = words.iter().position(|word| word == "--color").and_then(|at| words.get(at + 1));
    let asked = words.iter().find_map(|word| word.strip_prefix("--color="));
    let said = settings.said.iter().find(|s| s.name == "color").map(|s| s.value.as_str());
    let colour = asked.or(after.map(String::as_str)).or(said);
    let colour = colour.and_then(|word| terminal::Colour::from_str(word, false).ok());
    let command = Cli::command().color(colour.unwrap_or_default().into());
    let mut command = settings::apply(command, &settings);
    let matches = command.try_get_matches_from_mut(std::env::args_os());
    let matches = matches.unwrap_or_else(|e| e.exit());
    if let Some((verb, _)) = matches.subcommand() {
        refuse_before_verb(&mut command, &matches, verb);
    }
    let verb = matches.subcommand_name().and_then(|name| command.find_subcommand(name));
    if settings::concern(verb.unwrap_or(&command)) {
        wrong.map_or(Ok(()), Err)?;
    }
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    Ok((cli, matches, settings))
}

/// An option of the first run stands before a verb, which would not hear of it.
fn refuse_before_verb(command: &mut clap::Command, matches: &ArgMatches, verb: &str) {
    let typed = |arg: &&clap::Arg| {
        let source = matches.value_source(arg.get_id().as_str());
        !arg.is_global_set() && source == Some(ValueSource::CommandLine)
    };
    let Some(arg) = command.get_arguments().find(typed) else { return };
    let words = format!("the subcommand '{verb}' cannot be used with '{arg}'; write it behind");
    command.error(ErrorKind::ArgumentConflict, words).exit()
}

/// The addresses that the person owns, whatever the verb; what the environment tells counts for
/// hosts alone.
fn owned(matches: &ArgMatches) -> Vec<Ipv4Addr> {
    let of_verb = matches.subcommand().map(|(_, of_verb)| of_verb);
    let told = of_verb.and_then(|of| of.try_get_many::<Ipv4Addr>("i_own").ok().flatten());
    told.into_iter().flatten().copied().collect()
}

/// Reads the command line and does what it says; gives the exit status.
///
/// # Errors
/// What the person has to know: a bad plan, a lab that cannot be built, a file that cannot be
/// written.
pub fn main() -> Result<u8, CliError> {
    if let Some(ended) = own() {
        return ended;
    }
    let (cli, matches, settings) = command_line()?;
    terminal::set_manner(terminal::Manner {
        colour: cli.color,
        quiet: cli.quiet,
        verbose: cli.verbose,
    });
    own::declare(&owned(&matches));
    block::allow(destroy::allowed(&matches)?);
    if let Some(said) = settings.of("out") {
        files::set_parent(PathBuf::from(&said.value));
    }
    // `config show` says it itself.
    if !matches!(cli.verb, Some(Verb::Config { .. })) {
        for file in &settings.passed_over {
            progress::say(&format!("settings passed over: {file}"));
        }
    }
    match cli.verb {
        None => survey::survey(cli.extent, survey::Tune::default(), &cli.options),
        Some(Verb::Survey { tune, extent, options }) => survey::survey(extent, tune, &options),
        Some(Verb::Run { plan, only, quick, displaced_work, level, extent, options }) => {
            let how = run::How { only: &only, quick, displaced_work, extent };
            run::run(&plan, (how, &level), &options)
        }
        Some(Verb::Resume { wanted, blocks, physics, machines, i_own, destroy }) => {
            resume::resume(&wanted, blocks, (physics, machines), (i_own, destroy))
        }
        Some(Verb::List { store, json }) => list::list(store.as_deref(), json),
        Some(Verb::Watch(wanted)) => watch::watch(&wanted),
        Some(Verb::Report(options)) => report::report(&options),
        Some(Verb::Import(wanted)) => import::import(&wanted),
        Some(Verb::Export(wanted)) => export::export(&wanted),
        Some(Verb::Plan(wanted)) => plan::show(&wanted),
        Some(Verb::Aa(wanted)) => aa::aa(&wanted),
        Some(Verb::Elasticity(wanted)) => elasticity::elasticity(&wanted),
        Some(Verb::Figure(wanted)) => figure::figure(&wanted),
        Some(Verb::Config { what }) => {
            let typed = matches.subcommand().map(|(_, m)| m).unwrap_or(&matches);
            config::config(&what, &settings, typed)
        }
        Some(Verb::Completions { shell }) => hand_out::completions(shell),
        Some(Verb::Man { directory }) => hand_out::man(directory.as_deref()),
        Some(Verb::Explain { workload }) => explain::explain(workload.as_deref()),
        Some(Verb::Compare(options)) => compare::compare(&options),
        Some(Verb::Gate(wanted)) => {
            let source = matches.subcommand().and_then(|(_, m)| m.value_source("lab"));
            gate::gate(&wanted, source == Some(ValueSource::CommandLine))
        }
        Some(Verb::Schema { what }) => schema::print(what),
        Some(Verb::Factors { what }) => factors::factors(&what),
        Some(Verb::Doctor(wanted)) => doctor::doctor(&wanted),
        #[cfg(feature = "machines")]
        Some(Verb::Lab { what }) => lab::lab(what),
        #[cfg(feature = "machines")]
        Some(Verb::Agent { part }) => lab::agent(&part),
    }
}
