//! Knows who writes a run, and whether that process still lives.

use rusqlite::Connection;
use std::fs;

/// A process, told from a later one of the same number by when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub pid: u32,
    /// Clock ticks from boot to its start; 0 if the kernel does not say.
    pub ticks: i64,
}

impl Writer {
    pub(super) fn own() -> Self {
        let pid = std::process::id();
        Self { pid, ticks: ticks(pid).unwrap_or(0) }
    }

    pub(super) fn lives(self) -> bool {
        ticks(self.pid) == Some(self.ticks)
    }
}

/// Field 22 of `/proc/PID/stat`; none when there is no such process, or only its remains.
fn ticks(pid: u32) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !dead)
}

/// Whether any run that has no ending is being written by a process that lives.
pub(super) fn any_lives(link: &Connection) -> rusqlite::Result<bool> {
    let mut find = link.prepare(
        "SELECT pid, ticks FROM sitting AS s WHERE NOT EXISTS
         (SELECT 1 FROM ending AS e WHERE e.run = s.run AND e.sitting = s.number)",
    )?;
    let open = find.query_map([], |row| Ok(Writer { pid: row.get(0)?, ticks: row.get(1)? }))?;
    let own = Writer::own();
    for writer in open {
        let writer = writer?;
        if writer != own && writer.lives() {
            return Ok(true);
        }
    }
    Ok(false)
}
