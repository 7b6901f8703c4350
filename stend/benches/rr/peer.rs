//! Knows the other tools that ask and answer: how both ends are started, and what they print.
//!
//! Must not know how rates are judged.

use super::process::{start, wait_for_port};
use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// Bytes of a request and of a response: the least that every tool can send is 14.
pub const BYTES: u32 = 16;
/// Seconds of a run.
const SECONDS: u32 = 2;

/// Where the ports of the next run begin.
static PORT: AtomicU16 = AtomicU16::new(0);

/// What one pair of processes is told.
pub struct Job {
    /// First of ten ports of this pair.
    port: u16,
    /// Connections of this pair.
    flows: u32,
}

/// Another tool.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// The file of its server.
    server: &'static str,
    /// The file of its client.
    client: &'static str,
    /// Debian's package, which the script installs; none if it counts only where it is on PATH.
    pub package: Option<&'static str>,
    server_words: fn(&Job) -> String,
    client_words: fn(&Job) -> String,
    /// Operations a second in what the client prints.
    rate: fn(&str) -> Option<f64>,
    /// Connections that one pair of processes has at the most.
    flows: u32,
}

/// Address of the server.
const SERVER: &str = "198.18.0.1";

/// Those that keep their connections. Flags as their authors document them.
pub const KEPT: &[Peer] = &[
    Peer {
        name: "sockperf",
        server: "sockperf",
        client: "sockperf",
        package: Some("sockperf"),
        server_words: |j| format!("server --tcp -i {SERVER} -p {}", j.port),
        client_words: |j| {
            format!("ping-pong --tcp -i {SERVER} -p {} -t {SECONDS} -m {BYTES}", j.port)
        },
        rate: |text| {
            let line = text.lines().find(|line| line.contains("[Valid Duration]"))?;
            let figure = |key: &str| number(line.split(key).nth(1)?);
            Some(figure("ReceivedMessages=")? / figure("RunTime=")?)
        },
        flows: 1,
    },
    Peer {
        name: "qperf",
        server: "qperf",
        client: "qperf",
        package: Some("qperf"),
        server_words: |j| format!("-lp {}", j.port),
        client_words: |j| {
            let (port, data) = (j.port, j.port + 1);
            format!("-lp {port} -ip {data} -t {SECONDS} -m {BYTES} {SERVER} tcp_lat")
        },
        // One way: half of a transaction.
        rate: |text| {
            let line = text.lines().find(|line| line.contains("latency"))?;
            let value = number(line.split('=').nth(1)?.trim())?;
            let unit = line.split_ascii_whitespace().last()?;
            let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)];
            Some(0.5 / (value * units.iter().find(|known| known.0 == unit)?.1))
        },
        flows: 1,
    },
    netperf("TCP_RR"),
    neper("tcp_rr"),
];

/// Those that make a connection for each request.
pub const ANEW: &[Peer] = &[netperf("TCP_CRR"), neper("tcp_crr")];

const fn netperf(test: &'static str) -> Peer {
    Peer {
        name: "netperf",
        server: "netserver",
        client: "netperf",
        package: None,
        server_words: |j| format!("-D -4 -p {}", j.port),
        client_words: match test.as_bytes() {
            b"TCP_RR" => |j| netperf_words("TCP_RR", j),
            _ => |j| netperf_words("TCP_CRR", j),
        },
        rate: |text| text.lines().rev().find_map(|line| line.trim().parse().ok()),
        flows: 1,
    }
}

fn netperf_words(test: &str, j: &Job) -> String {
    let sizes = format!("-r {BYTES},{BYTES} -P ,{}", j.port + 1);
    format!("-P 0 -4 -H {SERVER} -p {} -t {test} -l {SECONDS} -- {sizes} -o THROUGHPUT", j.port)
}

const fn neper(program: &'static str) -> Peer {
    Peer {
        name: "neper",
        server: program,
        client: program,
        package: None,
        server_words: |j| format!("-4 -C {} -P {} {}", j.port, j.port + 1, neper_words(j)),
        client_words: |j| {
            format!("-4 -c -H {SERVER} -C {} -P {} {}", j.port, j.port + 1, neper_words(j))
        },
        rate: |text| number(text.lines().find_map(|line| line.strip_prefix("throughput="))?),
        flows: 64,
    }
}

fn neper_words(j: &Job) -> String {
    format!("-T 1 -F {} -Q {BYTES} -R {BYTES} -l {SECONDS}", j.flows)
}

/// The number that a text begins with.
fn number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

impl Peer {
    /// Whether both its programs can be started.
    pub fn is_there(&self) -> bool {
        let there = |program: &str| {
            let mut asked = Command::new(program);
            // One of them leaves a log wherever it is.
            asked
                .current_dir(std::env::temp_dir())
                .arg("--help")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };
        there(self.server) && there(self.client)
    }

    /// Runs connections whose ends are on these CPUs, server first, and gives the operations a
    /// second of all; the connections of one pair of CPUs are one pair of processes where the tool
    /// can have several.
    ///
    /// # Errors
    /// When it does not start, says nothing, or fails.
    pub fn run(&self, hosts: [u32; 2], ends: &[(u32, u32)]) -> io::Result<f64> {
        let mut pairs: Vec<((u32, u32), u32)> = Vec::new();
        for end in ends {
            match pairs.iter_mut().find(|(cpus, flows)| cpus == end && *flows < self.flows) {
                Some((_, flows)) => *flows += 1,
                None => pairs.push((*end, 1)),
            }
        }
        // New ports: one tool cannot listen where a connection was just now.
        let all = u16::try_from(pairs.len()).unwrap_or(1);
        let first = PORT.fetch_add(10 * all, Relaxed) % 20_000 + 10_000;
        let job = |at: usize| Job {
            port: first + 10 * u16::try_from(at).unwrap_or(0),
            flows: pairs[at].1,
        };
        let mut servers = Vec::new();
        for (at, ((cpu, _), _)) in pairs.iter().enumerate() {
            let words = (self.server_words)(&job(at));
            servers.push(start((hosts[0], *cpu), self.server, &words, Stdio::null())?);
        }
        for at in 0..pairs.len() {
            wait_for_port(hosts[0], job(at).port.into())?;
        }
        let mut clients = Vec::new();
        for (at, ((_, cpu), _)) in pairs.iter().enumerate() {
            let words = (self.client_words)(&job(at));
            clients.push(start((hosts[1], *cpu), self.client, &words, Stdio::piped())?);
        }
        let mut sum = 0.0;
        for client in &mut clients {
            let mut text = String::new();
            if let Some(out) = client.0.stdout.as_mut() {
                io::Read::read_to_string(out, &mut text)?;
            }
            let silent = || io::Error::other(format!("{} said: {text}", self.name));
            sum += (self.rate)(&text).filter(|rate| *rate > 0.0).ok_or_else(silent)?;
        }
        Ok(sum)
    }
}
