//! Knows the parameters that loads of one machine have in common, as data.

use desk::record::{ParamKind, ParamRole, ParamSpec};

/// Words for a size: a level of the memory hierarchy. [`super::bytes_of`] reads them.
pub const SIZES: &[&str] = &["L1", "L2", "L3", "memory"];

/// The parameter by which a load says what its memory is made of; [`super::Order::pages`] reads it.
pub const PAGES: ParamSpec = ParamSpec {
    name: "pages",
    about: "of memory: huge (2 MiB, a fault if not granted), base, own (the machine's way)",
    role: None,
    kind: ParamKind::choice(&["huge", "base", "own"]),
    default: "huge",
};

/// The parameter by which [`super::threads_of`] takes CPUs.
pub const PLACEMENT: ParamSpec = ParamSpec {
    name: "placement",
    about: "CPUs of the threads: spread takes one of every core first, packed all of a core",
    role: Some(ParamRole::Place),
    kind: ParamKind::choice(&["spread", "packed"]),
    default: "spread",
};

/// The parameter that says how many CPUs [`super::threads_of`] takes.
pub const THREADS: ParamSpec = ParamSpec {
    name: "threads",
    about: "each on a CPU of its own, with arrays of its own; or all CPUs",
    role: Some(ParamRole::Concurrency),
    kind: ParamKind::count(1, 1024).or(&["all"]),
    default: "1",
};
