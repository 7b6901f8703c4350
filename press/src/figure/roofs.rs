//! Knows where roofs are: what bounds a point, and which part of a roof is in the panel.
//!
//! Knows no pixels.

use super::model::{Axis, Figure, FigureKind, Mark, Roof, Scale};
use super::projection::{ValueAxis, drawable};
use super::scales;

/// The highest value under a roof at a position; none where the roof has neither slope nor level.
pub fn under(roof: &Roof, x: f64) -> Option<f64> {
    let slope = roof.slope.filter(|s| s.is_finite() && *s > 0.0).map(|s| s * x);
    let level = roof.ceiling.filter(|c| c.is_finite() && *c > 0.0);
    slope.into_iter().chain(level).reduce(f64::min)
}

/// The roof that is lowest at a position, by its number, and its height there.
pub fn binding(figure: &Figure, x: f64) -> Option<(usize, f64)> {
    let all = figure.roofs.iter().enumerate().filter_map(|(i, r)| Some((i, under(r, x)?)));
    all.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The roof that binds a point at a position, as [`binding`]; none within a zone, where something
/// else serves the points and roofs are marks of height.
pub fn binds(figure: &Figure, x: f64) -> Option<(usize, f64)> {
    let apart = figure.drawn_zones().any(|zone| zone.from <= x && x <= zone.to);
    if apart { None } else { binding(figure, x) }
}

/// Where the slope of a roof meets its level.
pub fn knee(roof: &Roof) -> Option<f64> {
    Some(roof.ceiling? / roof.slope?).filter(|x| x.is_finite() && *x > 0.0)
}

pub fn marks(figure: &Figure) -> impl Iterator<Item = &Mark> {
    let placed = |m: &&Mark| drawable(m) && m.x > 0.0 && m.centre > 0.0;
    figure.series.iter().flat_map(|s| &s.marks).filter(placed)
}

/// Both axes: every point, every bend that is not far off, and the roofs over them.
pub fn axes(figure: &Figure, wanted: (f64, f64)) -> (ValueAxis, ValueAxis) {
    let (first, last) = scales::extent(marks(figure).map(|m| m.x));
    let (first, last) = if first > 0.0 { (first, last) } else { (1.0, 1.0) };
    // A bend within a decade and a half of the points belongs to the picture.
    let near = |x: &f64| *x > first / 30.0 && *x < last * 30.0;
    let bends = figure.roofs.iter().filter_map(knee).filter(near);
    let (first, last) = scales::extent(bends.chain([first, last]));
    let log = |axis: &Axis, pad: (f64, f64), steps: f64| {
        let axis = Axis { scale: Scale::Log10, names: Vec::new(), ..axis.clone() };
        scales::quantities(&axis, pad, steps)
    };
    let x = log(&figure.x, (first / 1.6, last * 1.6), wanted.0);
    let ends = [x.domain.0, first, last, x.domain.1];
    let highest = ends.into_iter().filter_map(|x| binding(figure, x)).map(|b| b.1);
    let levels = figure.roofs.iter().filter_map(|r| r.ceiling).filter(|c| *c > 0.0);
    let values: Vec<f64> = marks(figure).map(|m| m.centre).collect();
    let top = scales::extent(values.iter().copied().chain(highest)).1;
    let levels = levels.filter(|c| *c < top * 30.0);
    // The foot of a slope may lie far below the points; the picture need not go there.
    let floor = scales::extent(values.iter().copied()).0;
    let foot = binding(figure, first).map_or(floor, |b| b.1.max(floor / 10.0));
    let all = values.iter().copied().chain(levels).chain([top, foot]).filter(|v| *v > 0.0);
    let (low, high) = scales::extent(all);
    let (low, high) = if low > 0.0 { (low, high) } else { (1.0, 1.0) };
    let extent = (low / 1.4, high * 1.4);
    (x, scales::trimmed(log(&figure.y, extent, wanted.1), extent))
}

/// The bends of a roof in the panel, in values, cut where the panel ends.
fn course(roof: &Roof, x: &ValueAxis, y: &ValueAxis) -> Vec<(f64, f64)> {
    let (mut from, mut to) = x.domain;
    if let Some(slope) = roof.slope.filter(|s| *s > 0.0) {
        from = from.max(y.domain.0 / slope);
        if roof.ceiling.is_none_or(|c| c > y.domain.1) {
            to = to.min(y.domain.1 / slope);
        }
    }
    let level = roof.slope.is_none() && roof.ceiling.is_none_or(|c| c > y.domain.1);
    if from >= to || level {
        return Vec::new();
    }
    let bend = knee(roof).filter(|x| from < *x && *x < to);
    let places = [Some(from), bend, Some(to)].into_iter().flatten();
    places.filter_map(|x| Some((x, under(roof, x)?))).collect()
}

/// The stretches of a roof, each with whether it is the lowest there and reaches into no zone.
pub fn stretches(
    figure: &Figure,
    number: usize,
    (x, y): (&ValueAxis, &ValueAxis),
) -> Vec<(bool, [(f64, f64); 2])> {
    let roof = &figure.roofs[number];
    let line = course(roof, x, y);
    let mut cuts: Vec<f64> = line.iter().map(|p| p.0).collect();
    let (Some(first), Some(last)) = (cuts.first().copied(), cuts.last().copied()) else {
        return Vec::new();
    };
    // Two roofs cross where a slope meets a level; like slopes and like levels never do.
    for other in &figure.roofs {
        cuts.extend(other.ceiling.zip(roof.slope).map(|(c, s)| c / s));
        cuts.extend(roof.ceiling.zip(other.slope).map(|(c, s)| c / s));
    }
    cuts.retain(|c| c.is_finite() && first <= *c && *c <= last);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let apart = |a: f64, b: f64| figure.drawn_zones().any(|zone| zone.from < b && a < zone.to);
    let lowest = |a: f64, b: f64| {
        !apart(a, b) && binding(figure, (a * b).sqrt()).is_some_and(|r| r.0 == number)
    };
    let point = |x: f64| under(roof, x).map(|y| (x, y));
    let pieces =
        cuts.windows(2).filter_map(|w| Some((lowest(w[0], w[1]), [point(w[0])?, point(w[1])?])));
    pieces.collect()
}

/// Headers of the columns that only this kind has.
pub fn extra_columns(figure: &Figure) -> Vec<String> {
    if figure.kind != FigureKind::Roofline {
        return Vec::new();
    }
    let slope = format!("slope [{} per {}]", figure.y.unit.symbol(), figure.x.unit.symbol());
    vec!["bound by".into(), slope]
}

/// The roof that binds a mark, as the columns of its line: empty where none does; nothing for other
/// kinds.
pub fn binding_column(figure: &Figure, mark: &Mark) -> Vec<String> {
    if figure.kind != FigureKind::Roofline {
        return Vec::new();
    }
    let roof = binds(figure, mark.x).map(|(roof, _)| figure.roofs[roof].name.clone());
    vec![roof.unwrap_or_default(), String::new()]
}

/// One line a roof: its name, its level in the column of the values, its slope in the last.
pub fn roof_rows(figure: &Figure, runs: usize) -> Vec<Vec<String>> {
    if figure.kind != FigureKind::Roofline {
        return Vec::new();
    }
    let text = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let row = |roof: &Roof| {
        let mut fields = vec![roof.name.clone(), String::new(), text(roof.ceiling)];
        fields.resize(6 + runs + 1, String::new());
        fields.push(text(roof.slope));
        fields
    };
    figure.roofs.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roof_bends_where_its_slope_meets_its_level() {
        let roof = Roof { slope: Some(2.0), ceiling: Some(10.0), name: "a".into() };
        assert_eq!([1.0, 5.0, 9.0].map(|x| under(&roof, x)), [2.0, 10.0, 10.0].map(Some));
        assert_eq!(knee(&roof), Some(5.0));
        let none = Roof { slope: None, ceiling: None, name: "b".into() };
        assert_eq!((under(&none, 1.0), knee(&none)), (None, None));
    }
}
