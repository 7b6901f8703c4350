//! Knows how a document becomes one HTML file that needs nothing else: no script, no network.
//!
//! Names of hosts and levels are foreign text: everything is escaped, and the content policy
//! forbids whatever might get through. Never: a word of its own; words come with the document.

use super::document::{Column, Document, Node, Prose, Ruling, Table, Tone};
use crate::figure::{self, Figure};
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

const STYLE: &str = include_str!("style.css");
/// Nothing may be loaded, and only inline styles apply.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/// Widths that figures are laid out for, pixels: a page and a telephone.
const BROAD: u32 = 760;
const NARROW: u32 = 400;
/// Inline SVG needs no namespace, and a report should hold no address at all.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// The document as one self-contained HTML file; the same document gives the same bytes.
#[must_use]
pub fn html(document: &Document) -> String {
    let marked = !document.watermark.text().is_empty();
    let page = markup! {
        (DOCTYPE)
        html lang=(document.language) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title.text()) }
                style { (PreEscaped(STYLE)) (PreEscaped(figure::svg_style())) }
            }
            body class=[marked.then_some("marked")] {
                @if marked { p.watermark { (typeset(&document.watermark)) } }
                main {
                    header {
                        p.kicker { (typeset(&document.kicker)) }
                        h1 { (typeset(&document.title)) }
                        @if !document.question.text().is_empty() {
                            p.question { (typeset(&document.question)) }
                        }
                    }
                    @for node in &document.body { (block(node, 2)) }
                }
            }
        }
    };
    page.into_string()
}

fn block(node: &Node, depth: u8) -> Markup {
    match node {
        Node::Section { id, title, body } => section(id, title, body, depth),
        Node::Paragraph(prose) => markup! { p { (typeset(prose)) } },
        Node::VerdictBox { tone, headline, rulings, caution, limits } => markup! {
            div.verdict.(class(*tone)) {
                p.headline { (typeset(headline)) }
                (rulings_list(rulings))
                @if !limits.is_empty() { p.caution { (typeset(caution)) } }
                @for limit in limits { p.limit { (typeset(limit)) } }
            }
        },
        Node::Facts(rows) => facts(rows),
        Node::Table(table) if table.folded => markup! {
            details { summary { (typeset(&table.caption)) } (data(table, false)) }
        },
        Node::Table(table) => data(table, true),
        Node::Figure(drawn) => markup! {
            figure id=(drawn.id) {
                div.broad { (picture(drawn, BROAD)) }
                div.narrow { (picture(drawn, NARROW)) }
            }
        },
        Node::List(items) => markup! { ul { @for item in items { li { (typeset(item)) } } } },
        Node::Code { caption, text } => markup! {
            div.code { p.caption { (typeset(caption)) } pre { code { (text) } } }
        },
        Node::Note { lead, text } => markup! {
            div.note { p { strong { (typeset(lead)) } } p { (typeset(text)) } }
        },
    }
}

fn picture(drawn: &Figure, width: u32) -> Markup {
    PreEscaped(figure::svg(drawn, width).replace(NAMESPACE, ""))
}

/// The text with its ranges held together: `2.71–3.17×` must not end a line at its dash.
fn typeset(prose: &Prose) -> String {
    prose.text().replace('–', "\u{2060}–\u{2060}").replace(" \u{2060}–\u{2060} ", " – ")
}

/// Words of a machine are kept whole too: `tx-tcp-segmentation` must not end a line at a hyphen.
fn cell(prose: &Prose) -> String {
    typeset(prose).replace('-', "-\u{2060}")
}

fn section(id: &str, title: &Prose, body: &[Node], depth: u8) -> Markup {
    markup! {
        section id=(id) {
            @if depth == 2 {
                h2 { (typeset(title)) }
            } @else if depth == 3 {
                h3 { (typeset(title)) }
            } @else {
                h4 { (typeset(title)) }
            }
            @for node in body { (block(node, depth + 1)) }
        }
    }
}

const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Even => "even",
        Tone::Open => "open",
        Tone::Plain => "plain",
    }
}

fn rulings_list(rulings: &[Ruling]) -> Markup {
    markup! {
        @if !rulings.is_empty() {
            ul.rulings {
                @for ruling in rulings {
                    li.(class(ruling.tone)) {
                        @if !ruling.label.text().is_empty() { b { (typeset(&ruling.label)) } " " }
                        (typeset(&ruling.sentence))
                    }
                }
            }
        }
    }
}

fn facts(rows: &[(Prose, Prose)]) -> Markup {
    markup! {
        table.facts {
            tbody {
                @for (key, value) in rows {
                    tr { th scope="row" { (typeset(key)) } td { (typeset(value)) } }
                }
            }
        }
    }
}

fn data(table: &Table, captioned: bool) -> Markup {
    markup! {
        div.wide {
            table.pair[table.columns.len() == 2].said[is_said(table)] {
                @if captioned { caption { (typeset(&table.caption)) } }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[numeric(column)] { (typeset(&column.title)) }
                        }
                    }
                }
                tbody {
                    @for (at, row) in table.rows.iter().enumerate() {
                        (data_row(table, row, at.checked_sub(1).and_then(|at| table.rows.get(at))))
                    }
                }
            }
        }
        @for note in &table.notes { p.note-of-table { (typeset(note)) } }
    }
}

/// Whether every cell is words: such a table needs its width even where that means scrolling.
fn is_said(table: &Table) -> bool {
    table.columns.len() > 2 && table.columns.iter().all(|column| !column.numeric)
}

/// A row; a heading that the row above has too is there for a screen reader and not for the eye.
fn data_row(table: &Table, row: &[Prose], above: Option<&Vec<Prose>>) -> Markup {
    let again = above.is_some_and(|above| above.first() == row.first());
    // Columns of a folded table hold whole command lines, which must break somewhere.
    let set = if table.folded { typeset } else { cell };
    markup! {
        tr.again[again] {
            @for (at, (column, text)) in table.columns.iter().zip(row).enumerate() {
                @if at == 0 {
                    th scope="row" { (set(text)) }
                } @else {
                    td class=[numeric(column)] { (set(text)) }
                }
            }
        }
    }
}

const fn numeric(column: &Column) -> Option<&'static str> {
    if column.numeric { Some("n") } else { None }
}
