//! Tests of the ethtool layer against a veth pair in a network namespace that only they see.

use super::*;
use std::path::Path;
use std::process::Command;

const IP: &str = "/usr/sbin/ip";

/// Runs `body` in a thread that has left the host's network for an empty one with a veth pair
/// `near`-`far` in it; says aloud when it cannot.
fn with_veth_pair(body: fn()) {
    // SAFETY: geteuid takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: needs root");
        return;
    }
    if !Path::new(IP).exists() {
        println!("skipped: needs {IP}");
        return;
    }
    let isolated = std::thread::spawn(move || {
        // SAFETY: unshare of the network concerns this thread alone, which ends with the test.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            println!("skipped: the kernel refused a network namespace");
            return;
        }
        let pair = ["link", "add", "near", "type", "veth", "peer", "name", "far"];
        assert!(Command::new(IP).args(pair).status().unwrap().success());
        body();
    });
    isolated.join().unwrap();
}

fn is_active(features: &[Feature], name: &str) -> bool {
    features.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}")).active
}

fn set(ethtool: &mut Ethtool, feature: &str, to: bool) -> Vec<Feature> {
    ethtool.set_features("near", &[(feature.to_owned(), to)]).unwrap()
}

#[test]
fn segmentation_goes_off_and_on_again() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        assert!(is_active(&ethtool.features("near").unwrap(), "tx-tcp-segmentation"));
        assert!(!is_active(
            &set(&mut ethtool, "tx-tcp-segmentation", false),
            "tx-tcp-segmentation"
        ));
        assert!(is_active(&ethtool.features("far").unwrap(), "tx-tcp-segmentation"));
        assert!(is_active(&set(&mut ethtool, "tx-tcp-segmentation", true), "tx-tcp-segmentation"));
    });
}

#[test]
fn checksum_off_drags_segmentation_off() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        let features = set(&mut ethtool, "tx-checksum-ip-generic", false);
        let segmentation = features.iter().find(|f| f.name == "tx-tcp-segmentation").unwrap();
        assert!(!segmentation.active, "{segmentation:?}");
        assert!(segmentation.wanted && segmentation.changeable, "{segmentation:?}");
    });
}

#[test]
fn a_fixed_feature_stays_and_an_unknown_one_is_refused() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        let before = ethtool.features("near").unwrap();
        let fixed = before.iter().find(|f| !f.changeable && !f.active).unwrap();
        assert_eq!(set(&mut ethtool, &fixed.name, true), before);
        let unknown = ethtool.set_features("near", &[("tx-teleport".to_owned(), true)]);
        assert!(
            matches!(unknown, Err(EthtoolError::NotSupported { op, .. }) if op.contains("tele"))
        );
    });
}

#[test]
fn an_ordinary_user_may_look_and_not_touch() {
    with_veth_pair(|| {
        // SAFETY: the system call itself, unlike the function of libc, changes this thread alone.
        let dropped = unsafe { libc::syscall(libc::SYS_setresuid, 65534, 65534, 65534) };
        assert_eq!(dropped, 0);
        let mut ethtool = Ethtool::open().unwrap();
        assert!(is_active(&ethtool.features("near").unwrap(), "tx-tcp-segmentation"));
        let refused = ethtool.set_features("near", &[("tx-tcp-segmentation".to_owned(), false)]);
        assert!(matches!(refused, Err(EthtoolError::PermissionDenied { .. })), "{refused:?}");
    });
}

#[test]
fn the_answers_agree_with_the_ethtool_command() {
    with_veth_pair(|| {
        let Ok(output) = Command::new("/usr/sbin/ethtool").args(["-k", "near"]).output() else {
            println!("skipped: needs /usr/sbin/ethtool");
            return;
        };
        let said = String::from_utf8(output.stdout).unwrap();
        let features = Ethtool::open().unwrap().features("near").unwrap();
        let mut compared = 0;
        // The command also prints groups of its own (`tcp-segmentation-offload`); skip those.
        for (name, state) in said.lines().filter_map(|line| line.trim().split_once(": ")) {
            let Some(feature) = features.iter().find(|f| f.name == name) else { continue };
            assert_eq!(state.starts_with("on"), feature.active, "{name}");
            assert_eq!(!state.contains("[fixed]"), feature.changeable, "{name}");
            compared += 1;
        }
        assert!(compared > 20, "only {compared} features in:\n{said}");
    });
}

#[test]
fn a_link_that_is_not_there_is_named() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        for name in ["nowhere0", "", "a-name-too-long-for-a-link"] {
            let missing = |error: EthtoolError| matches!(error, EthtoolError::NoSuchLink { .. });
            assert!(missing(ethtool.features(name).unwrap_err()), "{name}");
            assert!(missing(ethtool.channels(name).unwrap_err()), "{name}");
            assert!(missing(ethtool.link_modes(name).unwrap_err()), "{name}");
            assert!(missing(ethtool.driver_info(name).unwrap_err()), "{name}");
        }
    });
}

#[test]
fn a_veth_has_a_driver_a_queue_and_a_made_up_speed() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        let driver = ethtool.driver_info("near").unwrap().unwrap();
        assert_eq!((driver.driver.as_str(), driver.firmware), ("veth", None));
        let modes = ethtool.link_modes("near").unwrap();
        assert_eq!(modes.speed_now, Some(Quantity::new(1e10, Unit::BitPerSecond)));
        assert_eq!((modes.speed_best, modes.duplex), (None, Some(Duplex::Full)));
        let channels = ethtool.channels("near").unwrap().unwrap();
        assert!((1..=channels.rx_max).contains(&channels.rx), "{channels:?}");
    });
}

#[test]
fn the_loopback_answers_what_it_can_and_leaves_the_rest_absent() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        assert_eq!(ethtool.channels("lo").unwrap(), None);
        assert_eq!(ethtool.link_modes("lo").unwrap(), LinkModes::default());
    });
}

#[test]
fn the_speed_of_a_mode_is_in_its_name() {
    assert_eq!(mode_speed("25000baseCR/Full"), Some(25_000));
    assert_eq!(mode_speed("100baseT1/Full"), Some(100));
    assert_eq!(mode_speed("Autoneg"), None);
    assert_eq!(line_rate(u32::MAX), None);
    assert_eq!(line_rate(0), None);
}

#[test]
fn a_virtual_pair_has_no_cable_and_counts_by_its_driver_alone() {
    with_veth_pair(|| {
        let mut ethtool = Ethtool::open().unwrap();
        let refused = ethtool.test_cable("near").unwrap_err().to_string();
        assert!(refused.contains("Operation not supported"), "{refused}");
        let counters = ethtool.counters("near").unwrap();
        assert!(!counters.contains_key("tx_pause"), "{counters:?}");
        assert!(counters.keys().all(|name| name.starts_with("driver.")), "{counters:?}");
        assert!(counters.contains_key("driver.peer_ifindex"), "{counters:?}");
        assert!(matches!(ethtool.counters("nowhere0"), Err(EthtoolError::NoSuchLink { .. })));
        assert!(matches!(ethtool.test_cable("nowhere0"), Err(EthtoolError::NoSuchLink { .. })));
    });
}
