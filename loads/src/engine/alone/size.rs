//! Knows how the words of sizes and threads of a load become bytes and CPUs of this machine.

use super::recipe::Order;
use rig::lab::cpus::list;
use rig::metal::{Cpus, Unready};

/// Most that a size stands for that means the third level, bytes.
const L3_MOST: u64 = 64 << 20;
/// Bounds of a size that stands for memory, bytes, all threads together: the upper one is twice the
/// last caches where that is more.
const MEMORY_BOUNDS: (u64, u64) = (64 << 20, 1 << 30);

/// Bytes that each thread of a load works in, by the parameter `size`: bytes as they are, or a
/// word. `used` are the CPUs of these threads, of which there is at least one; `available` is the
/// memory that they can have together, bytes.
///
/// A word is the same for all threads, so that the smallest of their shares counts; a share is a
/// cache over the `used` CPUs that share it. L1 is three quarters of the share of the first data
/// cache and L2 half of that of the second, so that stack and tables find room. L3 is an eighth of
/// the share of the third, for in a guest that cache is the whole host's; at least sixteen times
/// the share of the second or half of that of the third, whichever is less, and at most 64 MiB.
/// `memory` is four times all last caches of the machine, shared by the threads: at least 64 MiB,
/// at most 1 GiB or twice these caches, whichever is more, and half of what is available.
///
/// # Errors
/// `NotAvailable`: a level that one of the CPUs has not, a third one of which half is less than
/// one and a half times the share of the second, or less memory than the caches hold.
pub fn bytes_of(order: &Order, cpus: &Cpus, used: &[u32], available: u64) -> Result<u64, Unready> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^53")]
    if let Some(bytes) = order.quantity("size") {
        return Ok(bytes as u64);
    }
    match order.word("size") {
        "L1" => Ok(cpus.share(1, used)? * 3 / 4),
        "L2" => Ok(cpus.share(2, used)? / 2),
        "L3" => {
            let (second, third) = (cpus.share(2, used)?, cpus.share(3, used)?);
            third_level(second, third)
        }
        _ => memory_of(cpus, used.len(), available),
    }
}

/// Bytes that lie in a third cache and, but for a small part, not in a second.
fn third_level(second: u64, third: u64) -> Result<u64, Unready> {
    let bytes = (third / 8).max((second * 16).min(third / 2)).min(L3_MOST);
    if bytes < second + second / 2 {
        return Err(Unready::NotAvailable(format!(
            "a thread has {third} B of the third cache and {second} B of the second, so that its \
             data would lie in both; take fewer threads, or a size in bytes"
        )));
    }
    Ok(bytes)
}

/// Bytes that each of so many threads works in where the size is `memory`, as of [`bytes_of`]: all
/// of them together more than the last caches hold.
///
/// # Errors
/// `NotAvailable`: less memory than the caches hold.
pub fn memory_of(cpus: &Cpus, threads: usize, available: u64) -> Result<u64, Unready> {
    let (least, most) = MEMORY_BOUNDS;
    let caches = cpus.last_caches().unwrap_or(least);
    let wanted = (caches.saturating_mul(4)).max(least).min(most.max(caches.saturating_mul(2)));
    let bytes = wanted.min(available / 2);
    if bytes < caches {
        return Err(Unready::NotAvailable(format!(
            "half of the memory that can be had is {bytes} B, and the last caches hold {caches} B; \
             write a size in bytes, or free memory"
        )));
    }
    Ok(bytes / threads.max(1) as u64)
}

/// Threads of a load in a simulated lab of so many CPUs, by the parameter `threads`.
#[must_use]
pub fn nominal_threads(order: &Order, cpus: usize) -> usize {
    let wanted = usize::try_from(order.count("threads")).unwrap_or(cpus);
    if order.word("threads") == "all" { cpus } else { wanted.max(1) }
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
        let (have, which) = (all.len(), list(&all));
        return Err(Unready::NotAvailable(format!(
            "{wanted} threads want as many CPUs, and {have} may be used ({which}); ask for {have} \
             or fewer, or for \"all\""
        )));
    }
    all.truncate(wanted);
    Ok(all)
}
