//! Knows how quotas behave in hierarchies that are trees of files, and on this machine.

use super::place::{Place, place};
use super::*;
use std::process::Command;
use std::time::Duration;

/// A directory that looks like hierarchies; mounts are made to point into it.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("stend-quota-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    fn mounts(&self, rows: &[(&str, &str, &str)]) -> String {
        let row = |(place, kind, options): &(&str, &str, &str)| {
            format!("{kind} {}/{place} {kind} {options} 0 0\n", self.0.display())
        };
        rows.iter().map(row).collect()
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap().trim().to_owned()
    }

    fn group(&self, version: Version, directory: &str) -> QuotaGroup {
        QuotaGroup::new("sut", std::process::id(), (version, self.0.join(directory)))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

const OWN: &str = "9:name=systemd:/\n4:cpu,cpuacct:/a\n0::/user.slice/x.scope\n";

#[test]
fn in_the_old_version_groups_are_made_beside_us_wherever_the_controller_is_mounted() {
    let tree = Tree::new("one", &[("cpu/a/cpu.shares", ""), ("two/cgroup.controllers", "memory")]);
    let mounts = tree.mounts(&[("two", "cgroup2", "rw"), ("cpu", "cgroup", "rw,cpu,cpuacct")]);
    let directory = tree.0.join("cpu/a");
    let found = place(&mounts, OWN).unwrap();
    assert_eq!(found, Place { version: Version::One, directory, enable: None });
    // `cpuacct` alone, or `cpuset`, holds nobody.
    let mounts = tree.mounts(&[("cpu", "cgroup", "rw,cpuacct"), ("cpu", "cgroup", "rw,cpuset")]);
    let why = place(&mounts, OWN).unwrap_err();
    assert!(why.contains("controller cpu"), "{why}");
}

#[test]
fn the_least_limit_around_a_process_is_found_whoever_set_it() {
    let tree = Tree::new(
        "around",
        &[
            ("two/cgroup.controllers", "cpu"),
            ("two/user.slice/cpu.max", "50000 100000"),
            ("two/user.slice/x.scope/cpu.max", "max 100000"),
            ("cpu/a/cpu.cfs_quota_us", "20000"),
            ("cpu/a/cpu.cfs_period_us", "10000"),
            ("cpu/a/b/cpu.cfs_quota_us", "30000"),
            ("cpu/a/b/cpu.cfs_period_us", "10000"),
        ],
    );
    let found = |mounts: &str, own: &str| {
        let group = QuotaGroup::least(("sut", 1), mounts, own)?;
        let directory = group.directory().strip_prefix(&tree.0).unwrap();
        Some((directory.display().to_string(), group.limit().unwrap().unwrap()))
    };
    let two = tree.mounts(&[("two", "cgroup2", "rw")]);
    assert_eq!(found(&two, OWN), Some(("two/user.slice".into(), 0.5)));
    assert_eq!(found(&two, "0::/\n"), None, "no group around it has a limit");
    let one = two + &tree.mounts(&[("cpu", "cgroup", "rw,cpu,cpuacct")]);
    let own = OWN.replace(":/a\n", ":/a/b\n");
    assert_eq!(found(&one, &own), Some(("cpu/a".into(), 2.0)));
}

#[test]
fn in_the_unified_version_the_nearest_group_that_gives_the_controller_is_taken() {
    let tree = Tree::new(
        "two",
        &[
            ("two/cgroup.subtree_control", "cpuset cpu memory\n"),
            ("two/user.slice/cgroup.subtree_control", "memory pids\n"),
            ("two/user.slice/x.scope/cgroup.subtree_control", "\n"),
            ("two/cgroup.controllers", "cpuset cpu memory\n"),
        ],
    );
    let mounts = tree.mounts(&[("two", "cgroup2", "rw,nosuid")]);
    let found = place(&mounts, OWN).unwrap();
    assert_eq!((found.directory, found.enable), (tree.0.join("two"), None));
    fs::write(tree.0.join("two/user.slice/cgroup.subtree_control"), "memory cpu\n").unwrap();
    let found = place(&mounts, OWN).unwrap();
    assert_eq!((found.directory, found.enable), (tree.0.join("two/user.slice"), None));
}

#[test]
fn where_nobody_gives_it_the_root_has_to_and_where_that_cannot_be_it_is_said() {
    let control = "two/cgroup.subtree_control";
    let tree = Tree::new("root", &[(control, "\n"), ("two/cgroup.controllers", "cpu memory\n")]);
    let mounts = tree.mounts(&[("two", "cgroup2", "rw")]);
    let found = place(&mounts, "0::/\n").unwrap();
    assert_eq!((found.directory, found.enable), (tree.0.join("two"), Some(tree.0.join(control))));
    // A group of a container looks like a root, but may not have processes beside such groups.
    fs::write(tree.0.join("two/cgroup.type"), "domain\n").unwrap();
    let why = place(&mounts, "0::/\n").unwrap_err();
    assert!(why.contains("gives its groups the controller cpu"), "{why}");
    fs::write(tree.0.join("two/cgroup.controllers"), "memory\n").unwrap();
    let why = place(&mounts, "0::/\n").unwrap_err();
    assert!(why.contains("has no controller cpu"), "{why}");
}

#[test]
fn a_limit_is_written_and_read_in_the_words_of_either_version() {
    let old = [("g/cpu.cfs_quota_us", "-1\n"), ("g/cpu.cfs_period_us", "100000\n")];
    let tree = Tree::new("words", &[old[0], old[1], ("h/cpu.max", "max 100000\n")]);
    let (one, two) = (tree.group(Version::One, "g"), tree.group(Version::Two, "h"));
    assert_eq!((one.limit().unwrap(), two.limit().unwrap()), (None, None));
    for (group, cpus) in [(&one, 0.5), (&two, 0.5), (&one, 1.7), (&two, 0.004)] {
        group.set(Some(cpus)).unwrap();
        assert!((group.limit().unwrap().unwrap() - cpus).abs() < 1e-9, "{cpus}");
    }
    assert_eq!(tree.get("g/cpu.cfs_quota_us"), "17000");
    assert_eq!(tree.get("g/cpu.cfs_period_us"), "10000");
    assert_eq!(tree.get("h/cpu.max"), "1000 250000");
    one.set(None).unwrap();
    two.set(None).unwrap();
    assert_eq!((tree.get("g/cpu.cfs_quota_us").as_str(), one.limit().unwrap()), ("-1", None));
    assert_eq!((tree.get("h/cpu.max").as_str(), two.limit().unwrap()), ("max 10000", None));
    fs::write(tree.0.join("h/cpu.max"), "much\n").unwrap();
    assert!(two.limit().unwrap_err().to_string().contains("'much'"));
}

#[test]
fn counts_are_those_of_the_group_and_none_where_it_is_gone() {
    let stat = "usage_usec 1500\nuser_usec 1\nnr_periods 40\nnr_throttled 30\nthrottled_usec 9\n";
    let tree = Tree::new("counts", &[("h/cpu.stat", stat), ("g/cpu.stat", "nr_periods 0\n")]);
    let counts = tree.group(Version::Two, "h").counts().unwrap();
    assert_eq!(counts, Counts { cpu_ns: 1_500_000, periods: 40, throttled: 30 });
    assert_eq!(tree.group(Version::One, "g").counts(), None);
}

#[test]
fn a_busy_process_is_held_to_its_quota_and_leaves_no_group() {
    let place = match find(Path::new("/")) {
        Ok(Place { enable: None, version, directory }) => (version, directory),
        Ok(_) => return println!("skipped: a group around this one would have to be changed"),
        Err(why) => return println!("skipped: {why}"),
    };
    let name = format!("{}{}-busy", cgroup::PREFIX, std::process::id());
    let directory = place.1.join(name);
    fs::create_dir(&directory).unwrap();
    let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let group = QuotaGroup::new("busy", child.id(), (place.0, directory.clone()));
    group.enter().unwrap();
    group.set(Some(0.2)).unwrap();
    let limit = group.limit().unwrap();
    let began = group.counts().unwrap();
    let far = |now: &Counts| now.periods >= began.periods + 20;
    let mut now = began;
    for _ in 0..1000 {
        std::thread::sleep(Duration::from_millis(10));
        now = group.counts().unwrap();
        if far(&now) {
            break;
        }
    }
    group.leave().unwrap();
    let inside = fs::read_to_string(directory.join("cgroup.procs")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    cgroup::remove(&directory).unwrap();
    assert!(limit.is_some_and(|limit| (limit - 0.2).abs() < 1e-9), "{limit:?}");
    assert!(far(&now), "periods are counted: {now:?}");
    assert!(now.throttled > began.throttled, "{now:?}");
    assert_eq!(inside, "", "it went back to where it was");
    assert!(try_out(Path::new("/")).unwrap().contains("read back and removed"));
}
