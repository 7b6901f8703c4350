//! Knows how a figure becomes an SVG file of its own: with its font, and with its colours written
//! out, because many programs that show SVG know no variables of CSS. Knows no positions.

use super::font::font_faces;
use super::model::Figure;
use super::svg::{svg, svg_style};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Colours of the series that the style sheet has.
const SERIES: usize = 6;
/// Empty paper around the drawing, px: in an article the page gives it.
const MARGIN: u32 = 16;
/// Variable that a series sets for all that is drawn in its colour.
const OWN: &str = "--s";

/// In which colours a figure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// On white.
    Light,
    /// On black.
    Dark,
    /// Light, and dark for a reader who asked the system for it.
    Both,
}

/// The figure as an SVG file, `width` px wide (at least 312), on paper of its own.
///
/// Colours are written out; with [`Theme::Both`] the dark ones stand in a media query, which a
/// program that knows none passes over. The text holds no script and names no other file.
#[must_use]
pub fn standalone(figure: &Figure, width: u32, theme: Theme) -> String {
    let drawn = svg(figure, width.saturating_sub(2 * MARGIN));
    let opened = drawn.split_once('\n').and_then(|(head, body)| Some((opened(head)?, body)));
    let Some((head, body)) = opened else { return drawn };
    let style = style(svg_style(), theme);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{head}\n<style>\n{}{style}</style>\n\
         <rect class=\"paper\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"100%\" height=\"100%\"/>\n\
         {body}",
        font_faces()
    )
}

/// The opening tag with a margin around what it opens; none if it has no size.
fn opened(head: &str) -> Option<String> {
    let (before, size) = head.split_once(" width=\"")?;
    let mut sizes = size.split('"').step_by(2);
    let mut side = || Some(sizes.next()?.parse::<f64>().ok()? + f64::from(2 * MARGIN));
    let (wide, high) = (side()?, side()?);
    Some(format!(
        "{before} width=\"{wide}\" height=\"{high}\" \
         viewBox=\"-{MARGIN} -{MARGIN} {wide} {high}\">"
    ))
}

/// The style sheet with every variable resolved.
fn style(sheet: &str, theme: Theme) -> String {
    let parts = parts(sheet);
    let light = palette(&parts, |around| around.is_empty());
    let mut dark = light.clone();
    dark.extend(palette(&parts, |around| around.contains("prefers-color-scheme: dark")));
    let plain: Vec<&Rule> = parts.iter().filter(|r| r.around.is_empty()).collect();
    match theme {
        Theme::Light => written(&plain, &light),
        Theme::Dark => written(&plain, &dark),
        Theme::Both => format!(
            "{}@media screen and (prefers-color-scheme: dark) {{\n{}}}\n",
            written(&plain, &light),
            written(&plain, &dark)
        ),
    }
}

/// A rule of a style sheet.
struct Rule<'s> {
    /// The media query that it stands in; empty for none.
    around: &'s str,
    selectors: Vec<&'s str>,
    /// Property and value.
    declarations: Vec<(&'s str, &'s str)>,
}

/// The rules of a sheet with blocks one deep.
fn parts(sheet: &str) -> Vec<Rule<'_>> {
    let mut rules = Vec::new();
    let (mut around, mut start) = ("", 0);
    let mut open: Option<(&str, usize)> = None;
    for (at, c) in sheet.char_indices() {
        let word = || sheet.get(start..at).unwrap_or_default().trim();
        match (c, open) {
            ('{', None) if word().starts_with('@') => around = word(),
            ('{', None) => open = Some((word(), at + 1)),
            ('}', Some((selectors, from))) => {
                rules.push(rule(around, selectors, sheet.get(from..at).unwrap_or_default()));
                open = None;
            }
            ('}', None) => around = "",
            _ => continue,
        }
        start = at + 1;
    }
    rules
}

fn rule<'s>(around: &'s str, selectors: &'s str, body: &'s str) -> Rule<'s> {
    let declarations = body.split(';').filter_map(|d| d.split_once(':'));
    Rule {
        around,
        selectors: selectors.split(',').map(str::trim).collect(),
        declarations: declarations.map(|(key, value)| (key.trim(), value.trim())).collect(),
    }
}

/// The variables that a figure sets inside such a media query.
fn palette<'s>(rules: &[Rule<'s>], inside: impl Fn(&str) -> bool) -> BTreeMap<&'s str, &'s str> {
    let of_figure = |r: &&Rule<'s>| inside(r.around) && r.selectors.iter().any(|s| is_figure(s));
    let declared = rules.iter().filter(of_figure).flat_map(|r| &r.declarations);
    declared.filter(|(key, _)| key.starts_with("--")).copied().collect()
}

/// Whether a selector means the figure itself and not a part of it.
fn is_figure(selector: &str) -> bool {
    selector.ends_with(".fig")
}

/// The rules with the variables of a palette in place; what takes the colour of its series is
/// written once a series.
fn written(rules: &[&Rule<'_>], palette: &BTreeMap<&str, &str>) -> String {
    let mut out = String::new();
    for rule in rules {
        let declared: Vec<_> =
            rule.declarations.iter().filter(|(key, _)| !key.starts_with("--")).copied().collect();
        let (own, common): (Vec<_>, Vec<_>) =
            declared.into_iter().partition(|(_, value)| value.contains("var(--s)"));
        let (fallen, common_to): (Vec<_>, Vec<_>) =
            common.into_iter().partition(|(_, value)| value.contains("var(--s,"));
        line(&mut out, rule.selectors.iter().map(|s| (*s).to_owned()), (&common_to, palette));
        line(&mut out, rule.selectors.iter().map(|s| (*s).to_owned()), (&fallen, palette));
        let by_series: Vec<_> = own.into_iter().chain(fallen).collect();
        for number in 0..SERIES {
            let name = format!("--s{number}");
            let Some(colour) = palette.get(name.as_str()) else { continue };
            let mut palette = palette.clone();
            palette.insert(OWN, colour);
            let selectors = rule.selectors.iter().map(|s| format!("{s}.s{number}"));
            line(&mut out, selectors, (&by_series, &palette));
        }
    }
    // Writing to a string cannot fail.
    let _ = writeln!(out, ".fig .paper {{ fill: {}; }}", resolved("var(--fig-paper)", palette));
    out
}

type Declared<'d> = (&'d [(&'d str, &'d str)], &'d BTreeMap<&'d str, &'d str>);

fn line(
    out: &mut String,
    selectors: impl Iterator<Item = String>,
    (declarations, palette): Declared<'_>,
) {
    if declarations.is_empty() {
        return;
    }
    let selectors: Vec<String> = selectors.collect();
    let _ = write!(out, "{} {{", selectors.join(", "));
    for (key, value) in declarations {
        let _ = write!(out, " {key}: {};", resolved(value, palette));
    }
    out.push_str(" }\n");
}

/// A value with its variables in place; one that nobody set is its fallback, or nothing.
fn resolved(value: &str, palette: &BTreeMap<&str, &str>) -> String {
    let mut text = value.to_owned();
    // The innermost first: no variable stands within a name, and each step takes one away.
    while let Some(from) = text.rfind("var(") {
        let Some(length) = text[from..].find(')') else { break };
        let inside = &text[from + 4..from + length];
        let (name, fallback) = inside.split_once(',').unwrap_or((inside, ""));
        let value = palette.get(name.trim()).copied().unwrap_or(fallback.trim()).to_owned();
        text.replace_range(from..=from + length, &value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str =
        ".fig { --fig-paper: var(--paper, #fff); --ink: #111; --s0: #00f; color: red }
@media screen and (prefers-color-scheme: dark) { :root:not(.x) .fig { --ink: #eee; --s0: #88f; } }
@media print { .fig { --ink: #000; } }
.fig .s0 { --s: var(--s0); }
.fig text, .fig .b { fill: var(--ink); width: 1px }
.fig .c { stroke: var(--s); } .fig .l { stroke: var(--s, var(--ink)); }
";

    #[test]
    fn a_palette_is_written_out_and_what_belongs_to_a_series_once_a_series() {
        let light = style(SHEET, Theme::Light);
        let expected = ".fig { color: red; }\n.fig text, .fig .b { fill: #111; width: 1px; }\n\
                        .fig .c.s0 { stroke: #00f; }\n.fig .l { stroke: #111; }\n\
                        .fig .l.s0 { stroke: #00f; }\n.fig .paper { fill: #fff; }\n";
        assert_eq!(light, expected);
        let dark = style(SHEET, Theme::Dark);
        assert!(dark.contains("fill: #eee") && dark.contains("stroke: #88f"), "{dark}");
        let both = style(SHEET, Theme::Both);
        assert!(both.starts_with(&light) && both.contains("@media screen"), "{both}");
    }

    #[test]
    fn a_file_has_paper_around_its_drawing() {
        let head = "<svg class=\"fig\" width=\"728\" height=\"500.5\" viewBox=\"0 0 728 500.5\">";
        let with = opened(head).unwrap();
        let size = "width=\"760\" height=\"532.5\" viewBox=\"-16 -16 760 532.5\">";
        assert_eq!(with, format!("<svg class=\"fig\" {size}"));
        assert_eq!(opened("<svg>"), None);
    }

    #[test]
    fn the_own_sheet_leaves_no_variable() {
        for theme in [Theme::Light, Theme::Dark, Theme::Both] {
            let style = style(svg_style(), theme);
            assert!(!style.contains("var(") && !style.contains("--"), "{style}");
            assert_eq!(style.matches('{').count(), style.matches('}').count());
        }
        let light = style(svg_style(), Theme::Light);
        for number in 0..SERIES {
            assert!(light.contains(&format!(".fig .c.s{number} {{ stroke: #")), "{light}");
        }
        assert!(!light.contains(&format!(".s{SERIES} ")), "{light}");
    }
}
