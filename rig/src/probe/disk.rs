//! Knows what each disk of the machine read and wrote, and for which share of the window it worked.
//!
//! From `/proc/diskstats` (Documentation/admin-guide/iostats.rst), whose sectors have 512 bytes
//! whatever the disk has. Times are milliseconds of 32 bits. The time with requests is sampled
//! by the timer tick from kernel 5.0 on, and may be a tick short or long a request; a disk that
//! works on many at once can do more even at 100 %. `queued` is the mean number of requests that
//! the disk and its queue had. Partitions, loops, memory disks and what is made of other disks
//! have no device below `/sys/block` and are left out. Must not know whose requests they were.

use super::source::{Sources, Text};
use super::{Moment, Probe, counter, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a sector of this file.
const SECTOR: f64 = 512.0;
const MS: f64 = 1e-3;

/// Key, place after the name, what one of it is, and in which unit it is told each second.
const COLUMNS: [(&str, usize, f64, Unit); 6] = [
    ("reads", 0, 1.0, Unit::OperationPerSecond),
    ("bytes_read", 2, SECTOR, Unit::BytePerSecond),
    ("writes", 4, 1.0, Unit::OperationPerSecond),
    ("bytes_written", 6, SECTOR, Unit::BytePerSecond),
    ("busy", 9, MS, Unit::Share),
    ("queued", 10, MS, Unit::Count),
];

/// Reads `/proc/diskstats` at both edges.
#[derive(Debug)]
pub struct DiskProbe {
    file: Sources<1>,
    disks: PathBuf,
}

impl DiskProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let file = Sources::new(root, ["proc/diskstats"]);
        Self { file, disks: root.join("sys/block") }
    }

    /// Whether a disk sits on a device; sysfs has `!` for `/` in a name.
    fn is_physical(&self, disk: &str) -> bool {
        self.disks.join(disk.replace('/', "!")).join("device").exists()
    }
}

impl Probe for DiskProbe {
    fn begin(&mut self, _: &Moment) {
        self.file.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let [both] = self.file.close();
        let Some((opened, closed)) = both else { return Vec::new() };
        readings(&opened, &closed, |disk| self.is_physical(disk))
    }
}

/// Name of each disk and the columns after it.
fn lines(text: &str) -> BTreeMap<&str, Vec<u64>> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<(&str, Vec<u64>)> {
    let mut words = line.split_ascii_whitespace().skip(2);
    let name = words.next()?;
    Some((name, words.map_while(|word| word.parse().ok()).collect()))
}

/// Nothing of a disk that came or went in the window.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn readings(opened: &Text, closed: &Text, physical: impl Fn(&str) -> bool) -> Vec<Reading> {
    let seconds = closed.seconds_since(opened);
    let (then, now) = (lines(&opened.text), lines(&closed.text));
    let disks = now.iter().filter(|(disk, _)| physical(disk));
    let both = disks.filter_map(|(disk, now)| Some((disk, then.get(disk)?, now)));
    let mut rows = Vec::new();
    for (disk, then, now) in both {
        for (key, column, one, unit) in COLUMNS {
            let counts = then.get(column).zip(now.get(column));
            let gained = counts.and_then(|(then, now)| counter::gained(*then, *now));
            let Some(gained) = gained else { continue };
            let value = gained as f64 * one / seconds;
            let value = if unit == Unit::Share { value.min(1.0) } else { value };
            rows.push(reading("disk", "machine", &format!("{key}.{disk}"), value, unit));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Tree, value, window};
    use super::*;

    const FILE: &str = "proc/diskstats";

    fn row(disk: &str, [reads, read, writes, written, busy, queued]: [u64; 6]) -> String {
        format!(" 259 0 {disk} {reads} 3 {read} 9 {writes} 4 {written} 9 1 {busy} {queued} 0 0 0\n")
    }

    #[test]
    fn a_disk_tells_rates_and_its_busy_share() {
        let text = |at_ns, counts| Text { at_ns, text: row("sda", counts) };
        let opened = text(0, [10, 80, 5, 8, 4_294_967_000, 100]);
        let closed = text(2_000_000_000, [30, 1_080, 9, 24, 204, 4_100]);
        let rows = readings(&opened, &closed, |_| true);
        let told: Vec<(&str, f64)> =
            rows.iter().map(|row| (row.key.as_str(), row.quantity.value)).collect();
        // By hand: 1,000 sectors x 512 B / 2 s = 256,000 B/s; 500 ms of 2 s past a wrap of 32
        // bits; 4,000 ms of requests in 2 s.
        assert_eq!(
            told,
            [
                ("reads.sda", 10.0),
                ("bytes_read.sda", 256_000.0),
                ("writes.sda", 2.0),
                ("bytes_written.sda", 4_096.0),
                ("busy.sda", 0.25),
                ("queued.sda", 2.0),
            ]
        );
        let short = text(100_000_000, [30, 1_080, 9, 24, 204, 4_100]);
        assert_eq!(value(&readings(&opened, &short, |_| true), "busy.sda"), Some(1.0));
        assert!(readings(&opened, &closed, |_| false).is_empty());
    }

    #[test]
    fn only_disks_on_a_device_that_were_there_all_the_time() {
        let tree = Tree::new("disk");
        for disk in ["sda", "sdb", "sdc", "cciss!c0d0"] {
            tree.directory(&format!("sys/block/{disk}/device"));
        }
        tree.directory("sys/block/loop0");
        let of = |disks: &[&str]| disks.iter().map(|disk| row(disk, [5; 6])).collect::<String>();
        tree.file(FILE, &of(&["sda", "sda1", "sdb", "loop0", "cciss/c0d0"]));
        let mut probe = DiskProbe::new(tree.root());
        let rows = window(&mut probe, || {
            tree.file(FILE, &of(&["sda", "sda1", "sdc", "loop0", "cciss/c0d0"]));
        });
        assert_eq!(rows.len(), 2 * COLUMNS.len(), "sdb went and sdc came: {rows:?}");
        assert_eq!(value(&rows, "busy.cciss/c0d0"), Some(0.0));
        let gone = window(&mut probe, || {
            tree.remove("sys/block/sda");
            tree.file(FILE, &row("cciss/c0d0", [4, 5, 5, 5, 5, 5]));
        });
        assert_eq!(gone.len(), COLUMNS.len() - 1, "the reads were reset: {gone:?}");
    }

    #[test]
    fn an_unreadable_or_absent_file_gives_no_reading() {
        let tree = Tree::new("disk-eio");
        tree.eio(FILE);
        assert!(window(&mut DiskProbe::new(tree.root()), || ()).is_empty());
        assert!(window(&mut DiskProbe::new(Path::new("/nonexistent")), || ()).is_empty());
        let short = Text { at_ns: 0, text: "8 0 sda 1 2\n8 1\n\n".into() };
        assert_eq!(readings(&short, &short, |_| true).len(), 1, "of an old kernel: reads alone");
    }
}
