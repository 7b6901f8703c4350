//! Knows how what the doctor found is written for a person, in so many columns.
//!
//! Must not know what any of it means.

use super::Findings;
use super::forecast::Test;
use super::items::Item;
use crate::cli::invoked;
use rig::factor::FACTOR;
use rig::lab::capability::State;
use std::fmt::Write as _;

/// Columns of a name, and of a state after it.
const NAME: usize = 24;
const STATE: usize = 10;
/// Columns of a test, and of the answer in each place.
const TEST: usize = 28;
const ANSWER: usize = 10;

/// All of it as text.
pub fn show(findings: &Findings, columns: usize) -> String {
    let mut page = Page { text: String::new(), columns };
    let factor = |item: &&Item| item.found.name.starts_with(FACTOR);
    let used = |item: &&Item| item.effect.is_some() && !factor(item);
    let fine = |item: &&Item| item.found.state == State::Ok;
    let items = || findings.items.iter();
    page.head("Missing, or less than it could be");
    items().filter(|i| used(i) && !fine(i)).for_each(|item| page.item(item, true));
    page.head("There");
    items().filter(|i| used(i) && fine(i)).for_each(|item| page.item(item, true));
    page.head("Factors: a plan that sets one which is not ok is refused");
    items().filter(factor).for_each(|item| page.item(item, false));
    page.head("Recorded only: nothing in this build uses them");
    items().filter(|i| !used(i) && !factor(i)).for_each(|item| page.item(item, false));
    page.tests(&findings.tests);
    page.head("Left by runs that were killed");
    for line in &findings.left {
        page.wrapped(line, 0);
    }
    match findings.left.is_empty() {
        true => page.wrapped("nothing is left", 0),
        false => page.wrapped(&format!("fix: {} doctor --clean", invoked()), 0),
    }
    page.head("In short");
    page.wrapped(&format!("You can trust: {}.", or_nothing(&trusted(findings))), 0);
    page.wrapped(&format!("You cannot: {}.", or_nothing(&doubted(findings))), 0);
    if !findings.can_measure() {
        page.wrapped("Nothing can be measured here.", 0);
    }
    page.text
}

fn or_nothing(all: &[String]) -> String {
    if all.is_empty() { "nothing more".into() } else { all.join("; ") }
}

/// What may be trusted here, in phrases.
pub fn trusted(findings: &Findings) -> Vec<String> {
    let mut all = Vec::new();
    let factors = names(findings, |state| state == State::Ok);
    if !factors.is_empty() {
        all.push(format!("that a level took, for {}", factors.join(", ")));
    }
    let fine = findings.items.iter().filter(|i| i.found.state == State::Ok);
    all.extend(fine.map(|i| i.trust).filter(|t| !t.is_empty()).map(str::to_owned));
    all
}

/// What may not be trusted here, in phrases.
pub fn doubted(findings: &Findings) -> Vec<String> {
    let less = findings.items.iter().filter(|i| i.found.state != State::Ok);
    let mut all: Vec<String> =
        less.map(|i| i.doubt).filter(|d| !d.is_empty()).map(str::to_owned).collect();
    let factors = names(findings, |state| state != State::Ok);
    if !factors.is_empty() {
        all.push(format!("plans that set {}: they are refused", factors.join(", ")));
    }
    all
}

/// Factors whose state passes.
fn names(findings: &Findings, passes: impl Fn(State) -> bool) -> Vec<&str> {
    let items = findings.items.iter().filter(|item| passes(item.found.state));
    items.filter_map(|item| item.found.name.strip_prefix(FACTOR)).collect()
}

struct Page {
    text: String,
    columns: usize,
}

impl Page {
    fn head(&mut self, title: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{gap}{title}\n{}", "-".repeat(title.len()));
    }

    /// Name, state, evidence and what would help; its effect where the head does not say it.
    fn item(&mut self, item: &Item, with_effect: bool) {
        let found = &item.found;
        let name = found.name.strip_prefix(FACTOR).unwrap_or(&found.name);
        let first = format!("{:<NAME$}{:<STATE$}", format!("{name} "), found.state.name());
        self.hung(&first, &found.evidence);
        if let Some(effect) = item.effect.filter(|_| with_effect) {
            self.hung("", &format!("effect: {effect}"));
        }
        // Nothing is gained by what nothing uses.
        if let Some(fix) = found.fix.as_ref().filter(|_| item.effect.is_some()) {
            self.hung("", &format!("fix: {fix}"));
        }
    }

    /// A row a test, a column a place; reasons are numbered and follow.
    fn tests(&mut self, tests: &[Test]) {
        self.head("Tests: which of this build run here, by place");
        let mut labs: Vec<&str> = Vec::new();
        let mut ids: Vec<&str> = Vec::new();
        // Reasons that differ in one name only are one; the row says which name.
        let mut reasons: Vec<(String, &str)> = Vec::new();
        for test in tests {
            push_new(&mut labs, test.lab);
            push_new(&mut ids, &test.id);
            if let Some(why) = &test.reason {
                let form = without_name(why);
                match reasons.iter_mut().find(|(known, _)| *known == form) {
                    // From now on shown without the name.
                    Some((_, text)) if *text != why.as_str() => *text = "",
                    Some(_) => {}
                    None => reasons.push((form, why)),
                }
            }
        }
        let cells = |cells: Vec<String>| -> String {
            cells.iter().map(|cell| format!("{cell:<ANSWER$}")).collect()
        };
        let heads = cells(labs.iter().map(|lab| (*lab).to_owned()).collect());
        let _ = writeln!(self.text, "{}", format!("{:<TEST$}{heads}", "").trim_end());
        for id in ids {
            let answer = |lab: &&str| {
                let test = tests.iter().find(|t| t.id == id && t.lab == *lab);
                let number = |why: &str| {
                    let form = without_name(why);
                    reasons.iter().position(|(known, _)| *known == form).unwrap_or(0) + 1
                };
                match test.map(|t| &t.reason) {
                    None => "-".to_owned(),
                    Some(None) => "yes".to_owned(),
                    Some(Some(why)) => format!("no ({})", number(why)),
                }
            };
            // A name that is too long still stands apart from its answers.
            let row =
                format!("{:<TEST$}{}", format!("{id} "), cells(labs.iter().map(answer).collect()));
            let _ = writeln!(self.text, "{}", row.trim_end());
        }
        for (number, (form, text)) in reasons.iter().enumerate() {
            let why = if text.is_empty() { form } else { *text };
            self.wrapped(&format!("({}) {why}", number + 1), 4);
        }
    }

    /// A text beside the first columns.
    fn hung(&mut self, first: &str, text: &str) {
        let indent = NAME + STATE;
        // A name and a state that are too long have a line of their own.
        if first.len() >= indent {
            let _ = writeln!(self.text, "{}", first.trim_end());
            return self.hung("", text);
        }
        for (number, line) in wrap(text, self.columns - indent).iter().enumerate() {
            let first = if number == 0 { first } else { "" };
            let _ = writeln!(self.text, "{first:<indent$}{line}");
        }
    }

    fn wrapped(&mut self, text: &str, later: usize) {
        let lead = text.len() - text.trim_start().len();
        let lines = wrap(text.trim_start(), self.columns - later.max(lead));
        for (number, line) in lines.iter().enumerate() {
            let indent = if number == 0 { lead } else { lead.max(later) };
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
    }
}

/// A reason with the first name in quotes left open.
fn without_name(why: &str) -> String {
    let mut parts = why.splitn(3, '\'');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(_), Some(after)) => format!("{before}'...'{after}"),
        _ => why.to_owned(),
    }
}

fn push_new<'t>(all: &mut Vec<&'t str>, one: &'t str) {
    if !all.contains(&one) {
        all.push(one);
    }
}

/// Lines of at most `width` columns, broken at blanks; a longer word is broken where it must be.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + rest.len() > width {
            lines.push(std::mem::take(&mut line));
        }
        while rest.len() > width {
            lines.push(rest.drain(..width).collect());
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(rest);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_asked_and_no_word_is_lost() {
        let long =
            "/sys/devices/system/cpu/cpufreq/a/very/long/path/that/does/not/fit is not there";
        for width in [12, 46, 86] {
            let lines = wrap(long, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:?}");
            let joined: String = lines.concat().split_whitespace().collect();
            assert_eq!(joined, long.split_whitespace().collect::<String>());
        }
        assert_eq!(wrap("", 10), [""]);
    }
}
