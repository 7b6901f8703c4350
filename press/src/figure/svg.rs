//! Knows how a laid out figure is written as SVG, and in which colours. Knows no positions.

use super::alt::alt_text;
use super::layout::{kicker, scene};
use super::model::{Figure, FigureKind};
use super::scene::{Anchor, Glyph, Ink, Point, Rect, Role, Shape, Text};
use std::fmt::Write;

/// The figure as inline SVG, `width` px wide (at least 280), as high as it needs to be.
///
/// Colours come from [`svg_style`]; the text holds no script and names no other file.
#[must_use]
pub fn svg(figure: &Figure, width: u32) -> String {
    drawing(figure, width, None)
}

/// The figure as [`svg`] has it, for a page that holds it at `other` px too: its name, its
/// description and the words of its markers are those of that drawing, in the same order.
#[must_use]
pub fn svg_beside(figure: &Figure, width: u32, other: u32) -> String {
    drawing(figure, width, Some(other))
}

fn drawing(figure: &Figure, width: u32, other: Option<u32>) -> String {
    let scene = scene(figure, width, 1.0);
    let (wide, high) = (px(scene.width), px(scene.height));
    // A sparkline is as wide on every page.
    let named = other.filter(|_| figure.kind != FigureKind::Sparkline);
    let told = named.map_or_else(|| wide.clone(), |other| px(f64::from(other)));
    let id = format!("{}-{told}", identifier(&figure.id));
    let (class, title) = match figure.kind {
        FigureKind::Sparkline => ("fig spark", figure.title.clone()),
        _ => ("fig", format!("{}. {}", kicker(figure), figure.title)),
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\">\n",
    );
    if other.is_none() {
        let (title, said) = (escape(&title), escape(&alt_text(figure)));
        let _ = write!(
            out,
            "<title id=\"{id}-t\">{title}</title>\n<desc id=\"{id}-d\">{said}</desc>\n"
        );
    }
    // Runs lie in heaps of one look: a heap is one path.
    for heap in scene.shapes.chunk_by(|a, b| run(a).is_some() && run(a) == run(b)) {
        out.push_str(&match heap {
            [shape] => element(shape, other.is_some()),
            heap => runs(heap),
        });
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

/// Look and radius of a filled marker that stands for a single run.
fn run(shape: &Shape) -> Option<(Ink, Glyph, f64)> {
    match shape {
        Shape::Marker {
            ink, glyph: glyph @ (Glyph::Dot | Glyph::Square), radius, hint, ..
        } => hint.is_empty().then_some((*ink, *glyph, *radius)),
        _ => None,
    }
}

/// A thread of more points than this is drawn to the whole pixel: pages have many of them.
const MANY: usize = 20;

/// Runs of one look.
fn runs(heap: &[Shape]) -> String {
    let (mut class_of, mut path) = (String::new(), String::new());
    for shape in heap {
        if let Shape::Marker { ink, glyph, at, radius, .. } = shape {
            class_of = class(*ink);
            path.push_str(&match glyph {
                Glyph::Square => square(*at, *radius),
                _ => disc(*at, *radius),
            });
        }
    }
    format!("<path class=\"f {class_of}\" d=\"{path}\"/>")
}

/// A circle as a path: an arc all the way round but for a tenth of a pixel.
fn disc((x, y): Point, radius: f64) -> String {
    let r = px(radius);
    format!("M{} {}a{r} {r} 0 1 1 0-.1z", px(x + radius), px(y))
}

fn square((x, y): Point, radius: f64) -> String {
    let (half, side) = (0.9 * radius, px(1.8 * radius));
    format!("M{} {}h{side}v{side}h-{side}z", px(x - half), px(y - half))
}

fn element(shape: &Shape, beside: bool) -> String {
    match shape {
        Shape::Text(text) => text_element(text),
        Shape::Line(ink @ Ink::Thread(_), points) if points.len() > MANY => {
            format!("<polyline class=\"{}\" points=\"{}\"/>", class(*ink), coarse(points))
        }
        Shape::Line(ink, points) => {
            format!("<polyline class=\"{}\" points=\"{}\"/>", class(*ink), path(points))
        }
        Shape::Area(ink, points) => {
            format!("<polygon class=\"a {}\" points=\"{}\"/>", class(*ink), path(points))
        }
        Shape::Bar { ink, room, hint } => titled("rect", &bar(*ink, room), hint, beside),
        Shape::Marker { ink, glyph, at, radius, hint } => {
            let open = matches!(glyph, Glyph::OpenSquare | Glyph::OpenDiamond | Glyph::OpenDot);
            let look = if open { "o" } else { "f" };
            let (name, place) = outline(*glyph, *at, *radius);
            titled(name, &format!("class=\"{look} {}\" {place}", class(*ink)), hint, beside)
        }
    }
}

/// An element with the words for a pointer that rests on it; beside another drawing the words are
/// there, and here is only the place.
fn titled(name: &str, attributes: &str, hint: &str, beside: bool) -> String {
    match (hint, beside) {
        ("", _) => format!("<{name} {attributes}/>"),
        (_, true) => format!("<{name} {attributes}><title/></{name}>"),
        (hint, false) => {
            format!("<{name} {attributes}><title>{}</title></{name}>", escape(hint))
        }
    }
}

fn bar(ink: Ink, room: &Rect) -> String {
    let (x, y) = (px(room.left), px(room.top));
    let (wide, high) = (px(room.right - room.left), px(room.bottom - room.top));
    format!("class=\"a {}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"", class(ink))
}

fn text_element(text: &Text) -> String {
    let role = match text.role {
        Role::Kicker => "tk",
        Role::Title => "tt",
        Role::Subtitle => "ts",
        Role::Heading => "th",
        Role::Direction => "td",
        Role::Tick => "tx",
        Role::Label(_) => "tl",
        Role::Remark => "tr",
        Role::Name => "tm",
        Role::Value => "tv",
        Role::Note => "tn",
    };
    let mut classes = role.to_owned();
    if let Role::Label(series) = text.role {
        let _ = write!(classes, " s{}", series % 6);
    }
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => classes.push_str(" am"),
        Anchor::End => classes.push_str(" ae"),
    }
    let (x, y) = (px(text.at.0), px(text.at.1));
    format!("<text class=\"{classes}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(&text.words))
}

fn class(ink: Ink) -> String {
    match ink {
        Ink::Grid => "g".into(),
        Ink::Base => "b".into(),
        Ink::Reference => "r".into(),
        Ink::Leader => "l".into(),
        Ink::Zone(i) => format!("z{}", i % 2),
        Ink::Lead(i) => format!("zl s{}", i % 6),
        Ink::Curve(i) => format!("c s{}", i % 6),
        Ink::Band(i) => format!("n s{}", i % 6),
        Ink::Interval(i) => format!("i s{}", i % 6),
        Ink::Marker(i) => format!("m s{}", i % 6),
        Ink::Run(i) => format!("u s{}", i % 6),
        Ink::Invalid => "x".into(),
        Ink::Whisker(i) => format!("w s{}", i % 6),
        Ink::Neutral => "k".into(),
        Ink::Heat(step) => format!("h{}", step % 7),
        Ink::Open => "ho".into(),
        Ink::Hatch => "hx".into(),
        Ink::Bar(i) => format!("wb s{}", i % 6),
        Ink::Part(i) => format!("wp s{}", i % 6),
        Ink::Span => "wk".into(),
        Ink::Thread(i) => format!("jn s{}", i % 6),
        Ink::Roof => "rf".into(),
    }
}

/// Element name and geometry of a marker. Areas of the shapes are about equal.
fn outline(glyph: Glyph, (x, y): Point, radius: f64) -> (&'static str, String) {
    let polygon = |corners: &[Point]| {
        let placed: Vec<Point> =
            corners.iter().map(|c| (x + c.0 * radius, y + c.1 * radius)).collect();
        ("polygon", format!("points=\"{}\"", path(&placed)))
    };
    match glyph {
        Glyph::Dot | Glyph::OpenDot => {
            ("circle", format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(radius)))
        }
        Glyph::Square | Glyph::OpenSquare => ("path", format!("d=\"{}\"", square((x, y), radius))),
        Glyph::Triangle => polygon(&[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)]),
        Glyph::OpenDiamond => polygon(&[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)]),
    }
}

fn path(points: &[Point]) -> String {
    let pairs: Vec<String> = points.iter().map(|p| format!("{},{}", px(p.0), px(p.1))).collect();
    pairs.join(" ")
}

/// The same to the whole pixel, for a thread that jumps at every one of them.
fn coarse(points: &[Point]) -> String {
    let pairs: Vec<String> =
        points.iter().map(|p| format!("{},{}", px(p.0.round()), px(p.1.round()))).collect();
    pairs.join(" ")
}

/// A tenth of a pixel is finer than a screen shows.
fn px(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// Text as XML character data, also inside a quoted attribute; control characters are dropped.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn identifier(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let id: String = id.chars().map(safe).collect();
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("fig-{id}") }
}

/// The style sheet that every page with figures needs once: light, dark and print colours.
///
/// A page may set `--paper` to its own ground, and `data-theme="light"` or `"dark"` on its root.
#[must_use]
pub const fn svg_style() -> &'static str {
    include_str!("figure.css")
}
