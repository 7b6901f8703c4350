//! Knows how a thread that has to be in time is scheduled before the load that it watches.
//!
//! Must not know what it is in time for.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    /// Whether this thread is urgent now.
    static NOW: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, the thread that made it runs before all threads of ordinary scheduling
/// (`SCHED_FIFO`, sched(7)). Threads that it starts do not. Where the kernel refuses, for want of
/// privilege or because of its control group, nothing changes.
#[derive(Debug)]
pub struct Urgent {
    /// Whether the kernel granted it.
    granted: bool,
    /// It is the thread's, and cannot be given to another.
    thread: PhantomData<*const ()>,
}

impl Urgent {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        let granted = schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1);
        NOW.set(granted);
        Self { granted, thread: PhantomData }
    }

    /// Lets other urgent threads run before this one goes on, where it is urgent itself: what has
    /// to be read at a moment is read by all before anyone reads what has time.
    pub fn give_way() {
        if NOW.get() {
            std::thread::yield_now();
        }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.granted {
            NOW.set(false);
            // Back to where it was is never refused, but to take the flag off may be.
            schedule(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

/// Sets policy and priority of the calling thread; says whether the kernel did.
fn schedule(policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: the kernel reads one int, the only field of its `sched_param`; 0 is this thread. musl
    // has no more than a stub of this call.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Policy of the calling thread: field 41 of `/proc/thread-self/stat`, proc(5).
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields = stat.rsplit_once(')').unwrap().1;
        fields.split_whitespace().nth(38).unwrap().parse().unwrap()
    }

    #[test]
    fn a_thread_is_urgent_while_it_asks_for_it_and_its_threads_are_not() {
        let urgent = Urgent::begin();
        if !urgent.granted {
            println!("skipped: needs the right to schedule by real-time priority");
            return;
        }
        assert_eq!(policy(), libc::SCHED_FIFO);
        assert_eq!(thread::spawn(policy).join().unwrap(), libc::SCHED_OTHER);
        drop(urgent);
        assert_eq!(policy(), libc::SCHED_OTHER);
    }
}
