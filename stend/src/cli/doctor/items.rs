//! Knows what each capability is good for in this build, what may be trusted with it and what not
//! without it.
//!
//! Must not know how a capability is found out; what nothing uses has no row and no effect.

use super::forecast::Test;
use super::ground::SIMULATED;
use crate::cli::error::CliError;
use crate::cli::invoked;
use desk::record::{FactorSpec, Scope};
use desk::unit::{Quantity, Unit};
use desk::validity::STEAL_MOST;
use rig::factor::{self, FACTOR};
use rig::lab::capability::{Capability, Noise, State, look, look_at_store};
use rig::service::{self, Software};
use rig::store::Store;
use std::io;
use std::path::{Path, PathBuf};

/// Share of a CPU's time (0-1) from which what others take is as large as the difference that a
/// plan calls of no interest unless it says otherwise.
const MARGIN: f64 = 0.02;

/// A capability with what hangs on it.
pub struct Item {
    /// What was found.
    pub found: Capability,
    /// What it does for tests of this build; none for what is recorded only.
    pub effect: Option<&'static str>,
    /// What may be trusted because of it, empty for nothing of its own.
    pub trust: &'static str,
    /// What may not be trusted without it, empty for nothing of its own.
    pub doubt: &'static str,
}

/// The item that every test needs.
pub const DISK: &str = "disk for the store";

/// Why no run can be kept, in the words of a run that is refused.
pub fn refused(store: &Result<PathBuf, CliError>) -> Option<String> {
    match store {
        Ok(path) => Store::refuse(path).err().map(|e| CliError::from(e).to_string()),
        Err(e) => Some(e.to_string()),
    }
}

/// Name, effect, trust, doubt.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: [Row; 25] = [
    (DISK, "every test: a trial is kept before the next begins", "", "that runs are kept"),
    ("lab root", "every test in lab root", "", ""),
    ("lab user", "every test in lab user: links without root", "", ""),
    ("lab loopback", "every test in lab loopback", "", ""),
    ("root", "lab root; factors of the machine", "", ""),
    ("CAP_SYS_ADMIN", "lab root", "", ""),
    (
        "CAP_NET_ADMIN",
        "lab loopback: congestion controls that the kernel does not allow everybody",
        "",
        "",
    ),
    (
        "CAP_SYS_NICE",
        "every lab: hosts hear their orders while the load keeps every CPU busy",
        "that hosts hear their orders under full load",
        "that hosts hear their orders in time under full load (a late answer is a fault)",
    ),
    (
        "open files",
        "plans of many streams, up to 1024",
        "",
        "plans of as many streams as a plan may have",
    ),
    ("settings of namespaces", "lab user", "", ""),
    (
        "control groups",
        "probe cgroup: the second count of each host's CPU time",
        "the CPU time of each host, counted twice",
        "a second count of each host's CPU time",
    ),
    (
        "journal of undos",
        "lab root, factors of the machine, control groups: nothing is changed without it",
        "that what a run changes comes back when it is killed",
        "anything that changes the machine: it is refused",
    ),
    (
        "own processors",
        "what a report can say of frequency, heat and neighbours",
        "",
        "frequency, heat and neighbours of the processors: a guest is not told",
    ),
    (
        "clock source",
        "the edges of every window",
        "the clock",
        "short windows: a reading of the clock is a system call",
    ),
    (
        "throttling counters",
        "probe throttle: a trial in which a CPU was throttled is invalid",
        "that a trial with a throttled CPU is found out",
        "that no CPU was throttled",
    ),
    (
        "processes of others",
        "probe tasks: CPU time of others and of threads of the kernel",
        "whose CPU time it was",
        "whose CPU time it was, besides ours",
    ),
    ("service nginx", "loads of HTTP that have nginx as the server", "", ""),
    ("service apache_event", "loads of HTTP that have Apache as the server", "", ""),
    ("service apache_prefork_php", "loads of HTTP that ask for pages of PHP", "", ""),
    ("service nginx_fpm", "loads of HTTP that ask for pages of PHP beside nginx", "", ""),
    ("service php_fpm", "loads of HTTP that ask for pages of PHP beside nginx", "", ""),
    ("service mariadb", "loads of HTTP whose pages ask a database", "", ""),
    ("service postgres", "loads of HTTP whose pages ask this database", "", ""),
    ("service redis", "loads of HTTP whose pages ask this database", "", ""),
    (
        "quiet",
        "every verdict: time that others take hides small differences",
        "this moment: nobody took much CPU time while it was listened",
        "differences near the margin of 2 % at this moment; `stend run aa` shows the noise floor",
    ),
];

/// A program under test, or one that stands beside it.
fn program(software: Software) -> Capability {
    let name = format!("service {}", software.name);
    match software.path() {
        Ok(path) => Capability::new(&name, State::Ok, path.display().to_string()),
        Err(why) => Capability::new(&name, State::Absent, why).with_fix(software.fix()),
    }
}

/// Every item, in the order of the table, then factors, then what is recorded only.
pub fn items(
    store: &Result<PathBuf, CliError>,
    tests: &[Test],
    noise: Option<io::Result<Noise>>,
) -> Vec<Item> {
    let mut found = labs(tests);
    let place = store.as_ref().map_or(Path::new("./lab.stend"), PathBuf::as_path);
    found.extend(look(Path::new("/")));
    found.extend(look_at_store(place));
    found.extend(service::software().map(program));
    if let Some(why) = refused(store) {
        found.retain(|item| item.name != DISK);
        let none = Capability::new(DISK, State::Absent, why);
        found.push(none.with_fix("stend run PLAN --store ./lab.stend"));
    }
    found.extend(noise.map(quiet));
    let place = |name: &str| ROWS.iter().position(|(row, ..)| *row == name).unwrap_or(ROWS.len());
    found.sort_by_key(|item| place(&item.name));
    let of_row = |found: Capability| {
        let row = ROWS.iter().find(|(name, ..)| *name == found.name);
        let (_, effect, trust, doubt) = row.copied().unwrap_or(("", "", "", ""));
        Item { found, effect: row.map(|_| effect), trust, doubt }
    };
    let (used, recorded): (Vec<Item>, Vec<Item>) =
        found.into_iter().map(of_row).partition(|item| item.effect.is_some());
    let factors = factor::ALL.iter().map(|spec| of_factor(spec, tests));
    used.into_iter().chain(factors).chain(recorded).map(typed).collect()
}

/// The item with its command as this person has to type it: nobody is taken to have us on PATH.
fn typed(mut item: Item) -> Item {
    let called = |fix: String| match fix.strip_prefix("sudo stend") {
        Some(rest) => format!("sudo {}{rest}", invoked()),
        None => match fix.strip_prefix("stend ") {
            Some(rest) => format!("{} {rest}", invoked()),
            None => fix,
        },
    };
    item.found.fix = item.found.fix.map(called);
    item
}

/// Whether each kind of place stands: any test of it that runs shows it.
fn labs(tests: &[Test]) -> Vec<Capability> {
    let mut found = Vec::new();
    for (lab, sign) in [("root", "unshare(CLONE_NEWNET)"), ("user", "unshare(CLONE_NEWUSER)")] {
        let laid = format!("{sign}, bridge, veth and addresses made; streams opened over them");
        found.push(of_lab(lab, tests, &laid));
    }
    found.push(of_lab("loopback", tests, "hosts started; streams opened over 127.0.0.1"));
    found
}

fn of_lab(lab: &str, tests: &[Test], done: &str) -> Capability {
    let name = format!("lab {lab}");
    // Workloads set nothing, so that only the place itself can refuse them.
    let mut plain = tests.iter().filter(|t| t.lab == lab && t.id.starts_with("workload "));
    match plain.find_map(|test| test.here.clone()) {
        None => Capability::new(&name, State::Ok, done),
        Some(why) => {
            let item = Capability::new(&name, State::Absent, why);
            if lab == "root" { item.with_fix("sudo stend") } else { item }
        }
    }
}

fn of_factor(spec: &FactorSpec, tests: &[Test]) -> Item {
    let effect = Some(match spec.scope {
        Scope::Machine | Scope::Side | Scope::Network => "every plan that sets it, in every lab",
        Scope::Program | Scope::Socket | Scope::Profile => "every plan that sets it",
        Scope::Path | Scope::Link | Scope::Host => "every plan that sets it, in labs with links",
        Scope::Relay => "every plan that sets it, in labs with a relay",
        Scope::Sut => "every plan that sets it, in labs of several machines",
    });
    let found = factor::here(spec, Path::new("/")).unwrap_or_else(|| of_labs(spec, tests));
    Item { found, effect, trust: "", doubt: "" }
}

/// A factor that is tried in labs: where it took, or why nowhere.
fn of_labs(spec: &FactorSpec, tests: &[Test]) -> Capability {
    let name = format!("{FACTOR}{}", spec.name);
    let mine = || tests.iter().filter(|t| t.id == name && t.lab != SIMULATED);
    let took: Vec<&str> = mine().filter(|t| t.here.is_none()).map(|t| t.lab).collect();
    if took.is_empty() {
        // The reason of a place with links says more than that loopback has none.
        let why = mine().find_map(|test| test.here.clone()).unwrap_or_default();
        return Capability::new(&name, State::Absent, why);
    }
    let done = match spec.scope {
        Scope::Link | Scope::Host | Scope::Side | Scope::Relay => "set and read back",
        Scope::Network => "addresses laid, and streams opened with it",
        Scope::Program => "told to nobody, the load says whether it hears",
        _ => "streams opened with it",
    };
    Capability::new(&name, State::Ok, format!("{done} in lab {}", took.join(", ")))
}

fn quiet(heard: io::Result<Noise>) -> Capability {
    let name = "quiet";
    let noise = match heard {
        Ok(noise) => noise,
        Err(e) => return Capability::new(name, State::Absent, format!("listening: {e}")),
    };
    let share = |value: f64| Quantity::new(value, Unit::Share);
    let (cpu, lost, longest_ns) = noise.worst().unwrap_or((0, 0.0, 0));
    #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53 ns")]
    let longest = Quantity::new(longest_ns as f64 / 1e9, Unit::Second);
    let steal = noise.steal.map_or_else(|| "not said".into(), |s| share(s).to_string());
    let seconds = Quantity::new(noise.seconds, Unit::Second);
    let evidence = format!(
        "{seconds} on {} CPUs: CPU {cpu} lost {}, {longest} at once; /proc/stat steal {steal}",
        noise.cpus.len(),
        share(lost)
    );
    let loud = lost > MARGIN || noise.steal.is_some_and(|s| s > STEAL_MOST);
    if loud {
        return Capability::new(name, State::Degraded, evidence).with_fix("stend run aa");
    }
    Capability::new(name, State::Ok, evidence)
}
