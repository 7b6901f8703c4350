//! Knows how settings of the machine behave on machines that are trees of files: those that this
//! one may not have.

use super::*;
use crate::lab::undo::{Journal, journals, register, settle};
use desk::record::Words;
use desk::unit::{Quantity, Unit};
use std::fs;
use std::path::PathBuf;

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("stend-row-{}-{name}", std::process::id()));
        let tree = Self(root);
        tree.put("proc/sys/kernel/random/boot_id", "boot");
        files.iter().for_each(|(path, text)| tree.put(path, text));
        tree
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap().trim().to_owned()
    }

    fn journal(&self) -> Journal {
        Journal::of_tree(&self.0.join("journals"), &self.0).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

fn row(name: &str) -> &'static MachineRow {
    machine_rows::row_of(name).unwrap()
}

const SMT: &str = "sys/devices/system/cpu/smt/control";

fn siblings(cpu: u32) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
}

#[test]
fn smt_is_believed_only_when_the_siblings_agree() {
    let tree = Tree::new("smt", &[(SMT, "on\n"), (&siblings(0), "0,4\n"), (&siblings(4), "0,4\n")]);
    let (smt, journal) = (row("smt"), tree.journal());
    assert_eq!(smt.observe(&tree.0).unwrap(), word("on"));
    smt.refuse(&tree.0, &word("off")).unwrap();
    // A machine that writes the word down and keeps its siblings online.
    let words = smt.apply(&tree.0, &journal, &word("off")).unwrap_err().to_string();
    assert!(words.contains("asked off, read back on"), "{words}");
    assert_eq!(tree.get(SMT), "on", "undone");
    tree.put(&siblings(0), "0\n");
    fs::remove_file(tree.0.join(siblings(4))).unwrap();
    let entries = smt.apply(&tree.0, &journal, &word("off")).unwrap();
    assert_eq!(tree.get(SMT), "off");
    let _ = journal.undo(&entries);
    assert_eq!(tree.get(SMT), "on");
}

#[test]
fn a_switch_that_cannot_be_moved_is_refused_with_the_kernels_word() {
    for kernel in ["notsupported", "forceoff", "notimplemented"] {
        let tree = Tree::new(kernel, &[(SMT, kernel)]);
        let words = row("smt").refuse(&tree.0, &word("off")).unwrap_err().to_string();
        assert!(
            words.contains(&format!("'{kernel}'")) && words.contains("leave it out"),
            "{words}"
        );
    }
    let tree = Tree::new("bare", &[]);
    let words = row("governor").refuse(&tree.0, &word("performance")).unwrap_err().to_string();
    assert!(words.contains("cpu*/cpufreq/scaling_governor is not there"), "{words}");
}

fn cpufreq(cpu: u32, name: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}")
}

#[test]
fn the_governor_is_set_on_every_cpu_and_comes_back_on_each() {
    let tree = Tree::new("governor", &[]);
    for cpu in [0, 1, 10] {
        tree.put(&cpufreq(cpu, "scaling_governor"), "powersave\n");
        tree.put(&cpufreq(cpu, "scaling_available_governors"), "performance powersave \n");
    }
    // Not a CPU.
    tree.put("sys/devices/system/cpu/cpufreq/scaling_governor", "powersave\n");
    let (governor, journal) = (row("governor"), tree.journal());
    let all = || [0, 1, 10].map(|cpu| tree.get(&cpufreq(cpu, "scaling_governor")));
    let words = governor.refuse(&tree.0, &word("schedutil")).unwrap_err().to_string();
    assert!(words.contains("'schedutil'") && words.contains("performance powersave"), "{words}");
    governor.refuse(&tree.0, &word("performance")).unwrap();
    let entries = governor.apply(&tree.0, &journal, &word("performance")).unwrap();
    assert_eq!((entries.len(), all()), (3, ["performance"; 3].map(str::to_owned)));
    assert_eq!(governor.observe(&tree.0).unwrap(), word("performance"));
    let _ = journal.undo(&entries);
    assert_eq!(all(), ["powersave"; 3].map(str::to_owned));
    // CPUs that differ before are different again afterwards.
    tree.put(&cpufreq(10, "scaling_governor"), "performance\n");
    let words = governor.observe(&tree.0).unwrap_err().to_string();
    assert!(words.contains("cpu10"), "{words}");
    let entries = governor.apply(&tree.0, &journal, &word("performance")).unwrap();
    let _ = journal.undo(&entries);
    assert_eq!(all(), ["powersave", "powersave", "performance"].map(str::to_owned));
}

fn hertz(value: f64) -> Value {
    Value::Quantity(Quantity::new(value, Unit::Hertz))
}

#[test]
fn the_highest_frequency_is_a_number_of_every_cpu() {
    let tree = Tree::new("frequency", &[]);
    for cpu in [0, 1] {
        tree.put(&cpufreq(cpu, "scaling_max_freq"), "3000000\n");
    }
    let (row, journal) = (row("max_frequency"), tree.journal());
    assert_eq!(row.observe(&tree.0).unwrap(), hertz(3e9));
    let entries = row.apply(&tree.0, &journal, &hertz(2.55e9)).unwrap();
    assert_eq!((entries.len(), tree.get(&cpufreq(1, "scaling_max_freq")).as_str()), (2, "2550000"));
    let _ = journal.undo(&entries);
    assert_eq!(row.observe(&tree.0).unwrap(), hertz(3e9));
}

#[test]
fn turbo_is_one_word_for_two_files_that_mean_the_opposite() {
    let (intel, other) =
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "sys/devices/system/cpu/cpufreq/boost");
    for (path, before, after) in [(intel, "0", "1"), (other, "1", "0")] {
        let tree = Tree::new(&format!("turbo{before}"), &[(path, before)]);
        let (turbo, journal) = (row("turbo"), tree.journal());
        assert_eq!(turbo.observe(&tree.0).unwrap(), word("on"), "{path}");
        let entries = turbo.apply(&tree.0, &journal, &word("off")).unwrap();
        assert_eq!(
            (tree.get(path).as_str(), turbo.observe(&tree.0).unwrap()),
            (after, word("off"))
        );
        let _ = journal.undo(&entries);
        assert_eq!(tree.get(path), before);
    }
}

#[test]
fn a_choice_in_brackets_is_read_and_a_level_off_the_menu_is_refused() {
    let file = "sys/kernel/mm/transparent_hugepage/enabled";
    let tree = Tree::new("thp", &[(file, "always [madvise] never\n")]);
    assert_eq!(row("thp").observe(&tree.0).unwrap(), word("madvise"));
    row("thp").refuse(&tree.0, &word("never")).unwrap();
    let words = row("thp").refuse(&tree.0, &word("inherit")).unwrap_err().to_string();
    assert!(words.contains("always madvise never"), "{words}");
}

#[test]
fn a_switch_of_numbers_keeps_a_value_that_has_no_word() {
    let file = "proc/sys/kernel/numa_balancing";
    let tree = Tree::new("numa", &[(file, "2\n")]);
    let (numa, journal) = (row("numa_balancing"), tree.journal());
    assert_eq!(numa.observe(&tree.0).unwrap(), word("2"));
    numa.refuse(&tree.0, &word("off")).unwrap();
    let entries = numa.apply(&tree.0, &journal, &word("off")).unwrap();
    assert_eq!(tree.get(file), "0");
    let _ = journal.undo(&entries);
    assert_eq!(tree.get(file), "2", "as it was, not as we would have written it");
}

/// Two levels of a factor that differ.
fn two_levels(row: &MachineRow) -> [Value; 2] {
    let spec = row.spec;
    match (row.form, spec.kind.words, spec.kind.range) {
        (Form::HugePages, ..) => [bytes(2 << 20), bytes(8 << 20)],
        (Form::FirstCpus, ..) => [Value::Count(2), Value::Count(1)],
        (Form::Vectors, ..) => [word("0-1"), word("spread")],
        (_, Words::Of([first, .., last]), _) => [word(first), word(last)],
        (.., Some(range)) => [range.nearest(range.least), range.nearest(range.most)],
        _ => [word("one"), word("other")],
    }
}

fn bytes(number: u64) -> Value {
    Value::Quantity(Quantity::bytes(number))
}

/// Where a row stands in a tree: one file, or that of two CPUs, vectors or disks.
fn files_of(pattern: &str) -> Vec<String> {
    let names = if pattern.starts_with("sys/block") { ["sda", "sdb"] } else { ["0", "1"] };
    match pattern.contains('*') {
        true => names.map(|name| pattern.replacen('*', name, 1)).to_vec(),
        false => vec![pattern.to_owned()],
    }
}

/// An adapter whose vectors these are, as a part of their device or, as virtio, below it.
fn adapter(tree: &Tree, name: &str, vectors: &[u32]) {
    let device = format!("sys/devices/pci-{name}");
    vectors.iter().for_each(|vector| tree.put(&format!("{device}/msi_irqs/{vector}"), "msix"));
    let inner = if name.starts_with("virtio") { format!("{device}/virtio2") } else { device };
    fs::create_dir_all(tree.0.join(&inner)).unwrap();
    fs::create_dir_all(tree.0.join(format!("sys/class/net/{name}"))).unwrap();
    let link = tree.0.join(format!("sys/class/net/{name}/device"));
    std::os::unix::fs::symlink(tree.0.join(inner), link).unwrap();
}

/// A row of files at one of its places, on a tree of two CPUs or disks.
struct Tried {
    row: &'static MachineRow,
    place: &'static machine_row::Place,
    tree: Tree,
    files: Vec<String>,
    before: Value,
    level: Value,
}

impl Tried {
    fn new(row: &'static MachineRow, place: &'static machine_row::Place) -> Self {
        let [before, level] = two_levels(row);
        let name = format!("row-{}-{}", row.spec.name, place.pattern.len());
        let (tree, files) = (Tree::new(&name, &[]), files_of(place.pattern));
        tree.put("proc/meminfo", "MemTotal: 16384 kB\nHugepagesize:  2048 kB\n");
        tree.put("sys/devices/system/cpu/online", "0-1");
        adapter(&tree, "eth7", &[0, 1]);
        let tried = Self { row, place, tree, files, before, level };
        assert!(tried.refused().contains("is not there"), "{}", tried.refused());
        tried.put(&vec!["0".to_owned(); tried.files.len()]);
        tried.put(&tried.texts(&tried.before));
        tried
    }

    fn texts(&self, level: &Value) -> Vec<String> {
        let files: Vec<PathBuf> = self.files.iter().map(|file| self.tree.0.join(file)).collect();
        self.row.texts(&self.tree.0, (self.place, &files), level).unwrap()
    }

    fn put(&self, texts: &[String]) {
        for (file, text) in self.files.iter().zip(texts) {
            self.tree.put(file, text);
            let disk = file.strip_suffix("/queue/scheduler");
            if let Some(disk) = disk.or_else(|| file.strip_suffix("/queue/read_ahead_kb")) {
                self.tree.put(&format!("{disk}/device/model"), "a disk");
                let rest = &file[disk.len()..];
                self.tree.put(&format!("sys/block/loop0{rest}"), "not a disk");
            }
        }
    }

    fn refused(&self) -> String {
        let refused = self.row.refuse(&self.tree.0, &self.level).err();
        refused.map(|e| e.to_string()).unwrap_or_default()
    }

    fn all(&self) -> Vec<String> {
        self.files.iter().map(|file| self.tree.get(file)).collect()
    }

    /// Sets the level and reads it back.
    fn apply(&self, journal: &Journal) -> Vec<u64> {
        assert_eq!(self.refused(), "");
        let entries = self.row.apply(&self.tree.0, journal, &self.level).unwrap();
        assert_eq!(self.all(), self.texts(&self.level));
        assert_eq!(self.row.observe(&self.tree.0).unwrap(), self.level);
        entries
    }

    fn is_as_before(&self) {
        assert_eq!(self.all(), self.texts(&self.before));
        assert_eq!(self.row.observe(&self.tree.0).unwrap(), self.before);
    }
}

/// Set, read back, undone; refused where the file is not there; left where somebody else has set it
/// since; undone by the next one after a kill. Rows of registers, or with an effect, have tests of
/// their own.
#[test]
fn every_row_of_files_is_set_read_back_undone_and_left_to_others() {
    let mut tried = 0;
    for row in ALL.iter().filter_map(|spec| machine_rows::row_of(spec.name)) {
        if row.effect.is_some() {
            continue;
        }
        for place in row.places.iter().filter(|place| place.register.is_none()) {
            let one = Tried::new(row, place);
            let journal = one.tree.journal();
            let _ = journal.undo(&one.apply(&journal));
            one.is_as_before();
            let entries = one.apply(&journal);
            let foreign = vec!["foreign".to_owned(); one.files.len()];
            one.put(&foreign);
            let _ = journal.undo(&entries);
            assert_eq!(one.all(), foreign, "{}", row.spec.name);
            one.put(&one.texts(&one.before));
            one.apply(&journal);
            // Nothing of a killed process runs, not even the journal's end.
            std::mem::forget(journal);
            for left in journals(&one.tree.0.join("journals")).unwrap() {
                settle(&left, &one.tree.0).unwrap();
            }
            one.is_as_before();
            tried += 1;
        }
    }
    assert_eq!(tried, 34, "places of rows");
}

#[test]
fn numbers_are_written_as_numbers_and_nothing_else_is() {
    let file = "proc/sys/net/core/netdev_budget";
    let tree = Tree::new("budget", &[(file, "300\n")]);
    let (budget, journal) = (row("netdev_budget"), tree.journal());
    let entries = budget.apply(&tree.0, &journal, &Value::Count(600)).unwrap();
    assert_eq!((tree.get(file).as_str(), entries.len()), ("600", 1));
    let words = budget.refuse(&tree.0, &word("many")).unwrap_err().to_string();
    assert!(words.contains("whole number"), "{words}");
}

/// The device of a CPU whose register says this, with other registers around it.
fn registers(tree: &Tree, cpu: u32, value: u64) {
    let path = tree.0.join(format!("dev/cpu/{cpu}/msr"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut bytes = vec![0x55; 0x1a4];
    bytes.extend(value.to_le_bytes());
    bytes.extend([0x55; 8]);
    fs::write(path, bytes).unwrap();
}

fn register_of(tree: &Tree, cpu: u32) -> u64 {
    register::read(&tree.0.join(format!("dev/cpu/{cpu}/msr"))).unwrap()
}

const INTEL: &str = "vendor_id\t: GenuineIntel\nflags\t\t: fpu sse2 avx2\n";

#[test]
fn prefetchers_are_four_bits_of_every_cpu_and_come_back_on_each() {
    let tree = Tree::new("prefetchers", &[("proc/cpuinfo", INTEL)]);
    // Bit 5 is another one's on newer cores.
    registers(&tree, 0, 0x20);
    registers(&tree, 1, 0x20);
    let (prefetchers, journal) = (row("prefetchers"), tree.journal());
    assert_eq!(prefetchers.observe(&tree.0).unwrap(), word("on"));
    prefetchers.refuse(&tree.0, &word("off")).unwrap();
    let entries = prefetchers.apply(&tree.0, &journal, &word("off")).unwrap();
    assert_eq!((entries.len(), register_of(&tree, 0), register_of(&tree, 1)), (2, 0x2f, 0x2f));
    assert_eq!(prefetchers.observe(&tree.0).unwrap(), word("off"));
    let _ = journal.undo(&entries);
    assert_eq!((register_of(&tree, 0), register_of(&tree, 1)), (0x20, 0x20));
    // One of them off already: no level has that word, and it comes back all the same.
    registers(&tree, 1, 0x22);
    let words = prefetchers.observe(&tree.0).unwrap_err().to_string();
    assert!(words.contains("cpu/1/msr"), "{words}");
    prefetchers.refuse(&tree.0, &word("off")).unwrap();
    let entries = prefetchers.apply(&tree.0, &journal, &word("on")).unwrap();
    assert_eq!((register_of(&tree, 0), register_of(&tree, 1)), (0x20, 0x20));
    let _ = journal.undo(&entries);
    assert_eq!((register_of(&tree, 0), register_of(&tree, 1)), (0x20, 0x22));
}

#[test]
fn prefetchers_are_refused_in_a_guest_of_another_maker_and_without_the_device() {
    let guest = INTEL.replace("avx2", "avx2 hypervisor");
    for (name, cpuinfo, words) in [
        ("guest", guest.as_str(), "is a guest, and its hypervisor keeps the register"),
        ("amd", "vendor_id\t: AuthenticAMD\nflags\t\t: fpu\n", "this one is of AuthenticAMD"),
        ("bare", INTEL, "dev/cpu/*/msr is not there (`modprobe msr` as root makes it)"),
    ] {
        let tree = Tree::new(&format!("prefetchers-{name}"), &[("proc/cpuinfo", cpuinfo)]);
        if name != "bare" {
            registers(&tree, 0, 0);
        }
        let said = row("prefetchers").refuse(&tree.0, &word("off")).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

/// What a later level drags along is no longer what was asked. Of the machine another may have set
/// it, which is told in another place.
#[test]
fn a_level_of_the_lab_that_is_read_back_otherwise_is_refused() {
    let of = |name: &str, asked: &str, found: &str| {
        let said = mechanism(name).unwrap().must_be(name, &word(asked), &word(found));
        said.err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(of("tso", "on", "on"), "");
    assert!(of("tso", "on", "off").contains("'tso' did not take"), "{}", of("tso", "on", "off"));
    assert!(of("cpus", "0-1", "0").contains("asked 0-1, read back 0"));
    assert_eq!(of("thp", "always", "never"), "");
    let rate = |bits: f64| Value::Quantity(Quantity::new(bits, Unit::BitPerSecond));
    let near = mechanism("rate").unwrap().must_be("rate", &rate(1e9), &rate(1e9 - 8.0));
    assert!(near.is_ok(), "to one byte per second, in which the kernel keeps it");
}

fn online(cpu: u32) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/online")
}

#[test]
fn the_first_cpus_stay_online_and_one_without_a_file_always_does() {
    let tree = Tree::new("online", &[]);
    tree.put("sys/devices/system/cpu/cpu0/topology/core_id", "0");
    [1, 2, 10].iter().for_each(|cpu| tree.put(&online(*cpu), "1\n"));
    let (row, journal) = (row("online_cpus"), tree.journal());
    let said = |count| row.refuse(&tree.0, &Value::Count(count)).unwrap_err().to_string();
    let all = || [1, 2, 10].map(|cpu| tree.get(&online(cpu)));
    assert_eq!(row.observe(&tree.0).unwrap(), Value::Count(4));
    assert!(said(5).contains("5 CPUs are asked for, and the machine has 4"), "{}", said(5));
    let entries = row.apply(&tree.0, &journal, &Value::Count(2)).unwrap();
    assert_eq!((all(), entries.len()), (["1", "0", "0"].map(str::to_owned), 3));
    assert_eq!(row.observe(&tree.0).unwrap(), Value::Count(2));
    let _ = journal.undo(&entries);
    assert_eq!(row.observe(&tree.0).unwrap(), Value::Count(4));
    // Somebody has taken one out of the middle: no number says that, and it comes back so.
    tree.put(&online(1), "0\n");
    let words = row.observe(&tree.0).unwrap_err().to_string();
    assert!(words.contains("no one level now: CPUs 0,2,10 are online"), "{words}");
    let entries = row.apply(&tree.0, &journal, &Value::Count(3)).unwrap();
    assert_eq!(all(), ["1", "1", "0"].map(str::to_owned));
    let _ = journal.undo(&entries);
    assert_eq!(all(), ["0", "1", "1"].map(str::to_owned));
    fs::remove_file(tree.0.join(online(2))).unwrap();
    assert!(said(1).contains("CPU 2 cannot go offline"), "{}", said(1));
}

const PAGES: &str = "proc/sys/vm/nr_hugepages";

#[test]
fn huge_pages_are_a_size_in_whole_pages_that_the_machine_has() {
    let memory = "MemTotal:  4194304 kB\nHugepagesize:    2048 kB\n";
    let tree = Tree::new("pages", &[(PAGES, "3\n"), ("proc/meminfo", memory)]);
    let (row, journal) = (row("huge_pages"), tree.journal());
    let said = |level| row.refuse(&tree.0, &bytes(level)).unwrap_err().to_string();
    assert_eq!(row.observe(&tree.0).unwrap(), bytes(6 << 20));
    assert!(said(3 << 20).contains("3 MiB is no multiple of 2 MiB"), "{}", said(3 << 20));
    assert!(said(8 << 30).contains("8 GiB is more than the machine's 4 GiB"), "{}", said(8 << 30));
    let entries = row.apply(&tree.0, &journal, &bytes(1 << 30)).unwrap();
    assert_eq!(tree.get(PAGES), "512");
    let _ = journal.undo(&entries);
    assert_eq!(tree.get(PAGES), "3");
}

#[test]
fn a_kill_while_pages_are_reserved_leaves_none_behind() {
    let memory = "MemTotal:  4194304 kB\nHugepagesize:    2048 kB\n";
    for (now, after) in [("512", "3"), ("200", "3"), ("3", "3"), ("513", "513"), ("2", "2")] {
        let tree = Tree::new(&format!("cut{now}"), &[(PAGES, "3"), ("proc/meminfo", memory)]);
        let journal = tree.journal();
        row("huge_pages").apply(&tree.0, &journal, &bytes(1 << 30)).unwrap();
        std::mem::forget(journal);
        let left = journals(&tree.0.join("journals")).unwrap().remove(0);
        // The journal as it was before the write came back.
        let text = fs::read_to_string(&left).unwrap();
        fs::write(&left, text.split_inclusive('\n').next().unwrap()).unwrap();
        tree.put(PAGES, now);
        settle(&left, &tree.0).unwrap();
        assert_eq!(tree.get(PAGES), after, "found {now}");
    }
}

fn affinity(vector: u32) -> String {
    format!("proc/irq/{vector}/smp_affinity_list")
}

#[test]
fn the_vectors_of_network_adapters_are_placed_and_no_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new("vectors", &[("sys/devices/system/cpu/online", "0-1,4")]);
    adapter(&tree, "eth7", &[40, 41]);
    adapter(&tree, "virtio0", &[9, 100]);
    fs::create_dir_all(tree.0.join("sys/class/net/lo")).unwrap();
    [9, 40, 41, 50, 100].iter().for_each(|vector| tree.put(&affinity(*vector), "0-1,4\n"));
    let (row, journal) = (row("irq_affinity"), tree.journal());
    let all = || [9, 40, 41, 100, 50].map(|vector| tree.get(&affinity(vector)));
    assert_eq!(row.observe(&tree.0).unwrap(), word("0-1,4"));
    row.refuse(&tree.0, &word("spread")).unwrap();
    let entries = row.apply(&tree.0, &journal, &word("spread")).unwrap();
    assert_eq!(all(), ["0", "1", "4", "0", "0-1,4"].map(str::to_owned));
    assert_eq!(row.observe(&tree.0).unwrap(), word("spread"));
    let _ = journal.undo(&entries);
    let entries = row.apply(&tree.0, &journal, &word("1,0")).unwrap();
    assert_eq!(all(), ["0-1", "0-1", "0-1", "0-1", "0-1,4"].map(str::to_owned));
    let _ = journal.undo(&entries);
    assert_eq!(row.observe(&tree.0).unwrap(), word("0-1,4"));
    let words = row.refuse(&tree.0, &word("3")).unwrap_err().to_string();
    assert!(words.contains("CPU 3 is not online here; 0-1,4 are"), "{words}");
    tree.put(&affinity(40), "1");
    let words = row.observe(&tree.0).unwrap_err().to_string();
    assert!(words.contains("have CPUs 0-1,4; 1; 0-1,4; 0-1,4"), "{words}");
    let fixed = fs::Permissions::from_mode(0o444);
    fs::set_permissions(tree.0.join(affinity(41)), fixed).unwrap();
    let words = row.refuse(&tree.0, &word("0")).unwrap_err().to_string();
    assert!(words.contains("41/smp_affinity_list is read-only: the kernel itself"), "{words}");
}

#[test]
fn a_file_that_nobody_may_write_is_read_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = "proc/sys/kernel/nmi_watchdog";
    let (tree, row) = (Tree::new("shown", &[(file, "0\n")]), row("kernel.nmi_watchdog"));
    row.refuse(&tree.0, &word("off")).unwrap();
    fs::set_permissions(tree.0.join(file), fs::Permissions::from_mode(0o444)).unwrap();
    let words = row.refuse(&tree.0, &word("off")).unwrap_err().to_string();
    assert!(words.contains("nmi_watchdog is read-only: this kernel only shows it"), "{words}");
}

#[test]
fn disks_that_say_different_things_are_told_each_with_its_word() {
    let tree = Tree::new("disks", &[]);
    for (disk, text) in [("nvme0n1", "[none] kyber"), ("sda", "[mq-deadline] none")] {
        tree.put(&format!("sys/block/{disk}/device/model"), "a disk");
        tree.put(&format!("sys/block/{disk}/queue/scheduler"), text);
    }
    let row = row("io_scheduler");
    let words = row.observe(&tree.0).unwrap_err().to_string();
    for part in [
        "no one level now",
        "nvme0n1/queue/scheduler says none",
        "sda/queue/scheduler \
                 says mq-deadline",
        "each comes back as it was",
    ] {
        assert!(words.contains(part), "{words}");
    }
    let (level, now) = row.now(&tree.0).unwrap();
    assert!(level == word("none") && now.starts_with("unlike ("), "{now}");
    row.refuse(&tree.0, &level).unwrap();
    let words = row.refuse(&tree.0, &word("kyber")).unwrap_err().to_string();
    assert!(words.contains("sda/queue/scheduler takes mq-deadline none"), "{words}");
}
