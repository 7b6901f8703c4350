//! Knows the machine as hot loops need it: its CPUs and caches, pages, clocks, what disturbs.
//!
//! Gives: [`Gang`] of pinned threads that sample [`Hot`] loops, [`Memory`], [`Cpus`], [`Guard`].
//! Never: which load is made of them, or what a figure means.
//! Start reading at `gang.rs`.

pub mod chase;
mod core_clock;
mod cpus;
mod gang;
mod guard;
pub mod kernel;
mod pages;
pub mod pair;
mod stored;

pub use core_clock::core_hertz;
pub use cpus::{CacheOf, Cpus, Thread, pin};
pub use desk::record::{DIGEST, digest};
pub use gang::{Gang, Hot, Made, Member, Paced, Sampled, Series, Span, Together, Unready};
pub use guard::{Guard, Taint, can_watch};
pub use pages::{Memory, PageSize, available, huge_enough, room_for};
pub use stored::Stored;
