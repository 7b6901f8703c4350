//! Knows `stend list`: the runs of a store, a line each.

use super::error::CliError;
use super::{OK, outputs, store, terminal};
use rig::store::RunLine;
use std::io::Write as _;
use std::path::Path;

/// Columns that the title may take on a terminal of 80.
const TITLE: usize = 28;

/// Prints the runs, the newest first.
///
/// # Errors
/// When the store cannot be read.
pub fn list(named: Option<&Path>, as_json: bool) -> Result<u8, CliError> {
    let lines = store::read(named)?.list()?;
    let mut out = terminal::out();
    if as_json {
        let rows: Vec<_> = lines.iter().map(row).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&rows)?)?;
        return Ok(OK);
    }
    writeln!(out, "{:<23} {:<11} {:>13}  title", "run", "state", "valid/planned")?;
    for line in &lines {
        let trials = format!("{}/{}", line.valid, line.planned);
        let state = line.state.to_string();
        writeln!(out, "{:<23} {state:<11} {trials:>13}  {}", line.id, short(line))?;
    }
    Ok(OK)
}

fn row(line: &RunLine) -> outputs::ListedRun {
    outputs::ListedRun {
        id: line.id.clone(),
        started: line.started.clone(),
        title: line.title.clone(),
        version: line.version.clone(),
        state: line.state.to_string(),
        planned: line.planned,
        valid: line.valid,
        invalid: line.invalid,
    }
}

/// The title as far as it fits, and how many visits were invalid.
fn short(line: &RunLine) -> String {
    let invalid =
        if line.invalid > 0 { format!(" (+{} invalid)", line.invalid) } else { String::new() };
    let room = TITLE.saturating_sub(invalid.len());
    // A row is a line, and a terminal is told nothing else.
    let title: String = line.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if title.chars().count() <= room {
        return format!("{title}{invalid}");
    }
    let cut: String = title.chars().take(room.saturating_sub(1)).collect();
    format!("{}…{invalid}", cut.trim_end())
}
