//! Knows how a plan is read, laid out into trials, put in order and costed.
//!
//! Knows: the text of a plan, the catalogue of workloads and factors it may name, blocks.
//! Gives: [`read`], [`recheck`], [`expand`], [`order`], [`follows`], [`budget`], [`quicken`],
//! [`LabFile`], [`bind`], [`remaining`], [`against_itself`], [`one_at_a_time`], [`told`],
//! [`narrow`], [`fit_lines`], [`smallest_effect`], [`remedy`], [`schema`].
//! Never: how a load is driven, a factor set or a trial judged.
//! Start reading at `expand.rs`.

mod aa;
mod bind;
mod budget;
mod elasticity;
mod expand;
mod extent;
mod lines;
mod manual;
mod narrow;
mod order;
mod read;
mod remaining;
mod schema;
mod tune;

pub use aa::{AaError, AaWords, against_itself};
pub use bind::{BindError, bind, refuse_unbound};
pub use budget::{
    BASELINE_S, Budget, CALIBRATION_S, DRY_WINDOW_S, OVERHEAD_S, SmallestEffect, budget, quicken,
    shortest, smallest_effect,
};
pub use elasticity::{ElasticityWords, THROTTLED, at_one_place, one_at_a_time};
pub use expand::expand;
pub use extent::{Asked, ExtentError, added, extend, fit_blocks, seed_of_part, set_blocks};
pub use lines::{SlowLines, fit_lines};
pub use manual::{TellError, told};
pub use narrow::{NarrowError, narrow};
pub use order::{follows, order};
pub use read::{
    BLOCKS_BOUNDS, BOOTS_BOUNDS, HERE, LabFile, PlanError, StoredError, TRIALS, read, read_seeded,
    recheck, remedy,
};
pub use remaining::{ATTEMPTS, ATTEMPTS_OF_CLIENTS, Next, attempts, remaining};
pub use schema::schema;
pub use tune::{AS_SET, Barred, Holds, Lasting, Looked, is_tuning, lasting, looked_at, tune_facts};

use crate::record::{FactorSpec, WorkloadSpec};

/// What a plan may name: the specs of every workload and factor that the rig has.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a> {
    /// Workloads.
    pub workloads: &'a [&'a WorkloadSpec],
    /// Factors.
    pub factors: &'a [FactorSpec],
}

#[cfg(test)]
mod example;
