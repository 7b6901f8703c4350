//! Checks that a figure says nothing but messages and what it was given.

use super::*;
use crate::figure::tests::fixture::figures;
use crate::figure::{Figure, alt_text, braille, svg, tests_b};
use accents::{Known, shown};

#[test]
fn the_messages_are_read_without_a_fault() {
    assert!(FluentResource::try_new(ENGLISH.into()).is_ok());
}

#[test]
fn every_word_of_a_figure_is_a_message_or_was_given() {
    // Those are cut in the middle of a word, as all would be in a narrow figure.
    let whole = |(name, _): &(String, Figure)| !name.contains("long names");
    for (name, figure) in figures().into_iter().chain(tests_b::figures()).filter(whole) {
        let mut known = Known::new();
        known.read(&serde_json::to_value(&figure).unwrap(), &[], |_| true);
        let said = accents::with(|| {
            [shown(&svg(&figure, 1200)), alt_text(&figure), braille(&figure, 400, 14, true)]
        });
        let left: Vec<_> = said.iter().flat_map(|text| known.unknown(text)).collect();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
}
