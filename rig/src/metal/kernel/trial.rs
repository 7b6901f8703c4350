//! Which of several loops that do the same goes quickest here.
//!
//! Knows how a trial is timed. Must not know why one loop may be quicker than another, nor makers
//! and caches of CPUs: what one answers sooner from four places, another answers later.

use super::arrays::{Layout, Loop};
use super::row::Row;
use crate::lab::clock;
use crate::metal::{Hot, Memory};
use desk::stats::median;

/// Each loop is timed so often, in turn.
const ROUNDS: usize = 15;
/// Shortest time that is taken, nanoseconds.
const SPELL_NS: u64 = 1_500_000;
/// By this factor another loop must be ahead of the first to be taken: what differs by less is
/// equal, and shall not change from trial to trial.
const LEAD: f64 = 1.02;

/// Bytes a second, as STREAM counts them, of each loop, round by round: their times lie together.
pub(super) type Paces = Vec<Vec<f64>>;

/// Goes over this memory with each of these loops in turn, on the thread that calls: its paces, and
/// the memory, its results 0 again.
///
/// # Errors
/// Memory that is too short, or arrays of unlike lengths.
pub(super) fn paces(
    rows: &[(&'static Row, Layout)],
    memory: Memory,
) -> Result<(Paces, Memory), String> {
    let Some((first, layout)) = rows.first() else { return Ok((Paces::new(), memory)) };
    let mut made = Loop::bare(first, layout.clone(), memory)?;
    let mut pace = |(row, layout): &(&'static Row, Layout)| {
        made.change(row, layout)?;
        // The first pass also brings back what the loop before has left elsewhere.
        let (_, once_ns) = timed(&mut made, 1);
        let (work, ns) = timed(&mut made, SPELL_NS.div_ceil(once_ns));
        #[expect(clippy::cast_precision_loss, reason = "bytes and times are below 2^53")]
        Ok(work as f64 * 1e9 / ns as f64)
    };
    let mut round = |_| rows.iter().map(&mut pace).collect();
    let paces = (0..ROUNDS).map(&mut round).collect::<Result<Paces, String>>()?;
    Ok((paces, made.into_memory()))
}

/// The place of the loop that all threads together are quickest with: its lead over the first is
/// the median over the rounds, since the best one would be luck where others use the memory too.
pub(super) fn quickest<'p>(threads: impl Iterator<Item = &'p Paces> + Clone) -> usize {
    let rounds = threads.clone().map(Vec::len).min().unwrap_or(0);
    let loops = threads.clone().flatten().map(Vec::len).min().unwrap_or(0);
    let sum = |round: usize, at: usize| threads.clone().map(|t| t[round][at]).sum::<f64>();
    let lead = |at: usize| {
        let leads: Vec<f64> = (0..rounds).map(|round| sum(round, at) / sum(round, 0)).collect();
        median(&leads).unwrap_or(0.0)
    };
    let better = |best: (usize, f64), at| {
        let lead = lead(at);
        if lead > best.1 { (at, lead) } else { best }
    };
    (1..loops).fold((0, LEAD), better).0
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
        let choose = |all: &[Paces]| quickest(all.iter());
        let one = |paces: &[f64]| Paces::from([paces.to_vec()]);
        assert_eq!(choose(&[one(&[1.0, 2.0])]), 1);
        assert_eq!(choose(&[one(&[1.0, 2.0, 3.0])]), 2);
        assert_eq!(choose(&[one(&[1.0, 2.0]), one(&[3.0, 1.0])]), 0);
        assert_eq!((choose(&[one(&[1.0, 1.01])]), choose(&[one(&[0.0])]), choose(&[])), (0, 0, 0));
    }

    #[test]
    fn one_lucky_round_does_not_choose_and_a_slow_spell_of_both_neither() {
        let rounds = |all: [[f64; 2]; 3]| quickest([all.map(Vec::from).to_vec()].iter());
        assert_eq!(rounds([[1.0, 0.9], [1.0, 9.0], [1.0, 0.9]]), 0);
        assert_eq!(rounds([[1.0, 1.1], [9.0, 9.9], [5.0, 0.5]]), 1);
    }

    #[test]
    fn a_trial_leaves_no_results_behind() {
        for operation in [Operation::Write, Operation::Read] {
            let row = find(operation, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
            let rows = [row, row].map(|row| (row, Layout::of(row, 40 << 20).unwrap()));
            let memory = Memory::map(rows[0].1.end(), PageSize::Base).unwrap();
            let (paces, memory) = paces(&rows, memory).unwrap();
            assert!(paces.iter().flatten().all(|pace| *pace > 0.0), "{paces:?}");
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
                let all = paces.iter().flatten().all(|pace| *pace > 0.0);
                assert!(all && paces.len() == ROUNDS, "{} {}", row.name, twin.name);
            }
        }
    }
}
