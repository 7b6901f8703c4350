//! Knows a lab of three machines for tests: a conductor and three agents in namespaces of their
//! own, joined by adapters and by a network for control.

use super::{Joiner, LIMIT, as_user, errors, inside, ip, join, listens, remove, run};
use crate::kill::{Place, Running, STEND, until};
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

/// Names of the machines.
pub const MACHINES: [&str; 3] = ["one", "two", "load"];

/// Every machine has two adapters; those of a kind are ports of one switch.
const LAB: &str = r#"
[machines.one]
address = "198.19.240.2:7000"
[machines.two]
address = "198.19.241.2:7000"
[machines.load]
address = "198.19.242.2:7000"
[roles]
sut = SUT
clients = "load"
[links.onboard]
one = "one-a"
two = "two-a"
load = "load-a"
[links.card]
one = "one-b"
two = "two-b"
load = "load-b"
"#;

/// A load whose rate the plan sets, so that figures can be compared on a machine that others use;
/// for plans without a load.
const PACED: &str = r#"
load.net = { workload = "tcp_stream", offered_load = "200 Mbit/s" }
"#;

/// Short visits to two clients.
const SHORT: &str = r#"
lab.clients = 2
method.dry = false
method.steady = "noted"
method.settle = "200 ms"
method.settle_max = "200 ms"
method.window = "300 ms"
"#;

/// Namespaces, cables and agents; all is gone when it is dropped.
pub struct Machines {
    /// What the names of the namespaces begin with.
    prefix: String,
    /// Agents that run, by machine.
    pub agents: BTreeMap<&'static str, Running>,
}

impl Machines {
    /// Lays namespaces and cables and starts an agent on each machine.
    pub fn lay(place: &Place, prefix: &str) -> Self {
        let mut machines = Self { prefix: prefix.into(), agents: BTreeMap::new() };
        machines.remove();
        let con = machines.conductor();
        let mut lines = vec![format!("netns add {con}")];
        for kind in ["a", "b"] {
            lines.push(format!("-n {con} link add name br-{kind} type bridge"));
            lines.push(format!("-n {con} link set br-{kind} up"));
        }
        for name in MACHINES {
            let (namespace, network) = (machines.namespace(name), network(name));
            let pair = |ours: &str, theirs: &str| {
                let peer = format!("type veth peer name {theirs} netns {namespace}");
                format!("link add {ours} netns {con} {peer}")
            };
            lines.push(format!("netns add {namespace}"));
            lines.push(pair(&format!("c-{name}"), "control"));
            lines.push(format!("-n {con} address add {network}.1/30 dev c-{name}"));
            lines.push(format!("-n {con} link set c-{name} up"));
            lines.push(format!("-n {namespace} address add {network}.2/30 dev control"));
            lines.push(format!("-n {namespace} link set control up"));
            for kind in ["a", "b"] {
                lines.push(pair(&format!("{kind}-{name}"), &format!("{name}-{kind}")));
                lines.push(format!("-n {con} link set {kind}-{name} master br-{kind}"));
                lines.push(format!("-n {con} link set {kind}-{name} up"));
            }
        }
        ip(&lines);
        let made = run(place, &inside(&con, &[STEND, "lab", "init", "--dir", "lab"]));
        assert_eq!(made.status.code(), Some(0), "{}", errors(&made));
        for name in MACHINES {
            machines.join(place, name);
            machines.serve(place, name);
        }
        machines
    }

    fn remove(&self) {
        MACHINES.iter().for_each(|name| remove(&[&self.namespace(name)]));
        remove(&[&self.conductor()]);
    }

    /// The namespace of the conductor, which has the switches too.
    pub fn conductor(&self) -> String {
        format!("{}-con", self.prefix)
    }

    /// The namespace of a machine.
    pub fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    fn join(&self, place: &Place, name: &'static str) {
        let invites = format!("{}.1:7711", network(name));
        let joiner = Joiner { name, namespace: &self.namespace(name), dir: name };
        let (joined, said) = join(place, (&self.conductor(), &invites), &joiner);
        assert_eq!(joined.status.code(), Some(0), "{said}{}", errors(&joined));
    }

    /// Starts the agent of a machine that has joined, with a sysfs and names of namespaces of its
    /// own, as a computer has them. Where the place has the file of [`swappiness`], the agent has
    /// it as its own setting.
    pub fn serve(&mut self, place: &Place, name: &'static str) {
        self.serve_with(place, name, &[]);
    }

    /// The same, with variables of the environment.
    pub fn serve_with(&mut self, place: &Place, name: &'static str, variables: &[&str]) {
        let journal = format!("STEND_JOURNAL={}", journal(name));
        let words = [&["env", &journal][..], variables, &[STEND]].concat();
        self.serve_by(place, name, &words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
    }

    /// The same as an ordinary user, to whom its directory goes.
    pub fn serve_as_user(&mut self, place: &Place, name: &'static str) {
        self.serve_by(place, name, &as_user(place, name));
    }

    fn serve_by(&mut self, place: &Place, name: &'static str, stend: &[String]) {
        let namespace = self.namespace(name);
        let file = swappiness(name);
        let own = format!(
            "mount -t tmpfs none /run/netns; \
             [ ! -e {file} ] || mount --bind {file} /proc/sys/vm/swappiness; exec \"$@\""
        );
        let address = format!("{}.2:7000", network(name));
        let mut words = vec!["ip", "netns", "exec", &namespace, "sh", "-c", &own, "sh"];
        words.extend(stend.iter().map(String::as_str));
        words.extend(["agent", "listen", &address, "--dir", name]);
        let agent = place.start_logged(&words, &format!("{name}.log"));
        assert!(until(LIMIT, || listens(&namespace)).is_some(), "{name}: {}", logs(place));
        self.agents.insert(name, agent);
    }

    /// Adapters that are on their machines, each with what `ip link` says of it.
    pub fn adapters(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for name in MACHINES {
            let list = ["-n", &self.namespace(name), "-o", "link"];
            let list = Command::new("ip").args(list).output().expect("iproute2");
            let text = String::from_utf8_lossy(&list.stdout).into_owned();
            let lines = text.lines().filter_map(|line| line.split_once(": ")?.1.split_once('@'));
            let own = lines.filter(|(adapter, _)| adapter.starts_with(name));
            // Of an adapter that is down `noop` says no more than that it has not been up here.
            let rest = |rest: &str| rest.replace("qdisc noop ", "qdisc noqueue ");
            all.extend(own.map(|(adapter, words)| (adapter.to_owned(), rest(words))));
        }
        all
    }

    /// Words that run a plan on the machines, or on this one.
    pub fn words(&self, place: &Place, (plan, out): (&str, &str), machines: bool) -> Vec<String> {
        let load = if plan.contains("load.net") { "" } else { PACED };
        let plan = [plan, load, SHORT].concat();
        fs::write(place.path.join("plan.toml"), plan).expect("a plan");
        let words = ["STEND_LAB_DIR=lab", STEND, "run", "plan.toml", "--out", out];
        let more: &[&str] = if machines { &["--machines", "lab.toml"] } else { &[] };
        inside(&self.conductor(), &[&words[..], more].concat())
    }

    /// Runs a plan to its end, on the machines or on this one.
    pub fn measure(&self, place: &Place, plan: (&str, &str), machines: bool) -> Output {
        run(place, &self.words(place, plan, machines))
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.agents.clear();
        self.remove();
    }
}

/// The network for control of a machine.
fn network(name: &str) -> String {
    let at = MACHINES.iter().position(|known| *known == name).expect("a machine");
    format!("198.19.{}", 240 + at)
}

/// The directory for the journal of a machine.
pub fn journal(name: &str) -> String {
    format!("journal-{name}")
}

/// The file that a machine has in place of the setting.
pub fn swappiness(name: &str) -> String {
    format!("swappiness-{name}")
}

/// What the agents have said.
pub fn logs(place: &Place) -> String {
    let read = |name| fs::read_to_string(place.path.join(format!("{name}.log")));
    MACHINES.iter().filter_map(|name| read(name).ok()).collect()
}

/// A place with a lab file of three machines, of which these can be the system under test; none
/// where namespaces cannot be had.
pub fn place(name: &str, sut: &str) -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, for namespaces with adapters");
        return None;
    }
    let place = Place::new(name);
    write_lab(&place, sut);
    Some(place)
}

/// Writes the lab file of three machines into a place.
pub fn write_lab(place: &Place, sut: &str) {
    fs::write(place.path.join("lab.toml"), LAB.replace("SUT", sut)).expect("a lab file");
}
