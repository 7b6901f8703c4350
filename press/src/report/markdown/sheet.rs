//! Knows how much room a summary has, and takes only what still fits.

/// Lines under a limit.
pub(super) struct Sheet {
    lines: Vec<String>,
    most_lines: usize,
    characters: usize,
}

impl Sheet {
    /// An empty sheet for so many lines and characters.
    pub(super) const fn new(most_lines: usize, characters: usize) -> Self {
        Self { lines: Vec::new(), most_lines, characters }
    }

    /// Keeps room for the lines that [`Self::finished`] will be given.
    pub(super) fn reserve(&mut self, end: &[String]) {
        self.most_lines = self.most_lines.saturating_sub(end.len());
        self.characters = self.characters.saturating_sub(size(end));
    }

    /// Takes the lines if all of them fit.
    pub(super) fn block(&mut self, lines: &[String]) {
        let size = size(lines);
        if self.lines.len() + lines.len() <= self.most_lines && size <= self.characters {
            self.characters -= size;
            self.lines.extend_from_slice(lines);
        }
    }

    /// Takes the lines of a list as far as they fit, with an empty line after them.
    pub(super) fn list(&mut self, lines: &[String]) {
        for line in lines {
            if self.lines.len() + 1 < self.most_lines {
                self.block(std::slice::from_ref(line));
            }
        }
        if !lines.is_empty() {
            self.block(&[String::new()]);
        }
    }

    /// The text, and the lines that room was reserved for.
    pub(super) fn finished(mut self, end: &[String]) -> String {
        if end.is_empty() {
            while self.lines.last().is_some_and(String::is_empty) {
                self.lines.pop();
            }
        }
        self.lines.iter().chain(end).map(|line| format!("{line}\n")).collect()
    }
}

/// Characters of the lines with their ends.
fn size(lines: &[String]) -> usize {
    lines.iter().map(|line| line.chars().count() + 1).sum()
}
