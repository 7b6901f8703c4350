//! Knows which loop a way of copying means on this machine, and puts it on its CPUs.
//!
//! Must not know what its figures mean.

use crate::engine::alone::{Order, Ready, bytes_of, nominal_threads, threads_of};
use desk::record::Value;
use rig::lab::environment::{cpu_flag, libraries};
use rig::metal::kernel::{Isa, Operation, Row, Store, Walk, find, spread};
use rig::metal::{Cpus, Unready, available};
use std::env::consts::ARCH;
use std::path::Path;

/// An array of more bytes may best be copied by fast `rep movsb`, as glibc does.
const BEYOND_FIRST: u64 = 32 << 10;
/// Arrays of more bytes, those of all threads together, are best copied past the caches.
const BEYOND_CACHES: u64 = 24 << 20;
/// What was asked for in words that stay as they are.
const ASKED: [&str; 2] = ["pages", "placement"];
/// Work of a thread in a simulated lab, B/s.
const NOMINAL: f64 = 14e9;

/// Makes the load ready.
///
/// # Errors
/// What this machine lacks, or memory that it did not give.
pub(super) fn ready(order: &Order) -> Result<Ready, Unready> {
    let cpus = Cpus::read(Path::new("/"));
    let threads = threads_of(order, &cpus)?;
    let bytes = bytes_of(order, &cpus, &threads, available())?;
    let all = bytes * threads.len() as u64;
    let rows = choose(order.word("algorithm"), (bytes, all), has_fast_strings())?;
    let (members, mut made_with) = spread(&rows, bytes, &threads, order.pages(), order.seed)?;
    made_with.extend(order.words(&ASKED));
    if rows.iter().any(|row| row.isa == Isa::Libc) {
        let libc = libraries().into_iter().find(|fact| fact.key == "lib.libc");
        made_with.extend(libc.map(|fact| ("libc".into(), Value::Word(fact.value))));
    }
    Ok(Ready { members, made_with })
}

/// Whether this CPU says that its string instructions are fast (`fsrm`, which is newer than `erms`
/// and stands where both are).
fn has_fast_strings() -> bool {
    cpu_flag(Path::new("/"), "fsrm") == Some(true)
}

/// The loops that a word means for two arrays of so many bytes together, of one thread and of all,
/// on a CPU whose string instructions are fast or not; of several the quickest, the plain one
/// first.
///
/// # Errors
/// A way that kinds of CPU like this one do not know.
pub(super) fn choose(
    algorithm: &str,
    (bytes, all): (u64, u64),
    fast: bool,
) -> Result<Vec<&'static Row>, Unready> {
    let widest = |store, walk| {
        let row = |isa| find(Operation::Copy, isa, store, walk);
        Isa::WIDEST.into_iter().filter_map(row).find(|row| row.missing().is_none())
    };
    let (past, through) = (Store::NonTemporal, Store::Temporal);
    let straight = |store| widest(store, Walk::Straight);
    let found = match algorithm {
        "best" if all / 2 > BEYOND_CACHES => [straight(past), widest(past, Walk::Pages)],
        "best" if fast && bytes / 2 > BEYOND_FIRST => [straight(through), plain("rep_movsb")],
        "best" => [straight(through), None],
        "pages" => [widest(past, Walk::Pages), None],
        "block_4k" => [widest(past, Walk::Blocks(4 << 10)), None],
        "block_16k" => [widest(past, Walk::Blocks(16 << 10)), None],
        word => [plain(word), None],
    };
    let found: Vec<_> = found.into_iter().flatten().collect();
    if found.is_empty() {
        return Err(Unready::NotAvailable(format!(
            "{ARCH} knows no copy '{algorithm}'; take one that every architecture has, such as \
             registers, libc or best"
        )));
    }
    Ok(found)
}

/// The loop of a word that names instructions, and how they load and store.
fn plain(word: &str) -> Option<&'static Row> {
    let (rest, walk) = match word.strip_suffix("_prefetched") {
        Some(rest) => (rest, Walk::Prefetched),
        None => (word, Walk::Straight),
    };
    let (rest, store) = match rest.strip_suffix("_nt") {
        Some(rest) => (rest, Store::NonTemporal),
        None => (rest, Store::Temporal),
    };
    let isa = match rest {
        "libc" => Isa::Libc,
        "compiler" => Isa::Compiler,
        "registers" => Isa::Scalar,
        "rep_movsb" => Isa::Rep,
        "rep_movsq" => Isa::RepQ,
        "sse" => Isa::Sse,
        "avx2" => Isa::Avx2,
        "avx512" => Isa::Avx512,
        _ => return None,
    };
    find(Operation::Copy, isa, store, walk)
}

/// Work of each thread in a second in a simulated lab, bytes.
pub(super) fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    vec![NOMINAL; nominal_threads(order, cpus)]
}
