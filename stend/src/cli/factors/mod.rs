//! Knows `stend factors`: what can be switched here, what is switched, and how it comes back.

mod list;

use super::error::CliError;
use super::unit::{Place, Unit};
use super::{GIVEN_UP, OK, invoked, terminal};
use clap::Subcommand;
use rig::lab::undo::{self, Fate, Story};
use std::io::Write as _;
use std::path::Path;

/// What of the factors is asked for.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Every factor: scope, levels, value now, and whether it can be set here
    List,
    /// Every journal of undos: whose it is, and what is open in it
    Status,
    /// Bring back what runs that are dead left switched
    Restore {
        /// Also forget what cannot be brought back, and leave it as it is
        #[arg(long)]
        forget: bool,
    },
    /// Have every boot bring back what a run left switched, by a unit of systemd
    InstallUnit(Place),
}

/// Does one of them.
///
/// # Errors
/// When the journals cannot be read, or the unit cannot be written.
pub fn factors(what: &What) -> Result<u8, CliError> {
    let mut out = terminal::out();
    match what {
        What::List => {
            out.write_all(list::list(Path::new("/")).as_bytes())?;
            Ok(OK)
        }
        What::Status => status(&mut out),
        What::Restore { forget } => restore(*forget, &mut out),
        What::InstallUnit(place) => Unit::restore()?.put(place, &mut out),
    }
}

fn status(out: &mut impl std::io::Write) -> Result<u8, CliError> {
    let directory = undo::directory()?;
    let paths = undo::journals(&directory)?;
    if paths.is_empty() {
        writeln!(out, "no journal in {}: nothing is switched", directory.display())?;
    }
    for path in paths {
        let story = match Story::read(&path) {
            Ok(story) => story,
            Err(e) => {
                writeln!(out, "{e}")?;
                continue;
            }
        };
        let state = if story.owner.is_alive(Path::new("/")) { "alive" } else { "dead" };
        writeln!(out, "conductor {} ({state}), {}", story.owner.pid, path.display())?;
        for (entry, ours) in story.open() {
            let now = undo::now(entry);
            let foreign = now != ours && now != entry.old;
            let note = if foreign { ", by somebody else" } else { "" };
            writeln!(out, "  {entry}, is {now}{note}")?;
        }
    }
    Ok(OK)
}

fn restore(forget: bool, out: &mut impl std::io::Write) -> Result<u8, CliError> {
    let mut left = 0;
    let directory = undo::directory()?;
    for (path, settled) in undo::settle_dead(&directory, Path::new("/"))? {
        writeln!(out, "journal {}", path.display())?;
        let mut open = false;
        match settled {
            Ok(all) => {
                for settled in &all {
                    writeln!(out, "  {}: {}", settled.entry, fate(&settled.fate))?;
                    open |= !settled.fate.is_settled();
                }
            }
            Err(e) => {
                open = true;
                writeln!(out, "  {e}")?;
            }
        }
        if open && forget {
            undo::forget(&path)?;
            writeln!(out, "  forgotten")?;
        }
        left += usize::from(open && !forget);
    }
    if left == 0 {
        writeln!(out, "no dead run has left anything switched")?;
        return Ok(OK);
    }
    let program = invoked();
    writeln!(out, "{left} journal(s) left; {program} factors restore --forget leaves it so")?;
    Ok(GIVEN_UP)
}

/// What became of an entry, in words.
pub(super) fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Restored => "brought back".into(),
        Fate::Already => "is back already".into(),
        Fate::Rebooted => "went with a reboot".into(),
        Fate::Gone => "went with its adapter, which is no longer in the machine".into(),
        Fate::Foreign { now } => format!("left, somebody else made it {now}"),
        Fate::Failed { why } => format!("not brought back: {why}"),
    }
}
