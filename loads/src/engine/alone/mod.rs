//! Knows how every load of one machine is staged, driven and checked: threads with hot loops on the
//! system under test, and no client.
//!
//! Gives: `entry`, which makes such a workload's line of its modules; [`Recipe`], [`Alone`].
//! Never: what a loop does, or what its figure means.
//! Start reading at `recipe.rs`, then `drive.rs`.

mod check;
mod drive;
#[cfg(test)]
pub mod fixture;
mod model;
mod params;
mod part;
mod recipe;
mod rounds;
mod size;
mod storage;
#[cfg(test)]
mod tests;

pub use drive::{Alone, SOON};
pub use model::model;
pub use params::{PAGES, PLACEMENT, SIZES, THREADS};
pub use part::part;
pub use recipe::{Order, Ready, Recipe, Storing, Taken};
pub use size::{bytes_of, memory_of, nominal_threads, threads_of};

/// The entry of a workload, of its README and of its modules `spec` (`SPEC`), `run` (`ready`,
/// `nominal`) and `check` (`figures`); with the longest time that it is made ready in, where that
/// is not what mapping and writing memory takes, and how it uses storage.
macro_rules! entry {
    () => {
        $crate::engine::alone::entry!(|_| $crate::engine::alone::SOON, |_| None)
    };
    ($staging:expr, $storing:expr) => {{
        static RECIPE: $crate::engine::alone::Recipe = $crate::engine::alone::Recipe {
            spec: &spec::SPEC,
            ready: run::ready,
            figures: check::figures,
            nominal: run::nominal,
            staging: $staging,
            storing: $storing,
        };
        rig::workload::Entry {
            spec: &spec::SPEC,
            readme: include_str!("README.md"),
            hears: &[],
            make: || Box::new($crate::engine::alone::Alone::new(&RECIPE)),
            part: || $crate::engine::alone::part(&RECIPE),
            model: Some(|scene, job| $crate::engine::alone::model(&RECIPE, scene, job)),
        }
    }};
}
pub(crate) use entry;
