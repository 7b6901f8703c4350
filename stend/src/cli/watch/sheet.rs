//! Knows how a screen is laid out in lines of a terminal, and what an ink looks like there.
//!
//! Pure: the same screen, view and size give the same lines. Never: words of its own.

use super::super::progress::cut;
use press::report::watch::{Ink, Line, Pane, PaneKind, Screen, Span};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line as Row, Span as Piece};

/// Cells of the gauge.
const GAUGE: u32 = 20;
/// What stands under a line that goes on.
const INDENT: usize = 2;
/// Least rows of the first list before other parts give way to it.
const LEAST: usize = 4;
/// Parts that give way to the first list, the first to go first.
const GIVE_WAY: [PaneKind; 3] = [PaneKind::Course, PaneKind::Trial, PaneKind::Limits];
/// The colours `s0` to `s5` of the figures as those of a terminal of 256 colours that can be read
/// on black and on white.
const LEVELS: [u8; 6] = [68, 166, 71, 140, 136, 37];

/// What the person has chosen to see.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// First row of the first list.
    pub scroll: usize,
    /// The keys in place of the run.
    pub help: bool,
    /// False if every character must be ASCII.
    pub unicode: bool,
}

/// A screen in lines of a width.
#[derive(Debug)]
pub struct Sheet {
    rows: Vec<Line>,
    keys: Line,
    /// The largest [`View::scroll`] that shows something new.
    pub most: usize,
}

impl Sheet {
    /// The screen in so many columns and, if the height is given, rows, of which the last has the
    /// keys.
    pub fn of(screen: &Screen, view: View, (columns, rows): (u16, Option<u16>)) -> Self {
        let width = usize::from(columns).max(1);
        let head = screen.head.iter().flat_map(|line| wrapped(line, width, INDENT));
        let mut sheet = Self { rows: head.collect(), keys: screen.keys.clone(), most: 0 };
        if view.help {
            sheet.rows = screen.help.iter().flat_map(|line| wrapped(line, width, INDENT)).collect();
            return sheet;
        }
        if screen.done.1 > 0 {
            sheet.rows.extend(wrapped(&progress(screen), width, INDENT));
        }
        let room = rows.map(|rows| usize::from(rows).saturating_sub(sheet.rows.len() + 1));
        let mut panes: Vec<(&Pane, Vec<Line>)> =
            screen.panes.iter().map(|pane| (pane, body(pane, width))).collect();
        let all = |panes: &[(&Pane, Vec<Line>)]| panes.iter().map(|p| p.1.len() + 1).sum::<usize>();
        if let (Some(room), Some(listed)) = (room, panes.first().map(|(_, rows)| rows.len())) {
            for kind in GIVE_WAY {
                if all(&panes) - listed + listed.min(LEAST) > room {
                    panes.retain(|(pane, _)| pane.kind != kind);
                }
            }
            let listed = panes[0].1.len();
            let rows = room.saturating_sub(all(&panes) - listed).max(1);
            sheet.most = listed.saturating_sub(rows);
            let from = view.scroll.min(sheet.most);
            panes[0].1 = panes[0].1.drain(..).skip(from).take(rows).collect();
        }
        for (pane, rows) in panes {
            let hidden = if pane.kind == PaneKind::Found { sheet.most } else { 0 };
            sheet.rows.push(title(pane, (view, hidden), width));
            sheet.rows.extend(rows);
        }
        sheet
    }

    /// As text, without the keys; with escape sequences for colours if those are wanted.
    pub fn text(&self, colours: bool) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let spans = row.iter().map(|span| match escape(span.ink).filter(|_| colours) {
                Some(escape) => format!("{escape}{}\x1b[0m", span.text),
                None => span.text.clone(),
            });
            text.push_str(spans.collect::<String>().trim_end());
            text.push('\n');
        }
        text
    }

    /// Draws the lines, and the keys in the last row.
    pub fn draw(&self, colours: bool, area: Rect, buffer: &mut Buffer) {
        let above = area.height.saturating_sub(1);
        for (row, at) in self.rows.iter().zip(0..above) {
            buffer.set_line(area.x, area.y + at, &styled(row, colours), area.width);
        }
        if area.height > 0 {
            buffer.set_line(area.x, area.y + above, &styled(&self.keys, colours), area.width);
        }
    }
}

/// The gauge and its words.
fn progress(screen: &Screen) -> Line {
    let (done, planned) = screen.done;
    let full = (u64::from(GAUGE) * u64::from(done) / u64::from(planned.max(1))).min(GAUGE.into());
    let full = usize::try_from(full).unwrap_or_default();
    let gauge = format!("[{}{}] ", "#".repeat(full), "-".repeat(GAUGE as usize - full));
    let mut line = vec![Span { text: gauge, ink: Ink::Plain }];
    line.extend(screen.progress.iter().cloned());
    line
}

fn body(pane: &Pane, width: usize) -> Vec<Line> {
    let whole = pane.kind == PaneKind::Course;
    let rows =
        |line: &Line| if whole { vec![unbroken(line)] } else { wrapped(line, width, INDENT) };
    pane.lines.iter().flat_map(rows).collect()
}

/// `── Comparisons ───────`, with how many rows do not fit.
fn title(pane: &Pane, (view, hidden): (View, usize), width: usize) -> Line {
    let dash = if view.unicode { "─" } else { "-" };
    let more = if hidden > 0 { format!(" (+{hidden})") } else { String::new() };
    let room = width.saturating_sub(4 + more.len());
    let heading = match view.unicode {
        true => cut(&pane.title, room),
        false => pane.title.chars().take(room).collect(),
    };
    let text = format!("{heading}{more}");
    let rest = width.saturating_sub(text.chars().count() + 4);
    let span = |text: String, ink| Span { text, ink };
    vec![
        span(format!("{} ", dash.repeat(2)), Ink::Dim),
        span(text, Ink::Strong),
        span(format!(" {}", dash.repeat(rest)), Ink::Dim),
    ]
}

/// A character and what it means.
type Letter = (char, Ink);

/// Cells of a character.
fn cells(letter: char) -> usize {
    Piece::raw(letter.to_string()).width()
}

/// The rows of a line: it breaks at blanks, and within a word only where that is wider than a row.
fn wrapped(line: &Line, width: usize, indent: usize) -> Vec<Line> {
    let letters = line.iter().flat_map(|span| span.text.chars().map(|letter| (letter, span.ink)));
    let letters: Vec<Letter> = letters.collect();
    let wide = |word: &[Letter]| word.iter().map(|(letter, _)| cells(*letter)).sum::<usize>();
    let (mut rows, mut row) = (Vec::new(), Vec::<Letter>::new());
    let indent = if width > 4 * indent { indent } else { 0 };
    let margin = || vec![(' ', Ink::Plain); indent];
    let mut bare = true;
    for word in letters.split(|(letter, _)| *letter == ' ').filter(|word| !word.is_empty()) {
        if !bare && wide(&row) + 1 + wide(word) > width {
            rows.push(std::mem::replace(&mut row, margin()));
            bare = true;
        }
        if !bare {
            let ink = row.last().filter(|(_, ink)| *ink == word[0].1).map_or(Ink::Plain, |l| l.1);
            row.push((' ', ink));
        }
        for letter in word {
            if wide(&row) + cells(letter.0) > width && !row.is_empty() {
                rows.push(std::mem::replace(&mut row, margin()));
            }
            row.push(*letter);
        }
        bare = false;
    }
    rows.push(row);
    rows.iter().map(|row| joined(row)).collect()
}

/// Letters of one ink as one span, blanks that never end a line as blanks.
fn joined(letters: &[Letter]) -> Line {
    let mut line: Line = Vec::new();
    for (letter, ink) in letters {
        let letter = if *letter == '\u{a0}' { ' ' } else { *letter };
        match line.last_mut().filter(|span| span.ink == *ink) {
            Some(span) => span.text.push(letter),
            None => line.push(Span { text: letter.into(), ink: *ink }),
        }
    }
    line
}

fn unbroken(line: &Line) -> Line {
    line.iter()
        .map(|span| Span { text: span.text.replace('\u{a0}', " "), ..span.clone() })
        .collect()
}

fn styled(line: &Line, colours: bool) -> Row<'_> {
    let style = |ink| if colours { style(ink) } else { Style::new() };
    line.iter().map(|span| Piece::styled(span.text.as_str(), style(span.ink))).collect()
}

fn style(ink: Ink) -> Style {
    match ink {
        Ink::Plain => Style::new(),
        Ink::Strong => Style::new().add_modifier(Modifier::BOLD),
        Ink::Dim => Style::new().add_modifier(Modifier::DIM),
        Ink::Level(at) => match LEVELS.get(at) {
            Some(colour) => Style::new().fg(Color::Indexed(*colour)),
            None => Style::new(),
        },
        Ink::Warn => Style::new().fg(Color::Yellow),
    }
}

/// The same as an escape sequence.
fn escape(ink: Ink) -> Option<String> {
    match ink {
        Ink::Plain => None,
        Ink::Strong => Some("\x1b[1m".into()),
        Ink::Dim => Some("\x1b[2m".into()),
        Ink::Level(at) => LEVELS.get(at).map(|colour| format!("\x1b[38;5;{colour}m")),
        Ink::Warn => Some("\x1b[33m".into()),
    }
}
