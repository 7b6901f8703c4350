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

    /// Whether it still lives; `boot` is the kernel's name of the boot in which it did.
    pub(super) fn lives(self, boot: &str) -> bool {
        let now = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        // A sitting that does not know its boot may be of this one.
        let same = boot.is_empty() || boot == now.trim();
        same && ticks(self.pid) == Some(self.ticks)
    }
}

/// Field 22 of `/proc/PID/stat`; none when there is no such process, or only its remains.
fn ticks(pid: u32) -> Option<i64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !dead)
}

/// Whether a sitting without an ending, of this run or of any, belongs to a process that lives.
/// Our own sittings count only where one run is meant.
pub(super) fn lives_in(link: &Connection, run: Option<i64>) -> rusqlite::Result<bool> {
    let mut find = link.prepare(
        "SELECT pid, ticks, boot FROM sitting AS s WHERE (?1 IS NULL OR s.run = ?1)
         AND NOT EXISTS (SELECT 1 FROM ending AS e WHERE e.run = s.run AND e.sitting = s.number)",
    )?;
    let open = find.query_map([run], |row| {
        Ok((Writer { pid: row.get(0)?, ticks: row.get(1)? }, row.get::<_, String>(2)?))
    })?;
    let own = Writer::own();
    for row in open {
        let (writer, boot) = row?;
        if (run.is_some() || writer != own) && writer.lives(&boot) {
            return Ok(true);
        }
    }
    Ok(false)
}
