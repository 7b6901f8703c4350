//! Knows figures as files, a plan against itself, settings, completions and manual pages as a
//! person meets them; nothing is measured, the lab is simulated.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use desk::record::{Completeness, Run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const STEND: &str = env!("CARGO_BIN_EXE_stend");

struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-doors-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn stend(&self, words: &[&str]) -> Output {
        self.with(words, &[])
    }

    fn with(&self, words: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(STEND);
        command.args(words).current_dir(&self.0).stdin(Stdio::null()).env_clear();
        command.env("HOME", &self.0).envs(variables.iter().copied());
        command.output().expect("it starts")
    }

    fn good(&self, words: &[&str]) -> String {
        let output = self.stend(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", error(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).expect("a file")
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_figure_is_a_file_of_the_form_that_its_name_says() {
    let home = Home::new("figure");
    home.good(&["run", "nic-duel", "--quick", "--lab", "sim"]);
    let list = home.good(&["figure"]);
    assert!(list.lines().count() > 1 && list.trim_start().starts_with('1'), "{list}");
    home.good(&["figure", "last", "1", "-o", "one.svg"]);
    let svg = String::from_utf8(home.read("one.svg")).expect("text");
    assert!(svg.starts_with("<?xml") && svg.contains("prefers-color-scheme"), "{svg}");
    assert!(!svg.contains("var("), "a variable is left");
    home.good(&["figure", "last", "1", "-o", "one.csv"]);
    assert_eq!(
        home.read("one.csv"),
        home.good(&["figure", "last", "1", "--format", "csv"]).as_bytes()
    );
    let plain = home.good(&["figure", "last", "1", "--plain"]);
    assert!(plain.is_ascii() && plain.lines().count() > 5, "{plain}");
    assert!(!home.good(&["figure", "last", "1"]).is_ascii());
    // A lone number is that of a figure; how it is drawn needs one.
    home.good(&["figure", "1", "--output", "lone.svg"]);
    assert_eq!(home.read("lone.svg"), svg.as_bytes());
    assert_eq!(
        home.good(&["figure", "1", "--format", "csv", "-o", "-"]).as_bytes(),
        home.read("one.csv")
    );
    for words in [&["figure", "-o", "x.svg"][..], &["figure", "last", "--width", "400"]] {
        let output = home.stend(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(error(&output).contains("number"), "{}", error(&output));
    }
    let names = std::fs::read_dir(&home.0).expect("the place").flatten();
    assert!(!names.into_iter().any(|e| e.file_name().to_string_lossy().contains(".part")));
    let rows = home.good(&["export", "-o", "-"]);
    assert!(rows.starts_with("run,") && !home.0.join("-").exists());
    if cfg!(feature = "png") {
        home.good(&["figure", "last", "1", "-o", "one.png", "--width", "400", "--scale", "1"]);
        let png = home.read("one.png");
        assert_eq!((&png[1..4], &png[16..20]), (&b"PNG"[..], &400_u32.to_be_bytes()[..]));
        home.good(&[
            "figure", "last", "1", "-o", "dark.png", "--width", "400", "--scale", "1", "--dark",
        ]);
        assert_ne!(png, home.read("dark.png"));
    }
    let none = home.stend(&["figure", "last", "99"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(error(&none).contains("has no figure 99") && error(&none).contains(list.trim()));
    assert_eq!(home.stend(&["figure", "last", "1", "-o", "one.gif"]).status.code(), Some(2));
}

#[test]
fn a_plan_against_itself_gives_the_noise_that_the_plan_is_judged_by() {
    let home = Home::new("aa");
    let plan = ["plan", "short-path", "--quick", "--lab", "sim"];
    assert!(home.good(&plan).contains("aa --quick --lab sim short-path` makes one"));
    let said = home.good(&["aa", "short-path", "--quick", "--lab", "sim"]);
    for words in ["false alarms", "noise of a trial", "smallest effect"] {
        assert!(said.contains(words), "{said}");
    }
    let list = home.good(&["list"]);
    let id = list.lines().nth(1).and_then(|l| l.split_whitespace().next()).expect("a run");
    let known = home.good(&plan);
    assert!(known.contains(&format!("A/A run {id}")), "{known}");
    // The noise of a simulated lab is not that of this machine, nor that of a short window another.
    assert!(!home.good(&["plan", "short-path", "--quick"]).contains(id));
    assert!(!home.good(&["plan", "short-path", "--lab", "sim"]).contains(id));
    for lab in ["root", "loopback"] {
        assert!(!home.good(&["plan", "short-path", "--quick", "--lab", lab]).contains(id), "{lab}");
    }
    let physics = home.stend(&["plan", "short-path", "--physics", "none.toml"]);
    assert_eq!(physics.status.code(), Some(2));
    assert!(error(&physics).contains("--lab sim"), "{}", error(&physics));
    let twice = ["aa", "short-path", "--level", "cubic", "--level", "congestion=kernel"];
    let twice = home.stend(&[&twice[..], &["--lab", "sim"]].concat());
    assert_eq!(twice.status.code(), Some(2));
    assert!(error(&twice).contains("cubic and kernel"), "{}", error(&twice));
    let wrong = home.stend(&["aa", "short-path", "--level", "congestion=cubik", "--lab", "sim"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(error(&wrong).contains("did you mean 'cubic'?"), "{}", error(&wrong));
}

#[test]
fn a_setting_comes_from_the_flag_then_the_variable_then_the_file() {
    let home = Home::new("config");
    let file = |text: &str| std::fs::write(home.0.join("stend.toml"), text).expect("a file");
    let row = |words: &[&str], variables: &[(&str, &str)]| {
        let output = home.with(words, variables);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find(|l| l.starts_with("lab ")).expect("a row").to_owned()
    };
    let show = ["config", "show", "--origin"];
    assert!(row(&show, &[]).ends_with("default"));
    let journal = home.with(&show, &[("STEND_JOURNAL", "/x/y")]);
    let journal = String::from_utf8_lossy(&journal.stdout).into_owned();
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(journal.lines().any(|l| words(l) == "journal /x/y STEND_JOURNAL"), "{journal}");
    file("# mine\nlab = \"loopback\"\n");
    assert!(row(&show, &[]).contains("loopback") && row(&show, &[]).ends_with("stend.toml:2"));
    let variable = [("STEND_LAB", "user")];
    assert!(row(&show, &variable).ends_with("STEND_LAB") && row(&show, &variable).contains("user"));
    let flag = row(&["config", "show", "--origin", "--lab", "sim"], &variable);
    assert!(flag.contains("sim") && flag.ends_with("flag"), "{flag}");
    file("lab = \"sim\"\nquick = true\n");
    let quick = home.good(&["plan", "short-path"]);
    assert_ne!(quick, home.good(&["plan", "short-path", "--quick=false"]));
    file("lab = \"sim\"\n");
    assert_eq!(quick, home.good(&["plan", "short-path", "--quick"]));
    file("lab = \"sim\"\nstor = \"x\"\n");
    let wrong = home.stend(&["list"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = error(&wrong);
    assert!(
        said.contains("stend.toml, line 2: unknown key 'stor'; did you mean 'store'?"),
        "{said}"
    );
}

#[test]
fn a_file_that_everybody_may_write_to_chooses_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new("trust");
    let path = home.0.join("stend.toml");
    std::fs::write(&path, "lab = \"sim\"\n").expect("a file");
    let open = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(&path, open).expect("open to all");
    let shown = home.good(&["config", "show", "--origin"]);
    assert!(shown.contains("best") && shown.contains("passed over: "), "{shown}");
    let told = error(&home.stend(&["plan", "short-path"]));
    assert_eq!(told.matches("passed over: ").count(), 1, "{told}");
    assert!(error(&home.stend(&["plan", "short-path", "-q"])).is_empty());
}

#[test]
fn a_setting_says_below_which_directory_every_run_has_its_own() {
    let home = Home::new("parent");
    let run = ["run", "short-path", "--quick", "--lab", "sim"];
    for _ in 0..2 {
        let output = home.with(&run, &[("STEND_OUT", "results")]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    }
    let runs: Vec<_> = std::fs::read_dir(home.0.join("results")).expect("it").flatten().collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs.iter().all(|run| run.path().join("report.html").exists()), "{runs:?}");
    home.good(&[&run[..], &["--out", "here"]].concat());
    assert!(home.0.join("here/report.html").exists());
}

/// The numbers of clients in the records of a run; each record has flows of as many.
fn numbers_of_clients(run: &Path) -> Vec<u64> {
    let records = std::fs::read_to_string(run.join("records.json")).expect("records");
    let run: Run = serde_json::from_str(&records).expect("a run");
    let mut seen = BTreeSet::new();
    for record in run.records.iter().filter(|record| record.outcome.fault.is_none()) {
        let flows = &record.outcome.flows.rows;
        let ends = flows.iter().flat_map(|flow| [flow.sender.as_str(), flow.receiver.as_str()]);
        let clients: BTreeSet<&str> = ends.filter(|host| *host != "sut").collect();
        let wanted = record.trial.point.params["clients"].count().expect("a number");
        assert_eq!(clients.len() as u64, wanted, "{clients:?}");
        seen.insert(wanted);
    }
    seen.into_iter().collect()
}

#[test]
fn clients_of_requests_join_one_after_the_other() {
    let home = Home::new("joining");
    let load = |name: &str| {
        format!("[load.{name}]\nworkload = \"{name}\"\nover = {{ clients = [1, 3] }}\n")
    };
    let loads: String = ["tcp_rr", "tcp_crr", "udp_rr", "icmp_rr"].map(load).concat();
    let plan = format!("title = \"joining\"\n[lab]\nclients = 4\n{loads}");
    std::fs::write(home.0.join("joining.toml"), plan).expect("a plan");
    home.good(&["run", "joining.toml", "--lab", "sim", "--blocks", "3", "--out", "joined"]);
    assert_eq!(numbers_of_clients(&home.0.join("joined")), [1, 3]);
}

#[test]
fn a_ramp_adds_clients_to_one_lab_and_the_article_has_its_curve() {
    let home = Home::new("ramp");
    home.good(&["run", "client-ramp", "--lab", "sim", "--blocks", "3", "--out", "ramp"]);
    assert_eq!(numbers_of_clients(&home.0.join("ramp")), [1, 4, 8, 12, 16, 20]);
    let article = std::fs::read_to_string(home.0.join("ramp/report.md")).expect("an article");
    assert!(article.contains("clients"), "{article}");
    let page = std::fs::read_to_string(home.0.join("ramp/report.html")).expect("an article");
    assert!(page.contains("<svg"), "a curve");
}

#[test]
fn what_is_wrong_in_a_file_of_settings_stops_what_has_settings_and_nothing_else() {
    let home = Home::new("wrong");
    std::fs::write(home.0.join("stend.toml"), "lab = \"moon\"\n").expect("a file");
    for words in [&["--help"][..], &["--version"], &["run", "--help"], &["completions", "bash"]] {
        home.good(words);
    }
    home.good(&["schema", "plan"]);
    for words in [&["list"][..], &["plan", "aa"], &["config", "show"]] {
        let output = home.stend(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(error(&output).contains("stend.toml:1"), "{}", error(&output));
    }
    // A directory that is gone has no file, and is no reason to fail.
    let gone = home.0.join("gone");
    std::fs::create_dir(&gone).expect("a directory");
    let script = format!("cd gone && rmdir ../gone && exec '{STEND}' plan aa");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(&home.0).env_clear().env("HOME", &home.0);
    let output = shell.output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new("enough");
    let closed = |words: &str, standard: &str| {
        let script = format!("exec '{STEND}' {words} {standard}>&3");
        // The third is a pipe that nobody reads.
        let script = format!("{{ sleep 0.2; {script}; }} 3>&1 | true; exit ${{PIPESTATUS[0]}}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(&home.0).env_clear();
        shell.env("HOME", &home.0).env("PATH", "/usr/bin:/bin");
        shell.output().expect("it starts")
    };
    for words in ["schema run", "run short-path --quick --lab sim", "list", "export"] {
        let output = closed(words, "1");
        assert_eq!(output.status.code(), Some(0), "{words}: {}", error(&output));
        assert!(!error(&output).contains("pipe"), "{words}: {}", error(&output));
    }
    // Where nobody can be told why, the status still says it.
    assert_eq!(closed("report nothing", "2").status.code(), Some(2));
}

#[test]
fn a_command_that_is_to_be_typed_again_can_be() {
    let home = Home::new("quoted");
    let file = "it's mine.toml";
    let plan = home.0.join(file);
    let text = "title = \"A\"\nquestion = \"B?\"\n[factors.congestion]\nlevels = [\"cubic\", \
                \"bbr\"]\n[load.it]\nworkload = \"tcp_stream\"\n[method]\nblocks = 3\n";
    std::fs::write(plan, text).expect("a plan");
    let told = home.good(&["plan", file, "--lab", "sim"]);
    assert!(told.contains(r"aa --lab sim 'it'\''s mine.toml'` makes one"), "{told}");
    home.good(&["run", file, "--quick", "--lab", "sim", "--out", "out"]);
    let run: serde_json::Value =
        serde_json::from_slice(&home.read("out/records.json")).expect("JSON");
    let command = run["command"].as_str().unwrap_or_default();
    let (first, seed) = command.split_once("--seed ").expect("the seed that was drawn");
    assert!(first.ends_with("run --quick ") && seed.ends_with(r" --lab sim 'it'\''s mine.toml'"));
}

#[test]
fn shells_and_man_know_every_verb() {
    let home = Home::new("man");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = home.good(&["completions", shell]);
        assert!(said.contains("figure"), "{shell}");
        assert!(!said.contains("guardian"), "{shell}: what stend starts itself is no verb");
    }
    home.good(&["man", "pages"]);
    for verb in ["", "-run", "-figure", "-aa", "-config"] {
        let page = String::from_utf8(home.read(&format!("pages/stend{verb}.1"))).expect("text");
        assert!(page.contains(".TH"), "{verb}");
    }
    assert!(!home.0.join("pages/stend-guardian.1").exists());
    let run = String::from_utf8(home.read("pages/stend-run.1")).expect("text");
    assert!(run.contains("BOOL"), "a switch can be taken back: {run}");
    let no_place = home.stend(&["man", "pages/stend-run.1"]);
    assert_eq!(no_place.status.code(), Some(1));
    assert!(error(&no_place).contains("name another directory"), "{}", error(&no_place));
    for verb in ["gate", "compare", "resume", "run"] {
        assert!(home.good(&[verb, "--help"]).contains("Exit status:"), "{verb}");
    }
}

#[test]
fn what_is_no_terminal_gets_whole_lines_and_quiet_means_quiet() {
    let home = Home::new("quiet");
    let run = ["run", "short-path", "--quick", "--lab", "sim"];
    let told = error(&home.stend(&run));
    assert!(told.contains("trials") && !told.contains('\x1b') && !told.contains('\r'), "{told}");
    let quiet = home.stend(&[&run[..], &["-q"]].concat());
    assert!(error(&quiet).is_empty() && !quiet.stdout.is_empty(), "{}", error(&quiet));
    let verbose = error(&home.stend(&[&run[..], &["-v"]].concat()));
    assert!(verbose.lines().count() > told.lines().count(), "{verbose}");
}

#[test]
fn a_run_in_which_nothing_was_finished_is_not_one_that_was_stopped_now() {
    let home = Home::new("empty");
    home.good(&["run", "short-path", "--quick", "--lab", "sim", "--out", "out"]);
    let mut run: Run = serde_json::from_slice(&home.read("out/records.json")).expect("a run");
    run.records.clear();
    (run.id, run.digits) = ("empty-1".into(), None);
    run.completeness = Completeness::Partial { why: "a power cut".into() };
    let text = serde_json::to_string(&run).expect("JSON");
    std::fs::write(home.0.join("empty.json"), text).expect("a file");
    home.good(&["import", "empty.json"]);
    for verb in ["report", "figure"] {
        let output = home.stend(&[verb, "empty"]);
        assert_eq!(output.status.code(), Some(6), "{verb}: {}", error(&output));
        assert!(error(&output).contains("none was finished"), "{verb}: {}", error(&output));
    }
}
