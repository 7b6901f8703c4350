//! Whole figures: what must hold for every one of them, in every medium, width and language.

mod contrast;
pub mod fixture;
mod gallery;
mod kinds;
pub mod matrix;

use super::model::{FigureKind, Reference, Scale, Series};
use super::{alt_text, braille, csv, svg, svg_style};
use fixture::{curve, decorated, dots, figures, mark, sweep};

/// Checks nesting, quoting and entities of the subset of XML that the renderer writes.
pub fn check_xml(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim_end();
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "stray > in {}", &rest[..at]);
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.trim_matches('/').split(' ').next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;"];
        assert!(known.iter().any(|e| after.starts_with(e)), "&{}", &after[..6]);
    }
}

#[test]
fn svg_is_well_formed_whatever_the_names_are() {
    for (_, mut figure) in figures() {
        figure.title = "<script>alert(\"1\")</script> & \u{7}".into();
        figure.id = "1 \"><x".into();
        for series in &mut figure.series {
            series.name.push_str("</text>&<b>");
        }
        let text = svg(&figure, 720);
        check_xml(&text);
        assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains("style="));
    }
}

#[test]
fn svg_refers_to_nothing_outside_and_is_the_same_every_time() {
    for (name, figure) in figures() {
        let text = svg(&figure, 720);
        assert_eq!(text.matches("http").count(), 1, "{name}: only the namespace");
        assert_eq!(text, svg(&figure, 720));
    }
    assert!(!svg_style().contains("http") && !svg_style().contains("@import"));
}

#[test]
fn every_class_of_the_svg_has_a_style() {
    for (name, figure) in figures() {
        for part in svg(&figure, 720).split("class=\"").skip(1) {
            for class in part.split('"').next().unwrap().split(' ') {
                let known = class == "a" || svg_style().contains(&format!(".{class}"));
                assert!(known, "{name}: {class}");
            }
        }
    }
}

#[test]
fn csv_brings_back_every_value() {
    for (name, figure) in figures() {
        let text = csv(&figure);
        let placed = !matches!(figure.kind, FigureKind::Dots | FigureKind::Forest);
        let numbered = placed && figure.x.names.is_empty();
        let marks = figure.series.iter().flat_map(|s| &s.marks);
        for (line, mark) in text.lines().skip(1).zip(marks) {
            // Names come first and may hold quoted commas; numbers never do.
            let fields: Vec<&str> = line.rsplit(',').collect();
            let numbers: Vec<f64> = fields.iter().rev().filter_map(|f| f.parse().ok()).collect();
            let mut wanted = if numbered { vec![mark.x] } else { Vec::new() };
            wanted.extend([mark.centre, mark.low, mark.high]);
            wanted.extend(&mark.runs);
            assert_eq!(numbers.len(), wanted.len(), "{name}: {line}");
            for (number, wanted) in numbers.iter().zip(&wanted) {
                let off = (number - wanted).abs();
                let most = if wanted.fract() == 0.0 { 0.0 } else { 5e-12 * wanted.abs() };
                assert!(off <= most, "{line}");
            }
        }
    }
    let mut figure = dots(1);
    figure.series[0].name = "Intel \"MT\", server".into();
    assert!(csv(&figure).contains("\n\"Intel \"\"MT\"\", server\",941000000,"));
    assert!(
        csv(&figure).starts_with("series,throughput [bit/s],low [bit/s],high [bit/s],valid,run 1")
    );
}

#[test]
fn alt_text_tells_direction_crossing_and_zones() {
    let series = vec![curve("slow start", 13, 9.9e8, 9000.0), curve("early", 13, 6e8, 100.0)];
    let text = alt_text(&decorated(sweep(series)));
    for part in [
        "throughput over request size from 64 B to 256 KiB, higher is better.",
        "slow start: rises from",
        "cross between 8 KiB and 32 KiB",
        "64 B to 2 KiB: pro1000 ahead.",
        "line rate, TCP payload: 949 Mbit/s.",
    ] {
        assert!(text.contains(part), "{part} not in: {text}");
    }
}
#[test]
fn text_figures_keep_the_promised_width_and_height() {
    for (name, figure) in figures() {
        for (columns, rows) in [(60, 14), (44, 5), (24, 3)] {
            for unicode in [true, false] {
                let text = braille(&figure, columns, rows, unicode);
                let wide = |l: &str| l.chars().map(super::measure::cells).sum::<usize>();
                let widest = text.lines().map(wide).max().unwrap_or(0);
                assert!(widest <= usize::from(columns), "{name}: {widest} of {columns}\n{text}");
                assert!(unicode || text.is_ascii(), "{name}: {text}");
                let area = text.lines().filter(|l| l.contains(['│', '┤', '|', '+'])).count();
                let sweep = figure.kind == FigureKind::Sweep;
                assert!(!sweep || area >= usize::from(rows), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_rising_curve_rises_in_the_terminal_too() {
    let text = braille(&sweep(vec![curve("pro1000", 13, 9.4e8, 900.0)]), 60, 14, true);
    let dots = |line: &str| line.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    let rows: Vec<&str> = text.lines().skip(1).take(14).collect();
    assert!(rows.iter().all(|l| l.starts_with(' ') || l.contains('┤')), "{text}");
    let column = |l: &str| l.chars().position(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
    let starts: Vec<usize> =
        rows.iter().filter(|l| dots(l) > 0).filter_map(|l| column(l)).collect();
    assert!(starts.len() > 8 && starts.windows(2).all(|w| w[0] >= w[1]), "{text}");
    assert!(
        text.contains("pro1000") && text.contains("64 B") && text.contains("256 KiB"),
        "{text}"
    );
}

#[test]
fn strange_numbers_still_give_a_figure() {
    let values = [0.0, -3.0, 5e-9, 2.5e15, f64::NAN, f64::INFINITY, 1.0];
    for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
        for take in 1..=values.len() {
            for kind in [FigureKind::Sweep, FigureKind::Dots] {
                let xs = [0.0, 1.0, 2.0, 2.0, 3.0, f64::NAN, 1e12];
                let marks = xs.iter().zip(&values[..take]).map(|(x, v)| mark(*x, *v, 0.1));
                let mut figure = sweep(vec![Series { name: "a".into(), marks: marks.collect() }]);
                (figure.kind, figure.y.scale) = (kind, scale);
                figure.references = vec![Reference { value: f64::NAN, name: "none".into() }];
                let text = svg(&figure, 360);
                check_xml(&text);
                assert!(!text.contains("NaN") && !text.contains("inf"), "{kind:?} {take}: {text}");
                let words = braille(&figure, 44, 5, true) + &csv(&figure) + &alt_text(&figure);
                assert!(!words.is_empty());
            }
        }
    }
}
