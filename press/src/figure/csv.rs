//! Knows how the numbers of a figure are written as comma-separated values. Knows no drawing.

use super::model::{Axis, Figure, FigureKind};
use super::roofs;

/// The numbers of a figure: a header, then one line a mark, with every run in a column of its own.
///
/// Values are in the base unit that the header names, in the C locale, whole numbers in full and
/// others to 12 significant digits: no clock of ours reads finer, and the records have all. Roofs
/// follow the points of a roofline, with slope and ceiling.
/// Quoting follows RFC 4180; lines end with a line feed.
#[must_use]
pub fn csv(figure: &Figure) -> String {
    let runs = figure.series.iter().flat_map(|s| &s.marks).map(|m| m.runs.len()).max();
    let runs = runs.unwrap_or(0);
    let mut out = String::new();
    line(&mut out, &header(figure, runs));
    for series in &figure.series {
        for mark in &series.marks {
            let mut fields = vec![series.name.clone()];
            if placed(figure.kind) {
                fields.push(position(&figure.x, mark.x));
            }
            fields.extend([mark.centre, mark.low, mark.high].map(short));
            fields.push(mark.valid.to_string());
            fields.extend(
                (0..runs).map(|i| mark.runs.get(i).map_or_else(String::new, |v| short(*v))),
            );
            fields.extend(roofs::binding_column(figure, mark));
            line(&mut out, &fields);
        }
    }
    roofs::roof_rows(figure, runs).iter().for_each(|fields| line(&mut out, fields));
    out
}

fn header(figure: &Figure, runs: usize) -> Vec<String> {
    let unit = figure.y.unit.symbol();
    let mut fields = vec!["series".to_owned()];
    if figure.kind == FigureKind::Waterfall {
        fields.push(format!("from [{unit}]"));
    } else if placed(figure.kind) {
        let x = &figure.x;
        fields.push(if x.names.is_empty() { named(x) } else { x.label.clone() });
    }
    fields.push(named(&figure.y));
    fields.extend(["low", "high"].map(|end| format!("{end} [{unit}]")));
    let valid = if figure.kind == FigureKind::Forest { "decided" } else { "valid" };
    fields.push(valid.into());
    fields.extend((1..=runs).map(|i| format!("run {i} [{unit}]")));
    fields.extend(roofs::extra_columns(figure));
    fields
}

/// Whether a mark has a position besides the name of its series.
const fn placed(kind: FigureKind) -> bool {
    !matches!(kind, FigureKind::Dots | FigureKind::Forest)
}

/// The name of a position that has one.
fn position(axis: &Axis, x: f64) -> String {
    if axis.names.is_empty() { short(x) } else { axis.tick_text(x) }
}

/// A value to 12 significant digits.
fn short(value: f64) -> String {
    if value.fract() == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    format!("{value:.11e}").parse().unwrap_or(value).to_string()
}

fn named(axis: &Axis) -> String {
    format!("{} [{}]", axis.label, axis.unit.symbol())
}

fn line(out: &mut String, fields: &[String]) {
    let quoted: Vec<String> = fields.iter().map(|f| quote(f)).collect();
    out.push_str(&quoted.join(","));
    out.push('\n');
}

fn quote(field: &str) -> String {
    let special = field.contains([',', '"', '\n', '\r']);
    let edge = field.trim() != field;
    if special || edge { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}
