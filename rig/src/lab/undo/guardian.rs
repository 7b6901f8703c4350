//! Knows the process that outlives the conductor and undoes what it left.
//!
//! Must not know what is undone, nor install handlers of signals: its door does.

use super::error::UndoError;
use super::owner::Owner;
use super::restore::settle;
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for its first word, and for its end after ours.
const START_MAX: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
const END_MAX: Duration = Duration::from_secs(5);
/// How long what cannot be undone at once is tried again, and the pause between two tries.
const TRY_MAX: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// The conductor's end: while it is held, the guardian waits.
#[derive(Debug)]
pub(super) struct Guardian {
    child: Child,
    control: Option<UnixStream>,
}

impl Guardian {
    /// Starts `binary guardian JOURNAL` and waits until it is in a session of its own, where the
    /// terminal's signals do not reach it.
    pub(super) fn start(binary: &Path, journal: &Path) -> Result<Self, UndoError> {
        let start = || {
            let (control, theirs) = UnixStream::pair()?;
            let child = Command::new(binary)
                .arg0(format!("stend-guardian {}", std::process::id()))
                .arg("guardian")
                .arg(absolute(journal)?)
                .current_dir("/")
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            Ok((Self { child, control: None }, control))
        };
        let (mut guardian, mut control) = start().map_err(UndoError::Guardian)?;
        let mut polled = [PollFd::new(&control, PollFlags::IN)];
        let ready = rustix::event::poll(&mut polled, Some(&START_MAX));
        let mut word = [0];
        if ready != Ok(1) || !matches!(control.read(&mut word), Ok(1)) {
            let _ = guardian.child.kill();
            return Err(UndoError::Guardian(io::Error::other("it did not say that it is ready")));
        }
        guardian.control = Some(control);
        Ok(guardian)
    }

    /// Whether somebody has ended it.
    pub(super) fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.control = None;
        let deadline = Instant::now() + END_MAX;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        // It must not meet the next guardian of the same journal; what it could not bring back
        // stays in there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves as the guardian of a journal: waits until the conductor at the other end of standard
/// input is gone, then undoes what its journal still holds.
///
/// The door has made signals of the terminal and requests to end harmless before.
///
/// # Errors
/// When it was not started by the owner of the journal, or standard input is no socket.
pub fn guard(journal: &Path) -> io::Result<()> {
    close_inherited();
    let owner = Owner::of_file(journal);
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if owner.is_none_or(|owner| i64::from(owner.pid) != i64::from(parent)) {
        return Err(io::Error::other("stend starts its guardian itself"));
    }
    rustix::process::setsid()?;
    let mut conductor = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    conductor.write_all(&[1])?;
    let mut rest = Vec::new();
    // Whatever ends the wait, the conductor cannot be heard any more.
    let _ = conductor.read_to_end(&mut rest);
    let deadline = Instant::now() + TRY_MAX;
    while journal.exists() && Instant::now() < deadline {
        match settle(journal, Path::new("/")) {
            Ok(all) if all.iter().all(|settled| !settled.fate.may_change()) => break,
            _ => std::thread::sleep(PAUSE),
        }
    }
    Ok(())
}

/// Closes what the conductor itself was given by its parent without the wish to pass it on: a pipe
/// held open here would keep its reader waiting.
fn close_inherited() {
    // SAFETY: this process has just begun; nothing in it owns a descriptor above the first three.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
}
