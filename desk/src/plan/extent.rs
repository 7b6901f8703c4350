//! Knows how a plan is made longer or shorter in blocks: by their number, by the time that there
//! is, or after it was run.
//!
//! Must not know a clock, nor what the run has shown.

use super::budget::budget;
use super::read::{BLOCKS_BOUNDS, MOST_LOOKS, TRIALS};
use crate::record::{Added, Method, Plan};
use crate::unit::Quantity;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use thiserror::Error;

/// Why a plan cannot have so many blocks.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExtentError {
    /// Fewer than the fewest, or more than the most.
    #[error(
        "{blocks} blocks cannot be; give a number from {} to {}",
        BLOCKS_BOUNDS.0,
        BLOCKS_BOUNDS.1
    )]
    Bounds {
        /// As asked.
        blocks: u32,
    },
    /// More trials than a plan may have.
    #[error(
        "{blocks} blocks of this plan are {trials} trials, and {TRIALS} are the most; give {most} \
         blocks or fewer"
    )]
    Trials {
        /// As asked.
        blocks: u32,
        /// Counted trials of so many.
        trials: u64,
        /// What can be asked.
        most: u64,
    },
    /// Not even the fewest blocks fit the time.
    #[error(
        "{time} is too short: {fewest} blocks of this plan take up to {needed:.0} s; give that \
         much time, or measure fewer points"
    )]
    Time {
        /// As asked.
        time: Quantity,
        /// The fewest blocks.
        fewest: u32,
        /// What the fewest blocks take, seconds.
        needed: f64,
    },
    /// The run has as many already.
    #[error("the run has {have} blocks already; give more, or +N to add N")]
    Fewer {
        /// What there is.
        have: u32,
    },
    /// Boots are what counts.
    #[error(
        "the blocks of this plan lie in boots, whose number is fixed; run it anew with boots = N"
    )]
    Boots,
    /// Every end of a run is a look, and all share one error probability.
    #[error(
        "with this the run would have {looks} looks, and {MOST_LOOKS} are the most; begin a new \
         run with --blocks {blocks}"
    )]
    Looks {
        /// With the one that is asked for.
        looks: usize,
        /// Blocks that were asked for.
        blocks: u32,
    },
}

/// Gives a plan another number of blocks. Of its looks those before stay, and the last block is one
/// if there are any.
///
/// # Errors
/// When a plan cannot have so many.
pub fn set_blocks(plan: &mut Plan, blocks: u32) -> Result<(), ExtentError> {
    if !(BLOCKS_BOUNDS.0..=BLOCKS_BOUNDS.1).contains(&u64::from(blocks)) {
        return Err(ExtentError::Bounds { blocks });
    }
    let (each, most) = (trials_of_a_block(plan), most_blocks(plan));
    if u64::from(blocks) > most {
        return Err(ExtentError::Trials { blocks, trials: each * u64::from(blocks), most });
    }
    let method = &mut plan.method;
    method.blocks = blocks;
    method.looks.retain(|look| *look < blocks);
    if !method.looks.is_empty() {
        method.looks.push(blocks);
    }
    Ok(())
}

/// Blocks of which the trials and the dry visits before them are no more than a plan may have.
fn most_blocks(plan: &Plan) -> u64 {
    (TRIALS / trials_of_a_block(plan)).saturating_sub(plan.method.dry.into())
}

/// Counted trials of one block, in all boots; at least 1.
fn trials_of_a_block(plan: &Plan) -> u64 {
    let method = Method { blocks: 1, looks: Vec::new(), ..plan.method.clone() };
    budget(&Plan { method, ..plan.clone() }).trials.max(1).into()
}

/// Gives each of several plans that are run one after another as many blocks as fit a time even if
/// every trial waits as long as it may ([`super::Budget::longest`]), and says how many: at least
/// `fewest`, at most 1,000, and no more than the trials of a plan allow.
///
/// # Errors
/// When the fewest blocks do not fit, with the time that they need.
pub fn fit_blocks(plans: &mut [Plan], time: Quantity, fewest: u32) -> Result<u32, ExtentError> {
    let takes = |blocks: u32| -> f64 {
        let method = |plan: &Plan| Method { blocks, ..plan.method.clone() };
        let longest = |plan: &Plan| budget(&Plan { method: method(plan), ..plan.clone() }).longest;
        plans.iter().map(|plan| longest(plan).value).sum()
    };
    let needed = takes(fewest);
    if needed > time.value {
        return Err(ExtentError::Time { time, fewest, needed: needed.ceil() });
    }
    // What a plan takes rises with its blocks by the same each.
    let mut most = u32::try_from(BLOCKS_BOUNDS.1).unwrap_or(u32::MAX);
    for plan in &*plans {
        most = most.min(u32::try_from(most_blocks(plan)).unwrap_or(u32::MAX));
    }
    let (mut low, mut high) = (fewest, most.max(fewest) + 1);
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        *(if takes(middle) <= time.value { &mut low } else { &mut high }) = middle;
    }
    plans.iter_mut().try_for_each(|plan| set_blocks(plan, low))?;
    Ok(low)
}

/// What was asked of a run that has ended: blocks in all, or further ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// So many in all.
    All(u32),
    /// So many more.
    More(u32),
}

/// The extension of a run that ended after `ended` blocks of its plan.
///
/// # Errors
/// When that is no more than there is, or the plan cannot have so many blocks or looks.
pub fn added(plan: &Plan, ended: u32, asked: Asked) -> Result<Added, ExtentError> {
    if plan.boots() > 0 {
        return Err(ExtentError::Boots);
    }
    let to = match asked {
        Asked::All(all) => all,
        Asked::More(more) => ended.saturating_add(more),
    };
    if to <= ended {
        return Err(ExtentError::Fewer { have: ended });
    }
    let found = Added { from: ended, to };
    let mut plan = plan.clone();
    set_blocks(&mut plan, to)?;
    extend(&mut plan, found);
    match plan.method.looks.len() {
        looks if looks > MOST_LOOKS => Err(ExtentError::Looks { looks, blocks: to }),
        _ => Ok(found),
    }
}

/// Adds blocks to the plan of a run that had ended. Whoever adds blocks has seen a verdict and
/// might have stopped there: each number of blocks after which the run ended is a look, and so is
/// the new end, each judged at alpha / (number of looks) as in a plan that names them (Bonferroni).
/// The first end was judged at the whole alpha, so runs that are extended until they decide err
/// more often: `docs/statistics.md` has the figure. The same twice is the same once.
pub fn extend(plan: &mut Plan, added: Added) {
    let method = &mut plan.method;
    method.blocks = added.to;
    method.looks.retain(|look| *look < added.to);
    method.looks.extend([added.from, added.to]);
    method.looks.sort_unstable();
    method.looks.dedup();
}

/// The seed of one of several plans that are run one after another, from 0: streams of their own of
/// one seed. Below 2^32, so that it is short to write.
#[must_use]
pub fn seed_of_part(seed: u64, part: usize) -> u64 {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(part as u64);
    u64::from(stream.next_u32())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::small;
    use crate::plan::order;

    #[test]
    fn looks_before_the_new_end_stay_and_the_end_is_one() {
        let mut plan = small();
        plan.method.looks = vec![5, 10, 20];
        set_blocks(&mut plan, 12).unwrap();
        assert_eq!((plan.method.blocks, plan.method.looks.as_slice()), (12, &[5, 10, 12][..]));
        set_blocks(&mut plan, 4).unwrap();
        assert!(plan.method.looks.is_empty());
        assert_eq!(set_blocks(&mut plan, 2), Err(ExtentError::Bounds { blocks: 2 }));
        plan.loads[0].over[0].1 = vec![plan.loads[0].over[0].1[0].clone(); 100];
        let said = set_blocks(&mut plan, 1000).unwrap_err();
        assert!(matches!(said, ExtentError::Trials { .. }), "{said}");
    }

    #[test]
    fn as_many_blocks_as_fit_a_time_and_not_one_more() {
        for time in [400.0, 600.0, 7000.0] {
            let mut plan = small();
            let time = Quantity::seconds(time);
            let blocks = fit_blocks(std::slice::from_mut(&mut plan), time, 3).unwrap();
            assert_eq!((plan.method.blocks, blocks >= 3), (blocks, true));
            assert!(budget(&plan).longest.value <= time.value);
            plan.method.blocks += 1;
            assert!(budget(&plan).longest.value > time.value);
        }
        let said = fit_blocks(&mut [small()], Quantity::seconds(20.0), 3).unwrap_err();
        assert!(matches!(said, ExtentError::Time { needed, .. } if needed > 20.0), "{said}");
    }

    #[test]
    fn every_end_of_a_run_is_a_look_and_the_first_blocks_stay() {
        let mut plan = small();
        let before = order(&plan);
        let first = added(&plan, 5, Asked::More(5)).unwrap();
        assert_eq!(first, Added { from: 5, to: 10 });
        extend(&mut plan, first);
        assert_eq!((plan.method.blocks, plan.method.looks.as_slice()), (10, &[5, 10][..]));
        assert_eq!(order(&plan)[..before.len()], before[..]);
        let second = added(&plan, 10, Asked::All(20)).unwrap();
        extend(&mut plan, second);
        assert_eq!(plan.method.looks, [5, 10, 20]);
        let once = plan.clone();
        extend(&mut plan, first);
        extend(&mut plan, second);
        assert_eq!(plan, once, "the same twice is the same once");
    }

    #[test]
    fn what_adds_nothing_or_too_much_is_refused() {
        let mut plan = small();
        let refused = |plan: &Plan, ended, asked| added(plan, ended, asked).unwrap_err();
        assert_eq!(refused(&plan, 5, Asked::All(5)), ExtentError::Fewer { have: 5 });
        assert_eq!(refused(&plan, 5, Asked::More(0)), ExtentError::Fewer { have: 5 });
        let most = refused(&plan, 5, Asked::More(5000));
        assert_eq!(most, ExtentError::Bounds { blocks: 5005 });
        plan.method.looks = vec![3, 4, 5, 6, 7, 8];
        let looks = refused(&plan, 8, Asked::More(2));
        assert_eq!(looks, ExtentError::Looks { looks: 7, blocks: 10 });
        (plan.factors[0].reboot, plan.method.boots) = (true, 3);
        assert_eq!(refused(&plan, 5, Asked::More(5)), ExtentError::Boots);
    }

    #[test]
    fn parts_have_seeds_of_their_own() {
        let seeds: Vec<u64> = (0..6).map(|part| seed_of_part(7, part)).collect();
        assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), 6);
        assert_ne!(seed_of_part(8, 0), seeds[0]);
        assert_eq!(seed_of_part(7, 3), seeds[3]);
    }
}
