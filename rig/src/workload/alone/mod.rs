//! Knows how every load of one machine is staged, driven and checked: threads with hot loops on the
//! system under test, and no client.
//!
//! Gives: `entry`, which makes such a workload's line of its modules; [`Recipe`], [`Alone`].
//! Never: what a loop does, or what its figure means.
//! Start reading at `recipe.rs`, then `drive.rs`.

mod check;
mod drive;
mod model;
mod part;
mod recipe;
mod size;
#[cfg(test)]
mod tests;

pub use drive::Alone;
pub use model::model;
pub use part::part;
pub use recipe::{Order, Ready, Recipe, Taken};
pub use size::{SIZES, bytes_of, nominal_threads, threads_of};

use desk::record::{ParamKind, ParamSpec};

/// The parameter by which a load says what its memory is made of; [`Order::pages`] reads it.
pub const PAGES: ParamSpec = ParamSpec {
    name: "pages",
    about: "of memory: huge (2 MiB, a fault if not granted), base, own (the machine's way)",
    kind: ParamKind::Choice(&["huge", "base", "own"]),
    default: "huge",
};

/// The parameter by which [`threads_of`] takes CPUs.
pub const PLACEMENT: ParamSpec = ParamSpec {
    name: "placement",
    about: "CPUs of the threads: spread takes one of every core first, packed all of a core",
    kind: ParamKind::Choice(&["spread", "packed"]),
    default: "spread",
};

/// The parameter that says how many CPUs [`threads_of`] takes.
pub const THREADS: ParamSpec = ParamSpec {
    name: "threads",
    about: "each on a CPU of its own, with arrays of its own; or all CPUs",
    kind: ParamKind::CountOr("all", 1, 1024),
    default: "1",
};

/// The entry of a workload, of its README and of its modules `spec` (`SPEC`), `run` (`ready`,
/// `nominal`) and `check` (`figures`).
macro_rules! entry {
    () => {{
        static RECIPE: $crate::workload::alone::Recipe = $crate::workload::alone::Recipe {
            spec: &spec::SPEC,
            ready: run::ready,
            figures: check::figures,
            nominal: run::nominal,
        };
        $crate::workload::Entry {
            spec: &spec::SPEC,
            readme: include_str!("README.md"),
            hears: &[],
            make: || Box::new($crate::workload::alone::Alone::new(&RECIPE)),
            part: || $crate::workload::alone::part(&RECIPE),
            model: |scene, job| $crate::workload::alone::model(&RECIPE, scene, job),
        }
    }};
}
pub(super) use entry;
