//! Knows the process that a host is, as the agent of its machine has it: start, messages, end.
//!
//! Must not know what a host is asked, nor how many hosts a lab has.

use super::error::LabError;
use super::own;
use super::undo::{self, Owner};
use super::wire::{self, Answer, Request};
use crate::block;
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest wait for a host to enter its place, seconds.
const ENTER_MAX_S: i64 = 10;

/// A host: this same binary, executed again, on this machine.
#[derive(Debug)]
pub struct HostProcess {
    name: String,
    child: Child,
    control: UnixStream,
}

impl HostProcess {
    /// Starts `binary agent` with the control socket as its standard input.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn start(name: &str, binary: &Path) -> Result<Self, LabError> {
        let fail = |source| LabError::Start { host: name.into(), source };
        let (control, theirs) = UnixStream::pair().map_err(fail)?;
        let mut command = Command::new(binary);
        let child = block::pass_on(own::pass_on(undo::pass_on(&mut command)))
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
        Ok(Self { name: name.into(), child, control })
    }

    /// Its name: `sut`, `c01`, `switch`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process that it is.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What becomes readable when a message comes, or when it ends.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }

    /// Passes a message on to it.
    ///
    /// # Errors
    /// When it is gone.
    pub fn pass(&mut self, body: &[u8]) -> io::Result<()> {
        wire::pass(&mut self.control, body)
    }

    /// Takes a message of its.
    ///
    /// # Errors
    /// When it is gone.
    pub fn take(&mut self) -> io::Result<Vec<u8>> {
        wire::take(&mut self.control)
    }

    /// Asks without waiting.
    ///
    /// # Errors
    /// When it is gone.
    pub fn ask(&mut self, request: &Request) -> Result<(), LabError> {
        wire::send(&mut self.control, request).map_err(|e| broken(&self.name, e))
    }

    /// Waits until it has done what it was asked, 10 s at the most.
    ///
    /// # Errors
    /// When it is gone, silent or refuses.
    pub fn done(&mut self) -> Result<(), LabError> {
        let name = || self.name.clone();
        let within = Timespec { tv_sec: ENTER_MAX_S, tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.control, PollFlags::IN)];
        if matches!(rustix::event::poll(&mut polled, Some(&within)), Ok(0)) {
            return Err(LabError::Silent { host: name(), seconds: ENTER_MAX_S.unsigned_abs() });
        }
        match wire::receive(&mut self.control).map_err(|e| broken(&self.name, e))? {
            Answer::Done => Ok(()),
            Answer::Refused(what) => Err(LabError::Refused { host: name(), what }),
            other => Err(LabError::OutOfTurn { host: name(), what: format!("{other:?}") }),
        }
    }

    /// Ends it, without waiting.
    pub fn end(&mut self) {
        // One that has ended needs none.
        let _ = self.child.kill();
    }
}

fn broken(name: &str, source: io::Error) -> LabError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionReset => LabError::Gone(name.into()),
        _ => LabError::Wire { host: name.into(), source },
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        // Its namespace, links and sockets die with it.
        self.end();
        let _ = self.child.wait();
    }
}
