//! Knows the addresses of which a person says that they are his own: load may go there, beside the
//! addresses of a lab.
//!
//! Must not know what is there.

use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::OnceLock;

/// By which a host is told what its conductor knows.
const VARIABLE: &str = "STEND_I_OWN";

static OWNED: OnceLock<Vec<Ipv4Addr>> = OnceLock::new();

/// Says so, once for this process and the hosts that it starts.
pub fn declare(addresses: &[Ipv4Addr]) {
    // Who has said so before has said all.
    let _ = OWNED.set(addresses.to_vec());
}

/// Whether load may go to an address for its owner's sake.
#[must_use]
pub fn is_owned(address: Ipv4Addr) -> bool {
    OWNED.get_or_init(told).contains(&address)
}

/// What whoever started this process has told.
fn told() -> Vec<Ipv4Addr> {
    let told = std::env::var(VARIABLE).unwrap_or_default();
    told.split(',').filter_map(|word| word.trim().parse().ok()).collect()
}

/// Tells a process that is about to be started.
pub(crate) fn pass_on(command: &mut Command) -> &mut Command {
    let all: Vec<String> = OWNED.get_or_init(told).iter().map(ToString::to_string).collect();
    command.env(VARIABLE, all.join(","))
}
