//! Knows how a document becomes one HTML file that needs nothing else: no network, and no script to
//! be read.
//!
//! Names of hosts and levels are foreign text: everything is escaped, and the content policy lets
//! only our own script and style work, each by its hash. Never: a word of its own; words come with
//! the document and from `words/en/page.ftl`.
//! Start reading at [`html`]; the parts of an article stand in `block.rs`.

mod anchor;
mod around;
mod block;
#[cfg(test)]
mod layout_tests;
#[cfg(test)]
mod tests;
mod typeset;

use super::bundle::{Bundle, ELEMENT};
use super::document::{Document, Prose};
use super::error::ReportError;
use super::words::Words;
use crate::figure;
use anchor::{places, targets};
use around::{archive, carried, contents, skip};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use block::{Page, beside};
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use sha2::{Digest as _, Sha256};
use typeset::Setter;

const STYLE: &str = include_str!("style.css");
/// Adds hover, keys, deep links, sorting and downloads; an article without it lacks nothing.
const SCRIPT: &str = include_str!("report.js");

/// The document as one self-contained HTML file that carries the bundle it was made from; the same
/// document and bundle give the same bytes.
///
/// # Errors
/// Missing words, or a record that cannot be written.
pub fn html(document: &Document, bundle: &Bundle<'_>) -> Result<String, ReportError> {
    let words = Words::english()?;
    let places = places(document);
    let setter = Setter { targets: targets(&places) };
    let mut page = Page { setter: &setter, under: "title", numbers: Vec::new() };
    let (first, rest) = places.split_at(beside(&places));
    let front = page.front(first);
    let body: Vec<Markup> = rest.iter().map(|place| page.block(place, 2)).collect();
    let style = [figure::font_faces(), STYLE, figure::svg_style()].concat();
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
                (skip(&words)?)
                @if marked { header.watermark { (set(&document.watermark)) } }
                main id="article" tabindex="-1" {
                    header {
                        p.kicker { (set(&document.kicker)) }
                        h1 id="title" { (set(&document.title)) }
                        @if !document.question.text().is_empty() {
                            p.question { (set(&document.question)) }
                        }
                    }
                    (contents(&places, &words)?)
                    (front)
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

/// Nothing may be loaded but the font that the page holds; only its own style and script apply.
fn policy(style: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; font-src data:; base-uri 'none'; \
         form-action 'none'",
        source(SCRIPT),
        source(style)
    )
}

/// A text as the policy names it.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A text that cannot be taken for the end of a script, as JSON writes it: in a script nothing is
/// escaped.
fn harmless(text: &str) -> String {
    text.replace('<', "\\u003c")
}
