//! Knows how many bytes this process moved to and from block devices.
//!
//! Must not know which file they were of, nor what was asked for.

use serde::{Deserialize, Serialize};

/// Where the kernel counts them.
const COUNTS: &str = "/proc/self/io";

/// Bytes that all threads of this process moved, those that have ended too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Read from a block device.
    pub read: u64,
    /// Written to one; of writes through the page cache, what will be written.
    pub written: u64,
}

impl Stored {
    /// Until now; none where the kernel does not count them.
    #[must_use]
    pub fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string(COUNTS).ok()?)
    }

    /// All bytes since an earlier moment.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            read: self.read.saturating_sub(before.read),
            written: self.written.saturating_sub(before.written),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let of = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            line.strip_prefix(':')?.trim().parse().ok()
        };
        Some(Self { read: of("read_bytes")?, written: of("write_bytes")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_block_devices_are_taken_and_not_those_of_calls() {
        let text = "rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 8192\n\
                    write_bytes: 4096\ncancelled_write_bytes: 1\n";
        let found = Stored::parse(text).unwrap();
        assert_eq!(found, Stored { read: 8192, written: 4096 });
        let since = found.since(Stored { read: 4096, written: 5000 });
        assert_eq!(since, Stored { read: 4096, written: 0 });
        assert_eq!(Stored::parse("rchar: 5\n"), None);
    }
}
