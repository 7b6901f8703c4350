//! Checks pages as a browser, a screen reader and a suspicious reader would, without a browser.

use super::*;
use crate::report::fixture;
use crate::report::tests::articles;
use std::collections::BTreeSet;

fn pages() -> Vec<String> {
    let (run, _) = fixture::duel();
    let bundle = Bundle::of_run(&run);
    articles().iter().map(|article| html(article, &bundle).unwrap()).collect()
}

/// Every value of an attribute, in order.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let before = format!(" {attribute}=\"");
    let rest = page.split(before.as_str()).skip(1);
    rest.map(|rest| rest.split('"').next().unwrap()).collect()
}

/// What stands in every element of a name, its own tags with attributes left out.
fn inside<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let rest = page.split(open.as_str()).skip(1);
    let own = rest.filter(|rest| rest.starts_with(['>', ' ']));
    own.map(|rest| rest.split_once('>').unwrap().1.split(close.as_str()).next().unwrap()).collect()
}

#[test]
fn every_id_stands_once_and_every_link_arrives() {
    for page in pages() {
        let ids = values(&page, "id");
        let once: BTreeSet<&str> = ids.iter().copied().collect();
        let twice: Vec<_> =
            ids.iter().filter(|id| ids.iter().filter(|o| o == id).count() > 1).collect();
        assert_eq!(once.len(), ids.len(), "{twice:?}");
        for link in values(&page, "href") {
            let place = link.strip_prefix('#').expect("a link leads out of the page");
            assert!(once.contains(place), "#{place} leads nowhere");
        }
        for label in ["aria-labelledby", "aria-describedby"] {
            for id in values(&page, label).iter().flat_map(|ids| ids.split(' ')) {
                assert!(once.contains(id), "{label} {id}");
            }
        }
        assert!(ids.len() > 8);
    }
}

#[test]
fn headings_step_down_one_at_a_time_and_there_is_one_title() {
    for page in pages() {
        let mut before = 0;
        for rest in page.split("<h").skip(1) {
            let Some(level) = rest.chars().next().and_then(|c| c.to_digit(10)) else { continue };
            assert!(level <= before + 1, "h{level} after h{before}: {}", &rest[..40]);
            assert_eq!(level == 1, before == 0, "one title, first of all");
            before = level;
        }
        assert!(before > 1);
    }
}

#[test]
fn every_table_has_a_name_and_every_heading_cell_a_scope() {
    let mut tables = 0;
    for page in pages() {
        for rest in page.split("<table").skip(1) {
            let (tag, body) = rest.split_once('>').unwrap();
            let named = tag.contains("aria-label") || body.starts_with("<caption>");
            assert!(named, "{}", &body[..80.min(body.len())]);
            tables += 1;
        }
        for rest in page.split("<th").skip(1).filter(|rest| rest.starts_with([' ', '>'])) {
            assert!(rest.starts_with(" scope="), "{}", &rest[..40]);
        }
        for rest in page.split("class=\"wide\"").skip(1) {
            let tag = rest.split('>').next().unwrap();
            assert!(tag.contains("tabindex=\"0\"") && tag.contains("aria-label="), "{tag}");
        }
    }
    assert!(tables > 20);
}

#[test]
fn every_figure_has_a_title_and_a_description() {
    let mut seen = 0;
    for svg in pages().iter().flat_map(|page| page.split("<svg").skip(1)) {
        let (tag, body) = svg.split_once('>').unwrap();
        assert!(tag.contains("role=\"img\"") && tag.contains("aria-labelledby"), "{tag}");
        if tag.contains("width=\"400\"") {
            continue; // It has those of the drawing beside it; every label arrives.
        }
        for part in ["<title id=", "<desc id="] {
            let text = body.split_once(part).unwrap().1.split_once('>').unwrap().1;
            assert!(!text.starts_with('<'), "empty {part}");
        }
        seen += 1;
    }
    assert!(seen > 8);
}

#[test]
fn the_narrow_drawing_has_a_marker_for_each_of_the_broad_one() {
    let mut seen = 0;
    for figure in pages().iter().flat_map(|page| page.split("<figure").skip(1)) {
        let (broad, narrow) = figure.split_once("<div class=\"narrow\">").unwrap();
        let narrow = narrow.split("</figure>").next().unwrap();
        let words = broad.matches("<title>").count();
        assert_eq!(narrow.matches("<title/>").count(), words, "{}", &figure[..40]);
        assert_eq!(narrow.matches("<title").count(), words, "words stand once");
        seen += words;
    }
    assert!(seen > 40);
}

#[test]
fn what_is_copied_has_no_character_that_nobody_sees() {
    for page in pages() {
        assert!(!page.contains(['\u{2060}', '\u{200b}']));
    }
}

#[test]
fn the_policy_lets_in_what_the_page_holds_and_nothing_else() {
    for page in pages() {
        let policy = values(&page, "content").into_iter().find(|c| c.contains("default-src"));
        let policy = policy.unwrap().replace("&#39;", "'");
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        let scripts: Vec<_> = inside(&page, "script")
            .into_iter()
            .filter(|text| page.contains(&format!("<script>{text}</script>")))
            .collect();
        assert_eq!(scripts.len(), 1, "one script that runs");
        let styles = inside(&page, "style");
        assert_eq!(styles.len(), 1);
        for text in scripts.iter().chain(&styles) {
            assert!(policy.contains(&source(text)), "the policy shuts out our own");
        }
        for forbidden in ["http:", "https:", "//www", " style=", " onclick", " src=", "javascript:"]
        {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}

#[test]
fn the_script_is_small_and_asks_for_nothing() {
    assert!(SCRIPT.len() < 30_000, "{} bytes", SCRIPT.len());
    for forbidden in
        ["fetch(", "XMLHttp", "import(", "import ", "eval(", "innerHTML", "</script", "WebSocket"]
    {
        assert!(!SCRIPT.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_long_article_has_contents_and_a_way_past_them() {
    let page = &pages()[0];
    let contents = inside(page, "nav");
    assert_eq!(contents.len(), 1);
    let chapters = page.matches("<h2").count();
    // The chapter on the file itself is none of the article.
    assert!(contents[0].matches("<a ").count() >= chapters - 1);
    assert!(page.contains("<a class=\"skip\" href=\"#article\">"));
}

#[test]
fn foreign_words_cannot_end_the_data_of_the_script() {
    let (mut run, analysis) = fixture::duel();
    run.plan.title = "</script><script>alert(1)</script>".into();
    let document = crate::report::compose(&run, &analysis).unwrap();
    let numbers = vec![("fig".to_owned(), run.plan.title.clone())];
    let words = Words::english().unwrap();
    assert_eq!(carried(&words, &numbers).unwrap().into_string().matches("<script").count(), 1);
    let page = html(&document, &Bundle::of_run(&run)).unwrap();
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script>").count(), 3);
}
