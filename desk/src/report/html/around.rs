//! Knows what a page says around its article: the way past the contents, the contents, what the
//! file carries, and the words of its script.

use super::anchor::{Ids, heading};
use crate::report::bundle::{Bundle, packed};
use crate::report::document::{Document, Node, Prose};
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
pub(super) fn contents(document: &Document, words: &Words) -> Result<Markup, ReportError> {
    let mut ids = Ids::new();
    let chapters: Vec<Entry<'_>> = entries(&document.body, &mut ids);
    if chapters.len() < CHAPTERS {
        return Ok(Markup::default());
    }
    let name = words.label("page-contents")?;
    Ok(markup! {
        nav.contents id="contents" aria-label=(name.text()) {
            details {
                summary { (name.text()) }
                ol {
                    @for (id, title, sections) in &chapters {
                        li {
                            a href=(format!("#{id}")) { (title) }
                            @if !sections.is_empty() {
                                ol {
                                    @for (id, title, _) in sections {
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

/// Id, title, and what stands below it.
type Entry<'d> = (String, &'d str, Vec<EntryBelow<'d>>);
type EntryBelow<'d> = (String, &'d str, ());

/// Sections with the sections below them. Ids are claimed in the order of the page.
fn entries<'d>(body: &'d [Node], ids: &mut Ids) -> Vec<Entry<'d>> {
    let mut all = Vec::new();
    for node in body {
        match node {
            Node::Section { id, title, body } => {
                let id = ids.claim(id);
                ids.claim(&heading(&id));
                let below = entries(body, ids).into_iter().map(|(id, title, _)| (id, title, ()));
                all.push((id, title.text(), below.collect()));
            }
            Node::Figure(drawn) => {
                ids.claim(&drawn.id);
            }
            Node::Table(table) => {
                ids.table(&table.caption);
            }
            _ => {}
        }
    }
    all
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
