//! Knows trees of files and clocks that behave, to hold what is looked for against.

use super::noise::gaps;
use super::*;
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// A machine that is a tree of files; removed with this value.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("stend-can-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    fn find(&self, name: &str) -> Capability {
        let all = [privilege::look(&self.0), machine::look(&self.0)].concat();
        all.into_iter().find(|item| item.name == name).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_capability_is_its_bit_and_bpf_is_also_part_of_sys_admin() {
    let status = |set: &str| format!("Name:\tstend\nCapEff:\t{set}\n");
    let some = Tree::new("some", &[("proc/self/status", &status("0000000000201000"))]);
    assert_eq!(some.find("CAP_NET_ADMIN").state, State::Ok);
    assert_eq!(some.find("CAP_BPF").state, State::Ok);
    assert_eq!(some.find("CAP_SYS_NICE").state, State::Absent);
    let none = Tree::new("none", &[("proc/self/status", &status("0000000000000000"))]);
    assert_eq!(none.find("CAP_BPF").state, State::Absent);
    assert_eq!(none.find("CAP_NET_ADMIN").fix.as_deref(), Some("sudo stend"));
    assert!(none.find("CAP_NET_ADMIN").evidence.contains("CapEff 0000000000000000"));
}

#[test]
fn a_setting_that_forbids_namespaces_is_named_with_the_command_that_allows_them() {
    let most = "proc/sys/user/max_user_namespaces";
    let armour = "proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    let free = Tree::new("free", &[(most, "100\n"), (armour, "0\n")]);
    assert_eq!(free.find("settings of namespaces").state, State::Ok);
    let shut = Tree::new("shut", &[(most, "100\n"), (armour, "1\n")]);
    let item = shut.find("settings of namespaces");
    assert_eq!(item.state, State::Absent);
    assert!(item.evidence.contains("apparmor") && item.evidence.ends_with(" 1"), "{item:?}");
    assert!(item.fix.unwrap().contains("apparmor_restrict_unprivileged_userns=0"));
}

#[test]
fn processes_of_others_are_seen_where_the_second_process_is_the_kernels() {
    let whole = Tree::new("whole", &[("proc/2/stat", "2 (kthreadd) S 0 0\n")]);
    assert_eq!(whole.find("processes of others").state, State::Ok);
    let own = Tree::new("own", &[("proc/2/stat", "2 (sh) S 1 1\n")]);
    assert_eq!(own.find("processes of others").state, State::Degraded);
    let hidden = Tree::new("hidden", &[("proc/stat", "cpu 0\n")]);
    assert_eq!(hidden.find("processes of others").state, State::Absent);
}

#[test]
fn the_mount_of_a_path_is_the_innermost_and_of_two_the_later() {
    let mounts = "sysfs /sys sysfs rw 0 0\nt /sys/fs/cgroup tmpfs rw 0 0\n\
                  c /sys/fs/cgroup/cpuacct cgroup rw,cpuacct 0 0\n\
                  c /sys/fs/cgroup/cpuacct cgroup ro,cpuacct 0 0\n";
    let tree = Tree::new("mounts", &[("proc/self/mounts", mounts)]);
    let of = |path: &str| mount_of(&tree.0, Path::new(path)).unwrap();
    assert_eq!(of("/sys/fs/cgroup/cpuacct/a").1, "ro,cpuacct");
    assert_eq!(of("/sys/kernel").0, "/sys");
    assert!(mounted_read_only(&tree.0, "/sys/fs/cgroup/cpuacct/a is not ours to write"));
    assert!(!mounted_read_only(&tree.0, "/sys/kernel is not ours to write"));
    assert_eq!(hierarchies(mounts), "mounted: cpuacct cpuacct (ro)");
}

#[test]
fn only_long_gaps_between_readings_are_lost_time() {
    let now = Cell::new(0_u64);
    let steps = [100, 30_000, 100, 90_000, 20_000, 100];
    let at = Cell::new(0);
    let read = || {
        now.set(now.get() + steps[at.get() % steps.len()]);
        at.set(at.get() + 1);
        now.get()
    };
    let (lost_ns, longest_ns, ended_ns) = gaps(0, 140_300, read);
    assert_eq!((lost_ns, longest_ns), (120_000, 90_000));
    assert_eq!(ended_ns, 140_300);
}

#[test]
fn listening_tells_of_every_cpu_and_shares_are_shares() {
    let noise = listen(Path::new("/"), Duration::from_millis(30)).unwrap();
    assert!(!noise.cpus.is_empty() && noise.seconds > 0.0);
    for (_, lost, _) in &noise.cpus {
        assert!((0.0..=1.0).contains(lost), "{noise:?}");
    }
    assert!(noise.steal.is_none_or(|share| (0.0..=1.0).contains(&share)), "{noise:?}");
    assert!(noise.worst().is_some());
}

#[test]
fn looking_leaves_neither_file_nor_group() {
    let place = Tree::new("leaves", &[("here/a", "")]);
    let before = cgroup::stale();
    let mut all = look(Path::new("/"));
    all.extend(look_at_store(&place.0.join("here/lab.stend")));
    let left: Vec<_> = fs::read_dir(place.0.join("here")).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(cgroup::stale(), before);
    let own = format!("stend-{}-doctor", std::process::id());
    assert!(!all.iter().any(|item| item.evidence.contains(&own)), "{all:?}");
    let names: std::collections::BTreeSet<&str> = all.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "each once");
}
