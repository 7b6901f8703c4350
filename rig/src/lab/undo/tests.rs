//! Knows what a journal must survive: a kill at any byte, a number given to another process, a
//! reboot, and somebody else's hands.

use super::*;
use crate::lab::undo::journal::Intent;
use std::fs;
use std::path::{Path, PathBuf};

const BOOT: &str = "11111111-2222-3333-4444-555555555555";
const BUDGET: &str = "proc/sys/net/core/netdev_budget";
const THP: &str = "sys/kernel/mm/transparent_hugepage/enabled";

/// A machine of files with process 7, which started at tick 70, and a directory for journals.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("stend-undo-{}-{name}", std::process::id()));
        let tree = Self(root);
        tree.put("proc/sys/kernel/random/boot_id", &format!("{BOOT}\n"));
        tree.put(BUDGET, "300\n");
        tree.put(THP, "madvise\n");
        tree.process(7, 'S', 70);
        fs::create_dir_all(tree.journals()).unwrap();
        super::story::prepare(&tree.journals()).unwrap();
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

    fn process(&self, pid: u32, state: char, start: u64) {
        let zeros = "0 ".repeat(18);
        self.put(
            &format!("proc/{pid}/stat"),
            &format!("{pid} (a ) b) {state} {zeros}{start} 0 0\n"),
        );
    }

    fn journals(&self) -> PathBuf {
        self.0.join("journals")
    }

    fn owner() -> Owner {
        Owner { pid: 7, start_ticks: 70, boot: BOOT.into() }
    }

    fn journal(&self) -> Journal {
        Journal::begin(&self.journals(), &self.0, Self::owner(), None)
    }

    fn intent(&self, path: &str, new: &str) -> Intent {
        Intent { key: "k".into(), kind: Kind::File, path: self.0.join(path), new: new.into() }
    }

    fn set(&self, journal: &Journal, path: &str, new: &str) -> Vec<u64> {
        journal.change(vec![self.intent(path, new)]).unwrap()
    }

    /// The journal as it lies there after its conductor was killed.
    fn killed(&self, journal: Journal) -> PathBuf {
        // Without its end: nothing of a killed process runs.
        std::mem::forget(journal);
        self.journals().join(Self::owner().file_name())
    }

    fn settle(&self, path: &Path) -> Vec<Fate> {
        settle(path, &self.0).unwrap().into_iter().map(|settled| settled.fate).collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_change_is_undone_by_its_own_conductor_and_leaves_no_journal() {
    let tree = Tree::new("own");
    let journal = tree.journal();
    let first = tree.set(&journal, BUDGET, "600");
    let second = tree.set(&journal, THP, "never");
    assert_eq!((tree.get(BUDGET).as_str(), tree.get(THP).as_str()), ("600", "never"));
    let file = tree.journals().join(Tree::owner().file_name());
    assert_eq!(Story::read(&file).unwrap().open().len(), 2);
    assert_eq!(journal.undo(&first)[0].fate, Fate::Restored);
    assert_eq!((tree.get(BUDGET).as_str(), tree.get(THP).as_str()), ("300", "never"));
    assert_eq!(Story::read(&file).unwrap().open()[0].0.seq, second[0]);
    drop(journal);
    assert_eq!(tree.get(THP), "madvise", "the end of the journal undoes what is open");
    assert!(!file.exists());
}

#[test]
fn a_killed_conductors_changes_are_undone_last_first() {
    let tree = Tree::new("killed");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    tree.set(&journal, BUDGET, "900");
    let file = tree.killed(journal);
    assert_eq!(tree.settle(&file), [Fate::Restored, Fate::Restored]);
    assert_eq!(tree.get(BUDGET), "300");
    assert!(!file.exists());
    assert_eq!(tree.settle(&file), [], "a second time there is nothing to do");
}

#[test]
fn a_kill_at_any_byte_of_the_journal_is_survived() {
    let tree = Tree::new("torn");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    let whole = fs::read(&file).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for bytes in 0..=whole.len() {
        fs::write(&file, &whole[..bytes]).unwrap();
        // The write comes after the whole line; before it, nothing was changed.
        let changed = bytes >= first_line;
        tree.put(BUDGET, if changed { "600" } else { "300" });
        let expected = if changed { vec![Fate::Restored] } else { Vec::new() };
        assert_eq!(tree.settle(&file), expected, "{bytes} of {} bytes", whole.len());
        assert_eq!(tree.get(BUDGET), "300");
        assert!(!file.exists());
    }
}

#[test]
fn what_is_written_after_a_torn_line_can_be_read() {
    let tree = Tree::new("after");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    tree.set(&journal, THP, "never");
    let file = tree.killed(journal);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("{\"line\":\"change\",\"seq\":3,\"ho");
    fs::write(&file, text).unwrap();
    tree.put(THP, "always");
    assert_eq!(tree.settle(&file), [Fate::Foreign { now: "always".into() }, Fate::Restored]);
    let story = Story::read(&file).unwrap();
    assert_eq!(story.open().iter().map(|(e, _)| e.seq).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_damaged_line_is_told_and_the_journal_stays() {
    let tree = Tree::new("damaged");
    let file = tree.journals().join(Tree::owner().file_name());
    fs::write(&file, "{\"line\":\"change\"}\n").unwrap();
    let words = settle(&file, &tree.0).unwrap_err().to_string();
    assert!(words.contains("line 1") && words.contains("seq"), "{words}");
    assert!(file.exists());
}

#[test]
fn a_write_that_never_happened_needs_no_undo() {
    let tree = Tree::new("unmade");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    tree.put(BUDGET, "300");
    assert_eq!(tree.settle(&file), [Fate::Already]);
}

#[test]
fn a_foreign_change_is_left_and_told_until_it_is_forgotten() {
    let tree = Tree::new("foreign");
    let journal = tree.journal();
    let entries = tree.set(&journal, BUDGET, "600");
    tree.put(BUDGET, "450");
    let foreign = Fate::Foreign { now: "450".into() };
    assert_eq!(journal.undo(&entries)[0].fate, foreign);
    drop(journal);
    let file = tree.journals().join(Tree::owner().file_name());
    assert_eq!(tree.settle(&file), [foreign], "it stays in the journal");
    assert_eq!(tree.get(BUDGET), "450");
    forget(&file).unwrap();
    assert_eq!(journals(&tree.journals()).unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_value_that_does_not_take_is_put_back_with_those_before_it() {
    let tree = Tree::new("refused");
    let journal = tree.journal();
    // The kernel shows what it keeps in brackets; a plain file keeps all.
    let intents = vec![tree.intent(BUDGET, "600"), tree.intent(THP, "always [never] madvise")];
    let words = journal.change(intents).unwrap_err().to_string();
    assert!(words.contains("asked always [never] madvise, read back never"), "{words}");
    assert_eq!((tree.get(BUDGET).as_str(), tree.get(THP).as_str()), ("300", "madvise"));
}

#[test]
fn what_the_machine_kept_is_ours_whatever_was_asked() {
    let tree = Tree::new("kept");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"value\":\"600\"", "\"value\":\"512\"")).unwrap();
    tree.put(BUDGET, "512");
    assert_eq!(tree.settle(&file), [Fate::Restored]);
    assert_eq!(tree.get(BUDGET), "300");
}

#[test]
fn a_number_given_to_another_process_does_not_keep_a_dead_conductor_alive() {
    let tree = Tree::new("reuse");
    let alive = |tree: &Tree| Tree::owner().is_alive(&tree.0);
    assert!(alive(&tree));
    let file = tree.journal();
    tree.set(&file, BUDGET, "600");
    let file = tree.killed(file);
    assert!(settle_dead(&tree.journals(), &tree.0).unwrap().is_empty(), "it is alive");
    tree.process(7, 'Z', 70);
    assert!(!alive(&tree), "ended, and nobody has waited for it");
    tree.process(7, 'R', 71);
    assert!(!alive(&tree), "another process of the same number");
    let settled = settle_dead(&tree.journals(), &tree.0).unwrap();
    assert_eq!(settled[0].0, file);
    assert_eq!(settled[0].1.as_ref().unwrap()[0].fate, Fate::Restored);
    assert_eq!(tree.get(BUDGET), "300");
}

#[test]
fn after_a_reboot_only_what_is_still_ours_is_brought_back() {
    let tree = Tree::new("reboot");
    let fates = |now: &str| {
        let journal = tree.journal();
        tree.put(BUDGET, "300");
        tree.set(&journal, BUDGET, "600");
        journal
            .intend(vec![Intent {
                key: "sut".into(),
                kind: Kind::Namespace,
                path: "/run/netns/stend-7-sut".into(),
                new: "present".into(),
            }])
            .unwrap();
        let file = tree.killed(journal);
        tree.put("proc/sys/kernel/random/boot_id", "another\n");
        assert!(!Tree::owner().is_alive(&tree.0), "whatever process has its number now");
        tree.put(BUDGET, now);
        let fates = tree.settle(&file);
        tree.put("proc/sys/kernel/random/boot_id", BOOT);
        (fates, tree.get(BUDGET))
    };
    let with_name = |fate| vec![fate, Fate::Rebooted];
    assert_eq!(fates("300"), (with_name(Fate::Already), "300".into()));
    assert_eq!(fates("450"), (with_name(Fate::Rebooted), "450".into()));
    assert_eq!(fates("600"), (with_name(Fate::Restored), "300".into()));
}

#[test]
fn an_agent_is_an_orphan_when_its_parent_is_not_its_conductor() {
    let tree = Tree::new("orphan");
    let agent = |parent: u32| {
        let zeros = "0 ".repeat(17);
        tree.put("proc/9/stat", &format!("9 (stend) S {parent} {zeros}90 0\n"));
        tree.put("proc/9/cmdline", "stend-agent c01 7-70\0agent\0");
        let found = agents(&tree.0);
        assert_eq!((found.len(), found[0].host.as_str()), (1, "c01"));
        found[0].is_orphan(&tree.0)
    };
    assert!(!agent(7));
    assert!(agent(1), "given to the process that takes all orphans");
    // A conductor in a container: another number here, the same start.
    tree.process(107, 'S', 70);
    assert!(!agent(107));
    tree.put("proc/9/cmdline", "stend-agent of somebody else\0-x\0");
    assert_eq!(agents(&tree.0), []);
}

#[test]
fn two_conductors_do_not_set_the_same() {
    let tree = Tree::new("busy");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    tree.process(8, 'S', 80);
    let owner = Owner { pid: 8, start_ticks: 80, boot: BOOT.into() };
    let other = Journal::begin(&tree.journals(), &tree.0, owner, None);
    let words = other.change(vec![tree.intent(BUDGET, "900")]).unwrap_err().to_string();
    assert!(words.contains("process 7"), "{words}");
    assert_eq!(tree.get(BUDGET), "600");
    tree.set(&other, THP, "never");
    // The other one is killed: its value is not taken for the machine's own.
    tree.process(7, 'Z', 70);
    let file = tree.killed(journal);
    tree.set(&other, BUDGET, "900");
    assert!(!file.exists());
    drop(other);
    assert_eq!((tree.get(BUDGET).as_str(), tree.get(THP).as_str()), ("300", "madvise"));
}

#[test]
fn nothing_but_settings_of_the_kernel_and_names_of_ours_is_touched() {
    let tree = Tree::new("outside");
    tree.put("etc/passwd", "new");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    let text = fs::read_to_string(&file).unwrap();
    for place in ["etc/passwd", "proc/sys/../../etc/passwd"] {
        let path = tree.0.join(place).display().to_string();
        let text = text.replace(&tree.0.join(BUDGET).display().to_string(), &path);
        fs::write(&file, text.replace("\"value\":\"600\"", "\"value\":\"new\"")).unwrap();
        let fates = tree.settle(&file);
        assert!(matches!(&fates[..], [Fate::Failed { why }] if why.contains("no setting")));
        assert_eq!(tree.get("etc/passwd"), "new");
    }
    // Of /proc/irq the list of CPUs of a vector, and nothing else.
    for (place, ours) in [
        ("proc/irq/24/smp_affinity_list", true),
        ("proc/irq/24/smp_affinity", false),
        ("proc/irq/default_smp_affinity", false),
        ("proc/irq/2a/smp_affinity_list", false),
        ("proc/irq/24/../smp_affinity_list", false),
    ] {
        let path = tree.0.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "600\n").unwrap();
        let text =
            text.replace(&tree.0.join(BUDGET).display().to_string(), &path.display().to_string());
        fs::write(&file, text).unwrap();
        let fates = tree.settle(&file);
        let left = matches!(&fates[..], [Fate::Failed { why }] if why.contains("no setting"));
        assert_eq!((fates == [Fate::Restored], left), (ours, !ours), "{place}: {fates:?}");
    }
    // Between two numbers is ours of huge pages alone.
    fs::write(&file, text.replace("\"kind\":\"file\"", "\"kind\":\"pages\"")).unwrap();
    let fates = tree.settle(&file);
    assert!(matches!(&fates[..], [Fate::Failed { why }] if why.contains("no setting")));
    let group = tree.0.join("stend-8-sut");
    fs::create_dir_all(&group).unwrap();
    let path = group.display().to_string();
    let text = text.replace(&tree.0.join(BUDGET).display().to_string(), &path);
    fs::write(&file, text.replace("\"kind\":\"file\"", "\"kind\":\"group\"")).unwrap();
    let fates = tree.settle(&file);
    assert!(matches!(&fates[..], [Fate::Failed { why }] if why.contains("not this conductor's")));
    assert!(group.exists());
}

#[test]
fn a_controller_is_taken_off_a_list_after_the_groups_below_it_and_off_nothing_else() {
    const LIST: &str = "sys/fs/cgroup/cgroup.subtree_control";
    let intent = |tree: &Tree, kind, path: &str| Intent {
        key: "cpu".into(),
        kind,
        path: tree.0.join(path),
        new: "present".into(),
    };
    let tree = Tree::new("controller");
    tree.put(LIST, "memory\n");
    let journal = tree.journal();
    let made = vec![
        intent(&tree, Kind::Controller, LIST),
        intent(&tree, Kind::Group, "sys/fs/cgroup/stend-7-sut"),
    ];
    journal.intend(made).unwrap();
    tree.put(LIST, "cpu memory\n");
    fs::create_dir(tree.0.join("sys/fs/cgroup/stend-7-sut")).unwrap();
    // Another conductor would lose it with our undo.
    let other = Owner { pid: 8, start_ticks: 80, boot: BOOT.into() };
    let other = Journal::begin(&tree.journals(), &tree.0, other, None);
    let refused = other.intend(vec![intent(&tree, Kind::Controller, LIST)]).unwrap_err();
    assert!(matches!(refused, UndoError::Busy { pid: 7, .. }), "{refused}");
    let file = tree.killed(journal);
    assert_eq!(tree.settle(&file), [Fate::Restored, Fate::Restored]);
    assert!(!tree.0.join("sys/fs/cgroup/stend-7-sut").exists());
    // A tree of files keeps what was written to it; the kernel takes it for an order.
    assert_eq!(tree.get(LIST), "-cpu");

    tree.put("sys/fs/cgroup/cpu.max", "cpu\n");
    let journal = tree.journal();
    journal.intend(vec![intent(&tree, Kind::Controller, "sys/fs/cgroup/cpu.max")]).unwrap();
    let file = tree.killed(journal);
    let fates = tree.settle(&file);
    assert!(matches!(&fates[..], [Fate::Failed { why }] if why.contains("no list")), "{fates:?}");
}

#[test]
fn a_directory_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new("open");
    fs::set_permissions(tree.journals(), fs::Permissions::from_mode(0o777)).unwrap();
    let words = journals(&tree.journals()).unwrap_err().to_string();
    assert!(words.contains("chmod"), "{words}");
}

#[test]
fn a_journal_that_could_not_be_made_is_refused_before() {
    let tree = Tree::new("foretold");
    let file = tree.0.join("file");
    fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below")] {
        assert!(refuse(&place).unwrap_err().to_string().contains("Not a directory"));
    }
    refuse(&tree.0.join("new/journals")).unwrap();
}

#[test]
fn a_long_journal_is_written_anew_and_forgets_nothing_that_is_open() {
    let tree = Tree::new("long");
    let journal = tree.journal();
    journal.shorten_from(10_000);
    tree.set(&journal, THP, "never");
    let file = tree.journals().join(Tree::owner().file_name());
    let mut longest = 0;
    for turn in 0..60 {
        let entries = tree.set(&journal, BUDGET, if turn % 2 == 0 { "600" } else { "900" });
        assert_eq!(journal.undo(&entries)[0].fate, Fate::Restored);
        longest = longest.max(fs::metadata(&file).unwrap().len());
    }
    assert!(longest > 10_000 && longest < 11_000, "{longest} B");
    let file = tree.killed(journal);
    assert!(fs::metadata(&file).unwrap().len() < longest);
    assert_eq!(tree.settle(&file), [Fate::Restored]);
    assert_eq!(tree.get(THP), "madvise");
}

#[test]
fn what_was_somebody_elses_once_is_not_taken_for_ours_when_the_value_comes_again() {
    let tree = Tree::new("again");
    let journal = tree.journal();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    tree.process(7, 'Z', 70);
    tree.put(BUDGET, "450");
    assert_eq!(tree.settle(&file), [Fate::Foreign { now: "450".into() }]);
    // The same plan once more, by a conductor that lives: now 600 is its value.
    tree.process(8, 'S', 80);
    let owner = Owner { pid: 8, start_ticks: 80, boot: BOOT.into() };
    let next = Journal::begin(&tree.journals(), &tree.0, owner, None);
    tree.set(&next, BUDGET, "600");
    let settled = settle_dead(&tree.journals(), &tree.0).unwrap();
    assert_eq!(settled[0].1.as_ref().unwrap()[0].fate, Fate::Foreign { now: "600".into() });
    assert_eq!(tree.get(BUDGET), "600", "in the middle of the living one's run");
    drop(next);
    assert_eq!(tree.get(BUDGET), "450", "what somebody had set between the two");
}

#[test]
fn a_line_that_the_disk_took_by_half_does_not_spoil_the_next() {
    let tree = Tree::new("half");
    let journal = tree.journal();
    tree.set(&journal, THP, "never");
    let file = tree.journals().join(Tree::owner().file_name());
    // What a full disk leaves of a line.
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("{\"line\":\"change\",\"seq\":2,\"ho");
    fs::write(&file, text).unwrap();
    tree.set(&journal, BUDGET, "600");
    let file = tree.killed(journal);
    assert_eq!(tree.settle(&file), [Fate::Restored, Fate::Restored]);
    assert_eq!((tree.get(BUDGET).as_str(), tree.get(THP).as_str()), ("300", "madvise"));
}

#[test]
fn a_killed_conductors_register_comes_back_and_no_other_device_is_written() {
    let tree = Tree::new("register");
    let device = |name: &str| {
        let path = tree.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, [0; 0x1b0]).unwrap();
        path
    };
    let (msr, disk) = (device("dev/cpu/3/msr"), device("dev/sda"));
    let intent = |path: &Path| Intent {
        key: "prefetchers".into(),
        kind: Kind::Register,
        path: path.into(),
        new: "0xf".into(),
    };
    let journal = tree.journal();
    journal.change(vec![intent(&msr)]).unwrap();
    assert_eq!(register::read(&msr).unwrap(), 0xf);
    let file = tree.killed(journal);
    assert_eq!(tree.settle(&file), [Fate::Restored]);
    assert_eq!(register::read(&msr).unwrap(), 0);
    // Another device is neither written by a conductor nor by who reads a journal that names it.
    let journal = tree.journal();
    assert!(journal.change(vec![intent(&disk)]).is_err());
    journal.change(vec![intent(&msr)]).unwrap();
    let file = tree.killed(journal);
    let text = fs::read_to_string(&file).unwrap().replace("dev/cpu/3/msr", "dev/sda");
    fs::write(&file, text).unwrap();
    fs::copy(&msr, &disk).unwrap();
    let fates = tree.settle(&file);
    assert!(matches!(fates.as_slice(), [Fate::Failed { .. }]), "{fates:?}");
    assert_eq!(register::read(&disk).unwrap(), 0xf);
}
