//! Knows how an `io_uring` is opened: by which flags, the best first.
//!
//! Must not know what goes through it.

use io_uring::IoUring;
use std::io;

/// The thread of the kernel that takes submissions sleeps after so long without one, milliseconds.
const IDLE_MS: u32 = 1000;

/// When completions are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completions {
    /// At the next system call of the thread, which they do not interrupt (`COOP_TASKRUN`).
    Cooperative,
    /// When the thread waits for them (`DEFER_TASKRUN`).
    Deferred,
    /// As a thread of the kernel pleases, which also takes the submissions (`SQPOLL`).
    Polled,
}

/// Of a ring that one thread alone submits to.
pub const SINGLE: &str = "single_issuer";
/// Of one whose completions do not interrupt the thread.
const COOPERATIVE: &str = "coop_taskrun";

/// The flags of a ring, the best first. Deferred and polled are as asked for or refused. Kernels
/// handle completions cooperatively from 5.19 on, and know of a single thread from 6.0 on.
const fn ladder(completions: Completions) -> &'static [&'static [&'static str]] {
    match completions {
        Completions::Cooperative => &[&[COOPERATIVE, SINGLE], &[COOPERATIVE], &["no coop_taskrun"]],
        Completions::Deferred => &[&["defer_taskrun", SINGLE]],
        Completions::Polled => &[&["sqpoll", SINGLE], &["sqpoll"]],
    }
}

/// A ring, and its flags. One of a single thread is disabled, so that any thread may make it.
///
/// # Errors
/// A kernel that has none, forbids it, or refuses what it is to be made with.
pub fn open(
    entries: u32,
    completions: Completions,
) -> io::Result<(IoUring, &'static [&'static str])> {
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for flags in ladder(completions) {
        let mut builder = IoUring::builder();
        for flag in *flags {
            match *flag {
                SINGLE => builder.setup_single_issuer().setup_r_disabled(),
                COOPERATIVE => builder.setup_coop_taskrun(),
                "defer_taskrun" => builder.setup_defer_taskrun(),
                "sqpoll" => builder.setup_sqpoll(IDLE_MS),
                _ => &mut builder,
            };
        }
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, flags)),
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}
