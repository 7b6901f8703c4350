//! Knows which machine a run is made on, and the hidden verb `stend agent listen` that serves one.
//!
//! A machine is this one, unless `STEND_MACHINE` names the address of an agent; both ends then read
//! the same key from the file that `STEND_KEY` names. Must not know what is asked of a machine.

use super::OK;
use super::error::CliError;
use rig::keeper;
use rig::lab::LabError;
use rig::lab::machine::{Key, Machine, Tcp};
use rig::run::RunError;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Connects to the machine of a run.
///
/// # Errors
/// When the address or the key cannot be read, or the agent there does not answer.
pub fn connect(cancel: &'static AtomicBool) -> Result<Machine, CliError> {
    let Ok(address) = std::env::var("STEND_MACHINE") else {
        let machine = keeper::here(&std::env::current_exe()?, cancel);
        return Ok(machine.map_err(RunError::from)?);
    };
    let refused = |source| RunError::from(LabError::Wire { host: address.clone(), source });
    let key = std::env::var_os("STEND_KEY");
    let key = key.ok_or_else(|| io::Error::other("STEND_KEY names no file with a key"));
    let key = key.and_then(|path| Key::read(Path::new(&path))).map_err(refused)?;
    let tcp = Tcp::connect(socket(&address).map_err(refused)?, &key).map_err(refused)?;
    let machine = Machine::greet("machine", Box::new(tcp), None, cancel);
    Ok(machine.map_err(RunError::from)?)
}

/// Serves one conductor on an address: `stend agent listen ADDRESS KEYFILE`.
///
/// # Errors
/// When nothing can listen there, the conductor has another key, or the connection breaks.
pub fn listen(address: Option<&str>, key: Option<&str>) -> Result<u8, CliError> {
    let named = |word: Option<&str>| word.map(str::to_owned).ok_or_else(|| wrong("nothing"));
    let serve = || {
        let (address, key) = (socket(&named(address)?)?, Key::read(Path::new(&named(key)?))?);
        keeper::listen(address, &key, &std::env::current_exe()?)
    };
    serve().map_err(CliError::Agent).map(|()| OK)
}

fn socket(address: &str) -> io::Result<SocketAddr> {
    address.parse().map_err(|_| wrong(address))
}

fn wrong(address: &str) -> io::Error {
    io::Error::other(format!("'{address}' is no address; write it as 198.18.0.2:7000"))
}
