//! Knows how a bundle lies in a file: gzip and base64 in a page. Reads what strangers wrote.

use super::error::{BundleError, is_hidden};
use super::text::newer;
use super::{Bundle, ELEMENT};
use crate::report::error::ReportError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use desk::plan::{BLOCKS_BOUNDS, BOOTS_BOUNDS, TRIALS};
use desk::record::{Plan, RUN_SCHEMA, Run};
use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde_json::Value;
use std::cmp::Ordering;
use std::io::{Read as _, Write as _};

/// Largest file that is read, bytes: plain records of the largest plan.
pub const FILE_MAX: u64 = 1024 * MIB;
/// Largest unpacked bundle, MiB: columns of the largest plan.
pub(super) const UNPACKED_MAX: u64 = 128;
const MIB: u64 = 1 << 20;
/// Longest name of a run.
const ID_MAX: usize = 80;
/// Most factors of a plan, and most swept parameters of a load.
const NAMES_MAX: usize = 32;
/// Whose text may have several lines; it is never printed on a line of its own.
const LINES: [&str; 4] = ["plan_text", "question", "environments", "records"];

impl Bundle<'_> {
    /// The canonical text as gzip, without a time or a name in its head, as base64.
    ///
    /// # Errors
    /// As [`Bundle::to_json`].
    pub fn packed(&self) -> Result<String, ReportError> {
        packed(&self.to_json()?)
    }
}

/// A text as gzip, without a time or a name in its head, as base64.
///
/// # Errors
/// None in memory.
pub(in crate::report) fn packed(text: &str) -> Result<String, ReportError> {
    let all = || -> std::io::Result<Vec<u8>> {
        let mut gzip = GzBuilder::new().write(Vec::new(), Compression::best());
        gzip.write_all(text.as_bytes())?;
        gzip.finish()
    };
    let bytes = all().map_err(|e| ReportError::Bundle(e.to_string()))?;
    Ok(STANDARD.encode(bytes))
}

impl Bundle<'static> {
    /// Reads a file: a page of stend, the JSON of a bundle, or records.
    ///
    /// Nothing in it is executed, no name in it becomes a path, and what it may take is bounded.
    ///
    /// # Errors
    /// A file that is none of these, too large, damaged, impossible or from the future.
    pub fn read(file: &[u8]) -> Result<Self, BundleError> {
        if file.len() as u64 > FILE_MAX {
            return Err(BundleError::TooLarge { what: "the file", most: FILE_MAX / MIB });
        }
        let text = std::str::from_utf8(file).map_err(|_| BundleError::NoBundle)?;
        if text.trim_start().starts_with('<') {
            return Self::from_json(&unpacked(element(text)?)?);
        }
        if !text.trim_start().starts_with(['{', '[']) {
            return Err(BundleError::NoBundle);
        }
        Self::from_json(text)
    }
}

/// What stands in the one element of the page that holds a bundle.
fn element(page: &str) -> Result<&str, BundleError> {
    match page.matches(ELEMENT).count() {
        0 => Err(BundleError::NoBundle),
        1 => {
            let rest = page.split_once(ELEMENT).map_or("", |(_, rest)| rest);
            let whole = rest.split_once("</script>").map(|(inside, _)| inside.trim());
            whole.ok_or_else(|| BundleError::Damaged("the page ends within it".into()))
        }
        more => Err(BundleError::SeveralBundles(more)),
    }
}

fn unpacked(packed: &str) -> Result<String, BundleError> {
    let bytes = STANDARD.decode(packed).map_err(|e| BundleError::Damaged(e.to_string()))?;
    let mut text = String::new();
    let mut gzip = GzDecoder::new(bytes.as_slice()).take(UNPACKED_MAX * MIB + 1);
    gzip.read_to_string(&mut text).map_err(|e| BundleError::Damaged(e.to_string()))?;
    if text.len() as u64 > UNPACKED_MAX * MIB {
        return Err(BundleError::TooLarge { what: "the unpacked bundle", most: UNPACKED_MAX });
    }
    Ok(text)
}

/// Whether a name can stand in a path and in a command.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty()
        && name.len() <= ID_MAX
        && !name.starts_with(['.', '-'])
        && name.chars().all(plain)
}

/// Refuses a run of another schema, by what it says of its writer.
pub(super) fn known(schema: u64, version: &str) -> Result<(), BundleError> {
    match schema.cmp(&u64::from(RUN_SCHEMA)) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(BundleError::Older),
        Ordering::Greater => Err(newer(schema, version)),
    }
}

/// Refuses what no stend writes: its name becomes that of a directory, its words are printed on
/// terminals, and its plan says how much there is to compute.
pub(super) fn refuse(run: &Run) -> Result<(), BundleError> {
    let id = &run.id;
    if !is_plain(id) {
        return Err(BundleError::Impossible(
            "the name of a run is not letters, digits, '-', '_' and '.' alone".into(),
        ));
    }
    if let Some(what) = impossible(run) {
        return Err(BundleError::Impossible(what));
    }
    let value = serde_json::to_value(super::text::bare(run)).unwrap_or_default();
    let records = run.records.iter().filter_map(|r| serde_json::to_value(r).ok());
    if is_printable(&value, false) && records.into_iter().all(|r| is_printable(&r, true)) {
        return Ok(());
    }
    Err(BundleError::Impossible(format!("control characters in the words of run {id}")))
}

/// What no plan that was read can say, before anything is computed that takes the longer the more
/// there is.
fn impossible(run: &Run) -> Option<String> {
    let Plan { loads, factors, method, .. } = &run.plan;
    let blocks = method.blocks;
    let boots = method.boots;
    if u64::from(boots) > BOOTS_BOUNDS.1 {
        return Some(format!("a plan of {boots} boots a level"));
    }
    if !(BLOCKS_BOUNDS.0..=BLOCKS_BOUNDS.1).contains(&blocks.into()) {
        return Some(format!("a plan of {blocks} blocks"));
    }
    let trials = trials(&run.plan);
    if trials > TRIALS {
        return Some(format!("a plan of {trials} trials"));
    }
    let names = loads.iter().map(|load| load.over.len()).chain([factors.len()]).max();
    if names.is_some_and(|names| names > NAMES_MAX) {
        return Some(format!("a plan that varies more than {NAMES_MAX} things"));
    }
    let values = loads.iter().flat_map(|load| load.over.iter().map(|(_, values)| values.len()));
    let levels = factors.iter().map(|factor| factor.levels.len());
    if loads.is_empty() || values.chain(levels).any(|length| length == 0) {
        return Some("a plan that varies something over nothing".into());
    }
    if !run.records.iter().all(|record| record.outcome.flows.fit()) {
        return Some("flows whose rows do not fit their columns".into());
    }
    let late = run.last_block();
    let blocks = blocks.saturating_mul(run.plan.boots().max(1));
    late.filter(|block| *block > blocks).map(|block| format!("block {block} of {blocks}"))
}

/// Trials of a plan. An empty list counts as one value: it must not hide how long the others are.
fn trials(plan: &Plan) -> u64 {
    let product = |lengths: &mut dyn Iterator<Item = usize>| {
        lengths.fold(1_u64, |all, length| all.saturating_mul(length.max(1) as u64))
    };
    let points = plan.loads.iter().map(|load| product(&mut load.over.iter().map(|o| o.1.len())));
    let points = points.fold(0_u64, u64::saturating_add).max(1);
    let treatments = product(&mut plan.factors.iter().map(|factor| factor.levels.len()));
    let rounds = plan.method.boots.max(1);
    let visits = u64::from(plan.method.blocks.max(1)).saturating_mul(rounds.into());
    points.saturating_mul(treatments).saturating_mul(visits)
}

/// Whether no word commands a terminal; `lines`: whether a text may have several lines.
fn is_printable(value: &Value, lines: bool) -> bool {
    let clean =
        |text: &str| text.chars().all(|c| !is_hidden(c) || lines && matches!(c, '\n' | '\t'));
    match value {
        Value::String(text) => clean(text),
        Value::Array(items) => items.iter().all(|item| is_printable(item, lines)),
        Value::Object(items) => items.iter().all(|(key, item)| {
            clean(key) && is_printable(item, lines || LINES.contains(&key.as_str()))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}
