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
    let Some(chain) = groups(tree) else { return facts };
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
    of(groups(tree), unified).into_iter().chain(of(memory_groups(tree), first)).min()
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

/// Our own group of version 1's memory controller and all around it: `4:memory:/path`.
fn memory_groups(tree: &Tree) -> Option<Vec<String>> {
    let own = tree.text(OWN)?;
    let path = own.lines().find_map(|line| line.split_once(":memory:/"))?.1;
    Some(ancestors(&format!("{GROUPS}/memory"), path))
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

/// The tightest quota of CPU time on the way up; `none` where nothing is limited.
fn quota(tree: &Tree, chain: &[String]) -> Option<Fact> {
    let mut seen = None;
    let mut tightest: Option<(f64, &str)> = None;
    for group in chain {
        let Some(text) = tree.text(&format!("{group}/cpu.max")) else { continue };
        seen.get_or_insert(group.as_str());
        let mut words = text.split_whitespace();
        let numbers = words.next().zip(words.next());
        let numbers = numbers.and_then(|(q, p)| Some((q.parse::<f64>().ok()?, p.parse().ok()?)));
        let Some((quota, period)) = numbers.filter(|(_, period): &(f64, f64)| *period > 0.0) else {
            continue;
        };
        if tightest.is_none_or(|(known, _)| quota / period < known) {
            tightest = Some((quota / period, group));
        }
    }
    let value = tightest.map_or_else(|| "none".to_owned(), |(cpus, _)| format!("{cpus:.2} CPUs"));
    let group = tightest.map(|(_, group)| group).or(seen)?;
    Some(fact("cgroup.cpu_quota", &format!("{group}/cpu.max"), &value))
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
