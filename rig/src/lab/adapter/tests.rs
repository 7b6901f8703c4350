//! Finding an adapter, what keeps one from being lent, and how one comes back from a namespace.

use super::lend::bring_back;
use super::state::State;
use super::{carriers, find, in_use, with_those_below};
use crate::lab::link::Routes;
use crate::lab::namespace;
use crate::lab::undo::{Entry, Fate, Kind};
use desk::record::LabKind;
use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A machine of files with two ports of one device, and one of another.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root =
            std::env::temp_dir().join(format!("stend-adapter-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let tree = Self(root);
        for (name, device) in
            [("eth1", "0000:03:00.0"), ("eth2", "0000:03:00.1"), ("eth3", "0000:03:00.1")]
        {
            let device = tree.0.join("sys/devices/pci0000:00").join(device);
            fs::create_dir_all(&device).unwrap();
            let link = tree.link(name);
            fs::create_dir_all(&link).unwrap();
            symlink(&device, link.join("device")).unwrap();
        }
        fs::create_dir_all(tree.0.join("proc/net")).unwrap();
        tree
    }

    fn link(&self, name: &str) -> PathBuf {
        self.0.join("sys/class/net").join(name)
    }

    fn used(&self, name: &str, stays: bool, addresses: &[&str]) -> Option<String> {
        let addresses: Vec<(IpAddr, u8)> =
            addresses.iter().map(|text| (text.parse().unwrap(), 24)).collect();
        in_use(&self.0, name, stays, &addresses)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_link_that_stands_on_others_is_carried_by_all_of_them() {
    let tree = Tree::new("below");
    for (upper, lower) in [("bond0.7", "bond0"), ("bond0", "eth1"), ("bond0", "eth2")] {
        fs::create_dir_all(tree.link(upper).join(format!("lower_{lower}"))).unwrap();
    }
    let mut all = with_those_below(&tree.0, "bond0.7".into());
    all.sort();
    assert_eq!(all, ["bond0", "bond0.7", "eth1", "eth2"]);
    assert_eq!(with_those_below(&tree.0, "eth3".into()), ["eth3"]);
}

#[test]
fn an_address_is_known_by_its_link_and_a_foreign_one_by_none() {
    let at = |address: &str| carriers(Path::new("/"), address.parse().unwrap()).unwrap();
    assert_eq!(at("127.0.0.1"), ["lo"]);
    assert_eq!(at("192.0.2.1"), Vec::<String>::new());
}

#[test]
fn an_adapter_is_found_by_name_and_by_bus_address() {
    let tree = Tree::new("find");
    for path in ["..", ".", "eth1/device", "../net/eth1", ""] {
        assert!(find(&tree.0, path).is_err(), "{path}");
    }
    for written in ["eth1", "0000:03:00.0", "03:00.0"] {
        assert_eq!(find(&tree.0, written), Ok("eth1".into()), "{written}");
    }
    assert!(find(&tree.0, "03:00.1").unwrap_err().contains("several: eth2, eth3"));
    assert!(find(&tree.0, "03:00.2").unwrap_err().contains("'ip link' lists them"));
}

#[test]
fn an_adapter_that_the_machine_itself_uses_is_not_lent() {
    let tree = Tree::new("used");
    assert_eq!(tree.used("eth1", false, &["fe80::1"]), None, "link-local is of the kernel");
    assert_eq!(tree.used("eth1", true, &["192.0.2.1"]), None, "what stays keeps its address");
    let own = tree.used("eth1", false, &["192.0.2.1"]).unwrap();
    assert!(own.contains("192.0.2.1/24") && own.contains("machine ="), "{own}");
    fs::create_dir_all(tree.link("eth1").join("upper_bond0")).unwrap();
    assert!(tree.used("eth1", true, &[]).unwrap().contains("bond0 stands on it"));
    symlink("../br0", tree.link("eth2").join("master")).unwrap();
    assert!(tree.used("eth2", true, &[]).unwrap().contains("a port of br0"));
    let route = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
                 eth3\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
    fs::write(tree.0.join("proc/net/route"), route).unwrap();
    assert!(tree.used("eth3", true, &[]).unwrap().contains("default route"));
    let narrow = route.replace("\t0\t0\t0\t00000000", "\t0\t0\t0\t00FFFFFF");
    fs::write(tree.0.join("proc/net/route"), narrow).unwrap();
    assert_eq!(tree.used("eth3", true, &[]), None, "a route to 0.0.0.0/24 is no default");
    let zeros = "0".repeat(32);
    let sixth = format!("{zeros} 00 {zeros} 00 {zeros} 00000400 1 0 00000003 eth3\n");
    fs::write(tree.0.join("proc/net/ipv6_route"), sixth).unwrap();
    assert!(tree.used("eth3", true, &[]).unwrap().contains("default route"));
}

/// A process in a network namespace of its own, which ends with the value.
struct Apart(Child);

impl Apart {
    fn start() -> Option<Self> {
        let mut command = Command::new("unshare");
        let child = command.args(["-n", "sleep", "60"]).stdout(Stdio::null()).spawn().ok()?;
        let apart = Self(child);
        let of = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let left = || of(&apart.0.id().to_string()).is_some_and(|ns| Some(ns) != of("self"));
        // The program is root's alone, and needs its time to leave.
        (0..200).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            left()
        })?;
        Some(apart)
    }

    fn namespace(&self) -> PathBuf {
        format!("/proc/{}/ns/net", self.0.id()).into()
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn entry(state: &State, namespace: &Path, name: &str) -> Entry {
    let new = serde_json::json!({ "namespace": namespace, "name": name });
    Entry {
        seq: 1,
        host: "machine".into(),
        key: "k".into(),
        kind: Kind::Adapter,
        path: Path::new("/sys/class/net").join(&state.name),
        old: serde_json::to_string(state).unwrap(),
        new: new.to_string(),
        boot: String::new(),
        time_s: 0,
    }
}

#[test]
fn a_lent_adapter_comes_back_from_its_namespace_as_it_was() {
    let test = || {
        let (Some(apart), Ok(())) =
            (Apart::start(), namespace::enter(LabKind::RootNamespaces, None))
        else {
            println!("skipped: needs root");
            return;
        };
        let mut routes = Routes::open().unwrap();
        let here = rustix::thread::gettid().as_raw_nonzero().get();
        routes.add_veth("eth1", "wire", u32::try_from(here).unwrap()).unwrap();
        routes.set_up("eth1", true).unwrap();
        let before = State::read("eth1").unwrap();
        let namespace = apart.namespace();
        routes.move_to("eth1", (&namespace.display().to_string(), "lan")).unwrap();
        assert!(State::read("eth1").is_err(), "it is away");
        let entry = entry(&before, &namespace, "lan");
        assert_eq!(bring_back(&entry), Fate::Restored);
        assert_eq!(State::read("eth1").unwrap(), before);
        // What stayed may have been changed: the second time it is here already.
        routes.set_mtu("eth1", 900).unwrap();
        routes.add_address("eth1", "198.18.0.1".parse().unwrap(), 24).unwrap();
        routes.set_up("eth1", false).unwrap();
        assert_eq!(bring_back(&entry), Fate::Restored);
        assert_eq!(State::read("eth1").unwrap(), before);
        // What stood on it made it take all frames.
        routes.set_up("eth1", false).unwrap();
        let down = self::entry(&State::read("eth1").unwrap(), &namespace, "lan");
        routes.move_to("eth1", (&namespace.display().to_string(), "lan")).unwrap();
        let stack = |apart: u32| {
            let mut routes = Routes::open().unwrap();
            routes.set_up("lan", true).unwrap();
            routes.add_macvlan("lan", "stacked", apart).unwrap();
            routes.set_up("stacked", true).unwrap();
            routes.link("lan").unwrap().promiscuity
        };
        let pid = apart.0.id();
        assert_eq!(namespace::within(&namespace, move || stack(pid)).unwrap(), 1);
        assert_eq!(bring_back(&down), Fate::Restored);
        assert_eq!(routes.link("eth1").unwrap().promiscuity, 0);
        assert_eq!(bring_back(&entry), Fate::Restored);
        // Somebody keeps its namespace, but not under the name that the journal has.
        routes.move_to("eth1", (&namespace.display().to_string(), "lan")).unwrap();
        let elsewhere = self::entry(&before, Path::new("/run/netns/stend-1-gone"), "lan");
        assert_eq!(bring_back(&elsewhere), Fate::Restored);
        assert_eq!(State::read("eth1").unwrap(), before);
        routes.delete_link("eth1").unwrap();
        assert_eq!(bring_back(&entry), Fate::Gone, "nothing is left to undo");
    };
    std::thread::spawn(test).join().unwrap();
}
