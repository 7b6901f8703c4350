//! Knows `stend lab guests`: machines in software emulation that join a lab, their lab file, and
//! the two hidden verbs of the processes around and inside them.
//!
//! Must not know how a guest is put together.

use super::error::CliError;
use super::{INTERRUPTED, OK, files, invoked, lab, progress, quoted, terminal};
use clap::Args;
use rig::lab::guest::{self, Boot, Guest, GuestError, HOST, Kernel, LISTENS, Model, Port, System};
use rig::lab::trust::{Conductor, Invite, TrustError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longest time from the start of the emulators until all agents listen.
const BOOT: Duration = Duration::from_secs(240);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(100);
/// The first port that is tried for an agent, less one.
const PORTS: u16 = 7000;
/// Most servers; the guest with the clients comes besides.
const SERVERS: usize = 4;
/// First line of a lab file of guests, by which one is known that may be replaced.
const HEAD: &str =
    "# Guests in software emulation: no figure of theirs tells how fast anything is.";

/// What guests are made of.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Adapters of a server, each joined to the same one of the guest with the clients; once for
    /// each server
    #[arg(
        long = "server",
        value_name = "A,B",
        default_value = "e1000-82540em,e1000-82545em,e1000e-82574l,virtio"
    )]
    servers: Vec<String>,
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

/// A directory for archive, consoles and orders, which goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CliError> {
        let path = std::env::temp_dir().join(format!("stend-guests-{}", std::process::id()));
        let directory = |source| CliError::Directory { path: path.clone(), source };
        std::fs::create_dir(&path).map_err(directory)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A guest as it is built; it can boot more than once.
struct Built {
    name: String,
    number: u8,
    /// Port of the loopback at which its agent is reached.
    port: u16,
    ports: Vec<Port>,
    console: PathBuf,
    orders: PathBuf,
}

/// From what guests boot, and the lab that they join.
struct Base<'b> {
    conductor: &'b Conductor,
    system: &'b System,
    program: &'b Path,
}

/// A guest that was started, and what its invitation came to.
struct Started {
    guest: Guest,
    joined: Receiver<Result<(), TrustError>>,
    listens: bool,
}

/// Builds the guests, lets them join, and stays until it is stopped; then all are gone.
///
/// # Errors
/// When QEMU or a kernel is not there, or a guest does not boot or join in time.
pub fn guests(wanted: &Wanted) -> Result<u8, CliError> {
    may_replace(&wanted.out)?;
    let conductor = Conductor::open(&lab::directory(wanted.dir.as_deref())?)?;
    let servers = servers(&wanted.servers)?;
    let kernel = Kernel::find(&wanted.kernel)?;
    let stop = stopped()?;
    let scratch = Scratch::make()?;
    let program = std::env::current_exe()?;
    let system = System::build(&kernel, &program, &servers.concat(), &scratch.0)?;
    let base = Base { conductor: &conductor, system: &system, program: &program };
    let built = build(&servers, &scratch.0)?;
    let begun = Instant::now();
    let mut all = Vec::new();
    for guest in &built {
        all.push(start(&base, guest)?);
    }
    progress::say("the guests boot in software emulation, which takes up to a minute");
    while !all_listen(&built, &mut all)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        if begun.elapsed() > BOOT {
            let what = format!("the guests did not join within {} s", BOOT.as_secs());
            return Err(CliError::Io(io::Error::other(what)));
        }
        std::thread::sleep(LOOK);
    }
    let written = files::replace(&wanted.out, lab_file(&built).as_bytes());
    written.map_err(|source| CliError::Write { path: wanted.out.clone(), source })?;
    tell(&built, &wanted.out, begun.elapsed())?;
    while !stop.load(Ordering::Relaxed) {
        boot_again(&base, &built, &mut all)?;
        std::thread::sleep(LOOK);
    }
    Ok(OK)
}

/// The lab file of a person is not replaced.
fn may_replace(path: &Path) -> Result<(), CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) if !text.starts_with(HEAD) => {
            let what = format!(
                "{} is there and was not written for guests; name another file by --out",
                path.display()
            );
            Err(CliError::Io(io::Error::other(what)))
        }
        _ => Ok(()),
    }
}

/// The adapters of each server.
fn servers(wanted: &[String]) -> Result<Vec<Vec<Model>>, CliError> {
    let models = |list: &String| list.split(',').map(str::parse).collect::<Result<Vec<_>, _>>();
    let all = wanted.iter().map(models).collect::<Result<Vec<_>, GuestError>>()?;
    let count = all.first().map_or(0, Vec::len);
    if all.len() > SERVERS || all.iter().any(|models| models.len() != count) {
        let what = format!(
            "--server is given {} times; at most {SERVERS} servers with as many adapters each can \
             be had",
            all.len()
        );
        return Err(CliError::Io(io::Error::other(what)));
    }
    Ok(all)
}

/// The servers, and behind them the guest that reaches each adapter of theirs.
fn build(servers: &[Vec<Model>], scratch: &Path) -> Result<Vec<Built>, GuestError> {
    let first = servers.first().map(Vec::as_slice).unwrap_or_default();
    let mut load: Vec<Port> =
        first.iter().map(|model| Port { model: *model, cables: Vec::new() }).collect();
    let mut all = Vec::new();
    for (at, models) in servers.iter().enumerate() {
        let mut ports = Vec::new();
        for (model, port) in models.iter().zip(&mut load) {
            let (near, far) = guest::cable()?;
            port.cables.push(far);
            ports.push(Port { model: *model, cables: vec![near] });
        }
        let name = if servers.len() == 1 { "server".into() } else { format!("server{}", at + 1) };
        all.push((name, ports));
    }
    all.push(("load".into(), load));
    let built = |(number, (name, ports)): (u8, (String, Vec<Port>))| {
        Ok(Built {
            port: free_port(number).map_err(|e| GuestError::refused("a port", e))?,
            console: scratch.join(format!("{name}.log")),
            orders: scratch.join(format!("{name}.qmp")),
            name,
            number,
            ports,
        })
    };
    (1_u8..).zip(all).map(built).collect()
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

/// Whether all agents listen. A guest that has ended before is an error.
fn all_listen(built: &[Built], all: &mut [Started]) -> Result<bool, CliError> {
    let mut listen = true;
    for (guest, started) in built.iter().zip(all) {
        if let Ok(joined) = started.joined.try_recv() {
            joined?;
        }
        let said = std::fs::read_to_string(&guest.console).unwrap_or_default();
        if started.guest.ended()?.is_some() {
            let tail: Vec<&str> = said.lines().rev().take(5).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            let what = format!("{} has ended; its console said\n{}", guest.name, tail.join("\n"));
            return Err(CliError::Io(io::Error::other(what)));
        }
        started.listens = said.contains(LISTENS);
        listen &= started.listens;
    }
    Ok(listen)
}

/// Boots a guest that has ended, as one does that was told to reboot; it joins by a new code.
fn boot_again(base: &Base<'_>, built: &[Built], all: &mut [Started]) -> Result<(), CliError> {
    for (guest, started) in built.iter().zip(all.iter_mut()) {
        if started.listens && started.guest.ended()?.is_some() {
            progress::say(&format!("{} has ended and boots again", guest.name));
            *started = start(base, guest)?;
        }
    }
    all_listen(built, all).map(|_| ())
}

/// Invites a guest, in place of one of the same name that is gone, and boots it.
fn start(base: &Base<'_>, built: &Built) -> Result<Started, CliError> {
    let Base { conductor, system, program } = base;
    let name = &built.name;
    let hosts = conductor.register()?.hosts;
    if hosts.iter().any(|host| host.name == *name && host.removed_s.is_none()) {
        conductor.remove(name)?;
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let invite = Invite::open(conductor, name, address, BOOT)?;
    let code = invite.code_by(HOST.into());
    let Built { number, port, ports, console, orders, .. } = built;
    let boot = Boot { number: *number, code: &code, port: *port, ports, console, orders };
    let guest = Guest::boot(system, program, &boot)?;
    let (tells, joined) = channel();
    std::thread::spawn(move || {
        // The secret went to this guest alone, and to no person who could compare words.
        let ended = invite.wait(&mut |_| true, &mut |_| ());
        let _ = tells.send(ended);
    });
    Ok(Started { guest, joined, listens: false })
}

/// A port of the loopback that nobody listens at.
fn free_port(number: u8) -> io::Result<u16> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(PORTS + u16::from(number)).or_else(|_| bind(0))?;
    Ok(listener.local_addr()?.port())
}

/// Machines, roles and links, as a run reads them.
fn lab_file(built: &[Built]) -> String {
    let mut text = format!("{HEAD}\n");
    for Built { name, port, .. } in built {
        let _ = writeln!(text, "[machines.{name}]\naddress = \"127.0.0.1:{port}\"\n");
    }
    let Some((load, servers)) = built.split_last() else { return text };
    let names: Vec<String> = servers.iter().map(|guest| format!("\"{}\"", guest.name)).collect();
    let list = names.join(", ");
    let sut = if servers.len() == 1 { list } else { format!("[{list}]") };
    let _ = writeln!(text, "[roles]\nsut = {sut}\nclients = \"{}\"", load.name);
    for (at, port) in (1..).zip(&load.ports) {
        let link = if servers.len() == 1 { port.model.name.into() } else { format!("lan{at}") };
        let _ = writeln!(text, "\n[links.{link}]");
        for guest in built {
            let _ = writeln!(text, "{} = \"eth{at}\"", guest.name);
        }
    }
    text
}

fn tell(built: &[Built], file: &Path, took: Duration) -> io::Result<()> {
    let mut out = terminal::out();
    let file = quoted(&file.to_string_lossy());
    writeln!(out, "all guests have joined, after {:.0} s", took.as_secs_f64())?;
    for Built { name, port, orders, .. } in built {
        let orders = orders.display();
        writeln!(out, "{name}: agent at 127.0.0.1:{port}, QMP of QEMU at {orders}")?;
    }
    writeln!(out, "in another terminal:\n  {} run PLAN --machines {file}", invoked())?;
    writeln!(out, "Ctrl-C ends the guests")?;
    out.flush()
}
