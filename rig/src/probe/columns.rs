//! Knows tables of the kernel that have a column for each CPU: `/proc/interrupts`,
//! `/proc/softirqs` (proc(5)). Their counters have 32 bits each.
//!
//! Must not know what is counted.

use super::counter;

/// The CPUs of the head, and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Columns<'a> {
    cpus: Vec<u32>,
    pub(super) rows: Vec<Row<'a>>,
}

/// A row that has a count for each CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// What stands before the colon.
    pub(super) name: &'a str,
    /// One count for each CPU, in the order of the head.
    counts: Vec<u64>,
    /// The words after the counts.
    pub(super) words: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    /// The rows whose name is wanted; those with fewer counts than there are CPUs are left out.
    pub(super) fn parse(text: &'a str, wanted: impl Fn(&str) -> bool) -> Self {
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default().split_ascii_whitespace();
        let cpus: Vec<u32> = head.filter_map(|cpu| cpu.strip_prefix("CPU")?.parse().ok()).collect();
        let row = |line: &'a str| {
            let (name, rest) = line.split_once(':')?;
            wanted(name.trim()).then_some(())?;
            let mut words = rest.split_ascii_whitespace();
            let counts = words.by_ref().take(cpus.len()).map(|word| word.parse().ok());
            let counts = counts.collect::<Option<Vec<u64>>>()?;
            let whole = counts.len() == cpus.len();
            whole.then(|| Row { name: name.trim(), counts, words: words.collect() })
        };
        let rows = lines.filter_map(row).collect();
        Self { cpus, rows }
    }

    /// What a row gained since `before` on each CPU that both tables have. A row that was not there
    /// began at 0. None where a counter was reset.
    pub(super) fn gained(&self, row: &Row, before: &Columns) -> Option<Vec<(u32, u64)>> {
        let old = before.rows.iter().find(|old| old.name == row.name);
        let mut gains = Vec::with_capacity(self.cpus.len());
        for (at, (cpu, now)) in self.cpus.iter().zip(&row.counts).enumerate() {
            // CPUs stand in the same columns, unless one came or went.
            let same = (before.cpus.get(at) == Some(cpu)).then_some(at);
            let Some(column) = same.or_else(|| before.cpus.iter().position(|c| c == cpu)) else {
                continue;
            };
            let then = old.and_then(|old| old.counts.get(column)).copied().unwrap_or(0);
            gains.push((*cpu, counter::gained(then, *now)?));
        }
        Some(gains)
    }
}

/// The largest part of a sum, as a share of it; none of 0.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
pub(super) fn largest(gains: impl Iterator<Item = u64> + Clone) -> Option<f64> {
    let sum: u64 = gains.clone().sum();
    gains.max().filter(|_| sum > 0).map(|most| most as f64 / sum as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_belong_to_the_cpu_of_the_head_even_if_one_goes() {
        let before = "     CPU0 CPU1 CPU2\n 7: 10 4294967290 30 PCI eth0\nERR: 5\n";
        let after = "     CPU0 CPU2 CPU3\n 7: 11 33 9 PCI eth0\n 8: 1 2 3\nERR: 5\n";
        let (before, after) = (Columns::parse(before, |_| true), Columns::parse(after, |_| true));
        assert_eq!(after.rows.len(), 2, "ERR has no column for each CPU");
        assert_eq!(after.rows[0].words, ["PCI", "eth0"]);
        assert_eq!(after.gained(&after.rows[0], &before), Some(vec![(0, 1), (2, 3)]));
        assert_eq!(after.gained(&after.rows[1], &before), Some(vec![(0, 1), (2, 2)]), "new");
    }

    #[test]
    fn a_count_wraps_at_32_bits_and_a_reset_is_no_gain() {
        let table = |count: u64| format!("  CPU0 CPU1\n 7: {count} 1\n");
        let gained = |then, now| {
            let (then, now) = (table(then), table(now));
            let (then, now) = (Columns::parse(&then, |_| true), Columns::parse(&now, |_| true));
            now.gained(&now.rows[0], &then)
        };
        assert_eq!(gained(4_294_967_290, 4), Some(vec![(0, 10), (1, 0)]));
        assert_eq!(gained(1000, 4), None);
    }
}
