//! When the clients are the limit, and when they only look like it.

use super::{Simulated, cpu, limit, read, with};
use crate::record::{Run, TrialRecord, Value};
use crate::unit::{Quantity, Unit};
use crate::verdict::{GeneratorSign, LimitKind, analyse};

/// Wanted and given share of the client's and of the server's busiest thread.
fn threads(record: &mut TrialRecord, client: [f64; 2], server: [f64; 2]) {
    for (host, [wants, gets]) in [("c01", client), ("sut", server)] {
        read(record, ["thread", host, "runnable"], wants);
        read(record, ["thread", host, "cpu"], gets);
    }
    // Another client that has less to do.
    read(record, ["thread", "c02", "runnable"], 0.2);
    read(record, ["thread", "c02", "cpu"], 0.2);
}

fn case(client: [f64; 2], server: [f64; 2], busy: f64) -> Run {
    with(move |record| {
        threads(record, client, server);
        cpu(record, "busy", busy);
    })
}

fn sign(run: &Run) -> Option<GeneratorSign> {
    let found = analyse(run).generator_bound;
    assert!(found.is_empty() || found.len() == 2, "both levels were made alike: {found:?}");
    found.first().map(|bound| bound.sign)
}

#[test]
fn a_client_thread_that_runs_all_the_time_is_the_limit_unless_others_are_full() {
    let busy = case([0.99, 0.97], [0.5, 0.5], 0.6);
    assert_eq!(
        (sign(&busy), limit(&busy)),
        (Some(GeneratorSign::Busy), vec![LimitKind::Generator; 2])
    );
    let both = case([0.99, 0.97], [0.99, 0.97], 0.6);
    assert_eq!((sign(&both), limit(&both)), (None, vec![LimitKind::NoneSeen; 2]));
    let full = case([0.99, 0.97], [0.5, 0.5], 0.98);
    assert_eq!((sign(&full), limit(&full)), (None, vec![LimitKind::AllCpus; 2]));
    let below = case([0.99, 0.94], [0.5, 0.5], 0.6);
    assert_eq!(sign(&below), None);
}

#[test]
fn clients_between_which_a_load_goes_are_what_it_measures() {
    let of = |way| {
        let mut run = Simulated { directions: vec![way], ..Simulated::default() }.run();
        run.records.iter_mut().for_each(|record| {
            threads(record, [0.99, 0.97], [0.5, 0.5]);
            cpu(record, "busy", 0.6);
        });
        sign(&run)
    };
    assert_eq!(of("transmit"), Some(GeneratorSign::Busy));
    assert_eq!(of("between"), None);
}

#[test]
fn a_client_that_is_not_let_is_starved_unless_the_machine_is_full() {
    let starved = case([0.99, 0.3], [0.6, 0.6], 0.5);
    assert_eq!(sign(&starved), Some(GeneratorSign::Starved));
    assert_eq!(limit(&starved), [LimitKind::Generator; 2]);
    let evidence = &analyse(&starved).generator_bound[0].evidence;
    assert!((evidence.centre.value - 0.99).abs() < 1e-9);
    // As measured when four clients send at full speed and the server's threads sleep in between.
    let full = case([0.99, 0.5], [0.4, 0.4], 1.0);
    assert_eq!((sign(&full), limit(&full)), (None, vec![LimitKind::AllCpus; 2]));
    let shared = case([0.99, 0.5], [0.95, 0.5], 1.0);
    assert_eq!((sign(&shared), limit(&shared)), (None, vec![LimitKind::AllCpus; 2]));
}

#[test]
fn the_share_is_that_of_the_thread_that_wants_most() {
    // c02 has its CPU more than the starved c01, which must not hide it.
    let run = with(|record| {
        threads(record, [0.99, 0.3], [0.6, 0.6]);
        super::change(record, ["thread", "c02", "cpu"], 0.7);
        super::change(record, ["thread", "c02", "runnable"], 0.7);
    });
    assert_eq!(sign(&run), Some(GeneratorSign::Starved));
}

#[test]
fn late_requests_are_told_from_one_in_a_hundred() {
    let late = |share: f64, busy: f64| {
        with(move |record| {
            cpu(record, "busy", busy);
            read(record, ["pace", "c01", "late"], share);
            read(record, ["pace", "sut", "late"], 0.5);
        })
    };
    assert_eq!(sign(&late(0.011, 0.5)), Some(GeneratorSign::Late));
    assert_eq!(sign(&late(0.01, 0.5)), None);
    // The simulated load carries 1 Gbit/s: nine tenths of it were offered and carried.
    let carried = with(|record| {
        cpu(record, "busy", 0.5);
        read(record, ["pace", "c01", "late"], 0.2);
        let rate = Value::Quantity(Quantity::new(0.9e9, Unit::BitPerSecond));
        record.trial.point.params.insert("offered_load".into(), rate);
    });
    assert_eq!((sign(&carried), limit(&carried)), (None, vec![LimitKind::OfferedLoad; 2]));
    assert_eq!(sign(&late(0.011, 0.99)), None);
}
