//! Knows the CPUs that this process may use, which of them share a core, and their caches.
//!
//! Must not know what runs on them.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the kernel lists CPUs, below the root.
const CPUS: &str = "sys/devices/system/cpu";
/// Where it lists NUMA nodes.
const NODES: &str = "sys/devices/system/node";

/// One CPU, as the scheduler has it: a thread of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub cpu: u32,
    /// All CPUs of its core, itself among them, rising.
    pub siblings: Vec<u32>,
    /// Number of its package.
    pub package: u32,
    /// Number of its NUMA node; 0 where the kernel tells of none.
    pub node: u32,
}

/// A cache that a CPU reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheOf {
    /// 1 is the nearest.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Bytes.
    pub bytes: u64,
    /// CPUs that share it.
    pub shared_by: Vec<u32>,
}

/// The CPUs that this process may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// By number.
    pub threads: Vec<Thread>,
    /// Caches of the first of them, nearest first.
    pub caches: Vec<CacheOf>,
}

impl Cpus {
    /// Reads the files below `root`; which CPUs may be used is asked of the kernel.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        Self::of(root, &allowed())
    }

    /// The same for these CPUs.
    #[must_use]
    pub fn of(root: &Path, cpus: &[u32]) -> Self {
        let threads: Vec<Thread> = cpus.iter().map(|cpu| thread(root, *cpu)).collect();
        let caches = threads.first().map(|t| caches(root, t.cpu)).unwrap_or_default();
        Self { threads, caches }
    }

    /// The CPUs in the order in which threads of a load take them: first one of every core, then
    /// the second of every core, and so on; by number within.
    #[must_use]
    pub fn order(&self) -> Vec<u32> {
        let mut ranked: Vec<(usize, u32)> = self
            .threads
            .iter()
            .map(|thread| {
                let mine = thread.siblings.iter().filter(|cpu| self.has(**cpu));
                (mine.take_while(|cpu| **cpu != thread.cpu).count(), thread.cpu)
            })
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, cpu)| cpu).collect()
    }

    /// The CPUs core by core: all threads of the first core, then those of the next.
    #[must_use]
    pub fn packed(&self) -> Vec<u32> {
        let mut ranked: Vec<(u32, u32)> = self
            .threads
            .iter()
            .map(|thread| (thread.siblings.first().copied().unwrap_or(thread.cpu), thread.cpu))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, cpu)| cpu).collect()
    }

    /// Whether this CPU may be used.
    #[must_use]
    pub fn has(&self, cpu: u32) -> bool {
        self.threads.iter().any(|thread| thread.cpu == cpu)
    }

    /// Bytes of the data cache of a level that one CPU reaches; none where there is no such level.
    #[must_use]
    pub fn data_cache(&self, level: u32) -> Option<u64> {
        let fits = |c: &&CacheOf| c.level == level && c.kind != "Instruction";
        self.caches.iter().find(fits).map(|cache| cache.bytes)
    }

    /// Bytes of the largest cache that one CPU reaches; none where the kernel tells of none.
    #[must_use]
    pub fn last_cache(&self) -> Option<u64> {
        self.caches.iter().filter(|c| c.kind != "Instruction").map(|c| c.bytes).max()
    }

    /// Numbers of the NUMA nodes of these CPUs, rising.
    #[must_use]
    pub fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.threads.iter().map(|thread| thread.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// Binds this thread to one CPU.
///
/// # Errors
/// When the kernel refuses, in words for the person.
pub fn pin(cpu: u32) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).map_err(|e| format!("cannot run on CPU {cpu}: {e}"))
}

fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_default();
    let mut cpus: Vec<u32> = (0..1024).filter(|cpu| set.is_set(*cpu as usize)).collect();
    if cpus.is_empty() {
        cpus.push(0);
    }
    cpus
}

fn thread(root: &Path, cpu: u32) -> Thread {
    let topology = root.join(format!("{CPUS}/cpu{cpu}/topology"));
    let mut siblings = list(&text(&topology.join("thread_siblings_list")));
    if !siblings.contains(&cpu) {
        siblings = vec![cpu];
    }
    let package = text(&topology.join("physical_package_id")).parse().unwrap_or(0);
    Thread { cpu, siblings, package, node: node(root, cpu) }
}

fn node(root: &Path, cpu: u32) -> u32 {
    let here = |(_, path): &(u32, PathBuf)| list(&text(&path.join("cpulist"))).contains(&cpu);
    let nodes = numbered(&root.join(NODES), "node");
    nodes.into_iter().find(here).map_or(0, |(number, _)| number)
}

fn caches(root: &Path, cpu: u32) -> Vec<CacheOf> {
    let mut caches: Vec<CacheOf> = numbered(&root.join(format!("{CPUS}/cpu{cpu}/cache")), "index")
        .into_iter()
        .filter_map(|(_, path)| cache(&path))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(path: &Path) -> Option<CacheOf> {
    let kibibytes: u64 = text(&path.join("size")).strip_suffix('K')?.parse().ok()?;
    Some(CacheOf {
        level: text(&path.join("level")).parse().ok()?,
        kind: text(&path.join("type")),
        bytes: kibibytes * 1024,
        shared_by: list(&text(&path.join("shared_cpu_list"))),
    })
}

/// Entries of a directory that are a prefix and a number, by number.
fn numbered(path: &Path, prefix: &str) -> Vec<(u32, PathBuf)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name.strip_prefix(prefix)?.parse().ok()?, entry.path()))
    };
    let mut all: Vec<(u32, PathBuf)> = entries.filter_map(number).collect();
    all.sort();
    all
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// The CPUs of a list such as `0-3,8`; what is not a number is left out.
fn list(text: &str) -> Vec<u32> {
    text.split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse::<u32>().ok()?..=last.trim().parse::<u32>().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str) -> Self {
            let name = format!("stend-cpus-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }

        fn set(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Two packages of two cores with two threads each, numbered as Linux does: 0 and 4 share one.
    fn two_packages(name: &str) -> Machine {
        let machine = Machine::new(name);
        for cpu in 0..8 {
            let (core, package) = (cpu % 4, u32::from(cpu % 4 >= 2));
            let topology = format!("{CPUS}/cpu{cpu}/topology");
            let siblings = format!("{core},{}", core + 4);
            machine.set(&format!("{topology}/thread_siblings_list"), &siblings);
            machine.set(&format!("{topology}/physical_package_id"), &package.to_string());
        }
        machine.set(&format!("{NODES}/node0/cpulist"), "0-1,4-5");
        machine.set(&format!("{NODES}/node1/cpulist"), "2-3,6-7");
        for (index, level, kind, size) in
            [(0, 1, "Data", "32K"), (1, 1, "Instruction", "64K"), (3, 3, "Unified", "16384K")]
        {
            let at = format!("{CPUS}/cpu0/cache/index{index}");
            machine.set(&format!("{at}/level"), &level.to_string());
            machine.set(&format!("{at}/type"), kind);
            machine.set(&format!("{at}/size"), size);
            machine.set(&format!("{at}/shared_cpu_list"), "0-1,4-5");
        }
        machine
    }

    #[test]
    fn threads_take_one_cpu_of_every_core_first() {
        let machine = two_packages("order");
        let cpus = Cpus::of(&machine.0, &(0..8).collect::<Vec<_>>());
        assert_eq!(cpus.order(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cpus.packed(), [0, 4, 1, 5, 2, 6, 3, 7]);
        // Of a core whose first thread may not be used the second is the first.
        let some = Cpus::of(&machine.0, &[0, 4, 5, 6]);
        assert_eq!(some.order(), [0, 5, 6, 4]);
    }

    #[test]
    fn caches_and_nodes_are_those_of_the_files() {
        let machine = two_packages("caches");
        let cpus = Cpus::of(&machine.0, &[0, 2]);
        assert_eq!(cpus.data_cache(1), Some(32 << 10));
        assert_eq!((cpus.data_cache(2), cpus.last_cache()), (None, Some(16 << 20)));
        assert_eq!((cpus.nodes(), cpus.threads[1].package), (vec![0, 1], 1));
        let bare = Cpus::of(Path::new("/nonexistent"), &[3]);
        assert_eq!((bare.order(), bare.last_cache()), (vec![3], None));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert!(pin(1023).unwrap_err().contains("1023"));
    }
}
