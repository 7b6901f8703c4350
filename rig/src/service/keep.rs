//! Knows the keeper of an instance: two processes of this binary. The outer one opens namespaces of
//! processes and mounts; the inner one is the first process in them, so that everything in there
//! ends with it.
//!
//! Must not know which service it keeps.

use super::told::{FromKeeper, ToKeeper, Wanted, hear, say};
use super::{Service, Site, Why, find};
use crate::lab::{cpus, namespace};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::net::{SocketAddrV4, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The word by which the inner process is told apart.
const INSIDE: &str = "inside";
/// Mount point of a tmpfs that only this namespace sees, and the run directory in it.
const MOUNT: &str = "/tmp";
const DIRECTORY: &str = "/tmp/stend";
/// Options of the tmpfs.
const SIZE: &str = "size=512m,mode=755";
/// Longest wait until it serves, and until it has ended.
const READY: Duration = Duration::from_secs(15);
const END: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(2);

/// Keeps an instance for the host that started this process, until that is gone or has enough.
///
/// # Errors
/// When the host cannot be told.
pub fn keep(word: Option<&str>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let kept = match word {
        Some(INSIDE) => inside(),
        _ => outside(),
    };
    match kept {
        Ok(()) => Ok(()),
        Err(why) => {
            say(&mut io::stdout().lock(), &FromKeeper::Failed(why)).map_err(io::Error::other)
        }
    }
}

fn outside() -> Result<(), Why> {
    namespace::own_processes().map_err(|e| {
        format!("{e}; a service needs root, or user namespaces (sysctl user.max_user_namespaces)")
    })?;
    let binary = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut inner = Command::new(binary);
    inner.arg0("stend-service").args(["service", INSIDE]).current_dir("/");
    inner.status().map(|_| ()).map_err(|e| e.to_string())
}

fn inside() -> Result<(), Why> {
    let mut host = BufReader::new(io::stdin().lock());
    let Some(ToKeeper::Start(wanted, files)) = hear(&mut host)? else { return Ok(()) };
    let service =
        find(&wanted.service).ok_or_else(|| format!("no service '{}'", wanted.service))?;
    let version = version(service)?;
    own_directory().map_err(|e| format!("a run directory: {e}"))?;
    let site = site(&wanted)?;
    for (name, length) in files {
        let mut bytes = Vec::new();
        (&mut host).take(length).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        site.write(&name, &bytes)?;
    }
    (service.prepare)(&site)?;
    if !wanted.cpus.is_empty() {
        cpus::pin_to(&wanted.cpus).map_err(|e| format!("CPUs {:?}: {e}", wanted.cpus))?;
    }
    let mut program = start(service, &site)?;
    let asked = ready(service, &site, &mut program)?;
    say(&mut io::stdout().lock(), &FromKeeper::Serves(site.address.port(), version))?;
    serve(&mut host, (service, &site), &mut program, asked)?;
    end(service, &mut program);
    Ok(())
}

/// Answers the host until it has enough; `asked` requests have been our own.
fn serve(
    host: &mut impl BufRead,
    (service, site): (&Service, &Site),
    program: &mut Child,
    mut asked: u64,
) -> Result<(), Why> {
    while let Some(ToKeeper::Count) = hear(host)? {
        lives(program, site)?;
        let served = (service.requests)(site)?;
        asked += 1;
        say(&mut io::stdout().lock(), &FromKeeper::Served(served.saturating_sub(asked)))?;
    }
    Ok(())
}

/// Mounts that nobody else sees: processes of this namespace, and a file system in memory.
fn own_directory() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // A container may forbid it; then programs see the processes of the host there.
    let _ = mount("proc", "/proc", "proc", MountFlags::empty(), None);
    let size = std::ffi::CString::new(SIZE)?;
    mount("stend", MOUNT, "tmpfs", MountFlags::empty(), Some(size.as_c_str()))?;
    std::fs::create_dir(DIRECTORY)
}

fn site(wanted: &Wanted) -> Result<Site, Why> {
    let free = || TcpListener::bind((wanted.address, 0))?.local_addr();
    let port = free().map_err(|e| format!("{}: {e}", wanted.address))?.port();
    let mine = cpus::mine().map_err(|e| e.to_string())?;
    Ok(Site {
        directory: DIRECTORY.into(),
        address: SocketAddrV4::new(wanted.address, port),
        settings: wanted.settings.clone(),
        cpus: if wanted.cpus.is_empty() { mine.len() } else { wanted.cpus.len() },
        is_root: namespace::is_root_of_machine(),
    })
}

/// What it says of its version, in its first line.
fn version(service: &Service) -> Result<String, Why> {
    let asked = Command::new(service.path()?).args(service.version).output();
    let asked = asked.map_err(|e| format!("{}: {e}", service.program))?;
    let said = [asked.stdout, asked.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
}

fn start(service: &Service, site: &Site) -> Result<Child, Why> {
    let log = File::options().create(true).append(true).open(site.path("log"));
    let log = log.map_err(|e| format!("a log: {e}"))?;
    let [out, err] = [log.try_clone(), Ok(log)].map(|log| log.map_or(Stdio::null(), Stdio::from));
    let mut command = Command::new(service.path()?);
    command.args((service.start)(site)).current_dir(Path::new(DIRECTORY)).stdin(Stdio::null());
    command.stdout(out).stderr(err).spawn().map_err(|e| format!("{}: {e}", service.program))
}

/// Whether it still runs.
fn lives(program: &mut Child, site: &Site) -> Result<(), Why> {
    match program.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(format!("it has ended ({status}); its log: {}", site.log())),
        Err(e) => Err(e.to_string()),
    }
}

/// Waits until it answers; gives how many requests that took.
fn ready(service: &Service, site: &Site, program: &mut Child) -> Result<u64, Why> {
    let deadline = Instant::now() + READY;
    loop {
        lives(program, site)?;
        match (service.requests)(site) {
            // What it has not counted it did not serve.
            Ok(served) => return Ok(served),
            Err(why) if Instant::now() > deadline => {
                let within = READY.as_secs();
                return Err(format!("not ready within {within} s: {why}; its log: {}", site.log()));
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// Has it end; whatever is left ends with this process.
fn end(service: &Service, program: &mut Child) {
    let Some(pid) = i32::try_from(program.id()).ok().and_then(Pid::from_raw) else { return };
    let _ = kill_process(pid, service.stop);
    let deadline = Instant::now() + END;
    while matches!(program.try_wait(), Ok(None)) && Instant::now() < deadline {
        thread::sleep(LOOK);
    }
}
