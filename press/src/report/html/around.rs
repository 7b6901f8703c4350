//! Knows what a page says around its article: the way past the contents, the contents, what the
//! file carries, and the words of its script.

use super::anchor::Place;
use crate::report::bundle::{Bundle, packed};
use crate::report::document::{Node, Prose};
use crate::report::error::ReportError;
use crate::report::words::{Args, Words};
use maud::{Markup, PreEscaped, html as markup};
use serde_json::{Value, json};

/// Fewer chapters need no table of contents.
const CHAPTERS: usize = 4;

/// The first thing that a key reaches.
pub(super) fn skip(words: &Words) -> Result<Markup, ReportError> {
    let text = words.label("page-skip")?;
    Ok(markup! { a.skip href="#article" { (text.text()) } })
}

/// The chapters with their sections, for an article that is long enough to look something up in.
pub(super) fn contents(places: &[Place<'_>], words: &Words) -> Result<Markup, ReportError> {
    let chapters: Vec<_> = sections(places).collect();
    if chapters.len() < CHAPTERS {
        return Ok(Markup::default());
    }
    let name = words.label("page-contents")?;
    Ok(markup! {
        nav.contents id="contents" aria-label=(name.text()) {
            details {
                summary { (name.text()) }
                ol {
                    @for (id, title, below) in chapters {
                        li {
                            a href=(format!("#{id}")) { (title) }
                            @if sections(below).next().is_some() {
                                ol {
                                    @for (id, title, _) in sections(below) {
                                        li { a href=(format!("#{id}")) { (title) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Id and title of every section, and what stands below it.
fn sections<'p>(
    places: &'p [Place<'_>],
) -> impl Iterator<Item = (&'p str, &'p str, &'p [Place<'p>])> {
    places.iter().filter_map(|place| match place.node {
        Node::Section { title, .. } => {
            Some((place.id.as_str(), title.text(), place.below.as_slice()))
        }
        _ => None,
    })
}

/// What the file holds besides the article, and how it is had.
pub(super) fn archive(bundle: &Bundle<'_>, words: &Words) -> Result<Markup, ReportError> {
    let runs = u32::try_from(bundle.parts.len()).unwrap_or(u32::MAX);
    let said = words.say("page-carried", Args::new().count("runs", runs))?;
    let digits = bundle.parts.iter().filter_map(|part| part.run.digits).min();
    let rounded = match digits {
        Some(digits) => {
            words.say("page-rounded", Args::new().count("digits", u32::from(digits)))?
        }
        None => Prose::default(),
    };
    Ok(markup! {
        section.archive id="data" {
            h2 { (words.label("page-data")?.text()) }
            p { (said.text()) }
            @if digits.is_some() { p { (rounded.text()) } }
            div.code {
                p.caption { (words.label("page-command")?.text()) }
                pre tabindex=(0) { code { (bundle.commands()) } }
            }
        }
    })
}

/// What the script needs: its words, and the numbers of every figure as CSV, packed.
pub(super) fn carried(words: &Words, numbers: &[(String, String)]) -> Result<Markup, ReportError> {
    let mut said = serde_json::Map::new();
    for (key, label) in [
        ("back", words.label("page-back")?),
        ("on", words.label("page-on")?),
        ("csv", words.label("page-csv")?),
        ("bundle", words.label("page-bundle")?),
    ] {
        said.insert(key.into(), Value::String(label.text().into()));
    }
    let points = words.say("page-points", Args::new().name("figure", "{}"))?;
    said.insert("points".into(), Value::String(points.text().into()));
    let csv: serde_json::Map<String, Value> =
        numbers.iter().map(|(id, csv)| (id.clone(), Value::String(csv.clone()))).collect();
    let csv = packed(&Value::Object(csv).to_string())?;
    let text = super::harmless(&json!({ "words": said, "csv": csv }).to_string());
    Ok(markup! { script type="application/json" id="page-data" { (PreEscaped(text)) } })
}
