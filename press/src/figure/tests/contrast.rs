//! Colours: light and dark differ in variables only, and in both every text and mark is seen.

use super::super::svg_style;

/// The declarations `--name: value` of a block of the style sheet.
fn variables(block: &str) -> Vec<(String, String)> {
    let pairs = block.split(';').filter_map(|d| d.split_once(':'));
    let named = |(name, value): (&str, &str)| (name.trim().to_owned(), value.trim().to_owned());
    pairs.map(named).filter(|d| d.0.starts_with("--")).collect()
}

/// What stands between the braces after the first place where `start` occurs.
fn block(start: &str) -> &'static str {
    let css = svg_style();
    let at = css.find(start).unwrap_or_else(|| panic!("{start}"));
    let from = at + css[at..].find('{').unwrap() + 1;
    &css[from..from + css[from..].find('}').unwrap()]
}

const SYSTEM: &str = ":root:not([data-theme=\"light\"]) .fig {";
const CHOSEN: &str = ":root[data-theme=\"dark\"] .fig {";

#[test]
fn a_theme_is_nothing_but_variables_and_has_all_of_them() {
    let light = variables(block(".fig {"));
    for start in [SYSTEM, CHOSEN] {
        let dark = variables(block(start));
        let declarations = block(start).split(';').filter(|d| !d.trim().is_empty()).count();
        assert_eq!(dark.len(), declarations, "{start} sets something else than a variable");
        let names = |all: &[(String, String)]| all.iter().map(|v| v.0.clone()).collect::<Vec<_>>();
        assert_eq!(names(&light), names(&dark));
    }
    assert_eq!(variables(block(SYSTEM)), variables(block(CHOSEN)));
    // Outside the two themes and the paper no rule knows which theme it is drawn in.
    assert_eq!(svg_style().matches("@media").count(), 3);
    assert_eq!(svg_style().matches("data-theme").count(), 2);
}

/// Red, green and blue from 0 to 1.
type Colour = [f64; 3];

struct Theme(Vec<(String, String)>);

impl Theme {
    fn colour(&self, text: &str) -> Colour {
        let Some(name) = text.strip_prefix("var(") else {
            return hex(text);
        };
        // `var(--paper, #fff)` stands for the paper of a page that sets none.
        if let Some((_, fallback)) = name.split_once(',') {
            return self.colour(fallback.trim().trim_end_matches(')'));
        }
        let name = name.trim_end_matches(')');
        let found = self.0.iter().find(|v| v.0 == name);
        self.colour(&found.unwrap_or_else(|| panic!("{name}")).1)
    }

    fn named(&self, name: &str) -> Colour {
        self.colour(&format!("var({name})"))
    }
}

fn themes() -> [(&'static str, Theme); 2] {
    [("light", Theme(variables(block(".fig {")))), ("dark", Theme(variables(block(SYSTEM))))]
}

fn hex(text: &str) -> Colour {
    let digits = text.trim().strip_prefix('#').unwrap_or_else(|| panic!("{text}"));
    let wide = digits.len() == 6;
    let part = |i: usize| {
        let two = if wide { digits[2 * i..2 * i + 2].to_owned() } else { digits[i..=i].repeat(2) };
        f64::from(u8::from_str_radix(&two, 16).unwrap()) / 255.0
    };
    [part(0), part(1), part(2)]
}

fn over(ink: Colour, opacity: f64, ground: Colour) -> Colour {
    [0, 1, 2].map(|i| ink[i] * opacity + ground[i] * (1.0 - opacity))
}

/// Relative luminance (WCAG 2.2).
fn luminance(colour: Colour) -> f64 {
    let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let [r, g, b] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn contrast(a: Colour, b: Colour) -> f64 {
    let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
    a.max(b) / a.min(b)
}

/// The last value that the rules with this selector give a property.
fn declared(selector: &str, property: &str) -> Option<String> {
    let (mut rest, mut found) = (svg_style(), None);
    while let Some((head, tail)) = rest.split_once('{') {
        let (body, after) = tail.split_once('}').unwrap_or((tail, ""));
        let selectors = head.rsplit('}').next().unwrap_or(head);
        if selectors.split(',').any(|s| s.trim() == selector) {
            let mut pairs = body.split(';').rev().filter_map(|d| d.split_once(':'));
            let last = pairs.find(|d| d.0.trim() == property);
            found = last.map(|d| d.1.trim().to_owned()).or(found);
        }
        rest = after;
    }
    found
}

/// The colour of a property of a class on a ground, for every series where it depends on one.
fn seen(theme: &Theme, (selector, property): (&str, &str), ground: Colour) -> Vec<Colour> {
    let value = declared(selector, property).unwrap_or_else(|| panic!("{selector} {property}"));
    let opacity = declared(selector, &format!("{property}-opacity"));
    let opacity: f64 = opacity.map_or(1.0, |o| o.parse().unwrap());
    let inks = match value.as_str() {
        "var(--s)" => (0..6).map(|i| theme.named(&format!("--s{i}"))).collect(),
        value => vec![theme.colour(value)],
    };
    inks.into_iter().map(|ink| over(ink, opacity, ground)).collect()
}

/// What words may stand on: paper, and the darkest shade of a zone.
fn grounds(theme: &Theme) -> [Colour; 2] {
    let paper = theme.named("--fig-paper");
    let zone = seen(theme, (".fig .z1", "fill"), paper);
    [paper, zone[0]]
}

#[test]
fn every_text_can_be_read_in_both_themes() {
    let roles = ["text", ".tk", ".ts", ".td", ".tx", ".tr", ".tn", ".tl"];
    for (name, theme) in themes() {
        let [paper, zone] = grounds(&theme);
        // The name of a series stands beside the panel, never in a zone.
        for (ground, roles) in [(paper, &roles[..]), (zone, &roles[..7])] {
            for role in roles {
                for ink in seen(&theme, (&format!(".fig {role}"), "fill"), ground) {
                    let found = contrast(ink, ground);
                    assert!(found >= 4.5, "{name}: {role} has {found:.2}");
                }
            }
        }
        let ink = theme.named("--fig-ink");
        for step in 0..7 {
            let found = contrast(ink, theme.named(&format!("--h{step}")));
            assert!(found >= 4.5, "{name}: words on step {step} have {found:.2}");
        }
    }
}

#[test]
fn every_mark_is_seen_in_both_themes() {
    let marks = [
        (".fig .b", "stroke"),
        (".fig .r", "stroke"),
        (".fig .c", "stroke"),
        (".fig .i", "stroke"),
        (".fig .w", "stroke"),
        (".fig polyline.k", "stroke"),
        (".fig .f.k", "fill"),
        (".fig .f.m", "fill"),
        (".fig .o.m", "stroke"),
        (".fig .u", "fill"),
        (".fig .f.x", "fill"),
        (".fig .o.x", "stroke"),
        (".fig polyline.x", "stroke"),
        (".fig .hx", "stroke"),
        (".fig .ho", "stroke"),
    ];
    for (name, theme) in themes() {
        let paper = theme.named("--fig-paper");
        for mark in marks {
            for ink in seen(&theme, mark, paper) {
                let found = contrast(ink, paper);
                assert!(found >= 3.0, "{name}: {mark:?} has {found:.2}");
            }
        }
    }
}

#[test]
fn steps_of_a_heatmap_differ_from_their_neighbours_without_colour() {
    for (name, theme) in themes() {
        let light = |i: i32| luminance(theme.named(&format!("--h{i}")));
        let away = |from: [i32; 4]| {
            let all = from.map(light);
            all.windows(2).all(|w| contrast_of(w[0], w[1]) >= 1.1)
        };
        assert!(away([3, 2, 1, 0]) && away([3, 4, 5, 6]), "{name}");
    }
}

fn contrast_of(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_measure_of_contrast_is_that_of_the_standard() {
    assert!((contrast(hex("#000"), hex("#fff")) - 21.0).abs() < 1e-9);
    assert!((contrast(hex("#777777"), hex("#fff")) - 4.48).abs() < 0.005);
}
