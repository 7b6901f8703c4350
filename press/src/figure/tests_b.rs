//! The kinds with a quantity along both axes, and the waterfall: what must hold for each of them in
//! every medium, width and language. Light and dark differ in colours only.

use super::layout::scene;
use super::model::{Axis, Figure, FigureKind, Mark, Reference, Roof, Scale, Series, Zone};
use super::scene::{Ink, Rect, Role, Scene, Shape, Text};
use super::tests::matrix::{layouts, texts};
use super::{alt_text, braille, csv, svg, svg_style};
use desk::unit::Unit;

const WIDTHS: [u32; 3] = [400, 760, 1100];
const LONG: &str = "Intel PRO/1000 MT server adapter, firmware 8.3, interrupts balanced";
const SIXTY: &str = "mitigations off, SMT off, interrupts pinned, 2 MiB huge page";

fn axis(label: &str, unit: Unit, scale: Scale, direction: &str) -> Axis {
    Axis { label: label.into(), unit, scale, direction: direction.into(), names: Vec::new() }
}

fn mark(x: f64, centre: f64, spread: f64) -> Mark {
    let (low, high) = (centre * (1.0 - spread), centre * (1.0 + spread));
    Mark { x, centre, low, high, runs: vec![low, centre, high], valid: true }
}

fn bare(x: f64, centre: f64) -> Mark {
    Mark { x, centre, low: centre, high: centre, runs: vec![centre], valid: true }
}

fn figure(kind: FigureKind, title: &str, axes: (Axis, Axis), series: Vec<Series>) -> Figure {
    let (x, y) = axes;
    let subtitle = "TCP request and response of 64 B, 16 connections, MTU 1500 B".into();
    let footnote = "n = 5 blocks in random order. Run 2026-11-21-a7, environment 5f2c.".into();
    let (id, title) = ("fig-b".into(), title.into());
    let (zones, references, roofs) = (Vec::new(), Vec::new(), Vec::new());
    #[rustfmt::skip]
    let figure = Figure {
        id, number: 4, kind, title, subtitle, x, y, series, zones, references, roofs, footnote,
    };
    figure
}

fn named(name: &str, marks: Vec<Mark>) -> Series {
    Series { name: name.into(), marks }
}

/// Latencies of `n` requests around `middle` s with a tail, each a step of 1/n.
fn steps(name: &str, n: u32, middle: f64, tail: f64) -> Series {
    let step = |i: u32| {
        let share = f64::from(i) / f64::from(n);
        let inner = (share - 0.5 / f64::from(n)).clamp(1e-6, 1.0);
        let x = middle * (0.6 + 0.6 * inner + tail * (1.0 / (1.003 - inner) - 1.0) / 60.0);
        bare(x, share)
    };
    named(name, (1..=n).map(step).collect())
}

/// Shares with an interval at twelve values.
fn curve(name: &str, middle: f64) -> Series {
    let point = |i: u32| {
        let x = middle * 1.35_f64.powi(i.cast_signed() - 5);
        let rest = 1.0 / (1.0 + (x / middle).powf(4.0));
        let share = 1.0 - rest;
        let (low, high) = (1.0 - (rest * 1.5).min(1.0), 1.0 - rest / 1.5);
        Mark { x, centre: share, low, high, runs: Vec::new(), valid: true }
    };
    named(name, (0..12).map(point).collect())
}

fn shares(scale: Scale, series: Vec<Series>) -> Figure {
    let x = axis("round-trip time", Unit::Second, Scale::Log10, "lower is better");
    let y = axis("share of requests at most so slow", Unit::Share, scale, "");
    let title = "Half of the answers come equally soon, but one in a hundred waits twice as long \
                 on the dge530";
    figure(FigureKind::Percentile, title, (x, y), series)
}

fn percentiles() -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    let pool = [
        steps("pro1000", 300, 62e-6, 0.4),
        steps("dge530", 300, 71e-6, 1.6),
        steps("rtl8169 onboard", 12, 140e-6, 1.0),
        steps("virtual", 9, 141e-6, 1.0),
    ];
    for n in 1..=4 {
        all.push((format!("{n} distributions"), shares(Scale::Linear, pool[..n].to_vec())));
    }
    let half = Reference { value: 0.5, name: "half of them".into() };
    let tail = Reference { value: 0.99, name: "99 of 100".into() };
    let mut nines = shares(Scale::Log10, vec![curve("pro1000", 80e-6), curve("dge530", 140e-6)]);
    nines.references = vec![half.clone(), tail.clone()];
    all.push(("nines".into(), nines.clone()));
    nines.series = vec![curve(LONG, 80e-6), curve(SIXTY, 84e-6)];
    nines.series[1].marks[4].valid = false;
    nines.zones = vec![Zone { from: 5e-5, to: 9e-5, name: "pro1000 ahead".into(), leader: None }];
    all.push(("nines, long names".into(), nines));
    let mut linear = shares(Scale::Linear, pool[..2].to_vec());
    linear.x.scale = Scale::Linear;
    linear.references = vec![half, tail];
    all.push(("linear".into(), linear));
    all.push(("one step".into(), shares(Scale::Linear, vec![named("a", vec![bare(1e-4, 1.0)])])));
    all.push(("no share".into(), shares(Scale::Linear, Vec::new())));
    all
}

/// Visits of `n` series over `blocks` blocks of 40 s, each with a first dry visit.
fn visits(names: &[&str], blocks: u32, level: f64) -> Figure {
    let series = |(i, name): (usize, &&str)| {
        let shift = f64::from(u32::try_from(i).unwrap());
        let visit = |b: u32| {
            let x = 20.0 + f64::from(b) * 40.0 * names.len() as f64 + 40.0 * shift;
            let noise = f64::from((b * 7 + 3) % 5) * 0.004 - 0.008;
            let mut mark = bare(x, level * (1.0 - 0.04 * shift + noise));
            if b == 0 {
                mark.runs.clear();
            }
            mark
        };
        named(name, (0..=blocks).map(visit).collect())
    };
    let series: Vec<Series> = names.iter().enumerate().map(series).collect();
    let x = axis("time since the run began", Unit::Second, Scale::Linear, "");
    let y = axis("throughput", Unit::BitPerSecond, Scale::Linear, "higher is better");
    let title = "The difference holds in every block; nothing drifts";
    figure(FigureKind::Timeline, title, (x, y), series)
}

fn timelines() -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    let pool = ["pro1000", "dge530", LONG, SIXTY];
    for n in 1..=4 {
        all.push((format!("{n} series of visits"), visits(&pool[..n], 8, 9.4e9)));
    }
    let zone = |from: f64, to, name: &str| Zone { from, to, name: name.into(), leader: None };
    let mut disturbed = visits(&pool[..2], 12, 9.4e9);
    disturbed.series[0].marks[5].valid = false;
    disturbed.series[1].marks[5].valid = false;
    disturbed.series[1].marks[5].centre *= 0.6;
    disturbed.zones = vec![zone(420.0, 480.0, "CPU time stolen"), zone(700.0, 700.0, "link down")];
    disturbed.references = vec![Reference { value: 9.49e9, name: "line rate, TCP payload".into() }];
    all.push(("disturbed".into(), disturbed.clone()));
    let kinds = ["CPU time stolen by another guest", "throttled", "link down"];
    disturbed.zones = (0..9)
        .map(|i| (f64::from(i) * 110.0, kinds[i as usize % 3]))
        .map(|(at, name)| zone(at, at + 30.0, name))
        .collect();
    all.push(("often disturbed".into(), disturbed));
    all.push(("long run".into(), visits(&pool[..3], 90, 9.4e9)));
    all.push(("one visit".into(), visits(&pool[..1], 0, 3.0)));
    all.push(("no visit".into(), visits(&[], 0, 1.0)));
    all
}

fn fall(steps: &[(&str, f64, f64, f64)]) -> Figure {
    let step = |(name, x, centre, half): &(&str, f64, f64, f64)| {
        let (low, high) = (centre - half, centre + half);
        let mark = Mark { x: *x, centre: *centre, low, high, runs: vec![*centre], valid: true };
        named(name, vec![mark])
    };
    let y = axis("throughput", Unit::BitPerSecond, Scale::Linear, "higher is better");
    let title = "Segmentation offload carries a third of the throughput, the ring size nothing";
    let series = steps.iter().map(step).collect();
    figure(FigureKind::Waterfall, title, (axis("", Unit::Count, Scale::Linear, ""), y), series)
}

fn waterfalls() -> Vec<(String, Figure)> {
    let out = fall(&[
        ("all parts", 0.0, 9.41e9, 0.03e9),
        ("without segmentation offload", 9.41e9, 6.2e9, 0.12e9),
        ("without large receive", 6.2e9, 5.1e9, 0.2e9),
        ("without ring of 4096", 5.1e9, 5.14e9, 0.22e9),
        ("none of them", 0.0, 5.14e9, 0.22e9),
    ]);
    let mut spent = fall(&[
        ("user", 0.0, 0.04, 0.0),
        ("system", 0.04, 0.31, 0.0),
        ("softirq", 0.31, 0.78, 0.0),
        ("interrupt", 0.78, 0.83, 0.0),
        ("all CPU time", 0.0, 0.83, 0.01),
    ]);
    spent.y = axis("CPU time", Unit::Cpu, Scale::Linear, "lower is better");
    spent.title = "More than half of the CPU time goes into softirq".into();
    let mut long = out.clone();
    long.series[1].name = LONG.into();
    long.series[2].name = SIXTY.into();
    long.series[3].marks[0].valid = false;
    long.references = vec![Reference { value: 9.49e9, name: "line rate, TCP payload".into() }];
    let mut holes = out.clone();
    holes.series[2].marks.clear();
    let below = fall(&[("gain", 0.0, 3.0, 0.2), ("loss", 3.0, -2.0, 0.4), ("net", 0.0, -2.0, 0.4)]);
    let empty = fall(&[]);
    [("taken out", out), ("adds up", spent), ("long names", long), ("hole", holes)]
        .into_iter()
        .chain([("below zero", below), ("no step", empty)])
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect()
}

fn roofed(points: &[(&str, f64, f64)], roofs: &[(&str, Option<f64>, Option<f64>)]) -> Figure {
    let point = |(name, x, y): &(&str, f64, f64)| named(name, vec![mark(*x, *y, 0.06)]);
    let roof = |(name, slope, ceiling): &(&str, Option<f64>, Option<f64>)| Roof {
        slope: *slope,
        ceiling: *ceiling,
        name: (*name).into(),
    };
    let x = axis("bytes in each request", Unit::Byte, Scale::Log2, "");
    let y = axis("throughput", Unit::BitPerSecond, Scale::Log10, "higher is better");
    let title = "Small requests are bound by the calls a CPU can make, large ones by the wire";
    let series = points.iter().map(point).collect();
    let mut figure = figure(FigureKind::Roofline, title, (x, y), series);
    figure.roofs = roofs.iter().map(roof).collect();
    figure
}

fn rooflines() -> Vec<(String, Figure)> {
    let points = [
        ("64 B answers", 64.0, 6.1e8),
        ("1 KiB pages", 1024.0, 4.1e9),
        ("file copy", 65_536.0, 9.2e9),
        ("AES-GCM", 16_384.0, 5.2e9),
        ("memory copy", 262_144.0, 9.3e9),
    ];
    let roofs = [
        ("system calls of one CPU", Some(1.6e7), None),
        ("line rate, TCP payload", None, Some(9.49e9)),
        ("cipher of one CPU", None, Some(1.4e10)),
        ("system calls of two CPUs", Some(3.2e7), Some(1.9e10)),
    ];
    let mut all = Vec::new();
    for n in 1..=4 {
        all.push((format!("{n} roofs"), roofed(&points[..n], &roofs[..n])));
    }
    all.push(("five points".into(), roofed(&points, &roofs)));
    let long = [(LONG, 64.0, 6.1e8), (SIXTY, 80.0, 6.3e8), ("file copy", 65_536.0, 9.2e9)];
    let named = [(LONG, Some(1.6e7), None), (SIXTY, None, Some(9.49e9))];
    let mut far = roofed(&long, &named);
    far.series[1].marks[0].valid = false;
    all.push(("long names".into(), far));
    let joint = [("one roof", Some(1.6e7), Some(9.49e9))];
    let mut swept = roofed(&points[..1], &joint);
    swept.series[0].marks = (0..8)
        .map(|i| 64.0 * 4_f64.powi(i))
        .map(|x| mark(x, 0.8 * (1.6e7 * x).min(9.49e9), 0.03))
        .collect();
    all.push(("swept".into(), swept));
    all.push(("no roof".into(), roofed(&points[..2], &[])));
    all.push(("no point".into(), roofed(&[], &roofs)));
    all
}

pub fn figures() -> Vec<(String, Figure)> {
    let all = [percentiles(), timelines(), waterfalls(), rooflines()];
    all.into_iter().flatten().map(|(n, f)| (format!("{:?}, {n}", f.kind), f)).collect()
}

fn every_layout(check: impl Fn(&str, &Figure, &Scene)) {
    layouts(figures(), &WIDTHS, check);
}

#[test]
fn no_text_of_these_kinds_leaves_the_sheet_or_meets_another() {
    every_layout(|name, _, scene| {
        let all: Vec<&Text> = texts(scene).into_iter().filter(|t| !t.words.is_empty()).collect();
        for (i, text) in all.iter().enumerate() {
            let room = text.bounds();
            let inside = room.left > -0.1
                && room.right < scene.width + 0.1
                && room.top >= 0.0
                && room.bottom <= scene.height;
            assert!(inside, "{name}: '{}' at {room:?} of {}", text.words, scene.width);
            for other in &all[i + 1..] {
                let apart = !room.overlaps(&other.bounds());
                assert!(apart, "{name}: '{}' on '{}' {room:?}", text.words, other.words);
            }
        }
    });
}

#[test]
fn no_line_marker_or_bar_of_these_kinds_crosses_a_text() {
    every_layout(|name, _, scene| {
        for text in texts(scene).into_iter().filter(|t| !t.words.is_empty()) {
            let room = text.bounds();
            for shape in &scene.shapes {
                let crossed = match shape {
                    // A remark has a rim of paper and may stand on a hairline.
                    Shape::Line(Ink::Grid, _) if text.role == Role::Remark => false,
                    Shape::Text(_) => false,
                    Shape::Area(Ink::Zone(_) | Ink::Band(_), _) => false,
                    Shape::Line(_, points) => {
                        points.windows(2).any(|w| room.crossed_by(w[0], w[1]))
                    }
                    Shape::Area(_, corners) => {
                        corners.windows(2).any(|w| room.crossed_by(w[0], w[1]))
                    }
                    Shape::Bar { room: bar, .. } => room.overlaps(bar),
                    Shape::Marker { at, radius, .. } => {
                        let (left, top) = (at.0 - radius, at.1 - radius);
                        let (right, bottom) = (at.0 + radius, at.1 + radius);
                        room.overlaps(&Rect { left, top, right, bottom })
                    }
                };
                assert!(!crossed, "{name}: '{}' {room:?} crossed by {shape:?}", text.words);
            }
        }
    });
}

#[test]
fn nothing_drawn_of_these_kinds_leaves_the_sheet() {
    every_layout(|name, _, scene| {
        for shape in &scene.shapes {
            let points: Vec<(f64, f64)> = match shape {
                Shape::Line(_, points) | Shape::Area(_, points) => points.clone(),
                Shape::Marker { at, radius, .. } => {
                    vec![(at.0 - radius, at.1 - radius), (at.0 + radius, at.1 + radius)]
                }
                Shape::Bar { room, .. } => {
                    vec![(room.left, room.top), (room.right, room.bottom)]
                }
                Shape::Text(_) => Vec::new(),
            };
            let inside = |p: &(f64, f64)| {
                (-0.1..=scene.width + 0.1).contains(&p.0) && (0.0..=scene.height).contains(&p.1)
            };
            assert!(points.iter().all(inside), "{name}: {shape:?} of {}", scene.width);
        }
    });
}

#[test]
fn every_name_is_said_and_every_visit_step_and_point_has_a_hint() {
    every_layout(|name, figure, scene| {
        let said: String =
            texts(scene).iter().map(|t| t.words.replace([' ', '\u{a0}'], "")).collect();
        let names = figure.series.iter().map(|s| &s.name);
        let names = names.chain(figure.zones.iter().map(|z| &z.name));
        let names = names.chain(figure.roofs.iter().map(|r| &r.name));
        for wanted in names.chain(figure.references.iter().map(|r| &r.name)) {
            assert!(said.contains(&wanted.replace(' ', "")), "{name}: {wanted}");
        }
        if figure.kind != FigureKind::Percentile {
            let marks: usize = figure.series.iter().map(|s| s.marks.len()).sum();
            let hinted = |s: &&Shape| matches!(s, Shape::Marker { hint, .. } if !hint.is_empty());
            assert_eq!(scene.shapes.iter().filter(hinted).count(), marks, "{name}");
        }
    });
}

#[test]
fn these_kinds_give_sound_svg_whatever_the_names_and_numbers_are() {
    for (_, mut figure) in figures() {
        figure.title = "<script>alert(\"1\")</script> & \u{7}".into();
        figure.series.iter_mut().for_each(|s| s.name.push_str("</text>&<b>"));
        let values = [0.0, -3.0, 5e-9, 2.5e15, f64::NAN, f64::INFINITY];
        for value in values {
            for mark in figure.series.iter_mut().flat_map(|s| s.marks.first_mut()) {
                (mark.x, mark.high) = (value, value);
            }
            for roof in &mut figure.roofs {
                roof.slope = roof.slope.map(|_| value);
            }
            for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
                (figure.x.scale, figure.y.scale) = (scale, scale);
                let text = svg(&figure, 400);
                assert_eq!(text.matches("<text").count(), text.matches("</text>").count());
                assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
                let drawn = text.split("</desc>").nth(1).unwrap();
                let bad = |p: &str| drawn.contains(p);
                assert!(!bad("\"NaN") && !bad(",NaN") && !bad("\"inf") && !bad(",inf"), "{drawn}");
                let words = braille(&figure, 44, 5, true) + &csv(&figure) + &alt_text(&figure);
                assert!(!words.is_empty());
            }
        }
    }
}

#[test]
fn every_class_of_these_kinds_has_a_style() {
    for (name, figure) in figures() {
        for part in svg(&figure, 760).split("class=\"").skip(1) {
            for class in part.split('"').next().unwrap().split(' ') {
                let known = class == "a" || svg_style().contains(&format!(".{class}"));
                assert!(known, "{name}: {class}");
            }
        }
    }
}

#[test]
fn these_kinds_keep_the_promised_width_in_the_terminal() {
    for (name, figure) in figures() {
        for (columns, rows) in [(80, 16), (44, 5), (24, 3)] {
            for unicode in [true, false] {
                let text = braille(&figure, columns, rows, unicode);
                let wide = |l: &str| l.chars().map(super::measure::cells).sum::<usize>();
                let widest = text.lines().map(wide).max().unwrap();
                assert!(widest <= usize::from(columns), "{name}: {widest} of {columns}\n{text}");
                assert!(unicode || text.is_ascii(), "{name}: {text}");
            }
        }
    }
}

fn lines(scene: &Scene, wanted: Ink) -> Vec<Vec<(f64, f64)>> {
    let line = |s: &Shape| match s {
        Shape::Line(ink, points) if *ink == wanted => Some(points.clone()),
        _ => None,
    };
    scene.shapes.iter().filter_map(line).collect()
}

fn found(all: Vec<(String, Figure)>, name: &str) -> Figure {
    all.into_iter().find(|(n, _)| n == name).unwrap().1
}

#[test]
fn a_distribution_is_drawn_in_steps_and_a_curve_is_not() {
    let level = |w: &[(f64, f64)]| w[0].0 == w[1].0 || w[0].1 == w[1].1;
    let steps = scene(&found(percentiles(), "1 distributions"), 760, 1.0);
    assert!(lines(&steps, Ink::Curve(0)).iter().flat_map(|l| l.windows(2)).all(level));
    let curve = scene(&found(percentiles(), "nines"), 760, 1.0);
    assert!(!lines(&curve, Ink::Curve(0)).iter().flat_map(|l| l.windows(2)).all(level));
    let bands = |s: &&Shape| matches!(s, Shape::Area(Ink::Band(_), _));
    assert_eq!(curve.shapes.iter().filter(bands).count(), 2);
    assert_eq!(steps.shapes.iter().filter(bands).count(), 0);
}

#[test]
fn dry_visits_are_joined_to_nothing_and_an_invalid_one_breaks_the_thread() {
    let whole = scene(&found(timelines(), "2 series of visits"), 760, 1.0);
    let joined: Vec<usize> = lines(&whole, Ink::Thread(0)).iter().map(Vec::len).collect();
    assert_eq!(joined, [8], "nine visits, the first of them dry");
    let broken = scene(&found(timelines(), "disturbed"), 760, 1.0);
    let joined: Vec<usize> = lines(&broken, Ink::Thread(0)).iter().map(Vec::len).collect();
    assert_eq!(joined, [4, 7], "thirteen visits, the first dry, the sixth invalid");
}

#[test]
fn every_bar_begins_where_the_one_above_ended() {
    let drawn = scene(&found(waterfalls(), "taken out"), 760, 1.0);
    let mut bars = Vec::new();
    for shape in &drawn.shapes {
        if let Shape::Area(ink @ (Ink::Bar(_) | Ink::Part(_)), corners) = shape {
            let xs = corners.iter().map(|c| c.0);
            let ends = (xs.clone().fold(f64::MAX, f64::min), xs.fold(f64::MIN, f64::max));
            bars.push((matches!(ink, Ink::Bar(_)), ends));
        }
    }
    let wholes: Vec<bool> = bars.iter().map(|b| b.0).collect();
    assert_eq!(wholes, [true, false, false, false, true]);
    assert!((bars[0].1.0 - bars[4].1.0).abs() < 0.1, "both wholes stand on zero");
    let steps =
        [(bars[0].1.1, bars[1].1.1), (bars[1].1.0, bars[2].1.1), (bars[2].1.0, bars[3].1.0)];
    assert!(steps.iter().all(|(end, start)| (end - start).abs() < 0.1), "{bars:?}");
    let adding = scene(&found(waterfalls(), "adds up"), 760, 1.0);
    let whole = |s: &&Shape| matches!(s, Shape::Area(Ink::Bar(_), _));
    assert_eq!(adding.shapes.iter().filter(whole).count(), 2, "whatever the next one does");
}

#[test]
fn the_roof_that_binds_a_point_is_joined_to_it_and_named_in_every_medium() {
    let figure = found(rooflines(), "five points");
    let drawn = scene(&figure, 760, 1.0);
    // The point at 64 B hangs from the slope, that at 16 KiB from the level.
    for number in [0, 3] {
        let rise = &lines(&drawn, Ink::Thread(number))[0];
        let on = |w: &[(f64, f64)]| {
            let (a, b, p) = (w[0], w[1], rise[1]);
            let cross = (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0);
            a.0 <= p.0 && p.0 <= b.0 && cross.abs() < 1.0
        };
        assert!(lines(&drawn, Ink::Roof).iter().any(|l| on(l)), "{number}: {rise:?}");
    }
    let words = alt_text(&figure);
    assert!(
        words.contains("610 Mbit/s (573–647 Mbit/s) at 64 B, bound by system calls of one CPU")
    );
    assert!(words.contains("at 16 KiB, bound by line rate, TCP payload."), "{words}");
    let numbers = csv(&figure);
    let line = |start: &str| numbers.lines().find(|l| l.starts_with(start)).unwrap().to_owned();
    assert!(line("AES-GCM,16384,5200000000,").ends_with(",\"line rate, TCP payload\","));
    assert!(line("system calls of two CPUs,,19000000000,").ends_with(",32000000"));
    let text = braille(&figure, 80, 16, true);
    assert!(text.contains("● 64 B answers, under 1") && text.contains("◇ AES-GCM, under 2"));
}

#[test]
fn what_the_picture_shows_is_also_said() {
    let words = alt_text(&found(percentiles(), "1 distributions"));
    assert!(words.contains("pro1000: 50 % at most 56.1 µs, 90 % at most 74.2 µs"), "{words}");
    let words = alt_text(&found(timelines(), "often disturbed"));
    for part in [
        "pro1000: 11 attempts from 100 s to 16.3 min,".to_owned(),
        "2 dry attempts are shown small.".into(),
        "throttled: 110 s to 140 s, 7.33 min to 7.83 min, 12.8 min to 13.3 min.".into(),
        "2 invalid points are shown hollow.".into(),
    ] {
        assert!(words.contains(&part), "{part} not in: {words}");
    }
    let words = alt_text(&found(waterfalls(), "taken out"));
    assert!(words.contains("offload: down from 9.41 Gbit/s to 6.20 Gbit/s (6.08–6.32"), "{words}");
    let text = braille(&found(waterfalls(), "taken out"), 80, 5, true);
    assert!(text.contains("−3.21") && text.contains("+0.04"), "{text}");
    let numbers = csv(&found(waterfalls(), "adds up"));
    assert!(numbers.starts_with("series,from [CPU],CPU time [CPU],low [CPU],"), "{numbers}");
    assert!(numbers.contains("\nsystem,0.04,0.31,0.31,0.31,true,0.31\n"), "{numbers}");
}
