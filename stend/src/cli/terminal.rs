//! Knows how a person's terminal wants to be written to: colour, width, whether lines may be
//! overwritten, and how much is to be said.

use clap::ValueEnum;
use std::io::{self, IsTerminal as _, StdoutLock, Write};
use std::sync::OnceLock;
use terminal_size::{Width, terminal_size_of};

/// Columns where nobody says how many there are.
pub const COLUMNS: u16 = 80;
/// Narrower and wider than this no text is set.
const NARROWEST: u16 = 40;
const WIDEST: u16 = 120;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` or TERM=dumb say otherwise; `CLICOLOR_FORCE` always
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Colour> for clap::ColorChoice {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Auto => Self::Auto,
            Colour::Always => Self::Always,
            Colour::Never => Self::Never,
        }
    }
}

/// How the person wants to be spoken to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Colour.
    pub colour: Colour,
    /// Say nothing but results and failures.
    pub quiet: bool,
    /// Log every attempt at a trial.
    pub verbose: bool,
}

static MANNER: OnceLock<Manner> = OnceLock::new();

/// Sets the manner of this process, once, before anything is said.
pub fn set_manner(manner: Manner) {
    // The first word holds.
    let _ = MANNER.set(manner);
}

/// The manner of this process.
pub fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Standard output. Whoever reads it may have seen enough (`| head -1`): what is written after that
/// is dropped without a word, and the exit status is still that of the work.
#[derive(Debug)]
pub struct Out(StdoutLock<'static>);

/// Standard output, for a result.
pub fn out() -> Out {
    Out(io::stdout().lock())
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        quietly(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        quietly(self.0.flush(), ())
    }
}

fn quietly<T>(written: io::Result<T>, as_if: T) -> io::Result<T> {
    match written {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(as_if),
        written => written,
    }
}

/// What the environment says; a variable that is empty says nothing.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether standard error takes colours.
pub fn colours() -> bool {
    coloured(manner().colour, &set, std::io::stderr().is_terminal())
}

/// Whether standard output takes colours.
pub fn out_colours() -> bool {
    coloured(manner().colour, &set, std::io::stdout().is_terminal())
}

/// Whether standard output is a terminal on which any place can be written to.
pub fn is_screen() -> bool {
    std::io::stdout().is_terminal() && set("TERM").is_some_and(|term| term != "dumb")
}

/// Whether lines of standard error may be overwritten.
pub fn overwrites() -> bool {
    std::io::stderr().is_terminal() && set("TERM").is_some_and(|term| term != "dumb")
}

/// Whether a text on standard output may have signs that are not ASCII: anywhere but on a terminal
/// whose locale says that it has another character set.
pub fn unicode() -> bool {
    unicode_in(&set, io::stdout().is_terminal())
}

fn unicode_in(set: &dyn Fn(&str) -> Option<String>, terminal: bool) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let utf8 = |locale: String| locale.to_lowercase().replace('-', "").contains("utf8");
    !terminal || locale.is_none_or(utf8)
}

fn coloured(colour: Colour, set: &dyn Fn(&str) -> Option<String>, terminal: bool) -> bool {
    match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto if set("NO_COLOR").is_some() => false,
        Colour::Auto if set("CLICOLOR_FORCE").is_some_and(|force| force != "0") => true,
        Colour::Auto => terminal && set("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// Columns for text on standard output: `COLUMNS`, else those of the terminal, else 80; within
/// 40 to 120.
pub fn columns() -> u16 {
    columns_of(terminal_size_of(std::io::stdout()).map(|(Width(columns), _)| columns))
}

/// The same for standard error.
pub fn error_columns() -> u16 {
    columns_of(terminal_size_of(std::io::stderr()).map(|(Width(columns), _)| columns))
}

fn columns_of(terminal: Option<u16>) -> u16 {
    let named = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|c| *c > 0);
    named.or(terminal).unwrap_or(COLUMNS).clamp(NARROWEST, WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_follow_the_locale_of_the_terminal() {
        let says = |words: &'static [(&str, &str)]| {
            move |name: &str| words.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
        };
        assert!(unicode_in(&says(&[]), true) && unicode_in(&says(&[("LANG", "C")]), false));
        assert!(unicode_in(&says(&[("LANG", "C"), ("LC_ALL", "cs_CZ.UTF-8")]), true));
        assert!(!unicode_in(&says(&[("LANG", "C")]), true));
        assert!(!unicode_in(&says(&[("LANG", "en_US.UTF-8"), ("LC_CTYPE", "POSIX")]), true));
    }

    #[test]
    fn whoever_closes_the_pipe_ends_nothing() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(quietly(Err(broken()), 7).unwrap(), 7);
        assert!(quietly::<()>(Err(io::ErrorKind::StorageFull.into()), ()).is_err());
    }

    #[test]
    fn colour_follows_the_option_then_the_environment_then_the_terminal() {
        let says = |words: &'static [(&str, &str)]| {
            move |name: &str| words.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
        };
        let auto = |words, terminal| coloured(Colour::Auto, &says(words), terminal);
        assert!(auto(&[("TERM", "xterm")], true) && !auto(&[("TERM", "xterm")], false));
        assert!(!auto(&[("TERM", "dumb")], true));
        assert!(!auto(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true));
        assert!(
            auto(&[("CLICOLOR_FORCE", "1")], false) && !auto(&[("CLICOLOR_FORCE", "0")], false)
        );
        assert!(coloured(Colour::Always, &says(&[("NO_COLOR", "1")]), false));
        assert!(!coloured(Colour::Never, &says(&[("CLICOLOR_FORCE", "1")]), true));
    }
}
