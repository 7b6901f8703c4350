//! Checks how effects are worded, which no file that speaks may show in figures.

use super::Writer;
use super::effect::{plain_effects, short_effects};
use crate::report::fixture;

#[test]
fn two_effects_of_one_sentence_are_both_per_cents_or_both_factors() {
    let writer = Writer::new().unwrap();
    let (_, analysis) = fixture::duel();
    let with = |value: f64| {
        let mut ratio = analysis.comparisons[0].overall.clone();
        (ratio.centre.value, ratio.low.value, ratio.high.value) = (value, value - 0.01, value);
        ratio
    };
    let said = |a: f64, b: f64| {
        let [first, second] = plain_effects(&writer, [&with(a), &with(b)]).unwrap();
        format!("{} {}", first.text(), second.text()).replace('\u{a0}', " ")
    };
    assert_eq!(said(0.73, 0.38), "0.73× 0.38×");
    assert_eq!(said(0.9, 1.2), "−10 % +20 %");
    let [_, second] = short_effects(&writer, [&with(2.0), &with(1.2)]).unwrap();
    assert_eq!(second.text(), "1.20× (1.19–1.20×)");
}
