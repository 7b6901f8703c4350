//! Knows for how long an agent works without a word of its conductor, and sends that word.
//!
//! Must not know what the agent does when the lease ends.

use super::transport::KeepAlive;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// An agent that hears nothing for so long ends its load and undoes all.
pub const LEASE: Duration = Duration::from_secs(5);
/// How often the conductor says that it is there.
const EVERY: Duration = Duration::from_secs(1);

/// Sends keep-alive frames until it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lease {
    /// Begins to send.
    ///
    /// # Errors
    /// When no thread can be had.
    pub(super) fn begin(mut keep_alive: KeepAlive) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let send = move || {
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                // Whoever waits for an answer is told what is wrong.
                if keep_alive().is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("lease".into()).spawn(send)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It only sends; there is nothing to learn from how it ended.
            let _ = thread.join();
        }
    }
}
