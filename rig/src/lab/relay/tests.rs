//! When frames leave a lane, as a pure function of time and seed.

use super::lane::{Chance, Kept, Lane, Refused};
use super::{Distance, LEAST};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
/// Bytes of a full frame.
const FULL: u64 = 1514;

/// Puts frames of these moments and bytes in, numbered; gives what was refused, by number.
fn put(lane: &mut Lane<usize>, distance: &Distance, all: &[(u64, u64)]) -> Vec<(usize, Refused)> {
    let mut refused = Vec::new();
    for (number, frame) in all.iter().enumerate() {
        if let Err((why, number)) = lane.put(distance, *frame, number) {
            refused.push((number, why));
        }
    }
    refused
}

/// Every frame that leaves until a moment, with its own.
fn drain(lane: &mut Lane<usize>, until_ns: u64) -> Vec<(u64, usize)> {
    std::iter::from_fn(|| lane.take(until_ns)).collect()
}

fn even(frames: u64, apart_ns: u64) -> Vec<(u64, u64)> {
    (0..frames).map(|n| (n * apart_ns, FULL)).collect()
}

#[test]
fn a_frame_leaves_after_half_the_round_trip_and_not_before() {
    let mut lane = Lane::new(Chance::new(1));
    let distance = Distance { delay_ns: 20 * MS, ..Distance::default() };
    assert_eq!(lane.put(&distance, (5, FULL), 0), Ok(Kept::InOrder));
    assert_eq!(lane.due_ns(), Some(5 + 10 * MS));
    assert_eq!(lane.take(4 + 10 * MS), None);
    assert_eq!(lane.take(5 + 10 * MS), Some((5 + 10 * MS, 0)));
    assert!(lane.is_empty() && lane.due_ns().is_none());
    // Without a distance a frame leaves at once.
    assert_eq!(lane.put(&Distance::default(), (7, FULL), 1), Ok(Kept::InOrder));
    assert_eq!(lane.take(7), Some((7, 1)));
}

#[test]
fn jitter_is_even_around_the_delay_and_keeps_the_order() {
    let mut lane = Lane::new(Chance::new(7));
    let (delay_ns, jitter_ns) = (20 * MS, 4 * MS);
    let distance = Distance { delay_ns, jitter_ns, ..Distance::default() };
    // So far apart that none waits for another.
    let all = even(20_000, 10 * MS);
    assert!(put(&mut lane, &distance, &all).is_empty());
    let left = drain(&mut lane, u64::MAX);
    assert!(left.iter().enumerate().all(|(at, (_, number))| at == *number));
    let took: Vec<u64> = left.iter().map(|(due, number)| due - all[*number].0).collect();
    let (least, most) = (took.iter().min().unwrap(), took.iter().max().unwrap());
    assert!(*least >= 6 * MS && *most <= 14 * MS, "{least} {most}");
    assert!(*least < 6 * MS + MS / 100 && *most > 14 * MS - MS / 100, "{least} {most}");
    let mean = took.iter().sum::<u64>() / 20_000;
    assert!(mean.abs_diff(10 * MS) < 50_000, "the mean of 20,000 even draws: {mean}");
    // Close together none overtakes another.
    assert!(put(&mut lane, &distance, &even(1_000, 1_000)).is_empty());
    let left = drain(&mut lane, u64::MAX);
    assert!(left.iter().enumerate().all(|(at, (_, number))| at == *number));
    assert!(left.is_sorted_by_key(|(due, _)| *due));
}

#[test]
fn losses_are_of_the_share_that_is_asked_and_repeat_with_their_seed() {
    let lost = |seed: u64, ppb: u32| {
        let mut lane = Lane::new(Chance::new(seed));
        let distance = Distance { loss_ppb: ppb, ..Distance::default() };
        let frames: Vec<(u64, u64)> = (0..100_000).map(|n| (n * 1_000, 100)).collect();
        let refused = put(&mut lane, &distance, &frames);
        assert!(refused.iter().all(|(_, why)| *why == Refused::Lost));
        assert_eq!(lane.len() + refused.len(), 100_000, "every frame is somewhere");
        refused.into_iter().map(|(number, _)| number).collect::<Vec<_>>()
    };
    // Four standard deviations of a binomial of 100,000 at 1 % are 126.
    for seed in 1..20 {
        assert!(lost(seed, 10_000_000).len().abs_diff(1_000) <= 126, "seed {seed}");
    }
    assert_eq!(lost(3, 10_000_000), lost(3, 10_000_000));
    assert_ne!(lost(3, 10_000_000), lost(4, 10_000_000));
    assert!(lost(3, 0).is_empty());
    // Two in a row are as frequent as chance has it: there is no pattern of losses.
    let one = lost(5, 500_000_000);
    let pairs = one.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!(pairs.abs_diff(25_000) < 600, "{pairs}");
}

#[test]
fn frames_that_overtake_skip_the_delay_and_no_other_leaves_out_of_order() {
    let mut lane = Lane::new(Chance::new(11));
    let distance = Distance { delay_ns: 20 * MS, reorder_ppb: 50_000_000, ..Distance::default() };
    let all = even(10_000, 100_000);
    let fast = (0..)
        .zip(&all)
        .filter(|(number, frame)| lane.put(&distance, **frame, *number) == Ok(Kept::Overtakes))
        .map(|(number, _)| number)
        .collect::<Vec<usize>>();
    // Four standard deviations of a binomial of 10,000 at 5 % are 87.
    assert!(fast.len().abs_diff(500) <= 87, "{}", fast.len());
    let left = drain(&mut lane, u64::MAX);
    for (due, number) in &left {
        let took = due - all[*number].0;
        assert_eq!(took, if fast.contains(number) { 0 } else { 10 * MS });
    }
    let slow: Vec<usize> =
        left.iter().map(|(_, number)| *number).filter(|n| !fast.contains(n)).collect();
    assert!(slow.is_sorted());
}

#[test]
fn the_rate_spaces_frames_and_the_buffer_drops_the_last() {
    let mut lane = Lane::new(Chance::new(1));
    // 1,514 bytes at 12.112 Mbit/s take a millisecond.
    let distance =
        Distance { rate: Some(12_112_000), buffer: Some(10 * FULL), ..Distance::default() };
    let refused = put(&mut lane, &distance, &[(0, FULL); 20]);
    // One is on its way out, ten wait.
    let numbers: Vec<usize> = refused.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (11..20).collect::<Vec<_>>());
    assert!(refused.iter().all(|(_, why)| *why == Refused::Full));
    let left = drain(&mut lane, u64::MAX);
    assert_eq!(left, (0..11).map(|n| ((n as u64 + 1) * MS, n)).collect::<Vec<_>>());
    // After a pause there is room again, and no frame leaves faster for the pause.
    assert!(put(&mut lane, &distance, &[(100 * MS, FULL); 2]).is_empty());
    assert_eq!(drain(&mut lane, u64::MAX), [(101 * MS, 0), (102 * MS, 1)]);
}

#[test]
fn a_buffer_that_nobody_sizes_holds_one_product_of_rate_and_round_trip() {
    let of = |rate, delay_ns| Distance { rate, delay_ns, ..Distance::default() }.room();
    assert_eq!(of(Some(100_000_000), 100 * MS), 1_250_000);
    assert_eq!(of(Some(100_000_000), 0), 250_000, "20 ms at the least");
    assert_eq!(of(Some(1_000_000), 0), LEAST);
    let told = Distance { buffer: Some(7_000), rate: Some(1), ..Distance::default() };
    assert_eq!(told.room(), 7_000);
}

#[test]
fn what_is_under_way_has_a_bound() {
    let mut lane = Lane::new(Chance::new(1));
    let distance = Distance { delay_ns: 200 * MS, ..Distance::default() };
    let frames = even(100_000, 1);
    let refused = put(&mut lane, &distance, &frames);
    assert!(!refused.is_empty() && refused.iter().all(|(_, why)| *why == Refused::Crowded));
    let bytes = lane.len() as u64 * FULL;
    assert!(((128 << 20) - FULL..=128 << 20).contains(&bytes), "{bytes}");
}

#[test]
fn a_shorter_distance_lets_no_frame_overtake_what_is_under_way() {
    let mut lane = Lane::new(Chance::new(1));
    let far = Distance { delay_ns: 100 * MS, ..Distance::default() };
    assert_eq!(lane.put(&far, (0, FULL), 0), Ok(Kept::InOrder));
    assert_eq!(lane.put(&Distance::default(), (MS, FULL), 1), Ok(Kept::InOrder));
    assert_eq!(drain(&mut lane, u64::MAX), [(50 * MS, 0), (50 * MS, 1)]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn every_frame_leaves_once_or_is_refused_with_a_cause(
        frames in proptest::collection::vec((0_u64..10_000_000, 60_u64..1515), 0..200),
        (delay_ns, jitter_ns) in (0_u64..200 * MS, 0_u64..100 * MS),
        (loss_ppb, reorder_ppb) in (0_u32..500_000_000, 0_u32..500_000_000),
        (rate, buffer) in (
            proptest::option::of(100_000_u64..10_000_000_000),
            proptest::option::of(1514_u64..100_000),
        ),
        seed in any::<u64>(),
    ) {
        let distance = Distance { delay_ns, jitter_ns, loss_ppb, reorder_ppb, rate, buffer };
        let mut at = 0;
        let moments: Vec<(u64, u64)> = frames
            .iter()
            .map(|(apart, bytes)| {
                at += apart;
                (at, *bytes)
            })
            .collect();
        let mut lane = Lane::new(Chance::new(seed));
        let refused = put(&mut lane, &distance, &moments);
        let left = drain(&mut lane, u64::MAX);
        prop_assert_eq!(refused.len() + left.len(), frames.len());
        let mut all: Vec<usize> = refused.iter().map(|(number, _)| *number).collect();
        all.extend(left.iter().map(|(_, number)| *number));
        all.sort_unstable();
        prop_assert_eq!(all, (0..frames.len()).collect::<Vec<_>>());
        for (due, number) in &left {
            prop_assert!(*due >= moments[*number].0, "no frame leaves before it came");
        }
    }
}
