//! Whole figures: what must hold for every one of them, in every medium, width and language.

use super::layout::scene;
use super::model::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use super::scene::{Ink, Rect, Scene, Shape, Text};
use super::{alt_text, braille, csv, svg, svg_style};
use crate::unit::Unit;

const WIDTHS: [u32; 3] = [360, 720, 1080];
const STRETCHES: [f64; 2] = [1.0, 1.35];

fn mark(x: f64, centre: f64, spread: f64) -> Mark {
    let runs = [-0.8, 0.3, -0.2, 0.9, 0.1].map(|d| centre * (1.0 + spread * d)).to_vec();
    let (low, high) = (centre * (1.0 - spread), centre * (1.0 + spread));
    Mark { x, centre, low, high, runs, valid: true }
}

/// A throughput curve that saturates at `peak` with half of it at `knee` bytes.
fn curve(name: &str, points: u32, peak: f64, knee: f64) -> Series {
    let marks = (0..points)
        .map(|i| 64.0 * 2_f64.powi(i.cast_signed()))
        .map(|x| mark(x, peak * x / (x + knee), 0.04))
        .collect();
    Series { name: name.into(), marks }
}

fn axis(label: &str, unit: Unit, scale: Scale, direction: &str) -> Axis {
    Axis { label: label.into(), unit, scale, direction: direction.into(), names: Vec::new() }
}

fn sweep(series: Vec<Series>) -> Figure {
    Figure {
        id: "fig-transmit".into(),
        number: 3,
        kind: FigureKind::Sweep,
        title: "The pro1000 sends 2.9 times the data of the dge530 below 2 KiB, \
                then the wire limits both"
            .into(),
        subtitle: "TCP throughput over the size of each send, one connection, MTU 1500 B".into(),
        x: axis("request size", Unit::Byte, Scale::Log2, ""),
        y: axis("throughput", Unit::BitPerSecond, Scale::Linear, "higher is better"),
        series,
        zones: Vec::new(),
        references: Vec::new(),
        roofs: Vec::new(),
        footnote:
            "n = 5 blocks in random order; bands are 95 % t intervals, simultaneous over all \
                   sizes (Holm). Run 2026-11-21-a7, environment 5f2c."
                .into(),
    }
}

fn decorated(mut figure: Figure) -> Figure {
    let zone = |from, to, name: &str| Zone { from, to, name: name.into() };
    figure.zones =
        vec![zone(64.0, 2048.0, "pro1000 ahead"), zone(4096.0, 65536.0, "no difference")];
    figure.references = vec![
        Reference { value: 9.49e8, name: "line rate, TCP payload".into() },
        Reference { value: 5e8, name: "half of line rate".into() },
    ];
    figure
}

const LONG: &str = "Intel PRO/1000 MT server adapter, firmware 8.3, interrupts balanced";

fn sweeps() -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    for points in [3, 5, 8, 13] {
        let crossing = [
            curve("pro1000", points, 9.4e8, 300.0),
            curve("dge530", points, 9.6e8, 900.0),
            curve("rtl8169 onboard", points, 9.41e8, 310.0),
            curve("e1000 virtual", points, 4.2e8, 100.0),
        ];
        for n in 1..=4 {
            let figure = sweep(crossing[..n].to_vec());
            all.push((format!("{points} points, {n} series"), figure.clone()));
            all.push((format!("{points} points, {n} series, zones"), decorated(figure)));
        }
    }
    let long = vec![curve(LONG, 13, 9.4e8, 300.0), curve("dge530", 13, 3.1e8, 900.0)];
    all.push(("long names".into(), decorated(sweep(long))));
    let mut falling = sweep(vec![curve("a", 9, 9e3, 500.0), curve("b", 9, 9e3, 5e5)]);
    falling.y = axis("answers", Unit::OperationPerSecond, Scale::Log10, "higher is better");
    all.push(("log".into(), falling));
    let mut holes = sweep(vec![curve("pro1000", 7, 9e8, 500.0)]);
    holes.series[0].marks[3].valid = false;
    holes.series[0].marks[6].valid = false;
    all.push(("invalid points".into(), decorated(holes)));
    all
}

fn dots(count: usize) -> Figure {
    let names =
        ["pro1000", "dge530", LONG, "接收", "с балансировкой прерываний", "e", "f", "g h i"];
    let centres = [9.41e8, 7.2e8, 9.3e8, 8.8e8, 2.2e8, 9.0e8, 4.0e8, 5.5e8];
    let mut figure = sweep(Vec::new());
    figure.kind = FigureKind::Dots;
    figure.series = (0..count)
        .map(|i| Series { name: names[i].into(), marks: vec![mark(0.0, centres[i], 0.03)] })
        .collect();
    figure
}

fn ratios() -> Figure {
    let mut figure = dots(3);
    figure.title = "Small requests gain most".into();
    figure.y = axis("throughput, pro1000 over dge530", Unit::Ratio, Scale::Linear, "above 1 wins");
    for (series, centre) in figure.series.iter_mut().zip([2.93, 1.31, 0.99]) {
        series.marks = vec![mark(0.0, centre, 0.06)];
    }
    figure.references = vec![Reference { value: 1.0, name: "no difference".into() }];
    figure
}

fn figures() -> Vec<(String, Figure)> {
    let mut all = sweeps();
    all.extend((1..=8).map(|n| (format!("{n} rows"), dots(n))));
    all.push(("ratios".into(), ratios()));
    let mut bad = dots(3);
    bad.series[1].marks[0].valid = false;
    bad.series[2].marks.clear();
    all.push(("invalid rows".into(), bad));
    all.push(("empty".into(), sweep(Vec::new())));
    all
}

fn texts(scene: &Scene) -> Vec<&Text> {
    let mut all = Vec::new();
    for shape in &scene.shapes {
        if let Shape::Text(text) = shape {
            all.push(text);
        }
    }
    all
}

fn every_layout(check: impl Fn(&str, &Figure, &Scene)) {
    for (name, figure) in figures() {
        for width in WIDTHS {
            for stretch in STRETCHES {
                let name = format!("{name}, {width} px, texts x{stretch}");
                check(&name, &figure, &scene(&figure, width, stretch));
            }
        }
    }
}

#[test]
fn no_text_leaves_the_sheet() {
    every_layout(|name, _, scene| {
        for text in texts(scene) {
            let room = text.bounds();
            let inside = room.left > -0.1
                && room.right < scene.width + 0.1
                && room.top >= 0.0
                && room.bottom <= scene.height;
            assert!(inside, "{name}: '{}' at {room:?} of {}", text.words, scene.width);
        }
    });
}

#[test]
fn no_two_texts_overlap() {
    every_layout(|name, _, scene| {
        let texts = texts(scene);
        for (i, a) in texts.iter().enumerate() {
            for b in &texts[i + 1..] {
                assert!(
                    !a.bounds().overlaps(&b.bounds()),
                    "{name}: '{}' {:?} on '{}' {:?}",
                    a.words,
                    a.bounds(),
                    b.words,
                    b.bounds()
                );
            }
        }
    });
}

#[test]
fn no_curve_and_no_marker_crosses_a_text() {
    every_layout(|name, _, scene| {
        for text in texts(scene) {
            let room = text.bounds();
            for shape in &scene.shapes {
                let crossed = match shape {
                    Shape::Line(Ink::Curve(_) | Ink::Reference | Ink::Interval(_), points) => {
                        points.windows(2).any(|w| room.crossed_by(w[0], w[1]))
                    }
                    Shape::Marker { at, radius, .. } => room.overlaps(&Rect {
                        left: at.0 - radius,
                        top: at.1 - radius,
                        right: at.0 + radius,
                        bottom: at.1 + radius,
                    }),
                    _ => false,
                };
                assert!(!crossed, "{name}: '{}' {room:?} crossed by {shape:?}", text.words);
            }
        }
    });
}

#[test]
fn every_point_and_every_name_is_drawn() {
    every_layout(|name, figure, scene| {
        let marks: usize = figure.series.iter().map(|s| s.marks.len()).sum();
        let hinted = |s: &&Shape| matches!(s, Shape::Marker { hint, .. } if !hint.is_empty());
        assert_eq!(scene.shapes.iter().filter(hinted).count(), marks, "{name}");
        let said: String = texts(scene).iter().map(|t| t.words.replace(' ', "")).collect();
        let names = figure.series.iter().map(|s| &s.name);
        let names = names.chain(figure.zones.iter().map(|z| &z.name));
        for wanted in names.chain(figure.references.iter().map(|r| &r.name)) {
            assert!(said.contains(&wanted.replace(' ', "")), "{name}: {wanted}");
        }
    });
}

/// Checks nesting, quoting and entities of the subset of XML that the renderer writes.
fn check_xml(text: &str) {
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
        let sweep = figure.kind == FigureKind::Sweep;
        let marks = figure.series.iter().flat_map(|s| &s.marks);
        for (line, mark) in text.lines().skip(1).zip(marks) {
            // Names come first and may hold quoted commas; numbers never do.
            let fields: Vec<&str> = line.rsplit(',').collect();
            let numbers: Vec<f64> = fields.iter().rev().filter_map(|f| f.parse().ok()).collect();
            let mut wanted = if sweep { vec![mark.x] } else { Vec::new() };
            wanted.extend([mark.centre, mark.low, mark.high]);
            wanted.extend(&mark.runs);
            assert_eq!(numbers, wanted, "{name}: {line}");
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
                let widest = text.lines().map(wide).max().unwrap();
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
