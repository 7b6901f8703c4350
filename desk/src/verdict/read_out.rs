//! Knows which readings of one trial a person follows while a run is going on; never a verdict.

use super::measure::{Work, by_host, is_client, is_server};
use super::relayed;
use crate::record::{Run, TrialRecord};
use crate::unit::{Quantity, Unit};

/// What the probes read of one trial, as far as they did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadOut {
    /// Busy share of all CPUs of the machine of the system under test, 0-1.
    pub busy: Option<Quantity>,
    /// CPU of the processes of the server, in CPUs.
    pub server: Option<Quantity>,
    /// CPU of the processes of all clients together, in CPUs.
    pub clients: Option<Quantity>,
    /// CPU of the process of the relay, in CPUs.
    pub relay: Option<Quantity>,
    /// Packets a second that carried payload: the rate of payload over the mean segment.
    pub packets: Option<Quantity>,
    /// The hottest sensor, °C.
    pub hottest: Option<Quantity>,
}

/// The readings of a trial that a person follows.
#[must_use]
pub fn read_out(run: &Run, record: &TrialRecord) -> ReadOut {
    let side = |which: fn(&str) -> bool| {
        let its = by_host(record, "process", "cpu").filter(|r| which(r.host.name()));
        its.map(|r| r.quantity.value).reduce(|sum, cpu| sum + cpu)
    };
    let cpus = |value| Quantity::new(value, Unit::Cpu);
    let degrees = record.readings.iter().filter(|r| r.probe == "thermal").map(|r| r.quantity);
    ReadOut {
        busy: record.reading("cpu", "machine", "busy"),
        server: side(is_server).map(cpus),
        clients: side(is_client).map(cpus),
        relay: relayed::cpus(record).map(cpus),
        packets: packets(run, record).map(|rate| Quantity::new(rate, Unit::PacketPerSecond)),
        hottest: degrees.max_by(|a, b| a.value.total_cmp(&b.value)),
    }
}

/// payload bits a second / 8 / payload bytes of a packet; none of other work, or without either.
fn packets(run: &Run, record: &TrialRecord) -> Option<f64> {
    let segment = run.segment(record).filter(|bytes| *bytes > 0.0)?;
    let work = Work::of(run, &record.trial.point.load)?;
    let is_payload = matches!(work.0.unit, Unit::BitPerSecond | Unit::BytePerSecond);
    Some(work.rate(record).filter(|_| is_payload)? / 8.0 / segment)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::Reading;

    #[test]
    fn sides_are_added_up_and_of_sensors_the_hottest_counts() {
        let run = Simulated::default().run();
        let mut record = run.records[0].clone();
        record.readings.clear();
        let bare = read_out(&run, &record);
        assert_eq!(bare, ReadOut { packets: bare.packets, ..ReadOut::default() });
        let (bits, bytes) = (run.figure(&record).map(|q| q.value), run.segment(&record));
        let rate = bits.zip(bytes).map(|(bits, bytes)| bits / 8.0 / bytes);
        assert_eq!(bare.packets.map(|q| q.value), rate);
        let mut row = |probe: &str, host: &str, key: &str, value, unit| {
            let (probe, host, key) = (probe.into(), host.into(), key.into());
            record.readings.push(Reading {
                probe,
                host,
                key,
                quantity: Quantity::new(value, unit),
            });
        };
        row("process", "sut", "cpu", 0.5, Unit::Cpu);
        row("process", "c01", "cpu", 0.25, Unit::Cpu);
        row("process", "c02", "cpu", 0.5, Unit::Cpu);
        row("process", "conductor", "cpu", 9.0, Unit::Cpu);
        row("thermal", "machine", "zone.a", 41.0, Unit::Celsius);
        row("thermal", "machine", "zone.b", 62.0, Unit::Celsius);
        row("cpu", "machine", "busy", 0.75, Unit::Share);
        let seen = read_out(&run, &record);
        let value = |quantity: Option<Quantity>| quantity.map(|q| q.value);
        assert_eq!((value(seen.server), value(seen.clients)), (Some(0.5), Some(0.75)));
        assert_eq!((value(seen.hottest), value(seen.busy)), (Some(62.0), Some(0.75)));
    }
}
