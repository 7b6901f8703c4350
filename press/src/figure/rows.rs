//! Knows the rows of a panel: name, track and value of each, where they stand, the axis below.
//!
//! Knows no colours and not what is drawn on a track.

use super::layout::Sheet;
use super::measure::Ruler;
use super::model::{Figure, Mark};
use super::projection::{Projection, ValueAxis};
use super::scene::{Anchor, Ink, Role, Shape};
use desk::unit::{Unit, plain};

/// Between columns, px.
const GAP: f64 = 16.0;
/// Between a value and its interval on one line, px.
const BESIDE: f64 = 8.0;
/// From the end of a track to the first and last place on it, px.
const INSET: f64 = 8.0;
/// A name of more lines than this is shortened; hint and alt text have all of it.
const LINES: usize = 3;
/// From the highest to the lowest ink of a value with its interval below it, px.
const BELOW: f64 = 32.0;

/// What is written in a row.
pub struct Row<'a> {
    /// Whose row it is.
    pub name: &'a str,
    /// Look of the name.
    pub role: Role,
    /// The centre as text; empty where there is none.
    pub value: String,
    /// The interval as text.
    pub range: String,
}

impl<'a> Row<'a> {
    /// A row with the words of a mark, in the prefix of the axis.
    pub fn of(figure: &Figure, axis: &ValueAxis, name: &'a str, mark: Option<&Mark>) -> Self {
        let value = mark.map_or_else(String::new, |m| axis.beside(figure, m));
        let range = mark.map_or_else(String::new, |m| interval(figure, axis, m));
        Self { name, role: Role::Name, value, range }
    }
}

/// The interval in the prefix of the axis: `9.38–9.44`; nothing for a value that has none.
fn interval(figure: &Figure, axis: &ValueAxis, mark: &Mark) -> String {
    if mark.low >= mark.high {
        return String::new();
    }
    if figure.y.unit == Unit::Ratio {
        return desk::unit::show_range(figure.value(mark.low), figure.value(mark.high));
    }
    format!("{}–{}", plain(mark.low / axis.divisor), plain(mark.high / axis.divisor))
}

/// The columns of a panel: names, tracks, values.
pub struct Columns {
    /// Names stand above the tracks instead of beside them.
    pub stacked: bool,
    /// First and last px of the tracks.
    pub track: (f64, f64),
    /// Value and interval stand on one line.
    single: bool,
    /// Where a name may reach to, px.
    name: f64,
    /// Where values end, px.
    value: f64,
}

impl Columns {
    /// The first of four arrangements that leaves the tracks enough room, the narrowest else.
    pub fn of(sheet: &Sheet, rows: &[Row]) -> Self {
        let (ruler, width) = (sheet.ruler, sheet.width);
        let most = |f: &dyn Fn(&Row) -> f64| rows.iter().map(f).fold(0.0, f64::max);
        let value = most(&|r| ruler.width(&r.value, Role::Value));
        let range = most(&|r| ruler.width(&r.range, Role::Note));
        let room = (width * 0.34).min(300.0);
        // A word may be broken where the column is wide enough for most of it.
        let broken = |r: &Row| width < 480.0 && ruler.widest_word(r.name, r.role) > room;
        let fits = |r: &Row| ruler.wrap(r.name, r.role, room).len() <= 2 && !broken(r);
        let beside = rows.iter().all(fits);
        let lines = |r: &Row| ruler.wrap(r.name, r.role, room);
        let widest = |r: &Row| lines(r).iter().map(|l| ruler.width(l, r.role)).fold(0.0, f64::max);
        let name = most(&widest);
        let least = (width * 0.36).max(150.0);
        let mut last = None;
        for (stacked, single) in [(false, true), (false, false), (true, true), (true, false)] {
            if !stacked && !beside {
                continue;
            }
            let words = if single { value + BESIDE + range } else { value.max(range) };
            let from = if stacked { 0.0 } else { name + GAP };
            let to = (width - words - GAP).max(from + 40.0);
            let end = if single { width - range - BESIDE } else { width };
            let name = if stacked { width } else { name };
            last = Some(Self { stacked, track: (from, to), single, name, value: end });
            if to - from >= least {
                break;
            }
        }
        let whole = Self { stacked: true, track: (0.0, width), single: true, name, value: width };
        last.unwrap_or(whole)
    }

    /// The place of the values of an axis on the tracks.
    pub fn projection(&self, axis: &ValueAxis) -> Projection {
        let range = (self.track.0 + INSET, self.track.1 - INSET);
        Projection { log: axis.log, domain: axis.domain, range }
    }

    /// Where a row stands whose track needs `track` px, if it begins at `top`.
    pub fn slot(&self, ruler: Ruler, row: &Row, (top, track): (f64, f64)) -> Slot {
        let names = shortened(ruler, row.name, row.role, self.name);
        #[expect(clippy::cast_precision_loss, reason = "a few lines")]
        let tall = names.len() as f64 * row.role.line();
        let track = if self.single { track } else { track.max(BELOW) };
        let (first, height) = if self.stacked {
            (top + 5.0, 5.0 + tall + track)
        } else {
            let height = tall.max(track) + 6.0;
            (top + (height - tall) / 2.0, height)
        };
        let tracks = if self.stacked { (first + tall, top + height) } else { (top, top + height) };
        let middle = f64::midpoint(tracks.0, tracks.1);
        Slot { names, first, middle, tracks, bottom: top + height }
    }

    /// Writes the name, the value and the interval of a row.
    pub fn write(&self, sheet: &mut Sheet, row: &Row, slot: &Slot) {
        for (n, line) in slot.names.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a few lines")]
            let y = slot.first + n as f64 * row.role.line() + row.role.size();
            sheet.text(line, row.role, (0.0, y), Anchor::Start);
        }
        let (first, second) = if self.single { (4.5, 4.5) } else { (-2.0, 12.5) };
        let value = (self.value, slot.middle + first);
        sheet.text(&row.value, Role::Value, value, Anchor::End);
        let range = (sheet.width, slot.middle + second);
        sheet.text(&row.range, Role::Note, range, Anchor::End);
    }

    /// The line below the tracks, with ticks and as many of their texts as find room.
    pub fn axis(&self, sheet: &mut Sheet, axis: &ValueAxis, x: &Projection) {
        let y = sheet.bottom;
        sheet.push(Shape::Line(Ink::Base, vec![(self.track.0, y), (self.track.1, y)]));
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for i in by_weight(axis) {
            let (value, text) = &axis.ticks[i];
            let at = x.place(*value);
            sheet.push(Shape::Line(Ink::Base, vec![(at, y), (at, y + 4.0)]));
            let half = sheet.ruler.width(text, Role::Tick) / 2.0;
            let place = at.clamp(half.min(sheet.width / 2.0), (sheet.width - half).max(half));
            if kept.iter().all(|(other, wide)| (place - other).abs() >= half + wide + 10.0) {
                kept.push((place, half));
                sheet.text(text, Role::Tick, (place, y + 17.0), Anchor::Middle);
            }
        }
        sheet.bottom += 22.0;
    }
}

/// The ticks in the order in which they get a text: no change, the ends, those between.
fn by_weight(axis: &ValueAxis) -> Vec<usize> {
    let last = axis.ticks.len().saturating_sub(1);
    let weight = |i: usize| match axis.ticks[i].0 {
        value if axis.log && (value - 1.0).abs() < 1e-9 => 0,
        _ if i == 0 || i == last => 1,
        _ => 2,
    };
    let mut all: Vec<usize> = (0..axis.ticks.len()).collect();
    all.sort_by_key(|i| weight(*i));
    all
}

/// Where the parts of one row stand, px.
pub struct Slot {
    /// Lines of the name.
    names: Vec<String>,
    /// Upper edge of the name.
    first: f64,
    /// Middle of the track.
    pub middle: f64,
    /// From where to where an upright line over the tracks may run.
    pub tracks: (f64, f64),
    /// Lower edge.
    pub bottom: f64,
}

/// A name in at most three lines of `limit` px; what does not fit becomes an ellipsis.
pub fn shortened(ruler: Ruler, name: &str, role: Role, limit: f64) -> Vec<String> {
    let mut lines = ruler.wrap(name, role, limit);
    if lines.len() > LINES {
        lines.truncate(LINES);
        if let Some(last) = lines.last_mut() {
            while !last.is_empty() && ruler.width(&format!("{last}…"), role) > limit {
                last.pop();
            }
            last.push('…');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_ends_in_an_ellipsis_inside_its_room() {
        let ruler = Ruler { stretch: 1.35 };
        let name = "接收端的第二块网卡".repeat(9);
        let lines = shortened(ruler, &name, Role::Heading, 90.0);
        assert_eq!(lines.len(), LINES);
        assert!(lines[LINES - 1].ends_with('…'), "{lines:?}");
        assert!(lines.iter().all(|l| ruler.width(l, Role::Heading) <= 90.0), "{lines:?}");
        assert_eq!(shortened(ruler, "pro1000", Role::Heading, 90.0), ["pro1000"]);
    }
}
