//! Knows which stored runs are the sessions of either side of a comparison: those that were named
//! and, of one run a side, those of the store that have its plan and its environment.
//!
//! Never: how sides compare.

use super::error::CliError;
use super::{progress, store};
use desk::record::Run;
use desk::verdict::{Grouped, Sides, group};
use rig::store::{RunState, Store};
use std::path::{Path, PathBuf};

/// What a run's records are called in its directory.
const RECORDS: &str = "records.json";
/// Most sessions of a group that are taken from the store, the newest.
const MOST: usize = 20;

/// What the command line says of the runs.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'h> {
    /// The sessions of A and those of B, with commas between them.
    pub names: [&'h str; 2],
    /// Those that enter the spread alone.
    pub spread: Option<&'h str>,
    /// Nothing but what was named.
    pub alone: bool,
    /// File in which runs are kept.
    pub store: Option<&'h Path>,
}

/// The runs of a comparison.
pub struct Taken {
    /// Of A, of B, and of neither.
    groups: [Vec<Run>; 3],
}

/// The groups of a comparison by reference.
pub struct Groups<'r>([Vec<&'r Run>; 3]);

impl Taken {
    /// The runs, to be handed on as [`Sides`].
    pub fn groups(&self) -> Groups<'_> {
        Groups(self.groups.each_ref().map(|group| group.iter().collect()))
    }

    /// The first of either side.
    ///
    /// # Errors
    /// A side without a run.
    pub fn firsts(&self) -> Result<[&Run; 2], CliError> {
        match (self.groups[0].first(), self.groups[1].first()) {
            (Some(a), Some(b)) => Ok([a, b]),
            _ => Err(desk::verdict::CompareError::NoRun.into()),
        }
    }
}

impl Groups<'_> {
    /// As the comparison takes them.
    pub fn sides(&self) -> Sides<'_> {
        let Self([a, b, others]) = self;
        Sides { a, b, others }
    }
}

/// Takes the runs that were named and, where one run a side was, further sessions of the store.
///
/// # Errors
/// A run that is not there or cannot be read, or that was named twice.
pub fn take(asked: &Asked<'_>) -> Result<Taken, CliError> {
    let load = |name: &str| -> Result<Vec<Run>, CliError> {
        named(name).into_iter().map(|name| load(name, asked.store)).collect()
    };
    let [a, b] = asked.names;
    let groups = [load(a)?, load(b)?, asked.spread.map_or(Ok(Vec::new()), load)?];
    let mut taken = Taken { groups };
    let mut ids: Vec<&str> = taken.groups.iter().flatten().map(|run| run.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(CliError::SameRun { run: twice[0].into() });
    }
    let are_stored = [a, b].iter().all(|name| !path(name).exists());
    let are_single = taken.groups.each_ref().map(Vec::len) == [1, 1, 0];
    if are_stored && are_single && !asked.alone {
        discover(&mut taken, &store::read(asked.store)?)?;
    }
    Ok(taken)
}

/// The names between the commas; of a path with a comma that is there, the path.
fn named(name: &str) -> Vec<&str> {
    if path(name).exists() {
        return vec![name];
    }
    name.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The records in a directory, or the file itself.
fn path(name: &str) -> PathBuf {
    let given = PathBuf::from(name);
    if given.is_dir() { given.join(RECORDS) } else { given }
}

/// A run by the file or the directory of its records, or by its id in the store.
fn load(name: &str, kept: Option<&Path>) -> Result<Run, CliError> {
    let path = path(name);
    if !path.exists() {
        return Ok(store::read(kept)?.load(name)?);
    }
    let text = std::fs::read_to_string(&path)
        .map_err(|source| CliError::NoRun { name: name.into(), source })?;
    serde_json::from_str(&text).map_err(|source| CliError::BadRun { path, source })
}

/// Adds the complete runs of the store that are sessions of A's or of B's set-up, and says which.
fn discover(taken: &mut Taken, store: &Store) -> Result<(), CliError> {
    let [a, b] = taken.firsts()?;
    let mut heads = Vec::new();
    for line in store.list()? {
        let is_named = [a, b].iter().any(|run| run.id == line.id);
        let is_whole = line.state == RunState::Complete && line.version == a.version;
        if !is_named && is_whole {
            heads.push(store.head(&line.id)?);
        }
    }
    let Grouped { a: of_a, b: of_b, others } = group(a, b, &heads.iter().collect::<Vec<_>>());
    let words = ["A", "B", "the set-up of both, for the spread alone"];
    for ((places, group), word) in [of_a, of_b, others].iter().zip(&mut taken.groups).zip(words) {
        let runs = places.iter().take(MOST).map(|at| store.load(&heads[*at].id));
        let runs = runs.collect::<Result<Vec<Run>, _>>()?;
        if !runs.is_empty() {
            let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
            let (ids, found) = (ids.join(", "), places.len());
            let of = if found > MOST { format!(", the newest of {found}") } else { String::new() };
            progress::say(&format!(
                "further sessions of {word}{of}: {ids}; --alone leaves them out"
            ));
        }
        group.extend(runs);
    }
    Ok(())
}
