//! Knows what GitHub makes of a text, and writes it so that it makes nothing of it.
//!
//! Mentions, references and addresses are found after Markdown is rendered, where a backslash is no
//! help; an entity of no width between their signs is. Never: what is an order to anything.

use crate::report::document::Prose;

/// Most characters of a text; longer ones end in an ellipsis.
const LONGEST: usize = 800;
/// Most characters of a cell.
const LONGEST_CELL: usize = 160;
/// Of no width, and without a digit that could be taken for a figure.
const NOTHING: &str = "&ZeroWidthSpace;";

/// A text in a line of Markdown.
pub(super) fn markdown(prose: &Prose) -> String {
    opened(&inline(&clipped(prose.text(), LONGEST)))
}

/// A text in a cell of a table.
pub(super) fn cell(prose: &Prose) -> String {
    inline(&clipped(prose.text(), LONGEST_CELL))
}

/// A text between tags, where Markdown is not read.
pub(super) fn markup(prose: &Prose) -> String {
    let text: Vec<char> = clipped(prose.text(), LONGEST).chars().collect();
    text.iter().enumerate().map(|(at, c)| entity(*c).unwrap_or_else(|| alone(&text, at))).collect()
}

/// A fence that no line of the text can close.
pub(super) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// The text on one line without signs that turn the direction of reading, at most `most` long; it
/// is cut between words where there are any.
fn clipped(text: &str, most: usize) -> String {
    let turned = |c: &char| matches!(*c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain: String =
        text.chars().filter(|c| !turned(c)).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line = line.chars().take(most - 1).collect();
    // A number must not be cut within its digits.
    let end = line.rfind(' ').or_else(|| line.rfind(|c: char| !c.is_ascii_digit() && c != '.'));
    line.truncate(end.unwrap_or(0));
    format!("{line}…")
}

/// What HTML would read.
fn entity(c: char) -> Option<String> {
    let entity = match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        _ => return None,
    };
    Some(entity.into())
}

/// The sign at a place, parted from the next where both together would become a link.
fn alone(text: &[char], at: usize) -> String {
    let next = |ahead: usize| text.get(at + ahead).copied().unwrap_or(' ');
    let c = text[at];
    let links = match c {
        '@' => true,
        '#' => next(1).is_ascii_digit(),
        ':' => next(1) == '/' && next(2) == '/',
        '-' => next(1).is_ascii_digit() && at > 1 && is_gh(&text[at - 2..at]),
        '.' => at > 2 && text[at - 3..at].iter().all(|c| c.eq_ignore_ascii_case(&'w')),
        _ => false,
    };
    if links { format!("{c}{NOTHING}") } else { c.to_string() }
}

fn is_gh(before: &[char]) -> bool {
    matches!(before, [g, h] if g.eq_ignore_ascii_case(&'g') && h.eq_ignore_ascii_case(&'h'))
}

fn inline(text: &str) -> String {
    let text: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (at, c) in text.iter().enumerate() {
        let letter =
            |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| c.is_alphanumeric());
        // Within a word an underscore is one; at its edge it begins or ends emphasis.
        let within = letter(at.checked_sub(1)) && letter(Some(at + 1));
        match c {
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => out.extend(['\\', *c]),
            '_' if !within => out.push_str("\\_"),
            c => out.push_str(&entity(*c).unwrap_or_else(|| alone(&text, at))),
        }
    }
    out
}

/// A text that may begin a line: no heading, list or rule comes of it.
fn opened(text: &str) -> String {
    if text.starts_with(['#', '+', '-', '=']) {
        return format!("\\{text}");
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let is_list = !number.is_empty() && (rest.starts_with(". ") || rest.starts_with(") "));
    if is_list { format!("{number}\\{rest}") } else { text.into() }
}
