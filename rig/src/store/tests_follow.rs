//! A store as somebody meets it who follows a run that another process writes.

use super::{RunState, Stamp, Store};
use desk::record::{Completeness, Run, Sitting};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const V3: &[u8] = include_bytes!("golden/v3.stend");

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stend-follow-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A run of six trials, and an empty store.
    fn begun(&self) -> (Run, PathBuf, Store) {
        let golden = self.0.join("v3.stend");
        fs::write(&golden, V3).unwrap();
        let run = Run { id: "x-1".into(), ..Store::read(&golden).unwrap().load("last").unwrap() };
        let path = self.0.join("lab.stend");
        let store = Store::open(&path).unwrap();
        (run, path, store)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sitting(records_before: u32) -> Sitting {
    let started = "2026-11-21T07:00:00Z".into();
    Sitting { started, boot: String::new(), records_before, added: None }
}

#[test]
fn what_was_added_is_told_once_and_the_stamp_says_when_to_ask() {
    let place = Place::new("news");
    let (run, path, mut store) = place.begun();
    assert_eq!(Store::read(&path).unwrap().current().unwrap(), None);
    store.begin(&run, &sitting(0)).unwrap();
    let before = Stamp::of(&path);
    assert_eq!(before, Stamp::of(&path));
    for record in &run.records[..2] {
        store.keep("x-1", record).unwrap();
    }
    assert_ne!(before, Stamp::of(&path), "something was added");
    let news = Store::read(&path).unwrap().news("x-1", 0).unwrap();
    assert_eq!((news.line.state, news.records.len()), (RunState::Running, 2));
    assert!(news.conductor.lives());
    store.keep("x-1", &run.records[2]).unwrap();
    let news = Store::read(&path).unwrap().news("x-1", 2).unwrap();
    assert_eq!(news.records, run.records[2..3]);
    store.end("x-1", &Completeness::Partial { why: "stopped".into() }).unwrap();
    let news = Store::read(&path).unwrap().news("x-1", 3).unwrap();
    assert_eq!((news.line.state, news.records.len()), (RunState::Partial, 0));
    store.sit("x-1", &sitting(3)).unwrap();
    let news = Store::read(&path).unwrap().news("x-1", 3).unwrap();
    assert_eq!((news.line.state, news.sittings.len()), (RunState::Running, 2));
}

#[test]
fn the_run_that_is_open_is_met_before_a_later_one_that_has_ended() {
    let place = Place::new("current");
    let (run, path, mut store) = place.begun();
    for id in ["x-1", "x-2", "x-2-3", "y-1"] {
        store.begin(&Run { id: id.into(), ..run.clone() }, &sitting(0)).unwrap();
    }
    for id in ["x-1", "x-2-3", "y-1"] {
        store.end(id, &Completeness::Complete).unwrap();
    }
    let read = Store::read(&path).unwrap();
    assert_eq!(read.current().unwrap().as_deref(), Some("x-2"));
    assert_eq!(read.started_by("x").unwrap(), ["x-1", "x-2"]);
    store.end("x-2", &Completeness::Complete).unwrap();
    assert_eq!(read.current().unwrap().as_deref(), Some("y-1"));
}

#[test]
fn a_reader_in_the_middle_of_a_transaction_makes_no_writer_wait() {
    let place = Place::new("lock");
    let (run, path, mut store) = place.begun();
    store.begin(&run, &sitting(0)).unwrap();
    let reader = Store::read(&path).unwrap();
    reader.link.execute_batch("BEGIN").unwrap();
    let seen = reader.news("x-1", 0).unwrap();
    let begun = Instant::now();
    run.records.iter().for_each(|record| store.keep("x-1", record).unwrap());
    store.end("x-1", &Completeness::Complete).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(seen.records.is_empty(), "its view is of the moment in which it began");
    reader.link.execute_batch("COMMIT").unwrap();
    assert_eq!(reader.news("x-1", 0).unwrap().records.len(), run.records.len());
}
