//! `benches/net`: the generators of stend beside other tools, interleaved, in one lab.
//!
//! Same two namespaces, same bridge, same congestion control, both ends of a connection on one CPU
//! for all. One method watches every tool from outside: see `watch.rs`.

#![expect(clippy::print_stdout, reason = "the rows are what it is for")]

mod cell;
#[path = "../judged/mod.rs"]
mod judged;
#[path = "../one/mod.rs"]
mod one;
mod peer;
mod process;
mod watch;

use cell::{Cell, Mark, QUEUE_DEPTH, Row, Runs, middle};
use desk::record::LabKind;
use judged::Count;
use peer::Peer;
use rig::lab::{Blueprint, Wanted};
use rig::run::Bench;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::thread;
use watch::{Place, Seen};

/// Interleaved rounds of a cell.
const ROUNDS: usize = 7;
/// Runs of each peer with which the best one is found.
const SCOUTS: usize = 2;

/// Receive buffers of all tools. With the usual 128 KiB some connections stay limited by their
/// window for good. In the cells of a sender that copies nothing what is under way stays in a
/// cache, which is faster for all of them.
const WINDOWS: [&str; 2] = [
    "sysctl -qw net.ipv4.tcp_rmem=4096\t1048576\t33554432",
    "sysctl -qw net.ipv4.tcp_rmem=4096\t524288\t524288",
];

/// Our sender that copies nothing, to a receiver that copies.
const LENT: &str = "engine = \"sys\"\nsender = \"splice\"\nreceiver = \"copy\"\n";

type Failed = Box<dyn Error>;

/// The lab and who works in it.
struct Stand {
    bench: Bench,
    place: Place,
    cpus: Vec<u32>,
    peers: Vec<(&'static Peer, String)>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    judged::ended("net", compare(&words))
}

/// Runs all cells whose name begins with one of the words, or all; gives rows at the bar and rows
/// that count.
fn compare(words: &[String]) -> Result<Count, Failed> {
    let mut stand = Stand::build()?;
    let named = |name: &str| words.is_empty() || words.iter().any(|w| name.starts_with(w));
    let wanted = |cell: &Cell| named(&cell.name());
    let mut count = Count::default();
    println!("{:<30} | {:<14} | {:<34} | {:<36} | bar | ", "what", "ours", "best peer", "ratio");
    for cell in Cell::all().into_iter().filter(wanted) {
        let (peer, version) = stand.best_peer(cell, |peer| peer.copies)?;
        let runs = stand.rounds(cell, peer)?;
        for row in cell.rows(&runs, &format!("{} {version}", peer.name)) {
            show(&row);
            match row.mark {
                Mark::Ok => count.add(judged::Mark::Ok),
                Mark::Short => count.add(judged::Mark::Short),
                Mark::NotComparable => {}
            }
        }
    }
    for (cell, bar) in Cell::lent().into_iter().filter(|(cell, _)| named(&cell.lent_name())) {
        count.add(stand.lent(cell, bar)?);
    }
    Ok(count)
}

fn show(row: &Row) {
    let mark = match row.mark {
        Mark::Ok => "ok",
        Mark::Short => "short",
        Mark::NotComparable => "not comparable",
    };
    let Row { what, ours, peer, ratio, bar, .. } = row;
    println!("{what:<30} | {ours:<14} | {peer:<34} | {ratio:<36} | {bar} | {mark}");
}

impl Stand {
    fn build() -> Result<Self, Failed> {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_stend"));
        let wanted = Wanted::Only(LabKind::RootNamespaces);
        let blueprint = Blueprint::of_all(wanted, 1, &["lan"]);
        let cancel: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let bench =
            Bench::build(&blueprint, loads::ALL, vec![rig::keeper::here(&binary, cancel)?])?;
        let place = Place { receiver: bench.lab.pid(0), sender: bench.lab.pid(1) };
        for host in [place.receiver, place.sender] {
            // By the route: a namespace may not choose a default that the kernel restricts.
            inside(host, "ip route change 198.18.0.0/24 dev lan scope link congctl cubic")?;
            inside(host, WINDOWS[0])?;
        }
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let cpus = (0..u32::try_from(cpus)?).collect();
        Ok(Self { bench, place, cpus, peers: found()? })
    }

    /// The CPU of each connection, both ends, as placement `same` has it.
    fn placement(&self, cell: Cell) -> Vec<u32> {
        self.cpus.iter().copied().cycle().take(cell.streams as usize).collect()
    }

    /// The row of a cell in which our sender copies nothing and our receiver copies each byte, and
    /// any peer may send from a file.
    fn lent(&mut self, cell: Cell, bar: f64) -> Result<judged::Mark, Failed> {
        for host in [self.place.receiver, self.place.sender] {
            inside(host, WINDOWS[1])?;
        }
        let (peer, version) = self.best_peer(cell, |_| true)?;
        let placement = self.placement(cell);
        let judged = judged::Cell {
            name: &cell.lent_name(),
            peer: &format!("{} {version}", peer.name),
            bar,
            rate: |seen: &Seen| seen.bit_per_s,
            told: |seen| {
                let (rate, cost) = (|s: &Seen| s.bit_per_s / 1e9, |s: &Seen| s.s_per_gb);
                let [rate, cost] = [middle(seen.iter().map(rate)), middle(seen.iter().map(cost))];
                format!("{rate:.1} Gbit/s, {cost:.3} s/GB")
            },
        };
        let (mark, row) = judged::rounds(&judged, |is_ours| match is_ours {
            true => self.ours(cell, LENT),
            false => Ok(peer.run(self.place, cell.size, &placement)?),
        })?;
        println!("{row}");
        Ok(mark)
    }

    /// The peer, of some, with the fastest run of a few.
    fn best_peer(
        &self,
        cell: Cell,
        of: fn(&Peer) -> bool,
    ) -> Result<(&'static Peer, String), Failed> {
        let placement = self.placement(cell);
        let mut best: Option<(f64, &(&'static Peer, String))> = None;
        let mut report = Vec::new();
        for known in self.peers.iter().filter(|known| of(known.0)) {
            let mut rates = Vec::new();
            for _ in 0..SCOUTS {
                match known.0.run(self.place, cell.size, &placement) {
                    Ok(seen) => rates.push(seen.bit_per_s),
                    Err(e) => println!("{}: {} left out: {e}", cell.name(), known.0.name),
                }
            }
            let rate = rates.iter().copied().fold(0.0, f64::max);
            report.push(format!("{} {:.2}", known.0.name, rate / 1e9));
            if rate > 0.0 && best.as_ref().is_none_or(|(most, _)| rate > *most) {
                best = Some((rate, known));
            }
        }
        println!("{}: best of {SCOUTS} runs, Gbit/s: {}", cell.name(), report.join(", "));
        let (_, (peer, version)) = best.ok_or("no peer moved anything")?;
        Ok((peer, version.clone()))
    }

    /// Interleaved runs of ours and the peer's, the order turned round by round.
    fn rounds(&mut self, cell: Cell, peer: &Peer) -> Result<Runs, Failed> {
        let placement = self.placement(cell);
        let batch = format!("engine = \"batch\"\nqueue_depth = {QUEUE_DEPTH}\n");
        let mut runs = Runs::default();
        for round in 0..ROUNDS {
            for turn in 0..3 {
                match (round + turn) % 3 {
                    0 => runs.sys.push(self.ours(cell, "engine = \"sys\"\n")?),
                    1 if cell.batch_bar().is_some() => runs.batch.push(self.ours(cell, &batch)?),
                    1 => {}
                    _ => runs.peer.push(peer.run(self.place, cell.size, &placement)?),
                }
            }
        }
        for (name, list) in [("sys", &runs.sys), ("batch", &runs.batch), (peer.name, &runs.peer)] {
            if !list.is_empty() {
                let rates: Vec<String> = list.iter().map(rate_and_packet).collect();
                let typical = middle(list.iter().map(|s| s.bit_per_s)) / 1e9;
                println!("  {name}: median {typical:.2} Gbit/s; {}", rates.join(" "));
            }
        }
        Ok(runs)
    }

    /// A run of ours, which the lines make its load as they say.
    fn ours(&mut self, cell: Cell, lines: &str) -> Result<Seen, Failed> {
        let text = format!(
            "title = \"bench\"\n[lab]\nclients = 1\n[load.it]\nworkload = \"tcp_stream\"\n\
             direction = \"receive\"\n\
             request_size = \"{} B\"\nstreams = {}\n{lines}\
             placement = \"same\"\ncongestion = \"cubic\"\n[method]\nblocks = 3\n\
             dry = false\nsteady = \"noted\"\n\
             settle = \"0.3 s\"\nsettle_max = \"0.3 s\"\nwindow = \"1.6 s\"\n",
            cell.size, cell.streams
        );
        let (plan, trials) = one::trial(&text)?;
        let place = self.place;
        let watcher = thread::spawn(move || place.watch());
        let visited = self.bench.run(&plan, trials, &mut |_| ())?;
        let seen = watcher.join().map_err(|_| "the watcher panicked")??;
        // An answer that was not checked is not shown: the trial itself compares bytes and content.
        match visited.records.first().map(|r| &r.outcome.fault) {
            Some(None) => Ok(seen),
            Some(Some(fault)) => Err(format!("{} {lines}: {fault}", cell.name()).into()),
            None => Err("no trial ran".into()),
        }
    }
}

fn rate_and_packet(seen: &Seen) -> String {
    format!("{:.2}/{:.0}B", seen.bit_per_s / 1e9, seen.packet)
}

/// Carries out a command in a host's network namespace.
fn inside(host: u32, command: &str) -> Result<(), Failed> {
    let done = Command::new("nsenter")
        .arg(format!("--net=/proc/{host}/ns/net"))
        .args(command.split(' '))
        .status()?;
    if done.success() { Ok(()) } else { Err(format!("'{command}' failed").into()) }
}

/// Peers that are here; those that are not are named, and a packaged one is required.
///
/// # Errors
/// When one that Debian packages is missing.
fn found() -> Result<Vec<(&'static Peer, String)>, Failed> {
    let mut found = Vec::new();
    for peer in peer::ALL {
        match (peer.version(), peer.package) {
            (Some(version), _) => {
                println!("peer: {} {version}", peer.name);
                found.push((peer, version));
            }
            (None, Some(package)) => {
                return Err(format!("{} is missing; install package {package}", peer.name).into());
            }
            (None, None) => println!("not on PATH, not counted: {}", peer.name),
        }
    }
    Ok(found)
}
