//! Knows how a text is set: what must not be broken, and which words lead elsewhere.

use crate::report::document::Prose;
use maud::{Markup, html as markup};
use std::collections::BTreeMap;
use std::ops::Range;

/// Sets texts of one page.
pub(super) struct Setter {
    /// Anchor to id.
    pub(super) targets: BTreeMap<String, String>,
}

impl Setter {
    /// Running text.
    pub(super) fn prose(&self, prose: &Prose) -> Markup {
        self.set(prose, joined)
    }

    /// A cell: words of a machine are kept whole too, `tx-tcp-segmentation` must not end a line at
    /// a hyphen.
    pub(super) fn cell(&self, prose: &Prose) -> Markup {
        self.set(prose, |text| joined(text).replace('-', "-\u{2060}"))
    }

    fn set(&self, prose: &Prose, style: impl Fn(&str) -> String) -> Markup {
        let text = prose.text();
        let places = self.places(prose);
        let ends = places.iter().map(|(place, _)| place.end);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let last = starts.last().copied().unwrap_or(0);
        markup! {
            @for ((place, id), start) in places.iter().zip(&starts) {
                (style(&text[*start..place.start]))
                a href=(format!("#{id}")) { (style(&text[place.clone()])) }
            }
            (style(&text[last..]))
        }
    }

    /// Where its links stand, in the order of the text, none upon another. Words that the text has
    /// not, or whose anchor the page has not, stay words.
    fn places(&self, prose: &Prose) -> Vec<(Range<usize>, &str)> {
        let text = prose.text();
        let mut places: Vec<(Range<usize>, &str)> = Vec::new();
        for link in prose.links().iter().filter(|link| !link.words.is_empty()) {
            let Some(id) = self.targets.get(&link.anchor) else { continue };
            let all = text.match_indices(link.words.as_str());
            let mut all = all.map(|(at, words)| at..at + words.len());
            let free = |p: &Range<usize>| {
                let whole = !text[p.end..].starts_with(|c: char| c.is_alphanumeric());
                whole && places.iter().all(|(o, _)| p.end <= o.start || o.end <= p.start)
            };
            if let Some(place) = all.find(free) {
                places.push((place, id));
            }
        }
        places.sort_by_key(|(place, _)| place.start);
        places
    }
}

/// The text with its ranges held together: `2.71–3.17×` must not end a line at its dash.
fn joined(text: &str) -> String {
    text.replace('–', "\u{2060}–\u{2060}").replace(" \u{2060}–\u{2060} ", " – ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(prose: &Prose) -> String {
        let targets = [("f3", "f3"), ("f31", "f31-2")];
        let targets = targets.map(|(a, i)| (a.to_owned(), i.to_owned())).into();
        Setter { targets }.prose(prose).into_string()
    }

    #[test]
    fn words_lead_where_they_say_and_never_into_one_another() {
        let said = Prose::verbatim("See Figure 31 & Figure 3.");
        let both = said.linked("Figure 3", "f3").linked("Figure 31", "f31");
        let page = "See <a href=\"#f31-2\">Figure 31</a> &amp; <a href=\"#f3\">Figure 3</a>.";
        assert_eq!(set(&both), page);
    }

    #[test]
    fn a_link_to_nowhere_or_of_words_that_are_not_there_stays_text() {
        let said = Prose::verbatim("See Figure 3.");
        assert_eq!(set(&said.clone().linked("Figure 3", "gone")), "See Figure 3.");
        assert_eq!(set(&said.linked("Table 1", "f3")), "See Figure 3.");
    }
}
