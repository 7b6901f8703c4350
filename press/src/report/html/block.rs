//! Knows how each part of an article is marked up: headings in their order, tables with headings
//! and a name, figures with a title and a description.

use super::anchor::Place;
use super::typeset::Setter;
use crate::figure::{self, Figure};
use crate::report::document::{Column, Node, Prose, Ruling, Table, Tone};
use maud::{Markup, PreEscaped, html as markup};

/// Widths that figures are laid out for, pixels: a page and a telephone.
const BROAD: u32 = 760;
const NARROW: u32 = 400;
/// Class of a table whose columns hold figures from this one on; a class a cell takes more room.
const FIGURES_FROM: [&str; 4] = ["", "num n1", "num n2", "num n3"];
/// Inline SVG needs no namespace, and a report should hold no address at all.
const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// A page being written.
pub(super) struct Page<'p> {
    pub(super) setter: &'p Setter,
    /// Id of the heading that what comes next stands under.
    pub(super) under: &'p str,
    /// The numbers of every figure so far, by its id.
    pub(super) numbers: Vec<(String, String)>,
}

impl<'p> Page<'p> {
    /// One node; `depth` is the level of a heading in it.
    pub(super) fn block(&mut self, place: &'p Place<'_>, depth: u8) -> Markup {
        let set = |prose: &Prose| self.setter.prose(prose);
        match place.node {
            Node::Section { title, folded, .. } => self.section(place, (title, *folded), depth),
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
            Node::Table(table) => self.table(&place.id, table),
            Node::Figure(drawn) => self.figure(&place.id, drawn),
            Node::List(items) => markup! { ul { @for item in items { li { (set(item)) } } } },
            Node::Code { caption, text } => markup! {
                div.code { p.caption { (set(caption)) } pre tabindex="0" { code { (text) } } }
            },
            Node::Note { lead, text } => markup! {
                div.note { p { strong { (set(lead)) } } p { (set(text)) } }
            },
        }
    }

    /// The answer, and beside it on a broad screen the figure that it rests on.
    pub(super) fn front(&mut self, places: &'p [Place<'_>]) -> Markup {
        let Some((answer, shown)) = places.split_first() else { return Markup::default() };
        let answer = self.block(answer, 2);
        let shown: Vec<Markup> = shown.iter().map(|place| self.block(place, 2)).collect();
        markup! { div.front { (answer) div.shown { @for block in &shown { (block) } } } }
    }

    fn section(
        &mut self,
        place: &'p Place<'_>,
        (title, folded): (&Prose, bool),
        depth: u8,
    ) -> Markup {
        let own = &place.heading;
        let outer = std::mem::replace(&mut self.under, own);
        let words = self.setter.prose(title);
        let heading = match depth {
            2 => markup! { h2 id=(own) { (words) } },
            3 => markup! { h3 id=(own) { (words) } },
            _ => markup! { h4 id=(own) { (words) } },
        };
        let body: Vec<Markup> =
            place.below.iter().map(|below| self.block(below, depth + 1)).collect();
        let page = markup! {
            @if folded {
                details.chapter id=(place.id) {
                    summary { (heading) }
                    @for block in &body { (block) }
                }
            } @else {
                section id=(place.id) {
                    (heading)
                    @for block in &body { (block) }
                }
            }
        };
        self.under = outer;
        page
    }

    fn figure(&mut self, id: &str, drawn: &Figure) -> Markup {
        // The drawing names its parts after the figure, so that they stand once too.
        let drawn = &Figure { id: id.into(), ..drawn.clone() };
        let picture = |svg: String| PreEscaped(svg.replace(NAMESPACE, ""));
        let page = markup! {
            figure id=(id) {
                div.broad { (picture(figure::svg(drawn, BROAD))) }
                div.narrow { (picture(figure::svg_beside(drawn, NARROW, BROAD))) }
            }
        };
        self.numbers.push((id.into(), figure::csv(drawn)));
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
                            span { (set(&ruling.sentence)) }
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
    fn table(&self, id: &str, table: &Table) -> Markup {
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
        let rows = table.rows.iter().enumerate();
        let rows: String =
            rows.map(|(at, row)| self.row(table, row, before(table, at)).into_string()).collect();
        markup! {
            // What can be scrolled must be reached by keys, and what is reached must have a name.
            div.wide role="region" tabindex="0" aria-label=(name) {
                table class=[look(table)] aria-label=[caption.is_none().then_some(name)] {
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
                    tbody { (PreEscaped(open_ended(&rows))) }
                }
            }
            @for note in &table.notes { p.note-of-table { (self.setter.prose(note)) } }
        }
    }

    /// A row; a heading that the row above has too is there for a screen reader alone.
    fn row(&self, table: &Table, row: &[Prose], above: Option<&Vec<Prose>>) -> Markup {
        let again = above.is_some_and(|above| above.first() == row.first());
        let ending = figures_from(table);
        // Figures are never broken. Columns of a folded table hold whole command lines, which must
        // break somewhere.
        let set = |column: &Column, prose: &Prose| {
            if column.numeric {
                self.setter.whole(prose)
            } else if table.folded {
                self.setter.prose(prose)
            } else {
                self.setter.cell(prose)
            }
        };
        markup! {
            tr class=[again.then_some("again")] {
                @for (at, (column, text)) in table.columns.iter().zip(row).enumerate() {
                    @if at > 0 {
                        td class=[numeric(column).filter(|_| at < ending)] { (set(column, text)) }
                    } @else if again {
                        th scope="row" { span.unseen { (set(column, text)) } }
                    } @else {
                        th scope="row" { (set(column, text)) }
                    }
                }
            }
        }
    }
}

/// How many of the first places are an answer with the figure that it rests on; 0 where none is.
pub(super) fn beside(places: &[Place<'_>]) -> usize {
    let nodes: Vec<&Node> = places.iter().take(3).map(|place| place.node).collect();
    match nodes.as_slice() {
        [Node::VerdictBox { .. }, Node::Figure(_), Node::Paragraph(_)] => 3,
        [Node::VerdictBox { .. }, Node::Figure(_), ..] => 2,
        _ => 0,
    }
}

/// Rows without the ends of cells and rows that HTML lets be left out: half of a page of figures.
fn open_ended(rows: &str) -> String {
    rows.replace("</td><td", "<td").replace("</td></tr>", "").replace("</th><td", "<td")
}

/// The first of the columns that hold figures up to the last one, if the style knows it; the
/// number of columns if not.
fn figures_from(table: &Table) -> usize {
    let words = table.columns.iter().rposition(|column| !column.numeric);
    let from = words.map_or(0, |at| at + 1);
    if (1..FIGURES_FROM.len()).contains(&from) { from } else { table.columns.len() }
}

/// How a table is styled as a whole.
fn look(table: &Table) -> Option<String> {
    let said = is_said(table).then_some("said");
    let pair = (table.columns.len() == 2).then_some("pair");
    let from = figures_from(table);
    let figures = FIGURES_FROM.get(from).copied().filter(|_| from < table.columns.len());
    let all: Vec<&str> = [pair, said, figures].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
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
