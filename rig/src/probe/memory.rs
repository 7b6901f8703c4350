//! Knows how much memory was left, and how often a task had to wait for some.
//!
//! Of `/proc/meminfo` (proc(5)) there is the worse of both edges: least available, most swap and
//! dirty pages; what was in between is not known. Its numbers may lag by some hundred pages a CPU.
//! `/proc/vmstat` counts events, exactly: faults, pages swapped, entries into compaction and
//! reclaim by a task that wanted memory, tasks killed for it. Must not know which task it was.

use super::source::Sources;
use super::{Moment, Probe, counter, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::path::Path;

/// Events: key, and name in `/proc/vmstat`; those whose name only begins so are added up.
const EVENTS: [(&str, &str); 7] = [
    ("page_faults", "pgfault"),
    ("major_faults", "pgmajfault"),
    ("pages_swapped_in", "pswpin"),
    ("pages_swapped_out", "pswpout"),
    ("compaction_stalls", "compact_stall"),
    // One for each zone, as `allocstall_normal`.
    ("allocation_stalls", "allocstall*"),
    ("oom_kills", "oom_kill"),
];

/// Reads `/proc/meminfo` and `/proc/vmstat` at both edges.
#[derive(Debug)]
pub struct MemoryProbe {
    files: Sources<2>,
}

impl MemoryProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { files: Sources::new(root, ["proc/meminfo", "proc/vmstat"]) }
    }
}

impl Probe for MemoryProbe {
    fn begin(&mut self, _: &Moment) {
        self.files.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let [levels, events] = self.files.close();
        let levels = levels.map(|(then, now)| levels_of(&then.text, &now.text));
        let events = events.map(|(then, now)| events_of(&then.text, &now.text));
        levels.into_iter().chain(events).flatten().collect()
    }
}

/// A line such as `Dirty:  12 kB`, in bytes; a kB of this file has 1,024.
#[expect(clippy::cast_precision_loss, reason = "memories are far below 2^53 B")]
fn bytes(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes as f64 * 1024.0)
}

fn levels_of(then: &str, now: &str) -> Vec<Reading> {
    let both = |of: &dyn Fn(&str) -> Option<f64>| of(then).zip(of(now));
    let swapped = |text: &str| Some(bytes(text, "SwapTotal")? - bytes(text, "SwapFree")?);
    let levels = [
        ("available", both(&|text| bytes(text, "MemAvailable")).map(|(a, b)| a.min(b))),
        ("swap_used", both(&swapped).map(|(a, b)| a.max(b))),
        ("dirty", both(&|text| bytes(text, "Dirty")).map(|(a, b)| a.max(b))),
    ];
    let row = |(key, value): (&str, Option<f64>)| {
        Some(reading("memory", "machine", key, value?, Unit::Byte))
    };
    levels.into_iter().filter_map(row).collect()
}

/// The count of an event; none of one that the kernel does not name.
fn count(text: &str, name: &str) -> Option<u64> {
    let its = |word: &str| match name.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == name,
    };
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let counts = lines.filter(|(word, _)| its(word)).map(|(_, count)| count.trim().parse::<u64>());
    let counts: Vec<u64> = counts.collect::<Result<_, _>>().ok()?;
    (!counts.is_empty()).then(|| counts.iter().sum())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn events_of(then: &str, now: &str) -> Vec<Reading> {
    let row = |(key, name): (&str, &str)| {
        let gained = counter::gained(count(then, name)?, count(now, name)?)?;
        Some(reading("memory", "machine", key, gained as f64, Unit::Count))
    };
    EVENTS.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Tree, value, window};
    use super::*;

    const LEVELS: &str = "proc/meminfo";
    const COUNTS: &str = "proc/vmstat";

    fn meminfo(available: u64, swap_free: u64) -> String {
        format!(
            "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable: {available:>7} kB\n\
             SwapCached:        3 kB\nSwapTotal:       100 kB\nSwapFree: {swap_free:>7} kB\n\
             HugePages_Total:    0\n"
        )
    }

    fn vmstat(faults: u64, stalls: u64) -> String {
        format!(
            "nr_free_pages 7\npgfault {faults}\npgmajfault 2\nallocstall_dma 1\n\
             allocstall_normal {stalls}\noom_kill 0\n"
        )
    }

    #[test]
    fn the_worse_of_both_edges_and_what_was_counted_between() {
        let tree = Tree::new("memory");
        tree.file(LEVELS, &meminfo(600, 100));
        tree.file(COUNTS, &vmstat(4_294_967_290, 5));
        let mut probe = MemoryProbe::new(tree.root());
        let rows = window(&mut probe, || {
            tree.file(LEVELS, &meminfo(700, 60));
            tree.file(COUNTS, &vmstat(94, 12));
        });
        assert_eq!(value(&rows, "available"), Some(600.0 * 1024.0), "the lower");
        assert_eq!(value(&rows, "swap_used"), Some(40.0 * 1024.0), "the higher");
        assert_eq!(value(&rows, "page_faults"), Some(100.0), "past a wrap");
        assert_eq!(value(&rows, "allocation_stalls"), Some(7.0));
        assert_eq!(value(&rows, "oom_kills"), Some(0.0));
        // Dirty, swapping and compaction are not told by this kernel: absent, not 0.
        assert_eq!(rows.len(), 6, "{rows:?}");
    }

    #[test]
    fn an_unreadable_absent_or_emptied_file_leaves_the_other() {
        let tree = Tree::new("memory-eio");
        tree.file(LEVELS, &meminfo(600, 100));
        tree.eio(COUNTS);
        let mut probe = MemoryProbe::new(tree.root());
        assert_eq!(window(&mut probe, || ()).len(), 2);
        assert!(window(&mut probe, || tree.file(LEVELS, "")).is_empty());
        assert!(window(&mut MemoryProbe::new(Path::new("/nonexistent")), || ()).is_empty());
        let here = window(&mut MemoryProbe::new(Path::new("/")), || ());
        assert!(value(&here, "available").unwrap() > 1e6 && value(&here, "page_faults").is_some());
    }
}
