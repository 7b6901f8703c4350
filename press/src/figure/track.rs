//! Knows how the track of a row is drawn with characters. Knows no pixels and no names.

use super::braille::{rounded, wide};
use super::model::Mark;
use super::projection::Projection;

/// A growing track: what is set later stands in front.
pub struct Track<'a> {
    x: &'a Projection,
    cells: Vec<char>,
    unicode: bool,
}

impl<'a> Track<'a> {
    /// An empty track of `width` cells, at least one.
    pub fn new(x: &'a Projection, width: usize, unicode: bool) -> Self {
        Self { x, cells: vec![' '; width.max(1)], unicode }
    }

    fn place(&self, value: f64) -> usize {
        rounded((self.x.place(value), 0.0)).0.min(self.cells.len() - 1)
    }

    /// Sets the cell of a value.
    pub fn set(&mut self, value: f64, ink: char) {
        let place = self.place(value);
        self.cells[place] = ink;
    }

    /// Sets the cells from one value to another.
    pub fn fill(&mut self, from: f64, to: f64, ink: char) {
        let (from, to) = (self.place(from), self.place(to));
        self.cells[from..=to.max(from)].fill(ink);
    }

    /// Draws the interval of a mark.
    pub fn whiskers(&mut self, mark: &Mark) {
        let [left, right, dash] =
            if self.unicode { ['├', '┤', '─'] } else { ['|', '|', '-'] };
        self.fill(mark.low, mark.high, dash);
        self.set(mark.low, left);
        self.set(mark.high, right);
    }

    /// Draws every run of a mark.
    pub fn runs(&mut self, mark: &Mark) {
        let ink = if self.unicode { '·' } else { '.' };
        mark.runs.iter().filter(|v| v.is_finite()).for_each(|v| self.set(*v, ink));
    }

    /// Draws the centre of a mark.
    pub fn centre(&mut self, mark: &Mark) {
        let [centre, hollow] = if self.unicode { ['●', '○'] } else { ['o', '?'] };
        self.set(mark.centre, if mark.valid { centre } else { hollow });
    }

    /// The track as text.
    pub fn finish(self) -> String {
        self.cells.into_iter().collect()
    }
}

/// A line of `width` cells with the texts at their places, those first that stand first; a text
/// that finds no room is left out.
pub fn tick_line(ticks: &[(f64, &str)], width: usize) -> String {
    // A character of two cells would shift what follows; ticks have none.
    let mut row = vec![' '; width];
    for (place, text) in ticks {
        let size = wide(text);
        let from = rounded((*place, 0.0)).0.saturating_sub(size / 2);
        let from = from.min(width.saturating_sub(size));
        let to = (from + size).min(width);
        let clear = from.saturating_sub(2)..(to + 2).min(width);
        if row[clear].iter().all(|c| *c == ' ') {
            for (cell, c) in row[from..to].iter_mut().zip(text.chars()) {
                *cell = c;
            }
        }
    }
    row.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_at_their_places_and_keep_apart() {
        assert_eq!(tick_line(&[(10.0, "1×"), (0.0, "0.5×"), (12.0, "2×")], 20), {
            format!("{:<20}", "0.5×     1×")
        });
    }
}
