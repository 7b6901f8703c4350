//! Knows the CPUs that this process may use, which of them share a core, and the caches of each.
//!
//! Must not know what runs on them.

use super::gang::Unready;
use crate::lab::cpus;
use std::collections::BTreeSet;
use std::fs;
use std::io;
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
    /// The caches that it reaches, nearest first: cores of one machine may differ in them.
    pub caches: Vec<CacheOf>,
}

impl Thread {
    /// Its cache of a level, for data; none where the kernel tells of none.
    fn data_cache(&self, level: u32) -> Option<&CacheOf> {
        self.caches.iter().find(|cache| cache.level == level && cache.is_for_data())
    }

    /// Its cache for data that is the nearest to memory; none where the kernel tells of none.
    fn last_cache(&self) -> Option<&CacheOf> {
        self.caches.iter().filter(|cache| cache.is_for_data()).max_by_key(|cache| cache.level)
    }
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
    /// CPUs that share it, the one that reaches it among them.
    pub shared_by: Vec<u32>,
}

impl CacheOf {
    fn is_for_data(&self) -> bool {
        self.kind != "Instruction"
    }
}

/// The CPUs that this process may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// By number.
    pub threads: Vec<Thread>,
}

impl Cpus {
    /// Reads the files below `root`; which CPUs may be used is asked of the kernel.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        Self::of(root, &usable(cpus::mine(), root))
    }

    /// The same for these CPUs.
    #[must_use]
    pub fn of(root: &Path, cpus: &[u32]) -> Self {
        Self { threads: cpus.iter().map(|cpu| thread(root, *cpu)).collect() }
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

    /// A CPU by its number.
    ///
    /// # Errors
    /// `NotAvailable` where it may not be used, with those that may.
    pub fn get(&self, cpu: u32) -> Result<&Thread, Unready> {
        self.threads.iter().find(|thread| thread.cpu == cpu).ok_or_else(|| {
            let all: Vec<u32> = self.threads.iter().map(|thread| thread.cpu).collect();
            Unready::NotAvailable(format!(
                "CPU {cpu} is not there, or may not be used; those that may: {}",
                cpus::list(&all)
            ))
        })
    }

    /// Bytes of the data cache of a level that each of the `used` CPUs (at least one) has to itself
    /// while all of them work: the smallest of cache / used CPUs that share it.
    ///
    /// # Errors
    /// `NotAvailable` where one of them may not be used, or has no such cache.
    pub fn share(&self, level: u32, used: &[u32]) -> Result<u64, Unready> {
        let used: BTreeSet<u32> = used.iter().copied().collect();
        let mut least = u64::MAX;
        for cpu in &used {
            let cache = self.get(*cpu)?.data_cache(level).ok_or_else(|| {
                Unready::NotAvailable(format!(
                    "the kernel tells of no cache L{level} of CPU {cpu}; write a size in bytes"
                ))
            })?;
            let sharers = cache.shared_by.iter().filter(|other| used.contains(other)).count();
            least = least.min(cache.bytes / sharers.max(1) as u64);
        }
        Ok(least)
    }

    /// Bytes of all last caches of these CPUs together, each counted once however many share it;
    /// none where the kernel tells of none.
    #[must_use]
    pub fn last_caches(&self) -> Option<u64> {
        let mut met = BTreeSet::new();
        let last = self.threads.iter().filter_map(Thread::last_cache);
        let distinct = last.filter(|cache| met.insert((cache.level, &cache.shared_by)));
        distinct.map(|cache| cache.bytes).reduce(u64::saturating_add)
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
    cpus::pin(cpu).map_err(|e| format!("cannot run on CPU {cpu}: {e}"))
}

/// The CPUs that may be used, by number: what the kernel's call told, else what its files below
/// `root` tell, for the call refuses where there are more CPUs than its set holds. CPU 0 where
/// neither tells of any.
fn usable(told: io::Result<Vec<u32>>, root: &Path) -> Vec<u32> {
    let mut all = told.unwrap_or_default();
    if all.is_empty() {
        all = cpus::allowed(root);
        all.sort_unstable();
    }
    if all.is_empty() { vec![0] } else { all }
}

fn thread(root: &Path, cpu: u32) -> Thread {
    let topology = root.join(format!("{CPUS}/cpu{cpu}/topology"));
    let mut siblings = cpus::parse(&text(&topology.join("thread_siblings_list")));
    if !siblings.contains(&cpu) {
        siblings = vec![cpu];
    }
    let package = text(&topology.join("physical_package_id")).parse().unwrap_or(0);
    Thread { cpu, siblings, package, node: node(root, cpu), caches: caches(root, cpu) }
}

fn node(root: &Path, cpu: u32) -> u32 {
    let here =
        |(_, path): &(u32, PathBuf)| cpus::parse(&text(&path.join("cpulist"))).contains(&cpu);
    let nodes = numbered(&root.join(NODES), "node");
    nodes.into_iter().find(here).map_or(0, |(number, _)| number)
}

fn caches(root: &Path, cpu: u32) -> Vec<CacheOf> {
    let mut caches: Vec<CacheOf> = numbered(&root.join(format!("{CPUS}/cpu{cpu}/cache")), "index")
        .into_iter()
        .filter_map(|(_, path)| cache(&path, cpu))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(path: &Path, cpu: u32) -> Option<CacheOf> {
    let kibibytes: u64 = text(&path.join("size")).strip_suffix('K')?.parse().ok()?;
    let mut shared_by = cpus::parse(&text(&path.join("shared_cpu_list")));
    if !shared_by.contains(&cpu) {
        shared_by = vec![cpu];
    }
    Some(CacheOf {
        level: text(&path.join("level")).parse().ok()?,
        kind: text(&path.join("type")),
        bytes: kibibytes * 1024,
        shared_by,
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

        /// A cache of a CPU: its level, kind and size, and who shares it.
        fn cache(&self, cpu: u32, (index, what, shared_by): (&str, &str, &str)) {
            let at = format!("{CPUS}/cpu{cpu}/cache/{index}");
            for (name, text) in ["level", "type", "size"].into_iter().zip(what.split(' ')) {
                self.set(&format!("{at}/{name}"), text);
            }
            self.set(&format!("{at}/shared_cpu_list"), shared_by);
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
        for cpu in 0..8 {
            let (core, first) = (cpu % 4, cpu % 4 < 2);
            let both = format!("{core},{}", core + 4);
            let package = if first { "0-1,4-5" } else { "2-3,6-7" };
            let last = if first { "16384K" } else { "8192K" };
            machine.cache(cpu, ("index0", "1 Data 32K", &both));
            machine.cache(cpu, ("index1", "1 Instruction 64K", &both));
            machine.cache(cpu, ("index3", &format!("3 Unified {last}"), package));
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
        assert_eq!(cpus.threads[0].caches.len(), 3);
        assert_eq!(cpus.threads[1].caches[2].bytes, 8 << 20, "of the second package");
        assert_eq!((cpus.nodes(), cpus.threads[1].package), (vec![0, 1], 1));
        let bare = Cpus::of(Path::new("/nonexistent"), &[3]);
        assert_eq!((bare.order(), bare.last_caches()), (vec![3], None));
        let lacks = bare.share(3, &[3]).unwrap_err().to_string();
        assert!(lacks.contains("no cache L3 of CPU 3; write a size in bytes"), "{lacks}");
        // A cache of which nobody is told to share it is its CPU's own.
        let alone = Machine::new("alone");
        alone.cache(5, ("index2", "2 Unified 512K", ""));
        assert_eq!(Cpus::of(&alone.0, &[5]).threads[0].caches[0].shared_by, [5]);
    }

    #[test]
    fn a_cache_is_shared_by_the_cpus_that_are_used() {
        let machine = two_packages("share");
        let cpus = Cpus::of(&machine.0, &(0..8).collect::<Vec<_>>());
        let share = |level, used: &[u32]| cpus.share(level, used).unwrap();
        assert_eq!((share(1, &[0]), share(1, &[0, 4])), (32 << 10, 16 << 10));
        assert_eq!((share(3, &[0]), share(3, &[2])), (16 << 20, 8 << 20));
        assert_eq!(share(3, &[0, 2]), 8 << 20, "the smaller");
        assert_eq!(share(3, &[0, 1, 4, 2]), (16 << 20) / 3, "the one that more share");
        assert_eq!(cpus.last_caches(), Some(24 << 20), "each once");
        assert!(matches!(cpus.share(2, &[0]), Err(Unready::NotAvailable(_))));
    }

    #[test]
    fn more_cpus_than_a_set_holds_are_read_from_the_files() {
        let machine = Machine::new("many");
        machine.set("proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-3,1500");
        for (cpu, both) in [(2, "2-3"), (3, "2-3")] {
            machine.set(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"), both);
        }
        let refused = || Err(io::Error::from_raw_os_error(libc::EINVAL));
        assert_eq!(usable(refused(), &machine.0), [2, 3, 1500]);
        assert_eq!(usable(Ok(Vec::new()), &machine.0), [2, 3, 1500]);
        assert_eq!(usable(Ok(vec![7]), &machine.0), [7]);
        assert_eq!(usable(refused(), Path::new("/nonexistent")), [0]);
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert!(pin(1023).unwrap_err().contains("1023"));
        let cpus = Cpus::of(Path::new("/nonexistent"), &[0, 1, 2, 8]);
        let why = cpus.get(9).unwrap_err().to_string();
        assert!(why.contains("CPU 9") && why.ends_with("those that may: 0-2,8"), "{why}");
    }
}
