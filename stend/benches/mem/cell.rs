//! Knows the cells of the bench and their bars: what of ours stands beside what of whom.
//!
//! Must not know how a load is run, nor how a row is judged.

use super::Failed;
use super::ours::Figure;
use super::peer::Peer;
use rig::metal::{Cpus, Unready};
use std::time::Duration;

/// Bytes in memory, of all arrays together: a last cache so many times.
const MEMORY_CACHES: u64 = 8;
/// Fewest and most of them: making more takes a peer longer than going over it.
const MEMORY: [u64; 2] = [1 << 28, 1 << 30];
/// Bytes of the first level, which peers divide into lines and arrays.
const FIRST: u64 = 24 << 10;
/// The same for one pointer after the other.
const FIRST_CHASE: u64 = 16 << 10;
/// Most bytes of the third level: in a guest that cache is the whole host's.
const THIRD_MOST: u64 = 32 << 20;
/// What every bandwidth must reach of the best peer's.
const BANDWIDTH: Bar = Bar::AtLeast(0.98);
/// The rounds of a cell take no longer than this.
const LONGEST: Duration = Duration::from_secs(45);
/// The same where a run of the peer takes seconds.
const SLOW_LONGEST: Duration = Duration::from_secs(120);
/// Rounds of most cells.
const ROUNDS: usize = 9;
/// Rounds of the pair of cores, whose threads and line are made anew for each.
const PAIRS: usize = 15;

/// One comparison.
pub struct Cell {
    /// Its name; what is asked for by word begins so.
    pub name: String,
    /// Our load: the lines of a plan.
    pub load: String,
    /// The one of the peer's figures that it is held against.
    pub nth: usize,
    /// The statistic.
    pub figure: Figure,
    /// The bar.
    pub bar: Bar,
}

/// What a ratio must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
    /// Between 1 - so much and 1 + so much.
    Within(f64),
}

/// Cells that one run of a peer answers.
pub struct Group {
    /// They.
    pub cells: Vec<Cell>,
    /// Who runs beside ours.
    pub peer: Peer,
    /// Undisturbed rounds that are wanted.
    pub rounds: usize,
    /// Length of our window, milliseconds.
    pub window_ms: u64,
    /// Whether our load is made anew for each round.
    pub fresh: bool,
    /// Longest time that its rounds may take.
    pub longest: Duration,
}

impl Bar {
    /// Whether an interval reaches it.
    pub fn reached(self, low: f64, high: f64) -> bool {
        match self {
            Self::AtLeast(least) => high >= least,
            Self::AtMost(most) => low <= most,
            Self::Within(share) => high >= 1.0 - share && low <= 1.0 + share,
        }
    }

    /// As printed.
    pub fn text(self) -> String {
        match self {
            Self::AtLeast(least) => format!(">= {least:.2}"),
            Self::AtMost(most) => format!("<= {most:.2}"),
            Self::Within(share) => format!("{:.2} to {:.2}", 1.0 - share, 1.0 + share),
        }
    }
}

/// A level of the machine: its name, and bytes of all arrays in it together.
type Level = (&'static str, u64);

/// All of the bench, in the order in which they are run, for the caches of a CPU; `pair` names two
/// CPUs.
pub fn all(cpus: &Cpus, cpu: u32, pair: &str) -> Result<Vec<Group>, Failed> {
    let levels = levels(cpus, cpu).map_err(|why| why.to_string())?;
    let mut groups = Vec::new();
    for level in levels {
        groups.extend(likwid(level));
        groups.push(memcpy(level, "1"));
    }
    groups.push(memcpy(levels[3], "all"));
    groups.extend(
        [("stream_c", "1"), ("stream", "all")].map(|(program, cpus)| stream(program, cpus)),
    );
    groups.extend(levels.map(latency));
    groups.push(cores(pair));
    Ok(groups)
}

/// The levels of a CPU, in powers of two, by which peers divide: half of the second cache, and of
/// the third a quarter.
fn levels(cpus: &Cpus, cpu: u32) -> Result<[Level; 4], Unready> {
    let part =
        |level, share: u64| cpus.share(level, &[cpu]).map(|bytes| floor_of_two(bytes / share));
    let third = part(3, 4)?.min(THIRD_MOST);
    let [least, most] = MEMORY;
    let memory = (part(3, 1)? * MEMORY_CACHES).clamp(least, most);
    Ok([("L1", FIRST), ("L2", part(2, 2)?), ("L3", third), ("memory", memory)])
}

fn floor_of_two(bytes: u64) -> u64 {
    1 << bytes.max(1).ilog2()
}

/// A group of one cell.
fn alone(cell: Cell, peer: Peer) -> Group {
    Group { cells: vec![cell], peer, rounds: ROUNDS, window_ms: 250, fresh: true, longest: LONGEST }
}

/// `L1 24 KiB`.
fn place((level, bytes): Level) -> String {
    format!("{level} {}", size(bytes))
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{} KiB", b >> 10),
    }
}

/// Operation, instruction set, and the tests of likwid-bench that do the same: for its word
/// `stream` is STREAM's triad, and its `triad` has four arrays.
const LIKWID: &[(&str, &str, &[&str])] = &[
    ("read", "scalar", &["load"]),
    ("read", "sse", &["load_sse"]),
    ("read", "avx2", &["load_avx"]),
    ("read", "avx512", &["load_avx512"]),
    ("write", "scalar", &["store"]),
    ("write", "sse", &["store_sse"]),
    ("write", "avx2", &["store_avx"]),
    ("write", "avx512", &["store_avx512"]),
    ("copy", "scalar", &["copy"]),
    ("copy", "sse", &["copy_sse"]),
    ("copy", "avx2", &["copy_avx"]),
    ("copy", "avx512", &["copy_avx512"]),
    ("triad", "scalar", &["stream"]),
    ("triad", "sse", &["stream_sse"]),
    ("triad", "avx2", &["stream_avx", "stream_avx_fma"]),
    ("triad", "avx512", &["stream_avx512", "stream_avx512_fma"]),
];

/// The same past the caches.
const LIKWID_PAST: &[(&str, &str, &[&str])] = &[
    ("write", "sse", &["store_mem_sse"]),
    ("write", "avx2", &["store_mem_avx"]),
    ("write", "avx512", &["store_mem_avx512"]),
    ("copy", "scalar", &["copy_mem"]),
    ("copy", "sse", &["copy_mem_sse"]),
    ("copy", "avx2", &["copy_mem_avx"]),
    ("copy", "avx512", &["copy_mem_avx512"]),
    ("triad", "sse", &["stream_mem_sse"]),
    ("triad", "avx2", &["stream_mem_avx", "stream_mem_avx_fma"]),
    ("triad", "avx512", &["stream_mem_avx512"]),
];

fn likwid(level: Level) -> Vec<Group> {
    let past = if level.0 == "memory" { LIKWID_PAST } else { &[] };
    let temporal = LIKWID.iter().map(|row| (row, "temporal"));
    let all = temporal.chain(past.iter().map(|row| (row, "nontemporal")));
    all.map(|((operation, isa, tests), store)| {
        let bytes = level.1;
        let load = format!(
            "workload = \"mem_bandwidth\"\noperation = \"{operation}\"\nisa = \"{isa}\"\n\
             store = \"{store}\"\nsize = \"{bytes} B\"\n"
        );
        let past = if store == "temporal" { "" } else { " nt" };
        let name = format!("{} {operation} {isa}{past}", place(level));
        let cell = Cell { name, load, nth: 0, figure: Figure::Rate, bar: BANDWIDTH };
        let peer = Peer::Likwid { tests, bytes };
        alone(cell, peer)
    })
    .collect()
}

/// Our best copy beside `memcpy` of the libc that this program runs on.
fn memcpy(level: Level, threads: &str) -> Group {
    let bytes = level.1;
    let load = |algorithm: &str| {
        let quoted = if threads == "all" { "\"all\"" } else { threads };
        format!(
            "workload = \"mem_copy\"\nalgorithm = \"{algorithm}\"\nsize = \"{bytes} B\"\n\
             threads = {quoted}\n"
        )
    };
    let cpus = if threads == "all" { ", all CPUs" } else { "" };
    let name = format!("{} copy best{cpus}", place(level));
    let cell = Cell { name, load: load("best"), nth: 0, figure: Figure::Best, bar: BANDWIDTH };
    let peer = Peer::Libc { load: load("libc"), all: threads == "all" };
    alone(cell, peer)
}

/// STREAM, whose compiler chose instructions and stores; ours chooses as well.
fn stream(program: &'static str, threads: &'static str) -> Group {
    let cpus = if threads == "all" { ", all CPUs" } else { "" };
    let quoted = if threads == "all" { "\"all\"" } else { threads };
    let words = ["copy", "scale", "add", "triad"];
    let cells = (0..).zip(words).map(|(nth, operation)| Cell {
        name: format!("STREAM's arrays {operation}{cpus}"),
        load: format!(
            "workload = \"mem_bandwidth\"\noperation = \"{operation}\"\nstore = \"nontemporal\"\n\
             size = \"{{bytes}} B\"\nthreads = {quoted}\n"
        ),
        nth,
        // The best samples of several threads are of different moments: ours is the mean then,
        // which is the harder.
        figure: if threads == "all" { Figure::Rate } else { Figure::Best },
        bar: BANDWIDTH,
    });
    let peer = Peer::Stream { program, all: threads == "all" };
    let (cells, longest) = (cells.collect(), SLOW_LONGEST);
    Group { cells, peer, rounds: ROUNDS, window_ms: 300, fresh: false, longest }
}

fn latency(level: Level) -> Group {
    // A size that a full cycle of the peer divides, and room for what else the CPU's threads hold.
    let bytes = if level.0 == "L1" { FIRST_CHASE } else { level.1 };
    let load = format!(
        "workload = \"mem_latency\"\norder = \"random\"\nstride = \"64 B\"\nsize = \"{bytes} B\"\n"
    );
    let name = format!("latency {}", place((level.0, bytes)));
    let cell = Cell { name, load, nth: 0, figure: Figure::Time, bar: Bar::Within(0.05) };
    Group { longest: SLOW_LONGEST, ..alone(cell, Peer::Multichase { bytes }) }
}

fn cores(pair: &str) -> Group {
    let load = format!("workload = \"core_pair\"\nmethod = \"cas\"\npair = \"{pair}\"\n");
    let name = format!("core pair {pair} cas");
    let cell = Cell { name, load, nth: 0, figure: Figure::Time, bar: Bar::AtMost(1.05) };
    let peer = Peer::CoreToCore { pair: pair.replace('-', ",") };
    Group { rounds: PAIRS, longest: SLOW_LONGEST, ..alone(cell, peer) }
}
