//! Knows the addresses that a person declares as their own: load may go there, beside the addresses
//! of a lab.
//!
//! Must not know which servers listen there.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::sync::OnceLock;

/// The environment variable by which a conductor passes them to its hosts.
const VARIABLE: &str = "STEND_I_OWN";

static OWNED: OnceLock<Vec<Ipv4Addr>> = OnceLock::new();

/// Declares them for this process and the hosts that it starts.
pub fn declare(addresses: &[Ipv4Addr]) {
    // The first declaration holds.
    let _ = OWNED.set(addresses.to_vec());
}

/// Whether an address was declared.
#[must_use]
pub fn is_owned(address: IpAddr) -> bool {
    OWNED.get_or_init(told).iter().any(|owned| *owned == address)
}

/// The addresses that the parent process passed.
fn told() -> Vec<Ipv4Addr> {
    let told = std::env::var(VARIABLE).unwrap_or_default();
    told.split(',').filter_map(|word| word.trim().parse().ok()).collect()
}

/// Passes the addresses to a process that is about to be started.
pub(crate) fn pass_on(command: &mut Command) -> &mut Command {
    let all: Vec<String> = OWNED.get_or_init(told).iter().map(ToString::to_string).collect();
    command.env(VARIABLE, all.join(","))
}
