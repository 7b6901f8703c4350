//! Knows what sends the frames of a stream: a program in the kernel, or a socket.
//!
//! Must not know where they go, nor when a window is.

use super::message::FromPart;
use crate::engine::packet::bpf::BpfError;
use crate::engine::packet::live::bridge::BridgeError;
use crate::engine::packet::live::sockets::{Kind, Sockets};
use crate::engine::packet::live::{Edges, Generator, Sending, Sent, is_lack};
use rig::lab::{agent, cpus};
use std::io;
use std::time::Duration;

/// Why this host does not do its part.
#[derive(Debug)]
pub enum Refusal {
    /// This kernel or user cannot: an answer.
    Lacks(String),
    /// Something went wrong.
    Failed(String),
}

impl Refusal {
    /// What went wrong, as text.
    pub fn failed(what: impl ToString) -> Self {
        Self::Failed(what.to_string())
    }

    /// The answer to the conductor, where this host lacks something.
    ///
    /// # Errors
    /// What went wrong otherwise.
    pub fn told(self) -> Result<FromPart, String> {
        match self {
            Self::Lacks(what) => Ok(FromPart::Lacks(what)),
            Self::Failed(what) => Err(what),
        }
    }

    fn of(is_lack: bool, what: impl ToString) -> Self {
        let kind = if is_lack { Self::Lacks } else { Self::Failed };
        kind(what.to_string())
    }
}

impl From<BpfError> for Refusal {
    fn from(e: BpfError) -> Self {
        Self::of(e.is_lack(), e)
    }
}

impl From<BridgeError> for Refusal {
    fn from(e: BridgeError) -> Self {
        Self::of(e.is_lack(), e)
    }
}

/// What sends.
pub enum Engine {
    /// The kernel makes the frames.
    Live(Generator),
    /// A thread sends them by a socket.
    Socket(Sockets),
}

impl Engine {
    /// Opens the socket, or loads the program; nothing is sent.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(sending: &Sending, socket: Option<Kind>) -> Result<Self, Refusal> {
        match socket {
            Some(kind) => {
                Sockets::new(sending, kind).map(Self::Socket).map_err(|e| match is_lack(&e) {
                    true => Refusal::Lacks(format!("AF_XDP: {e}")),
                    false => Refusal::failed(e),
                })
            }
            None => Ok(Self::Live(Generator::new(sending)?)),
        }
    }

    /// Begins to send at a moment, for so long at the most, on a CPU. A sender on a schedule takes
    /// the priority of the threads of hosts.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn go(
        &mut self,
        when: (u64, Duration),
        (cpu, is_timed): (u32, bool),
    ) -> Result<(), String> {
        let ready = move || -> io::Result<()> {
            if is_timed {
                agent::take_own_nice();
            } else {
                agent::take_started_nice()?;
            }
            cpus::pin(cpu)
        };
        match self {
            Self::Live(generator) => generator.go(when, ready).map_err(|e| e.to_string()),
            Self::Socket(sockets) => sockets.go(when, ready).map_err(|e| e.to_string()),
        }
    }

    /// Tells the window, ahead of it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn announce(&mut self, edges: Edges) -> Result<(), String> {
        match self {
            Self::Live(generator) => generator.announce(edges).map_err(|e| e.to_string()),
            Self::Socket(sockets) => {
                sockets.announce(edges);
                Ok(())
            }
        }
    }

    /// Tells one without a schedule in which phase the trial is.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn enter(&mut self, phase: u64) -> Result<(), String> {
        match self {
            Self::Live(generator) => generator.enter(phase).map_err(|e| e.to_string()),
            Self::Socket(sockets) => {
                sockets.enter(phase);
                Ok(())
            }
        }
    }

    /// Ends it, and tells what was sent.
    ///
    /// # Errors
    /// What went wrong while it sent.
    pub fn stop(&mut self) -> Result<Sent, String> {
        match self {
            Self::Live(generator) => generator.stop().map_err(|e| e.to_string()),
            Self::Socket(sockets) => sockets.stop().map_err(|e| e.to_string()),
        }
    }
}
