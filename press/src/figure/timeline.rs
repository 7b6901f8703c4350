//! Knows how visits are drawn at the time they began, with disturbances behind them.
//!
//! Knows no colours and no words around the panel.

use super::alt;
use super::layout::{Sheet, spread};
use super::model::{Figure, Mark, Series, Zone};
use super::plot::{self, INSET, Words};
use super::projection::{ValueAxis, drawable};
use super::scales;
use super::scene::{Anchor, Glyph, Ink, Point, Role, Shape};
use super::sweep::{self, Frame};
use super::terminal::{Page, Panel, sign};
use super::words::{Args, label, say};

/// From the edge of the panel to a name at the end of a line, px.
const TO_LABEL: f64 = 8.0;
/// More disturbances than this are numbered, and their names stand below.
const NAMED: usize = 3;

/// With more visits than this each is small.
const MANY: usize = 120;
/// Key of what a hollow visit is.
const INVALID: &str = "drawn-not-averaged";
/// Key of what a small visit is.
const DRY: &str = "drawn-not-counted";

/// Adds heading, visits, axes.
pub fn panel(sheet: &mut Sheet, figure: &Figure) {
    let height = (sheet.width * 0.40).clamp(200.0, 300.0);
    let (x, y) = axes(figure, ((sheet.width - 60.0) / 90.0).min(8.0), height / 62.0);
    let labels = sweep::end_labels(sheet, figure, height).map(|_| labels(sheet, figure));
    sheet.heading(figure, &y);
    if labels.is_none() {
        sheet.space(4.0);
        sheet.key(figure);
    }
    sheet.space(10.0);
    let widest = labels.iter().flatten().map(|w| w.size().0).fold(0.0, f64::max);
    let margin = if widest > 0.0 { widest + TO_LABEL } else { 0.0 };
    let mut frame = plot::frame(sheet, &x, &y, margin);
    let (zoned, kinds) = numbered(sheet, figure);
    sweep::zones(sheet, &zoned, &mut frame, height);
    sweep::grid(sheet, &y, &frame);
    let threads = visits(sheet, figure, &frame);
    let homeless = sweep::references(sheet, figure, &frame, &threads);
    if let Some(labels) = labels {
        beside(sheet, figure, &frame, &labels);
    }
    plot::below(sheet, &figure.x, &x, &frame);
    for reference in homeless {
        let value = figure.value(reference.value);
        sheet.explain(Ink::Reference, &format!("{}, {value}", reference.name));
    }
    explain(sheet, figure);
    for (number, kind) in kinds.iter().enumerate() {
        sheet.numbered(number + 1, kind);
    }
}

fn axes(figure: &Figure, across: f64, up: f64) -> (ValueAxis, ValueAxis) {
    let zones = figure.drawn_zones().map(|z| z.to);
    let (_, last) = scales::extent(zones.chain(figure.positions()));
    let marks = marks(figure).map(|m| m.centre);
    let values = marks.chain(figure.drawn_references().map(|r| r.value));
    let x = scales::clock(last, across);
    // A visit is a place and no length: zero would press the visits into a strip.
    (x, scales::places(&figure.y, scales::extent(values), up))
}

fn marks(figure: &Figure) -> impl Iterator<Item = &Mark> {
    figure.series.iter().flat_map(|s| &s.marks).filter(|m| drawable(m))
}

/// A visit that does not count: it has no run, and others have.
fn dry(figure: &Figure, mark: &Mark) -> bool {
    mark.runs.is_empty() && marks(figure).any(|m| !m.runs.is_empty())
}

fn labels(sheet: &Sheet, figure: &Figure) -> Vec<Words> {
    let room = sheet.width * if sheet.width < 480.0 { 0.30 } else { 0.26 };
    // A name has the colour of its visits, so that of what does not count has none.
    let role = |i: usize, s: &Series| match s.marks.iter().any(|m| m.valid) {
        true => Role::Label(i),
        false => Role::Remark,
    };
    let words = |(i, s): (usize, &Series)| Words::new(sheet, &s.name, role(i, s), room);
    figure.series.iter().enumerate().map(words).collect()
}

/// The figure with its disturbances numbered by name, and the names, if they are many or long.
fn numbered(sheet: &Sheet, figure: &Figure) -> (Figure, Vec<String>) {
    let mut zoned = figure.clone();
    let wide = |z: &Zone| sheet.ruler.width(&z.name, Role::Remark);
    let total: f64 = figure.drawn_zones().map(wide).sum();
    if figure.zones.len() <= NAMED && total < sheet.width {
        return (zoned, Vec::new());
    }
    let mut kinds: Vec<String> = Vec::new();
    for zone in zoned.zones.iter_mut().filter(|z| z.from.is_finite() && z.to.is_finite()) {
        let number = kinds.iter().position(|k| *k == zone.name).unwrap_or(kinds.len());
        if number == kinds.len() {
            kinds.push(zone.name.clone());
        }
        zone.name = (number + 1).to_string();
    }
    (zoned, kinds)
}

/// Draws threads, then visits, the dry ones small; returns what a name must not stand on.
fn visits(sheet: &mut Sheet, figure: &Figure, frame: &Frame) -> Vec<(Point, Point)> {
    let at = |m: &Mark| (frame.x.place(m.x), frame.y.place(m.centre));
    let mut taken = Vec::new();
    for (i, series) in figure.series.iter().enumerate() {
        for line in threads(figure, series) {
            let line: Vec<Point> = line.iter().map(|m| at(m)).collect();
            taken.extend(line.windows(2).map(|w| (w[0], w[1])));
            sheet.push(Shape::Line(Ink::Thread(i), line));
        }
    }
    let many = marks(figure).count() > MANY;
    for (i, series) in figure.series.iter().enumerate() {
        for mark in series.marks.iter().filter(|m| drawable(m)) {
            let place = at(mark);
            taken.push((place, (place.0 + 0.1, place.1)));
            let radius = match (many, dry(figure, mark)) {
                (true, true) => 1.6,
                (false, false) => 3.8,
                _ => 2.4,
            };
            sheet.push(visit(figure, (i, mark), place, radius));
        }
    }
    taken
}

/// Says what hollow and small visits are, where there are any.
fn explain(sheet: &mut Sheet, figure: &Figure) {
    let hollow = marks(figure).any(|m| !m.valid);
    let small = marks(figure).any(|m| m.valid && dry(figure, m));
    let looks = [
        (hollow, Ink::Invalid, Glyph::OpenDot, 3.8, INVALID),
        (small, Ink::Run(0), Glyph::Dot, 2.4, DRY),
    ];
    for (_, ink, glyph, radius, words) in looks.into_iter().filter(|l| l.0) {
        let middle = sheet.bottom + Role::Remark.line() / 2.0;
        let (at, hint) = ((5.0, middle), String::new());
        sheet.push(Shape::Marker { ink, glyph, at, radius, hint });
        let baseline = sheet.bottom + Role::Remark.size();
        sheet.text(&label(words), Role::Remark, (16.0, baseline), Anchor::Start);
        sheet.bottom += Role::Remark.line();
    }
}

fn visit(figure: &Figure, (series, mark): (usize, &Mark), at: Point, radius: f64) -> Shape {
    let glyph = Glyph::of(series);
    let small = dry(figure, mark);
    let (ink, glyph, doubt) = match (mark.valid, small) {
        (false, _) => (Ink::Invalid, glyph.outline(), Some("drawn-invalid")),
        (true, true) => (Ink::Run(series), glyph.filled(), Some("drawn-dry")),
        (true, false) if radius < 3.0 => (Ink::Run(series), glyph.filled(), None),
        (true, false) => (Ink::Marker(series), glyph, None),
    };
    let (name, value) = (&figure.series[series].name, figure.value(mark.centre));
    let hint = format!("{name}: {}", alt::doubted(alt::placed(value, moment(mark.x)), doubt));
    Shape::Marker { ink, glyph, at, radius, hint }
}

/// The visits that are joined: those that count, in order, broken at an invalid one and where
/// nothing was visited.
fn threads<'a>(figure: &Figure, series: &'a Series) -> Vec<Vec<&'a Mark>> {
    let counts = |m: &&Mark| drawable(m) && !dry(figure, m);
    let mut marks: Vec<&Mark> = series.marks.iter().filter(counts).collect();
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    let broken = |from: &Mark, to: &Mark| {
        figure.drawn_zones().any(|z| z.to > z.from && from.x <= z.from && z.to <= to.x)
    };
    let whole = marks.split(|m| !m.valid);
    let parts = whole.flat_map(|run| run.chunk_by(|a, b| !broken(a, b)));
    parts.filter(|r| r.len() > 1).map(<[&Mark]>::to_vec).collect()
}

/// Writes each name beside the panel, at the height of the last visit of its series.
fn beside(sheet: &mut Sheet, figure: &Figure, frame: &Frame, labels: &[Words]) {
    let last = |s: &Series| {
        let marks = s.marks.iter().filter(|m| drawable(m));
        marks.max_by(|a, b| a.x.total_cmp(&b.x)).map(|m| (m.x, m.centre))
    };
    let ends: Vec<(usize, Point)> = figure
        .series
        .iter()
        .enumerate()
        .filter_map(|(i, s)| last(s).map(|(x, y)| (i, (frame.x.place(x), frame.y.place(y)))))
        .collect();
    let wishes: Vec<(f64, f64)> =
        ends.iter().map(|(i, at)| (at.1, labels[*i].size().1 + 4.0)).collect();
    let centres = spread(&wishes, frame.top - 6.0, frame.bottom + 6.0);
    let x = frame.right + TO_LABEL;
    for ((i, end), centre) in ends.iter().zip(centres) {
        let name = &labels[*i];
        if (centre - end.1).abs() > 9.0 || frame.right - INSET - end.0 > 24.0 {
            let from = (end.0 + 6.0, end.1);
            sheet.push(Shape::Line(Ink::Leader, vec![from, (x - 2.0, centre)]));
        }
        let room = name.room((x, centre - name.size().1 / 2.0));
        name.write(sheet, &room, Anchor::Start);
    }
}

/// A moment of the run, as a reader says it: `42 s`, `12.5 min`.
fn moment(seconds: f64) -> String {
    let (divisor, unit) = match seconds.abs() {
        s if s < 180.0 => (1.0, "s"),
        s if s < 10_800.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    format!("{} {unit}", desk::unit::plain(seconds / divisor))
}

/// The figure as lines of characters.
pub fn characters(figure: &Figure, page: &Page) -> Vec<String> {
    #[expect(clippy::cast_precision_loss, reason = "terminal sizes")]
    let (x, y) = axes(figure, 5.0, (page.rows as f64 / 3.0).clamp(2.0, 5.0));
    let mut panel = Panel::new(figure, page, (&x, &y));
    let [hollow, small] = if page.unicode { ['○', '·'] } else { ['?', '.'] };
    let look = |i: usize, m: &Mark| match m.valid {
        false => hollow,
        true if dry(figure, m) => small,
        true => sign(page, i),
    };
    for (i, series) in figure.series.iter().enumerate() {
        for mark in series.marks.iter().filter(|m| drawable(m)) {
            panel.put((mark.x, mark.centre), look(i, mark));
        }
    }
    figure.drawn_zones().for_each(|z| panel.shade(z.from, z.to));
    let mut lines = panel.lines(&plot::name(&figure.x, &x));
    let key = |(i, s): (usize, &Series)| format!("  {} {}", sign(page, i), s.name);
    lines.extend(figure.series.iter().enumerate().map(key));
    lines.extend(marks(figure).any(|m| !m.valid).then(|| format!("  {hollow} {}", label(INVALID))));
    let idle = marks(figure).any(|m| m.valid && dry(figure, m));
    lines.extend(idle.then(|| format!("  {small} {}", label(DRY))));
    let mark = if page.unicode { '▒' } else { '#' };
    lines.extend(disturbances(figure).into_iter().map(|said| format!("  {mark} {said}")));
    lines
}

/// Each kind of disturbance with all its times.
fn disturbances(figure: &Figure) -> Vec<String> {
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for zone in figure.drawn_zones() {
        match kinds.iter_mut().find(|k| k.0 == zone.name.trim()) {
            Some(kind) => kind.1.push(span(zone)),
            None => kinds.push((zone.name.trim(), vec![span(zone)])),
        }
    }
    kinds.into_iter().map(|(name, times)| format!("{name}: {}", times.join(", "))).collect()
}

fn span(zone: &Zone) -> String {
    if zone.to > zone.from {
        alt::span(moment(zone.from), moment(zone.to))
    } else {
        moment(zone.from)
    }
}

/// The figure in sentences: how many attempts of each series, from when to when, and their values.
pub fn said(figure: &Figure) -> Vec<String> {
    let mut all = vec![alt::shown("drawn-attempts", alt::over(figure), &figure.y)];
    for series in &figure.series {
        let shown = |m: &&Mark| m.valid && drawable(m) && !dry(figure, m);
        let marks: Vec<&Mark> = series.marks.iter().filter(shown).collect();
        if marks.is_empty() {
            all.push(format!("{}: {}.", series.name, label("drawn-no-attempt")));
            continue;
        }
        let (first, last) = scales::extent(marks.iter().map(|m| m.x));
        let (low, high) = scales::extent(marks.iter().map(|m| m.centre));
        let values = desk::unit::show_range(figure.value(low), figure.value(high));
        let args = Args::new().count("count", marks.len()).name("values", values);
        let args = args.name("first", moment(first)).name("last", moment(last));
        all.push(format!("{}: {}.", series.name, say("drawn-attempts-of", args)));
    }
    let count = marks(figure).filter(|m| m.valid && dry(figure, m)).count();
    let small = || say("drawn-small-attempts", Args::new().count("count", count));
    all.extend((count > 0).then(small));
    all.extend(disturbances(figure).into_iter().map(|said| format!("{said}.")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, FigureKind, Scale};
    use desk::unit::Unit;

    /// Six visits, the last three seven minutes after the first three.
    fn interrupted() -> Figure {
        let axis = |unit| Axis {
            label: "x".into(),
            unit,
            scale: Scale::Linear,
            direction: String::new(),
            names: Vec::new(),
        };
        let visit = |at: u32| Mark {
            x: 10.0 * f64::from(at) + if at < 3 { 0.0 } else { 420.0 },
            centre: 1.0,
            low: 1.0,
            high: 1.0,
            runs: vec![1.0],
            valid: true,
        };
        Figure {
            id: "fig".into(),
            number: 1,
            kind: FigureKind::Timeline,
            title: "t".into(),
            subtitle: String::new(),
            x: axis(Unit::Second),
            y: axis(Unit::Ratio),
            series: vec![Series { name: "a".into(), marks: (0..6).map(visit).collect() }],
            zones: Vec::new(),
            references: Vec::new(),
            roofs: Vec::new(),
            footnote: String::new(),
        }
    }

    #[test]
    fn a_line_breaks_at_a_pause_and_at_no_other_place() {
        let mut figure = interrupted();
        let parts = |figure: &Figure| -> Vec<usize> {
            threads(figure, &figure.series[0]).iter().map(Vec::len).collect()
        };
        assert_eq!(parts(&figure), [6]);
        let name = "pause".to_owned();
        figure.zones.push(Zone { from: 22.0, to: 450.0, name, leader: None });
        assert_eq!(parts(&figure), [3, 3]);
        let words = said(&figure);
        assert!(words.iter().any(|line| line.starts_with("pause: 22 s to 7.50 min")), "{words:?}");
        let drawn = crate::figure::svg(&figure, 700);
        assert!(drawn.contains("pause"), "marked");
        figure.zones[0].from = 5.0;
        assert_eq!(parts(&figure), [6], "a disturbance in which there are visits breaks no line");
    }
}
