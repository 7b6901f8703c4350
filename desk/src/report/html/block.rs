//! Knows how each part of an article is marked up: headings in their order, tables with headings
//! and a name, figures with a title and a description.

use super::anchor::{Ids, heading};
use super::typeset::Setter;
use crate::figure::{self, Figure};
use crate::report::document::{Column, Node, Prose, Ruling, Table, Tone};
use maud::{Markup, PreEscaped, html as markup};

/// Widths that figures are laid out for, pixels: a page and a telephone.
const BROAD: u32 = 760;
const NARROW: u32 = 400;
/// Inline SVG needs no namespace, and a report should hold no address at all.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A page being written.
pub(super) struct Page<'p> {
    pub(super) setter: &'p Setter,
    pub(super) ids: Ids,
    /// Id of the heading that what comes next stands under.
    pub(super) under: String,
    /// The numbers of every figure so far, by its id.
    pub(super) numbers: Vec<(String, String)>,
}

impl Page<'_> {
    /// One node; `depth` is the level of a heading in it.
    pub(super) fn block(&mut self, node: &Node, depth: u8) -> Markup {
        let set = |prose: &Prose| self.setter.prose(prose);
        match node {
            Node::Section { id, title, body } => self.section(id, title, body, depth),
            Node::Paragraph(prose) => markup! { p { (set(prose)) } },
            Node::VerdictBox { tone, headline, rulings, caution, limits } => markup! {
                div.verdict.(class(*tone)) {
                    p.headline { (set(headline)) }
                    (self.rulings(rulings))
                    @if !limits.is_empty() { p.caution { (set(caution)) } }
                    @for limit in limits { p.limit { (set(limit)) } }
                }
            },
            Node::Facts(rows) => self.facts(rows),
            Node::Table(table) => self.table(table),
            Node::Figure(drawn) => self.figure(drawn),
            Node::List(items) => markup! { ul { @for item in items { li { (set(item)) } } } },
            Node::Code { caption, text } => markup! {
                div.code { p.caption { (set(caption)) } pre tabindex="0" { code { (text) } } }
            },
            Node::Note { lead, text } => markup! {
                div.note { p { strong { (set(lead)) } } p { (set(text)) } }
            },
        }
    }

    fn section(&mut self, id: &str, title: &Prose, body: &[Node], depth: u8) -> Markup {
        let id = self.ids.claim(id);
        let own = self.ids.claim(&heading(&id));
        let outer = std::mem::replace(&mut self.under, own.clone());
        let words = self.setter.prose(title);
        let page = markup! {
            section id=(id) {
                @match depth {
                    2 => h2 id=(own) { (words) },
                    3 => h3 id=(own) { (words) },
                    _ => h4 id=(own) { (words) },
                }
                @for node in body { (self.block(node, depth + 1)) }
            }
        };
        self.under = outer;
        page
    }

    fn figure(&mut self, drawn: &Figure) -> Markup {
        let id = self.ids.claim(&drawn.id);
        // The drawing names its parts after the figure, so that they stand once too.
        let drawn = &Figure { id: id.clone(), ..drawn.clone() };
        let picture = |width| PreEscaped(figure::svg(drawn, width).replace(NAMESPACE, ""));
        let page = markup! {
            figure id=(id) {
                div.broad { (picture(BROAD)) }
                div.narrow { (picture(NARROW)) }
            }
        };
        self.numbers.push((id, figure::csv(drawn)));
        page
    }

    fn rulings(&self, rulings: &[Ruling]) -> Markup {
        let set = |prose: &Prose| self.setter.prose(prose);
        markup! {
            @if !rulings.is_empty() {
                ul.rulings {
                    @for ruling in rulings {
                        li.(class(ruling.tone)) {
                            @if !ruling.label.text().is_empty() { b { (set(&ruling.label)) } " " }
                            (set(&ruling.sentence))
                        }
                    }
                }
            }
        }
    }

    fn facts(&self, rows: &[(Prose, Prose)]) -> Markup {
        let set = |prose: &Prose| self.setter.prose(prose);
        markup! {
            table.facts aria-labelledby=(self.under) {
                tbody {
                    @for (key, value) in rows {
                        tr { th scope="row" { (set(key)) } td { (set(value)) } }
                    }
                }
            }
        }
    }

    /// A long table is folded away; its name is then that of the fold.
    fn table(&mut self, table: &Table) -> Markup {
        let id = self.ids.table(&table.caption);
        let caption = self.setter.prose(&table.caption);
        if table.folded {
            return markup! {
                details id=(id) { summary { (caption) } (self.data(table, None)) }
            };
        }
        markup! { div.set id=(id) { (self.data(table, Some(&caption))) } }
    }

    fn data(&self, table: &Table, caption: Option<&Markup>) -> Markup {
        let name = table.caption.text();
        markup! {
            // What can be scrolled must be reached by keys, and what is reached must have a name.
            div.wide role="region" tabindex="0" aria-label=(name) {
                table.pair[table.columns.len() == 2].said[is_said(table)]
                    aria-label=[caption.is_none().then_some(name)] {
                    @if let Some(caption) = caption { caption { (caption) } }
                    thead {
                        tr {
                            @for column in &table.columns {
                                th scope="col" class=[numeric(column)] {
                                    (self.setter.prose(&column.title))
                                }
                            }
                        }
                    }
                    tbody {
                        @for (at, row) in table.rows.iter().enumerate() {
                            (self.row(table, row, before(table, at)))
                        }
                    }
                }
            }
            @for note in &table.notes { p.note-of-table { (self.setter.prose(note)) } }
        }
    }

    /// A row; a heading that the row above has too is there for a screen reader alone.
    fn row(&self, table: &Table, row: &[Prose], above: Option<&Vec<Prose>>) -> Markup {
        let again = above.is_some_and(|above| above.first() == row.first());
        // Columns of a folded table hold whole command lines, which must break somewhere.
        let set = |prose: &Prose| {
            if table.folded { self.setter.prose(prose) } else { self.setter.cell(prose) }
        };
        markup! {
            tr.again[again] {
                @for (at, (column, text)) in table.columns.iter().zip(row).enumerate() {
                    @if at > 0 {
                        td class=[numeric(column)] { (set(text)) }
                    } @else if again {
                        th scope="row" { span.unseen { (set(text)) } }
                    } @else {
                        th scope="row" { (set(text)) }
                    }
                }
            }
        }
    }
}

/// The row above.
fn before(table: &Table, at: usize) -> Option<&Vec<Prose>> {
    table.rows.get(at.checked_sub(1)?)
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

/// Whether every cell is words: such a table needs its width even where that means scrolling.
fn is_said(table: &Table) -> bool {
    table.columns.len() > 2 && table.columns.iter().all(|column| !column.numeric)
}

const fn numeric(column: &Column) -> Option<&'static str> {
    if column.numeric { Some("n") } else { None }
}
