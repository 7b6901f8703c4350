//! Knows the other tools: how each is started on both ends, and which version it is.
//!
//! Must not know how a load is watched or judged.

use super::process::{start, wait_for_port};
use super::watch::{Place, Seen};
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What both ends of one connection are told.
pub struct Job {
    /// Address of the receiver.
    pub address: String,
    /// First of ten ports of this connection.
    pub port: u16,
    /// Bytes a system call.
    pub size: u32,
    /// Seconds to send.
    pub seconds: u32,
}

/// Another tool.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// The file of its receiver; the sender's is the same unless `sender` says otherwise.
    pub receiver: &'static str,
    /// The file of its sender.
    pub sender: &'static str,
    /// Debian's package, which the script installs; none if it counts only where it is on PATH.
    pub package: Option<&'static str>,
    /// Whether its sender copies what it sends.
    pub copies: bool,
    version: &'static [&'static str],
    receiver_words: fn(&Job) -> String,
    sender_words: fn(&Job) -> String,
    /// Added to the port on which the receiver first listens.
    listens: i32,
}

/// One version of iperf3.
const fn iperf3(name: &'static str, file: &'static str, package: Option<&'static str>) -> Peer {
    Peer {
        name,
        receiver: file,
        sender: file,
        package,
        copies: true,
        version: &["--version"],
        receiver_words: |j| format!("-s -1 -p {}", j.port),
        sender_words: |j| {
            format!("-c {} -p {} -l {} -t {} -C cubic", j.address, j.port, j.size, j.seconds)
        },
        listens: 0,
    }
}

/// The same, which sends from a file (`sendfile`).
const fn iperf3_file(
    name: &'static str,
    file: &'static str,
    package: Option<&'static str>,
) -> Peer {
    Peer {
        copies: false,
        sender_words: |j| {
            format!("-c {} -p {} -l {} -t {} -C cubic -Z", j.address, j.port, j.size, j.seconds)
        },
        ..iperf3(name, file, package)
    }
}

/// All of them. Flags as their authors document them for one connection in one direction.
pub const ALL: &[Peer] = &[
    iperf3("iperf3", "iperf3", Some("iperf3")),
    iperf3("iperf3 (newer)", "iperf3-new", None),
    iperf3_file("iperf3 -Z", "iperf3", Some("iperf3")),
    iperf3_file("iperf3 (newer) -Z", "iperf3-new", None),
    Peer {
        name: "iperf2",
        receiver: "iperf",
        sender: "iperf",
        package: Some("iperf"),
        copies: true,
        version: &["--version"],
        receiver_words: |j| format!("-s -p {} -l {}", j.port, j.size.max(128 << 10)),
        sender_words: |j| format!("-c {} -p {} -l {} -t {}", j.address, j.port, j.size, j.seconds),
        listens: 0,
    },
    Peer {
        name: "qperf",
        receiver: "qperf",
        sender: "qperf",
        package: Some("qperf"),
        copies: true,
        version: &["--version"],
        receiver_words: |j| format!("-lp {}", j.port),
        sender_words: |j| {
            format!(
                "-lp {} -ip {} -t {} -m {} {} tcp_bw",
                j.port,
                j.port + 1,
                j.seconds,
                j.size,
                j.address
            )
        },
        listens: 0,
    },
    Peer {
        name: "netperf",
        receiver: "netserver",
        sender: "netperf",
        package: None,
        copies: true,
        version: &["-V"],
        receiver_words: |j| format!("-D -4 -p {}", j.port),
        sender_words: |j| {
            format!(
                "-4 -H {} -p {} -t TCP_STREAM -l {} -- -m {} -P ,{}",
                j.address,
                j.port,
                j.seconds,
                j.size,
                j.port + 1
            )
        },
        listens: 0,
    },
    Peer {
        name: "ntttcp",
        receiver: "ntttcp",
        sender: "ntttcp",
        package: None,
        copies: true,
        version: &["-h"],
        receiver_words: |j| {
            format!("-r -m 1,*,{} -p {} -b {} -t {}", j.address, j.port, j.size, j.seconds)
        },
        sender_words: |j| {
            format!(
                "-s -m 1,*,{} -p {} -n 1 -l 1 -b {} -t {}",
                j.address, j.port, j.size, j.seconds
            )
        },
        listens: -1,
    },
    Peer {
        name: "neper",
        receiver: "tcp_stream",
        sender: "tcp_stream",
        package: None,
        copies: true,
        version: &["--version"],
        receiver_words: |j| {
            format!("-4 -C {} -P {} -B {} -l {}", j.port, j.port + 1, j.size, j.seconds)
        },
        sender_words: |j| {
            format!(
                "-4 -c -H {} -C {} -P {} -B {} -l {}",
                j.address,
                j.port,
                j.port + 1,
                j.size,
                j.seconds
            )
        },
        listens: 0,
    },
];

impl Peer {
    /// The version in its own words; none if it cannot be started.
    pub fn version(&self) -> Option<String> {
        let out = Command::new(self.sender)
            .args(self.version)
            // One of them leaves a log wherever it is.
            .current_dir(std::env::temp_dir())
            .output()
            .ok()?;
        let text = [out.stdout, out.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let number = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit()) && w.contains('.');
        let found = text.split(|c: char| c.is_whitespace() || c == ',').find(number);
        Some(found.unwrap_or("version unknown").to_owned())
    }

    /// Runs as many connections, each a pair of processes, both ends of one pinned to one CPU.
    ///
    /// # Errors
    /// When it does not start, moves nothing, or says itself that it failed.
    pub fn run(&self, place: Place, size: u32, cpus: &[u32]) -> io::Result<Seen> {
        let job = |at: usize| Job {
            address: "198.18.0.1".into(),
            port: 20_001 + 10 * u16::try_from(at).unwrap_or(0),
            size,
            seconds: 2,
        };
        let mut receivers = Vec::new();
        for (at, cpu) in cpus.iter().enumerate() {
            let words = (self.receiver_words)(&job(at));
            receivers.push(start((place.receiver, *cpu), self.receiver, &words, Stdio::null())?);
        }
        for at in 0..cpus.len() {
            wait_for_port(place.receiver, i32::from(job(at).port) + self.listens)?;
        }
        let mut senders = Vec::new();
        for (at, cpu) in cpus.iter().enumerate() {
            let words = (self.sender_words)(&job(at));
            senders.push(start((place.sender, *cpu), self.sender, &words, Stdio::null())?);
        }
        let seen = place.watch()?;
        for sender in &mut senders {
            finish(self.name, &mut sender.0)?;
        }
        Ok(seen)
    }
}

/// Waits for a sender's own end, which must be a good one.
fn finish(name: &str, sender: &mut Child) -> io::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline {
        if let Some(status) = sender.try_wait()? {
            let fault = || io::Error::other(format!("{name} ended with {status}"));
            return if status.success() { Ok(()) } else { Err(fault()) };
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(io::Error::other(format!("{name} does not end")))
}
