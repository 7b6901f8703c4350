//! Which shapes of a lab a plan may tell, and with which words others are refused.

use super::read;
use crate::plan::example::catalogue;
use crate::record::{LinkKind, LinkPlan, Plan, Role, Way};

/// A plan of two clients with these tables of the lab.
fn lab(tables: &str) -> Result<Plan, String> {
    let text = format!(
        "title = \"t\"\n[lab]\nclients = 2\n{tables}\n[load.net]\nworkload = \"tcp_stream\"\n"
    );
    read(&text, &catalogue()).map_err(|e| e.to_string())
}

#[test]
fn a_host_stands_between_links_that_name_their_members() {
    let plan = lab("[lab.hosts.box]\n[lab.hosts.wan]\nrole = \"switch\"\n\
         [lab.links.far]\nmembers = [\"wan\", \"sut\"]\nkind = \"direct\"\n\
         [lab.links.mid]\nmembers = [\"box\", \"wan\"]\n\
         [lab.links.near]\nmembers = [\"c01\", \"c02\", \"box\"]\n");
    let lab = plan.unwrap().lab;
    assert_eq!(lab.hosts.iter().map(|h| h.role).collect::<Vec<_>>(), [Role::Device, Role::Switch]);
    assert_eq!(lab.links[0].kind, Some(LinkKind::Direct));
    assert_eq!(lab.members(&lab.links[2]), [1, 2, 3]);
}

#[test]
fn a_lab_that_cannot_be_joined_so_is_refused_with_the_remedy() {
    let box_and = |links: &str| lab(&format!("[lab.hosts.box]\n{links}")).unwrap_err();
    let near = "[lab.links.near]\nmembers = [\"c01\", \"c02\", \"box\"]\n";
    for (refused, wanted) in [
        (box_and("[lab.links.a]\nmembers = [\"sut\", \"bix\"]\n"), "did you mean 'box'?"),
        (box_and("[lab.links.a]\nmembers = [\"sut\"]\n"), "two hosts or more"),
        (box_and("[lab.links.a]\nmembers = [\"sut\", \"sut\"]\n"), "sut twice"),
        (box_and("[lab.links.a]\nkind = \"direct\"\n"), "3 members of link a"),
        (box_and("[lab.links.a]\nkind = \"wire\"\n"), "bridge or direct or adapter"),
        (box_and("[lab.links.a]\n"), "box on no link"),
        (box_and(near), "sut on no link"),
        (
            box_and(&format!("{near}[lab.links.far]\nmembers = [\"box\", \"sut\"]\n")),
            "which sut is not on, as the first link",
        ),
        (
            box_and(
                "[lab.links.far]\nmembers = [\"sut\", \"c01\"]\n\
                     [lab.links.near]\nmembers = [\"c02\", \"box\"]\n",
            ),
            "no way from c02 to link far",
        ),
        (lab("[lab.hosts.c07]\n").unwrap_err(), "c07"),
        (
            lab("[lab.hosts.box]\nrole = \"router\"\n").unwrap_err(),
            "device or relay or switch or tester",
        ),
    ] {
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

/// A link of adapters with a box on its cable, and these keys of the box.
fn with_box(keys: &str) -> Result<Plan, String> {
    lab(&format!(
        "[lab.links.wire]\nkind = \"adapter\"\n\
         adapters = {{ sut = \"eth1\", clients = \"eth2\" }}\n\
         [lab.boxes.firewall]\n{keys}"
    ))
}

#[test]
fn a_box_stands_on_a_cable_and_may_tell_its_counters() {
    let plan = with_box("link = \"wire\"\n").unwrap();
    assert_eq!((plan.lab.boxes[0].snmp.as_deref(), plan.lab.boxes[0].ports.len()), (None, 0));
    let told = "link = \"wire\"\nsnmp = \"192.0.2.9\"\nports = [\"lan1\", \"lan2\"]\n";
    let plan = with_box(told).unwrap();
    assert_eq!(plan.lab.boxes[0].ports, ["lan1", "lan2"]);
    crate::plan::recheck(&plan, &catalogue()).unwrap();
    // A link of which the plan does not say the kind may get adapters from a lab file.
    lab("[lab.links.wire]\n[lab.boxes.firewall]\nlink = \"wire\"\n").unwrap();
}

#[test]
fn a_box_that_cannot_be_read_is_refused_with_the_remedy() {
    let agent = |address: &str| format!("link = \"wire\"\nsnmp = \"{address}\"\n");
    let here = agent("192.0.2.9");
    for (refused, wanted) in [
        (with_box("").unwrap_err(), "'link' is missing"),
        (with_box("link = \"wide\"\n").unwrap_err(), "did you mean 'wire'?"),
        (with_box(&here).unwrap_err(), "'ports' is missing"),
        (with_box("link = \"wire\"\nports = [\"a\"]\n").unwrap_err(), "'snmp' is missing"),
        (with_box(&agent("firewall")).unwrap_err(), "IP or IP:PORT"),
        (with_box(&format!("{here}ports = []\n")).unwrap_err(), "0 ports"),
        (
            with_box(&format!("{here}ports = [\"a\", \"a\"]\n")).unwrap_err(),
            "each name of a port once",
        ),
        (
            lab("[lab.links.a]\nkind = \"bridge\"\n[lab.boxes.firewall]\nlink = \"a\"\n")
                .unwrap_err(),
            "firewall on link a, which is virtual",
        ),
        (lab("[lab.links.a]\n[lab.boxes.sut]\nlink = \"a\"\n").unwrap_err(), "that no host has"),
        (lab("[lab.links.a]\n[lab.boxes.c40]\nlink = \"a\"\n").unwrap_err(), "that no host has"),
        (
            lab("[lab.hosts.gate]\n[lab.links.a]\nmembers = [\"gate\", \"sut\"]\n\
                 [lab.links.b]\nmembers = [\"gate\", \"c01\", \"c02\"]\n\
                 [lab.boxes.firewall]\nlink = \"b\"\n")
            .unwrap_err(),
            "firewall on link b, which sut is not on",
        ),
        (
            with_box("link = \"wire\"\n[lab.boxes.other]\nlink = \"wire\"\n").unwrap_err(),
            "2 boxes on link wire",
        ),
    ] {
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

const RELAY: &str = "[lab.hosts.wan]\nrole = \"relay\"\n\
     [lab.links.far]\nmembers = [\"wan\", \"sut\"]\nkind = \"direct\"\n";
const NEAR: &str = "[lab.links.near]\nmembers = [\"c01\", \"c02\", \"wan\"]\n";

#[test]
fn a_relay_joins_two_links_to_one_network() {
    let lab = lab(&format!("path_delay = \"20 ms\"\n{RELAY}{NEAR}")).unwrap().lab;
    assert_eq!((lab.relay(), lab.networks()), (Some(3), vec![0, 0]));
    assert_eq!(lab.ways(1), [Way::Bridged { link: 1 }, Way::Member]);
    assert_eq!(lab.settings["path_delay"].to_string(), "20 ms");
}

#[test]
fn a_relay_that_cannot_be_and_a_distance_without_one_are_refused() {
    let third = "[lab.links.mid]\nmembers = [\"c01\", \"wan\"]\n";
    let two =
        "[lab.hosts.other]\nrole = \"relay\"\n[lab.links.mid]\nmembers = [\"other\", \"c01\"]\n";
    let levels = "[factors.path_delay]\nlevels = [\"0 ms\", \"20 ms\"]\n";
    let profile = "[factors.profile]\nlevels.a = { path_delay = \"0 ms\" }\n\
                   levels.b = { path_delay = \"1 ms\" }\n";
    for (tables, wanted) in [
        (format!("{RELAY}{NEAR}{third}"), "a relay on 3 links"),
        (format!("{RELAY}{NEAR}{two}"), "2 relays"),
        ("path_delay = \"20 ms\"\n".to_owned(), "make it a member of two links"),
        (levels.to_owned(), "the lab has none"),
        (profile.to_owned(), "the lab has none"),
        (format!("path_delay = \"300 ms\"\n{RELAY}{NEAR}"), "200 ms"),
    ] {
        let refused = lab(&tables).unwrap_err();
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

#[test]
fn two_cables_are_of_a_bridge_with_room_for_a_second_name() {
    let plan = lab("[lab.links.lan]\ncables = 2\n[lab.links.wan]\n").unwrap().lab;
    assert_eq!(plan.links.iter().map(LinkPlan::is_double).collect::<Vec<_>>(), [true, false]);
    for (tables, wanted) in [
        ("[lab.links.lan]\ncables = 3\n", "from 1 to 2"),
        (
            "[lab.links.lan]\nkind = \"direct\"\nmembers = [\"sut\", \"c01\"]\ncables = 2\n",
            "is no bridge",
        ),
        ("[lab.links.a-long-name-lan]\ncables = 2\n", "at most 13 letters"),
    ] {
        let refused = lab(tables).unwrap_err();
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

#[test]
fn adapters_of_the_machine_are_named_for_every_member() {
    let plan = lab("machine = \"sut\"\n[lab.links.lan]\nkind = \"adapter\"\n\
         adapters = { sut = \"eth1\", clients = \"0000:03:00.1\" }\n");
    let lab = plan.unwrap().lab;
    assert_eq!(lab.machine.as_deref(), Some("sut"));
    assert_eq!(lab.links[0].adapter("c02"), Some("0000:03:00.1"));
}

#[test]
fn a_lab_of_adapters_that_cannot_be_is_refused_with_the_remedy() {
    let real = "kind = \"adapter\"\n";
    let both = "adapters = { sut = \"eth1\", clients = \"eth2\" }\n";
    for (tables, wanted) in [
        (format!("[lab.links.a]\n{both}"), "which is virtual"),
        (format!("[lab.links.a]\n{real}adapters = {{ sut = \"eth1\" }}\n"), "adapters.c01 = "),
        (format!("[lab.links.a]\n{real}adapters = {{ sut = \"/etc\" }}\n"), "bus address"),
        (
            format!("[lab.links.a]\n{real}{}", both.replace(" }", ", box = \"eth3\" }")),
            "a member of the link",
        ),
        (
            format!("[lab.links.a]\n{real}{both}[lab.links.b]\n{real}{both}"),
            "adapter eth2 on two links",
        ),
        ("machine = \"sut\"\n[lab.links.a]\n".into(), "the machine itself, on link a"),
        (format!("machine = \"c01\"\n[lab.links.a]\n{real}{both}"), "itself, on link a"),
        (format!("machine = \"box\"\n[lab.links.a]\n{real}{both}"), "sut or a client"),
        (
            "[lab.hosts.sw]\nrole = \"switch\"\n[lab.links.a]\n\
             members = [\"sut\", \"c01\", \"sw\"]\n[lab.links.b]\n\
             members = [\"sut\", \"c02\", \"sw\"]\n"
                .into(),
            "sut on two links that a switch or relay joins",
        ),
        (
            "[lab.hosts.box]\nrole = \"tester\"\n[lab.links.a]\n\
             members = [\"sut\", \"c01\", \"box\"]\n[lab.links.b]\n\
             members = [\"box\", \"c02\"]\n"
                .into(),
            "no way from c02 to link a",
        ),
    ] {
        let refused = lab(&tables).unwrap_err();
        assert!(refused.contains(wanted), "{wanted}: {refused}");
    }
}

#[test]
fn ipv6_needs_links_that_carry_it_in_every_treatment() {
    let small = "[lab.links.lan]\nmtu = \"1279 B\"";
    let said = lab(&format!("ip_version = 6\n{small}")).unwrap_err();
    assert!(said.starts_with("line 4: ip_version = 6 needs an MTU of 1280 B"), "{said}");
    assert!(lab(&format!("ip_version = 4\n{small}")).is_ok());
    assert!(lab("ip_version = 6\n[lab.links.lan]\nmtu = \"1280 B\"").is_ok());
    let crossed = "[factors.ip_version]\nlevels = [4, 6]\n[factors.mtu]\nlevels = ";
    let said = lab(&format!("{crossed}[\"1500 B\", \"1000 B\"]")).unwrap_err();
    assert!(said.contains("link 'lan' has mtu = 1000 B"), "{said}");
    assert!(lab(&format!("{crossed}[\"1500 B\", \"9000 B\"]")).is_ok());
    // Where the two never meet.
    let apart = "[factors.stack]\nkey = \"profile\"\n[factors.stack.levels]\n\
        old = { ip_version = 4, mtu = \"1000 B\" }\nnew = { ip_version = 6, mtu = \"1500 B\" }";
    let plan = lab(apart).unwrap();
    let version = |level: usize| plan.ip_version(&plan.factors[0].levels[level].settings);
    assert_eq!([version(0), version(1)], [4, 6]);
}
