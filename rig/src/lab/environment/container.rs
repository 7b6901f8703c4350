//! Knows what holds this process back besides the machine: a container, and the limits of the
//! control groups that it lives in.
//!
//! Never: the groups that the lab makes itself.

use super::fact::fact;
use super::tree::Tree;
use desk::record::Fact;

const OWN: &str = "proc/self/cgroup";
const GROUPS: &str = "sys/fs/cgroup";

/// Container and limits, as far as they can be read.
pub(super) fn observe(tree: &Tree) -> Vec<Fact> {
    let mut facts: Vec<Fact> = container(tree).into_iter().collect();
    let chain = groups(tree).unwrap_or_default();
    facts.extend(quota(tree, &chain));
    facts.extend(memory(tree, &chain));
    let cpus = chain.iter().find_map(|group| {
        let path = format!("{group}/cpuset.cpus.effective");
        Some(fact("cgroup.cpus", &path, &tree.text(&path)?))
    });
    facts.extend(cpus);
    facts
}

/// Bytes that are free below the limit of our group and of all around it, whichever leaves least;
/// none where none has a limit.
///
/// What files keep in the page cache counts as free, for the kernel drops it first.
///
/// Source: `memory.max`, `memory.current` and `memory.stat` of the kernel's `cgroup-v2.rst`;
/// `memory.limit_in_bytes` and `memory.usage_in_bytes` of its `cgroup-v1/memory.rst`.
pub(super) fn free(tree: &Tree) -> Option<u64> {
    let unified = ["memory.max", "memory.current", ""];
    let first = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_"];
    let of = |chain: Option<Vec<String>>, names: [&str; 3]| {
        chain?.iter().filter_map(|group| left(tree, group, names)).min()
    };
    of(groups(tree), unified).into_iter().chain(of(groups_of(tree, "memory"), first)).min()
}

/// Bytes that are free below the limit of one group, by the names of its files; `all` begins the
/// names of lines that count groups within, too. None where it has no limit: no number stands there
/// but the word `max`; in version 1 it is very large.
fn left(tree: &Tree, group: &str, [limit, used, all]: [&str; 3]) -> Option<u64> {
    let number = |file: &str| tree.number::<u64>(&format!("{group}/{file}"));
    let (limit, used) = (number(limit)?, number(used)?);
    let stat = tree.text(&format!("{group}/memory.stat")).unwrap_or_default();
    let cached = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(all)?.strip_prefix(name))?;
        line.trim().parse::<u64>().ok()
    };
    let cached: u64 = ["inactive_file ", "active_file "].into_iter().filter_map(cached).sum();
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

/// Our own group of version 2 and all around it: `0::/path`.
fn groups(tree: &Tree) -> Option<Vec<String>> {
    let own = tree.text(OWN)?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(ancestors(GROUPS, path))
}

/// Our own group of a controller of version 1 and all around it: `4:memory:/path`. Controllers
/// mounted together are written `cpu,cpuacct`; each has a link to where they are.
fn groups_of(tree: &Tree, controller: &str) -> Option<Vec<String>> {
    let own = tree.text(OWN)?;
    let path = own.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
        controllers.split(',').any(|one| one == controller).then_some(path)
    })?;
    Some(ancestors(&format!("{GROUPS}/{controller}"), path))
}

/// The directories of a group below where its hierarchy is mounted and of all around it, its own
/// first.
fn ancestors(mount: &str, path: &str) -> Vec<String> {
    let mut chain = Vec::new();
    let mut at = Some(path.trim_end_matches('/'));
    while let Some(path) = at.filter(|path| !path.is_empty()) {
        chain.push(format!("{mount}/{path}"));
        at = path.rsplit_once('/').map(|(outer, _)| outer);
    }
    chain.push(mount.to_owned());
    chain
}

/// The tightest quota of CPU time on the way up, of either version; `none` where none is.
///
/// Source: `cpu.max` of the kernel's `cgroup-v2.rst`; `cpu.cfs_quota_us` and `cpu.cfs_period_us` of
/// its `sched-bwc.rst`, where -1 is no limit.
fn quota(tree: &Tree, chain: &[String]) -> Option<Fact> {
    let unified = chain.iter().filter_map(|group| {
        let path = format!("{group}/cpu.max");
        let text = tree.text(&path)?;
        Some((path, cpus(text.split_once(' ')?)))
    });
    let first = groups_of(tree, "cpu").unwrap_or_default();
    let first = first.iter().filter_map(|group| {
        let path = format!("{group}/cpu.cfs_quota_us");
        let period = tree.text(&format!("{group}/cpu.cfs_period_us"))?;
        let cpus = cpus((&tree.text(&path)?, &period));
        Some((path, cpus))
    });
    let seen: Vec<(String, Option<f64>)> = unified.chain(first).collect();
    let limited = seen.iter().filter_map(|(path, cpus)| Some((path, (*cpus)?)));
    match limited.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((path, cpus)) => Some(fact("cgroup.cpu_quota", path, &format!("{cpus:.2} CPUs"))),
        None => Some(fact("cgroup.cpu_quota", &seen.first()?.0, "none")),
    }
}

/// CPUs of a quota and its period; none where it is no limit.
fn cpus((quota, period): (&str, &str)) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
    Some(number(quota)? / number(period)?)
}

/// The tightest limit of memory on the way up; `none` where nothing is limited.
fn memory(tree: &Tree, chain: &[String]) -> Option<Fact> {
    let file = |group: &String| format!("{group}/memory.max");
    let read = chain.iter().filter_map(|group| Some((group, tree.text(&file(group))?)));
    let read: Vec<(&String, String)> = read.collect();
    let bytes = read.iter().filter_map(|(group, text)| Some((text.parse::<u64>().ok()?, *group)));
    match bytes.min() {
        Some((bytes, group)) => {
            Some(fact("cgroup.memory_max", &file(group), &format!("{bytes} B")))
        }
        None => Some(fact("cgroup.memory_max", &file(read.first()?.0), "none")),
    }
}

/// What kind of container this is, by the marks that they leave; absent outside of one.
fn container(tree: &Tree) -> Option<Fact> {
    let said = "run/systemd/container";
    if let Some(name) = tree.text(said) {
        return Some(fact("container", said, &name));
    }
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let (path, name) = marks.iter().find(|(path, _)| tree.exists(path))?;
    Some(fact("container", path, name))
}
