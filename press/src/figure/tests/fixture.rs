//! Figures of every kind that the tests lay out and draw.

use super::super::model::{Axis, Figure, FigureKind, Mark, Reference, Scale, Series, Zone};
use desk::unit::Unit;

pub fn mark(x: f64, centre: f64, spread: f64) -> Mark {
    let runs = [-0.8, 0.3, -0.2, 0.9, 0.1].map(|d| centre * (1.0 + spread * d)).to_vec();
    let (low, high) = (centre * (1.0 - spread), centre * (1.0 + spread));
    Mark { x, centre, low, high, runs, valid: true }
}

/// A throughput curve that saturates at `peak` with half of it at `knee` bytes.
pub fn curve(name: &str, points: u32, peak: f64, knee: f64) -> Series {
    let marks = (0..points)
        .map(|i| 64.0 * 2_f64.powi(i.cast_signed()))
        .map(|x| mark(x, peak * x / (x + knee), 0.04))
        .collect();
    Series { name: name.into(), marks }
}

pub fn axis(label: &str, unit: Unit, scale: Scale, direction: &str) -> Axis {
    Axis { label: label.into(), unit, scale, direction: direction.into(), names: Vec::new() }
}

pub fn sweep(series: Vec<Series>) -> Figure {
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

pub fn decorated(mut figure: Figure) -> Figure {
    let zone = |from, to, name: &str| Zone { from, to, name: name.into(), leader: None };
    figure.zones =
        vec![zone(64.0, 2048.0, "pro1000 ahead"), zone(4096.0, 65536.0, "no difference")];
    figure.references = vec![
        Reference { value: 9.49e8, name: "line rate, TCP payload".into() },
        Reference { value: 5e8, name: "half of line rate".into() },
    ];
    figure
}

pub const LONG: &str = "Intel PRO/1000 MT server adapter, firmware 8.3, interrupts balanced";

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

pub fn dots(count: usize) -> Figure {
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

/// All of them, by name.
pub fn figures() -> Vec<(String, Figure)> {
    let mut all = sweeps();
    all.extend((1..=8).map(|n| (format!("{n} rows"), dots(n))));
    all.push(("ratios".into(), ratios()));
    let mut bad = dots(3);
    bad.series[1].marks[0].valid = false;
    bad.series[2].marks.clear();
    all.push(("invalid rows".into(), bad));
    all.push(("empty".into(), sweep(Vec::new())));
    all.extend(super::gallery::all());
    all
}
