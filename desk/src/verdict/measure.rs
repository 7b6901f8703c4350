//! Knows what one trial gives: its throughput, its CPU figures and what is derived from them.
//!
//! Never: how trials compare.

use super::relayed;
use crate::record::{Better, Metric, MetricRole, Reading, Run, TrialRecord};
use crate::unit::Unit;
pub(super) use crate::validity::{
    busy, by_host, direction, directions, has_own_machine, is_client, is_server, offer_use,
    reached_offer, reading, throughput,
};

/// Host of the conductor.
const CONDUCTOR: &str = "conductor";

/// A figure that is made per trial from its samples and readings and never stored.
pub(super) struct Derived {
    pub name: &'static str,
    title: &'static str,
    unit: Unit,
    better: Better,
    /// From the rate of work, see [`Work::rate`]. None where the trial lacks a reading or the
    /// figure would divide by nothing.
    pub of: fn(Option<f64>, &TrialRecord) -> Option<f64>,
}

/// Busy share of all CPUs, 0-1, without what a relay on them used.
pub(super) const CPU: Derived = Derived {
    name: "cpu",
    title: "CPU",
    unit: Unit::Share,
    better: Better::Lower,
    of: |_, record| paid(record),
};

/// Throughput in Mbit/s for each per cent of all CPUs, where 100 % is the whole machine, as the
/// published test 000 has it: throughput / (100 x busy).
pub(super) const INDEX: Derived = Derived {
    name: "pe_index",
    title: "P/E index",
    unit: Unit::MegabitPerCpuPercent,
    better: Better::Higher,
    of: |bits, record| Some(per_cent(bits?, record)? / 1e6),
};

/// The same of operations.
const OPERATIONS: Derived = Derived {
    unit: Unit::OperationPerCpuPercent,
    of: |rate, record| per_cent(rate?, record),
    ..INDEX
};

/// CPU seconds for each 10^9 bytes of payload: busy x CPUs / (throughput / 8 / 10^9).
pub(super) const PER_GIGABYTE: Derived = Derived {
    name: "cpu_per_gb",
    title: "CPU time per GB",
    unit: Unit::SecondPerGigabyte,
    better: Better::Lower,
    of: |bits, record| Some(paid_cpus(record)? / (bits.filter(|bits| *bits > 0.0)? / 8.0 / 1e9)),
};

/// Service demand, CPU seconds for each operation or packet: busy x CPUs / rate.
pub(super) const PER_OPERATION: Derived = Derived {
    name: "cpu_per_operation",
    title: "CPU time per operation",
    unit: Unit::Second,
    of: |rate, record| Some(paid_cpus(record)? / rate.filter(|rate| *rate > 0.0)?),
    ..PER_GIGABYTE
};

/// Application work that the load displaced, in CPUs, as the soaker counted it.
pub(super) const DISPLACED: Derived = Derived {
    name: "displaced",
    title: "displaced work",
    unit: Unit::Cpu,
    better: Better::Lower,
    of: |_, record| reading(record, "soaker", "machine", "displaced"),
};

/// The work of a load, by which its CPU time is divided.
pub(super) struct Work<'r>(pub &'r Metric);

impl<'r> Work<'r> {
    /// The metric that decides if it is a rate, else the first rate that the load gives.
    pub fn of(run: &'r Run, load: &str) -> Option<Self> {
        let deciding = run.deciding(load).into_iter();
        let mut rates = deciding.chain(run.metrics_of(load)).filter(|m| m.role == MetricRole::Rate);
        let its = || run.records.iter().filter(|record| record.trial.point.load == load);
        rates.find(|m| its().any(|r| r.outcome.metric(&m.name).is_some())).map(Self)
    }

    /// Work of a trial in a second; of bytes their bits.
    pub fn rate(&self, record: &TrialRecord) -> Option<f64> {
        let bits = if self.0.unit == Unit::BytePerSecond { 8.0 } else { 1.0 };
        Some(record.outcome.metric(&self.0.name)?.value * bits)
    }

    /// Its P/E index and its CPU time for each unit of work.
    pub const fn costs(&self) -> [Derived; 2] {
        match self.0.unit {
            Unit::BitPerSecond | Unit::BytePerSecond => [INDEX, PER_GIGABYTE],
            Unit::PacketPerSecond => {
                [Derived { unit: Unit::PacketPerCpuPercent, ..OPERATIONS }, PER_OPERATION]
            }
            _ => [OPERATIONS, PER_OPERATION],
        }
    }
}

impl Derived {
    pub(super) fn metric(&self) -> Metric {
        Metric {
            name: self.name.into(),
            title: self.title.into(),
            role: MetricRole::Cost,
            quantile: None,
            unit: self.unit,
            better: self.better,
            workload: None,
        }
    }
}

/// A rate for each per cent of all CPUs.
fn per_cent(rate: f64, record: &TrialRecord) -> Option<f64> {
    let busy = paid(record).filter(|busy| *busy > 0.0)?;
    Some(rate / (100.0 * busy))
}

/// Share of all CPUs that was busy with anything but the relay: that is a part of the path, and
/// would stand elsewhere on a real one.
fn paid(record: &TrialRecord) -> Option<f64> {
    let busy = busy(record)?;
    let cpus = reading(record, "cpu", "machine", "cpus");
    let relay = relayed::cpus(record).zip(cpus).map_or(0.0, |(used, cpus)| used / cpus.max(1.0));
    Some((busy - relay).max(0.0))
}

/// The same in CPUs.
fn paid_cpus(record: &TrialRecord) -> Option<f64> {
    Some(paid(record)? * reading(record, "cpu", "machine", "cpus")?)
}

/// CPUs kept busy, all of the machine together.
pub(super) fn machine(record: &TrialRecord) -> Option<f64> {
    Some(busy(record)? * reading(record, "cpu", "machine", "cpus")?)
}

/// The CPUs that each program under test used, by its name.
pub(super) fn programs_of(record: &TrialRecord) -> impl Iterator<Item = (&str, &Reading)> {
    let of_processes = record.readings.iter().filter(|reading| reading.probe == "process");
    of_processes.filter_map(|reading| Some((reading.key.strip_prefix("cpu.")?, reading)))
}

/// Whether a host is the conductor's.
pub(super) fn is_conductor(host: &str) -> bool {
    host == CONDUCTOR
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, ParamRole, Plan, Reading, Sample, TrialKind, Value};
    use crate::unit::Quantity;
    use crate::verdict::simulated::{Simulated, word};

    /// 800 Mbit/s with a quarter of four CPUs.
    fn trial() -> (Plan, TrialRecord) {
        let run = Simulated::default().run();
        let counted = run.records.iter().find(|r| r.trial.kind == TrialKind::Counted);
        let mut record = counted.unwrap().clone();
        let quantity = Quantity::new(8e8, Unit::BitPerSecond);
        let samples = vec![Sample { metric: "throughput".into(), quantity }];
        record.outcome = Outcome { samples, ..Outcome::default() };
        for (key, value) in [("busy", 0.25), ("cpus", 4.0)] {
            record.readings.push(Reading {
                probe: "cpu".into(),
                host: "machine".into(),
                key: key.into(),
                quantity: Quantity::new(value, Unit::Share),
            });
        }
        (run.plan, record)
    }

    fn of(name: &str, (_, record): &(Plan, TrialRecord)) -> Option<f64> {
        let derived = ALL.into_iter().find(|d| d.name == name).unwrap();
        (derived.of)(record.outcome.metric("throughput").map(|rate| rate.value), record)
    }

    const ALL: [Derived; 5] = [CPU, INDEX, PER_GIGABYTE, PER_OPERATION, DISPLACED];

    fn close(ours: Option<f64>, by_hand: f64) {
        assert!((ours.unwrap() / by_hand - 1.0).abs() < 1e-12, "{ours:?} is not {by_hand}");
    }

    // 800 Mbit/s / 25 % = 32 Mbit/s/%. One CPU moves 0.1 GB/s: 10 s/GB.
    #[test]
    fn the_formulas_give_what_is_worked_out_by_hand() {
        let trial = trial();
        close(of("cpu", &trial), 0.25);
        close(of("pe_index", &trial), 32.0);
        close(of("cpu_per_gb", &trial), 10.0);
        assert_eq!(of("displaced", &trial), None);
    }

    // Half of a CPU of four is the relay's: an eighth is left, and 5 s/GB.
    #[test]
    fn what_a_relay_used_is_not_in_the_cost_of_the_load() {
        let mut trial = trial();
        for probe in ["process", "relay"] {
            trial.1.readings.push(Reading {
                probe: probe.into(),
                host: "wan".into(),
                key: "cpu".into(),
                quantity: Quantity::new(0.5, Unit::Cpu),
            });
        }
        close(of("cpu", &trial), 0.125);
        close(of("pe_index", &trial), 64.0);
        close(of("cpu_per_gb", &trial), 5.0);
    }

    // A million bytes or operations, or two million packets, with a quarter of four CPUs.
    #[test]
    fn every_rate_has_an_index_and_a_cost_of_its_unit() {
        let (_, record) = trial();
        let mut run = Simulated::default().run();
        for (unit, rate, index, cost) in [
            (Unit::BytePerSecond, 1e6, (0.32, Unit::MegabitPerCpuPercent), 1e3),
            (Unit::OperationPerSecond, 1e6, (4e4, Unit::OperationPerCpuPercent), 1e-6),
            (Unit::PacketPerSecond, 2e6, (8e4, Unit::PacketPerCpuPercent), 5e-7),
        ] {
            run.metrics[0].unit = unit;
            let mut record = record.clone();
            record.outcome.samples[0].quantity = Quantity::new(rate, unit);
            let work = Work::of(&run, "net").unwrap();
            let [found, per] = work.costs();
            assert_eq!(found.unit, index.1);
            close((found.of)(work.rate(&record), &record), index.0);
            close((per.of)(work.rate(&record), &record), cost);
        }
        run.metrics[0].role = MetricRole::Latency;
        assert!(Work::of(&run, "net").is_none());
    }

    #[test]
    fn what_was_not_read_or_divides_by_nothing_gives_no_figure() {
        let mut idle = trial();
        idle.1.readings[0].quantity.value = 0.0;
        assert_eq!(of("pe_index", &idle), None);
        let mut still = trial();
        still.1.outcome.samples[0].quantity.value = 0.0;
        assert_eq!(of("cpu_per_gb", &still), None);
        let mut unread = trial();
        unread.1.readings.clear();
        assert!(ALL.iter().all(|d| of(d.name, &unread).is_none()));
        let mut silent = trial();
        silent.1.outcome.samples.clear();
        assert!(ALL.iter().skip(1).all(|d| of(d.name, &silent).is_none()));
    }

    #[test]
    fn an_offer_is_reached_from_ninety_seven_per_cent_of_it_in_all_directions() {
        let offered = |rate: f64, direction: &str| {
            let (plan, mut record) = trial();
            let rate = Value::Quantity(Quantity::new(rate, Unit::BitPerSecond));
            record.trial.point.params.insert("offered_load".into(), rate);
            record.trial.point.params.insert("direction".into(), word(direction));
            reached_offer(&plan, &record)
        };
        assert!(offered(8.2e8, "transmit"), "97.6 %");
        assert!(!offered(8.3e8, "transmit"), "96.4 %");
        assert!(offered(4.1e8, "duplex") && !offered(8.2e8, "duplex"));
        let (plan, mut full) = trial();
        assert!(!reached_offer(&plan, &full));
        full.trial.point.params.insert("offered_load".into(), word("full"));
        assert!(!reached_offer(&plan, &full));
        assert!(!plan.loads[0].is_paced(&full.trial.point.params));
    }

    #[test]
    fn a_burst_carries_no_offer_over_its_window() {
        let (mut plan, mut record) = trial();
        let params = &mut record.trial.point.params;
        let rate = Value::Quantity(Quantity::new(8e8, Unit::BitPerSecond));
        params.insert("offered_load".into(), rate);
        params.insert("burst".into(), word("endless"));
        plan.loads[0].roles.insert(ParamRole::Burst, "burst".into());
        assert!(offer_use(&plan, &record).is_some());
        record.trial.point.params.insert("burst".into(), Value::Count(100));
        assert_eq!(offer_use(&plan, &record), None);
    }

    #[test]
    fn clients_have_numbers() {
        assert!(is_client("c01") && is_client("c64"));
        assert!(!is_client("conductor") && !is_client("c") && !is_client("sut"));
    }
}
