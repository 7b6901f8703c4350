//! Knows the keeper of an instance: two processes of this binary. The outer one opens namespaces of
//! processes and mounts; the inner one is the first process in them, so that everything in there
//! ends with it.
//!
//! Must not know which service it keeps.

use super::root::BECOME;
use super::told::{FileSum, FromKeeper, ToKeeper, Wanted, hear, say};
use super::{Companion, Service, Site, Why, find, no_namespaces};
use crate::lab::{cpus, namespace};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal, setsid};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
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
/// Options of the tmpfs: any user may have temporary files, as PHP has of a long request.
const SIZE: &str = "size=512m,mode=1777";
/// Of it what stays free beside the files that it is given.
const FLOOR: u64 = 64 << 20;
/// Longest wait until it serves, and until it has ended.
const READY: Duration = Duration::from_secs(15);
const END: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(2);

/// What stands beside a service: its name, and its process.
type Beside = (&'static str, Child);

/// Keeps an instance for the host that started this process, until that is gone or has enough.
///
/// # Errors
/// When the host cannot be told.
pub fn keep(words: &[String]) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let kept = match words.as_slice() {
        [INSIDE] => inside(),
        [BECOME, program, options @ ..] => return Err(as_nobody(program, options)),
        _ => outside().map_err(Failed::from),
    };
    match kept {
        Ok(()) => Ok(()),
        Err(Failed { why, log }) => {
            say(&mut io::stdout().lock(), &FromKeeper::Failed(why, log)).map_err(io::Error::other)
        }
    }
}

/// Why an instance does not serve, and its log where it has one.
struct Failed {
    why: Why,
    log: String,
}

impl From<Why> for Failed {
    fn from(why: Why) -> Self {
        Self { why, log: String::new() }
    }
}

/// Becomes a program of a user who is not root; comes back only with an error.
fn as_nobody(program: &str, options: &[&str]) -> io::Error {
    match namespace::own_nobody() {
        Ok(()) => Command::new(program).args(options).exec(),
        Err(e) => io::Error::other(e),
    }
}

fn outside() -> Result<(), Why> {
    // Where hosts have no control groups, the scheduler shares CPUs between sessions (sched(7),
    // autogroup): hundreds of processes of a service must not keep its host from reading counters.
    let _ = setsid();
    namespace::own_processes().map_err(|e| no_namespaces(&e))?;
    let binary = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut inner = Command::new(binary);
    inner.arg0("stend-service").args(["service", INSIDE]).current_dir("/");
    inner.status().map(|_| ()).map_err(|e| e.to_string())
}

fn inside() -> Result<(), Failed> {
    let mut host = BufReader::new(io::stdin().lock());
    let Some(ToKeeper::Start(wanted, files)) = hear(&mut host)? else { return Ok(()) };
    let service =
        find(&wanted.service).ok_or_else(|| format!("no service '{}'", wanted.service))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let version = service.software.version()?;
    own_directory().map_err(|e| format!("a run directory: {e}"))?;
    let site = site(&wanted)?;
    keep_at(&site, (service, version), (&wanted, files), &mut host)
        .map_err(|why| Failed { why, log: site.whole_log() })
}

/// Puts it up in its run directory, and answers the host.
fn keep_at(
    site: &Site,
    (service, mut version): (&Service, String),
    (wanted, files): (&Wanted, Vec<(String, u64)>),
    mut host: &mut impl BufRead,
) -> Result<(), Why> {
    room(files.iter().map(|(_, length)| length).sum())?;
    for (name, length) in files {
        let mut bytes = Vec::new();
        (&mut host).take(length).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        site.write(&name, &bytes)?;
    }
    (service.prepare)(site)?;
    if !wanted.cpus.is_empty() {
        cpus::pin_to(&wanted.cpus).map_err(|e| format!("CPUs {:?}: {e}", wanted.cpus))?;
    }
    let mut beside = Vec::new();
    for companion in (service.companions)(site) {
        version = format!("{version}; {}", companion.software.version()?);
        beside.push((companion.software.program, start_beside(companion, site)?));
    }
    let mut program = start(service, site)?;
    let asked = ready(service, site, (&mut program, &mut beside))?;
    say(&mut io::stdout().lock(), &FromKeeper::Serves(site.address.port(), version))?;
    serve(host, (service, site), (&mut program, &mut beside), asked)?;
    end(service, &mut program);
    Ok(())
}

/// Answers the host until it has enough; `asked` requests have been our own.
fn serve(
    host: &mut impl BufRead,
    (service, site): (&Service, &Site),
    (program, beside): (&mut Child, &mut [Beside]),
    mut asked: u64,
) -> Result<(), Why> {
    while let Some(told) = hear(host)? {
        all_live(program, beside, site)?;
        if full(site).is_some() {
            return Err(wrong("it has no room", site));
        }
        let answer = match told {
            ToKeeper::Start(..) => return Err("it serves already".into()),
            ToKeeper::Compare(files) => {
                let is_same = |file: &FileSum| site.sum(&file.name).as_ref() == Some(file);
                FromKeeper::Compared(files.iter().all(is_same))
            }
            ToKeeper::Wait => FromKeeper::Waiting(service.waiting.and_then(|waiting| {
                asked += waiting.requests;
                (waiting.ask)(site).ok()
            })),
            ToKeeper::Count => {
                let served = (service.requests)(site)?;
                asked += 1;
                FromKeeper::Served(served.saturating_sub(asked))
            }
        };
        say(&mut io::stdout().lock(), &answer)?;
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

/// Refuses files beside which the run directory has too little room for what programs write.
fn room(bytes: u64) -> Result<(), Why> {
    let told = rustix::fs::statvfs(DIRECTORY).map_err(|e| format!("{DIRECTORY}: {e}"))?;
    fits(bytes, told.f_bavail * told.f_frsize)
}

fn fits(bytes: u64, free: u64) -> Result<(), Why> {
    let most = free.saturating_sub(FLOOR);
    if bytes <= most {
        return Ok(());
    }
    let [bytes, most, floor] = [bytes, most, FLOOR].map(|bytes| bytes >> 20);
    Err(format!(
        "its files have {bytes} MiB, and {most} MiB fit in its run directory beside {floor} MiB \
         that stay free; take fewer or smaller pages"
    ))
}

fn site(wanted: &Wanted) -> Result<Site, Why> {
    // Both at once: the second must not be the first again.
    let free = [(); 2].map(|()| TcpListener::bind((wanted.address, 0)));
    let port = |at: &io::Result<TcpListener>| match at {
        Ok(listener) => listener.local_addr().map(|at| at.port()).map_err(|e| e.to_string()),
        Err(e) => Err(format!("{}: {e}", wanted.address)),
    };
    let [address, spare] =
        [port(&free[0])?, port(&free[1])?].map(|port| SocketAddr::new(wanted.address, port));
    let mine = cpus::mine().map_err(|e| e.to_string())?;
    let site = Site {
        directory: DIRECTORY.into(),
        address,
        plain: address,
        settings: wanted.settings.clone(),
        cpus: if wanted.cpus.is_empty() { mine.len() } else { wanted.cpus.len() },
        is_root: namespace::is_root_of_machine(),
    };
    let plain = if site.is_encrypted() { spare } else { address };
    Ok(Site { plain, ..site })
}

/// Starts what stands beside a service, and waits until its socket serves.
fn start_beside(companion: &Companion, site: &Site) -> Result<Child, Why> {
    (companion.prepare)(site)?;
    let name = companion.software.program;
    let mut command = companion.root.command(&companion.software.path()?, site);
    command.args((companion.start)(site));
    let mut program = spawn(command, name, site)?;
    let deadline = Instant::now() + READY;
    while let Err(e) = UnixStream::connect(site.path(companion.socket)) {
        lives(&mut program, site).map_err(|why| format!("{name}: {why}"))?;
        if Instant::now() > deadline {
            return Err(wrong(
                &format!("{name} is not ready within {} s: {e}", READY.as_secs()),
                site,
            ));
        }
        thread::sleep(LOOK);
    }
    (companion.fill)(site).map_err(|why| wrong(&format!("{name}: {why}"), site))?;
    Ok(program)
}

fn start(service: &Service, site: &Site) -> Result<Child, Why> {
    let mut command = service.root.command(&service.software.path()?, site);
    command.args((service.start)(site));
    spawn(command, service.software.program, site)
}

/// Starts a program in the run directory, with its words in the log.
fn spawn(mut command: Command, name: &str, site: &Site) -> Result<Child, Why> {
    let log = File::options().create(true).append(true).open(site.path("log"));
    let log = log.map_err(|e| format!("a log: {e}"))?;
    let [out, err] = [log.try_clone(), Ok(log)].map(|log| log.map_or(Stdio::null(), Stdio::from));
    command.current_dir(Path::new(DIRECTORY)).stdin(Stdio::null());
    // Apache ends by a signal to its process group, which must not be that of the host.
    command.process_group(0);
    command.stdout(out).stderr(err).spawn().map_err(|e| format!("{name}: {e}"))
}

/// Whether it still runs.
fn lives(program: &mut Child, site: &Site) -> Result<(), Why> {
    match program.try_wait() {
        Ok(None) => Ok(()),
        Ok(Some(status)) => Err(wrong(&format!("it has ended ({status})"), site)),
        Err(e) => Err(e.to_string()),
    }
}

/// What is wrong, with the end of its log and whether its run directory is full: a program that
/// cannot write is not what was to be measured.
fn wrong(what: &str, site: &Site) -> Why {
    let full = full(site).map_or_else(String::new, |full| format!("; {full}"));
    format!("{what}{full}; its log: {}", site.log())
}

/// That the run directory has no room, in words.
fn full(site: &Site) -> Option<String> {
    let of = rustix::fs::statvfs(&site.directory).ok().filter(|of| of.f_bavail == 0)?;
    Some(format!("its run directory of {} MiB is full", (of.f_blocks * of.f_frsize) >> 20))
}

/// Whether it still runs, and what stands beside it.
fn all_live(program: &mut Child, beside: &mut [Beside], site: &Site) -> Result<(), Why> {
    lives(program, site)?;
    beside.iter_mut().try_for_each(|(name, beside)| {
        lives(beside, site).map_err(|why| format!("{name} beside it: {why}"))
    })
}

/// Waits until it answers what clients will ask for, and tells its count; gives how many requests
/// that took.
fn ready(
    service: &Service,
    site: &Site,
    (program, beside): (&mut Child, &mut [Beside]),
) -> Result<u64, Why> {
    let deadline = Instant::now() + READY;
    let mut answered = false;
    loop {
        all_live(program, beside, site)?;
        let asked = if answered { Ok(()) } else { answers(site) };
        answered = asked.is_ok();
        match asked.and_then(|()| (service.requests)(site)) {
            // What it has not counted it did not serve.
            Ok(served) => return Ok(served),
            Err(why) if Instant::now() > deadline => {
                let within = READY.as_secs();
                return Err(wrong(&format!("not ready within {within} s: {why}"), site));
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// Whether what clients will ask for has a body.
fn answers(site: &Site) -> Result<(), Why> {
    match site.setting("asked", "") {
        "" => Ok(()),
        path if site.get(path)?.is_empty() => Err(format!("{path} is empty")),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_directory_keeps_room_beside_its_files() {
        assert_eq!(fits(448 << 20, 512 << 20), Ok(()));
        let said = fits(449 << 20, 512 << 20).unwrap_err();
        assert!(said.contains("449 MiB, and 448 MiB fit") && said.contains("64 MiB"), "{said}");
    }
}
