//! What the model gives, held against figures worked out by hand.

mod clocks;
mod resources;

use super::model;
use crate::engine::net::modelled::{modelled, settings};
use desk::record::{Fault, Value};
use desk::unit::{Quantity, Unit};
use rig::workload::Modelled;

/// A visit to one point, with one client unless it is said otherwise.
struct Case<'c> {
    physics: &'c str,
    params: &'c [(&'c str, Value)],
    set: &'c [(&'c str, Value)],
    clients: u32,
}

impl Case<'_> {
    fn visit(&self) -> Result<Modelled, Fault> {
        let mut all = settings(&[
            ("direction", word("transmit")),
            ("placement", word("same")),
            ("request_size", size(65536.0)),
        ]);
        all.extend(settings(self.params));
        let set = settings(self.set);
        modelled(("tcp_stream", model), self.physics, all, (&set, self.clients))
    }

    fn given(&self) -> Modelled {
        self.visit().unwrap()
    }

    fn throughput(&self) -> f64 {
        throughput(&self.given())
    }
}

fn throughput(modelled: &Modelled) -> f64 {
    modelled.checked.outcome.metric("throughput").unwrap().value
}

/// A case of one client.
fn case<'c>(
    physics: &'c str,
    params: &'c [(&'c str, Value)],
    set: &'c [(&'c str, Value)],
) -> Case<'c> {
    Case { physics, params, set, clients: 1 }
}

/// What it gives under a physics, parameters and settings of the link: the throughput in
/// bit/s, and the CPUs that it keeps busy.
fn given(physics: &str, params: &[(&str, Value)], set: &[(&str, Value)]) -> (f64, f64) {
    let modelled = case(physics, params, set).given();
    (throughput(&modelled), modelled.cores.iter().sum())
}

/// A reading of a trial, by probe, host and key.
fn read(modelled: &Modelled, probe: &str, host: &str, key: &str) -> f64 {
    let mut rows = modelled.checked.readings.iter();
    let row = rows.find(|r| r.probe == probe && r.host == host && r.key == key);
    row.unwrap().quantity.value
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

fn size(bytes: f64) -> Value {
    Value::Quantity(Quantity::new(bytes, Unit::Byte))
}

fn rate(bits: f64) -> Value {
    Value::Quantity(Quantity::new(bits, Unit::BitPerSecond))
}

fn close(ours: f64, by_hand: f64) {
    assert!((ours / by_hand - 1.0).abs() < 1e-4, "{ours} is not {by_hand}");
}

// 1500 - 52 = 1448 B of payload in 1500 + 38 = 1538 B of wire: 94.15 % of 1 Gbit/s.
#[test]
fn a_slow_line_leaves_its_goodput() {
    let slow = "[link]\nline_rate = \"1 Gbit/s\"\n";
    close(given(slow, &[], &[]).0, 1e9 * 1448.0 / 1538.0);
    close(given(slow, &[], &[("mtu", size(9000.0))]).0, 1e9 * 8948.0 / 9038.0);
    close(given(slow, &[], &[("rate", rate(1e8))]).0, 1e8 * 1448.0 / 1514.0);
    // Over IPv6 20 B less.
    close(given(slow, &[], &[("ip_version", Value::Count(6))]).0, 1e9 * 1428.0 / 1538.0);
    close(given(slow, &[("offered_load", rate(2e8))], &[]).0, 2e8);
    close(given(slow, &[("direction", word("duplex"))], &[]).0, 2e9 * 1448.0 / 1538.0);
}

const FAST: &str = "[link]\nline_rate = \"400 Gbit/s\"\n";

// Sending 64 KiB by TSO: 500/65536 + 600/65536 + 0.05 ns/B. Receiving by GRO: the same and
// 100/1448. Both on one CPU: 1e9 / sum B/s.
#[test]
fn a_fast_line_leaves_what_one_cpu_can_move() {
    let end = 500.0 / 65536.0 + 600.0 / 65536.0 + 0.05;
    let both = 2.0 * end + 100.0 / 1448.0;
    let (throughput, busy) = given(FAST, &[], &[]);
    close(throughput, 8e9 / both);
    close(busy, 1.0);
    let off = given(FAST, &[], &[("tso", word("off"))]).0;
    close(off, 8e9 / (both + 100.0 / 1448.0));
    let bare = given(FAST, &[], &[("tso", word("off")), ("gso", word("off"))]).0;
    close(bare, 8e9 / (both - 600.0 / 65536.0 + 600.0 / 1448.0));
    let sums = given(FAST, &[], &[("checksum", word("off"))]).0;
    close(sums, 8e9 / (both + 100.0 / 1448.0 + 0.15));
}

#[test]
fn small_requests_pay_for_their_calls_and_large_ones_for_the_cache() {
    let at = |bytes| given(FAST, &[("request_size", size(bytes))], &[]).0;
    assert!(at(64.0) < at(4096.0) && at(4096.0) < at(65536.0));
    let small = "[link]\nline_rate = \"400 Gbit/s\"\n[cost]\ncache = \"32 KiB\"\n";
    assert!(given(small, &[], &[]).0 < at(65536.0));
    let batch = given(FAST, &[("request_size", size(64.0)), ("engine", word("batch"))], &[]);
    assert!(batch.0 > 2.0 * at(64.0));
}
