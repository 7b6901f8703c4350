//! Knows that factors which the kernel of this machine may lack take in a guest of QEMU: a VLAN,
//! whose link carries the frames, IPsec, whose headers make segments smaller, and bonds, whose two
//! cables carry more than one. What QEMU, a kernel or busybox is missing for is skipped aloud.
#![cfg(feature = "machines")]
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests stand outside test functions"
)]

#[allow(dead_code, reason = "each test takes what it needs of it")]
mod kill;
mod moment;

use desk::record::{Fault, Run};
use kill::{Place, STEND};
use rig::lab::guest::{Kernel, System};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What of busybox the first process of the guest is.
const BUSYBOX: &str = "/usr/bin/busybox";
/// A guest boots in ten seconds and measures for half a minute on two CPUs.
const LIMIT: Duration = Duration::from_secs(240);

/// Two factors that need modules of the kernel, and one that the VLAN link must follow. The load
/// leaves the emulated CPUs time to read counters at the edges.
const PLAN: &str = r#"title = "Factors of a guest"
factors.vlan.levels = ["off", 100]
factors.ipsec.levels = ["off", "aes-gcm-128"]
load.net = { workload = "tcp_stream", offered_load = "16 Mbit/s", request_size = "16 KiB" }
lab.clients = 2
lab.links.lan = { mtu = "1400 B" }
method.compare = "ipsec"
method.blocks = 3
method.dry = false
method.window = "500 ms"
method.steady = "noted"
method.settle = "200 ms"
method.settle_max = "200 ms"
"#;

/// Every mode of a bond whose cables have a token bucket each, with streams enough to use both.
const BONDS: &str = r#"title = "Bonds of a guest"
factors.bonding.levels = ["off", "balance-alb", "balance-xor", "802.3ad"]
load.net = { workload = "tcp_stream", streams = 4 }
lab.clients = 2
lab.links.lan = { cables = 2, mtu = "1400 B", rate = "40 Mbit/s" }
method.compare = "bonding"
method.blocks = 3
method.dry = false
method.window = "1 s"
method.steady = "noted"
method.settle = "500 ms"
method.settle_max = "500 ms"
"#;

/// The first process: what the kernel counts in each namespace goes to the console, the records to
/// the second serial line.
const INIT: &str = r#"#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sysfs /sys; $b mount -t devtmpfs devtmpfs /dev
for d in run tmp root; do $b mkdir -p /$d; $b mount -t tmpfs tmpfs /$d; done
$b mkdir -p /run/netns
for m in /modules/*; do $b insmod $m; done
# The kernel shall load it again, as it does where nothing says max_bonds=0.
$b rmmod bonding; $b mkdir -p /sbin; $b cp /modprobe /sbin/modprobe
export HOME=/root PATH=/bin
$b ip link set lo up 2>/dev/null || $b ifconfig lo up
cd /root
/stend run /plan.toml --store /root/lab.stend --out out > /root/log 2>&1 &
run=$!
while $b kill -0 $run 2>/dev/null; do
    for n in /run/netns/*; do
        $b nsenter --net=$n $b sh -c "$b grep -h . /proc/net/vlan/v*; $b cat /proc/net/xfrm_stat
            $b cat /proc/net/bonding/b*.*" \
            2>/dev/null | $b sed "s|^|${n##*/} |"
    done
    $b sleep 1
done
for link in /sys/class/net/bond[0-9]*; do echo LEFT $link; done
$b cat /root/log
$b cat out/records.json > /dev/ttyS1
echo THE END
$b sync
$b poweroff -f
"#;

/// What loads a module that the kernel asks for.
const MODPROBE: &str = r#"#!/bin/busybox sh
echo MODPROBE $* > /dev/console
case "$*" in *rtnl-link-bond) exec /bin/busybox insmod /modules/*-bonding*;; esac
exit 1
"#;

/// Where a kernel is, if guests can be had here; why not is told.
fn kernel() -> Option<Kernel> {
    for (program, package) in [("qemu-system-x86_64", "qemu-system-x86"), ("cpio", "cpio")] {
        if Command::new(program).arg("--version").output().is_err() {
            println!("skipped: needs {program}, of the package {package}");
            return None;
        }
    }
    let linked = Command::new("ldd").arg(BUSYBOX).output();
    let is_static = linked.is_ok_and(|said| !said.status.success());
    if !Path::new(BUSYBOX).exists() || !is_static {
        println!("skipped: needs {BUSYBOX} of the package busybox-static");
        return None;
    }
    let named = std::env::var_os("STEND_GUEST_KERNEL").filter(|path| !path.is_empty());
    let root = named.map_or_else(|| PathBuf::from("/"), PathBuf::from);
    Kernel::find(&root).map_err(|e| println!("skipped: {e}")).ok()
}

/// Appends a second archive with what our own guests do not need; the kernel unpacks both.
fn add_to(archive: &Path, plan: &str, place: &Place) {
    let tree = place.path.join("tree");
    fs::create_dir_all(tree.join("bin")).expect("a directory");
    fs::copy(BUSYBOX, tree.join("bin/busybox")).expect("busybox");
    fs::write(tree.join("plan.toml"), plan).expect("a plan");
    for (name, script) in [("check", INIT), ("modprobe", MODPROBE)] {
        fs::write(tree.join(name), script).expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(tree.join(name), mode).expect("a script");
    }
    let mut pack = Command::new("cpio");
    pack.args(["-o", "-H", "newc", "--quiet"]).current_dir(&tree).stdin(Stdio::piped());
    let mut pack = pack.stdout(Stdio::piped()).spawn().expect("cpio");
    let names = "bin\nbin/busybox\nplan.toml\ncheck\nmodprobe\n";
    pack.stdin.take().expect("a pipe").write_all(names.as_bytes()).expect("a pipe");
    let packed = pack.wait_with_output().expect("cpio").stdout;
    let mut to = fs::OpenOptions::new().append(true).open(archive).expect("an archive");
    to.write_all(&packed).expect("an archive");
}

/// Boots, waits for the end, and gives what the console said and the records.
fn boot(kernel: &Kernel, place: &Place) -> (String, String) {
    let [console, records] = ["console", "records"].map(|name| place.path.join(name));
    let serial = |file: &Path| format!("file:{}", file.display());
    let mut guest = Command::new("qemu-system-x86_64");
    guest.args(["-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-smp", "2"]);
    guest.args(["-m", "1536M", "-nodefaults", "-display", "none", "-no-reboot"]);
    guest.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(place.path.join("initramfs"));
    guest.args(["-append", "rdinit=/check console=ttyS0 quiet panic=-1"]);
    guest.args(["-serial", &serial(&console), "-serial", &serial(&records)]);
    let mut guest = guest.spawn().expect("QEMU");
    let begun = Instant::now();
    while guest.try_wait().expect("QEMU").is_none() && begun.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(200));
    }
    let _ = guest.kill();
    let _ = guest.wait();
    println!("the guest lived for {:.0?}", begun.elapsed());
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    (read(&console), read(&records))
}

/// The most that a line of the console with this word counts, of all hosts.
fn most(console: &str, word: &str) -> u64 {
    let lines = console.lines().filter(|line| line.contains(word));
    lines.filter_map(|line| line.split_whitespace().last()?.parse().ok()).max().unwrap_or(0)
}

/// A run of a plan in a guest, and what its console said; every trial without a fault has these
/// factors as they were set. None where guests cannot be had.
fn made(name: &str, plan: &str, factors: &[&str]) -> Option<(Run, String)> {
    let kernel = kernel()?;
    let place = Place::new(name);
    System::build(&kernel, Path::new(STEND), &[], &place.path).expect("an archive");
    add_to(&place.path.join("initramfs"), plan, &place);
    let (console, records) = boot(&kernel, &place);
    let run: Run = serde_json::from_str(&records).expect(&console);
    for record in &run.records {
        // An emulated machine reads its counters late now and then.
        let fault = record.outcome.fault.as_ref();
        let ours = matches!(fault, Some(Fault::Factor { .. } | Fault::WrongWork { .. }));
        assert!(!ours, "{fault:?}: {console}");
        for factor in factors.iter().filter(|_| fault.is_none()) {
            let (set, read) = (record.trial.settings.get(*factor), record.observed.get(*factor));
            assert!(read.is_some() && (set.is_none() || set == read), "{factor}: {read:?}");
        }
    }
    Some((run, console))
}

#[test]
#[ignore = "a minute: ./test full"]
fn bonds_carry_more_than_one_cable_in_a_guest() {
    let Some((run, console)) = made("bonds", BONDS, &["bonding", "mtu", "rate"]) else { return };
    let mut rates = std::collections::BTreeMap::new();
    for record in run.records.iter().filter(|r| r.outcome.fault.is_none()) {
        let level = record.observed["bonding"].to_string();
        let rate = record.outcome.metric("throughput").expect("a rate").value;
        rates.entry(level).or_insert_with(Vec::new).push(rate / 1e6);
    }
    assert_eq!(rates.len(), 4, "each level has a trial: {console}");
    let most = |level: &str| rates[level].iter().copied().fold(0.0, f64::max);
    assert!((30.0..40.0).contains(&most("off")), "{rates:?}");
    for level in ["balance-xor", "802.3ad"] {
        assert!((60.0..80.0).contains(&most(level)), "{rates:?}: {console}");
    }
    // It shares peers out, by what each has sent, every ten seconds: no trial here is so long.
    assert!((30.0..80.0).contains(&most("balance-alb")), "{rates:?}");
    for words in [
        "IEEE 802.3ad Dynamic link aggregation",
        "LACP rate: fast",
        "Number of ports: 2",
        "load balancing (xor)",
        "adaptive load balancing",
        "Transmit Hash Policy: layer3+4",
    ] {
        assert!(console.contains(words), "{words}: {console}");
    }
    assert!(console.contains("MODPROBE") && console.contains("LEFT"), "{console}");
    assert!(!console.contains("LEFT /sys/class/net/bond0"), "{console}");
}

#[test]
#[ignore = "a minute: ./test full"]
fn a_vlan_tags_frames_and_ipsec_makes_segments_smaller_in_a_guest() {
    let Some((run, console)) = made("factors", PLAN, &["vlan", "ipsec", "mtu"]) else { return };
    let mut segments = std::collections::BTreeMap::new();
    for record in run.records.iter().filter(|r| r.outcome.fault.is_none()) {
        let level = |factor: &str| record.observed.get(factor).map(ToString::to_string);
        let flows = &record.outcome.flows;
        let at = flows.columns.iter().position(|column| column.name == "mss").expect("a column");
        for flow in &flows.rows {
            let mss = flow.figures[at];
            segments.entry((level("vlan"), level("ipsec"))).or_insert_with(Vec::new).push(mss);
        }
    }
    assert_eq!(segments.len(), 4, "each treatment has a trial: {console}");
    let of = |vlan: &str, ipsec: &str| segments[&(Some(vlan.into()), Some(ipsec.into()))].clone();
    // Without headers 1,400 B less 20 of IPv4, 20 of TCP and 12 of its timestamps.
    for vlan in ["off", "100"] {
        assert!(of(vlan, "off").iter().all(|mss| *mss == Some(1348.0)), "{segments:?}");
        // ESP has 8 B, its nonce 8 B, its check 16 B, and its trailer from 2 to 5 B.
        let smaller = |mss: &Option<f64>| mss.is_some_and(|mss| (1310.0..=1314.0).contains(&mss));
        assert!(of(vlan, "aes-gcm-128").iter().all(smaller), "{segments:?}");
    }
    assert!(console.contains("VID: 100"), "{console}");
    let bytes = most(&console, "total bytes received");
    assert!(bytes > 1 << 20, "{bytes} B came over VLAN links: {console}");
    for error in ["XfrmInError", "XfrmInNoStates", "XfrmInStateProtoError", "XfrmOutError"] {
        assert!(console.contains(error), "{console}");
        assert_eq!(most(&console, error), 0, "{error}: {console}");
    }
}
