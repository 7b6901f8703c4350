//! Knows how a machine of a test joins a lab: in a namespace, by the commands that a person types.

use super::kill::{Place, STEND};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

/// A machine that joins: its name, its namespace, and the directory for its key.
pub struct Joiner<'j> {
    pub name: &'j str,
    pub namespace: &'j str,
    pub dir: &'j str,
}

/// Invites a machine at an address of the conductor's namespace and joins it: what `stend agent
/// join` gave, and what `stend lab invite` said.
pub fn join(
    place: &Place,
    (conductor, address): (&str, &str),
    of: &Joiner<'_>,
) -> (Output, String) {
    let invite = [STEND, "lab", "invite", of.name, "--address", address, "--yes", "--dir", "lab"];
    let invite = inside(conductor, &invite);
    let mut command = Command::new(&invite[0]);
    command.args(&invite[1..]).current_dir(&place.path).stdout(Stdio::piped());
    let mut invites = command.spawn().expect("it starts");
    let mut lines = BufReader::new(invites.stdout.take().expect("a pipe")).lines();
    let mut said = String::new();
    let code = loop {
        let line = lines.next().expect("a line with the code").expect("text");
        said.push_str(&line);
        if let Some((_, code)) = line.split_once("agent join ") {
            break code.to_owned();
        }
    };
    let words = [STEND, "agent", "join", &code, "--dir", of.dir];
    let joined = run(place, &inside(of.namespace, &words));
    for line in lines {
        said.push('\n');
        said.push_str(&line.expect("text"));
    }
    assert!(invites.wait().expect("it ends").success(), "{said}");
    (joined, said)
}

/// Words that run a program in a namespace.
pub fn inside<'w>(namespace: &'w str, words: &[&'w str]) -> Vec<String> {
    let enter = ["nsenter".to_owned(), format!("--net=/run/netns/{namespace}"), "env".to_owned()];
    enter.into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect()
}

/// Runs a program to its end.
pub fn run(place: &Place, words: &[String]) -> Output {
    place.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What a program said of its errors.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Carries out lines of `ip`.
pub fn ip(lines: &[String]) {
    for line in lines {
        let made = Command::new("ip").args(line.split(' ')).status().expect("iproute2");
        assert!(made.success(), "ip {line}");
    }
}
