//! Knows which single values describe a machine, where each stands and what a difference means.
//! Never: processors, caches and adapters, which have records of their own.

use super::accounting;
use super::tree::{Tree, field};
use desk::record::KeyClass::{Critical, Info};
use desk::record::{Fact, KeyClass};

/// Facts that are the whole content of one file: key, class, file.
const FILES: [(&str, KeyClass, &str); 16] = [
    ("bios.date", Info, "sys/class/dmi/id/bios_date"),
    ("bios.vendor", Info, "sys/class/dmi/id/bios_vendor"),
    ("bios.version", Critical, "sys/class/dmi/id/bios_version"),
    ("board.name", Critical, "sys/class/dmi/id/board_name"),
    ("board.vendor", Info, "sys/class/dmi/id/board_vendor"),
    ("clocksource", Critical, "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("kernel.cmdline", Info, "proc/cmdline"),
    ("kernel.release", Critical, "proc/sys/kernel/osrelease"),
    ("max_user_namespaces", Info, "proc/sys/user/max_user_namespaces"),
    ("system.product", Critical, "sys/class/dmi/id/product_name"),
    ("system.vendor", Info, "sys/class/dmi/id/sys_vendor"),
    ("tcp.congestion_allowed", Info, "proc/sys/net/ipv4/tcp_allowed_congestion_control"),
    ("tcp.congestion_available", Info, "proc/sys/net/ipv4/tcp_available_congestion_control"),
    ("tcp.congestion_default", Critical, "proc/sys/net/ipv4/tcp_congestion_control"),
    ("tcp.rmem", Critical, "proc/sys/net/ipv4/tcp_rmem"),
    ("tcp.wmem", Critical, "proc/sys/net/ipv4/tcp_wmem"),
];

const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities";

/// Everything that can be read, in no particular order.
pub(super) fn observe(tree: &Tree) -> Vec<Fact> {
    let files = FILES
        .iter()
        .filter_map(|(key, class, path)| Some(fact(key, *class, path, &tree.text(path)?)));
    let mitigations = tree.names(VULNERABILITIES).into_iter().filter_map(|name| {
        let path = format!("{VULNERABILITIES}/{name}");
        Some(fact(&format!("mitigation.{name}"), Critical, &path, &tree.text(&path)?))
    });
    let parts = [os(tree), huge_pages(tree), microcode(tree), accounting::observe(tree)];
    files.chain(mitigations).chain(parts.into_iter().flatten()).collect()
}

/// White space inside becomes single blanks: the kernel separates some values by tabs.
pub(super) fn fact(key: &str, class: KeyClass, path: &str, value: &str) -> Fact {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    Fact { key: key.to_owned(), value, class, source: format!("/{path}") }
}

/// The distribution in its own words.
fn os(tree: &Tree) -> Option<Fact> {
    let path = "etc/os-release";
    let text = tree.text(path)?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(fact("os", Critical, path, name.trim_matches(['"', '\''])))
}

/// Transparent huge pages: the choice in brackets of `always [madvise] never`.
fn huge_pages(tree: &Tree) -> Option<Fact> {
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let text = tree.text(path)?;
    let chosen = text.split_once('[')?.1.split_once(']')?.0;
    Some(fact("thp", Critical, path, chosen))
}

/// The microcode of the first CPU.
fn microcode(tree: &Tree) -> Option<Fact> {
    let path = "proc/cpuinfo";
    Some(fact("microcode", Critical, path, field(&tree.text(path)?, "microcode")?))
}
