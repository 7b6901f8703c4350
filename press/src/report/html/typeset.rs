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
        self.set(prose, |word| word.contains('–'))
    }

    /// A cell: words of a machine are kept whole too, `tx-tcp-segmentation` must not end a line at
    /// a hyphen.
    pub(super) fn cell(&self, prose: &Prose) -> Markup {
        self.set(prose, |word| word.contains(['–', '-']))
    }

    /// What the style keeps on one line as a whole.
    pub(super) fn whole(&self, prose: &Prose) -> Markup {
        self.set(prose, |_| false)
    }

    fn set(&self, prose: &Prose, is_kept: impl Fn(&str) -> bool) -> Markup {
        let text = prose.text();
        let places = self.places(prose);
        let ends = places.iter().map(|(place, _)| place.end);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let last = starts.last().copied().unwrap_or(0);
        let style = |text| kept(text, &is_kept);
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

/// The text, words that must not be broken held together: `2.71–3.17×` must not end a line at its
/// dash. By markup and not by a character, which would be copied along with the word.
fn kept(text: &str, is_kept: impl Fn(&str) -> bool) -> Markup {
    let is_kept = |word: &str| word.chars().count() > 2 && is_kept(word);
    markup! {
        @for word in text.split_inclusive(' ') {
            @let (bare, blank) = word.strip_suffix(' ').map_or((word, ""), |bare| (bare, " "));
            @if is_kept(bare) { span.k { (bare) } (blank) } @else { (word) }
        }
    }
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
    fn what_must_not_be_broken_is_kept_whole_and_copied_as_it_is() {
        let setter = Setter { targets: BTreeMap::new() };
        let said = Prose::verbatim("tx-tcp-segmentation is 2.71–3.17× – or -");
        let range = "<span class=\"k\">2.71–3.17×</span> – or -";
        let prose = setter.prose(&said).into_string();
        assert_eq!(prose, format!("tx-tcp-segmentation is {range}"));
        let cell = setter.cell(&said).into_string();
        assert_eq!(cell, format!("<span class=\"k\">tx-tcp-segmentation</span> is {range}"));
        assert_eq!(setter.whole(&said).into_string(), said.text());
    }

    #[test]
    fn a_link_to_nowhere_or_of_words_that_are_not_there_stays_text() {
        let said = Prose::verbatim("See Figure 3.");
        assert_eq!(set(&said.clone().linked("Figure 3", "gone")), "See Figure 3.");
        assert_eq!(set(&said.linked("Table 1", "f3")), "See Figure 3.");
    }
}
