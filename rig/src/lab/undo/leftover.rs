//! Knows what dead conductors left on the machine: journals, and outside any journal agents, names
//! and groups.
//!
//! Must not remove anything unasked.

use super::agents::{Agent, agents};
use super::error::UndoError;
use super::restore;
use super::story::{self, Story};
use crate::lab::{cgroup, namespace};
use std::fmt;
use std::path::{Path, PathBuf};

/// Something that no living conductor owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// An agent whose conductor is gone.
    Agent(Agent),
    /// The name of a namespace in which no process lives.
    Namespace(PathBuf),
    /// A control group of a process number that no longer is.
    Group(PathBuf),
}

/// Everything of that kind that can be seen. What an agent lives in shows after its end.
#[must_use]
pub fn leftovers() -> Vec<Leftover> {
    let root = Path::new("/");
    let orphans = agents(root).into_iter().filter(|agent| agent.is_orphan(root));
    let names = namespace::stale().into_iter();
    let groups = cgroup::stale().into_iter();
    orphans
        .map(Leftover::Agent)
        .chain(names.map(Leftover::Namespace))
        .chain(groups.map(Leftover::Group))
        .collect()
}

/// All that dead conductors left, a line each; what stands in a journal follows it, indented.
/// Changes nothing.
#[must_use]
pub fn left() -> Vec<String> {
    let journals = story::directory().and_then(|directory| story::journals(&directory));
    // Why no journal can be kept is a capability.
    let mut found: Vec<String> =
        journals.unwrap_or_default().iter().flat_map(|path| left_in(path)).collect();
    found.extend(leftovers().iter().map(ToString::to_string));
    found
}

/// A journal with what stands in it; nothing of a conductor that lives.
fn left_in(path: &Path) -> Vec<String> {
    match Story::read(path) {
        Ok(story) if story.owner.is_alive(Path::new("/")) => Vec::new(),
        Ok(story) => {
            let (pid, path) = (story.owner.pid, path.display());
            let head = format!("journal of dead conductor {pid}: {path}");
            let open = story.open().into_iter();
            let open = open.map(|(entry, _)| format!("  {entry}, is {}", restore::now(entry)));
            std::iter::once(head).chain(open).collect()
        }
        Err(e) => vec![e.to_string()],
    }
}

impl Leftover {
    /// Removes it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn remove(&self) -> Result<(), UndoError> {
        let fail = |path: &Path| {
            let path = path.to_path_buf();
            move |source| UndoError::Setting { path, source }
        };
        match self {
            Self::Agent(agent) => {
                agent.end();
                Ok(())
            }
            Self::Namespace(path) => namespace::remove_empty(path).map_err(fail(path)),
            Self::Group(path) => cgroup::remove(path).map_err(fail(path)),
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => write!(
                f,
                "agent {} (host {}) of conductor {}, which is gone",
                agent.pid, agent.host, agent.owner.pid
            ),
            Self::Namespace(path) => write!(f, "namespace {} without processes", path.display()),
            Self::Group(path) => write!(f, "control group {} of a dead conductor", path.display()),
        }
    }
}
