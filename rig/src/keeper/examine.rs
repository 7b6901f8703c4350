//! Knows how a machine is looked at before a run: kinds of place are tried, factors and adapters
//! are read, and all is as it was afterwards.
//!
//! Must not know who asks, nor what follows for a run.

use super::here;
use crate::factor;
use crate::lab::adapter::{self, carriers};
use crate::lab::capability::{Capability, State, look};
use crate::lab::link::{LinkError, Routes, lacking};
use crate::lab::machine::{Examined, NamedAdapter};
use crate::lab::version::VERSION;
use crate::lab::{Blueprint, Lab, LabError, Wanted, environment, undo};
use desk::record::LabKind;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Nobody stops a look; whoever asked waits no longer than he wants.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Kinds of place as `stend doctor` names them, with what an agent does to have one.
const PLACES: [(&str, LabKind, &str); 3] = [
    ("lab root", LabKind::RootNamespaces, "namespaces with a bridge made and removed"),
    ("lab user", LabKind::UserNamespaces, "namespaces with a bridge made and removed"),
    ("lab loopback", LabKind::Loopback, "hosts started and ended"),
];

/// What `root` alone can do, in the words of [`look`], and what helps an agent.
const AS_ROOT: (&str, &str) = ("sudo stend", "sudo stend agent listen");

/// Looks at this machine; hosts are executed from `binary`.
pub(super) fn examine(
    binary: &Path,
    root: &Path,
    adapters: &[String],
    control: &[IpAddr],
) -> Examined {
    // First: what is tried afterwards has hosts of its own.
    let left = undo::left();
    let places = PLACES.map(|place| stands(place, binary));
    let factors = factor::ALL.iter().filter_map(|spec| factor::here(spec, root));
    let all = places.into_iter().chain([kinds_of_link()]).chain(look(root)).chain(factors);
    let mut over: Vec<String> = Vec::new();
    for name in control.iter().flat_map(|at| carriers(root, *at).unwrap_or_default()) {
        if !over.contains(&name) {
            over.push(name);
        }
    }
    Examined {
        version: VERSION.into(),
        user: rustix::process::geteuid().as_raw(),
        capabilities: all.map(of_agent).collect(),
        control: over,
        adapters: adapters.iter().map(|written| named(root, written)).collect(),
        left,
    }
}

/// Whether a kind of place stands here, by a lab that nobody else can see.
fn stands((name, kind, done): (&str, LabKind, &str), binary: &Path) -> Capability {
    let blueprint = Blueprint::of_all(Wanted::Only(kind), 1, &["lan"]);
    let lab = here(binary, &NEVER).and_then(|here| Lab::try_out(&blueprint, kind, here));
    match lab.map(drop) {
        Ok(()) => Capability::new(name, State::Ok, done),
        Err(e) => {
            let found = Capability::new(name, State::Absent, e.to_string());
            let as_root = kind == LabKind::RootNamespaces && !rustix::process::geteuid().is_root();
            if as_root { found.with_fix(AS_ROOT.0) } else { found }
        }
    }
}

/// The kinds that links of several machines are made of; several clients on an adapter have a
/// macvlan each.
fn kinds_of_link() -> Capability {
    const NAME: &str = "kinds of link";
    const ALWAYS: [&str; 2] = ["veth", "bridge"];
    const SHARED: &str = "macvlan";
    let all = [ALWAYS[0], ALWAYS[1], SHARED];
    match lacking(&all) {
        Ok(absent) if absent.is_empty() => Capability::new(NAME, State::Ok, all.join(", ")),
        Ok(absent) => {
            let needed = absent.iter().any(|kind| ALWAYS.contains(kind));
            let state = if needed { State::Absent } else { State::Degraded };
            let alone = if needed { "" } else { "; an adapter serves one client only" };
            let modules = absent.join(" ");
            Capability::new(NAME, state, format!("the kernel lacks {modules}{alone}"))
                .with_fix(format!("modprobe -a {modules}"))
        }
        Err(LinkError::PermissionDenied { .. }) => {
            Capability::new(NAME, State::Absent, "only root may try them").with_fix(AS_ROOT.0)
        }
        Err(e) => Capability::new(NAME, State::Absent, e.to_string()),
    }
}

/// The command that helps is one for the agent.
fn of_agent(mut found: Capability) -> Capability {
    if found.fix.as_deref() == Some(AS_ROOT.0) {
        found.fix = Some(AS_ROOT.1.into());
    }
    found
}

/// An adapter as a lab file writes it.
fn named(root: &Path, written: &str) -> NamedAdapter {
    let name = match adapter::find(root, written) {
        Ok(name) => name,
        Err(why) => {
            return NamedAdapter {
                written: written.into(),
                found: None,
                up: false,
                refused: Some(why),
                lacking: None,
            };
        }
    };
    let up = || -> Result<bool, LabError> { Ok(Routes::open()?.link(&name)?.up) };
    NamedAdapter {
        written: written.into(),
        found: Some(environment::adapter(&name)),
        up: up().unwrap_or_default(),
        refused: adapter::refuse(root, &name, false).err(),
        lacking: factor::lacking(&name).ok(),
    }
}
