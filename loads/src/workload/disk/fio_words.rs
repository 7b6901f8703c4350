//! Knows fio's words for places that are not uniform, and for content that compresses or repeats.
//!
//! Must not know job files.

use super::spec::{COMPRESSIBLE, DUPLICATED, HOT, HOT_PLACES, HOT_SHARE, LOCALITY, SKEW, ZIPF};
use crate::engine::access::{Access, Line, SECTOR};
use crate::engine::alone::Order;

/// The key of places at random that are not all alike.
pub(super) fn located(order: &Order, access: &Access) -> Result<Option<String>, String> {
    let (share, places) = (order.count(HOT_SHARE.name), order.count(HOT_PLACES.name));
    let (skew, depth) = (order.count(SKEW.name), order.count("queue_depth"));
    match order.word(LOCALITY.name) {
        ZIPF => {}
        HOT => {
            let (others, rest) = (100 - share.min(100), 100 - places.min(100));
            return Ok(Some(format!("random_distribution=zoned:{share}/{places}:{others}/{rest}")));
        }
        _ => return Ok(None),
    }
    let least = access.lines.iter().map(|line| line.size).min().unwrap_or(SECTOR);
    let align = access.lines.first().map_or(SECTOR, Line::aligned);
    if skew == 100 {
        return Err("skew = 100 is the exponent 1, which fio refuses; take such as 101".into());
    }
    if order.word("engine") != "uring" && depth > 1 {
        return Err(format!(
            "locality = zipf with engine = pread and queue_depth = {depth}: fio has a job for \
             each slot of the queue, with hot blocks of its file; take engine = uring"
        ));
    }
    if least != align {
        return Err(format!(
            "locality = zipf: fio ranks blocks of the smallest size, {least} B, and these places \
             are multiples of {align} B; take a pattern in which both are the same"
        ));
    }
    Ok(Some(format!("random_distribution=zipf:{}", hundredths(skew))))
}

/// The keys of content that can be compressed or is there more than once. fio does both by pieces
/// of a buffer.
pub(super) fn filled(order: &Order, access: &Access) -> Result<Vec<String>, String> {
    let (zeros, copies) = (order.count(COMPRESSIBLE.name), order.count(DUPLICATED.name));
    let block = access.lines.first().map_or(SECTOR, |line| line.size);
    let mut rows = Vec::new();
    rows.extend((zeros > 0).then(|| format!("buffer_compress_percentage={zeros}")));
    if copies > 0 {
        rows.push(format!("dedupe_percentage={copies}"));
        rows.push(format!("buffer_compress_chunk={block}"));
    }
    if zeros > 0 && copies > 0 && block != SECTOR {
        return Err(format!(
            "compressible = {zeros} with duplicated = {copies}: fio repeats the pieces that end \
             with zeros, sectors or blocks, and this load repeats blocks of which each sector ends \
             with zeros; take one of them as 0"
        ));
    }
    Ok(rows)
}

/// A number of hundredths as fio writes it: 120 are 1.2.
#[expect(clippy::cast_precision_loss, reason = "up to 400")]
fn hundredths(number: u64) -> f64 {
    number as f64 / 100.0
}

/// The exponent of Zipf's law in hundredths: `zipf:1.2`, or `zipf`, of which fio takes 1.1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 400")]
pub(super) fn exponent(word: &str) -> Option<u64> {
    let rest = word.strip_prefix("zipf")?;
    let number = if rest.is_empty() { "1.1" } else { rest.strip_prefix(':')? };
    let hundreds = number.parse::<f64>().ok()? * 100.0;
    let is_whole = (hundreds - hundreds.round()).abs() < 1e-6;
    (is_whole && (1.0..=400.0).contains(&hundreds.round())).then_some(hundreds.round() as u64)
}

/// Operations and bytes of a hundred of the first of two zones, `zoned:90/10:10/90`.
pub(super) fn zones(word: &str) -> Option<(u64, u64)> {
    let (first, second) = word.strip_prefix("zoned:")?.split_once(':')?;
    let pair = |zone: &str| {
        let (operations, bytes) = zone.split_once('/')?;
        operations.parse::<u64>().ok().zip(bytes.parse::<u64>().ok())
    };
    let ((share, places), (others, rest)) = pair(first).zip(pair(second))?;
    let all = (share.checked_add(others), places.checked_add(rest));
    let is_two = (1..100).contains(&share) && (1..100).contains(&places);
    (is_two && all == (Some(100), Some(100))).then_some((share, places))
}
