//! Knows the other tools: what they read, and what they print.
//!
//! Must not know how a cell is judged.

use super::judged::Failed;
use loads::engine::packet::routes::Route;
use loads::engine::packet::rules::Rule;
use loads::engine::packet::tuple::Tuple;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{env, fs, process};

/// Passes over all packets of a cell that are timed together.
pub const PASSES: usize = 400;

/// What a tool does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Packets by rules.
    Acl,
    /// Destinations by routes.
    Lpm,
}

/// Another tool.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    kind: Kind,
    algorithm: &'static str,
}

const ALL: [Peer; 4] = [
    Peer { name: "rte_acl avx2", file: "dpdk-test-acl", kind: Kind::Acl, algorithm: "avx2" },
    Peer {
        name: "rte_acl avx512x16",
        file: "dpdk-test-acl",
        kind: Kind::Acl,
        algorithm: "avx512x16",
    },
    Peer {
        name: "rte_acl avx512x32",
        file: "dpdk-test-acl",
        kind: Kind::Acl,
        algorithm: "avx512x32",
    },
    Peer { name: "rte_lpm bulk", file: "dpdk-lpm", kind: Kind::Lpm, algorithm: "" },
];

/// What a tool reads: two files, which are gone with this value.
pub struct Files {
    dir: PathBuf,
}

impl Files {
    fn of(first: &str, second: &str) -> Result<Self, Failed> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Relaxed);
        let dir = env::temp_dir().join(format!("stend-classify-{}-{number}", process::id()));
        fs::create_dir_all(&dir)?;
        let files = Self { dir };
        fs::write(files.first(), first)?;
        fs::write(files.second(), second)?;
        Ok(files)
    }

    /// Rules as ClassBench writes them, and packets as it does.
    pub fn of_rules(rules: &[Rule], packets: &[Tuple]) -> Result<Self, Failed> {
        let (mut first, mut second) = (String::new(), String::new());
        for rule in rules {
            writeln!(first, "{rule}")?;
        }
        for Tuple { src, dst, src_port, dst_port, protocol } in packets {
            writeln!(second, "{src} {dst} {src_port} {dst_port} {protocol}")?;
        }
        Self::of(&first, &second)
    }

    /// Routes and destinations, in numbers.
    pub fn of_routes(routes: &[Route], destinations: &[u32]) -> Result<Self, Failed> {
        let (mut first, mut second) = (String::new(), String::new());
        for Route { prefix, hop } in routes {
            writeln!(first, "{} {} {hop}", prefix.address, prefix.len)?;
        }
        for dst in destinations {
            writeln!(second, "{dst}")?;
        }
        Self::of(&first, &second)
    }

    fn first(&self) -> PathBuf {
        self.dir.join("first")
    }

    fn second(&self) -> PathBuf {
        self.dir.join("second")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Peer {
    /// The tools that do it, in the widest form that this CPU has.
    pub fn of(kind: Kind) -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let is_wide = std::is_x86_feature_detected!("avx512bw");
        #[cfg(not(target_arch = "x86_64"))]
        let is_wide = false;
        let fits = |peer: &Self| match peer.algorithm {
            "" => true,
            algorithm => algorithm.starts_with("avx512") == is_wide,
        };
        ALL.into_iter().filter(|peer| peer.kind == kind && fits(peer)).collect()
    }

    /// Whether it is on PATH.
    pub fn is_there(&self) -> bool {
        let paths = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&paths).any(|dir| dir.join(self.file).is_file())
    }

    /// What it says of each packet or destination: an index or a hop, all ones for none.
    pub fn answers(&self, files: &Files, cpu: u32) -> Result<Vec<u32>, Failed> {
        let text = self.run(files, cpu, 0)?;
        let words = text.lines().filter_map(|line| match self.kind {
            Kind::Acl => line.rsplit_once("result: ").map(|(_, word)| word),
            Kind::Lpm => Some(line),
        });
        let number = |word: &str| Ok(word.trim().parse::<u32>()?);
        words.map(number).collect()
    }

    /// Packets or destinations a second of [`PASSES`] passes.
    pub fn rate(&self, files: &Files, cpu: u32) -> Result<f64, Failed> {
        let text = self.run(files, cpu, PASSES)?;
        let ends = match self.kind {
            Kind::Acl => " pkt/sec",
            Kind::Lpm => " look-ups/s",
        };
        let line = text.lines().rev().find_map(|line| line.strip_suffix(ends));
        let word = line.and_then(|line| line.split(' ').next_back());
        let word = word.ok_or_else(|| format!("no rate of {} in: {text}", self.name))?;
        Ok(word.parse()?)
    }

    /// All that it prints; of 0 passes its answers.
    fn run(&self, files: &Files, cpu: u32, passes: usize) -> Result<String, Failed> {
        let (first, second) = (files.first(), files.second());
        let (first, second) = (first.display(), second.display());
        let words = match self.kind {
            Kind::Acl => {
                let (verbose, passes) = if passes == 0 { (3, 1) } else { (0, passes) };
                format!(
                    "-l {cpu} --no-pci --no-huge -m 1024 --no-telemetry \
                     --force-max-simd-bitwidth=512 --file-prefix \
                     stend-{} -- --rulesf={first} --tracef={second} --alg={} --bldcat=1 \
                     --iter={passes} --verbose={verbose}",
                    process::id(),
                    self.algorithm
                )
            }
            Kind::Lpm => format!("{first} {second} {}", passes.div_ceil(64)),
        };
        let output = Command::new(self.file).args(words.split_whitespace()).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("{} ended with {}: {why}", self.file, output.status).into())
        }
    }
}
