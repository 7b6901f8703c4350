//! Knows which loop a load point means on this machine, and puts it on its CPUs.
//!
//! Must not know what its figures mean.

use crate::engine::alone::{Order, Ready, bytes_of, nominal_threads, threads_of};
use rig::metal::kernel::{Isa, Operation, Row, Store, Walk, find, spread};
use rig::metal::{Cpus, Unready, available};
use std::env::consts::ARCH;
use std::iter;
use std::path::Path;

/// All that have a word.
const ISAS: [Isa; 6] = [Isa::Scalar, Isa::Sse, Isa::Avx2, Isa::Avx512, Isa::Rep, Isa::RepQ];
/// What is larger than any second cache may be walked page by page past the caches.
const BEYOND_SECOND: usize = 4 << 20;
/// What is larger than any first cache may be read from several places at once.
const BEYOND_FIRST: usize = 128 << 10;
/// What was asked for in words that stay as they are.
const ASKED: [&str; 3] = ["pages", "placement", "store"];
/// Work of a thread in a simulated lab, B/s.
const NOMINAL: f64 = 12e9;

/// Makes the load ready.
///
/// # Errors
/// What this machine lacks, or memory that it did not give.
pub(super) fn ready(order: &Order) -> Result<Ready, Unready> {
    let cpus = Cpus::read(Path::new("/"));
    let threads = threads_of(order, &cpus)?;
    let bytes = bytes_of(order, &cpus, &threads, available())?;
    let rows = choose(order, (bytes, bytes * threads.len() as u64))?;
    let (members, mut made_with) = spread(&rows, bytes, &threads, order.pages(), order.seed)?;
    made_with.extend(order.words(&ASKED));
    Ok(Ready { members, made_with })
}

/// The operation that was asked for.
pub(super) fn operation(order: &Order) -> Operation {
    let word = order.word("operation");
    Operation::ALL.into_iter().find(|o| o.word() == word).unwrap_or(Operation::Triad)
}

/// The kind of store that was asked for.
pub(super) fn store(order: &Order) -> Store {
    let past = order.word("store") == Store::NonTemporal.word();
    if past { Store::NonTemporal } else { Store::Temporal }
}

/// The loops for a load point, of which the quickest shall run, the plain one first: arrays of so
/// many bytes together, of one thread and of all.
///
/// # Errors
/// An operation that does not exist in that way.
pub(super) fn choose(
    order: &Order,
    (bytes, all): (u64, u64),
) -> Result<Vec<&'static Row>, Unready> {
    let (operation, store) = (operation(order), store(order));
    let array = |bytes: u64| usize::try_from(bytes / operation.arrays()).unwrap_or(usize::MAX);
    let other = match (operation, store) {
        (Operation::Read, _) if array(bytes) > BEYOND_FIRST => Some(Walk::Streams),
        (_, Store::NonTemporal) if array(all) > BEYOND_SECOND => Some(Walk::Pages),
        _ => None,
    };
    let row = |isa: Isa| find(operation, isa, store, Walk::Straight);
    let word = order.word("isa");
    let asked = ISAS.into_iter().find(|isa| isa.word() == word);
    let found = match asked {
        Some(isa) => row(isa),
        None => Isa::WIDEST.into_iter().filter_map(row).find(|row| row.missing().is_none()),
    };
    let found = found.ok_or_else(|| lacks(operation, store, asked))?;
    let other = other.and_then(|walk| find(operation, found.isa, store, walk));
    Ok(iter::once(found).chain(other).collect())
}

/// Why there is no such loop.
fn lacks(operation: Operation, store: Store, asked: Option<Isa>) -> Unready {
    let (what, how) = (operation.word(), store.word());
    Unready::NotAvailable(match asked {
        _ if operation == Operation::Read && store == Store::NonTemporal => {
            "a read stores nothing, past the caches or through them".into()
        }
        Some(isa @ (Isa::Rep | Isa::RepQ)) if cfg!(target_arch = "x86_64") => {
            format!("{} copies and writes, and how it stores is its own affair", isa.word())
        }
        Some(isa) => format!("{ARCH} has no {what} ({how}) with {}", isa.word()),
        None => format!("{ARCH} has no {what} ({how})"),
    })
}

/// Work of each thread in a second in a simulated lab, bytes.
pub(super) fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    vec![NOMINAL; nominal_threads(order, cpus)]
}
