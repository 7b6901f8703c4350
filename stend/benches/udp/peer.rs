//! Knows the other tools: how each sends datagrams from one host to the other.
//!
//! Must not know how a load is judged.

use super::process::{start, wait_for_port};
use super::watch::{Seen, watch};
use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Seconds that a tool sends.
const SECONDS: u32 = 3;
const PORT: u16 = 20_001;
const ADDRESS: &str = "198.18.0.1";

/// Another tool.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Debian's package, which the script installs; none if it counts only where it is on PATH.
    pub package: Option<&'static str>,
    /// What its receiver is told.
    server: &'static str,
    /// What its sender is told beside address, size and time.
    client: &'static str,
    /// Whether its receiver listens on a port of TCP, too.
    listens: bool,
}

/// A call a datagram.
pub const IPERF3: Peer = Peer {
    name: "iperf3 -u",
    file: "iperf3",
    package: Some("iperf3"),
    server: "-s -1",
    client: "-u -b 0",
    listens: true,
};

/// A call a datagram; it has no other.
pub const IPERF2: Peer = Peer {
    name: "iperf2 -u",
    file: "iperf",
    package: Some("iperf"),
    server: "-s -u -l 2000",
    client: "-u -b 100g",
    listens: false,
};

/// Calls that the kernel cuts, and merged datagrams.
pub const GSRO: Peer = Peer {
    name: "iperf3 -u --gsro",
    file: "iperf3-new",
    package: None,
    server: "-s -1",
    client: "-u -b 0 --gsro",
    listens: true,
};

impl Peer {
    /// Whether it can be started.
    pub fn is_there(&self) -> bool {
        let mut command = Command::new(self.file);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    }

    /// What its datagrams of this size come to, the receiver's host and CPU first.
    ///
    /// # Errors
    /// When it does not start or delivers nothing.
    pub fn run(&self, [to, from]: [(u32, u32); 2], size: u32) -> io::Result<Seen> {
        let words = format!("{} -p {PORT}", self.server);
        let receiver = start(to, self.file, &words, Stdio::null())?;
        match self.listens {
            true => wait_for_port(to.0, PORT.into())?,
            false => thread::sleep(Duration::from_millis(200)),
        }
        let client = self.client;
        let words = format!("-c {ADDRESS} -p {PORT} -l {size} -t {SECONDS} {client}");
        let sender = start(from, self.file, &words, Stdio::null())?;
        let seen = watch(to.0);
        drop((sender, receiver));
        seen
    }
}
