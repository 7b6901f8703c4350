//! Knows that a machine joins by a code that counts once and for its time, and that nobody else
//! does.

use super::code::Code;
use super::{Agent, Conductor, Invite, Register, TrustError, fingerprint, join};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A directory that goes with the test.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-trust-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A new lab.
    pub(crate) fn lab(&self, name: &str) -> Conductor {
        Conductor::init(&self.at(name)).unwrap()
    }

    /// A machine that has joined a lab.
    pub(crate) fn joined(&self, lab: &Conductor, name: &str) -> Agent {
        let (invite, path) = (invite(lab, name), self.at(name));
        let code = invite.code();
        let agent = thread::spawn(move || join(&code, &path, &mut |_| ()));
        invite.wait(&mut |_| true, &mut |_| ()).unwrap();
        agent.join().unwrap().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const LONG: Duration = Duration::from_secs(60);

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn invite(lab: &Conductor, name: &str) -> Invite {
    Invite::open(lab, name, any(), LONG).unwrap()
}

/// Waits for the use of an invitation in a thread that ends with the process.
fn wait(invite: &Arc<Invite>, agreed: bool) -> mpsc::Receiver<Result<(), TrustError>> {
    let (invite, (sender, ended)) = (Arc::clone(invite), mpsc::channel());
    thread::spawn(move || sender.send(invite.wait(&mut |_| agreed, &mut |_| ())));
    ended
}

fn refused(joined: Result<Agent, TrustError>, word: &str) {
    let said = joined.unwrap_err().to_string();
    assert!(said.contains(word) && said.contains("stend lab invite"), "{said}");
}

#[test]
fn a_machine_that_joins_shows_the_words_of_its_conductor_and_keeps_its_part() {
    let place = Place::new("joins");
    let lab = place.lab("lab");
    let (invite, path) = (invite(&lab, "big-1"), place.at("agent"));
    let code = invite.code();
    let other = thread::spawn(move || {
        let mut shown = String::new();
        let agent = join(&code, &path, &mut |words| shown = words.into()).unwrap();
        (agent, shown)
    });
    let mut shown = String::new();
    let agree = &mut |words: &str| {
        shown = words.into();
        true
    };
    invite.wait(agree, &mut |_| ()).unwrap();
    let (agent, theirs) = other.join().unwrap();
    assert_eq!(shown, theirs);
    assert_eq!(shown.split(' ').count(), 6);
    let register = lab.register().unwrap();
    assert_eq!((agent.name.as_str(), &agent.lab), ("big-1", &register.lab));
    assert_eq!((register.hosts[0].name.as_str(), register.hosts.len()), ("big-1", 1));
    let again = Agent::open(&place.at("agent")).unwrap();
    assert_eq!((again.name, again.root, again.identity), (agent.name, agent.root, agent.identity));
    for name in ["lab", "agent"] {
        for entry in fs::read_dir(place.at(name)).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        }
        let mode = fs::metadata(place.at(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    assert!(!place.at("agent").join("ca.key").exists());
}

#[test]
fn a_code_that_was_used_is_refused_while_somebody_waits_and_after() {
    let place = Place::new("twice");
    let lab = place.lab("lab");
    let invite = Arc::new(invite(&lab, "one"));
    let code = invite.code();
    let first = wait(&invite, true);
    join(&code, &place.at("a"), &mut |_| ()).unwrap();
    first.recv().unwrap().unwrap();
    let _second = wait(&invite, true);
    refused(join(&code, &place.at("b"), &mut |_| ()), "was used before");
    assert_eq!(lab.register().unwrap().hosts.len(), 1);

    let gone = self::invite(&lab, "two");
    let code = gone.code();
    drop(gone);
    refused(join(&code, &place.at("b"), &mut |_| ()), "used or has ended");
}

#[test]
fn a_code_that_has_ended_is_refused() {
    let place = Place::new("ended");
    let lab = place.lab("lab");
    let invite = Arc::new(invite(&lab, "late"));
    lab.change(|register| {
        register.invitations[0].ends_s = 1;
        Ok(())
    })
    .unwrap();
    let _waits = wait(&invite, true);
    refused(join(&invite.code(), &place.at("a"), &mut |_| ()), "the code has ended");
    assert!(lab.register().unwrap().hosts.is_empty());

    let short = Invite::open(&lab, "late", any(), Duration::ZERO).unwrap();
    let said = short.wait(&mut |_| true, &mut |_| ()).unwrap_err().to_string();
    assert!(said.contains("in time") && said.contains("stend lab invite"), "{said}");
}

#[test]
fn a_person_who_sees_other_words_signs_nothing_and_the_code_is_used_up() {
    let place = Place::new("declined");
    let lab = place.lab("lab");
    let invite = Arc::new(invite(&lab, "no"));
    let ended = wait(&invite, false);
    refused(join(&invite.code(), &place.at("a"), &mut |_| ()), "nothing was signed");
    assert!(matches!(ended.recv().unwrap(), Err(TrustError::Declined)));
    let register = lab.register().unwrap();
    assert!(register.hosts.is_empty() && register.invitations[0].used);
    assert!(matches!(Agent::open(&place.at("a")), Err(TrustError::NotJoined { .. })));
}

#[test]
fn a_secret_that_the_lab_does_not_know_or_has_for_another_is_refused() {
    let place = Place::new("secret");
    let lab = place.lab("lab");
    let (ours, theirs) = (Arc::new(invite(&lab, "ours")), invite(&lab, "theirs"));
    let _waits = wait(&ours, true);
    let ours: Code = ours.code().parse().unwrap();
    let with = |secret| Code { secret, ..ours.clone() }.to_string();
    let other = theirs.code().parse::<Code>().unwrap().secret;
    for (secret, word) in [([7; 16], "no such code"), (other, "another machine")] {
        refused(join(&with(secret), &place.at("a"), &mut |_| ()), word);
    }
    assert!(lab.register().unwrap().invitations.iter().all(|invitation| !invitation.used));
    // Whoever has no code did not use up that of others.
    join(&ours.to_string(), &place.at("a"), &mut |_| ()).unwrap();
}

#[test]
fn whoever_answers_must_be_the_lab_of_the_code() {
    let place = Place::new("answers");
    let (lab, other) = (place.lab("lab"), place.lab("other"));
    let waits = Arc::new(invite(&other, "a"));
    let _waits = wait(&waits, true);
    let mut code: Code = waits.code().parse().unwrap();
    code.root = fingerprint(&lab.root().unwrap());
    refused(join(&code.to_string(), &place.at("a"), &mut |_| ()), "not the lab of the code");
    assert!(!other.register().unwrap().invitations[0].used, "it was not told the secret");
}

#[test]
fn a_host_that_is_removed_stays_in_the_list_and_its_name_is_free() {
    let place = Place::new("removed");
    let lab = place.lab("lab");
    place.joined(&lab, "a");
    let taken = Invite::open(&lab, "a", any(), LONG).unwrap_err().to_string();
    assert!(taken.contains("stend lab remove a"), "{taken}");
    lab.remove("a").unwrap();
    let said = lab.remove("a").unwrap_err().to_string();
    assert!(said.contains("no host 'a'; it has none"), "{said}");
    fs::remove_dir_all(place.at("a")).unwrap();
    place.joined(&lab, "a");
    let removed = |host: &super::Host| host.removed_s.is_some();
    let hosts = lab.register().unwrap().hosts;
    assert_eq!(hosts.iter().map(removed).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_directory_that_is_taken_open_or_empty_is_refused_with_the_remedy() {
    let place = Place::new("directory");
    let none = Conductor::open(&place.at("lab")).unwrap_err().to_string();
    assert!(none.contains("stend lab init"), "{none}");
    let none = Agent::open(&place.at("lab")).unwrap_err().to_string();
    assert!(none.contains("stend lab invite NAME"), "{none}");
    let lab = place.lab("lab");
    let taken = Conductor::init(&place.at("lab")).unwrap_err().to_string();
    assert!(taken.contains("--dir"), "{taken}");
    let code = invite(&lab, "a").code();
    let taken = join(&code, &place.at("lab"), &mut |_| ()).unwrap_err().to_string();
    assert!(taken.contains("directory of a lab already"), "{taken}");
    for path in [place.at("lab/lab.json"), place.at("lab")] {
        let (before, open) = (fs::metadata(&path).unwrap().permissions(), 0o750);
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let said = Conductor::open(&place.at("lab")).and_then(|lab| lab.register()).unwrap_err();
        assert!(said.to_string().contains("chmod go="), "{said}");
        fs::set_permissions(&path, before).unwrap();
    }
}

#[test]
fn names_that_cannot_be_and_lists_of_another_form_are_refused() {
    let place = Place::new("names");
    let lab = place.lab("lab");
    for name in ["", "A", "a b", "-a", "../a", &"a".repeat(64)] {
        let said = Invite::open(&lab, name, any(), LONG).unwrap_err().to_string();
        assert!(said.contains("no name of a host"), "{said}");
    }
    let text = fs::read_to_string(place.at("lab/lab.json")).unwrap();
    assert!(Register::of(text.as_bytes()).is_ok());
    let said = Register::of(text.replace("\"form\": 1", "\"form\": 2").as_bytes()).unwrap_err();
    assert!(said.contains("form 2"), "{said}");
}
