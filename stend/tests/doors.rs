//! Knows figures as files, a plan against itself, settings, completions and manual pages as a
//! person meets them; nothing is measured, the lab is simulated.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use std::path::PathBuf;
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
    assert!(
        home.good(&["figure", "last", "1", "--plain"]).lines().all(|l| l.chars().count() < 400)
    );
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
    let plan = ["plan", "congestion", "--quick", "--lab", "sim"];
    assert!(home.good(&plan).contains("stend aa --quick congestion"));
    let said = home.good(&["aa", "congestion", "--quick", "--lab", "sim"]);
    for words in ["false alarms", "noise of a trial", "smallest effect"] {
        assert!(said.contains(words), "{said}");
    }
    let list = home.good(&["list"]);
    let id = list.lines().nth(1).and_then(|l| l.split_whitespace().next()).expect("a run");
    let known = home.good(&plan);
    assert!(known.contains(&format!("A/A run {id}")), "{known}");
    // The noise of a simulated lab is not that of this machine, nor that of a short window another.
    assert!(!home.good(&["plan", "congestion", "--quick"]).contains(id));
    assert!(!home.good(&["plan", "congestion", "--lab", "sim"]).contains(id));
    let wrong = home.stend(&["aa", "congestion", "--level", "congestion=cubik", "--lab", "sim"]);
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
    file("# mine\nlab = \"loopback\"\n");
    assert!(row(&show, &[]).contains("loopback") && row(&show, &[]).ends_with("stend.toml:2"));
    let variable = [("STEND_LAB", "user")];
    assert!(row(&show, &variable).ends_with("STEND_LAB") && row(&show, &variable).contains("user"));
    let flag = row(&["config", "show", "--origin", "--lab", "sim"], &variable);
    assert!(flag.contains("sim") && flag.ends_with("flag"), "{flag}");
    file("lab = \"sim\"\nquick = true\n");
    let quick = home.good(&["plan", "congestion"]);
    assert_ne!(quick, home.good(&["plan", "congestion", "--quick=false"]));
    file("lab = \"sim\"\n");
    assert_eq!(quick, home.good(&["plan", "congestion", "--quick"]));
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
}

#[test]
fn shells_and_man_know_every_verb() {
    let home = Home::new("man");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.good(&["completions", shell]).contains("figure"), "{shell}");
    }
    home.good(&["man", "pages"]);
    for verb in ["", "-run", "-figure", "-aa", "-config"] {
        let page = String::from_utf8(home.read(&format!("pages/stend{verb}.1"))).expect("text");
        assert!(page.contains(".TH"), "{verb}");
    }
    assert!(!home.0.join("pages/stend-agent.1").exists());
}

#[test]
fn what_is_no_terminal_gets_whole_lines_and_quiet_means_quiet() {
    let home = Home::new("quiet");
    let run = ["run", "congestion", "--quick", "--lab", "sim"];
    let told = error(&home.stend(&run));
    assert!(told.contains("trials") && !told.contains('\x1b') && !told.contains('\r'), "{told}");
    let quiet = home.stend(&[&run[..], &["-q"]].concat());
    assert!(error(&quiet).is_empty() && !quiet.stdout.is_empty(), "{}", error(&quiet));
    let verbose = error(&home.stend(&[&run[..], &["-v"]].concat()));
    assert!(verbose.lines().count() > told.lines().count(), "{verbose}");
}
