//! Knows how the words of sizes and threads of a load become bytes and CPUs of this machine.

use super::recipe::Order;
use crate::metal::{Cpus, Unready, available};

/// Words for a size: a level of the memory hierarchy.
pub const SIZES: &[&str] = &["L1", "L2", "L3", "memory"];

/// Bounds of a size that stands for the third level, bytes.
const L3_BOUNDS: (u64, u64) = (4 << 20, 64 << 20);
/// Bounds of a size that stands for memory, bytes, all threads together.
const MEMORY_BOUNDS: (u64, u64) = (64 << 20, 1 << 30);

/// Bytes that one thread of so many works in, by the parameter `size`: bytes as they are, or a
/// word.
///
/// L1 is three quarters of the first data cache and L2 half of the second, so that stack and tables
/// find room. L3 is an eighth of the last cache, at least four times L2 and at most 64 MiB, for in
/// a guest that cache is the whole host's. `memory` is four times the last cache, at most a quarter
/// of the memory that is available and 1 GiB, shared by the threads.
///
/// # Errors
/// A level that this machine has not.
pub fn bytes_of(order: &Order, cpus: &Cpus, threads: usize) -> Result<u64, Unready> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
    if let Some(bytes) = order.quantity("size") {
        return Ok(bytes as u64);
    }
    let word = order.word("size");
    let lacks = || Unready::NotAvailable(format!("the kernel tells of no cache {word}"));
    let second = || cpus.data_cache(2).ok_or_else(lacks);
    match word {
        "L1" => Ok(cpus.data_cache(1).ok_or_else(lacks)? * 3 / 4),
        "L2" => Ok(second()? / 2),
        "L3" => {
            let third = cpus.data_cache(3).ok_or_else(lacks)?;
            let least = (second()? * 4).max(L3_BOUNDS.0);
            Ok((third / 8).clamp(least, L3_BOUNDS.1.max(least)))
        }
        _ => {
            let wanted = cpus.last_cache().unwrap_or(MEMORY_BOUNDS.0) * 4;
            let most = (available() / 4).min(MEMORY_BOUNDS.1).max(MEMORY_BOUNDS.0);
            Ok(wanted.clamp(MEMORY_BOUNDS.0, most) / threads.max(1) as u64)
        }
    }
}

/// CPUs of the threads of a load, by the parameter `threads` (a number, or `all`) and the order in
/// which this machine's CPUs are taken, one of every core first; packed core by core where the
/// parameter `placement` says so.
///
/// # Errors
/// More threads than CPUs.
pub fn threads_of(order: &Order, cpus: &Cpus) -> Result<Vec<u32>, Unready> {
    let packed = order.word("placement") == "packed";
    let mut all = if packed { cpus.packed() } else { cpus.order() };
    if order.word("threads") == "all" {
        return Ok(all);
    }
    let wanted = usize::try_from(order.count("threads").max(1)).unwrap_or(usize::MAX);
    if wanted > all.len() {
        let have = all.len();
        return Err(Unready::NotAvailable(format!(
            "{wanted} threads want as many CPUs, not {have}"
        )));
    }
    all.truncate(wanted);
    Ok(all)
}
