//! Knows `stend lab` and `stend agent`: how a lab of several machines is made, who is let in, and
//! who is removed.
//!
//! Must not know what a machine is asked, nor how certificates are made.

use super::error::CliError;
use super::unit::{Place, Unit};
use super::{OK, invoked, machine, progress, quoted, store, terminal};
use clap::Subcommand;
use rig::keeper;
use rig::lab::trust::{self, Agent, Conductor, Invite};
use std::io::{self, BufRead as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Digits of a fingerprint that a list shows.
const SHOWN: usize = 16;

/// What of a lab of several machines is asked for.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Make a lab: its certificate authority and the certificate of this machine as conductor
    Init {
        /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print a code by which one machine joins the lab, and wait until it is used
    Invite {
        /// Name of the machine in the lab
        name: String,
        /// Address of this machine at which the other one reaches it [default: that of the route
        /// to other networks, port 7711]
        #[arg(long, value_name = "IP:PORT")]
        address: Option<SocketAddr>,
        /// How long the code can be used
        #[arg(long = "for", value_name = "TIME", default_value = "10m")]
        within: humantime::Duration,
        /// Sign without asking whether both machines show the same words
        #[arg(long)]
        yes: bool,
        /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// List the machines of the lab, removed ones too
    Hosts {
        /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Remove a machine from the lab: the next run refuses its certificate
    Remove {
        /// Name of the machine in the lab
        name: String,
        /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Check all machines of a lab file before a run; change nothing
    Doctor(super::lab_doctor::Wanted),
    /// Run two machines in software emulation that join the lab, with adapters and cables between
    /// them, until Ctrl-C; QEMU and a kernel have to be installed
    Guests(super::guests::Wanted),
}

/// What of this machine as a part of a lab is asked for.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// Join a lab by the code that `stend lab invite` printed on its conductor
    Join {
        /// The code
        code: String,
        /// Directory for key and certificate [default: STEND_LAB_DIR, else stend/lab in the state
        /// directory]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Serve the runs of the conductor, one after the other
    Listen {
        /// Address and port of this machine
        #[arg(default_value = "0.0.0.0:7000")]
        address: String,
        /// Serve one run and end
        #[arg(long)]
        once: bool,
        /// Directory of `stend agent join`
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Have every boot start the agent, by a unit of systemd
    InstallUnit {
        /// Address and port of this machine
        #[arg(default_value = "0.0.0.0:7000")]
        address: String,
        /// Directory of `stend agent join`
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
}

/// Does what is asked of a lab.
///
/// # Errors
/// When the directory is not that of a lab or cannot be written, or nobody joined.
pub fn lab(what: What) -> Result<u8, CliError> {
    match what {
        What::Init { dir } => {
            let lab = Conductor::init(&directory(dir.as_deref())?)?;
            let (path, stend) = (lab.path().display(), invoked());
            let next = format!("{stend} lab invite NAME{}", named(dir.as_deref()));
            writeln!(terminal::out(), "made a lab in {path}; to let a machine in:\n  {next}")?;
            Ok(OK)
        }
        What::Invite { name, address, within, yes, dir } => {
            let lab = Conductor::open(&directory(dir.as_deref())?)?;
            let address = address.map_or_else(trust::own_address, Ok)?;
            invite(&Invite::open(&lab, &name, address, within.into())?, &name, within, yes)
        }
        What::Guests(wanted) => super::guests::guests(&wanted),
        What::Doctor(wanted) => super::lab_doctor::doctor(&wanted),
        What::Hosts { dir } => hosts(&Conductor::open(&directory(dir.as_deref())?)?),
        What::Remove { name, dir } => {
            Conductor::open(&directory(dir.as_deref())?)?.remove(&name)?;
            writeln!(terminal::out(), "machine '{name}' is removed; the next run refuses it")?;
            Ok(OK)
        }
    }
}

/// Does what is asked of this machine as a part of a lab.
///
/// # Errors
/// When the code counts no more, the directory is another's, or the connection breaks.
pub fn agent(part: &Part) -> Result<u8, CliError> {
    match part {
        Part::Join { code, dir } => {
            let path = directory(dir.as_deref())?;
            let mut told = Ok(());
            let show = &mut |words: &str| {
                let mut out = terminal::out();
                let words = format!("the words of this machine: {words}");
                told = writeln!(out, "{words}\nwaiting for the other machine").and(out.flush());
            };
            let joined = trust::join(code, &path, show)?;
            told?;
            let (name, path) = (&joined.name, path.display());
            writeln!(terminal::out(), "joined as '{name}'; key and certificate are in {path}")?;
            Ok(OK)
        }
        Part::Listen { address, once, dir } => {
            let agent = Agent::open(&directory(dir.as_deref())?)?;
            let address = machine::socket(address).map_err(CliError::Agent)?;
            let told = &mut |words: &str| progress::say(&format!("agent: {words}"));
            let binary = std::env::current_exe()?;
            let user = rustix::process::geteuid();
            if !user.is_root() {
                let user = user.as_raw();
                told(&format!(
                    "as user {user} it lends no adapters; `stend lab doctor` tells more"
                ));
            }
            let served = keeper::listen((address, *once), &agent, &binary, told);
            served.map_err(CliError::Agent).map(|()| OK)
        }
        Part::InstallUnit { address, dir, place } => {
            let address = machine::socket(address).map_err(CliError::Agent)?;
            let path = directory(dir.as_deref())?;
            if !place.uninstall {
                // Whoever has not joined is told now, and not by the journal of systemd.
                Agent::open(&path)?;
            }
            Unit::agent(address, &path)?.put(place, &mut terminal::out())
        }
    }
}

/// The directory that is meant: as named, else `STEND_LAB_DIR`, else `stend/lab` in the state
/// directory of the user.
///
/// # Errors
/// When the user has none.
pub fn directory(named: Option<&Path>) -> Result<PathBuf, CliError> {
    let set = || std::env::var_os("STEND_LAB_DIR").filter(|path| !path.is_empty());
    match named.map(PathBuf::from).or_else(|| set().map(PathBuf::from)) {
        Some(path) => Ok(path),
        None => store::state("lab", "a directory with --dir"),
    }
}

/// The option that names a directory again, with a blank before it.
fn named(dir: Option<&Path>) -> String {
    dir.map(|dir| format!(" --dir {}", quoted(&dir.to_string_lossy()))).unwrap_or_default()
}

fn invite(
    invite: &Invite,
    name: &str,
    within: humantime::Duration,
    yes: bool,
) -> Result<u8, CliError> {
    let mut out = terminal::out();
    let code = invite.code();
    writeln!(out, "on machine '{name}', within {within}:\n  stend agent join {code}")?;
    out.flush()?;
    drop(out);
    let mut failed = Ok(());
    let agree = &mut |words: &str| match ask(words, yes) {
        Ok(agreed) => agreed,
        Err(e) => {
            failed = Err(e);
            false
        }
    };
    let joined = invite.wait(agree, &mut |words| progress::say(&format!("refused {words}")));
    failed?;
    joined?;
    writeln!(terminal::out(), "machine '{name}' has joined; start `stend agent listen` on it")?;
    Ok(OK)
}

/// Shows the words and asks whether the other machine shows the same.
fn ask(words: &str, yes: bool) -> io::Result<bool> {
    let mut out = terminal::out();
    writeln!(out, "the words of the other machine: {words}")?;
    if !yes {
        write!(out, "Do both machines show these words? [y/N] ")?;
    }
    out.flush()?;
    if yes {
        return Ok(true);
    }
    let mut said = String::new();
    if io::stdin().lock().read_line(&mut said)? == 0 {
        progress::say("nobody answers here; --yes agrees to whoever has the code");
    }
    Ok(matches!(said.trim(), "y" | "Y" | "yes"))
}

fn hosts(lab: &Conductor) -> Result<u8, CliError> {
    let register = lab.register()?;
    let mut out = terminal::out();
    if register.hosts.is_empty() {
        let next = format!("{} lab invite NAME", invoked());
        writeln!(out, "no machine has joined; to let one in:\n  {next}")?;
    }
    let wide = register.hosts.iter().map(|host| host.name.len()).max().unwrap_or_default();
    for host in &register.hosts {
        let at = |seconds| {
            let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH);
            humantime::format_rfc3339_seconds(time)
        };
        let removed = host.removed_s.map(|at_s| format!(", removed {}", at(at_s)));
        let print = host.fingerprint.get(..SHOWN).unwrap_or_default();
        let (name, joined) = (&host.name, at(host.joined_s));
        let removed = removed.unwrap_or_default();
        writeln!(out, "{name:wide$}  {print}  joined {joined}{removed}")?;
    }
    Ok(OK)
}
