//! Knows which keys a physics has: those of the built-in one, and the tables whose keys are free.
//!
//! Must not know what values may be.

use super::read::{DEFAULT, SimError};
use super::resource::Resource;
use desk::plan::remedy;
use toml::Table;
use toml::de::{DeTable, DeValue};

/// Keys of a planted fault.
const FAULT: [&str; 7] = ["kind", "trial", "share", "visits", "host", "factor", "size"];
/// Keys of something rare.
const RARE: [&str; 3] = ["share", "size", "spread"];
/// Keys of a wrong clock.
const CLOCK: [&str; 3] = ["rate", "step", "at"];

/// Refuses the first key, in the order of the text, that no physics has.
///
/// # Errors
/// Its line, and the nearest that is known.
pub(super) fn check(text: &str) -> Result<(), SimError> {
    // What is no TOML is refused elsewhere, in the words of the parser.
    let Ok(own) = DeTable::parse(text) else { return Ok(()) };
    let built_in: Table = toml::from_str(DEFAULT).map_err(Box::new)?;
    let mut unknown = Vec::new();
    collect(own.get_ref(), &[], &built_in, &mut unknown);
    let first = unknown.into_iter().min_by_key(|(at, _, _)| *at);
    let Some((at, path, known)) = first else { return Ok(()) };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let name = path.last().map_or("", String::as_str);
    let (key, remedy) = (path.join("."), remedy(name, &known));
    Err(SimError::UnknownKey { line: line_at(text, at), key, remedy })
}

/// Where a key begins, the path to it, and what is known beside it.
type Unknown = (usize, Vec<String>, Vec<String>);

fn collect(table: &DeTable<'_>, path: &[String], built_in: &Table, unknown: &mut Vec<Unknown>) {
    let known = known(path, built_in);
    for (key, value) in table {
        let mut here = path.to_vec();
        here.push(key.get_ref().to_string());
        let strange = known.as_ref().is_some_and(|all| !all.contains(&here[path.len()]));
        if let (true, Some(known)) = (strange, &known) {
            unknown.push((key.span().start, here, known.clone()));
            continue;
        }
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, &here, built_in, unknown),
            DeValue::Array(items) => {
                for inner in items.iter().filter_map(|item| item.get_ref().as_table()) {
                    collect(inner, &here, built_in, unknown);
                }
            }
            _ => {}
        }
    }
}

/// The keys that a table may have; none where they are free, or where there is no table.
fn known(path: &[String], built_in: &Table) -> Option<Vec<String>> {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["links" | "clocks" | "effects" | "capacities"] | ["effects" | "capacities", _] => None,
        ["faults"] => words(&FAULT),
        ["clocks", _] => words(&CLOCK),
        ["noise", "dips" | "outliers" | "slow"] => words(&RARE),
        ["limits", "shares"] | ["capacities", _, _] => words(&Resource::ALL.map(|(word, _)| word)),
        ["links", _] => known(&["link".to_owned()], built_in),
        [] => {
            let mut all: Vec<String> = built_in.keys().cloned().collect();
            all.push("faults".into());
            Some(all)
        }
        names => {
            let inner = |table: &Table, name: &&str| table.get(*name)?.as_table().cloned();
            let table = names.iter().try_fold(built_in.clone(), |table, name| inner(&table, name));
            table.map(|table| table.keys().cloned().collect())
        }
    }
}

fn line_at(text: &str, offset: usize) -> u32 {
    let breaks = text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}
