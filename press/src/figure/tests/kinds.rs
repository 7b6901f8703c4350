//! What a forest, groups, a heatmap and a sparkline say in text, alt text and CSV.

use super::super::layout::scene;
use super::super::model::Zone;
use super::super::scene::{Glyph, Ink, Shape};
use super::super::{alt_text, braille, csv, svg};
use super::fixture::{curve, sweep};
use super::gallery::{forest, groups, heatmap, sparkline};

#[test]
fn undecided_rows_of_a_forest_are_hollow_and_told() {
    let figure = forest(8);
    let open = figure.series.iter().filter(|s| !s.marks[0].valid).count();
    let drawn = scene(&figure, 760, 1.0);
    let hollow =
        |s: &&Shape| matches!(s, Shape::Marker { ink: Ink::Invalid, glyph: Glyph::OpenSquare, .. });
    assert_eq!((open, drawn.shapes.iter().filter(hollow).count()), (2, 2));
    assert_eq!(braille(&figure, 100, 5, true).matches('○').count(), 2);
    let said = alt_text(&figure);
    assert!(said.contains("1.04× (0.93–1.17×), undecided."), "{said}");
    assert!(said.contains("2 undecided rows are shown hollow."), "{said}");
    assert!(said.contains("margin ±2 %: 0.98–1.02×.") && said.contains("no change: 1.00×."));
    let table = csv(&figure);
    assert!(table.starts_with("series,throughput ratio [ratio],low [ratio],high [ratio],decided"));
    assert!(table.contains("pro1000,1.31,1.24,1.38,true\n"), "{table}");
}

#[test]
fn equal_ratios_up_and_down_lie_equally_far_from_no_change() {
    let mut figure = forest(2);
    for (series, centre) in figure.series.iter_mut().zip([2.0, 0.5]) {
        let mark = &mut series.marks[0];
        (mark.centre, mark.low, mark.high, mark.valid) = (centre, centre, centre, true);
    }
    let drawn = scene(&figure, 760, 1.0);
    let base = drawn.shapes.iter().find_map(|s| match s {
        Shape::Line(Ink::Base, points) if points[0].0 == points[1].0 => Some(points[0].0),
        _ => None,
    });
    let centres: Vec<f64> = drawn
        .shapes
        .iter()
        .filter_map(|s| match s {
            Shape::Marker { at, .. } => Some(at.0 - base.unwrap()),
            _ => None,
        })
        .collect();
    assert!(centres[0] > 50.0 && (centres[0] + centres[1]).abs() < 1e-6, "{centres:?}");
}

#[test]
fn an_undecided_interval_does_not_press_the_decided_ones_together() {
    let mut figure = forest(3);
    let width = |figure: &_| {
        let drawn = scene(figure, 760, 1.0);
        let whisker = drawn.shapes.iter().find_map(|s| match s {
            Shape::Line(Ink::Whisker(_), points) => Some(points[1].0 - points[0].0),
            _ => None,
        });
        whisker.unwrap()
    };
    let alone = width(&figure);
    let mark = &mut figure.series[2].marks[0];
    (mark.low, mark.high, mark.valid) = (1e-6, 1e6, false);
    assert!(width(&figure) > alone / 2.5, "{} of {alone}", width(&figure));
    let chevron = |s: &&Shape| matches!(s, Shape::Line(Ink::Invalid, p) if p.len() == 3);
    let drawn = scene(&figure, 760, 1.0);
    assert_eq!(drawn.shapes.iter().filter(chevron).count(), 2, "both ends go on outside");
}

#[test]
fn groups_show_every_run_and_name_every_group() {
    let figure = groups(3, 2);
    let runs: usize = figure.series.iter().flat_map(|s| &s.marks).map(|m| m.runs.len()).sum();
    let drawn = scene(&figure, 400, 1.35);
    let small = |s: &&Shape| matches!(s, Shape::Marker { hint, .. } if hint.is_empty());
    assert_eq!(drawn.shapes.iter().filter(small).count(), runs);
    let (text, said, table) = (braille(&figure, 60, 5, true), alt_text(&figure), csv(&figure));
    for name in &figure.x.names {
        assert!(text.contains(name) && said.contains(name) && table.contains(name), "{name}");
    }
    assert!(said.contains("dge530 invalid."), "{said}");
    assert!(table.starts_with("series,connections and frames,throughput [bit/s],"), "{table}");
}

#[test]
fn a_heatmap_writes_every_ratio_and_hatches_what_is_invalid() {
    let figure = heatmap(2, 13);
    let marks: Vec<_> = figure.series.iter().flat_map(|s| &s.marks).collect();
    for text in [svg(&figure, 400), svg(&figure, 1100), alt_text(&figure)] {
        for mark in &marks {
            assert!(text.contains(&figure.value(mark.centre).to_string()), "{}", mark.centre);
        }
    }
    let hatched = |s: &&Shape| match s {
        Shape::Bar { ink: Ink::Hatch, hint, .. } => hint.ends_with(", invalid"),
        _ => false,
    };
    assert_eq!(scene(&figure, 760, 1.0).shapes.iter().filter(hatched).count(), 1);
    for (columns, unicode) in [(120, true), (60, true), (24, true), (60, false)] {
        let text = braille(&figure, columns, 5, unicode);
        let written = text.lines().skip(1).map(|l| l.matches('.').count()).sum::<usize>();
        assert!(written >= marks.len(), "{columns}: {text}");
    }
    assert!(csv(&figure).contains("pro1000,64 B,2.45"), "{}", csv(&figure));
}

#[test]
fn the_ratios_of_a_heatmap_take_all_of_its_colours() {
    let figure = heatmap(2, 13);
    let mut steps: Vec<usize> = Vec::new();
    for shape in scene(&figure, 1100, 1.0).shapes {
        if let Shape::Bar { ink: Ink::Heat(step), hint, .. } = shape
            && !hint.is_empty()
        {
            steps.push(step);
        }
    }
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5, 6], "2.46 to 0.41 reach beyond twice and half");
}

#[test]
fn a_sparkline_is_small_and_one_line_of_text() {
    let figure = sparkline(40);
    let drawn = svg(&figure, 760);
    assert!(drawn.contains("class=\"fig spark\"") && drawn.contains("width=\"120\" height=\"24\""));
    assert!(drawn.contains("<title id=\"fig-transmit-120-t\">Throughput of each block</title>"));
    assert!(!drawn.contains("<text"));
    let text = braille(&figure, 80, 14, true);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.chars().filter(|c| ('▁'..='█').contains(c)).count() == 39, "{text}");
    assert!(csv(&figure).starts_with("series,block [count],throughput [bit/s],"));
}

#[test]
fn names_without_ascii_keep_their_columns_without_unicode() {
    let text = braille(&heatmap(3, 4), 60, 5, false);
    let ends: Vec<usize> = text.lines().skip(2).take(3).map(str::len).collect();
    assert!(text.contains("???") && ends.windows(2).all(|w| w[0] == w[1]), "{text}");
}

#[test]
fn a_lead_has_the_colour_of_its_series_and_reaches_half_way_to_the_next_point() {
    let series = vec![curve("off", 5, 9.4e9, 4096.0), curve("offload", 5, 9.4e9, 1024.0)];
    let mut figure = sweep(series);
    let xs = figure.positions();
    let zone = |at: f64, name: &str, leader| Zone { from: at, to: at, name: name.into(), leader };
    figure.zones = vec![zone(xs[1], "offload ahead", Some(1)), zone(xs[3], "off ahead", Some(0))];
    let drawn = scene(&figure, 760, 1.0);
    let mut leads = Vec::new();
    for shape in &drawn.shapes {
        if let Shape::Area(Ink::Lead(hue), corners) = shape {
            leads.push((*hue, corners[1].0 - corners[0].0));
        }
    }
    assert_eq!(leads.iter().map(|l| l.0).collect::<Vec<_>>(), [1, 0]);
    assert!(leads.iter().all(|l| l.1 > 60.0), "a band of one point is no sliver: {leads:?}");
    assert!(!drawn.shapes.iter().any(|s| matches!(s, Shape::Area(Ink::Zone(_), _))));
}

#[test]
fn a_cell_that_is_not_told_from_no_change_has_no_colour_in_any_medium() {
    let mut figure = heatmap(1, 3);
    for (mark, (low, centre, high)) in
        figure.series[0].marks.iter_mut().zip([(0.7, 1.26, 1.9), (1.4, 1.5, 1.6), (0.6, 0.88, 1.2)])
    {
        (mark.low, mark.centre, mark.high, mark.valid) = (low, centre, high, true);
    }
    let drawn = scene(&figure, 760, 1.0);
    let open =
        |s: &&Shape| matches!(s, Shape::Bar { ink: Ink::Open, hint, .. } if !hint.is_empty());
    assert_eq!(drawn.shapes.iter().filter(open).count(), 2);
    let text = braille(&figure, 80, 5, true);
    assert!(
        text.contains("1.26×?") && text.contains("1.50×▲") && text.contains("0.88×?"),
        "{text}"
    );
    assert!(text.contains("? undecided"), "{text}");
    assert!(alt_text(&figure).contains("1.26×, undecided"), "{}", alt_text(&figure));
}

#[test]
fn points_of_a_curve_that_must_not_be_averaged_stand_alone_in_a_terminal() {
    let mut series = curve("pro1000", 13, 9.4e8, 900.0);
    series.marks.iter_mut().for_each(|mark| mark.valid = false);
    let figure = sweep(vec![series]);
    assert_eq!(braille(&figure, 100, 14, false).matches('?').count(), 13);
    let dots = |c: &char| ('\u{2801}'..='\u{28ff}').contains(c);
    assert!(braille(&figure, 100, 14, true).chars().filter(dots).count() >= 7);
}
