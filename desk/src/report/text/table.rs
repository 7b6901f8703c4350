//! Knows how a table is set in plain text: in columns if it fits, else row by row.

use super::super::document::{Prose, Table};
use super::wrap;

/// Space between two columns, characters.
const GUTTER: usize = 2;

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

/// The table in columns if every row fits into one line, else each row as keys and values.
pub(super) fn data(table: &Table, width: usize) -> Vec<String> {
    let widths = widths(table);
    if widths.iter().sum::<usize>() + GUTTER * widths.len().saturating_sub(1) > width {
        return spread(table, width);
    }
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.text()).collect();
    let rules: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let mut lines = vec![set(table, &titles, &widths), set(table, &rules, &widths)];
    for row in &table.rows {
        let cells: Vec<&str> = row.iter().map(Prose::text).collect();
        lines.push(set(table, &cells, &widths));
    }
    lines
}

fn widths(table: &Table) -> Vec<usize> {
    let widest = |at: usize| {
        let cells = table.rows.iter().filter_map(|r| r.get(at)).map(|c| length(c.text()));
        cells.max().unwrap_or(0)
    };
    let columns = table.columns.iter().enumerate();
    columns.map(|(at, column)| length(column.title.text()).max(widest(at))).collect()
}

fn set(table: &Table, cells: &[&str], widths: &[usize]) -> String {
    let mut line = String::new();
    for ((cell, width), column) in cells.iter().zip(widths).zip(&table.columns) {
        if !line.is_empty() {
            line.push_str(&" ".repeat(GUTTER));
        }
        let cell =
            if column.numeric { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
        line.push_str(&cell);
    }
    line
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
