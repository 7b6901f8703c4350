//! Knows how a line of a screen is made of spans, each with what it means. Knows no colours.

use crate::report::document::Prose;

/// What a span means, by which a screen chooses its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text.
    Plain,
    /// What matters most.
    Strong,
    /// What matters least.
    Dim,
    /// A level, by its place among those of its factor: series `s0`, `s1` ... of a figure.
    Level(usize),
    /// What went wrong.
    Warn,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it says.
    pub text: String,
    /// What it means.
    pub ink: Ink,
}

/// A statement, which may take several lines of a screen.
pub type Line = Vec<Span>;

/// A statement of one ink.
pub fn plain(said: &Prose, ink: Ink) -> Line {
    vec![Span { text: said.text().to_owned(), ink }]
}

/// A statement in which these words have inks of their own, each where it first stands behind the
/// one before.
pub fn inked(said: &Prose, words: &[(String, Ink)]) -> Line {
    let (mut line, mut rest) = (Vec::new(), said.text());
    for (word, ink) in words {
        let Some((before, behind)) = split(rest, word) else { continue };
        line.push(Span { text: before.into(), ink: Ink::Plain });
        line.push(Span { text: word.clone(), ink: *ink });
        rest = behind;
    }
    line.push(Span { text: rest.into(), ink: Ink::Plain });
    line.retain(|span| !span.text.is_empty());
    line
}

/// What stands before and behind a word that is no part of a longer one.
fn split<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let places = text.match_indices(word).filter(|_| !word.is_empty());
    let mut parts = places.map(|(at, word)| (&text[..at], &text[at + word.len()..]));
    parts.find(|(before, behind)| {
        !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_ink_once_and_nothing_is_lost() {
        let said = Prose::verbatim("better, none: on against on, all on");
        let words = [("better", Ink::Strong), ("on", Ink::Level(1)), ("on", Ink::Level(0))];
        let line = inked(&said, &words.map(|(word, ink)| (word.to_owned(), ink)));
        let text: String = line.iter().map(|span| span.text.as_str()).collect();
        assert_eq!(text, said.text());
        let inks: Vec<_> = line.iter().filter(|s| s.ink != Ink::Plain).map(|s| s.ink).collect();
        assert_eq!(inks, [Ink::Strong, Ink::Level(1), Ink::Level(0)]);
        let none = inked(&said, &[("off".to_owned(), Ink::Strong), (String::new(), Ink::Dim)]);
        assert_eq!(none, plain(&said, Ink::Plain));
    }
}
