//! Knows `stend lab guests`: two machines in software emulation that join a lab, their lab file,
//! and the two hidden verbs of the processes around and inside them.
//!
//! Must not know how a guest is put together.

use super::error::CliError;
use super::{INTERRUPTED, OK, lab, progress, quoted, terminal};
use clap::Args;
use rig::lab::guest::{self, Boot, Guest, GuestError, HOST, Kernel, LISTENS, Model, System};
use rig::lab::trust::{Conductor, Invite, TrustError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Longest time from the start of the emulators until both agents listen.
const BOOT: Duration = Duration::from_secs(240);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(100);
/// The first ports that are tried for the agents, less one.
const PORTS: u16 = 7000;
const NAMES: [&str; 2] = ["guest1", "guest2"];

/// What guests are made of.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Adapters of each guest, joined by a cable to the same one of the other guest
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "e1000-82540em,e1000-82545em,e1000e-82574l,virtio"
    )]
    adapters: Vec<String>,
    /// Join the adapters of a guest in pairs, for a run on one guest alone
    #[arg(long, hide = true)]
    inside: bool,
    /// Directory that holds `boot` and `lib/modules`, as of a kernel's package that was unpacked
    #[arg(long, value_name = "DIR", default_value = "/")]
    kernel: PathBuf,
    /// File in which machines, roles and links are written
    #[arg(long, value_name = "FILE", default_value = "lab.toml")]
    out: PathBuf,
    /// Directory of the lab [default: STEND_LAB_DIR, else stend/lab in the state directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// The processes of a guest: QEMU outside, and the first one inside.
///
/// # Errors
/// When it was not started as one.
pub fn own(words: &[String]) -> Result<u8, CliError> {
    match words.split_first() {
        Some((verb, words)) if verb == "emulate" => guest::emulate(words)?,
        _ => guest::init()?,
    }
    Ok(OK)
}

/// A directory for archive and consoles, which goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CliError> {
        let path = std::env::temp_dir().join(format!("stend-guests-{}", std::process::id()));
        let directory = |source| CliError::Directory { path: path.clone(), source };
        std::fs::create_dir(&path).map_err(directory)?;
        Ok(Self(path))
    }

    fn console(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.log"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A guest that was started, and what its invitation came to.
struct Started {
    name: &'static str,
    port: u16,
    guest: Guest,
    joined: Receiver<Result<(), TrustError>>,
    console: PathBuf,
}

impl Started {
    /// Whether its agent listens.
    fn listens(&mut self) -> Result<bool, CliError> {
        match self.joined.try_recv() {
            Ok(joined) => joined?,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        let said = std::fs::read_to_string(&self.console).unwrap_or_default();
        if self.guest.ended()?.is_some() {
            let tail: Vec<&str> = said.lines().rev().take(5).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            let what = format!("{} has ended; its console said\n{}", self.name, tail.join("\n"));
            return Err(CliError::Io(io::Error::other(what)));
        }
        Ok(said.contains(LISTENS))
    }
}

/// Builds both guests, lets them join, and stays until it is stopped; then both are gone.
///
/// # Errors
/// When QEMU or a kernel is not there, or a guest does not boot or join in time.
pub fn guests(wanted: &Wanted) -> Result<u8, CliError> {
    let conductor = Conductor::open(&lab::directory(wanted.dir.as_deref())?)?;
    let models = wanted.adapters.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>()?;
    let kernel = Kernel::find(&wanted.kernel)?;
    let stop = stopped()?;
    let scratch = Scratch::make()?;
    let program = std::env::current_exe()?;
    let system = System::build(&kernel, &program, &models, &scratch.0)?;
    let ends = ends(models.len(), wanted.inside)?;
    let begun = Instant::now();
    let mut started = Vec::new();
    for ((number, name), ends) in (1_u8..).zip(NAMES).zip(ends) {
        let console = scratch.console(name);
        let adapters = models.iter().copied().zip(ends).collect();
        started.push(start(&conductor, (&system, &program), (number, name), (adapters, console))?);
    }
    progress::say("the guests boot in software emulation, which takes up to a minute");
    while !all_listen(&mut started)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        if begun.elapsed() > BOOT {
            let what = format!("the guests did not join within {} s", BOOT.as_secs());
            return Err(CliError::Io(io::Error::other(what)));
        }
        std::thread::sleep(LOOK);
    }
    drop(system);
    let text = lab_file(&started, &models);
    let written = std::fs::write(&wanted.out, text);
    written.map_err(|source| CliError::Write { path: wanted.out.clone(), source })?;
    tell(&started, &wanted.out, begun.elapsed())?;
    while !stop.load(Ordering::Relaxed) {
        all_listen(&mut started)?;
        std::thread::sleep(LOOK);
    }
    Ok(OK)
}

/// The ends of cables at the adapters of each guest: to the other guest, or from one adapter to the
/// next.
fn ends(adapters: usize, inside: bool) -> Result<[Vec<OwnedFd>; 2], GuestError> {
    if !inside {
        let (near, far) = guest::cables(adapters)?;
        return Ok([near, far]);
    }
    let pairs = || -> Result<Vec<OwnedFd>, GuestError> {
        let (near, far) = guest::cables(adapters.div_ceil(2))?;
        Ok(near.into_iter().zip(far).flat_map(|(near, far)| [near, far]).collect())
    };
    Ok([pairs()?, pairs()?])
}

/// Set once a person ends it.
fn stopped() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn all_listen(started: &mut [Started]) -> Result<bool, CliError> {
    let mut all = true;
    for guest in started {
        all &= guest.listens()?;
    }
    Ok(all)
}

/// Invites a guest, in place of one of the same name that is gone, and boots it.
fn start(
    conductor: &Conductor,
    (system, program): (&System, &Path),
    (number, name): (u8, &'static str),
    (adapters, console): (Vec<(Model, OwnedFd)>, PathBuf),
) -> Result<Started, CliError> {
    let hosts = conductor.register()?.hosts;
    if hosts.iter().any(|host| host.name == name && host.removed_s.is_none()) {
        conductor.remove(name)?;
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let invite = Invite::open(conductor, name, address, BOOT)?;
    let code = invite.code_by(HOST.into());
    let port = free_port(number)?;
    let boot = Boot { number, code: &code, port, adapters, console: &console };
    let guest = Guest::boot(system, program, boot)?;
    let (tells, joined) = channel();
    std::thread::spawn(move || {
        // The secret went to this guest alone, and to no person who could compare words.
        let ended = invite.wait(&mut |_| true, &mut |_| ());
        let _ = tells.send(ended);
    });
    Ok(Started { name, port, guest, joined, console })
}

/// A port of the loopback that nobody listens at.
fn free_port(number: u8) -> io::Result<u16> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(PORTS + u16::from(number)).or_else(|_| bind(0))?;
    Ok(listener.local_addr()?.port())
}

/// Machines, roles and links, as a run reads them.
fn lab_file(started: &[Started], models: &[Model]) -> String {
    let mut text = String::from(
        "# Two guests in software emulation: no figure of theirs tells how fast anything is.\n",
    );
    for guest in started {
        let (name, port) = (guest.name, guest.port);
        let _ = writeln!(text, "[machines.{name}]\naddress = \"127.0.0.1:{port}\"\n");
    }
    let [sut, client] = NAMES;
    let _ = writeln!(text, "[roles]\nsut = \"{sut}\"\nclients = [\"{client}\"]");
    for (at, model) in (1..).zip(models) {
        let _ = writeln!(text, "\n[links.{}]", model.name);
        for name in NAMES {
            let _ = writeln!(text, "{name} = \"eth{at}\"");
        }
    }
    text
}

fn tell(started: &[Started], file: &Path, took: Duration) -> io::Result<()> {
    let mut out = terminal::out();
    let file = quoted(&file.to_string_lossy());
    writeln!(out, "both guests have joined, after {:.0} s", took.as_secs_f64())?;
    for guest in started {
        writeln!(out, "{} at 127.0.0.1:{}", guest.name, guest.port)?;
    }
    writeln!(out, "in another terminal:\n  stend run PLAN --lab {file}")?;
    writeln!(out, "Ctrl-C ends the guests")?;
    out.flush()
}
