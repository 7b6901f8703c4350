//! Knows how what killed runs left on this machine goes.

use crate::cli::error::CliError;
use crate::cli::factors::fate;
use crate::cli::{GIVEN_UP, OK, invoked, terminal};
use rig::lab::undo::{self, Leftover};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for agents that were ended.
const AGENTS_MAX: Duration = Duration::from_secs(2);

/// Brings back and removes what dead conductors left. 0 when nothing is left after it.
///
/// # Errors
/// When the journals cannot be listed.
pub(super) fn clean() -> Result<u8, CliError> {
    let mut out = terminal::out();
    match mend(&undo::directory()?, &mut out)? {
        0 => writeln!(out, "nothing is left")?,
        left => {
            writeln!(out, "{left} left; see {} factors status", invoked())?;
            return Ok(GIVEN_UP);
        }
    }
    Ok(OK)
}

/// How many things could not be brought back or removed.
fn mend(directory: &Path, out: &mut impl std::io::Write) -> Result<usize, CliError> {
    let mut left = 0;
    let agents = |l: &Leftover| matches!(l, Leftover::Agent(_));
    // Before the names and groups that they live in.
    for agent in undo::leftovers().into_iter().filter(agents) {
        left += usize::from(!removed(&agent, out)?);
    }
    let deadline = Instant::now() + AGENTS_MAX;
    while undo::leftovers().iter().any(agents) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    for (path, settled) in undo::settle_dead(directory, Path::new("/"))? {
        writeln!(out, "journal {}", path.display())?;
        match settled {
            Ok(all) => {
                for settled in &all {
                    writeln!(out, "  {}: {}", settled.entry, fate(&settled.fate))?;
                    left += usize::from(!settled.fate.is_settled());
                }
            }
            Err(e) => {
                left += 1;
                writeln!(out, "  {e}")?;
            }
        }
    }
    for leftover in undo::leftovers() {
        left += usize::from(!removed(&leftover, out)?);
    }
    Ok(left)
}

fn removed(leftover: &Leftover, out: &mut impl std::io::Write) -> Result<bool, CliError> {
    match leftover.remove() {
        Ok(()) => writeln!(out, "{leftover}: removed")?,
        Err(e) => {
            writeln!(out, "{leftover}: {e}")?;
            return Ok(false);
        }
    }
    Ok(true)
}
