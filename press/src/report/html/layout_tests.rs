//! Looks at whole pages in a browser, where there is one: every kind of figure at three widths, in
//! light, dark and print, with the font of the page and with that of a reader who lets in none.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a browser is a process that reads a file"
)]

use super::*;
use crate::figure::tests::fixture::figures;
use crate::report::document::Node;
use crate::report::fixture;
use crate::report::tests::articles;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Names of the browser, in the order of trying.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Where the source of axe-core is, a checker of accessibility; without it that part is left out.
const AXE: &str = "STEND_AXE";
/// Drawings of one page, at least: each figure of the gallery but the small lines.
const DRAWINGS: usize = 50;

/// An article of every figure of the gallery.
fn gallery() -> Document {
    let mut document = articles().remove(0);
    let drawn = figures().into_iter().map(|(_, figure)| Node::Figure(figure));
    document.body = vec![Node::section("all".into(), Prose::verbatim("All"), drawn.collect())];
    document
}

/// The page without its policy and its script, which a browser would otherwise hold against us.
fn bare(page: &str) -> String {
    let (before, policy) = page.split_once("<meta http-equiv").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let (body, _) = after.split_once("<script").unwrap();
    [before, body, "</body></html>"].concat()
}

/// A page as it looks to somebody who asked for it.
fn seen(page: &str, look: &str) -> String {
    let dark = ["(prefers-color-scheme:dark)", "(prefers-color-scheme: dark)"];
    let wanted = if look == "dark" { "(min-width:0)" } else { "(max-width:0)" };
    let page = dark.iter().fold(page.to_owned(), |page, query| page.replace(query, wanted));
    match look {
        // A query that is never met, also where more conditions follow.
        "print" => page
            .replace("@media print", "@media all")
            .replace("@media screen", "@media (max-width:0)"),
        _ => page,
    }
}

/// Every look with both fonts.
fn looks(name: &str, page: &str, pages: &mut BTreeMap<String, String>) {
    let fonts = [("own font", page.to_owned()), ("Arial", page.replace(figure::font_faces(), ""))];
    assert_ne!(fonts[0].1, fonts[1].1, "the page brings no font");
    for (font, page) in fonts {
        for look in ["light", "dark", "print"] {
            pages.insert(format!("{name}, {look}, {font}"), seen(&page, look));
        }
    }
}

/// What the browser says of the pages: what it saw, and what is wrong.
fn judged(
    browser: &str,
    place: &Path,
    pages: &BTreeMap<String, String>,
) -> (Vec<String>, Vec<String>) {
    let axe = env::var(AXE).ok().map(|path| fs::read_to_string(path).unwrap());
    let script = format!(
        "const PAGES = {};\nconst AXE = {};\n{}",
        harmless(&json!(pages).to_string()),
        harmless(&json!(axe).to_string()),
        include_str!("layout.js")
    );
    let file = place.join("layout.html");
    // Without its character set a browser guesses one, and at times another.
    let head = "<!doctype html><meta charset=\"utf-8\">";
    fs::write(&file, format!("{head}<body><script>{script}</script></body>")).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
        .args(["--disable-background-networking", "--disable-quic", "--timeout=240000"])
        .args(["--virtual-time-budget=200000", "--window-size=1300,1000"])
        .arg(format!("--user-data-dir={}", place.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = text.rsplit_once("BEGIN\n").expect("the browser came to no end").1;
    let (seen, faults) = told.split_once("FAULTS\n").unwrap();
    let faults = faults.split_once("END").unwrap().0;
    let lines = |text: &str| text.lines().map(str::to_owned).collect();
    (lines(seen), lines(faults))
}

#[test]
fn every_figure_fits_in_every_look_at_every_width() {
    let there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = BROWSERS.iter().find(there) else {
        println!("skipped: no chromium on PATH");
        return;
    };
    let (run, _) = fixture::duel();
    let bundle = Bundle::of_run(&run);
    let mut pages = BTreeMap::new();
    looks("gallery", &bare(&html(&gallery(), &bundle).unwrap()), &mut pages);
    for (number, article) in articles().iter().enumerate() {
        let page = bare(&html(article, &bundle).unwrap());
        pages.insert(format!("article {number}, light, own font"), seen(&page, "light"));
    }
    let place = env::temp_dir().join(format!("stend-layout-{}", std::process::id()));
    fs::create_dir_all(&place).unwrap();
    let (seen, faults) = judged(browser, &place, &pages);
    let _ = fs::remove_dir_all(&place);
    assert_eq!(seen.len(), 3 * pages.len(), "{faults:?}");
    for line in seen.iter().filter(|line| line.starts_with("gallery")) {
        let drawings = line.split_once("px: ").unwrap().1.split(' ').next().unwrap();
        assert!(drawings.parse::<usize>().unwrap() >= DRAWINGS, "{line}");
    }
    let axe = if env::var_os(AXE).is_some() { "" } else { "; without axe" };
    println!("{} pages at three widths{axe}", pages.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
