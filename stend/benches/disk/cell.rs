//! Knows the cells of the bench and their bars.
//!
//! Must not know how anything is run.

use desk::stats::Estimate;
use std::path::PathBuf;

/// Bytes of each file.
pub const BYTES: u64 = 1 << 30;
/// So far beyond its bar an interval may reach.
const SLACK: f64 = 0.03;
/// Percentiles differ by at most this share, or by this time, seconds.
const ALIKE: f64 = 0.05;
const ALIKE_TIME: f64 = 10e-6;

/// Where files are.
pub struct Place {
    /// In the name of cells.
    pub name: &'static str,
    /// Of both files.
    pub directory: PathBuf,
    /// Past the page cache.
    pub direct: bool,
}

/// What is done.
#[derive(Clone, Copy)]
pub struct Access {
    /// In the name of cells.
    pub name: &'static str,
    /// Not in order.
    pub random: bool,
    /// And not reads.
    pub writes: bool,
    /// Bytes of an operation.
    pub block: u64,
    /// Operations under way.
    pub depth: u32,
}

const RANDOM: Access =
    Access { name: "randread 4K QD32", random: true, writes: false, block: 4096, depth: 32 };

/// On a disk.
pub const DISK: [Access; 4] = [
    RANDOM,
    Access { name: "randread 4K QD1", depth: 1, ..RANDOM },
    Access { name: "seqread 128K QD8", random: false, block: 128 << 10, depth: 8, ..RANDOM },
    Access { name: "randwrite 4K QD32", writes: true, ..RANDOM },
];

/// In memory.
pub const MEMORY: [Access; 1] = [RANDOM];

/// What one run gave.
#[derive(Clone, Copy)]
pub struct Got {
    /// Operations a second.
    pub rate: f64,
    /// CPU time of an operation, seconds.
    pub cost: f64,
    /// Response times, seconds.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq)]
pub enum Figure {
    /// Operations a second, at least so many times the peer's.
    Rate(f64),
    /// CPU time of an operation, at most so many times the peer's.
    Cost(f64),
    /// Alike.
    P50,
    /// Alike.
    P99,
}

/// How a figure stands to its bar.
#[derive(Clone, Copy, PartialEq)]
pub enum Mark {
    /// Its interval lies within the slack of the bar.
    Ok,
    /// All of its interval misses the bar.
    Short,
    /// Neither.
    Open,
}

impl Figure {
    /// All of a place.
    pub fn all(place: &Place) -> Vec<Self> {
        match place.direct {
            true => vec![Self::Rate(1.0), Self::Cost(0.75), Self::P50, Self::P99],
            false => vec![Self::Rate(1.2), Self::P50, Self::P99],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate(_) => "operations per second",
            Self::Cost(_) => "CPU per operation",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }

    /// Its bar, in words.
    pub fn bar(self) -> String {
        match self {
            Self::Rate(bar) => format!(">= {bar:.2}"),
            Self::Cost(bar) => format!("<= {bar:.2}"),
            Self::P50 | Self::P99 => "within 5 % or 10 us".into(),
        }
    }

    /// Of a run.
    pub fn of(self, got: Got) -> f64 {
        match self {
            Self::Rate(_) => got.rate,
            Self::Cost(_) => got.cost,
            Self::P50 => got.p50,
            Self::P99 => got.p99,
        }
    }

    /// Judges the ratio, with the difference of the medians.
    pub fn judge(self, found: &Estimate, apart: f64) -> Mark {
        let (low, high) = (found.low.value, found.high.value);
        let (met, missed) = match self {
            Self::Rate(bar) => (low > bar - SLACK, high < bar),
            Self::Cost(bar) => (high < bar + SLACK, low > bar),
            Self::P50 | Self::P99 => {
                let within = low > 1.0 - ALIKE - SLACK && high < 1.0 + ALIKE + SLACK;
                let is_near = apart.abs() <= ALIKE_TIME;
                (within || is_near, high < 1.0 - ALIKE || low > 1.0 + ALIKE)
            }
        };
        match (met, missed) {
            (true, _) => Mark::Ok,
            (false, true) => Mark::Short,
            (false, false) => Mark::Open,
        }
    }
}
