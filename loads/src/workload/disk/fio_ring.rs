//! Knows the keys by which a job of fio says how its ring is used, and which parameters they are.
//!
//! fio has no key for `task_run`: from 3.33 on it asks for `DEFER_TASKRUN`, and goes without where
//! the kernel refuses (`engines/io_uring.c`). Must not know what is read and written.

use super::spec::RING;
use crate::engine::alone::Order;

/// Keys that become parameters.
pub const TAKEN: [&str; 6] = [
    "fixedbufs",
    "iodepth_batch",
    "iodepth_batch_complete_max",
    "iodepth_batch_submit",
    "registerfiles",
    "sqthread_poll",
];

/// Of a key that is true or false; one without a value is true.
const ON: &str = "1";
const OFF: &str = "0";
/// What the record says of a ring that has them.
const REGISTERED: &str = "registered buffers";

const POLLED: &str = RING[0].name;
const BUFFERS: &str = RING[1].name;
const SUBMISSION: &str = RING[2].name;

/// The parameters of a job with such a depth, by a reader of its keys: each its line and its value.
///
/// # Errors
/// A key that has no effect without a ring, or whose meaning no parameter has.
pub fn params<'t>(
    get: impl Fn(&str) -> Option<(usize, &'t str)>,
    (ring, depth): (bool, u64),
) -> Result<Vec<(&'static str, &'static str)>, String> {
    if !ring {
        let Some((key, (line, _))) = TAKEN.iter().find_map(|key| Some((key, get(key)?))) else {
            return Ok(Vec::new());
        };
        return Err(format!(
            "line {line}: {key} has no effect in fio without io_uring; write ioengine = io_uring, \
             or leave it out"
        ));
    }
    let is_set = |key: &str| match get(key) {
        None | Some((_, OFF)) => Ok(None),
        Some((line, ON)) => Ok(Some(line)),
        Some((line, word)) => Err(format!("line {line}: {key} = '{word}': write 1 or 0")),
    };
    let polled = is_set("sqthread_poll")?;
    // The file of a polled ring fio registers in any case.
    let (buffers, files) = (is_set("fixedbufs")?, is_set("registerfiles")?.or(polled));
    if let (Some(line), None) | (None, Some(line)) = (buffers, files) {
        return Err(format!(
            "line {line}: of a ring the file and the buffers are registered, or neither; write \
             fixedbufs and registerfiles, or leave out both (sqthread_poll registers the file)"
        ));
    }
    let word = |on: bool| if on { "on" } else { "off" };
    Ok(vec![
        (POLLED, word(polled.is_some())),
        (BUFFERS, word(buffers.is_some())),
        (SUBMISSION, submission(get, depth)?),
    ])
}

/// How many operations a call hands over. fio fills a batch and hands it over when it is full or
/// when it waits: all that there is room for takes both keys.
fn submission<'t>(
    get: impl Fn(&str) -> Option<(usize, &'t str)>,
    depth: u64,
) -> Result<&'static str, String> {
    let number = |key: &str| match get(key) {
        None => Ok(None),
        Some((line, word)) => match word.parse::<u64>() {
            Ok(number) => Ok(Some((line, number))),
            Err(_) => Err(format!("line {line}: {key} = '{word}': write a whole number")),
        },
    };
    let batch = number("iodepth_batch_submit")?.or(number("iodepth_batch")?);
    let most = number("iodepth_batch_complete_max")?.map_or(1, |(_, most)| most);
    match batch {
        None | Some((_, 1)) => Ok("each"),
        Some(_) if depth <= 1 => Ok("each"),
        Some((_, batch)) if (batch == 0 || batch >= depth) && most >= depth => Ok("batch"),
        Some((line, batch)) => Err(format!(
            "line {line}: iodepth_batch_submit = {batch} with iodepth_batch_complete_max = {most}: \
             a call hands over one operation, or all that there is room for; write 1, or {depth} \
             for both"
        )),
    }
}

/// The keys of a load with such a depth, whose records say this of its ring.
///
/// # Errors
/// What no key of fio says.
pub fn keys(order: &Order, depth: u64, granted: &str) -> Result<Vec<String>, String> {
    let polled = order.word(POLLED) == "on";
    let registered = match order.word(BUFFERS) {
        "on" => true,
        "off" => false,
        _ => granted.contains(REGISTERED),
    };
    if polled && !registered {
        return Err(format!(
            "{POLLED} = on without registered buffers: fio registers the file of such a ring in \
             any case; take {BUFFERS} = on"
        ));
    }
    let mut rows = Vec::new();
    if order.word(SUBMISSION) == "batch" {
        rows.push(format!("iodepth_batch_submit={depth}"));
        rows.push(format!("iodepth_batch_complete_max={depth}"));
    }
    for (is_on, key) in
        [(registered, "fixedbufs"), (registered, "registerfiles"), (polled, "sqthread_poll")]
    {
        rows.extend(is_on.then(|| format!("{key}=1")));
    }
    Ok(rows)
}
