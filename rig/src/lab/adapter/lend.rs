//! Knows how an adapter goes to the namespace of a host, and how it comes back when the lab ends or
//! its conductor was killed.
//!
//! Everything that the lab may change of it stands in the journal before it goes. Must not know
//! what is changed on it meanwhile.

use super::Why;
use super::away::Away;
use super::state::State;
use super::{find, refuse};
use crate::lab::clock;
use crate::lab::error::LabError;
use crate::lab::link::{LinkInfo, Routes};
use crate::lab::namespace;
use crate::lab::undo::{Entry, Fate, Intent, Journal, Kind};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the kernel may take to return an adapter whose namespace has ended.
const RETURN_MAX: Duration = Duration::from_secs(3);

/// An adapter that a host gets for the time of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loan {
    /// As the plan writes it: a name or a bus address.
    pub adapter: String,
    /// Place of the host among those that are raised.
    pub host: usize,
    /// Its name there; none on the host that is the machine itself, where it keeps its own.
    pub name: Option<String>,
}

/// Where an adapter is while it is lent, as the journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The name of the namespace; none where it stays.
    namespace: Option<PathBuf>,
    /// Its name there.
    name: String,
}

/// Adapters that are lent.
#[derive(Debug, Default)]
pub struct Lent {
    written: Option<(Journal, Vec<u64>)>,
    names: Vec<String>,
    away: Vec<Arc<Away>>,
}

impl Lent {
    /// Those that have gone to the namespace of a host.
    pub fn away(&self) -> &[Arc<Away>] {
        &self.away
    }

    /// Names that the adapters have on their hosts, in the order of the loans.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Lends adapters to hosts that stand, of which `host` tells process and name.
    ///
    /// # Errors
    /// When one is not there, is in use, cannot be written down, or does not go; what was lent
    /// until then is brought back.
    pub fn lend(
        &mut self,
        loans: &[Loan],
        binary: &Path,
        host: &dyn Fn(usize) -> (u32, String),
    ) -> Result<(), LabError> {
        let root = Path::new("/");
        let mut intents = Vec::new();
        for loan in loans {
            let fail = |what: Why| LabError::Adapter { adapter: loan.adapter.clone(), what };
            let own = find(root, &loan.adapter).map_err(fail)?;
            refuse(root, &own, loan.name.is_none()).map_err(fail)?;
            let state = State::read(&own).map_err(fail)?;
            let namespace = loan
                .name
                .is_some()
                .then(|| namespace::path_of(std::process::id(), &host(loan.host).1));
            let name = loan.name.clone().unwrap_or_else(|| own.clone());
            let place = Place { namespace, name };
            let path = Path::new("/").join(super::LINKS).join(&own);
            let intent = Intent {
                key: loan.adapter.clone(),
                kind: Kind::Adapter,
                path,
                new: json(&place).map_err(fail)?,
            };
            intents.push((intent, json(&state).map_err(fail)?));
            self.names.push(place.name);
        }
        if intents.is_empty() {
            return Ok(());
        }
        let owns: Vec<PathBuf> = intents.iter().map(|(intent, _)| intent.path.clone()).collect();
        let journal = Journal::of_this_process(binary)?;
        let entries = journal.lend(intents)?;
        self.written = Some((journal, entries));
        for (loan, own) in loans.iter().zip(&owns) {
            let own = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(name) = &loan.name else { continue };
            let mut routes = Routes::open()?;
            let namespace = format!("/proc/{}/ns/net", host(loan.host).0);
            routes.move_to(&own, (&namespace, name))?;
            self.away.push(Arc::new(Away::find(own, name, namespace.into())?));
        }
        Ok(())
    }

    /// Brings all back while their hosts still live. What cannot be, the guardian tries again.
    pub fn bring_back(&mut self) {
        self.names.clear();
        self.away.clear();
        if let Some((journal, entries)) = self.written.take() {
            let _ = journal.undo(&entries);
        }
    }
}

fn json<T: Serialize>(of: &T) -> Result<String, Why> {
    serde_json::to_string(of).map_err(|e| e.to_string())
}

/// Brings an adapter back, from the namespace in which it is or from the kernel, which returns a
/// real one when that has ended, and makes it what it was.
pub(in crate::lab) fn bring_back(entry: &Entry) -> Fate {
    let (Ok(state), Ok(place)) =
        (serde_json::from_str::<State>(&entry.old), serde_json::from_str(&entry.new))
    else {
        return Fate::Failed { why: format!("{} is no state of an adapter", entry.old) };
    };
    match fetch(&state, &place) {
        Ok(true) => match state.put_back() {
            Ok(()) => Fate::Restored,
            Err(why) => Fate::Failed { why },
        },
        Ok(false) => Fate::Gone,
        Err(why) => Fate::Failed { why },
    }
}

/// Has it in the namespace of the machine under its own name; false where no namespace has it.
fn fetch(state: &State, place: &Place) -> Result<bool, Why> {
    if is_here(state)? {
        return Ok(true);
    }
    if let Some(path) = place.namespace.as_deref().filter(|path| path.exists()) {
        // One that has just been returned, or was never moved, is not in there.
        let _ = move_from(path, &place.name, &state.name);
    }
    let deadline = Instant::now() + RETURN_MAX;
    while !is_here(state)? {
        if Instant::now() > deadline {
            return fetch_from_anywhere(state, place);
        }
        clock::sleep_until(clock::now_ns() + 10_000_000);
    }
    Ok(true)
}

/// Looks in every namespace that has a name or a process.
fn fetch_from_anywhere(state: &State, place: &Place) -> Result<bool, Why> {
    let named = |link: &LinkInfo| link.name == place.name && link.address == state.hardware;
    for namespace in namespace::others() {
        let links = || -> Result<_, LabError> { Ok(Routes::open()?.links()?) };
        let links = match namespace::within(&namespace, links).flatten() {
            Ok(links) => links,
            // Its last process may have ended meanwhile.
            Err(_) if !namespace.exists() => continue,
            Err(e) => return Err(format!("{}: {e}", namespace.display())),
        };
        if let Some(link) = links.iter().find(|link| named(link) || is_it(link, state)) {
            return move_from(&namespace, &link.name, &state.name).map(|()| true);
        }
    }
    Ok(false)
}

/// Whether it is here under its own name; where it came back under another, it is renamed.
fn is_here(state: &State) -> Result<bool, Why> {
    let mut routes = Routes::open().map_err(|e| e.to_string())?;
    let links = routes.links().map_err(|e| e.to_string())?;
    if links.iter().any(|link| link.name == state.name && link.address == state.hardware) {
        return Ok(true);
    }
    match links.iter().find(|link| is_it(link, state)) {
        Some(link) => {
            routes.rename(&link.name, &state.name).map_err(|e| e.to_string())?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Whether a link under another name is it. What stands on an adapter, as a VLAN or a bridge, may
/// have its address.
fn is_it(link: &LinkInfo, state: &State) -> bool {
    link.kind.is_none() && link.address == state.hardware
}

/// Moves a link from a named namespace to that of the calling thread.
fn move_from(namespace: &Path, there: &str, here: &str) -> Result<(), Why> {
    let words = |e: &dyn std::fmt::Display| e.to_string();
    let ours = File::open("/proc/thread-self/ns/net").map_err(|e| words(&e))?;
    let (there, here) = (there.to_owned(), here.to_owned());
    let go = move || -> Result<(), LabError> {
        let mut routes = Routes::open()?;
        Ok(routes.move_to_descriptor(&there, (ours.as_fd(), &here))?)
    };
    namespace::within(namespace, go).flatten().map_err(|e| words(&e))
}
