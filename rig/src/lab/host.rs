//! Knows a host: a process of its own that does what it is asked, and the door to it.
//!
//! Must not know what is asked of it, nor how many hosts a lab has.

use super::error::LabError;
use super::undo::{self, Owner};
use super::wire::{self, Answer, LinkAnswer, LinkRequest, Request};
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a wait looks at the stop flag.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A host of the lab. Asking and answering are apart, so that many hosts can work at once.
pub trait Host: Send {
    /// Its name: `sut`, `c01`, `switch`.
    fn name(&self) -> &str;
    /// The process that it is.
    fn pid(&self) -> u32;
    /// Asks without waiting.
    ///
    /// # Errors
    /// When the host is gone.
    fn send(&mut self, request: &Request) -> Result<(), LabError>;
    /// Waits for the answer to the oldest question, at most `within`.
    ///
    /// # Errors
    /// When the host is gone, silent or refuses, or the run is stopped.
    fn receive(&mut self, within: Duration) -> Result<Answer, LabError>;
    /// Says whether there is still something to wait for.
    ///
    /// # Errors
    /// When the host is gone or the run is stopped.
    fn check(&mut self) -> Result<(), LabError>;
}

/// Asks and waits.
///
/// # Errors
/// As [`Host::send`] and [`Host::receive`].
pub fn exec(host: &mut dyn Host, request: &Request) -> Result<Answer, LabError> {
    host.send(request)?;
    host.receive(Duration::from_secs(10))
}

/// Does link operations on a host and returns their answers.
///
/// # Errors
/// As [`exec`]; the first failing operation ends the list.
pub fn links(host: &mut dyn Host, list: Vec<LinkRequest>) -> Result<Vec<LinkAnswer>, LabError> {
    match exec(host, &Request::Links(list))? {
        Answer::Links(answers) => Ok(answers),
        other => Err(out_of_turn(host, &other)),
    }
}

/// The error for an answer of the wrong kind.
#[must_use]
pub fn out_of_turn(host: &dyn Host, answer: &Answer) -> LabError {
    LabError::OutOfTurn { host: host.name().into(), what: format!("{answer:?}") }
}

/// A host that is this same binary, executed again, on this machine.
#[derive(Debug)]
pub struct ProcessHost {
    name: String,
    child: Child,
    control: UnixStream,
    cancel: &'static AtomicBool,
}

impl ProcessHost {
    /// Starts `binary agent` with the control socket as its standard input.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn start(name: &str, binary: &Path, cancel: &'static AtomicBool) -> Result<Self, LabError> {
        let fail = |source| LabError::Start { host: name.into(), source };
        let (control, theirs) = UnixStream::pair().map_err(fail)?;
        let child = Command::new(binary)
            .arg0(Owner::this().map(|owner| undo::agent_name(name, &owner)).map_err(fail)?)
            .arg("agent")
            // The terminal's interrupt is for the conductor; it alone decides what it means.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(fail)?;
        // A frame that has begun comes whole, at once; this only bounds a broken host.
        control.set_read_timeout(Some(Duration::from_secs(5))).map_err(fail)?;
        control.set_write_timeout(Some(Duration::from_secs(5))).map_err(fail)?;
        Ok(Self { name: name.into(), child, control, cancel })
    }

    fn wait_readable(&self, within: Duration) -> Result<(), LabError> {
        let deadline = Instant::now() + within;
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(LabError::Cancelled);
            }
            let mut polled = [PollFd::new(&self.control, PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(source) => {
                    return Err(LabError::Wire { host: self.name.clone(), source: source.into() });
                }
            }
            if Instant::now() >= deadline {
                let seconds = within.as_secs();
                return Err(LabError::Silent { host: self.name.clone(), seconds });
            }
        }
    }

    fn broken(&self, source: io::Error) -> LabError {
        match source.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => LabError::Gone(self.name.clone()),
            _ => LabError::Wire { host: self.name.clone(), source },
        }
    }
}

impl Host for ProcessHost {
    fn name(&self) -> &str {
        &self.name
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, request: &Request) -> Result<(), LabError> {
        wire::send(&mut self.control, request).map_err(|e| self.broken(e))
    }

    fn receive(&mut self, within: Duration) -> Result<Answer, LabError> {
        self.wait_readable(within)?;
        let answer = wire::receive(&mut self.control).map_err(|e| self.broken(e))?;
        match answer {
            Answer::Refused(what) => Err(LabError::Refused { host: self.name.clone(), what }),
            answer => Ok(answer),
        }
    }

    fn check(&mut self) -> Result<(), LabError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(LabError::Cancelled);
        }
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(LabError::Gone(self.name.clone())),
        }
    }
}

impl Drop for ProcessHost {
    fn drop(&mut self) {
        // Its namespace, links and sockets die with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
