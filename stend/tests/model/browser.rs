//! The page in a browser, where there is one: its script runs to its end, breaks nothing and asks
//! for nothing.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Names of the browser, in the order of trying.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The page as the browser has it once its script has run.
fn rendered(browser: &str, place: &Path, address: &str) -> String {
    let profile = format!("--user-data-dir={}", place.join("profile").display());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"])
        .args(["--disable-background-networking", "--disable-quic", &profile, address])
        .output()
        .expect("the browser starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_script_runs_to_its_end_and_asks_for_nothing() {
    let there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = BROWSERS.iter().find(there) else {
        println!("skipped: no chromium on PATH");
        return;
    };
    let place = std::env::temp_dir().join(format!("stend-browser-{}", std::process::id()));
    fs::create_dir_all(&place).expect("a directory");
    let plan = "title = \"Browser\"\nquestion = \"Does it run?\"\n[factors.tso]\n\
        levels = [\"off\", \"on\"]\n[load.stream]\nworkload = \"tcp_stream\"\n\
        over = { request_size = \"64..16384 B *4\" }\n[method]\nblocks = 5\n";
    fs::write(place.join("plan.toml"), plan).expect("a plan");
    let made = Command::new(env!("CARGO_BIN_EXE_stend"))
        .args(["run", "plan.toml", "--lab", "sim", "--store", "x.stend", "--out", "."])
        .current_dir(&place)
        .output()
        .expect("it starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let page = fs::read_to_string(place.join("report.html")).expect("a page");
    let bare = page.split_once("<html").expect("a page").1.split('>').next().unwrap_or_default();
    assert!(!bare.contains("data-ready"), "the mark comes from the script");
    let figure = page.split_once("<figure id=\"").expect("a figure").1;
    let figure = figure.split('"').next().unwrap_or_default();
    let address = format!("file://{}#{figure}~2", place.join("report.html").display());
    let seen = rendered(browser, &place, &address);
    let root = seen.split_once("<html").expect("a page").1.split('>').next().unwrap_or_default();
    assert!(root.contains("data-ready=\"yes\""), "{root}");
    assert!(!root.contains("data-fault"), "{root}");
    assert!(root.contains("data-requests=\"0\""), "{root}");
    assert!(seen.contains("class=\"tools\"") && seen.contains("class=\"sort\""));
    // The address named the second point: it is ringed and read out.
    let said = seen.split_once("<output aria-live=\"polite\">").expect("a voice").1;
    assert!(!said.starts_with('<'), "the point of the address is not read out");
    assert!(seen.contains("class=\"ring\""));
    let _ = fs::remove_dir_all(&place);
}
