//! Knows what the machine tells of itself: virtual or not, clocks, counters, processes, memory.
//!
//! Must not know which probe reads it.

use super::{Capability, State, said, text};
use crate::lab::clock;
use crate::lab::environment;
use desk::unit::Quantity;
use std::path::Path;

const CPUS: &str = "sys/devices/system/cpu";
const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Readings of the clock of which the mean is taken.
const READINGS: u64 = 2000;
/// A clock that is read without a system call takes some 30 ns; one that is not, at least 300 ns.
const SLOW_CLOCK_NS: u64 = 300;

pub(super) fn look(root: &Path) -> Vec<Capability> {
    vec![
        hardware(root),
        isolated(root),
        nodes(root),
        clock_source(root),
        throttle(root),
        processes(root),
        power(root),
        memory(root),
    ]
}

/// Whether the processors are the machine's own or a hypervisor's.
fn hardware(root: &Path) -> Capability {
    let name = "own processors";
    match environment::observe(root).cpu.hypervisor {
        None => Capability::new(name, State::Ok, "/proc/cpuinfo has no flag 'hypervisor'"),
        Some(of) => {
            let evidence = format!("/proc/cpuinfo flag 'hypervisor': a guest ({of})");
            Capability::new(name, State::Degraded, evidence)
        }
    }
}

fn isolated(root: &Path) -> Capability {
    let path = format!("{CPUS}/isolated");
    let there = text(root, &path).is_ok_and(|cpus| !cpus.is_empty());
    Capability::either("isolated CPUs", there, said(root, &path))
}

fn nodes(root: &Path) -> Capability {
    let path = "sys/devices/system/node/online";
    let several = text(root, path).is_ok_and(|list| list.contains(['-', ',']));
    Capability::either("several NUMA nodes", several, said(root, path))
}

fn clock_source(root: &Path) -> Capability {
    let began_ns = clock::now_ns();
    for _ in 1..READINGS {
        std::hint::black_box(clock::now_ns());
    }
    let each_ns = (clock::now_ns() - began_ns) / READINGS;
    let evidence = format!("{}; {each_ns} ns a reading", said(root, CLOCK));
    let state = if each_ns < SLOW_CLOCK_NS { State::Ok } else { State::Degraded };
    Capability::new("clock source", state, evidence)
}

fn throttle(root: &Path) -> Capability {
    let name = "throttling counters";
    let path = format!("{CPUS}/cpu0/thermal_throttle/core_throttle_count");
    Capability::either(name, root.join(&path).exists(), said(root, &path))
}

/// Whether processes of others and threads of the kernel can be seen in `/proc`.
fn processes(root: &Path) -> Capability {
    let name = "processes of others";
    let path = "proc/2/stat";
    // The parent of all kernel threads, where the numbers are the machine's own.
    match text(root, path) {
        Ok(stat) if stat.starts_with("2 (kthreadd)") => {
            Capability::new(name, State::Ok, "/proc/2/stat is kthreadd")
        }
        Ok(_) => {
            let evidence = "/proc/2/stat is not kthreadd: a PID namespace of its own";
            Capability::new(name, State::Degraded, evidence)
        }
        Err(why) => Capability::new(name, State::Absent, why),
    }
}

fn power(root: &Path) -> Capability {
    let path = "sys/class/powercap/intel-rapl:0/energy_uj";
    let read = text(root, path);
    Capability::either("RAPL", read.is_ok(), said(root, path))
}

fn memory(root: &Path) -> Capability {
    let name = "memory";
    let read = text(root, "proc/meminfo");
    let kibibytes = |key: &str| -> Option<u64> {
        let line = read.as_ref().ok()?.lines().find_map(|l| l.strip_prefix(key))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    match (kibibytes("MemAvailable:"), kibibytes("MemTotal:")) {
        (Some(free), Some(all)) => {
            let [free, all] = [free, all].map(|k| Quantity::bytes(k * 1024));
            let evidence = format!("/proc/meminfo MemAvailable {free} of {all}");
            Capability::new(name, State::Ok, evidence)
        }
        _ => Capability::new(name, State::Absent, "/proc/meminfo does not say"),
    }
}
