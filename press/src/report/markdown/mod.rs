//! Knows how a document becomes a summary on GitHub: a step summary, a comment on a pull request.
//!
//! At most [`LINES`] lines and [`CHARACTERS`] characters: the verdict, one table, the doubts, how
//! to reproduce it, and folded away as much of the rest as there is room for. What is left out
//! leaves an ellipsis. Never: a word or a figure of its own; what a person wrote is escaped.

mod escape;
mod sheet;

use super::document::{Document, Node, Prose, Ruling, Table, Tone};
use escape::{cell, markdown as escaped, markup};
use sheet::Sheet;

/// Most lines of a summary.
const LINES: usize = 60;
/// Most characters of a summary; a comment takes 65,536.
const CHARACTERS: usize = 60_000;
/// Most lines of the answer, of the second answer, of the table, of the doubts.
const RULINGS: usize = 12;
const FURTHER_RULINGS: usize = 4;
const ROWS: usize = 14;
const DOUBTS: usize = 6;
/// Most lines of a folded chapter, and of a command.
const FOLDED: usize = 9;
const COMMAND: usize = 4;
/// Chapters that have a place of their own, or none.
const APART: [&str; 4] = ["doubts", "reproduce", "appendix", "trials"];
const MORE: &str = "…";

/// The document in at most 60 lines of GitHub's Markdown; the same document gives the same bytes.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut sheet = Sheet::new(LINES, CHARACTERS);
    head(&mut sheet, document);
    let boxes = document.body.iter().filter(|n| matches!(n, Node::VerdictBox { .. })).count();
    let mut room = RULINGS;
    for node in &document.body {
        if let Node::VerdictBox { tone, headline, rulings, limits, .. } = node {
            answer(&mut sheet, (*tone, headline), rulings, room);
            let first = room == RULINGS;
            // What the answer does not decide is said again as doubts, but not of a gate.
            if first && (boxes > 1 || section(document, "doubts").is_none()) {
                sheet.list(&limits.iter().map(item).collect::<Vec<_>>());
            }
            room = FURTHER_RULINGS;
        }
    }
    let end = reproduce(document);
    sheet.reserve(&end);
    if let Some(table) = main_table(document) {
        main(&mut sheet, table);
    }
    if let Some((title, body)) = section(document, "doubts") {
        sheet.block(&[format!("**{}**", escaped(title)), String::new()]);
        sheet.list(&shortened(points(body), DOUBTS));
    }
    for node in &document.body {
        if let Node::Section { id, title, body, .. } = node
            && !APART.contains(&id.as_str())
        {
            fold(&mut sheet, title, body);
        }
    }
    sheet.finished(&end)
}

fn head(sheet: &mut Sheet, document: &Document) {
    if !document.watermark.text().is_empty() {
        let mark = format!("> **{}**", escaped(&document.watermark));
        sheet.block(&["> [!CAUTION]".into(), mark, String::new()]);
    }
    sheet.block(&[format!("## {}", escaped(&document.title)), String::new()]);
    let mut small = vec![markup(&document.kicker)];
    if !document.question.text().is_empty() {
        small.push(format!("<em>{}</em>", markup(&document.question)));
    }
    sheet.block(&[format!("<sub>{}</sub>", small.join("<br>")), String::new()]);
}

const fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "🟢 ",
        Tone::Bad => "🔴 ",
        Tone::Even => "⚪ ",
        Tone::Open => "🟡 ",
        Tone::Plain => "",
    }
}

fn answer(sheet: &mut Sheet, (tone, headline): (Tone, &Prose), rulings: &[Ruling], most: usize) {
    sheet.block(&[format!("{}**{}**", sign(tone), escaped(headline)), String::new()]);
    let line = |ruling: &Ruling| {
        let label = match ruling.label.text() {
            "" => String::new(),
            _ => format!("**{}** ", escaped(&ruling.label)),
        };
        format!("- {}{label}{}", sign(ruling.tone), escaped(&ruling.sentence))
    };
    sheet.list(&shortened(rulings.iter().map(line).collect(), most));
}

/// The lines, or the first of them and an ellipsis.
fn shortened(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        lines.truncate(most - 1);
        lines.push(format!("- {MORE}"));
    }
    lines
}

fn item(prose: &Prose) -> String {
    format!("- {}", escaped(prose))
}

fn section<'d>(document: &'d Document, wanted: &str) -> Option<(&'d Prose, &'d [Node])> {
    document.body.iter().find_map(|node| match node {
        Node::Section { id, title, body, .. } if id == wanted => Some((title, body.as_slice())),
        _ => None,
    })
}

/// The table beside the answer, else the first of the results, else of any chapter.
fn main_table(document: &Document) -> Option<&Table> {
    let beside = document.body.iter().filter(|node| matches!(node, Node::Table(_)));
    let results = document
        .body
        .iter()
        .filter(|node| matches!(node, Node::Section { id, .. } if id.starts_with("result")));
    beside.chain(results).chain(&document.body).find_map(first_table)
}

fn first_table(node: &Node) -> Option<&Table> {
    match node {
        Node::Section { body, .. } => body.iter().find_map(first_table),
        Node::Table(table) => Some(table).filter(|t| !t.columns.is_empty()),
        _ => None,
    }
}

fn main(sheet: &mut Sheet, table: &Table) {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![format!("**{}**", escaped(&table.caption)), String::new()];
    lines.push(row(table.columns.iter().map(|c| cell(&c.title)).collect()));
    let rule = |numeric: bool| if numeric { "---:" } else { ":---" };
    lines.push(row(table.columns.iter().map(|c| rule(c.numeric).into()).collect()));
    let kept = if table.rows.len() > ROWS { ROWS - 1 } else { ROWS };
    for cells in table.rows.iter().take(kept) {
        lines.push(row(cells.iter().map(cell).collect()));
    }
    if table.rows.len() > ROWS {
        lines.push(row(table.columns.iter().map(|_| MORE.into()).collect()));
    }
    lines.push(String::new());
    sheet.block(&lines);
}

/// What a chapter says, a line each: tables and code are in the report.
fn points(body: &[Node]) -> Vec<String> {
    let mut lines = Vec::new();
    for node in body {
        match node {
            Node::Section { body, .. } => lines.extend(points(body)),
            Node::Paragraph(text) => lines.push(item(text)),
            Node::List(items) => lines.extend(items.iter().map(item)),
            Node::Note { lead, text } => {
                lines.push(format!("- **{}** {}", escaped(lead), escaped(text)));
            }
            Node::Facts(rows) => lines.extend(
                rows.iter().map(|(key, value)| format!("- {}: {}", escaped(key), escaped(value))),
            ),
            Node::Figure(drawn) => lines.push(item(&Prose::verbatim(&drawn.title))),
            Node::VerdictBox { .. } | Node::Table(_) | Node::Code { .. } => {}
        }
    }
    lines.retain(|line| line.len() > "- ".len());
    lines
}

fn fold(sheet: &mut Sheet, title: &Prose, body: &[Node]) {
    let said = points(body);
    if said.is_empty() {
        return;
    }
    let mut lines = vec![format!("<details><summary>{}</summary>", markup(title)), String::new()];
    lines.extend(shortened(said, FOLDED));
    lines.extend([String::new(), "</details>".into(), String::new()]);
    sheet.block(&lines);
}

/// The command that makes the run again.
fn reproduce(document: &Document) -> Vec<String> {
    let Some((title, body)) = section(document, "reproduce") else { return Vec::new() };
    let command = body.iter().find_map(|node| match node {
        Node::Code { text, .. } => Some(text),
        _ => None,
    });
    let Some(command) = command.filter(|c| c.lines().count() <= COMMAND) else { return Vec::new() };
    let fence = escape::fence(command);
    let mut lines = vec![format!("**{}**", escaped(title)), String::new(), format!("{fence}sh")];
    lines.extend(command.lines().map(str::to_owned));
    lines.push(fence);
    lines
}

#[cfg(test)]
mod tests;
