//! Knows how the list of factors is written.

use desk::record::{FactorSpec, Scope, Value};
use rig::factor::{self, FactorError, Mechanism};
use std::fmt::Write as _;
use std::path::Path;

/// Every factor, two lines each: what it is, and what it is on the machine below `root`.
pub(super) fn list(root: &Path) -> String {
    let mut text = String::new();
    for spec in factor::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<16} {:<8} {}", spec.name, scope(spec.scope), spec.kind);
        let _ = writeln!(text, "{:17}{}; {}", "", spec.about, here(spec, root));
    }
    text.push_str(BESIDES);
    for entry in loads::ALL {
        let names: Vec<&str> = entry.spec.params.iter().map(|param| param.name).collect();
        let _ = writeln!(text, "  {}: {}", entry.spec.name, names.join(", "));
    }
    text
}

/// What may be a factor and is in no list.
const BESIDES: &str = "
Besides, with manual = true, whatever a person sets and the machine cannot (an option of the
firmware): a run is made at one level, `stend run PLAN --level FACTOR=LEVEL`. And every parameter
that all loads of a plan have:
";

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Path => "path",
        Scope::Sut => "sut",
        Scope::Link => "link",
        Scope::Host => "host",
        Scope::Machine => "machine",
        Scope::Program => "program",
        Scope::Side => "side",
        Scope::Network => "network",
        Scope::Relay => "relay",
        Scope::Socket => "socket",
        Scope::Profile => "profile",
    }
}

/// The value now, and whether it can be set here, or why not.
fn here(spec: &FactorSpec, root: &Path) -> String {
    match factor::mechanism(spec.name) {
        Some(Mechanism::Machine(row)) => said(row.now(root), |now| row.refuse(root, now)),
        Some(Mechanism::Held(row)) => {
            let now = row.observe(root).map(|now| (now.clone(), now.to_string()));
            said(now, |now| row.refuse(root, now))
        }
        Some(Mechanism::Quota(row)) => {
            let tried = row.try_out(root);
            tried.map_or_else(|e| e.to_string(), |tried| format!("here: {tried}"))
        }
        Some(Mechanism::Cpus(row)) => row.here(root),
        Some(Mechanism::Version(row)) => row
            .refuse(root, &Value::Count(6))
            .map_or_else(|e| e.to_string(), |()| "set in the lab; this kernel has IPv6".into()),
        Some(Mechanism::Device(row)) => {
            row.refuse(root).map_or_else(|e| e.to_string(), |()| "set in the lab".into())
        }
        Some(Mechanism::Link(_) | Mechanism::Path(_)) | None => match spec.scope {
            Scope::Program => "told to the programs of the load".into(),
            _ => "set in the lab".into(),
        },
    }
}

/// A level of the machine that is in force, with its words, and whether it can be set: the value
/// that is there can be if any can.
fn said(
    now: Result<(Value, String), FactorError>,
    refuse: impl Fn(&Value) -> Result<(), FactorError>,
) -> String {
    let (level, now) = match now {
        Ok(now) => now,
        Err(e) => return e.to_string(),
    };
    match refuse(&level) {
        Ok(()) => format!("now {now}; can be set here"),
        Err(e) => format!("now {now}; {e}"),
    }
}
