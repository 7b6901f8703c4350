//! Figures of the eight kinds beside curves and dots: few and many, names long and of any script.

use super::super::model::{Figure, FigureKind, Mark, Reference, Roof, Scale, Series, Zone};
use super::fixture::{LONG, axis, mark, sweep};
use desk::unit::Unit;

/// Names as users give them; the last has 60 characters and no place to break.
pub const NAMES: [&str; 8] = [
    "pro1000",
    "接收端的第二块网卡与中断均衡",
    LONG,
    "сетевая карта с балансировкой прерываний",
    "dge530",
    "بطاقة الشبكة الثانية",
    "नेटवर्क कार्ड",
    "tx-tcp-segmentation+rx-checksum+generic-receive-offload=off6",
];

const SIZES: [&str; 13] = [
    "64 B", "128 B", "256 B", "512 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB",
    "64 KiB", "128 KiB", "256 KiB",
];

fn of_kind(kind: FigureKind, title: &str) -> Figure {
    let mut figure = sweep(Vec::new());
    figure.kind = kind;
    figure.title = title.into();
    figure.subtitle = "TCP throughput, MTU 1500 B, four connections".into();
    figure
}

fn interval(x: f64, centre: f64, (low, high): (f64, f64)) -> Mark {
    Mark { x, centre, low, high, runs: Vec::new(), valid: true }
}

/// A forest of up to eight rows; those of which the interval holds 1 are undecided.
pub fn forest(rows: usize) -> Figure {
    let ratios = [
        (1.31, 1.24, 1.38),
        (0.84, 0.78, 0.91),
        (1.003, 0.99, 1.012),
        (1.04, 0.93, 1.17),
        (2.93, 2.71, 3.17),
        (0.97, 0.955, 0.985),
        (1.12, 1.08, 1.16),
        (0.995, 0.31, 3.4),
    ];
    let title = "The pro1000 is ahead in five of eight loads, and behind in two";
    let mut figure = of_kind(FigureKind::Forest, title);
    figure.subtitle = "pro1000 over dge530, every load of the plan".into();
    figure.y = axis("throughput ratio", Unit::Ratio, Scale::Log2, "above 1 the pro1000 wins");
    let row = |(name, (centre, low, high)): (&str, (f64, f64, f64))| {
        let mut mark = interval(0.0, centre, (low, high));
        mark.valid = !(low < 0.98 && high > 1.02);
        Series { name: name.into(), marks: vec![mark] }
    };
    figure.series = NAMES.into_iter().zip(ratios).take(rows).map(row).collect();
    figure.zones =
        vec![Zone { from: 1.0 / 1.02, to: 1.02, name: "margin ±2 %".into(), leader: None }];
    figure.references = vec![Reference { value: 1.0, name: "no change".into() }];
    figure
}

/// So many groups with so many series.
pub fn groups(count: usize, series: usize) -> Figure {
    let mut figure = of_kind(FigureKind::Groups, "Jumbo frames help both adapters from 4 KiB on");
    figure.x = axis("connections and frames", Unit::Count, Scale::Linear, "");
    figure.x.names = (0..count).map(|i| format!("{}, MTU 1500 B", SIZES[2 * i])).collect();
    let centre = |s: usize, g: usize| 9.4e8 / (1.0 + 0.4 * s as f64) * (0.3 + 0.1 * g as f64);
    let marks = |s: usize| (0..count).map(|g| mark(g as f64, centre(s, g), 0.06)).collect();
    figure.series =
        (0..series).map(|s| Series { name: NAMES[s * 4 % 7].into(), marks: marks(s) }).collect();
    figure.series[0].marks[0].runs = vec![2.82e8; 7];
    if let Some(bad) = figure.series.last_mut().and_then(|s| s.marks.last_mut()) {
        bad.valid = false;
    }
    figure
}

/// So many rows and so many columns, with an invalid cell and a missing one.
pub fn heatmap(rows: usize, columns: usize) -> Figure {
    let title = "Batching pays below 2 KiB, and costs a little above";
    let mut figure = of_kind(FigureKind::Heatmap, title);
    figure.x = axis("request size", Unit::Byte, Scale::Log2, "");
    figure.x.names = SIZES[..columns].iter().map(|s| (*s).to_owned()).collect();
    figure.y = axis("throughput, batch over sys", Unit::Ratio, Scale::Log2, "above 1 batch wins");
    let ratio = |r: usize, c: usize| (0.9 - 0.14 * c as f64 - 0.1 * r as f64).exp();
    let cell = |r: usize, c: usize| {
        let (x, centre) = (c as f64, ratio(r, c));
        interval(x, centre, (centre * 0.97, centre * 1.03))
    };
    let row = |r: usize| (0..columns).map(|c| cell(r, c)).collect();
    figure.series = (0..rows).map(|r| Series { name: NAMES[r].into(), marks: row(r) }).collect();
    figure.series[0].marks[columns / 2].valid = false;
    if rows > 1 {
        figure.series[1].marks.remove(0);
    }
    figure
}

pub fn sparkline(points: u32) -> Figure {
    let mut figure = of_kind(FigureKind::Sparkline, "Throughput of each block");
    figure.x = axis("block", Unit::Count, Scale::Linear, "");
    let at = |i: u32| mark(f64::from(i), 9e8 + 1e7 * (f64::from(i) * 1.7).sin(), 0.01);
    figure.series = vec![Series { name: "pro1000".into(), marks: (0..points).map(at).collect() }];
    if let Some(bad) = figure.series[0].marks.get_mut(2) {
        bad.valid = false;
    }
    figure
}

fn percentile() -> Figure {
    let title = "One answer in a hundred takes 2 ms over the dge530";
    let mut figure = of_kind(FigureKind::Percentile, title);
    figure.x = axis("time to answer", Unit::Second, Scale::Log10, "");
    figure.y = axis("share of answers", Unit::Share, Scale::Linear, "");
    let shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999];
    let line = |knee: f64| {
        let at = |s: &f64| knee * (1.0 + 0.4 * (1.0 / (1.0 - s)).ln());
        shares.iter().map(|s| interval(at(s), *s, (s * 0.99, (s * 1.01).min(1.0)))).collect()
    };
    let named = |(name, knee): (&str, f64)| Series { name: name.into(), marks: line(knee) };
    figure.series = [("pro1000", 8e-5), (LONG, 4e-4)].map(named).into();
    figure
}

fn timeline() -> Figure {
    let title = "The rate fell after the first minute and stayed there";
    let mut figure = of_kind(FigureKind::Timeline, title);
    figure.x = axis("time since the run began", Unit::Second, Scale::Linear, "");
    let value = |i: u32, s: u32| 9.4e8 - 1e8 * f64::from(s) - 3e7 * f64::from(u32::from(i > 12));
    let at = |i: u32, s: u32| mark(f64::from(7 * i + 3 * s), value(i, s), 0.01);
    let named = |s: u32| Series {
        name: NAMES[4 * s as usize].into(),
        marks: (0..30).map(|i| at(i, s)).collect(),
    };
    figure.series = vec![named(0), named(1)];
    figure.series[0].marks[9].valid = false;
    figure
}

fn waterfall() -> Figure {
    let title = "Half of the time of a request goes into the kernel";
    let mut figure = of_kind(FigureKind::Waterfall, title);
    figure.y = axis("CPU time of a request", Unit::Second, Scale::Linear, "lower is better");
    let steps = [0.0, 3e-6, 1.1e-5, 1.3e-5, 1.9e-5];
    let names = ["application", "system call", LONG, "softirq"];
    let bar = |(w, name): (&[f64], &str)| Series {
        name: name.into(),
        marks: vec![interval(w[0], w[1], (w[1] * 0.96, w[1] * 1.04))],
    };
    figure.series = steps.windows(2).zip(names).map(bar).collect();
    figure.series.push(bar((&[0.0, 1.9e-5], "whole request")));
    figure
}

fn roofline() -> Figure {
    let title = "Copying is bound by memory, encryption by the cores";
    let mut figure = of_kind(FigureKind::Roofline, title);
    figure.x = axis("operations a byte", Unit::Count, Scale::Log10, "");
    figure.y = axis("rate", Unit::OperationPerSecond, Scale::Log10, "higher is better");
    let point = |(name, x, y): (&str, f64, f64)| Series {
        name: name.into(),
        marks: vec![interval(x, y, (y * 0.95, y * 1.05))],
    };
    figure.series = [("copy", 0.1, 9e8), ("AES-GCM", 6.0, 4e9), (LONG, 0.5, 2e9)].map(point).into();
    let roof = |name: &str, slope, ceiling| Roof { slope, ceiling, name: name.into() };
    figure.roofs = vec![roof("memory", Some(1e10), None), roof("all cores", None, Some(8e9))];
    figure
}

/// At least one figure of each of the eight kinds, by name.
pub fn all() -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    all.extend([1, 3, 8].map(|n| (format!("forest of {n}"), forest(n))));
    let mut short = forest(8);
    for (i, series) in short.series.iter_mut().enumerate() {
        series.name = format!("{} to one host", SIZES[i]);
    }
    all.push(("forest of short names".into(), short));
    for (count, series) in [(1, 1), (3, 2), (6, 4)] {
        all.push((format!("{count} groups of {series}"), groups(count, series)));
    }
    let mut long = groups(2, 2);
    long.x.names = vec![NAMES[7].into(), NAMES[3].into()];
    long.series[1].name = NAMES[7].into();
    long.references = vec![Reference { value: 9.49e8, name: "line rate, TCP payload".into() }];
    all.push(("groups of long names".into(), long));
    for (rows, columns) in [(1, 1), (3, 5), (2, 13), (8, 13)] {
        all.push((format!("heatmap of {rows} x {columns}"), heatmap(rows, columns)));
    }
    let mut long = heatmap(8, 4);
    long.x.names = NAMES[4..].iter().map(|n| (*n).to_owned()).collect();
    all.push(("heatmap of long names".into(), long));
    all.extend([1, 2, 40].map(|n| (format!("sparkline of {n}"), sparkline(n))));
    all.push(("percentile".into(), percentile()));
    all.push(("timeline".into(), timeline()));
    all.push(("waterfall".into(), waterfall()));
    all.push(("roofline".into(), roofline()));
    let kinds =
        [FigureKind::Forest, FigureKind::Groups, FigureKind::Heatmap, FigureKind::Sparkline];
    let empty = |kind| (format!("empty {kind:?}"), of_kind(kind, "Nothing was measured"));
    all.extend(kinds.map(empty));
    all
}
