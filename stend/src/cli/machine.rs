//! Knows which machine a run is made on: this one, unless `STEND_MACHINE` names the address of the
//! agent of another.
//!
//! Must not know what is asked of a machine.

use super::error::CliError;
use rig::keeper;
use rig::lab::machine::Machine;
use rig::run::RunError;
use std::sync::atomic::AtomicBool;

/// Connects to the machine of a run.
///
/// # Errors
/// When the address cannot be read, or the agent there does not answer or is refused.
pub fn connect(cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    if let Ok(address) = std::env::var("STEND_MACHINE") {
        return other(&address, cancel);
    }
    let machine = keeper::here(&std::env::current_exe()?, cancel);
    Ok(machine.map_err(RunError::from)?)
}

/// Another machine, as the conductor of a lab.
#[cfg(feature = "machines")]
fn other(address: &str, cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    use rig::lab::LabError;
    use rig::lab::machine::Tls;
    use rig::lab::trust::Conductor;
    let refused =
        |source| RunError::from(LabError::Connect { address: address.to_owned(), source });
    let lab = Conductor::open(&super::lab::directory(None)?)?;
    let tls = Tls::connect(socket(address).map_err(refused)?, &lab).map_err(refused)?;
    let machine = Machine::greet("machine", Box::new(tls), None, cancel);
    Ok(machine.map_err(RunError::from)?)
}

#[cfg(not(feature = "machines"))]
fn other(_address: &str, _cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    Err(CliError::NoMachines)
}

/// An address with its port.
///
/// # Errors
/// When it is none.
#[cfg(feature = "machines")]
pub fn socket(address: &str) -> std::io::Result<std::net::SocketAddr> {
    let wrong = format!("'{address}' is no address; write it as 198.18.0.2:7000");
    address.parse().map_err(|_| std::io::Error::other(wrong))
}
