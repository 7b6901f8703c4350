//! Machines that are planted: which is worse, what keeps one from a run, and what a person reads.

use super::show::show;
use super::{Answer, Looked, Silence, State, judge};
use desk::plan::LabFile;
use desk::record::Adapter;
use desk::unit::Quantity;
use rig::lab::capability::{Capability, State as Has};
use rig::lab::machine::{Examined, NamedAdapter};

const FILE: &str = r#"
machines.one.address = "here"
machines.two.address = "192.0.2.2:7000"
machines.spare.address = "192.0.2.3:7000"
roles = { sut = "one", clients = ["one", "two"], router = "two" }
links.lan = { one = "eth1", two = "03:00.0" }
"#;

fn machine(name: &str, answer: Result<Answer, Silence>) -> Looked {
    let file = LabFile::read(FILE).unwrap();
    Looked {
        name: name.into(),
        address: file.address(name).unwrap().into(),
        roles: super::roles(&file, name),
        links: super::links(&file, name),
        answer,
    }
}

/// A machine whose agent is root, with one adapter that has a carrier.
fn answer(written: &str) -> Answer {
    let place = |name| Capability::new(name, Has::Ok, "made");
    let found = Adapter {
        name: "eth1".into(),
        driver: Some("e1000e".into()),
        speed_now: Some(Quantity::new(1e9, desk::unit::Unit::BitPerSecond)),
        carrier: Some(true),
        ..Adapter::default()
    };
    let adapter = NamedAdapter {
        written: written.into(),
        found: Some(found),
        up: true,
        refused: None,
        lacking: Some(vec!["eee".into(), "rss".into()]),
    };
    Answer {
        examined: Examined {
            version: "0.2.0".into(),
            user: 0,
            capabilities: ["lab root", "journal of undos", "factor thp"].map(place).into(),
            control: vec!["eth0".into()],
            adapters: vec![adapter],
            left: Vec::new(),
        },
        clock_ns: Some((3_000_000_400, 41_000)),
    }
}

/// The same as an ordinary user, with all that deserves a remark.
fn as_user() -> Answer {
    let mut answer = answer("03:00.0");
    let examined = &mut answer.examined;
    let refused = |name, fix: &str| {
        Capability::new(name, Has::Absent, "not permitted").with_fix(fix.to_owned())
    };
    let here = |name: &str, why: &str| {
        let why = format!("factor '{name}' cannot be set here: {why}; leave it out of the plan");
        Capability::new(&format!("factor {name}"), Has::Absent, why)
    };
    examined.user = 12_345;
    examined.capabilities = vec![
        refused("lab root", "sudo stend agent listen"),
        Capability::new("lab user", Has::Ok, "made"),
        refused("CAP_NET_ADMIN", "sudo stend agent listen"),
        refused("factor thp", "sudo stend agent listen"),
        here("smt", "/sys/smt/control says 'notsupported'"),
        here("turbo", "/sys/a or /sys/b is not there"),
        here("governor", "/sys/c is not there"),
    ];
    examined.control = vec!["eth1.7".into(), "eth1".into()];
    examined.adapters[0].found.as_mut().unwrap().carrier = Some(false);
    examined.adapters[0].refused = Some("eth1.7 stands on it; remove that first".into());
    examined.left = vec!["namespace /run/netns/stend-7-sut without processes".into()];
    answer.clock_ns = Some((-1_000, 2_500_000));
    answer
}

fn silence(state: State) -> Result<Answer, Silence> {
    Err(Silence { state, why: "nothing came back from there".into() })
}

#[test]
fn the_worst_machine_is_first_and_one_without_a_role_decides_nothing() {
    let good = || machine("one", Ok(answer("eth1")));
    let user = || machine("two", Ok(as_user()));
    let spare = || machine("spare", silence(State::NoRoute));
    let mut remarked = machine("two", Ok(answer("eth1")));
    remarked.answer.as_mut().unwrap().clock_ns = Some((0, 2_000_000));
    let mut all = [good(), remarked, user(), spare()];
    judge::worst_first(&mut all);
    let order: Vec<(&str, usize)> =
        all.iter().map(|one| (one.name.as_str(), one.remarks().len())).collect();
    assert_eq!(order, [("spare", 0), ("two", 4), ("two", 1), ("one", 0)]);
    assert!(!judge::can_measure(&all), "two has a role");
    assert!(judge::can_measure(&[good(), spare()]), "spare has none");
    assert!(!judge::can_measure(&[good(), machine("two", silence(State::Refused))]));
}

#[test]
fn a_kernel_without_veth_serves_no_run_and_one_without_macvlan_one_client_an_adapter() {
    let of = |state| {
        let mut one = machine("one", Ok(answer("eth1")));
        let kinds = Capability::new("kinds of link", state, "the kernel lacks it");
        let kinds = kinds.with_fix("modprobe -a it");
        one.answer.as_mut().unwrap().examined.capabilities.push(kinds);
        (one.problems(), one.remarks())
    };
    let words = "kinds of link: the kernel lacks it; run `modprobe -a it` there".to_owned();
    assert_eq!(of(Has::Absent), (vec![words.clone()], Vec::new()));
    assert_eq!(of(Has::Degraded), (Vec::new(), vec![words]));
    assert_eq!(of(Has::Ok), (Vec::new(), Vec::new()));
}

#[test]
fn links_need_root_and_a_journal_and_a_machine_without_links_any_place() {
    let mut user = machine("two", Ok(as_user()));
    let problems = user.problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], "lab root: not permitted; run `sudo stend agent listen` there");
    assert_eq!(problems[1], "link lan: 03:00.0: eth1.7 stands on it; remove that first");
    user.links.clear();
    assert_eq!(user.problems(), Vec::<String>::new(), "a user's namespaces will do");
    user.answer.as_mut().unwrap().examined.capabilities[1].state = Has::Absent;
    assert_eq!(user.problems().len(), 2, "no place at all");
    let mut root = machine("two", Ok(answer("eth1")));
    assert_eq!(root.problems(), Vec::<String>::new());
    root.answer.as_mut().unwrap().examined.capabilities[1].state = Has::Absent;
    assert_eq!(root.problems(), ["journal of undos: made"]);
}

#[test]
fn a_person_reads_a_block_for_each_machine() {
    let mut all = [
        machine("one", Ok(answer("eth1"))),
        machine("two", Ok(as_user())),
        machine("spare", silence(State::NoRoute)),
    ];
    judge::worst_first(&mut all);
    let text = show(&all, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let expected = "\
spare (192.0.2.3:7000; no role): does not answer (no route)
  problem   nothing came back from there

two (192.0.2.2:7000; clients, router): answers, cannot take part in a run
  problem   lab root: not permitted; run `sudo stend agent listen` there
            link lan: 03:00.0: eth1.7 stands on it; remove that first
  remark    control goes over the adapter of link lan; give the machine another
            address for control
            link lan: 03:00.0 has no carrier; is its cable plugged?
            its clock is known within 2500 µs only; is the network busy?
            killed runs left something; run `stend doctor --clean` there
  agent     stend 0.2.0 as user 12345, not root; lacks CAP_NET_ADMIN
  clock     -0.000001 s from ours, within 2.50 ms
  places    user
  adapter   lan: 03:00.0 is eth1, e1000e, 1 Gbit/s now, no carrier; its driver
            lacks eee, rss
  control   over eth1.7 on eth1, which carries link lan too
  factors   0 of 4 of the machine can be set
            /sys/smt/control says 'notsupported': smt
            no such file: turbo, governor
            with `sudo stend agent listen`: thp
  left      namespace /run/netns/stend-7-sut without processes

one (here; sut, clients): can take part in a run
  agent     stend 0.2.0 as root
  clock     +3.000000 s from ours, within 41 µs
  places    root
  adapter   lan: eth1, e1000e, 1 Gbit/s now, link up; its driver lacks eee, rss
  control   over eth0
  factors   1 of 1 of the machine can be set

1 of 3 machines can take part in a run; the lab cannot measure
";
    assert_eq!(text, expected);
}
