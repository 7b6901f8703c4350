//! Checks what an article says of several levels, and of a primary comparison, in every medium.

use super::trace::ranked;
use super::*;
use desk::verdict::analyse;

fn article(at: usize) -> Document {
    let run = ranked().remove(at);
    compose(&run, &analyse(&run)).unwrap()
}

fn headline(document: &Document) -> (Tone, String) {
    let Some(Node::VerdictBox { tone, headline, .. }) = document.body.first() else {
        panic!("no verdict")
    };
    (*tone, headline.text().replace('\u{a0}', " "))
}

#[test]
fn the_headline_names_the_first_the_sharers_or_nobody() {
    let (tone, said) = headline(&article(0));
    assert!(tone == Tone::Good && said.contains("offload d is first of 5 levels"), "{said}");
    let (tone, said) = headline(&article(1));
    assert!(tone == Tone::Plain && said.contains("4 of 5 levels of offload share"), "{said}");
    assert!(
        said.contains("Shown behind at least one of these in throughput: offload d (−"),
        "{said}"
    );
    let (tone, said) = headline(&article(2));
    assert!(matches!(tone, Tone::Open | Tone::Even), "{said}");
    assert!(said.contains(": None of 5") || said.contains(": No difference"), "{said}");
}

#[test]
fn the_order_is_in_every_medium() {
    let document = article(1);
    let run = ranked().remove(1);
    let page = html(&document, &Bundle::of_run(&run)).unwrap();
    for medium in [text(&document, 300, true), json(&document).to_string(), page] {
        let medium = medium.replace(['\u{a0}', '\\'], " ");
        for words in ["Not told apart from", "Ranks of the levels of offload", "share the first"] {
            assert!(medium.contains(words), "{words} is missing: {medium}");
        }
    }
    // The sheet for a build has the answer alone.
    assert!(markdown(&document).contains("share the first place"));
}

#[test]
fn the_primary_comparison_is_the_headline_and_the_others_stand_besides() {
    let document = article(3);
    let (tone, said) = headline(&document);
    assert!(tone == Tone::Good, "{said}");
    assert!(said.starts_with("Primary comparison, with direction receive: pro1000"), "{said}");
    let Some(Node::VerdictBox { rulings, .. }) = document.body.first() else { return };
    let besides = rulings[0].sentence.text().replace('\u{a0}', " ");
    assert!(besides.contains("Of 2 other comparisons") && besides.contains("5 %"), "{besides}");
    assert!(besides.contains("2 came out better (transmit; both)"), "{besides}");
}
