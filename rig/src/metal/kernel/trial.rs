//! Which of several loops that do the same goes quickest here.
//!
//! Knows how a trial is timed. Must not know why one loop may be quicker than another, nor makers
//! and caches of CPUs: what one answers sooner from four places, another answers later.

use super::arrays::{Layout, Loop};
use super::row::Row;
use crate::lab::clock;
use crate::metal::{Hot, Memory};

/// Each loop is timed so often, in turn.
const ROUNDS: usize = 5;
/// Shortest time that is taken, nanoseconds.
const SPELL_NS: u64 = 1_500_000;

/// Goes over this memory with each of these loops in turn, on the thread that calls: the bytes a
/// second of the quickest time of each, as STREAM counts them, and the memory, its results 0 again.
///
/// # Errors
/// Memory that is too short, or arrays of unlike lengths.
pub(super) fn paces(
    rows: &[(&'static Row, Layout)],
    memory: Memory,
) -> Result<(Vec<f64>, Memory), String> {
    let mut paces = vec![0.0_f64; rows.len()];
    let Some((first, layout)) = rows.first() else { return Ok((paces, memory)) };
    let mut made = Loop::bare(first, layout.clone(), memory)?;
    for _ in 0..ROUNDS {
        for ((row, layout), pace) in rows.iter().zip(&mut paces) {
            made.change(row, layout)?;
            // The first pass also brings back what the loop before has left elsewhere.
            let (_, once_ns) = timed(&mut made, 1);
            let (work, ns) = timed(&mut made, SPELL_NS.div_ceil(once_ns));
            #[expect(clippy::cast_precision_loss, reason = "bytes and times are below 2^53")]
            let here = work as f64 * 1e9 / ns as f64;
            *pace = pace.max(here);
        }
    }
    Ok((paces, made.into_memory()))
}

/// The place of the loop whose paces add up to most over all threads; of equals the first.
pub(super) fn quickest<'p>(threads: impl Iterator<Item = &'p [f64]>) -> usize {
    let mut sums: Vec<f64> = Vec::new();
    for paces in threads {
        sums.resize(sums.len().max(paces.len()), 0.0);
        for (sum, pace) in sums.iter_mut().zip(paces) {
            *sum += pace;
        }
    }
    let better = |best: usize, at: usize| if sums[at] > sums[best] { at } else { best };
    (0..sums.len()).fold(0, better)
}

/// The bytes of so many passes, and their time in nanoseconds.
fn timed(made: &mut Loop, passes: u64) -> (u64, u64) {
    let began_ns = clock::now_ns();
    let work = made.pass(passes);
    (work, clock::now_ns().saturating_sub(began_ns).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::PageSize;
    use crate::metal::kernel::{Isa, Operation, Store, Walk, find, rows};

    #[test]
    fn all_threads_together_choose() {
        let choose = |all: &[&[f64]]| quickest(all.iter().copied());
        assert_eq!(choose(&[&[1.0, 2.0]]), 1);
        assert_eq!(choose(&[&[1.0, 2.0], &[3.0, 1.0]]), 0);
        assert_eq!((choose(&[&[1.0, 1.0]]), choose(&[&[0.0]]), choose(&[])), (0, 0, 0));
    }

    #[test]
    fn a_trial_leaves_no_results_behind() {
        for operation in [Operation::Write, Operation::Read] {
            let row = find(operation, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
            let rows = [row, row].map(|row| (row, Layout::of(row, 40 << 20).unwrap()));
            let memory = Memory::map(rows[0].1.end(), PageSize::Base).unwrap();
            let (paces, memory) = paces(&rows, memory).unwrap();
            assert!(paces.iter().all(|pace| *pace > 0.0), "{paces:?}");
            let mut after = Loop::bare(rows[0].0, rows[0].1.clone(), memory).unwrap();
            assert!(after.results().iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn arrays_of_unlike_lengths_are_refused() {
        let row = find(Operation::Copy, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
        let rows = [1 << 20, 1 << 19].map(|bytes| (row, Layout::of(row, bytes).unwrap()));
        let memory = Memory::map(rows[0].1.end(), PageSize::Base).unwrap();
        assert!(paces(&rows, memory).unwrap_err().contains("not 524288 B"));
    }

    #[test]
    fn loops_that_do_the_same_can_be_tried_on_the_same_arrays() {
        for row in rows().filter(|row| row.missing().is_none()) {
            let like = |row: &Row| (row.operation, row.isa, row.store, row.missing());
            let twins = rows().filter(|twin| like(twin) == like(row) && twin.walk != row.walk);
            for twin in twins {
                let both = [row, twin].map(|row| (row, Layout::of(row, 3 << 20).unwrap()));
                let bytes = both[0].1.end().max(both[1].1.end());
                let (paces, _) = paces(&both, Memory::map(bytes, PageSize::Base).unwrap()).unwrap();
                assert!(paces.iter().all(|pace| *pace > 0.0), "{} {}", row.name, twin.name);
            }
        }
    }
}
