//! Knows the section of access specifications in a configuration of IOmeter (`.icf`, version 1.1.0
//! and those before it from 1998.05.21 on).
//!
//! Must not know what accesses go to. The other sections, of managers, workers and targets, are
//! left out.

use super::{Access, Line};
use std::fs::File;
use std::io::Read as _;

/// Largest file, bytes.
const FILE_MAX: u64 = 4 << 20;
/// Most lines of a specification, as IOmeter has it.
const LINES_MAX: usize = 100;
/// Largest size, alignment or reply, bytes, and longest delay or burst.
const NUMBER_MAX: u64 = 1 << 32;

/// The heads of the section, of a specification and of its lines, and the end of the section.
const SECTION: &str = "'access specifications";
const NAME: &str = "'access specification name";
const FIELDS: &str = "'size,";
const END: &str = "'end access specifications";

/// What a field of a line is, in order.
const COLUMNS: [&str; 8] =
    ["size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply"];

/// The specifications of a file, in their order.
///
/// # Errors
/// When it cannot be read, or its text is refused: with file, line, value and remedy.
pub fn read(file: &str) -> Result<Vec<Access>, String> {
    let fail = |e: std::io::Error| format!("{file}: {e}");
    let mut bytes = Vec::new();
    File::open(file).map_err(fail)?.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > FILE_MAX {
        let most = FILE_MAX >> 20;
        return Err(format!(
            "{file} is longer than {most} MiB; save its access specifications only"
        ));
    }
    parse(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("{file}: {why}"))
}

/// The specifications of a text.
///
/// # Errors
/// What is wrong, with line, value and remedy.
pub(super) fn parse(text: &str) -> Result<Vec<Access>, String> {
    let lines = text.lines().map(str::trim).zip(1..);
    let mut lines = lines.skip_while(|(line, _)| !begins(line, SECTION)).skip(1).peekable();
    if lines.peek().is_none() {
        return Err("no 'ACCESS SPECIFICATIONS in it; save a file of IOmeter with them".into());
    }
    let mut all: Vec<Access> = Vec::new();
    while let Some((line, number)) = lines.next() {
        if begins(line, END) {
            break;
        }
        if begins(line, NAME) {
            close(&all)?;
            let (named, _) = lines.next().unwrap_or(("", number));
            all.push(Access { name: name(named, number + 1)?, lines: Vec::new() });
        } else if !line.is_empty() && !begins(line, FIELDS) {
            let Some(access) = all.last_mut() else {
                return Err(format!(
                    "line {number}: '{line}' stands before the name of a specification; write \
                     'Access specification name,default assignment and the name first"
                ));
            };
            let of = fields(line).map_err(|why| format!("line {number}: {why}"))?;
            // IOmeter leaves such lines out, too.
            access.lines.extend(Some(of).filter(|line| line.share > 0));
        }
    }
    close(&all)?;
    match all.is_empty() {
        true => Err("no access specification in it; save one with IOmeter".into()),
        false => Ok(all),
    }
}

/// Whether a line begins with one of the heads, which are in small letters.
fn begins(line: &str, head: &str) -> bool {
    line.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head))
}

/// The name before the last comma: what follows says to whom it is assigned.
fn name(line: &str, number: usize) -> Result<String, String> {
    let name = line.rsplit_once(',').map_or(line, |(name, _)| name).trim();
    let is_name = !name.is_empty() && !name.starts_with('\'');
    let told = name.chars().filter(|c| !c.is_control()).collect();
    if is_name {
        return Ok(told);
    }
    Err(format!("line {number}: '{line}' is no name of a specification; write NAME,NONE"))
}

/// Looks whether the last specification is whole.
fn close(all: &[Access]) -> Result<(), String> {
    let Some(Access { name, lines }) = all.last() else { return Ok(()) };
    let sum: u64 = lines.iter().map(|line| line.share).sum();
    if lines.len() > LINES_MAX {
        let have = lines.len();
        return Err(format!("'{name}' has {have} lines; {LINES_MAX} are the most"));
    }
    match sum {
        100 => Ok(()),
        _ => Err(format!("'{name}': % of size is {sum} over its lines; make it 100")),
    }
}

/// The fields of a line.
fn fields(line: &str) -> Result<Line, String> {
    let words: Vec<&str> = line.split(',').map(str::trim).collect();
    if words.len() != COLUMNS.len() {
        let (have, want) = (words.len(), COLUMNS.len());
        let columns = COLUMNS.join(",");
        return Err(format!("'{line}' has {have} fields and not {want}; write {columns}"));
    }
    let number = |at: usize, (least, most): (u64, u64)| {
        let (name, word) = (COLUMNS[at], words[at]);
        let of = word.parse().ok().filter(|number| (least..=most).contains(number));
        of.ok_or_else(|| format!("{name} = '{word}': write a whole number from {least} to {most}"))
    };
    let (percent, any) = ((0, 100), (0, NUMBER_MAX));
    Ok(Line {
        size: number(0, (1, NUMBER_MAX))?,
        share: number(1, percent)?,
        reads: number(2, percent)?,
        random: number(3, percent)?,
        delay_ms: number(4, any)?,
        burst: number(5, (1, NUMBER_MAX))?,
        align: number(6, any)?,
        reply: number(7, any)?,
    })
}
