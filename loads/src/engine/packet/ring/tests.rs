//! Devices in simulated time: what they were planted with shows at the tester, and no frame is
//! unaccounted for.

use super::{Knobs, Offer, Outcome, Ring, Stalls, Turns};
use crate::engine::packet::chance::Chance;
use crate::engine::packet::device::{Device, Forwarding, PORTS, Services, Tables};
use crate::engine::packet::live::Sizes;
use crate::engine::packet::police::Policers;
use crate::engine::packet::queues::Scheduler;
use crate::engine::packet::tuple::Tuple;

fn flows(count: u32) -> Vec<Tuple> {
    let flow = |number| Tuple { src: number, dst: 1, src_port: 9, dst_port: 9, protocol: 17 };
    (0..count).map(flow).collect()
}

fn services() -> Services {
    let forwarding = Forwarding::Route;
    Services { forwarding, batch: 1, nat: None, policers: None, queues: None, ports: PORTS }
}

fn ring(knobs: Knobs, services: Services) -> Ring {
    Ring::new(Device::new(Tables::default(), services), knobs, 7)
}

const PLAIN: Offer<'static> = Offer {
    flows: &[],
    frames: 0,
    interval: 0.0,
    turns: Turns { sizes: Sizes::Alike(64), streams: 1 },
    classes: &Offer::EACH,
    window: Offer::ALL,
};

/// A trial of so many frames at such a rate over 64 flows.
fn trial(ring: &mut Ring, frames: u32, rate: f64) -> Outcome {
    ring.run(&Offer { flows: &flows(64), frames, interval: 1.0 / rate, ..PLAIN })
}

/// Least and most nanoseconds.
fn latency(outcome: &Outcome) -> (u64, u64) {
    let latency = outcome.latency.as_ref().unwrap();
    (latency.min(), latency.max())
}

#[test]
fn a_core_forwards_its_capacity_and_its_buffer_beyond() {
    let mut ring = ring(Knobs::plain(100_000.0, 50), services());
    let below = trial(&mut ring, 100_000, 99_999.0);
    assert_eq!((below.ledger.received, below.ledger.closes()), (100_000, Ok(())));
    let above = trial(&mut ring, 200_000, 200_000.0);
    assert_eq!(above.ledger.closes(), Ok(()));
    let expected = 100_000 + 50;
    assert!(above.ledger.received.abs_diff(expected) <= 2, "{}", above.ledger.received);
    let at_once = ring.run(&Offer { flows: &flows(1), frames: 400, interval: 0.0, ..PLAIN });
    assert_eq!(at_once.ledger.received, 50, "what the buffer holds");
}

#[test]
fn latency_is_service_and_wait() {
    let mut ring = ring(Knobs::plain(1e6, 100), services());
    let alone = trial(&mut ring, 1000, 1e5);
    assert_eq!(latency(&alone), (1000, 1000));
    let full = trial(&mut ring, 10_000, 2e6);
    assert!(latency(&full).1.abs_diff(100_000) <= 2000, "{:?}", latency(&full));
}

#[test]
fn what_is_planted_behind_the_device_shows_at_the_tester() {
    let knobs = Knobs { loss: 0.01, reorder: 0.02, duplicate: 0.03, ..Knobs::plain(1e6, 100) };
    let outcome = trial(&mut ring(knobs, services()), 100_000, 5e5);
    let within = |found: u64, expected: f64| (found as f64 / expected - 1.0).abs() < 0.15;
    let lost = outcome.ledger.unexplained();
    assert!(within(lost, 1000.0), "{lost} lost, and the device does not know");
    assert_eq!(outcome.left_by, [0, 100_000], "what is lost behind it has left it");
    assert!(within(outcome.reordered, 2000.0 * 0.97), "{}", outcome.reordered);
    assert!(within(outcome.duplicates, 3000.0 * 0.96), "{}", outcome.duplicates);
    // A fifth of the frames is of a window that opens late and closes early.
    let window = [0.12, 0.16];
    let offer = Offer { flows: &flows(1), frames: 100_000, interval: 1.0 / 5e5, ..PLAIN };
    let part = ring(knobs, services()).run(&Offer { window, ..offer });
    assert!(within(part.reordered, 400.0 * 0.97), "{}", part.reordered);
    assert!(within(part.duplicates, 600.0 * 0.96), "{}", part.duplicates);
}

#[test]
fn a_policer_passes_its_rate_and_its_depth() {
    // 64 B, counted as the 60 B that the device sees, at 1000 frames a second, and 20 at once.
    let policers = Some(Policers::new(1, 60.0 * 8.0 * 1000.0, 20 * 60));
    let mut ring = ring(Knobs::plain(1e6, 5000), Services { policers, ..services() });
    let offer = Offer { flows: &flows(1), frames: 20_000, interval: 1.0 / 10_000.0, ..PLAIN };
    let outcome = ring.run(&offer);
    assert_eq!(outcome.ledger.closes(), Ok(()));
    assert!(outcome.ledger.received.abs_diff(2000 + 20) <= 1, "{:?}", outcome.ledger);
    let dropped = &outcome.ledger.drops;
    assert!(dropped.iter().any(|(why, n)| why == "device: policed" && *n > 17_000), "{dropped:?}");
}

#[test]
fn queues_share_a_line_by_weight() {
    let queues = Some((vec![1, 1, 2, 4], Scheduler::Weighted));
    let knobs = Knobs { line: Some(84.0 * 8.0 * 1e5), ..Knobs::plain(1e7, 100) };
    let mut ring = ring(knobs, Services { queues, ..services() });
    let outcome = trial(&mut ring, 400_000, 4e5);
    assert_eq!(outcome.ledger.closes(), Ok(()));
    // What stands in the queues at the end comes too, in equal numbers.
    let left = 1024;
    let share: Vec<u64> =
        outcome.classes.chunks(16).map(|queue| queue.iter().sum::<u64>() - left).collect();
    let all: u64 = share.iter().sum();
    for (share, weight) in share.iter().zip([1.0, 1.0, 2.0, 4.0]) {
        let ratio = *share as f64 / all as f64 / (weight / 8.0);
        assert!((ratio - 1.0).abs() < 0.03, "{ratio} of weight {weight}");
    }
}

#[test]
fn stalls_lose_what_the_buffer_does_not_hold() {
    let stalls = Some(Stalls { rate: 5.0, length: 0.01 });
    let knobs = Knobs { stalls, ..Knobs::plain(1e5, 100) };
    let outcome = trial(&mut ring(knobs, services()), 500_000, 5e4);
    let lost = outcome.ledger.dropped();
    // Each stall: 10 ms at 50,000 frames a second, less the 100 that wait; 50 of them in 10 s.
    assert!((10_000..30_000).contains(&lost), "{lost}");
    assert_eq!(outcome.ledger.closes(), Ok(()));
}

#[test]
fn a_thousand_trials_leave_no_frame_unexplained() {
    let mut chance = Chance::of(11);
    for seed in 0..500 {
        let capacity = f64::from(chance.within(10_000, 1_000_000));
        let mut knobs = Knobs::plain(capacity, chance.within(1, 500) as usize);
        knobs.line = chance.happens(0.5).then(|| f64::from(chance.within(1, 1000)) * 1e6);
        knobs.stalls = chance.happens(0.3).then_some(Stalls { rate: 20.0, length: 0.002 });
        knobs.reorder = if chance.happens(0.3) { 0.01 } else { 0.0 };
        knobs.duplicate = if chance.happens(0.3) { 0.01 } else { 0.0 };
        let policers = chance
            .happens(0.5)
            .then(|| Policers::new(16, f64::from(chance.within(1, 100)) * 1e6, 1500));
        let queues = chance.happens(0.5).then(|| (vec![1, 2, 3, 4], Scheduler::Mixed));
        let device = Device::new(Tables::default(), Services { policers, queues, ..services() });
        let mut ring = Ring::new(device, knobs, seed);
        for _ in 0..2 {
            let rate = capacity * f64::from(chance.within(1, 200)) / 100.0;
            let outcome = trial(&mut ring, 1000, rate);
            assert_eq!(outcome.ledger.closes(), Ok(()), "{knobs:?}: {:?}", outcome.ledger);
            let again = outcome.duplicates;
            assert!(knobs.duplicate > 0.0 || again == 0, "{again} twice");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_trial() {
    let knobs = Knobs {
        loss: 0.1,
        stalls: Some(Stalls { rate: 9.0, length: 0.01 }),
        ..Knobs::plain(1e5, 10)
    };
    let one = trial(&mut ring(knobs, services()), 50_000, 9e4);
    let other = trial(&mut ring(knobs, services()), 50_000, 9e4);
    assert_eq!(one.ledger, other.ledger);
    assert_eq!(one.latency, other.latency);
}
