//! Knows how a table is set in plain text: in columns if it fits, else row by row.

use super::super::document::{Prose, Table};
use super::wrap;

/// Space between two columns, characters.
const GUTTER: usize = 2;
/// The same where the page is too narrow for that.
const TIGHT: usize = 1;
/// From this many columns on a table is mostly figures.
const MANY: usize = 8;

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A key and its value a line, the value wrapped under itself.
pub(super) fn facts(rows: &[[&Prose; 2]], width: usize) -> Vec<String> {
    let keys = rows.iter().map(|[key, _]| length(key.text())).max().unwrap_or(0);
    let keys = keys.min(width / 2);
    let later = " ".repeat(keys + GUTTER);
    let mut lines = Vec::new();
    for [key, value] in rows {
        let first = format!("{:keys$}{:GUTTER$}", key.text(), "");
        lines.extend(wrap(value.text(), width, &first, &later));
    }
    lines
}

/// The table in columns, words wrapped within their cells; row by row if even that is too wide.
pub(super) fn data(table: &Table, width: usize) -> Vec<String> {
    // Many columns of figures rather move together than have their cells broken.
    let whole: usize = (0..table.columns.len()).map(|at| widest_cell(table, at) + GUTTER).sum();
    let many = table.columns.len() >= MANY && whole > width;
    let gaps = if many { &[TIGHT][..] } else { &[GUTTER, TIGHT] };
    let found = gaps.iter().find_map(|gap| Some((fitted(table, (width, *gap))?, *gap)));
    let Some((widths, gap)) = found else { return spread(table, width) };
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.text()).collect();
    let rules: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let mut lines = set(table, &titles, (&widths, gap));
    lines.extend(set(table, &rules, (&widths, gap)));
    for (at, row) in table.rows.iter().enumerate() {
        let mut cells: Vec<&str> = row.iter().map(Prose::text).collect();
        // A heading that the row above has too is not said again.
        let above = at.checked_sub(1).and_then(|at| table.rows.get(at));
        if above.is_some_and(|above| above.first() == row.first())
            && let Some(c) = cells.first_mut()
        {
            *c = "";
        }
        lines.extend(set(table, &cells, (&widths, gap)));
    }
    lines
}

/// Widths that fit the page: columns of words give way, the widest first, never below their longest
/// word; figures are never broken.
fn fitted(table: &Table, (width, gap): (usize, usize)) -> Option<Vec<usize>> {
    let mut widths = widths(table);
    let cells: Vec<usize> = (0..widths.len()).map(|at| widest_cell(table, at)).collect();
    let least: Vec<usize> = (0..widths.len()).map(|at| longest_word(table, at)).collect();
    loop {
        let total = widths.iter().sum::<usize>() + gap * widths.len().saturating_sub(1);
        if total <= width {
            return Some(widths);
        }
        let giving = (0..widths.len()).filter(|at| widths[*at] > least[*at]);
        // A heading gives way before the cells below it.
        let widest = giving.max_by_key(|at| (widths[*at] > cells[*at], widths[*at]))?;
        widths[widest] -= 1;
    }
}

fn longest_word(table: &Table, at: usize) -> usize {
    let title = table.columns.get(at).map(|c| c.title.text());
    let cells = table.rows.iter().filter_map(|r| r.get(at)).map(Prose::text);
    let figures = table.columns.get(at).is_some_and(|c| c.numeric);
    let of_cells = cells.flat_map(|cell| match figures {
        true => vec![length(cell)],
        false => cell.split(' ').map(length).collect(),
    });
    let of_title = title.into_iter().flat_map(|t| t.split(' ').map(length));
    of_cells.chain(of_title).max().unwrap_or(0)
}

fn widest_cell(table: &Table, at: usize) -> usize {
    let cells = table.rows.iter().filter_map(|r| r.get(at)).map(|c| length(c.text()));
    cells.max().unwrap_or(0)
}

fn widths(table: &Table) -> Vec<usize> {
    let columns = table.columns.iter().enumerate();
    columns.map(|(at, c)| length(c.title.text()).max(widest_cell(table, at))).collect()
}

/// One row of the table, as many lines as its highest cell.
fn set(table: &Table, cells: &[&str], (widths, gap): (&[usize], usize)) -> Vec<String> {
    let wrapped: Vec<Vec<String>> =
        cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width, "", "")).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for at in 0..height {
        let mut line = Vec::new();
        for ((cell, width), column) in wrapped.iter().zip(widths).zip(&table.columns) {
            let text = cell.get(at).map_or("", String::as_str);
            let numeric = column.numeric;
            line.push(if numeric { format!("{text:>width$}") } else { format!("{text:<width$}") });
        }
        lines.push(line.join(&" ".repeat(gap)));
    }
    lines
}

fn spread(table: &Table, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &table.rows {
        let Some((head, rest)) = row.split_first() else { continue };
        lines.extend(wrap(head.text(), width, "", ""));
        for (column, cell) in table.columns.iter().skip(1).zip(rest) {
            let first = format!("  {}: ", column.title.text());
            lines.extend(wrap(cell.text(), width, &first, "    "));
        }
    }
    lines
}
