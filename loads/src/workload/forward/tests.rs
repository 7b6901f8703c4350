//! Knows which trials `forward` refuses: frames that nobody accounts for, damaged ones, dead
//! devices, clients that did not send.

use super::check::check;
use super::evidence::{Evidence, Leg};
use super::external::BoxCount;
use super::late;
use super::ledger::ledger;
use super::run::{Alone, Counts, Forwarded, HostMark, StreamEnd, Ticks};
use crate::engine::net::Life;
use crate::engine::packet::live::bridge::PortCounts;
use crate::engine::packet::live::{Sent, Sizes, Stream, Totals};
use crate::engine::packet::traffic::Spread;
use crate::engine::times::stored;
use desk::record::{Distribution, Fault, Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::lab::external_box::PortCount;
use rig::metal::Span;
use rig::workload::Checked;

/// Frames sent before, in and after the window.
const SENT: [u64; 3] = [100, 1000, 10];

/// A trial of a client, a device and a sink in which everything came.
fn good() -> Evidence {
    let mark = |at_ns, came, idle| HostMark {
        at_ns,
        took_ns: 1000,
        cpu_ns: at_ns / 2,
        came: vec![came],
        bytes: vec![came * 64],
        ticks: vec![(0, Ticks { idle, all: at_ns / 10_000_000 })],
        forwarded: None,
    };
    let ended =
        StreamEnd { stream: 0, sent: Sent { sent: SENT, unsent: [0; 3] }, digest: 7, error: None };
    let bytes = SENT.map(|frames| frames * 64);
    let sink = Totals {
        streams: vec![Stream { came: SENT, bytes, ..Stream::default() }],
        ..Totals::default()
    };
    let quiet = |name: &str| (name.to_owned(), Counts::default());
    Evidence {
        host_names: vec!["sut".into(), "c01".into()],
        one_clock: vec![true, true],
        sizes: Sizes::Alike(64),
        interval_ns: None,
        legs: vec![Leg { sender: 1, receiver: 0, cpu: 0 }],
        before: vec![quiet("sut"), quiet("c01"), quiet("box")],
        after: vec![
            ("sut".into(), Counts { sink: Some(sink), ..Counts::default() }),
            quiet("c01"),
            quiet("box"),
        ],
        life: Some(Life {
            steady: true,
            settle_ns: 1,
            late_ns: vec![0, 0],
            window_ns: (1_000_000_000, 2_000_000_000),
            opened: vec![mark(1_000_000_000, 100, 0), mark(1_000_000_000, 0, 0)],
            closed: vec![mark(2_000_000_000, 1100, 0), mark(2_000_000_000, 0, 1)],
            course: vec![vec![100, 600, 1100], vec![0, 0, 0]],
            ended: vec![Vec::new(), vec![ended]],
        }),
        ..Evidence::default()
    }
}

fn stream(evidence: &mut Evidence) -> &mut Stream {
    &mut evidence.after[0].1.sink.as_mut().unwrap().streams[0]
}

fn end(evidence: &mut Evidence) -> &mut StreamEnd {
    &mut evidence.life.as_mut().unwrap().ended[1][0]
}

fn refused(change: impl FnOnce(&mut Evidence)) -> Fault {
    let mut evidence = good();
    change(&mut evidence);
    check(&evidence).unwrap_err()
}

#[test]
fn a_trial_in_which_everything_came_gives_its_figures() {
    let checked = check(&good()).unwrap();
    let figure = |name: &str| checked.outcome.metric(name).unwrap().value;
    assert!((figure("frames") - 1000.0).abs() < 1e-6);
    // 64 B and 20 B of preamble and gap.
    assert!((figure("throughput") - 672_000.0).abs() < 1e-3);
    assert!(figure("loss").abs() < 1e-12 && figure("unsent").abs() < 1e-12);
    assert_eq!(checked.outcome.metric("line_share"), None, "of no declared line");
    assert_eq!(checked.outcome.work.operations, 1110);
}

#[test]
fn a_share_of_the_line_is_one_of_what_is_declared() {
    let mut evidence = good();
    let rate = Value::Quantity(Quantity::new(1e6, Unit::BitPerSecond));
    evidence.asked.insert("declared_rate".into(), rate);
    let share = check(&evidence).unwrap().outcome.metric("line_share").unwrap();
    assert!((share.value - 0.672).abs() < 1e-9, "{share}");
    assert_eq!(share.unit, Unit::Share);
}

#[test]
fn frames_on_a_schedule_count_where_no_reader_disturbs_them() {
    let mut evidence = good();
    evidence.interval_ns = Some(1e6);
    evidence.due_in = Some(Span { opens_ns: 1_100_000_000, closes_ns: 1_900_000_000 });
    // Of the 1,000 between the readings 12 that were due before the 800 were not sent.
    end(&mut evidence).sent = Sent { sent: [188, 800, 110], unsent: [12, 0, 0] };
    (stream(&mut evidence).came, stream(&mut evidence).bytes) =
        ([188, 800, 110], [188 * 64, 800 * 64, 110 * 64]);
    evidence.between = vec!["box".into()];
    let life = evidence.life.as_mut().unwrap();
    (life.closed[0].came, life.closed[0].bytes) = (vec![1088], vec![1088 * 64]);
    let counted = |at_ns, routed| HostMark {
        at_ns,
        forwarded: Some(Forwarded { routed, sent: routed }),
        ..HostMark::default()
    };
    life.opened.push(counted(1_000_000_000, 0));
    life.closed.push(counted(2_000_000_000, 988));
    let outcome = check(&evidence).unwrap().outcome;
    let figure = |name: &str| outcome.metric(name).unwrap().value;
    assert!((figure("frames") - 1000.0).abs() < 1e-6, "{}", figure("frames"));
    assert!((figure("throughput") - 672_000.0).abs() < 1e-3);
    assert!((figure("self_frames") - 1000.0).abs() < 1e-6, "the box counted each that came");
    assert!(figure("unsent").abs() < 1e-12 && figure("loss").abs() < 1e-12);
}

#[test]
fn bits_are_those_of_the_frames_that_came() {
    let mut evidence = good();
    evidence.sizes = Sizes::imix();
    // The long frames of the window are lost, and a counter tells of them.
    stream(&mut evidence).came = [100, 900, 10];
    stream(&mut evidence).bytes = [6400, 900 * 64, 640];
    evidence.before[2].1.drops = vec![("far tx_dropped".into(), 0)];
    evidence.after[2].1.drops = vec![("far tx_dropped".into(), 100)];
    let life = evidence.life.as_mut().unwrap();
    (life.closed[0].came, life.closed[0].bytes) = (vec![1000], vec![1000 * 64]);
    let outcome = check(&evidence).unwrap().outcome;
    let throughput = outcome.metric("throughput").unwrap().value;
    assert!((throughput - 900.0 * 84.0 * 8.0).abs() < 1e-3, "{throughput}");
    assert_eq!(outcome.work.received_bytes, 1010 * 64);
    assert_eq!(outcome.work.sent_bytes, Sizes::imix().sum(1110));
    assert_eq!(outcome.flows.rows[0].figures[0], Some(900.0 * 64.0));
}

#[test]
fn the_count_of_what_stands_between_is_a_figure_of_its_window() {
    let mut evidence = good();
    assert_eq!(check(&evidence).unwrap().outcome.metric("self_frames"), None, "nothing counts");
    evidence.between = vec!["box".into(), "switch".into()];
    let life = evidence.life.as_mut().unwrap();
    let counted = |at_ns, routed| HostMark {
        at_ns,
        forwarded: Some(Forwarded { routed, sent: routed }),
        ..HostMark::default()
    };
    life.opened.extend([counted(1_000_000_000, 50), counted(1_000_000_000, 7)]);
    life.closed.extend([counted(2_000_000_000, 1045), counted(2_000_000_000, 7)]);
    let checked = check(&evidence).unwrap();
    assert!((checked.outcome.metric("self_frames").unwrap().value - 995.0).abs() < 1e-6);
    let told: Vec<_> = checked.readings.iter().filter(|r| r.key == "forwarded").collect();
    assert_eq!(told.len(), 1, "one that forwards nothing tells nothing");
    assert_eq!(told[0].host, "box");
    evidence.life.as_mut().unwrap().closed.pop();
    let fault = check(&evidence).unwrap_err().to_string();
    assert!(fault.contains("not every host"), "{fault}");
}

#[test]
fn what_a_counter_tells_of_is_lost_and_what_none_tells_of_is_an_alarm() {
    let mut evidence = good();
    stream(&mut evidence).came = [100, 900, 10];
    let fault = check(&evidence).unwrap_err().to_string();
    assert!(fault.contains("100 missing frames that no counter tells of"), "{fault}");
    evidence.before[2].1.drops = vec![("far tx_dropped".into(), 5)];
    evidence.after[2].1.drops = vec![("far tx_dropped".into(), 105)];
    let ledger = ledger(&evidence).unwrap();
    assert_eq!(ledger.drops, [("box far tx_dropped".to_owned(), 100)]);
    let checked = check(&evidence).unwrap();
    assert!((checked.outcome.metric("loss").unwrap().value - 0.1).abs() < 1e-12);
    let told = checked.readings.iter().find(|r| r.key == "dropped far tx_dropped").unwrap();
    assert_eq!((&*told.probe, told.host.name()), ("frames", "box"));
}

/// A firewall whose two ports counted so many frames in and out, and which dropped some.
fn firewall(received: u64, sent: u64, dropped: u32) -> BoxCount {
    let port = |port: &str, received, sent, drops| PortCount {
        port: port.into(),
        received,
        sent,
        drops: vec![("ifOutDiscards", drops)],
    };
    let ports = vec![port("lan1", received, 0, 0), port("lan2", 0, sent, dropped)];
    BoxCount { name: "firewall".into(), ports }
}

#[test]
fn an_external_box_has_lost_what_no_counter_tells_of() {
    let mut evidence = good();
    stream(&mut evidence).came = [100, 600, 10];
    evidence.external = Some(BoxCount { name: "firewall".into(), ports: Vec::new() });
    let checked = check(&evidence).unwrap();
    assert!((checked.outcome.metric("loss").unwrap().value - 0.4).abs() < 1e-12);
    assert_eq!(checked.outcome.metric("self_frames"), None, "nothing reads its counters");
    let told = checked.readings.iter().find(|r| r.key == "dropped no counter").unwrap();
    assert_eq!((told.host.name(), told.quantity.value), ("firewall", 400.0));
    evidence.external = Some(firewall(1110, 710, 70));
    let drops = ledger(&evidence).unwrap().drops;
    let told = [("firewall lan2 ifOutDiscards", 70), ("firewall no counter", 330)];
    assert_eq!(drops, told.map(|(name, count)| (name.to_owned(), count)));
    // It sent what it received: they were lost on the way to it, or behind it.
    for received in [1110, 710] {
        evidence.external = Some(firewall(received, received, 0));
        let why = check(&evidence).unwrap_err().to_string();
        assert!(why.contains("300 missing frames that no counter tells of"), "{why}");
    }
}

#[test]
fn an_external_box_counts_over_the_whole_trial() {
    let mut evidence = good();
    evidence.external = Some(firewall(1110, 1110, 0));
    let checked = check(&evidence).unwrap();
    let own = checked.outcome.metric("self_frames").unwrap().value;
    assert!((own - 1000.0).abs() < 1e-6, "{own}");
    let told = checked.readings.iter().find(|r| r.key == "received lan1").unwrap();
    assert_eq!((told.host.name(), told.quantity.value), ("firewall", 1110.0));
    // It lost sight of a tenth, or discarded a tenth of what it counts as sent.
    for counts in [firewall(1110, 999, 0), firewall(1110, 1110, 111)] {
        evidence.external = Some(counts);
        let own = check(&evidence).unwrap().outcome.metric("self_frames").unwrap().value;
        assert!((own - 900.0).abs() < 1e-6, "{own}");
    }
}

#[test]
fn counts_of_other_ports_or_of_other_traffic_are_refused() {
    let refused = |counts| refused(|evidence| evidence.external = Some(counts)).to_string();
    let named = "name the ports by which frames come in";
    let why = refused(firewall(0, 0, 0));
    assert!(why.contains(named), "{why}");
    let why = refused(firewall(1110, 2200, 0));
    assert!(why.contains("counted 1110 received and 2200 sent: other traffic"), "{why}");
    let mut evidence = good();
    evidence.external = Some(firewall(1150, 1200, 0));
    assert!(check(&evidence).is_ok(), "answers of ARP pass it as well");
    evidence.external = Some(firewall(0, 0, 0));
    stream(&mut evidence).came = [100, 600, 10];
    let why = check(&evidence).unwrap_err().to_string();
    assert!(why.contains(named), "{why}");
}

#[test]
fn a_box_has_told_when_it_counted_what_was_sent_and_what_came() {
    let tells = |received, sent, dropped| firewall(received, sent, dropped).tells((1110, 1000));
    assert!(tells(1110, 1000, 0) && !tells(1109, 1000, 0) && !tells(1110, 999, 0));
    assert!(!tells(1100, 1000, 10), "drops on the way out do not count as received");
}

/// What the program at a port of `box` counted.
fn ported(evidence: &mut Evidence, forwarded: u64, dropped: u64) {
    let counts = PortCounts { received: 1110, forwarded, dropped, ..PortCounts::default() };
    evidence.list = Some(Spread { hit: 0.1, near: 0.9, median: Some(49) });
    evidence.before[2].1.ports = vec![("near".into(), PortCounts::default())];
    evidence.after[2].1.ports = vec![("near".into(), counts)];
}

#[test]
fn what_a_rule_drops_is_in_the_ledger_and_what_its_program_counted_is_told() {
    let mut evidence = good();
    stream(&mut evidence).came = [100, 900, 10];
    ported(&mut evidence, 1010, 100);
    assert_eq!(ledger(&evidence).unwrap().drops, [("box near rules".to_owned(), 100)]);
    let checked = check(&evidence).unwrap();
    let told = |host: &str, key: &str| {
        let mut all = checked.readings.iter().filter(|r| &*r.probe == "frames");
        all.find(|r| r.host.name() == host && r.key == key).unwrap().quantity.value
    };
    assert!((told("box", "received near") - 1110.0).abs() < 0.5);
    assert!((told("box", "forwarded near") - 1010.0).abs() < 0.5);
    assert!((told("box", "dropped near rules") - 100.0).abs() < 0.5);
    assert!((told("sut", "median rule that drops") - 50.0).abs() < 0.5);
    assert!((told("sut", "flows that miss rules by a field") - 0.9).abs() < 1e-9);
}

#[test]
fn a_kernel_that_forwards_beside_the_fast_path_is_an_alarm() {
    let fault = refused(|evidence| ported(evidence, 900, 0));
    let fault = fault.to_string();
    assert!(fault.contains("1110 frames came, and the fast path of box forwarded 900"), "{fault}");
}

#[test]
fn a_batch_that_passes_of_many_is_an_alarm() {
    // Headers that were not written anew: exactly the pages of one batch pass a router.
    let fault = refused(|evidence| {
        end(evidence).sent.sent = [0, 122_816, 0];
        stream(evidence).came = [0, 64, 0];
    });
    assert!(fault.to_string().contains("122752 missing frames"), "{fault}");
}

#[test]
fn nothing_at_all_is_an_alarm_whoever_says_to_have_dropped_it() {
    let fault = refused(|evidence| {
        stream(evidence).came = [0; 3];
        evidence.after[2].1.drops = vec![("ip InAddrErrors".into(), 1110)];
    });
    let fault = fault.to_string();
    assert!(fault.contains("none of 1110 frames came"), "{fault}");
    assert!(fault.contains("box ip InAddrErrors dropped 1110"), "{fault}");
}

#[test]
fn a_zero_is_no_figure() {
    let fault = refused(|evidence| {
        end(evidence).sent = Sent::default();
        stream(evidence).came = [0; 3];
    });
    assert!(fault.to_string().contains("no frame was sent"), "{fault}");
    let fault = refused(|evidence| {
        end(evidence).sent.sent[1] = 0;
        stream(evidence).came[1] = 0;
    });
    assert_eq!(fault, Fault::DeadStream { stream: "c01.0 receive".into() });
}

#[test]
fn frames_that_nobody_sent_and_damaged_ones_are_refused() {
    let fault = refused(|evidence| stream(evidence).came[1] += 1);
    assert!(fault.to_string().contains("1110 frames sent but 1111 received"), "{fault}");
    let fault = refused(|evidence| evidence.after[0].1.sink.as_mut().unwrap().damaged = 3);
    assert!(fault.to_string().contains("3 frames came with a tag"), "{fault}");
    let fault = refused(|evidence| {
        evidence.after[0].1.sink.as_mut().unwrap().mistagged = 3;
        stream(evidence).came[1] -= 3;
    });
    assert!(fault.to_string().contains("3 frames came with the tag of another VLAN"), "{fault}");
    let fault = refused(|evidence| end(evidence).error = Some("bpf(x): no".into()));
    assert!(fault.to_string().contains("c01.0 receive: bpf(x): no"), "{fault}");
}

#[test]
fn streams_of_both_directions_are_one_account_with_a_row_each() {
    let both = |back: u64| {
        let mut evidence = good();
        evidence.legs.push(Leg { sender: 0, receiver: 1, cpu: 1 });
        let of = |came: [u64; 3]| Stream {
            came,
            bytes: came.map(|frames| frames * 64),
            ..Stream::default()
        };
        let streams = vec![of([0; 3]), of([50, back, 5])];
        evidence.after[1].1.sink = Some(Totals { streams, damaged: 0, mistagged: 0 });
        let life = evidence.life.as_mut().unwrap();
        let sent = Sent { sent: [50, 400, 5], unsent: [0; 3] };
        life.ended[0].push(StreamEnd { stream: 1, sent, digest: 8, error: None });
        (life.opened[1].came, life.closed[1].came) = (vec![0, 0], vec![0, back]);
        evidence
    };
    let checked = check(&both(400)).unwrap();
    let names: Vec<_> = checked.outcome.flows.rows.iter().map(|flow| flow.name.clone()).collect();
    assert_eq!(names, ["c01.0 receive", "c01.0 transmit"]);
    assert_eq!(checked.outcome.work.operations, 1110 + 455);
    let rate = checked.outcome.metric("frames").unwrap().value;
    assert!((rate - 1400.0).abs() < 1e-6, "{rate}");
    let fault = check(&both(399)).unwrap_err();
    assert!(fault.to_string().contains("1565 frames sent, 1564 received"), "{fault}");
}

#[test]
fn an_idle_cpu_of_a_client_that_saturates_is_an_alarm() {
    let idle = |evidence: &mut Evidence| {
        let closed = &mut evidence.life.as_mut().unwrap().closed[1];
        closed.ticks = vec![(0, Ticks { idle: 80, all: 200 })];
    };
    let fault = refused(idle);
    assert!(matches!(&fault, Fault::GeneratorLimit { host, .. } if host.name() == "c01"));
    assert!(fault.to_string().contains("idle for 80 %"), "{fault}");
    // Who sends on a schedule may rest.
    let mut paced = good();
    idle(&mut paced);
    paced.interval_ns = Some(1e6);
    check(&paced).unwrap();
}

#[test]
fn a_burst_that_was_not_sent_whole_is_void() {
    let burst = |frames| {
        let mut evidence = good();
        evidence.burst = Some(frames);
        evidence
    };
    check(&burst(1000)).unwrap();
    let fault = check(&burst(1001)).unwrap_err();
    assert!(matches!(fault, Fault::GeneratorLimit { .. }), "{fault}");
    assert!(fault.to_string().contains("1000 of 1001 frames of the burst"), "{fault}");
    assert!(matches!(check(&burst(900)).unwrap_err(), Fault::WrongWork { .. }));
}

#[test]
fn a_paced_trial_tells_every_frame_and_is_void_where_frames_were_not_sent() {
    let fault = refused(|evidence| evidence.interval_ns = Some(0.9e6));
    assert!(fault.to_string().contains("1111.1 frames were due in the window, 1000"), "{fault}");
    let fault = refused(|evidence| {
        evidence.interval_ns = Some(1e6);
        let sent = &mut end(evidence).sent;
        (sent.sent[1], sent.unsent[1]) = (999, 1);
        stream(evidence).came[1] = 999;
    });
    assert!(matches!(fault, Fault::GeneratorLimit { .. }), "{fault}");
    assert!(fault.to_string().contains("1 of 1000 frames of the window"), "{fault}");
}

/// A paced trial of a plan that counts late frames as lost: so many of the window were sent and
/// late, and the tester reaches such a rate alone.
fn late([sent, unsent]: [u64; 2], alone: Option<f64>) -> Result<Checked, Fault> {
    let mut evidence = good();
    evidence.interval_ns = Some(1e6);
    evidence.asked.insert("late_frames".into(), Value::Word("lost".into()));
    evidence.alone = alone.map(|rate| Alone { rate, latency: None });
    let told = &mut end(&mut evidence).sent;
    (told.sent[1], told.unsent[1]) = (sent, unsent);
    // One that was sent is lost as well, by a counter that tells of it.
    stream(&mut evidence).came[1] = sent.saturating_sub(1);
    let dropped = u64::from(sent > 0);
    evidence.before[2].1.drops = vec![("far rx_dropped".into(), 0)];
    evidence.after[2].1.drops = vec![("far rx_dropped".into(), dropped)];
    let mut times = Distribution::empty().unwrap();
    times.record(1000).unwrap();
    evidence.after[0].1.times = stored("latency", &times);
    check(&evidence)
}

#[test]
fn late_frames_are_lost_where_a_plan_says_so_and_tell_no_latency() {
    let checked = late([950, 50], Some(2000.0)).unwrap();
    assert!((checked.outcome.metric("loss").unwrap().value - 0.051).abs() < 1e-9);
    assert!((checked.outcome.metric("unsent").unwrap().value - 0.05).abs() < 1e-9);
    let paced = |checked: &Checked| checked.readings.iter().any(|r| &*r.probe == "pace");
    assert!(checked.outcome.distributions.is_empty() && !paced(&checked));
    let checked = late([1000, 0], Some(2000.0)).unwrap();
    assert!((checked.outcome.metric("loss").unwrap().value - 0.001).abs() < 1e-9);
    assert!(checked.outcome.distributions.len() == 1 && paced(&checked));
}

#[test]
fn late_frames_are_not_lost_where_the_tester_may_be_the_cause() {
    for (frames, alone, told) in [
        ([950, 50], Some(1500.0), "alone it is 1.5 times as fast as the load"),
        // A schedule that was kept by chance would be the only one that counts.
        ([1000, 0], Some(1500.0), "alone it is 1.5 times as fast as the load"),
        ([950, 50], None, "not known how fast"),
        ([0, 1000], Some(2000.0), "none of 1000 frames of the window was sent"),
    ] {
        let fault = late(frames, alone).map(|_| ()).unwrap_err();
        assert!(matches!(fault, Fault::GeneratorLimit { .. }), "{fault}");
        assert!(fault.to_string().contains(told), "{fault}");
    }
    let lost = Settings::from([("late_frames".into(), Value::Word("lost".into()))]);
    let refused = |is_paced, is_shared| late::refusal(&lost, is_paced, is_shared);
    assert!(refused(false, true).unwrap().contains("needs a schedule"));
    assert!(refused(true, false).unwrap().contains("shares the machine"));
    assert_eq!(refused(true, true), None);
    assert_eq!(late::refusal(&Settings::new(), false, false), None);
}
