//! Checks that a summary is short and that nothing a person wrote does anything in it.

use super::*;
use crate::report::{compose, fixture};

fn said(text: &str) -> String {
    escaped(&Prose::verbatim(text))
}

#[test]
fn nothing_in_a_name_is_read_as_markdown_html_or_a_mention() {
    let cases = [
        ("a|b `c` *d* ~~e~~ $f$", "a\\|b \\`c\\` \\*d\\* \\~\\~e\\~\\~ \\$f\\$"),
        ("<img src=x> &lt;", "&lt;img src=x&gt; &amp;lt;"),
        ("@torvalds", "@&ZeroWidthSpace;torvalds"),
        ("see #12 or GH-7", "see #&ZeroWidthSpace;12 or GH-&ZeroWidthSpace;7"),
        ("![x](https://e.org)", "!\\[x\\](https:&ZeroWidthSpace;//e.org)"),
        ("www.e.org", "www.&ZeroWidthSpace;e.org"),
        ("request_size _x_", "request_size \\_x\\_"),
        ("# title", "\\# title"),
        ("1. first", "1\\. first"),
        ("- item", "\\- item"),
        ("1.03× more", "1.03× more"),
        ("two\nlines\r\u{202e}turned", "two lines turned"),
        ("back\\slash", "back\\\\slash"),
    ];
    for (text, wanted) in cases {
        assert_eq!(said(text), wanted, "{text}");
    }
    assert_eq!(markup(&Prose::verbatim("</sub>@me|")), "&lt;/sub&gt;@&ZeroWidthSpace;me|");
}

#[test]
fn a_long_text_is_cut_between_words_and_never_within_a_number() {
    let long = said(&"word 123456789 ".repeat(100));
    assert!(long.ends_with("word…") || long.ends_with("123456789…"), "{long}");
    assert!(long.chars().count() <= 800);
    assert_eq!(cell(&Prose::verbatim(&"7".repeat(500))), "…");
}

#[test]
fn a_command_cannot_leave_its_fence() {
    let (mut run, analysis) = fixture::duel();
    run.command = "stend run `x` ```` <b>".into();
    let page = markdown(&compose(&run, &analysis).unwrap());
    assert!(page.contains("`````sh\nstend run `x` ```` <b>\n`````\n"), "{page}");
}

#[test]
fn a_summary_keeps_to_its_lines_and_characters_whatever_is_written_into_it() {
    let (mut run, analysis) = fixture::duel();
    for text in [String::new(), "@a | <b> ".repeat(40_000), "\n```\n".repeat(9_000)] {
        run.plan.title = text.clone();
        run.plan.question = text.clone();
        let document = compose(&run, &analysis).unwrap();
        let page = markdown(&document);
        assert!(page.lines().count() <= 60, "{} lines", page.lines().count());
        assert!(page.chars().count() <= CHARACTERS, "{}", page.chars().count());
        let Some(Node::VerdictBox { headline, .. }) = document.body.first() else {
            panic!("the answer stands first");
        };
        assert!(page.contains(&escaped(headline)), "the answer is always there");
    }
}

#[test]
fn details_are_closed_and_tables_even() {
    let (run, analysis) = fixture::priced();
    let page = markdown(&compose(&run, &analysis).unwrap());
    let count = |part: &str| page.matches(part).count();
    assert!(count("<details>") > 0 && count("<details>") == count("</details>"), "{page}");
    let bars = |line: &&str| line.replace("\\|", "").matches('|').count();
    let rows: Vec<&str> = page.lines().filter(|l| l.starts_with('|')).collect();
    assert!(rows.len() > 2 && rows.iter().all(|row| bars(row) == bars(&rows[0])), "{page}");
}
