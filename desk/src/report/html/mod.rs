//! Knows how a document becomes one HTML file that needs nothing else: no network, and no script to
//! be read.
//!
//! Names of hosts and levels are foreign text: everything is escaped, and the content policy lets
//! only our own script and style work, each by its hash. Never: a word of its own; words come with
//! the document and from `words/en/page.ftl`.
//! Start reading at [`html`]; the parts of an article stand in `block.rs`.

mod anchor;
mod block;
#[cfg(test)]
mod tests;
mod typeset;

use super::bundle::{Bundle, ELEMENT};
use super::document::{Document, Node, Prose};
use super::error::ReportError;
use super::words::{Args, Words};
use crate::figure;
use anchor::{Ids, heading, targets};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use block::Page;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use typeset::Setter;

const STYLE: &str = include_str!("style.css");
/// Adds hover, keys, deep links, sorting and downloads; an article without it lacks nothing.
const SCRIPT: &str = include_str!("report.js");
/// Fewer chapters need no table of contents.
const CHAPTERS: usize = 4;

/// The document as one self-contained HTML file that carries the bundle it was made from; the same
/// document and bundle give the same bytes.
///
/// # Errors
/// Missing words, or a record that cannot be written.
pub fn html(document: &Document, bundle: &Bundle<'_>) -> Result<String, ReportError> {
    let words = Words::english()?;
    let setter = Setter { targets: targets(document) };
    let mut page =
        Page { setter: &setter, ids: Ids::new(), under: "title".into(), numbers: Vec::new() };
    let body: Vec<Markup> = document.body.iter().map(|node| page.block(node, 2)).collect();
    let style = [STYLE, figure::svg_style()].concat();
    let policy = policy(&style);
    let marked = !document.watermark.text().is_empty();
    let set = |prose: &Prose| setter.prose(prose);
    let whole = markup! {
        (DOCTYPE)
        html lang=(document.language) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title.text()) }
                style { (PreEscaped(style)) }
            }
            body class=[marked.then_some("marked")] {
                a.skip href="#article" { (words.label("page-skip")?.text()) }
                @if marked { p.watermark { (set(&document.watermark)) } }
                main id="article" tabindex="-1" {
                    header {
                        p.kicker { (set(&document.kicker)) }
                        h1 id="title" { (set(&document.title)) }
                        @if !document.question.text().is_empty() {
                            p.question { (set(&document.question)) }
                        }
                    }
                    (contents(document, &words)?)
                    @for block in body { (block) }
                    (archive(bundle, &words)?)
                }
                (carried(&words, &page.numbers)?)
                (PreEscaped(ELEMENT)) (bundle.packed()?) (PreEscaped("</script>"))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(whole.into_string())
}

/// Nothing may be loaded, and only the style and the script of this page apply.
fn policy(style: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        source(SCRIPT),
        source(style)
    )
}

/// A text as the policy names it.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The chapters with their sections, for an article that is long enough to look something up in.
fn contents(document: &Document, words: &Words) -> Result<Markup, ReportError> {
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
fn archive(bundle: &Bundle<'_>, words: &Words) -> Result<Markup, ReportError> {
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
                pre tabindex="0" { code { (bundle.commands()) } }
            }
        }
    })
}

/// What the script needs: its words, and the numbers of every figure as CSV.
fn carried(words: &Words, numbers: &[(String, String)]) -> Result<Markup, ReportError> {
    let mut said = serde_json::Map::new();
    for key in ["back", "on", "csv", "bundle"] {
        let text = words.label(&format!("page-{key}"))?.text().to_owned();
        said.insert(key.into(), Value::String(text));
    }
    let points = words.say("page-points", Args::new().name("figure", "{}"))?;
    said.insert("points".into(), Value::String(points.text().into()));
    let csv: serde_json::Map<String, Value> =
        numbers.iter().map(|(id, csv)| (id.clone(), Value::String(csv.clone()))).collect();
    let text = json!({ "words": said, "csv": csv }).to_string();
    // Inside a script nothing is escaped, so nothing may look like the end of one.
    let text = text.replace('<', "\\u003c");
    Ok(markup! { script type="application/json" id="page-data" { (PreEscaped(text)) } })
}
