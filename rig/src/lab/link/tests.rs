//! Tries every operation on real links, each test in a network namespace of its own that ends
//! with the test; knows nothing of the namespace the test runner lives in.

use super::socket::written;
use super::vlan::{gateway_of, vlan_message};
use super::{LinkError, LinkInfo, Routes, Tbf};
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1));
const EVERYBODY: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 255);

/// Runs `test` on a thread that has left for a fresh network namespace.
pub(super) fn in_own_namespace(test: fn(&mut Routes)) {
    let thread = std::thread::spawn(move || {
        if leave_network_namespace().is_err() {
            println!("skipped: needs root");
            return;
        }
        test(&mut Routes::open().unwrap());
    });
    thread.join().unwrap();
}

fn leave_network_namespace() -> std::io::Result<()> {
    // SAFETY: no memory is involved; only the network namespace of this thread changes.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// The bytes of a file of hexadecimal numbers; lines that begin with # are for the person.
pub(super) fn bytes_of(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace);
    words.map(|word| u8::from_str_radix(word, 16).unwrap()).collect()
}

/// A process to own a peer end; ends when the value goes.
struct Owner(Child);

impl Owner {
    fn beside_us() -> Self {
        Self::spawn(&mut Command::new("sleep"))
    }

    fn apart() -> Self {
        let mut command = Command::new("sleep");
        // SAFETY: between fork and exec only one system call is made, and it allocates nothing.
        Self::spawn(unsafe { command.pre_exec(leave_network_namespace) })
    }

    fn spawn(command: &mut Command) -> Self {
        Self(command.arg("60").stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes `left` and `right` in the namespace of this thread.
fn pair(routes: &mut Routes) {
    routes.add_veth("left", "right", Owner::beside_us().pid()).unwrap();
}

#[test]
fn a_fresh_namespace_has_only_its_loopback() {
    in_own_namespace(|routes| {
        let links = routes.links().unwrap();
        let names: Vec<_> = links.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["lo"]);
        assert_eq!((links[0].mtu, links[0].up, links[0].kind.as_deref()), (65536, false, None));
        assert_eq!(links[0].address, "00:00:00:00:00:00");
    });
}

#[test]
fn a_pair_a_bridge_an_address_and_an_mtu_read_back_as_set() {
    in_own_namespace(|routes| {
        pair(routes);
        routes.add_bridge("br").unwrap();
        routes.set_master("left", "br").unwrap();
        routes.set_mtu("left", 9000).unwrap();
        assert!(!routes.link("left").unwrap().up);
        for name in ["left", "right", "br"] {
            routes.set_up(name, true).unwrap();
        }
        routes.add_address("br", HERE, 24).unwrap();
        let bridge = routes.link("br").unwrap();
        let left = routes.link("left").unwrap();
        let right = routes.link("right").unwrap();
        assert_eq!(bridge.kind.as_deref(), Some("bridge"));
        assert_eq!(left.kind.as_deref(), Some("veth"));
        assert_eq!((left.master, right.master), (Some(bridge.index), None));
        assert_eq!((left.mtu, right.mtu), (9000, 1500));
        assert_eq!((left.min_mtu, left.max_mtu), (Some(68), Some(65535)));
        assert!(left.up && left.carrier && left.tx_queues >= 1 && left.rx_queues >= 1);
        assert_eq!(left.address.len(), "00:00:00:00:00:00".len());
        assert_eq!(routes.links().unwrap().len(), 4);
        // The kernel takes a local bind only for an address that it has.
        UdpSocket::bind((HERE, 0)).unwrap();
        routes.set_up("right", false).unwrap();
        assert!(!routes.link("right").unwrap().up);
        assert!(!routes.link("left").unwrap().carrier);
        routes.delete_link("left").unwrap();
        let gone = LinkError::NoSuchLink("right".into());
        assert_eq!(routes.link("right"), Err(gone));
    });
}

#[test]
fn the_peer_end_is_born_in_the_namespace_of_its_process() {
    in_own_namespace(|routes| {
        let owner = Owner::apart();
        routes.add_veth("left", "far", owner.pid()).unwrap();
        assert!(routes.link("left").is_ok());
        assert_eq!(routes.link("far"), Err(LinkError::NoSuchLink("far".into())));
        let theirs = fs::read_to_string(format!("/proc/{}/net/dev", owner.pid())).unwrap();
        assert!(theirs.contains("far:") && !theirs.contains("left:"), "{theirs}");
    });
}

#[test]
fn a_token_bucket_reads_back_as_set_and_as_tc_sees_it() {
    in_own_namespace(|routes| {
        pair(routes);
        assert_eq!(routes.tbf("left"), Ok(None));
        let slow = Tbf { rate_bits_per_s: 100_000_000, burst_bytes: 32_000, limit_bytes: 64_000 };
        routes.set_tbf("left", slow).unwrap();
        assert_eq!(routes.tbf("left"), Ok(Some(slow)));
        assert_eq!(routes.tbf("right"), Ok(None));
        seen_by_tc("rate 100Mbit burst 32000b lat 2.56ms");
        // 5 GB/s needs the 64-bit rate.
        let fast =
            Tbf { rate_bits_per_s: 40_000_000_000, burst_bytes: 100_000, limit_bytes: 640_000 };
        routes.set_tbf("left", fast).unwrap();
        let back = routes.tbf("left").unwrap().unwrap();
        assert_eq!((back.rate_bits_per_s, back.limit_bytes), (40_000_000_000, 640_000));
        assert!((100_000 - 325..=100_000).contains(&back.burst_bytes), "{back:?}");
        seen_by_tc("rate 40Gbit");
        routes.clear_qdisc("left").unwrap();
        assert_eq!(routes.tbf("left"), Ok(None));
        routes.clear_qdisc("left").unwrap();
    });
}

#[test]
fn a_token_bucket_counts_what_waits_and_what_it_drops() {
    in_own_namespace(|routes| {
        pair(routes);
        routes.add_address("left", HERE, 24).unwrap();
        routes.set_up("left", true).unwrap();
        routes.set_up("right", true).unwrap();
        let slow = Tbf { rate_bits_per_s: 80_000, burst_bytes: 2_000, limit_bytes: 3_000 };
        routes.set_tbf("left", slow).unwrap();
        let before = routes.shaper("left").unwrap().unwrap();
        assert_eq!((before.tbf, before.drops), (Some(slow), 0));
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.set_broadcast(true).unwrap();
        // Ten frames of 1,042 B: one or two pass at once, two wait, the rest is dropped.
        for _ in 0..10 {
            let _ = socket.send_to(&[0; 1000], (EVERYBODY, 9));
        }
        let after = routes.shaper("left").unwrap().unwrap();
        assert!(after.drops >= 4, "{after:?}");
        assert!(after.overlimits > before.overlimits, "{after:?}");
        assert!((1..=9).contains(&(after.packets - before.packets)), "{after:?}");
        assert!((1..=3_000).contains(&after.backlog_bytes), "{after:?}");
    });
}

/// A child process shares the namespace of the thread that starts it.
fn seen_by_tc(expected: &str) {
    const TC: &str = "/usr/sbin/tc";
    if !Path::new(TC).exists() {
        println!("skipped: not cross-checked, for there is no {TC}");
        return;
    }
    let output = Command::new(TC).args(["-s", "qdisc", "show", "dev", "left"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("qdisc tbf") && text.contains(expected), "{text}");
}

#[test]
fn a_token_bucket_that_passes_no_frame_is_refused_with_the_least_that_would() {
    in_own_namespace(|routes| {
        pair(routes);
        let good = Tbf { rate_bits_per_s: 8, burst_bytes: 1514, limit_bytes: 1514 };
        for bad in [
            Tbf { rate_bits_per_s: 7, ..good },
            Tbf { burst_bytes: 1513, ..good },
            Tbf { limit_bytes: 1513, ..good },
        ] {
            let refusal = routes.set_tbf("left", bad).unwrap_err();
            assert!(matches!(refusal, LinkError::BadTbf { .. }), "{refusal}");
        }
        routes.set_tbf("left", good).unwrap();
    });
}

#[test]
fn an_unknown_link_is_named_by_every_operation() {
    in_own_namespace(|routes| {
        pair(routes);
        let tbf = Tbf { rate_bits_per_s: 8000, burst_bytes: 2000, limit_bytes: 2000 };
        let absent = Err(LinkError::NoSuchLink("ghost".into()));
        assert_eq!(routes.set_up("ghost", true), absent);
        assert_eq!(routes.set_mtu("ghost", 1500), absent);
        assert_eq!(routes.set_master("ghost", "left"), absent);
        assert_eq!(routes.set_master("left", "ghost"), absent);
        assert_eq!(routes.add_address("ghost", HERE, 24), absent);
        assert_eq!(routes.delete_link("ghost"), absent);
        assert_eq!(routes.set_tbf("ghost", tbf), absent);
        assert_eq!(routes.tbf("ghost").map(drop), absent);
        assert_eq!(routes.clear_qdisc("ghost"), absent);
        let long = "a-name-of-sixteen";
        assert_eq!(routes.link(long), Err(LinkError::NoSuchLink(long.into())));
    });
}

#[test]
fn a_refusal_carries_the_error_number_and_a_remedy() {
    in_own_namespace(|routes| {
        routes.add_bridge("br").unwrap();
        refused(routes.add_bridge("br"), libc::EEXIST, "cannot create bridge 'br': File exists");
        pair(routes);
        refused(routes.set_mtu("left", 70_000), libc::EINVAL, "outside what this link takes");
        refused(routes.set_mtu("left", 70_000), libc::EINVAL, "greater than device maximum");
        refused(routes.add_veth("x", "y", u32::MAX >> 1), libc::ESRCH, "start it first");
        routes.add_address("left", HERE, 24).unwrap();
        refused(routes.add_address("left", HERE, 24), libc::EEXIST, "delete it first");
        refused(routes.add_address("left", HERE, 33), libc::EINVAL, "address to 'left'");
        let hardware = routes.delete_link("lo").unwrap_err();
        assert_eq!(hardware, LinkError::NotSupported { op: "delete", name: "lo".into() });
        for name in ["", ".", "a/b", "br%d", "sixteen-bytes-xx"] {
            assert_eq!(routes.add_bridge(name), Err(LinkError::BadName(name.into())));
        }
    });
}

fn refused(result: Result<(), LinkError>, expected: i32, words: &str) {
    let error = result.unwrap_err();
    assert!(matches!(&error, LinkError::Kernel { errno, .. } if *errno == expected), "{error:?}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn without_the_capability_a_change_is_denied_and_a_reading_is_not() {
    in_own_namespace(|routes| {
        // SAFETY: the raw call changes the user of this thread alone, which ends with the test;
        // the kernel then drops its effective capabilities.
        let dropped = unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) };
        assert_eq!(dropped, 0);
        let denied = LinkError::PermissionDenied { op: "create bridge", name: "br".into() };
        // A socket remembers the rights of its opener; both sides of the rule must refuse.
        assert_eq!(routes.add_bridge("br"), Err(denied.clone()));
        let mut fresh = Routes::open().unwrap();
        assert_eq!(fresh.add_bridge("br"), Err(denied));
        assert_eq!(fresh.links().unwrap().len(), 1);
    });
}

#[test]
fn counters_grow_by_the_bytes_that_flow() {
    in_own_namespace(|routes| {
        pair(routes);
        for name in ["left", "right"] {
            routes.set_up(name, true).unwrap();
        }
        routes.add_address("left", HERE, 24).unwrap();
        let before = (routes.link("left").unwrap(), routes.link("right").unwrap());
        let socket = UdpSocket::bind((HERE, 0)).unwrap();
        socket.set_broadcast(true).unwrap();
        socket.send_to(&[0; 1000], (EVERYBODY, 9)).unwrap();
        let after = (routes.link("left").unwrap(), routes.link("right").unwrap());
        // Payload, UDP, IPv4 and Ethernet headers.
        let frame = 1000 + 8 + 20 + 14;
        assert!(after.0.counters.tx_packets > before.0.counters.tx_packets);
        assert!(after.0.counters.tx_bytes >= before.0.counters.tx_bytes + frame);
        assert!(after.1.counters.rx_packets > before.1.counters.rx_packets);
        assert!(after.1.counters.rx_bytes >= before.1.counters.rx_bytes + frame);
    });
}

#[test]
fn a_description_survives_the_record() {
    in_own_namespace(|routes| {
        let link = routes.link("lo").unwrap();
        let text = serde_json::to_string(&link).unwrap();
        assert_eq!(serde_json::from_str::<super::LinkInfo>(&text).unwrap(), link);
    });
}

#[test]
fn a_vlan_link_is_asked_for_as_ip_link_does() {
    let theirs = bytes_of(include_str!("golden/ip-link-add-vlan.hex"));
    let sequence = u32::from_ne_bytes(theirs[8..12].try_into().unwrap());
    let ours = written(
        vlan_message(("v3.100", 3), 100),
        (NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sequence),
    );
    // The library ends the name of the kind with a zero byte, which ip(8) leaves out: five bytes
    // instead of four, and three to fill up. The kernel takes both (`NLA_STRING`).
    let mut same = theirs;
    same.splice(64..64, [0; 4]);
    for (at, more) in [(0, 4), (52, 4), (56, 1)] {
        same[at] += more;
    }
    assert_eq!(ours, same);
}

#[test]
fn a_vlan_link_and_a_route_that_a_kernel_tells_are_read() {
    let link = bytes_of(include_str!("golden/kernel-vlan-link.hex"));
    let found = LinkInfo::decode(&link[16..]).unwrap();
    assert_eq!(
        (found.kind.as_deref(), found.vlan, found.below),
        (Some("vlan"), Some(100), Some(3))
    );
    assert!(found.name == "v3.100" && found.tags(3) && !found.tags(4));
    let routes = bytes_of(include_str!("golden/kernel-routes.hex"));
    let (direct, by_way) = routes.split_at(60);
    let gateway = (Ipv4Addr::new(198, 18, 1, 0), 24, Ipv4Addr::new(198, 18, 0, 2));
    assert_eq!(gateway_of(&by_way[16..], 3).unwrap(), Some(gateway));
    assert_eq!(gateway_of(&by_way[16..], 4).unwrap(), None, "over another link");
    assert_eq!(gateway_of(&direct[16..], 3).unwrap(), None, "it needs no neighbour");
    assert!((0..12).all(|length| gateway_of(&direct[16..16 + length], 3).is_err()));
}

/// The IPv4 addresses of a link; the kernel gives those of IPv6 to whatever comes up.
fn addresses(routes: &mut Routes, name: &str) -> Vec<(IpAddr, u8)> {
    let all = routes.addresses(name).unwrap();
    all.into_iter().filter(|(address, _)| address.is_ipv4()).collect()
}

#[test]
fn addresses_and_routes_move_to_a_vlan_link_and_back_or_stay_where_the_kernel_has_none() {
    in_own_namespace(|routes| {
        pair(routes);
        routes.set_up("left", true).unwrap();
        routes.set_up("right", true).unwrap();
        routes.add_address("left", HERE, 24).unwrap();
        let (network, via) = (Ipv4Addr::new(198, 18, 1, 0), Ipv4Addr::new(198, 18, 0, 2));
        routes.add_route(network.into(), 24, via.into()).unwrap();
        let state = |routes: &mut Routes| {
            let all = routes.links().unwrap();
            let names: Vec<String> = all.iter().map(|link| link.name.clone()).collect();
            let of: Vec<_> =
                names.iter().map(|name| (addresses(routes, name), routes.vlan(name))).collect();
            let table = fs::read_to_string("/proc/thread-self/net/route").unwrap();
            (names, of, table)
        };
        let before = state(routes);
        assert!(before.2.contains("left\t000112C6\t020012C6"), "{}", before.2);
        match routes.set_vlan("left", Some(100)) {
            Ok(()) => {
                assert_eq!(routes.vlan("left"), Ok(Some(100)));
                let name = format!("v{}.100", routes.link("left").unwrap().index);
                assert_eq!(addresses(routes, &name), [(HERE, 24)]);
                assert_eq!(addresses(routes, "left"), []);
                let (_, _, table) = state(routes);
                assert!(table.contains(&format!("{name}\t000112C6\t020012C6")), "{table}");
                routes.set_mtu("left", 9000).unwrap();
                assert_eq!(routes.link(&name).unwrap().mtu, 9000);
                routes.set_mtu("left", 1500).unwrap();
                assert_eq!(routes.link(&name).unwrap().mtu, 1500);
                routes.set_vlan("left", Some(7)).unwrap();
                assert_eq!(routes.vlan("left"), Ok(Some(7)));
            }
            Err(e) => {
                assert!(matches!(e, LinkError::NotSupported { .. }), "{e}");
                assert!(e.to_string().contains("8021q"), "{e}");
                println!("skipped: {e}");
            }
        }
        routes.set_vlan("left", None).unwrap();
        assert_eq!(state(routes), before);
    });
}

#[test]
fn the_next_hop_and_a_neighbour_are_the_kernels() {
    in_own_namespace(|routes| {
        pair(routes);
        for name in ["left", "right"] {
            routes.set_up(name, true).unwrap();
        }
        let six = |net, last| IpAddr::from([0x2001, 2, 0, net, 0, 0, 0, last]);
        let four = |net, last| IpAddr::from([198, 18, net, last]);
        routes.add_address("left", HERE, 24).unwrap();
        routes.add_route(four(1, 0), 24, four(0, 9)).unwrap();
        routes.add_address("left", six(0, 1), 64).unwrap();
        routes.add_route(six(1, 0), 64, six(0, 9)).unwrap();
        for [near, by_way, router] in
            [[four(0, 7), four(1, 7), four(0, 9)], [six(0, 7), six(1, 7), six(0, 9)]]
        {
            assert_eq!(routes.next_hop("left", near).unwrap(), Some(near));
            assert_eq!(routes.next_hop("left", by_way).unwrap(), Some(router));
            assert_eq!(routes.next_hop("right", by_way).unwrap(), None, "it leaves by the other");
            assert_eq!(routes.neighbour("left", near).unwrap(), None);
            let words = format!("neighbour add {near} lladdr 02:00:00:00:0a:ff dev left");
            let mut ip = Command::new("ip");
            assert!(ip.args(words.split(' ')).status().unwrap().success());
            let known = routes.neighbour("left", near).unwrap();
            assert_eq!(known, Some([2, 0, 0, 0, 10, 255]), "{near}");
            assert_eq!(routes.neighbour("right", near).unwrap(), None, "on another link");
            assert_eq!(routes.neighbour("left", router).unwrap(), None, "of another");
        }
        assert!(routes.next_hop("left", four(99, 1)).is_err(), "there is no route");
    });
}
