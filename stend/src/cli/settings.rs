//! Knows the settings that a person may write down once: flag before environment before file before
//! default, and where each came from.
//!
//! Must not know what a verb does with them: they become the defaults of its options, so that every
//! verb that has an option of such a name follows.

use super::error::CliError;
use super::terminal::Colour;
use super::{Place, store};
use clap::{Arg, ArgAction, Command, ValueEnum};
use desk::plan::remedy;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// What kind of value a setting has.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A path; in a file it is relative to the file.
    Path,
    /// One of some words.
    Word(fn(&str) -> bool, &'static str),
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, also that of the option and of the key in the file.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What holds where nobody says anything, in words.
    pub default: &'static str,
}

fn is_place(word: &str) -> bool {
    Place::from_str(word, false).is_ok()
}

fn is_colour(word: &str) -> bool {
    Colour::from_str(word, false).is_ok()
}

/// Every setting, sorted by name.
pub const SETTINGS: [Setting; 6] = [
    Setting { name: "color", kind: Kind::Word(is_colour, "auto, always, never"), default: "auto" },
    Setting { name: "displaced_work", kind: Kind::Switch, default: "false" },
    Setting {
        name: "lab",
        kind: Kind::Word(is_place, "best, root, user, loopback, sim"),
        default: "best",
    },
    Setting { name: "out", kind: Kind::Path, default: "stend-out/RUN" },
    Setting { name: "quick", kind: Kind::Switch, default: "false" },
    Setting { name: "store", kind: Kind::Path, default: "stend/lab.stend in the state directory" },
];

/// A setting that somebody has said something about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Which.
    pub name: &'static str,
    /// As an option takes it.
    pub value: String,
    /// Who says so: a variable, or a file with its line.
    pub origin: String,
}

/// What environment and file say, and which files were passed over.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// At most one a setting; the environment before the file.
    pub said: Vec<Said>,
    /// Files that were not believed, and why.
    pub passed_over: Vec<String>,
}

impl Settings {
    /// What was said about a setting.
    pub fn of(&self, name: &str) -> Option<&Said> {
        self.said.iter().find(|said| said.name == name)
    }
}

/// Whether a command, or one below it, follows any setting but the colour, which all have.
pub fn concern(command: &Command) -> bool {
    let is = |arg: &Arg| SETTINGS.iter().any(|s| s.name != "color" && arg.get_id() == s.name);
    command.get_arguments().any(is) || command.get_subcommands().any(concern)
}

/// Reads environment and file; without a directory, the file of the user only.
///
/// # Errors
/// A value that cannot be, an unknown key, a file that cannot be read.
pub fn gather(directory: Option<&Path>) -> Result<Settings, CliError> {
    let mut found = Settings::default();
    for setting in &SETTINGS {
        let name = variable(setting.name);
        if let Some(value) = std::env::var(&name).ok().filter(|v| !v.is_empty()) {
            found.said.push(said(setting, &value, name)?);
        }
    }
    if let Some(path) = file(directory, &mut found.passed_over) {
        let fail = |source| CliError::NoSettings { path: path.clone(), source };
        let text = std::fs::read_to_string(&path).map_err(fail)?;
        for said in read(&text, &path)? {
            if !found.said.iter().any(|s| s.name == said.name) {
                found.said.push(said);
            }
        }
    }
    Ok(found)
}

/// Name of the variable of a setting.
pub fn variable(name: &str) -> String {
    format!("STEND_{}", name.to_uppercase())
}

/// `stend.toml` in this directory or the nearest one above it, else that of the user. A file of
/// another user is passed over: whoever may write to `/tmp` must not choose where root writes.
fn file(directory: Option<&Path>, passed_over: &mut Vec<String>) -> Option<PathBuf> {
    let above = directory.into_iter().flat_map(Path::ancestors).map(|d| d.join("stend.toml"));
    let own = store::of_user("XDG_CONFIG_HOME", ".config").map(|d| d.join("stend/stend.toml"));
    let user = std::fs::metadata("/proc/self").map(|m| m.uid()).ok();
    let behind = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
    above.chain(own).find(|path| {
        let Ok(meta) = std::fs::metadata(path) else { return false };
        let uid = Some(meta.uid());
        let ours = uid == Some(0) || uid == user || user == Some(0) && uid == behind;
        let closed = meta.mode() & 0o002 == 0;
        if meta.is_file() && ours && closed {
            return true;
        }
        let why = if closed { "belongs to another user" } else { "may be written by everybody" };
        passed_over.push(format!("{}: {why}", path.display()));
        false
    })
}

/// The settings of a file.
fn read(text: &str, path: &Path) -> Result<Vec<Said>, CliError> {
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let fail =
        |at: usize, what: String| CliError::BadSettings { path: path.into(), line: line(at), what };
    let table = DeTable::parse(text)
        .map_err(|e| fail(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
    let names: Vec<&str> = SETTINGS.iter().map(|s| s.name).collect();
    let mut all = Vec::new();
    for (key, value) in table.get_ref() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        let Some(setting) = SETTINGS.iter().find(|s| s.name == name) else {
            return Err(fail(at, format!("unknown key '{name}'; {}", remedy(name, &names))));
        };
        let word = match (value.get_ref(), setting.kind) {
            (DeValue::Boolean(on), Kind::Switch) => on.to_string(),
            (DeValue::String(word), Kind::Word(..)) => word.clone().into_owned(),
            (DeValue::String(word), Kind::Path) => {
                let below = path.parent().unwrap_or_else(|| Path::new(""));
                below.join(word.as_ref()).display().to_string()
            }
            _ => return Err(fail(at, format!("{name} {}", wanted(setting)))),
        };
        all.push(said(setting, &word, format!("{}:{}", path.display(), line(at)))?);
    }
    Ok(all)
}

fn said(setting: &Setting, value: &str, origin: String) -> Result<Said, CliError> {
    let value = match setting.kind {
        Kind::Switch => match value {
            "1" | "true" | "yes" | "on" => "true",
            "0" | "false" | "no" | "off" => "false",
            _ => return Err(refused(setting, value, origin)),
        },
        Kind::Word(known, _) if !known(value) => return Err(refused(setting, value, origin)),
        Kind::Path | Kind::Word(..) => value,
    };
    Ok(Said { name: setting.name, value: value.into(), origin })
}

fn refused(setting: &Setting, value: &str, origin: String) -> CliError {
    let what = format!("{} = '{value}', but it {}", setting.name, wanted(setting));
    CliError::BadSetting { origin, what }
}

fn wanted(setting: &Setting) -> String {
    match setting.kind {
        Kind::Switch => "is true or false".into(),
        Kind::Path => "is a path, as text".into(),
        Kind::Word(_, words) => format!("is one of {words}"),
    }
}

/// The command line with what was said as its defaults, on every verb that has such an option.
/// Every switch also takes `=true` and `=false`, so that a flag can take back what a file says.
pub fn apply(mut command: Command, settings: &Settings) -> Command {
    for setting in &SETTINGS {
        if command.get_arguments().any(|arg| arg.get_id() == setting.name) {
            command = command.mut_arg(setting.name, |arg| changed(arg, setting, settings));
        }
    }
    let verbs: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    for verb in verbs {
        command = command.mut_subcommand(verb, |verb| apply(verb, settings));
    }
    command
}

fn changed(arg: Arg, setting: &Setting, settings: &Settings) -> Arg {
    let arg = match setting.kind {
        Kind::Switch => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .default_value("false")
            .hide_default_value(true)
            .hide_possible_values(true)
            .value_name("BOOL"),
        _ => arg,
    };
    match settings.of(setting.name) {
        // As a setting it is the parent of every run's directory, see `files::set_parent`.
        Some(said) if setting.name != "out" => arg.default_value(said.value.clone()),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Said>, String> {
        read(text, Path::new("/home/me/stend.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_file_is_read_with_the_line_of_every_setting() {
        let said = of("lab = \"sim\"\n\nquick = true\nstore = \"a/b.stend\"\n").unwrap();
        let row = |name: &str| said.iter().find(|s| s.name == name).unwrap();
        assert_eq!(row("lab").origin, "/home/me/stend.toml:1");
        assert_eq!(
            (row("quick").value.as_str(), row("store").value.as_str()),
            ("true", "/home/me/a/b.stend")
        );
        assert_eq!(row("quick").origin, "/home/me/stend.toml:3");
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line_and_the_nearest_name() {
        for (text, words) in [
            (
                "lab = \"sim\"\nstor = \"x\"",
                "stend.toml, line 2: unknown key 'stor'; did you mean 'store'?",
            ),
            ("quick = \"yes\"", "stend.toml, line 1: quick is true or false"),
            ("lab = \"moon\"", "stend.toml:1: lab = 'moon', but it is one of best, root"),
            ("lab = ", "stend.toml, line 1: "),
        ] {
            let said = of(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn names_are_sorted_and_each_is_an_option_of_some_verb() {
        assert!(SETTINGS.is_sorted_by(|a, b| a.name < b.name));
        let command = <super::super::Cli as clap::CommandFactory>::command();
        let verbs = || std::iter::once(&command).chain(command.get_subcommands());
        for setting in &SETTINGS {
            let known = |c: &Command| c.get_arguments().any(|a| a.get_id() == setting.name);
            assert!(verbs().any(known), "{}", setting.name);
        }
    }

    #[test]
    fn what_was_said_is_a_default_and_a_flag_takes_it_back() {
        let quick = |words: &[&str], said: &str| {
            let said = Said { name: "quick", value: said.into(), origin: "test".into() };
            let settings = Settings { said: vec![said], passed_over: Vec::new() };
            let command = apply(<super::super::Cli as clap::CommandFactory>::command(), &settings);
            let matches = command.try_get_matches_from(words).unwrap();
            *matches.subcommand().unwrap().1.get_one::<bool>("quick").unwrap()
        };
        assert!(quick(&["stend", "run", "aa"], "true"));
        assert!(!quick(&["stend", "run", "--quick=false", "aa"], "true"));
        assert!(quick(&["stend", "run", "--quick", "aa"], "false"));
        assert!(!quick(&["stend", "run", "aa"], "false"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::with_cases(256)
        })]

        #[test]
        fn no_text_is_a_panic_and_every_setting_is_one_of_the_list(
            text in proptest::prop_oneof![
                proptest::prelude::any::<String>(),
                "((lab|quick|store|color|stor) ?= ?(true|\"sim\"|\"a/b\"|3|\\[)\n?){0,4}",
            ],
        ) {
            match of(&text) {
                Ok(said) => proptest::prop_assert!(
                    said.iter().all(|one| SETTINGS.iter().any(|s| s.name == one.name))
                ),
                Err(why) => proptest::prop_assert!(why.contains("stend.toml"), "{}", why),
            }
        }
    }
}
