//! Knows `stend doctor`: what killed runs left on this machine, and how it goes.

use super::error::CliError;
use super::factors::{describe, fate};
use super::{GIVEN_UP, OK, invoked};
use rig::lab::undo::{self, Leftover, Story};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for agents that were ended.
const AGENTS_MAX: Duration = Duration::from_secs(2);

/// Says what dead conductors left; with `clean` also brings it back and removes it. 0 when nothing
/// is left or would be.
///
/// # Errors
/// When the journals cannot be listed.
pub fn doctor(clean: bool) -> Result<u8, CliError> {
    let directory = undo::directory()?;
    let mut out = std::io::stdout().lock();
    let found = if clean { mend(&directory, &mut out)? } else { look(&directory, &mut out)? };
    match (found, clean) {
        (0, _) => writeln!(out, "nothing is left")?,
        (_, true) => writeln!(out, "{found} left; see {} factors status", invoked())?,
        (_, false) => {
            writeln!(out, "{found} found, nothing changed; {} doctor --clean", invoked())?
        }
    }
    Ok(if found == 0 { OK } else { GIVEN_UP })
}

/// How many things there would be to do.
fn look(directory: &Path, out: &mut impl std::io::Write) -> Result<usize, CliError> {
    let mut found = 0;
    for path in undo::journals(directory)? {
        match Story::read(&path) {
            Ok(story) if story.owner.is_alive(Path::new("/")) => {}
            Ok(story) => {
                found += 1;
                writeln!(out, "journal of dead conductor {}: {}", story.owner.pid, path.display())?;
                for (entry, _) in story.open() {
                    writeln!(out, "  {}, is {}", describe(entry), undo::now(entry))?;
                }
            }
            Err(e) => {
                found += 1;
                writeln!(out, "{e}")?;
            }
        }
    }
    for leftover in undo::leftovers() {
        found += 1;
        writeln!(out, "{leftover}")?;
    }
    Ok(found)
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
                    writeln!(out, "  {}: {}", describe(&settled.entry), fate(&settled.fate))?;
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
