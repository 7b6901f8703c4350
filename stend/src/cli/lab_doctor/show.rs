//! Knows how what was found on all machines is written for a person, a block a machine.
//!
//! Must not know what any of it means for a run.

use super::judge::{self, PLACE};
use super::{Answer, Looked, State};
use crate::cli::doctor::wrap;
use rig::factor::FACTOR;
use rig::lab::capability::{self, Capability};
use rig::lab::machine::NamedAdapter;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Columns before a row's text: two blanks and its head.
const HEAD: usize = 12;

/// All blocks, and how many machines can take part.
pub fn show(all: &[Looked], columns: usize) -> String {
    let mut page = Page { text: String::new(), columns };
    for one in all {
        page.block(one);
    }
    let fit = all.iter().filter(|one| one.problems().is_empty()).count();
    let (every, verb) = (all.len(), if judge::can_measure(all) { "can" } else { "cannot" });
    let said = format!("{fit} of {every} machines can take part in a run; the lab {verb} measure");
    page.text.push_str(&said);
    page.text.push('\n');
    page.text
}

struct Page {
    text: String,
    columns: usize,
}

impl Page {
    fn block(&mut self, one: &Looked) {
        let roles = if one.roles.is_empty() { "no role".into() } else { one.roles.join(", ") };
        let (name, address, word) = (&one.name, &one.address, standing(one));
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{name} ({address}; {roles}): {word}");
        self.rows("problem", &one.problems());
        self.rows("remark", &one.remarks());
        if let Ok(answer) = &one.answer {
            self.answer(one, answer);
        }
        self.text.push('\n');
    }

    fn answer(&mut self, one: &Looked, answer: &Answer) {
        self.row("agent", &agent(answer));
        if let Some([offset, bound]) = answer.clock() {
            // To the microsecond, below which no exchange over a network tells it.
            let text = format!("{:+.6} s from ours, within {bound}", offset.value);
            self.row("clock", &text);
        }
        let stand = answer.places().filter(|place| place.state == capability::State::Ok);
        let places: Vec<&str> = stand.filter_map(|p| p.name.strip_prefix(PLACE)).collect();
        self.row("places", &or_none(&places.join(", ")));
        for (link, named) in one.adapters() {
            self.row("adapter", &format!("{link}: {}", adapter(named)));
        }
        self.row("control", &control(one, answer));
        self.rows("factors", &factors(&answer.examined.capabilities));
        self.rows("left", &answer.examined.left);
    }

    /// Rows under one head.
    fn rows(&mut self, head: &str, all: &[String]) {
        for (at, text) in all.iter().enumerate() {
            self.row(if at == 0 { head } else { "" }, text);
        }
    }

    fn row(&mut self, head: &str, text: &str) {
        let mut head = format!("  {head}");
        for line in wrap(text, self.columns - HEAD) {
            let _ = writeln!(self.text, "{head:<HEAD$}{line}");
            head.clear();
        }
    }
}

fn standing(one: &Looked) -> String {
    let word = match one.state() {
        State::Answers if one.problems().is_empty() => return "can take part in a run".into(),
        State::Answers => return "answers, cannot take part in a run".into(),
        State::NoRoute => "no route",
        State::Refused => "refused",
        State::Silent => "silent",
        State::NotTrusted => "not trusted",
        State::OtherVersion => "other version",
        State::Failed => "failed",
    };
    format!("does not answer ({word})")
}

fn or_none(text: &str) -> String {
    if text.is_empty() { "none".into() } else { text.into() }
}

fn agent(answer: &Answer) -> String {
    let (version, lacks) = (&answer.examined.version, answer.lacks());
    let user = match answer.examined.user {
        0 => "as root".into(),
        user => format!("as user {user}, not root"),
    };
    let lacks =
        if lacks.is_empty() { String::new() } else { format!("; lacks {}", lacks.join(", ")) };
    format!("stend {version} {user}{lacks}")
}

fn adapter(named: &NamedAdapter) -> String {
    let written = &named.written;
    let Some(found) = &named.found else { return format!("{written} is not there") };
    let name = &found.name;
    let called = if name == written { name.clone() } else { format!("{written} is {name}") };
    let driver = found.driver.as_deref().unwrap_or("driver unknown");
    let rate = match (found.speed_now, found.speed_best) {
        (Some(now), _) => format!("{now} now"),
        (None, Some(best)) => format!("{best} at best"),
        (None, None) => "no line rate".into(),
    };
    let link = match (named.up, found.has_carrier()) {
        (_, true) => "link up",
        (true, false) => "no carrier",
        (false, false) => "off until a run",
    };
    let lacking = match &named.lacking {
        None => "; which factors its driver has is hidden from this user".into(),
        Some(lacking) if lacking.is_empty() => String::new(),
        Some(lacking) => format!("; its driver lacks {}", lacking.join(", ")),
    };
    format!("{called}, {driver}, {rate}, {link}{lacking}")
}

fn control(one: &Looked, answer: &Answer) -> String {
    let over = &answer.examined.control;
    let shared = one.shared();
    let shared = match shared.as_slice() {
        [] => String::new(),
        links => format!(", which carries link {} too", links.join(", ")),
    };
    match over.as_slice() {
        [] if answer.clock_ns.is_none() => "of this machine itself".into(),
        [] => "its adapter is not known: the address is translated on the way".into(),
        [name, below @ ..] => {
            let on =
                if below.is_empty() { String::new() } else { format!(" on {}", below.join(", ")) };
            format!("over {name}{on}{shared}")
        }
    }
}

/// What can be set, what would be with a command, and what cannot, with the reason.
fn factors(all: &[Capability]) -> Vec<String> {
    let own = || all.iter().filter_map(|one| Some((one.name.strip_prefix(FACTOR)?, one)));
    let fine = own().filter(|(_, one)| one.state == capability::State::Ok).count();
    let mut rows = vec![format!("{fine} of {} of the machine can be set", own().count())];
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, one) in own().filter(|(_, one)| one.state != capability::State::Ok) {
        let why = match &one.fix {
            Some(fix) => format!("with `{fix}`"),
            None => reason(name, &one.evidence).to_owned(),
        };
        reasons.entry(why).or_default().push(name);
    }
    rows.extend(reasons.iter().map(|(why, names)| format!("{why}: {}", names.join(", "))));
    rows
}

/// Why a factor cannot be set, without what differs in the reasons of several: its name and file.
fn reason<'e>(name: &str, evidence: &'e str) -> &'e str {
    let here = format!("factor '{name}' cannot be set here: ");
    let said = evidence.split_once(&here).map_or(evidence, |(_, why)| why);
    let said = said.strip_suffix("; leave it out of the plan").unwrap_or(said);
    match said.split_once(' ') {
        Some(_) if said.ends_with("is not there") => "no such file",
        Some((path, rest)) if path.starts_with('/') => rest.strip_prefix("is ").unwrap_or(said),
        _ => said,
    }
}
