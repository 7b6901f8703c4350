//! Knows what a host and the keeper of its service tell each other, a line of JSON each.
//!
//! Must not know what a service is.

use super::Why;
use desk::record::{DIGEST, digest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::net::IpAddr;

/// Longest line, bytes.
const LINE_MAX: u64 = 8 << 20;

/// An instance that a host asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The name of its service.
    pub service: String,
    /// Where it listens.
    pub address: IpAddr,
    /// Its settings, as the service calls them.
    pub settings: BTreeMap<String, String>,
    /// CPUs that it may use; all where there are none.
    pub cpus: Vec<u32>,
}

/// A file of an instance: its path below the run directory, its length, the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSum {
    pub name: String,
    pub length: u64,
    sum: u64,
}

impl FileSum {
    /// That of a file with these bytes.
    pub fn of((name, bytes): &(String, &[u8])) -> Self {
        Self { name: name.clone(), length: bytes.len() as u64, sum: digest(DIGEST, bytes) }
    }
}

/// To a keeper. The first line is the wish; as many bytes follow it as the files have.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToKeeper {
    /// Put this up, with files of these paths below the run directory, and of these lengths.
    Start(Wanted, Vec<(String, u64)>),
    /// Say how many requests it has served.
    Count,
    /// Say how many requests wait in it for a worker.
    Wait,
    /// Say whether these files are as they were put there.
    Compare(Vec<FileSum>),
}

/// From a keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromKeeper {
    /// It serves at this port; its version.
    Serves(u16, String),
    /// Requests of others that it has served.
    Served(u64),
    /// Requests that wait in it for a worker; none where it does not tell.
    Waiting(Option<u64>),
    /// Whether its files are as they were put there.
    Compared(bool),
    /// It does not serve; why, with the last lines of its log; and the end of that log.
    Failed(Why, String),
}

pub(super) fn say<T: Serialize>(to: &mut impl Write, what: &T) -> Result<(), Why> {
    let mut line = serde_json::to_vec(what).map_err(|e| e.to_string())?;
    line.push(b'\n');
    to.write_all(&line).and_then(|()| to.flush()).map_err(|e| e.to_string())
}

/// The next line; none where the other end is gone.
pub(super) fn hear<T: for<'de> Deserialize<'de>>(
    from: &mut impl BufRead,
) -> Result<Option<T>, Why> {
    let mut line = Vec::new();
    let mut limited = std::io::Read::take(&mut *from, LINE_MAX);
    let read = limited.read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
    if read == 0 {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(|e| e.to_string())
}
