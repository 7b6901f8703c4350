//! The matrix of layouts: every kind of figure at every width, in English and in a longer language.
//!
//! A theme is no dimension of it: `contrast.rs` holds that light and dark differ in colours only.

use super::super::layout::scene;
use super::super::model::{Figure, FigureKind};
use super::super::scene::{Ink, Rect, Role, Scene, Shape, Text};
use super::super::{alt_text, svg};
use super::fixture::figures;

const WIDTHS: [u32; 5] = [360, 400, 760, 800, 1200];
const STRETCHES: [f64; 2] = [1.0, 1.35];

pub fn texts(scene: &Scene) -> Vec<&Text> {
    let mut all = Vec::new();
    for shape in &scene.shapes {
        if let Shape::Text(text) = shape {
            all.push(text);
        }
    }
    all
}

fn every_layout(check: impl Fn(&str, &Figure, &Scene)) {
    layouts(figures(), &WIDTHS, check);
}

/// Each figure at each of these widths, with texts as they are and stretched.
pub fn layouts(
    figures: impl IntoIterator<Item = (String, Figure)>,
    widths: &[u32],
    check: impl Fn(&str, &Figure, &Scene),
) {
    for (name, figure) in figures {
        for &width in widths {
            for stretch in STRETCHES {
                let name = format!("{name}, {width} px, texts x{stretch}");
                check(&name, &figure, &scene(&figure, width, stretch));
            }
        }
    }
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
fn no_line_and_no_marker_crosses_a_text() {
    every_layout(|name, _, scene| {
        for text in texts(scene) {
            let room = text.bounds();
            for shape in &scene.shapes {
                let crossed = match shape {
                    // A remark has a halo of paper and may stand on a hairline.
                    Shape::Line(Ink::Grid | Ink::Base | Ink::Leader, _)
                        if text.role == Role::Remark =>
                    {
                        false
                    }
                    Shape::Line(_, points) => {
                        points.windows(2).any(|w| room.crossed_by(w[0], w[1]))
                    }
                    Shape::Marker { at, radius, .. } => room.overlaps(&Rect {
                        left: at.0 - radius,
                        top: at.1 - radius,
                        right: at.0 + radius,
                        bottom: at.1 + radius,
                    }),
                    // Words may stand on a cell, but not across its edge.
                    Shape::Bar { room: cell, .. } => room.overlaps(cell) && !holds(cell, &room),
                    _ => false,
                };
                assert!(!crossed, "{name}: '{}' {room:?} crossed by {shape:?}", text.words);
            }
        }
    });
}

fn holds(outer: &Rect, inner: &Rect) -> bool {
    outer.left <= inner.left
        && inner.right <= outer.right
        && outer.top <= inner.top
        && inner.bottom <= outer.bottom
}

fn around(points: &[(f64, f64)]) -> Rect {
    let fold = |of: fn(&(f64, f64)) -> f64, pick: fn(f64, f64) -> f64| {
        points.iter().map(of).reduce(pick).unwrap()
    };
    let (left, right) = (fold(|p| p.0, f64::min), fold(|p| p.0, f64::max));
    Rect { left, right, top: fold(|p| p.1, f64::min), bottom: fold(|p| p.1, f64::max) }
}

#[test]
fn nothing_that_is_drawn_leaves_the_sheet() {
    every_layout(|name, _, scene| {
        for shape in &scene.shapes {
            let room = match shape {
                Shape::Text(text) => text.bounds(),
                Shape::Line(_, points) | Shape::Area(_, points) => around(points),
                Shape::Bar { room, .. } => *room,
                Shape::Marker { at, radius, .. } => {
                    Rect { left: at.0, right: at.0, top: at.1, bottom: at.1 }.grown(*radius)
                }
            };
            let sheet = Rect { left: 0.0, top: 0.0, right: scene.width, bottom: scene.height };
            assert!(holds(&sheet.grown(0.1), &room), "{name}: {shape:?} at {room:?}");
        }
    });
}

#[test]
fn a_name_that_was_shortened_is_whole_in_hint_and_alt_text() {
    let (mut shortened, mut kinds) = (0, Vec::new());
    every_layout(|name, figure, scene| {
        let cut = texts(scene).iter().any(|t| t.words.ends_with('…'));
        let said = alt_text(figure);
        for series in figure.series.iter().filter(|s| cut && !s.marks.is_empty()) {
            let told = scene.shapes.iter().any(|s| match s {
                Shape::Marker { hint, .. } | Shape::Bar { hint, .. } => hint.contains(&series.name),
                _ => false,
            });
            assert!(told && said.contains(&series.name), "{name}: {}", series.name);
        }
    });
    for (_, figure) in figures() {
        shortened += svg(&figure, 360).matches("…</text>").count();
        kinds.push(figure.kind);
    }
    assert!(shortened > 0, "no figure has a name that is too long");
    assert!(kinds.contains(&FigureKind::Roofline) && kinds.contains(&FigureKind::Timeline));
}

#[test]
fn every_point_and_every_name_is_drawn() {
    every_layout(|name, figure, scene| {
        let marks: usize = figure.series.iter().map(|s| s.marks.len()).sum();
        let hinted = |s: &&Shape| match s {
            Shape::Marker { hint, .. } | Shape::Bar { hint, .. } => !hint.is_empty(),
            _ => false,
        };
        if figure.kind == FigureKind::Sparkline {
            return;
        }
        assert_eq!(scene.shapes.iter().filter(hinted).count(), marks, "{name}");
        let said: String = texts(scene).iter().map(|t| t.words.replace(' ', "")).collect();
        let cut = said.contains('…');
        let names = figure.series.iter().map(|s| &s.name);
        let names = names.chain(figure.zones.iter().map(|z| &z.name));
        for wanted in names.chain(figure.references.iter().map(|r| &r.name)) {
            assert!(cut || said.contains(&wanted.replace(' ', "")), "{name}: {wanted}");
        }
    });
}
