//! A store as a conductor, a reader and a power cut meet it.

use super::{RunState, Store, StoreError};
use desk::record::{Added, Completeness, Fault, Run, Sitting};
use desk::verdict::{Verdict, analyse};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A store of schema 3 as the first stend of it wrote it: six trials and a faulty visit of a
/// simulated lab.
const V3: &[u8] = include_bytes!("golden/v3.stend");
/// A store of stend 0.1.
const V1: &[u8] = include_bytes!("golden/v1.stend");

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-store-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn golden(&self) -> PathBuf {
        let path = self.file("v3.stend");
        fs::write(&path, V3).unwrap();
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(id: &str) -> Run {
    Run { id: id.into(), sittings: vec![sitting(0)], ..golden() }
}

fn golden() -> Run {
    let place = Place::new(&format!("base-{:?}", thread::current().id()));
    Store::read(&place.golden()).unwrap().load("last").unwrap()
}

fn sitting(records_before: u32) -> Sitting {
    Sitting {
        started: "2026-11-21T07:00:00Z".into(),
        boot: String::new(),
        records_before,
        added: None,
    }
}

fn state(store: &Store, id: &str) -> RunState {
    store.list().unwrap().iter().find(|line| line.id == id).unwrap().state
}

#[test]
fn the_first_schema_opens_and_says_what_it_said() {
    let place = Place::new("v3");
    let store = Store::read(&place.golden()).unwrap();
    let lines = store.list().unwrap();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!((line.id.as_str(), line.state), ("20261123-021335-upx-1", RunState::Complete));
    assert_eq!((line.planned, line.valid, line.invalid), (6, 6, 1));
    let run = store.load("20261123").unwrap();
    assert_eq!((run.schema, run.records.len(), run.sittings.len()), (3, 7, 1));
    let faults: Vec<_> = run.records.iter().filter_map(|r| r.outcome.fault.clone()).collect();
    assert_eq!(faults, [Fault::DeadHost { host: "c01".into() }]);
    // What that version said of it, to the last printed digit.
    let comparison = &analyse(&run).comparisons[0];
    assert!(matches!(comparison.verdict, Verdict::Undecided { .. }), "{comparison:?}");
    assert_eq!(comparison.overall.n, 3);
    assert!((comparison.overall.centre.value - 0.990_917_954_4).abs() < 1e-9, "{comparison:?}");
    // A conductor of today writes to it.
    let mut store = Store::open(&place.file("v3.stend")).unwrap();
    store.begin(&self::run("later"), &sitting(0)).unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn a_store_of_before_is_refused_with_the_version_that_reads_it_and_left_as_it_is() {
    let place = Place::new("v1");
    let path = place.file("v1.stend");
    fs::write(&path, V1).unwrap();
    let refused = [Store::read(&path).err(), Store::open(&path).err(), Store::refuse(&path).err()];
    for error in refused {
        let error = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("written by stend 0.1"), "{error}");
    }
    assert!(fs::read(&path).unwrap() == V1);
}

#[test]
fn what_was_kept_comes_back_and_a_later_sitting_goes_on() {
    let place = Place::new("keep");
    let path = place.file("sub/lab.stend");
    let whole = run("a");
    let mut store = Store::open(&path).unwrap();
    store.begin(&whole, &sitting(0)).unwrap();
    assert!(matches!(store.begin(&whole, &sitting(0)), Err(StoreError::Sql { .. })), "id taken");
    for record in &whole.records[..4] {
        store.keep("a", record).unwrap();
    }
    assert_eq!(state(&store, "a"), RunState::Running, "this process writes it");
    let kept = Store::read(&path).unwrap().load("a").unwrap();
    assert_eq!(kept.records, whole.records[..4]);
    assert!(matches!(&kept.completeness, Completeness::Partial { why } if why.contains("word")));
    let rest = Run { completeness: Completeness::Complete, ..kept };
    assert_eq!(Run { records: whole.records.clone(), ..rest }, whole);
    store.end("a", &Completeness::Partial { why: "stopped".into() }).unwrap();
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(state(&store, "a"), RunState::Partial);
    assert!(store.keep("a", &whole.records[4]).is_err(), "without a sitting nothing is kept");
    let stale = store.sit("a", &sitting(3)).unwrap_err();
    store.sit("a", &sitting(4)).unwrap();
    assert_eq!(state(&store, "a"), RunState::Running);
    let again = Store::open(&path).unwrap().sit("a", &sitting(4)).unwrap_err();
    assert!(matches!(again, StoreError::Taken { .. }), "one of two is refused");
    assert!(matches!(stale, StoreError::Taken { .. }), "who has not seen all records is refused");
    for record in &whole.records[4..] {
        store.keep("a", record).unwrap();
    }
    store.end("a", &Completeness::Complete).unwrap();
    let after = store.load("a").unwrap();
    assert_eq!((after.records, after.completeness), (whole.records, Completeness::Complete));
    assert_eq!(after.sittings, [sitting(0), sitting(4)]);
}

#[test]
fn blocks_that_were_added_come_back_with_the_plan() {
    let place = Place::new("added");
    let path = place.golden();
    let id = Store::read(&path).unwrap().find("last").unwrap();
    let planned = |store: &Store| store.list().unwrap()[0].planned;
    let mut store = Store::open(&path).unwrap();
    assert_eq!((planned(&store), store.load(&id).unwrap().plan.method.blocks), (6, 3));
    let added = Some(Added { from: 3, to: 8 });
    let first = Sitting { added, ..sitting(7) };
    store.sit(&id, &first).unwrap();
    assert_eq!(state(&store, &id), RunState::Running);
    store.end(&id, &Completeness::Complete).unwrap();
    store.sit(&id, &Sitting { added: Some(Added { from: 8, to: 10 }), ..sitting(7) }).unwrap();
    store.end(&id, &Completeness::Complete).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!((run.plan.method.blocks, run.plan.method.looks.as_slice()), (10, &[3, 8, 10][..]));
    assert_eq!((run.sittings[1].clone(), planned(&store)), (first, 20));
    let link = Connection::open(&path).unwrap();
    assert!(link.execute("DELETE FROM extension", []).is_err(), "kept for ever");
    // Another store takes the whole of it, and gives it again.
    let mut other = Store::open(&place.file("other.stend")).unwrap();
    other.add(&[&run]).unwrap();
    assert_eq!((other.load(&id).unwrap(), planned(&other)), (run, 20));
}

#[test]
fn nothing_that_was_kept_can_be_changed() {
    let place = Place::new("append");
    let path = place.golden();
    drop(Store::open(&path).unwrap());
    let link = Connection::open(&path).unwrap();
    for table in ["run", "sitting", "trial", "sample", "ending"] {
        for change in [format!("DELETE FROM {table}"), format!("UPDATE {table} SET rowid = 99")] {
            let change = change
                .replace("SET rowid", if table == "sample" { "SET value" } else { "SET rowid" });
            let refused = link.execute(&change, []).unwrap_err().to_string();
            assert!(refused.contains("only ever added"), "{change}: {refused}");
        }
    }
}

#[test]
fn a_row_that_was_altered_is_refused_by_its_trial() {
    let place = Place::new("altered");
    let path = place.file("lab.stend");
    let whole = golden();
    Store::open(&path).unwrap().add(&[&whole]).unwrap();
    let link = Connection::open(&path).unwrap();
    link.execute_batch("DROP TRIGGER no_UPDATE_trial; DROP TRIGGER no_UPDATE_run").unwrap();
    let said = || Store::read(&path).unwrap().load("last").unwrap_err().to_string();
    // The record of another visit, whole as it is; then bytes that are no record; then the plan.
    let other = "UPDATE trial SET record = (SELECT record FROM trial WHERE seq = 3) WHERE seq = 2";
    link.execute(other, []).unwrap();
    let trial = format!("trial {} of run {}", whole.records[2].trial.id, whole.id);
    assert!(said().contains(&trial) && said().contains("import the run"), "{}", said());
    link.execute("UPDATE trial SET record = x'00' WHERE seq = 2", []).unwrap();
    assert!(said().contains(&trial), "{}", said());
    link.execute("UPDATE run SET digest = 'x'", []).unwrap();
    assert!(said().contains(&format!(": run {} is not", whole.id)), "{}", said());
}

#[test]
fn a_run_is_found_by_any_beginning_that_is_its_own() {
    let place = Place::new("find");
    let mut store = Store::open(&place.file("lab.stend")).unwrap();
    for id in ["2026-a", "2026-ab", "2027-c"] {
        store.begin(&run(id), &sitting(0)).unwrap();
    }
    assert_eq!(store.find("2027").unwrap(), "2027-c");
    assert_eq!(store.find("2026-a").unwrap(), "2026-a", "a whole id is no beginning");
    assert_eq!(store.find("last").unwrap(), "2027-c");
    assert!(matches!(store.find("2026"), Err(StoreError::Ambiguous { .. })));
    assert!(matches!(store.find("x"), Err(StoreError::NoRun { .. })));
    assert!(matches!(store.keep("x", &golden().records[0]), Err(StoreError::NoRun { .. })));
}

#[test]
fn what_is_no_store_or_of_a_later_schema_is_refused() {
    let place = Place::new("refuse");
    let path = place.file("x");
    assert!(matches!(Store::read(&path), Err(StoreError::None { .. })));
    fs::write(
        &path,
        "a plan, not a store; long enough to have the header of a database, it has none",
    )
    .unwrap();
    assert!(Store::read(&path).is_err() && Store::open(&path).is_err());
    assert!(fs::read_to_string(&path).unwrap().starts_with("a plan"), "left as it is");
    let other = place.file("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = fs::read(&other).unwrap();
    assert!(matches!(Store::open(&other), Err(StoreError::Foreign { .. })));
    assert!(fs::read(&other).unwrap() == before, "left as it is");
    let path = place.golden();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let refused = Store::read(&path).unwrap_err().to_string();
    assert!(refused.contains("schema 99") && refused.contains("up to 3"), "{refused}");
}

#[test]
fn what_open_would_refuse_is_refused_before_and_nothing_is_changed() {
    let place = Place::new("foretold");
    let refused = |path: &Path| Store::refuse(path).unwrap_err();
    assert!(refused(&place.0).to_string().contains("directory"), "{}", refused(&place.0));
    assert!(matches!(refused(Path::new("/dev/null")), StoreError::Place { .. }));
    let text = place.file("README.md");
    fs::write(&text, "# no store").unwrap();
    assert!(matches!(refused(&text), StoreError::Foreign { .. }));
    assert!(matches!(refused(&text.join("below")), StoreError::Place { .. }));
    let other = place.file("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(refused(&other), StoreError::Foreign { .. }));
    let later = place.golden();
    Connection::open(&later).unwrap().pragma_update(None, "user_version", 99).unwrap();
    Store::refuse(&later).unwrap_err();
    for fine in [place.file("new/lab.stend"), place.file("lab.stend"), place.file("empty")] {
        if fine.ends_with("empty") {
            fs::write(&fine, "").unwrap();
        }
        Store::refuse(&fine).unwrap();
        let mut store = Store::open(&fine).unwrap();
        store.begin(&run("a"), &sitting(0)).unwrap();
        // While it is written, when its tables are in the log only, and afterwards.
        Store::refuse(&fine).unwrap();
        drop(store);
        Store::refuse(&fine).unwrap();
    }
}

#[test]
fn a_copy_at_any_moment_opens_with_what_was_kept_until_then() {
    let place = Place::new("copy");
    let path = place.file("lab.stend");
    let whole = run("a");
    let writer = thread::spawn({
        let (path, whole) = (path.clone(), whole.clone());
        move || {
            let mut store = Store::open(&path).unwrap();
            store.begin(&whole, &sitting(0)).unwrap();
            for (at, record) in whole.records.iter().cycle().take(1000).enumerate() {
                let mut record = record.clone();
                record.trial.id = u32::try_from(at).unwrap();
                store.keep("a", &record).unwrap();
            }
        }
    });
    let (mut kept, mut copies) = (0, 0);
    while !writer.is_finished() {
        let copy = place.file("copy.stend");
        if fs::copy(&path, &copy).is_err() || fs::copy(wal(&path), wal(&copy)).is_err() {
            continue;
        }
        // Before the tables stand and the run is begun there is nothing to be lost.
        let begun = Store::read(&copy).is_ok_and(|store| store.find("last").is_ok());
        if !begun && copies == 0 {
            continue;
        }
        let store = Store::open(&copy).unwrap();
        let run = store.load("last").unwrap();
        let ids: Vec<u32> = run.records.iter().map(|r| r.trial.id).collect();
        assert!(ids.iter().copied().eq(0..u32::try_from(ids.len()).unwrap()), "{ids:?}");
        assert!(ids.len() >= kept, "{} after {kept}", ids.len());
        kept = ids.len();
        copies += 1;
        drop(store);
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", copy.display()));
        }
    }
    writer.join().unwrap();
    assert!(copies > 5, "{copies} copies were taken while it was written");
    assert_eq!(Store::read(&path).unwrap().load("a").unwrap().records.len(), 1000);
}

#[test]
fn two_conductors_write_to_one_store() {
    let place = Place::new("two");
    let path = place.file("lab.stend");
    let write = |id: &'static str| {
        let (path, whole) = (path.clone(), run(id));
        thread::spawn(move || {
            let mut store = Store::open(&path).unwrap();
            store.begin(&whole, &sitting(0)).unwrap();
            for record in whole.records.iter().cycle().take(50) {
                store.keep(id, record).unwrap();
                thread::sleep(Duration::from_micros(200));
            }
            store.end(id, &Completeness::Complete).unwrap();
        })
    };
    let both = [write("a"), write("b")];
    for writer in both {
        writer.join().unwrap();
    }
    let store = Store::read(&path).unwrap();
    for id in ["a", "b"] {
        assert_eq!(store.load(id).unwrap().records.len(), 50);
        assert_eq!(state(&store, id), RunState::Complete);
    }
}

fn wal(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", store.display()))
}
