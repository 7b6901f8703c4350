//! Knows for which share of the window work waited for CPUs, memory, disks and interrupts.
//!
//! From the totals of `/proc/pressure` (Documentation/accounting/psi.rst), microseconds, that are
//! brought up to date by each reading; the averages beside them lag by seconds and are not read.
//! `some` is time in which at least one task waited, `full` in which all did. `full` of the CPU is
//! not defined for a whole machine: the kernel always writes 0, and it is left out. A kernel
//! without the files, or booted with `psi=0`, gives no reading. Must not know who waited.

use super::source::{Sources, Text};
use super::{Moment, Probe, counter, per_wall, reading};
use desk::record::Reading;
use desk::unit::Unit;
use std::path::Path;

const RESOURCES: [&str; 4] = ["cpu", "memory", "io", "irq"];
const KINDS: [&str; 2] = ["some", "full"];
const UNDEFINED: (&str, &str) = ("cpu", "full");

/// Reads `/proc/pressure` at both edges.
#[derive(Debug)]
pub struct PressureProbe {
    files: Sources<{ RESOURCES.len() }>,
}

impl PressureProbe {
    /// A probe that reads below `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { files: Sources::new(&root.join("proc/pressure"), RESOURCES) }
    }
}

/// The total of a line such as `some avg10=0.00 avg60=0.00 avg300=0.00 total=12`, microseconds.
pub(super) fn total(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(kind))?;
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

fn readings(resource: &str, opened: &Text, closed: &Text) -> Vec<Reading> {
    let wall_ns = closed.at_ns.saturating_sub(opened.at_ns);
    let row = |kind: &str| {
        let (then, now) = (total(&opened.text, kind)?, total(&closed.text, kind)?);
        let waited_ns = counter::gained(then, now)?.saturating_mul(1000);
        let share = per_wall(waited_ns, wall_ns).min(1.0);
        let key = format!("{resource}.{kind}");
        Some(reading("pressure", "machine", &key, share, Unit::Share))
    };
    KINDS.into_iter().filter(|kind| (resource, *kind) != UNDEFINED).filter_map(row).collect()
}

impl Probe for PressureProbe {
    fn begin(&mut self, _: &Moment) {
        self.files.open();
    }

    fn end(&mut self, _: &Moment) -> Vec<Reading> {
        let files = RESOURCES.into_iter().zip(self.files.close());
        let rows = files.filter_map(|(name, both)| {
            let (opened, closed) = both?;
            Some(readings(name, &opened, &closed))
        });
        rows.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Tree, value, window};
    use super::*;

    fn text(some: u64, full: u64) -> String {
        let line = |kind, total| format!("{kind} avg10=9.9 avg60=0.00 avg300=0.00 total={total}\n");
        line("some", some) + &line("full", full)
    }

    #[test]
    fn totals_become_shares_of_the_window() {
        let at = |at_ns, text| Text { at_ns, text };
        let (opened, closed) = (at(0, text(1_000, 0)), at(2_000_000_000, text(501_000, 20_000)));
        let told = |resource| -> Vec<(String, f64)> {
            let rows = readings(resource, &opened, &closed);
            rows.into_iter().map(|row| (row.key, row.quantity.value)).collect()
        };
        assert_eq!(told("io"), [("io.some".into(), 0.25), ("io.full".into(), 0.01)]);
        assert_eq!(told("cpu"), [("cpu.some".into(), 0.25)], "full is not defined");
        let more = at(1_000_000, text(9_000, 0));
        assert_eq!(readings("io", &opened, &more)[0].quantity.value, 1.0, "never above all of it");
    }

    #[test]
    fn what_is_absent_unreadable_or_went_back_gives_no_reading() {
        let tree = Tree::new("pressure");
        tree.file("proc/pressure/cpu", &text(5_000_000_000_000, 0));
        tree.file("proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=4294967290\n");
        tree.eio("proc/pressure/io");
        let mut probe = PressureProbe::new(tree.root());
        let rows = window(&mut probe, || {
            tree.file("proc/pressure/cpu", &text(3, 0));
            tree.file("proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
        });
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert!(value(&rows, "irq.full").unwrap() > 0.0);
        let gone = window(&mut probe, || tree.file("proc/pressure/irq", ""));
        assert_eq!(gone.len(), 1, "cpu alone: {gone:?}");
        assert!(window(&mut PressureProbe::new(Path::new("/nonexistent")), || ()).is_empty());
    }
}
