//! Knows access specifications as IOmeter has them: lines of sizes, each with its share of the
//! accesses, of reads and of random places.
//!
//! Gives: [`Access`], its presets, and [`read`], which reads a file of IOmeter (`.icf`).
//! Never: what an access goes to, a file or a network.
//! Start reading here, then `icf.rs`.

mod icf;
#[cfg(test)]
mod tests;

pub use icf::read;

use desk::unit::Quantity;
use std::fmt;

/// Bytes that a line with the alignment 0 is aligned to: a sector.
pub const SECTOR: u64 = 512;

/// One line of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes of an access.
    pub size: u64,
    /// Accesses of a hundred that are of this line.
    pub share: u64,
    /// Reads of a hundred of them; the others are writes.
    pub reads: u64,
    /// Of a hundred of them, those at a random place; the others follow the access before.
    pub random: u64,
    /// Pause after each burst, milliseconds.
    pub delay_ms: u64,
    /// Accesses of a burst.
    pub burst: u64,
    /// Bytes that every place is a multiple of; 0 for a sector.
    pub align: u64,
    /// Bytes of a reply over a network; 0 for none.
    pub reply: u64,
}

impl Line {
    /// Accesses of this size without pauses and replies, aligned to sectors.
    #[must_use]
    pub const fn new(size: u64, share: u64, (reads, random): (u64, u64)) -> Self {
        Self { size, share, reads, random, delay_ms: 0, burst: 1, align: 0, reply: 0 }
    }

    /// Bytes that every place is a multiple of.
    #[must_use]
    pub const fn aligned(&self) -> u64 {
        if self.align == 0 { SECTOR } else { self.align }
    }
}

/// A specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its name.
    pub name: String,
    /// Its lines, of which the shares are 100 together and none is 0.
    pub lines: Vec<Line>,
}

/// Names of the presets.
pub const PRESETS: [&str; 4] = ["database", "file_server", "web_server", "workstation"];

/// Sizes in sectors and shares of the presets.
///
/// The four are Intel's, as Tom's Hardware ("Tom's Storage Charts 2009: A New Test Environment",
/// IOMeter 2006.07.27) prints them. fio (`examples/iometer-file-access-server.fio`) and
/// Tweakers ("Comparison of nine Serial ATA RAID 5 adapters") have the same file server.
const FILE_SERVER: &[(u64, u64)] =
    &[(1, 10), (2, 5), (4, 5), (8, 60), (16, 2), (32, 4), (64, 4), (128, 10)];
const WEB_SERVER: &[(u64, u64)] =
    &[(1, 22), (2, 15), (4, 8), (8, 23), (16, 15), (32, 2), (64, 6), (128, 7), (256, 1), (1024, 1)];
const ONE_SIZE: &[(u64, u64)] = &[(16, 100)];

impl Access {
    /// One of [`PRESETS`]; none of another name.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let (sizes, mix) = match name {
            "database" => (ONE_SIZE, (67, 100)),
            "file_server" => (FILE_SERVER, (80, 100)),
            "web_server" => (WEB_SERVER, (100, 100)),
            "workstation" => (ONE_SIZE, (80, 80)),
            _ => return None,
        };
        let line = |(sectors, share): &(u64, u64)| Line::new(sectors * SECTOR, *share, mix);
        Some(Self { name: name.into(), lines: sizes.iter().map(line).collect() })
    }

    /// Bytes of an access, on average over many.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
    pub fn mean_size(&self) -> f64 {
        let part = |line: &Line| line.size as f64 * line.share as f64;
        let all: u64 = self.lines.iter().map(|line| line.share).sum();
        self.lines.iter().map(part).sum::<f64>() / all.max(1) as f64
    }
}

/// As a record names it: `database: 100 % 8 KiB, 67 % reads, 100 % random`.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mix = |line: &Line| (line.reads, line.random, line.align);
        write!(f, "{}: ", self.name)?;
        for (at, line) in self.lines.iter().enumerate() {
            let last = self.lines.get(at + 1).is_none_or(|next| mix(next) != mix(line));
            write!(f, "{} % {}", line.share, Quantity::bytes(line.size))?;
            if last {
                write!(f, ", {} % reads, {} % random", line.reads, line.random)?;
                if line.align > 0 {
                    write!(f, ", aligned to {}", Quantity::bytes(line.align))?;
                }
            }
            if at + 1 < self.lines.len() {
                f.write_str(if last { "; " } else { ", " })?;
            }
        }
        Ok(())
    }
}
