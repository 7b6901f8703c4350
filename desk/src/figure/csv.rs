//! Knows how the numbers of a figure are written as comma-separated values. Knows no drawing.

use super::model::{Axis, Figure, FigureKind};
use super::roofs;

/// The numbers of a figure: a header, then one line a mark, with every run in a column of its own.
///
/// Values are in the base unit that the header names, in the C locale, with as many digits as bring
/// back the same binary value. Roofs follow the points of a roofline, with slope and ceiling.
/// Quoting follows RFC 4180; lines end with a line feed.
#[must_use]
pub fn csv(figure: &Figure) -> String {
    let runs = figure.series.iter().flat_map(|s| &s.marks).map(|m| m.runs.len()).max();
    let runs = runs.unwrap_or(0);
    let sweep = placed(figure);
    let mut out = String::new();
    line(&mut out, &header(figure, runs));
    for series in &figure.series {
        for mark in &series.marks {
            let mut fields = vec![series.name.clone()];
            if sweep {
                fields.push(mark.x.to_string());
            }
            fields.extend([mark.centre, mark.low, mark.high].map(|v| v.to_string()));
            fields.push(mark.valid.to_string());
            fields.extend(
                (0..runs).map(|i| mark.runs.get(i).map_or_else(String::new, f64::to_string)),
            );
            fields.extend(roofs::binding_column(figure, mark));
            line(&mut out, &fields);
        }
    }
    roofs::roof_rows(figure, runs).iter().for_each(|fields| line(&mut out, fields));
    out
}

/// Whether the `x` of a mark is a quantity.
fn placed(figure: &Figure) -> bool {
    use FigureKind::{Percentile, Roofline, Sweep, Timeline, Waterfall};
    matches!(figure.kind, Sweep | Percentile | Timeline | Waterfall | Roofline)
}

fn header(figure: &Figure, runs: usize) -> Vec<String> {
    let unit = figure.y.unit.symbol();
    let mut fields = vec!["series".to_owned()];
    if figure.kind == FigureKind::Waterfall {
        fields.push(format!("from [{unit}]"));
    } else if placed(figure) {
        fields.push(named(&figure.x));
    }
    fields.push(named(&figure.y));
    fields.extend(["low", "high"].map(|end| format!("{end} [{unit}]")));
    fields.push("valid".into());
    fields.extend((1..=runs).map(|i| format!("run {i} [{unit}]")));
    fields.extend(roofs::extra_columns(figure));
    fields
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
