//! Knows that adapters of the machine are lent to the hosts of a lab, carry its traffic, and come
//! back as they were: when the lab ends, and when its conductor is killed. Two ends of a virtual
//! cable stand for two adapters and the cable between them. What needs root is skipped aloud.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::plan::{Catalogue, order, read};
use desk::record::{Plan, TrialKind, TrialRecord, WorkloadSpec};
use kill::{Place, STEND, until};
use rig::lab::wire::{LinkAnswer, LinkRequest};
use rig::lab::{Blueprint, Lab, SUT, Wanted};
use rig::run::{Bench, Stand as _};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Longest wait for what takes milliseconds on a machine that is not busy.
const LIMIT: Duration = Duration::from_secs(20);

/// The server has one adapter, and two clients share the other.
const PLAN: &str = r#"
title = "Adapters"
[lab]
clients = 2
MACHINE
[lab.links.lan]
kind = "adapter"
adapters = { sut = "stend-t0", clients = "stend-t1" }
[factors.mtu]
levels = ["1400 B", "1300 B"]
[factors.tso]
levels = ["off", "on"]
[load.net]
workload = "tcp_stream"
[method]
blocks = BLOCKS
dry = false
steady = "noted"
settle = "100 ms"
settle_max = "100 ms"
window = "200 ms"
"#;

fn text(machine: &str, blocks: u32) -> String {
    PLAN.replace("MACHINE", machine).replace("BLOCKS", &blocks.to_string())
}

fn plan(machine: &str) -> Plan {
    parsed(&text(machine, 3))
}

fn parsed(text: &str) -> Plan {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    let catalogue = Catalogue { workloads: &workloads, factors: rig::factor::ALL };
    read(text, &catalogue).expect("a plan")
}

/// The lab of a plan.
fn stand(plan: &Plan) -> Bench {
    let agent = rig::keeper::here(Path::new(STEND), &NEVER).expect("an agent");
    let blueprint = Blueprint { wanted: Wanted::Best, lab: plan.lab.clone() };
    Bench::build(&blueprint, loads::ALL, vec![agent]).expect("a lab")
}

/// Two adapters that are joined; they go with the value.
struct Adapters;

impl Adapters {
    fn join() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root, to lend adapters");
            return None;
        }
        ip("link delete stend-t0");
        assert!(ip("link add stend-t0 type veth peer name stend-t1"));
        assert!(ip("link set stend-t1 up"), "one was up before, the other down");
        Some(Self)
    }

    /// All that `ip` and `ethtool` tell of both, but for counts and the carrier.
    fn told() -> BTreeSet<String> {
        let run = |program: &str, words: &str| {
            let words = words.split(' ');
            let output = Command::new(program).args(words).output().expect("it starts");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let of = |name: &str| {
            let link = run("ip", &format!("-o -d link show dev {name}"));
            let features = run("ethtool", &format!("-k {name}"));
            let addresses = run("ip", &format!("-o -4 address show dev {name}"));
            let words: Vec<&str> = link.split_whitespace().skip(1).collect();
            // One that has never been up has the discipline `noop`, later it is `noqueue`.
            let of_now = |at: usize| {
                words[at].starts_with('<')
                    || at > 0 && (words[at - 1] == "state" || words[at].starts_with("noop"))
                    || words[at] == "noqueue"
            };
            let kept: Vec<&str> =
                (0..words.len()).filter(|at| !of_now(*at)).map(|at| words[at]).collect();
            let up = link.contains(",UP") || link.contains("<UP");
            let link = format!("{name} is up: {up}; {}\n", kept.join(" "));
            let lines = [link, addresses, features].concat();
            lines.lines().map(|line| format!("{name} {line}")).collect::<Vec<_>>()
        };
        ["stend-t0", "stend-t1"].into_iter().flat_map(of).collect()
    }
}

impl Drop for Adapters {
    fn drop(&mut self) {
        ip("link delete stend-t0");
    }
}

/// Packets that an end of the link has received and sent.
fn packets(lab: &mut Lab, end: usize) -> (u64, u64) {
    let end = lab.ends("lan").swap_remove(end);
    let answers = lab.ask_links(vec![(end.host, vec![LinkRequest::Info(end.name)])]);
    let answers = answers.expect("an answer").concat();
    let Some(LinkAnswer::Info(info)) = answers.first() else { return (0, 0) };
    (info.counters.rx_packets, info.counters.tx_packets)
}

/// Whether the probes of the machine saw traffic on the adapter that always goes to a namespace, at
/// the edges of the window and within, or there was no window.
fn is_read(record: &TrialRecord) -> bool {
    let readings = record.readings.iter().filter(|r| r.key == "rx_packets.stend-t1");
    let read = readings.map(|r| r.quantity.value).sum::<f64>() > 0.0;
    let tracks = record.tracks.iter().filter(|t| t.key == "rx_packets.stend-t1");
    let sampled = tracks.flat_map(|t| &t.values).sum::<f64>() > 0.0;
    record.outcome.fault.is_some() || (read && sampled)
}

/// Lines that are told only now, or only before.
fn changed(before: &BTreeSet<String>) -> Vec<String> {
    before.symmetric_difference(&Adapters::told()).cloned().collect()
}

fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split(' ')).output().expect("iproute2").status.success()
}

#[test]
fn lent_adapters_carry_the_traffic_and_come_back_as_they_were() {
    let _place = Place::new("adapters-lent");
    let Some(_adapters) = Adapters::join() else { return };
    let before = Adapters::told();
    for machine in ["", "machine = \"sut\""] {
        let plan = plan(machine);
        let mut bench = stand(&plan);
        let ends = bench.lab.ends("lan");
        let reason = &bench.lab.reason;
        assert_eq!(ends.len(), 4, "two adapters, a macvlan for each client: {ends:?}; {reason}");
        assert!(Path::new("/sys/class/net/stend-t0").exists() != machine.is_empty());
        assert!(!Path::new("/sys/class/net/stend-t1").exists(), "it is the switch's");
        let (sut, shared) = (packets(&mut bench.lab, SUT), packets(&mut bench.lab, 1));
        let trials = order(&plan).into_iter().filter(|trial| trial.kind == TrialKind::Counted);
        let visited = bench.run(&plan, trials.take(4).collect(), &mut |_| ()).expect("a run");
        let faults = visited.records.iter().map(|record| record.outcome.fault.as_ref());
        assert!(faults.clone().all(moment::good_or_disturbed), "{:?}", faults.collect::<Vec<_>>());
        assert!(faults.filter(Option::is_none).count() > 0, "no visit was good");
        assert!(visited.records.iter().all(is_read), "the probes lose an adapter that is away");
        let gained = |now: (u64, u64), then: (u64, u64)| (now.0 - then.0, now.1 - then.1);
        let sut = gained(packets(&mut bench.lab, SUT), sut);
        let shared = gained(packets(&mut bench.lab, 1), shared);
        assert!(sut.0 > 100, "the server received {} packets", sut.0);
        assert_eq!(sut.0, shared.1, "what the clients' adapter sent the server's received");
        assert_eq!(sut.1, shared.0, "and the other way");
        drop(bench);
        assert_eq!(changed(&before), Vec::<String>::new(), "{machine}");
    }
}

#[test]
fn adapters_come_back_when_the_conductor_is_killed() {
    let place = Place::new("adapters-killed");
    let Some(_adapters) = Adapters::join() else { return };
    let before = Adapters::told();
    for machine in ["", "machine = \"sut\""] {
        fs::write(place.path.join("plan.toml"), text(machine, 900)).expect("a plan");
        let running = place.start(&["run", "plan.toml", "--out", "out"]);
        let away = until(LIMIT, || !Path::new("/sys/class/net/stend-t1").exists());
        let log = || fs::read_to_string(place.path.join("log")).unwrap_or_default();
        assert!(away.is_some(), "{}", log());
        let planned = place.stend(&["plan", "plan.toml"]);
        let told = String::from_utf8_lossy(&planned.stdout).replace('\n', " ");
        assert!(told.contains("a run has it now: that of process"), "{told}");
        std::thread::sleep(kill::chance(Duration::from_secs(2)));
        let pid = running.kill();
        let back = until(LIMIT, || place.left_by(pid).is_empty() && changed(&before).is_empty());
        assert!(back.is_some(), "{:?}\n{:?}", place.left_by(pid), changed(&before));
    }
}

#[test]
fn an_adapter_that_cannot_be_had_is_refused_before_anything_is_measured() {
    let place = Place::new("adapters-refused");
    let Some(_adapters) = Adapters::join() else { return };
    let refused = |verb: &str| {
        let output = place.stend(&[verb, "plan.toml"]);
        let told = if verb == "plan" { output.stdout } else { output.stderr };
        String::from_utf8_lossy(&told).into_owned()
    };
    fs::write(place.path.join("plan.toml"), text("", 3)).expect("a plan");
    assert!(ip("address add 192.0.2.1/32 dev stend-t0"));
    for verb in ["plan", "run"] {
        let words = refused(verb);
        assert!(words.contains("it has the address 192.0.2.1/32"), "{verb}: {words}");
    }
    let absent = text("", 3).replace("stend-t0", "0000:ff:1f.7");
    fs::write(place.path.join("plan.toml"), absent).expect("a plan");
    for verb in ["plan", "run"] {
        let words = refused(verb);
        assert!(words.contains("'0000:ff:1f.7' cannot be lent"), "{verb}: {words}");
    }
    assert!(ip("address del 192.0.2.1/32 dev stend-t0"));
    let rings = text("", 3).replace("levels = [\"1400 B\", \"1300 B\"]", "levels = [128, 256]");
    fs::write(place.path.join("plan.toml"), rings.replace("factors.mtu", "factors.rx_ring"))
        .expect("a plan");
    for verb in ["plan", "run"] {
        let words = refused(verb);
        let by = "the driver veth of stend-t0 does not set it (Operation not supported";
        assert!(words.contains("factor 'rx_ring' cannot be set here"), "{verb}: {words}");
        assert!(words.replace('\n', " ").contains(by), "{verb}: {words}");
    }
}

#[test]
fn a_trial_over_an_adapter_without_carrier_is_a_fault_that_names_it() {
    let _place = Place::new("adapters-down");
    let Some(_adapters) = Adapters::join() else { return };
    let plan = plan("machine = \"sut\"");
    let mut bench = stand(&plan);
    bench.begin(&plan).expect("a run");
    assert!(ip("link set stend-t0 down"));
    let trial = order(&plan).into_iter().find(|trial| trial.kind == TrialKind::Counted);
    let fault = bench.visit(&plan, &trial.expect("a trial")).outcome.fault.expect("a fault");
    let words = fault.to_string();
    assert!(words.starts_with("host machine: adapter stend-t"), "{words}");
    assert!(words.contains("has no carrier; is its cable in"), "{words}");
    let _ = bench.end(false);
}

/// An external box on the cable between two adapters: it bridges them, drops one flow of sixteen by
/// a rule that no counter tells of, and an agent tells what its ports count.
const BOXED: &str = r#"
title = "Boxed"
[lab]
clients = 1
[lab.links.wire]
kind = "adapter"
adapters = { sut = "stend-t0", clients = "stend-t1" }
[lab.boxes.firewall]
link = "wire"
snmp = "198.18.255.2"
ports = ["lan1", "lan2"]
[load.net]
workload = "forward"
engine = "packet"
offered_load = "20 Mbit/s"
flows = 16
pattern = "counter"
[method]
blocks = 3
dry = false
settle = "100 ms"
settle_max = "2 s"
window = "400 ms"
"#;

/// A network namespace with the box, and the agent in it; both go with the value.
struct Boxed(Option<std::process::Child>);

impl Boxed {
    const NAME: &'static str = "stend-tbox";

    fn join(place: &Place) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: needs root, to lend adapters");
            return None;
        }
        for (program, package) in [("/usr/sbin/snmpd", "snmpd"), ("/usr/sbin/nft", "nftables")] {
            if !Path::new(program).exists() {
                println!("skipped: needs {program}; apt install {package}");
                return None;
            }
        }
        let mut boxed = Self(None);
        boxed.leave();
        assert!(ip("netns add stend-tbox"));
        for (near, far) in [("stend-t0", "lan1"), ("stend-t1", "lan2"), ("stend-t2", "mgmt")] {
            let pair = format!("link add {near} type veth peer name {far} netns stend-tbox");
            assert!(ip(&pair), "{pair}");
        }
        assert!(ip("address add 198.18.255.1/30 dev stend-t2") && ip("link set stend-t2 up"));
        for words in [
            "ip address add 198.18.255.2/30 dev mgmt",
            "ip link set mgmt up",
            "ip link add bridge type bridge",
            "ip link set lan1 master bridge",
            "ip link set lan2 master bridge",
            "ip link set lan1 up",
            "ip link set lan2 up",
            "ip link set bridge up",
            "nft add table bridge drops",
            "nft add chain bridge drops passing { type filter hook forward priority 0 ; }",
            "nft add rule bridge drops passing ether type ip udp sport 49152 drop",
        ] {
            assert!(ip(&format!("netns exec stend-tbox {words}")), "{words}");
        }
        boxed.0 = Some(Self::agent(place));
        assert!(until(LIMIT, Self::hurries).is_some(), "{}", Self::log(place));
        Some(boxed)
    }

    fn agent(place: &Place) -> std::process::Child {
        fs::write(place.path.join("snmpd.conf"), "rwcommunity public\n").expect("a file");
        Command::new("ip")
            .args(["netns", "exec", Self::NAME, "snmpd", "-f", "-r", "-C", "-c", "snmpd.conf"])
            .args(["-Lf", "snmpd.log", "-p", "snmpd.pid", "udp:198.18.255.2:161"])
            .current_dir(&place.path)
            .env("SNMP_PERSISTENT_DIR", &place.path)
            .spawn()
            .expect("it starts")
    }

    /// Whether the agent takes to reading its ports every second; it does so every 15 s by default
    /// (`nsCacheTimeout` of `ifTable`, NET-SNMP-AGENT-MIB).
    fn hurries() -> bool {
        let row = [1, 3, 6, 1, 4, 1, 8072, 1, 5, 3, 1, 2, 1, 3, 6, 1, 2, 1, 2, 2];
        let (oid, wait) = (snmp2::Oid::from(&row), Some(Duration::from_millis(500)));
        let session = snmp2::SyncSession::new_v2c("198.18.255.2:161", b"public", wait, 1);
        let (oid, mut session) = (oid.expect("an identifier"), session.expect("a socket"));
        let told = session.set(&[(&oid, snmp2::Value::Integer(1))]);
        told.is_ok_and(|told| told.error_status == 0)
    }

    fn log(place: &Place) -> String {
        fs::read_to_string(place.path.join("snmpd.log")).unwrap_or_default()
    }

    fn leave(&mut self) {
        if let Some(agent) = &mut self.0 {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        ip("netns delete stend-tbox");
        for adapter in ["stend-t0", "stend-t1", "stend-t2"] {
            ip(&format!("link delete {adapter}"));
        }
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        self.leave();
    }
}

#[test]
fn an_external_box_tells_its_count_and_answers_for_what_is_missing() {
    let place = Place::new("adapters-boxed");
    let Some(_boxed) = Boxed::join(&place) else { return };
    let is_good = |record: &TrialRecord| record.outcome.fault.is_none();
    let mut records = Vec::new();
    for _ in 0..4 {
        records = visits(BOXED);
        let faults = || records.iter().map(|record| record.outcome.fault.as_ref());
        assert!(faults().all(moment::good_or_disturbed), "{:?}", faults().collect::<Vec<_>>());
        if records.iter().any(is_good) {
            break;
        }
    }
    let absent = visits(&BOXED.replace("\"lan2\"]", "\"lan3\"]"));
    let fault = absent[0].outcome.fault.as_ref().expect("a fault").to_string();
    assert!(fault.contains("box firewall: no port 'lan3'; did you mean 'lan"), "{fault}");
    if !records.iter().any(is_good) {
        println!("skipped: the machine left the sender no visit on its schedule");
    }
    for record in records.iter().filter(|record| record.outcome.fault.is_none()) {
        let told = |host: &str, key: &str| record.reading("frames", host, key).expect(key).value;
        let figure = |metric: &str| record.outcome.metric(metric).expect("a figure").value;
        let (sent, received) = (told("sut", "sent"), told("sut", "received"));
        assert!((figure("loss") - 1.0 / 16.0).abs() < 0.01, "{}", figure("loss"));
        assert!((told("firewall", "dropped no counter") - (sent - received)).abs() < 0.5);
        // Beside the frames a port counts the answers of ARP.
        assert!((told("firewall", "received lan2") - sent).abs() < 50.0, "of {sent}");
        assert!((told("firewall", "sent lan1") - received).abs() < 50.0, "of {received}");
        assert!((figure("self_frames") / figure("frames") - 1.0).abs() < 0.01);
    }
}

/// The first counted trials of a plan.
fn visits(text: &str) -> Vec<TrialRecord> {
    let plan = parsed(text);
    let trials = order(&plan).into_iter().filter(|trial| trial.kind == TrialKind::Counted);
    stand(&plan).run(&plan, trials.take(3).collect(), &mut |_| ()).expect("a run").records
}
