//! The reference device beside the plain reference, frame by frame.

use super::acl::Acl;
use super::device::{Device, Forwarding, OWN, PORTS, Services, Tables, station};
use super::flows::{Meeting, flows};
use super::frame::{self, Fields};
use super::frames::Frames;
use super::lpm::Lpm;
use super::nat::Nat;
use super::police::Policers;
use super::queues::Scheduler;
use super::reference::Plain;
use super::routes::{self, Route, Shape};
use super::rules::{self, Mix, Prefix, Rule};
use super::sessions::{self, Sessions};
use super::subscribers::Subscribers;
use super::tuple::Tuple;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a device is made of.
struct Made {
    rules: Vec<Rule>,
    permits: Vec<bool>,
    routes: Vec<Route>,
    flows: Vec<Tuple>,
}

fn made(seed: u64, default_route: bool) -> Made {
    let rules = rules::generate(40, &Mix::FIREWALL, seed);
    let permits = (0..rules.len()).map(|rule| rule % 3 != 0).collect();
    let mut routes = routes::generate(500, &Shape::INTERNET, seed);
    if default_route {
        routes.insert(0, Route { prefix: Prefix::ANY, hop: 9 });
    }
    let acl = Acl::build(&rules).unwrap();
    let some = |meeting| flows((100, meeting), (&rules, &acl), &routes, seed);
    let all = [some(Meeting::Hit), some(Meeting::NearMiss), some(Meeting::Miss)].concat();
    Made { rules, permits, routes, flows: all }
}

fn device(made: &Made, services: Services) -> Device {
    Device::new(tables(made), services)
}

fn tables(made: &Made) -> Tables {
    let acl = Acl::build(&made.rules).unwrap();
    Tables {
        acl: Some(Arc::new((acl, made.permits.clone()))),
        routes: Some(Arc::new(Lpm::build(&made.routes).unwrap())),
        sessions: None,
        subscribers: None,
    }
}

fn services(forwarding: Forwarding, batch: usize) -> Services {
    Services { forwarding, batch, nat: None, policers: None, queues: None, ports: PORTS }
}

fn fields(flow: &Tuple, number: u32) -> Fields {
    let to = if number.is_multiple_of(2) { OWN } else { station(5) };
    let dscp = (number % 64) as u8;
    Fields { to, from: station(1), tuple: *flow, dscp, ttl: 2 + dscp, number }
}

/// The heads that a device sends for one frame of each flow, by their numbers.
fn sent(device: &mut Device, flows: &[Tuple], bytes: usize) -> BTreeMap<u32, frame::Head> {
    let mut frames = Frames::new(flows.len(), bytes);
    let slots: Vec<u32> = (0..flows.len()).map(|slot| slot as u32).collect();
    for (slot, flow) in slots.iter().zip(flows) {
        frame::write(frames.head_mut(*slot), bytes, &fields(flow, *slot));
    }
    let mut out = Vec::new();
    device.forward(&mut frames, &slots, 0, &mut out);
    let numbered = |slot: &u32| (frame::number(frames.head(*slot)), *frames.head(*slot));
    let found: BTreeMap<u32, frame::Head> = out.iter().map(numbered).collect();
    assert_eq!(found.len(), out.len(), "no frame twice");
    let counters = device.counters();
    assert_eq!(counters.received, counters.sent + counters.dropped(), "{counters:?}");
    found
}

#[test]
fn a_device_does_what_the_plain_reference_does() {
    for seed in 0..20 {
        let made = made(seed, seed % 2 == 0);
        for (forwarding, batch) in [
            (Forwarding::Route, 64),
            (Forwarding::Route, 1),
            (Forwarding::Bridge, 256),
            (Forwarding::Bypass, 7),
        ] {
            let mut device = device(&made, services(forwarding, batch));
            let found = sent(&mut device, &made.flows, 60);
            let plain = Plain {
                forwarding,
                rules: (&made.rules, &made.permits),
                routes: &made.routes,
                flows: 0,
            };
            let mut dropped = 0;
            for (number, flow) in made.flows.iter().enumerate() {
                let number = number as u32;
                let mut expected = plain.expected(&fields(flow, number), 0, 60);
                if forwarding == Forwarding::Bridge && number.is_multiple_of(2) {
                    // No port has the device's own address behind it.
                    expected = None;
                }
                dropped += u64::from(expected.is_none());
                assert_eq!(found.get(&number), expected.as_ref(), "{forwarding:?} {number}");
            }
            assert_eq!(device.counters().dropped(), dropped);
            assert_eq!(forwarding == Forwarding::Bypass, dropped == 0, "the lists deny some");
        }
    }
}

#[test]
fn flows_are_translated_in_the_order_in_which_they_came() {
    let mut made = made(3, true);
    made.permits.fill(true);
    let nat = Some(Nat::new(250));
    let mut device = device(&made, Services { nat, ..services(Forwarding::Route, 32) });
    let found = sent(&mut device, &made.flows, 1514);
    let rules = (&made.rules[..], &made.permits[..]);
    let plain = Plain { forwarding: Forwarding::Route, rules, routes: &made.routes, flows: 250 };
    for (number, flow) in made.flows.iter().enumerate() {
        let expected = plain.expected(&fields(flow, number as u32), number, 1514);
        assert_eq!(found.get(&(number as u32)), expected.as_ref(), "{number}");
    }
    assert_eq!(device.counters().untranslated, 50);
}

#[test]
fn neighbours_are_spread_over_the_ports_that_there_are() {
    let made = made(1, true);
    for ports in [1, 6, 10] {
        let queues = Some((vec![1], Scheduler::Weighted));
        let mut device =
            device(&made, Services { queues, ports, ..services(Forwarding::Route, 64) });
        let mut frames = Frames::new(300, 60);
        let slots: Vec<u32> = (0..300).collect();
        for slot in &slots {
            let fields = fields(&made.flows[*slot as usize], *slot);
            frame::write(frames.head_mut(*slot), 60, &fields);
        }
        for batch in slots.chunks(64) {
            device.admit(&mut frames, batch, 0, &mut Vec::new());
        }
        let queued = (0..usize::from(ports) + 1).filter(|port| device.has_queued(*port)).count();
        assert_eq!(queued, usize::from(ports), "each has some, and there is no other");
        let sent = (0..usize::from(ports))
            .map(|port| std::iter::from_fn(|| device.take(port)).count() as u64);
        let sent: u64 = sent.sum();
        assert_eq!(sent + device.counters().dropped(), 300);
    }
}

#[test]
fn each_drop_is_counted_by_its_cause() {
    let made = made(1, true);
    let policers = Some(Policers::new(1, 1e6, 60 * 200));
    let queues = Some((vec![1; 8], Scheduler::Mixed));
    let with = Services { policers, queues, ..services(Forwarding::Route, 64) };
    let mut device = device(&made, with);
    let mut frames = Frames::new(300, 60);
    let slots: Vec<u32> = (0..300).collect();
    for slot in &slots {
        let ttl = if *slot < 10 { 1 } else { 64 };
        let fields = Fields { ttl, ..fields(&made.flows[*slot as usize], *slot) };
        frame::write(frames.head_mut(*slot), 60, &fields);
        if (10..15).contains(slot) {
            frames.head_mut(*slot)[14] = 0x46;
        }
    }
    let mut out = Vec::new();
    device.forward(&mut frames, &slots, 0, &mut out);
    let counters = *device.counters();
    assert_eq!((counters.expired, counters.malformed), (10, 5), "{counters:?}");
    let after = 300 - 15 - counters.denied;
    assert_eq!((counters.sent, counters.policed), (200, after - 200), "{counters:?}");
    assert_eq!(out.len(), 200);
}

#[test]
fn frames_of_no_open_session_are_dropped_and_all_others_go_the_same_way() {
    let mut made = made(2, true);
    made.permits.fill(true);
    let open = Tables { sessions: Some(Arc::new(Sessions::new(3))), ..tables(&made) };
    let mut device = Device::new(open, services(Forwarding::Route, 32));
    let mut frames = Frames::with_line_before(300, 60);
    let slots: Vec<u32> = (0..300).collect();
    // Of sessions 1 to 6 the first three are open; every tenth frame has no header of one.
    let session = |slot: u32| 1 + (slot % 6) as u16;
    let of_none = |slot: u32| slot.is_multiple_of(10);
    for slot in &slots {
        let from = sessions::subscriber(session(*slot));
        let fields =
            Fields { to: OWN, from, ttl: 64, ..fields(&made.flows[*slot as usize], *slot) };
        let (before, head) = frames.with_before_mut(*slot).unwrap();
        frame::write(head, 60, &fields);
        if !of_none(*slot) {
            sessions::wrap(before, head, session(*slot));
        }
    }
    let mut out = Vec::new();
    device.forward(&mut frames, &slots, 0, &mut out);
    let through: Vec<u32> = out.iter().map(|slot| frame::number(frames.head(*slot))).collect();
    let expected = slots.iter().filter(|slot| session(**slot) <= 3 && !of_none(**slot));
    assert!(through.iter().eq(expected), "{through:?}");
    let counters = *device.counters();
    assert_eq!((counters.sent, counters.sessionless), (130, 170), "{counters:?}");
}

#[test]
fn frames_to_no_subscriber_are_dropped_and_all_others_get_the_header_of_their_session() {
    let mut made = made(2, true);
    made.permits.fill(true);
    let session = |slot: u32| 1 + (slot % 6) as u16;
    let leads = |slot: &u32| !slot.is_multiple_of(10);
    let slots: Vec<u32> = (0..300).collect();
    let to = |slot: &u32| made.flows[*slot as usize].dst;
    let none: BTreeSet<u32> = slots.iter().filter(|slot| !leads(slot)).map(to).collect();
    let known = slots.iter().filter(|slot| !none.contains(&to(slot)));
    let known: BTreeMap<u32, u16> = known.map(|slot| (to(slot), session(*slot))).collect();
    let subscribers = Some(Arc::new(Subscribers::new(&known)));
    let mut device =
        Device::new(Tables { subscribers, ..tables(&made) }, services(Forwarding::Route, 32));
    let mut frames = Frames::with_line_before(300, 60);
    for slot in &slots {
        let fields = Fields { ttl: 64, ..fields(&made.flows[*slot as usize], *slot) };
        frame::write(frames.head_mut(*slot), 60, &fields);
    }
    let mut out = Vec::new();
    device.forward(&mut frames, &slots, 0, &mut out);
    let expected: Vec<u32> =
        slots.iter().copied().filter(|slot| known.contains_key(&to(slot))).collect();
    assert_eq!(out, expected);
    for slot in &out {
        let (before, head) = frames.with_before_mut(*slot).unwrap();
        assert_eq!(sessions::take_off(before, head), known.get(&to(slot)).copied());
        assert_eq!(frame::parse(head, 60).unwrap().dst, to(slot));
    }
    let counters = *device.counters();
    assert_eq!(counters.sent + counters.sessionless, 300, "{counters:?}");
    assert!(counters.sessionless >= 30, "{counters:?}");
}

#[test]
fn flows_are_fewer_where_rules_leave_no_more() {
    let host = |address| Prefix { address, len: 32 };
    let ports = ((0, u16::MAX), (80, 80));
    let rule = Rule {
        src: host(7),
        dst: host(9),
        src_ports: ports.0,
        dst_ports: ports.1,
        protocol: Some(frame::TCP),
    };
    let acl = Acl::build(&[rule]).unwrap();
    let found = flows((70_000, Meeting::Hit), (&[rule], &acl), &[], 1);
    assert!((60_000..=65_536).contains(&found.len()), "{}", found.len());
    let beside = flows((1000, Meeting::NearMiss), (&[rule], &acl), &[], 1);
    assert!(beside.iter().all(|tuple| !rule.matches(tuple)) && beside.len() == 1000);
}
