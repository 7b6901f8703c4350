//! Knows how a document becomes plain text of a given width, for a terminal or a mail.
//!
//! The same document, so the same words and figures as in HTML. Never: a word of its own.

mod summary;
mod table;

pub use summary::summary;

use super::document::{Document, Node, Prose, Ruling};
use crate::figure::{self, Figure};

/// Narrowest page that is still set; anything less is treated as this.
const NARROWEST: usize = 40;
/// Height of the drawing area of a figure, lines.
const FIGURE_ROWS: u16 = 14;

/// The document as plain text, at most `columns` wide where its words allow it; code is never cut.
#[must_use]
pub fn text(document: &Document, columns: u16, unicode: bool) -> String {
    let mut page = opened(document, columns, unicode);
    for node in &document.body {
        page.node(node, 1);
    }
    page.finished()
}

/// A page with the title of the document on it.
fn opened(document: &Document, columns: u16, unicode: bool) -> Page {
    let mut page = Page { width: usize::from(columns).max(NARROWEST), unicode, out: String::new() };
    if !document.watermark.text().is_empty() {
        page.wrapped(document.watermark.text(), "", "");
        page.gap();
    }
    page.wrapped(document.kicker.text(), "", "");
    page.wrapped(document.title.text(), "", "");
    page.rule('=');
    if !document.question.text().is_empty() {
        page.wrapped(document.question.text(), "", "");
    }
    page
}

/// The text in ASCII: every sign that the report uses has a reading, anything foreign becomes `?`.
#[must_use]
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{a0}' => out.push(' '),
            '–' | '−' | '—' => out.push('-'),
            '×' => out.push('x'),
            '±' => out.push_str("+-"),
            'µ' => out.push('u'),
            '’' => out.push('\''),
            '▲' => out.push('+'),
            '▼' => out.push('-'),
            '†' => out.push('*'),
            '“' | '”' => out.push('"'),
            '≷' => out.push('~'),
            '…' => out.push_str(".."),
            '\n' => out.push('\n'),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

struct Page {
    width: usize,
    unicode: bool,
    out: String,
}

impl Page {
    fn finished(self) -> String {
        if self.unicode { self.out.replace('\u{a0}', " ") } else { ascii(&self.out) }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end_matches(' '));
        self.out.push('\n');
    }

    fn gap(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn rule(&mut self, sign: char) {
        let rule: String = std::iter::repeat_n(sign, self.width).collect();
        self.line(&rule);
    }

    fn wrapped(&mut self, text: &str, first: &str, later: &str) {
        for line in wrap(text, self.width, first, later) {
            self.line(&line);
        }
    }

    fn node(&mut self, node: &Node, depth: u8) {
        self.gap();
        match node {
            Node::Section { title, body, .. } => self.section(title, body, depth),
            Node::Paragraph(prose) => self.wrapped(prose.text(), "", ""),
            Node::VerdictBox { headline, rulings, caution, limits, .. } => {
                self.answer(headline, rulings);
                if !limits.is_empty() {
                    self.line(">");
                    self.wrapped(caution.text(), "> ", "> ");
                }
                for limit in limits {
                    self.wrapped(limit.text(), "> - ", ">   ");
                }
            }
            Node::Facts(rows) => {
                let rows: Vec<[&Prose; 2]> = rows.iter().map(|(key, value)| [key, value]).collect();
                for line in table::facts(&rows, self.width) {
                    self.line(&line);
                }
            }
            Node::Table(shown) => {
                self.wrapped(shown.caption.text(), "", "");
                for line in table::data(shown, self.width) {
                    self.line(&line);
                }
                for note in &shown.notes {
                    self.wrapped(note.text(), "", "  ");
                }
            }
            Node::Figure(drawn) => self.figure(drawn),
            Node::List(items) => {
                for item in items {
                    self.wrapped(item.text(), "- ", "  ");
                }
            }
            Node::Code { caption, text } => {
                self.wrapped(caption.text(), "", "");
                for line in text.lines() {
                    self.line(&format!("    {line}"));
                }
            }
            Node::Note { lead, text } => {
                self.wrapped(lead.text(), "! ", "  ");
                self.wrapped(text.text(), "  ", "  ");
            }
        }
    }

    fn figure(&mut self, drawn: &Figure) {
        self.wrapped(&drawn.title, "", "");
        self.wrapped(&drawn.subtitle, "", "");
        self.gap();
        let columns = u16::try_from(self.width).unwrap_or(u16::MAX);
        let drawing = figure::braille(drawn, columns, FIGURE_ROWS, self.unicode);
        for line in drawing.lines() {
            self.line(line);
        }
        self.gap();
        self.wrapped(&drawn.footnote, "", "");
    }

    fn section(&mut self, title: &Prose, body: &[Node], depth: u8) {
        self.gap();
        self.wrapped(title.text(), "", "");
        self.rule(if depth == 1 { '=' } else { '-' });
        for node in body {
            self.node(node, depth + 1);
        }
    }

    fn answer(&mut self, headline: &Prose, rulings: &[Ruling]) {
        self.wrapped(headline.text(), "> ", "> ");
        for ruling in rulings {
            if ruling.label.text().is_empty() {
                self.wrapped(ruling.sentence.text(), "> ", "> ");
            } else {
                let said = format!("{}: {}", ruling.label.text(), ruling.sentence.text());
                self.wrapped(&said, "> ", ">   ");
            }
        }
    }
}

/// Lines of at most `width` characters where words allow it; a word longer than that stays whole.
pub(super) fn wrap(text: &str, width: usize, first: &str, later: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::from(first);
    let mut empty = true;
    for word in text.split([' ', '\n']).filter(|w| !w.is_empty()) {
        let needed = line.chars().count() + word.chars().count() + usize::from(!empty);
        if !empty && needed > width {
            lines.push(std::mem::replace(&mut line, later.into()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    if !empty {
        lines.push(line);
    }
    lines
}
