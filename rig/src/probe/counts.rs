//! Knows what adapters on a device count of pause frames, errors and losses, from before go to
//! after the stop.
//!
//! The driver is asked for it under the kernel's RTNL lock, which settings of links wait for; some
//! ask their device for milliseconds. So it is read outside of the window, as disciplines are in
//! `qdisc.rs`, and is of all of the load: its rise and its end are in it.
//!
//! Pause frames are told wherever a driver counts them, all else where it gained. Of what only a
//! driver names, counts of drops, errors, pauses, missing buffers, overruns, time-outs and stopped
//! queues are told; counts of several queues, whose names differ in a number, as their sum with `*`
//! in its place. Must not know whether the load went over the adapter.

use super::adapter::{Adapter, adapters};
use super::{counter, reading};
use crate::lab::Ours;
use crate::lab::ethtool::{Counters, Ethtool};
use desk::record::Reading;
use desk::unit::Unit;
use std::collections::BTreeMap;
use std::path::Path;

/// Most readings of an adapter; of more the largest.
const MOST: usize = 40;
/// What stands before the driver's own names.
const DRIVER: &str = "driver.";
/// Told even if nothing was gained.
const PAUSES: [&str; 2] = ["rx_pause", "tx_pause"];
/// How a word of a driver's name begins that counts something lost or held up.
const KINDS: [&str; 17] = [
    "crc", "discard", "drop", "err", "fail", "fifo", "jabber", "miss", "nobuf", "nodesc", "over",
    "paus", "starv", "stop", "timeout", "xoff", "xon",
];
/// The same of several words.
const PHRASES: [&str; 4] = ["no_buf", "out_of_buf", "no_desc", "no_mem"];

/// What every adapter has counted at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdapterCounts {
    adapters: BTreeMap<String, Counters>,
}

impl AdapterCounts {
    /// Reads all adapters; one that refuses or is gone is left out.
    #[must_use]
    pub fn read(root: &Path, ours: &Ours) -> Self {
        let mut here = Ethtool::open().ok();
        let mut counters = |adapter: &Adapter| match &adapter.away {
            Some(away) => away.counters(),
            None => here.as_mut()?.counters(&adapter.name).ok(),
        };
        let read = |adapter: Adapter| Some((counters(&adapter)?, adapter.name));
        let all = adapters(root, ours).into_iter().filter_map(read);
        Self { adapters: all.map(|(counters, name)| (name, counters)).collect() }
    }

    /// What was counted since `before`, by adapters that were there.
    #[must_use]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let both = self.adapters.iter();
        let both = both.filter_map(|(name, now)| Some((name, before.adapters.get(name)?, now)));
        both.flat_map(|(name, then, now)| of_adapter(name, then, now)).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a trial are far below 2^53")]
fn of_adapter(adapter: &str, then: &Counters, now: &Counters) -> Vec<Reading> {
    let mut gains: BTreeMap<String, u64> = BTreeMap::new();
    for (name, now) in now.iter().filter(|(name, _)| is_told(name)) {
        let gained = then.get(name).and_then(|then| counter::gained(*then, *now));
        if let Some(gained) = gained {
            *gains.entry(of_all_queues(name)).or_default() += gained;
        }
    }
    gains.retain(|name, gained| *gained > 0 || PAUSES.contains(&name.as_str()));
    let mut gains: Vec<_> = gains.into_iter().collect();
    gains.sort_by_key(|(name, gained)| (!PAUSES.contains(&name.as_str()), u64::MAX - gained));
    gains.truncate(MOST);
    gains.sort();
    let row = |(name, gained): (String, u64)| {
        reading("nic", "machine", &format!("{name}.{adapter}"), gained as f64, Unit::Count)
    };
    gains.into_iter().map(row).collect()
}

/// Whether a count is of something lost or held up; those without a driver's name are.
fn is_told(name: &str) -> bool {
    let Some(own) = name.strip_prefix(DRIVER) else { return true };
    let own = own.to_ascii_lowercase();
    let mut words = own.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| KINDS.iter().any(|kind| word.starts_with(kind)))
        || PHRASES.iter().any(|phrase| own.contains(phrase))
}

/// A driver's name with `*` for every number in it, and without blanks.
fn of_all_queues(name: &str) -> String {
    let mut all = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            c if !name.starts_with(DRIVER) => all.push(c),
            '0'..='9' if all.ends_with('*') => {}
            '0'..='9' => all.push('*'),
            c if c.is_whitespace() => all.push('_'),
            c => all.push(c),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::fixture::value;
    use super::*;
    use crate::lab::ethtool::Simulated;

    fn counts(adapters: &[(&str, Counters)]) -> AdapterCounts {
        let named = adapters.iter().map(|(name, counters)| ((*name).to_owned(), counters.clone()));
        AdapterCounts { adapters: named.collect() }
    }

    fn driver(names: &[(&str, u64)]) -> Counters {
        names.iter().map(|(name, count)| (format!("{DRIVER}{name}"), *count)).collect()
    }

    #[test]
    fn pause_frames_of_a_simulated_kernel_become_readings_of_the_adapter() {
        let mut kernel =
            Simulated { pause: Some([10, 0]), counts: vec![(1, 4, 7)], ..Simulated::default() };
        let before = counts(&[("eth7", kernel.counters())]);
        kernel.pause = Some([1_010, 0]);
        kernel.counts = vec![(1, 4, 9), (3, 3, 5)];
        let rows = counts(&[("eth7", kernel.counters())]).since(&before);
        // Also what `stend/tests/meters.rs` makes an article from. That no pause frame was received
        // is told; jabbers were not counted before.
        let golden: Vec<Reading> = serde_json::from_str(include_str!("golden/pause.json")).unwrap();
        assert_eq!(rows, golden);
    }

    #[test]
    fn of_a_drivers_names_only_losses_are_told_and_only_what_gained() {
        let before = driver(&[
            ("rx_bytes", 5),
            ("rx_no_buffer_count", 1),
            ("tx_timeouts", 4_294_967_290),
            ("interrupts", 5),
            ("rx_drops", 5),
            ("Rx Over Errors", 5),
            ("link_resets", 5),
        ]);
        let after: Counters = before.iter().map(|(k, n)| (k.clone(), n + 9)).collect();
        let mut after = after;
        after.insert(format!("{DRIVER}tx_timeouts"), 4);
        after.insert(format!("{DRIVER}rx_drops"), 5);
        let rows = counts(&[("eth1", after)]).since(&counts(&[("eth1", before)]));
        let told: Vec<(&str, f64)> =
            rows.iter().map(|r| (r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(
            told,
            [
                ("driver.Rx_Over_Errors.eth1", 9.0),
                ("driver.rx_no_buffer_count.eth1", 9.0),
                ("driver.tx_timeouts.eth1", 10.0),
            ],
            "the time-outs wrapped at 32 bits"
        );
    }

    #[test]
    fn sixty_four_queues_are_one_reading_and_no_adapter_has_more_than_forty() {
        let queues = |count: u64| -> Counters {
            let name = |queue| format!("{DRIVER}rx_queue_{queue}_drops");
            (0..64).map(|queue| (name(queue), count)).collect()
        };
        let rows = counts(&[("eth1", queues(7))]).since(&counts(&[("eth1", queues(5))]));
        assert_eq!(value(&rows, "driver.rx_queue_*_drops.eth1"), Some(128.0));
        assert_eq!(rows.len(), 1);
        let many = |count: u64| -> Counters {
            let letters = |n: u64| -> String {
                [n / 26, n % 26].map(|n| char::from(b'a' + n as u8)).iter().collect()
            };
            let mut all: Counters =
                (0..512).map(|n| (format!("{DRIVER}drop_{}", letters(n)), count * n)).collect();
            all.insert("tx_pause".into(), 1);
            all
        };
        let rows = counts(&[("eth1", many(2))]).since(&counts(&[("eth1", many(1))]));
        assert_eq!(rows.len(), MOST);
        assert_eq!(value(&rows, "tx_pause.eth1"), Some(0.0), "it has a place whatever the others");
        assert_eq!(value(&rows, "driver.drop_tr.eth1"), Some(511.0));
        assert_eq!(value(&rows, "driver.drop_ab.eth1"), None, "the least are left out");
    }

    #[test]
    fn an_adapter_that_comes_goes_or_was_reset_has_no_reading_of_what_it_forgot() {
        let before =
            counts(&[("eth1", driver(&[("drops", 9)])), ("eth2", driver(&[("drops", 9)]))]);
        let after =
            counts(&[("eth1", driver(&[("drops", 3)])), ("eth3", driver(&[("drops", 99)]))]);
        assert!(after.since(&before).is_empty());
        assert!(AdapterCounts::default().since(&before).is_empty());
        assert_eq!(
            AdapterCounts::read(Path::new("/nonexistent"), &Ours::default()),
            AdapterCounts::default()
        );
    }

    #[test]
    fn the_adapters_of_this_machine_are_read_where_they_answer() {
        let here = AdapterCounts::read(Path::new("/"), &Ours::default());
        if here.adapters.values().all(Counters::is_empty) {
            println!("skipped: no adapter here counts anything but its standard statistics");
            return;
        }
        assert!(here.since(&here).iter().all(|row| row.quantity.value == 0.0));
    }
}
