//! Two threads hand over as often as asked, by every method, and what goes wrong is found.

use super::*;
use std::sync::atomic::Ordering::Relaxed;

/// The first two CPUs of this process; none on a machine of one.
fn cpus() -> Option<(u32, u32)> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    let mut cpus = (0..1024_u32).filter(|cpu| set.is_set(*cpu as usize));
    Some((cpus.next()?, cpus.next()?))
}

/// Works in a thread of its own, so that no other test is pinned.
fn with_pair(method: Method, home: Home, work: impl FnOnce(&mut Pair) + Send) {
    let Some((ping, pong)) = cpus() else { return println!("skipped: a machine of one CPU") };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            metal::pin(ping).unwrap();
            let mut pair = Pair::make(Setup { pong, method, home }).unwrap();
            work(&mut pair);
        });
    });
}

#[test]
fn every_method_hands_over_as_often_as_it_is_asked() {
    for home in [Home::Ping, Home::Pong] {
        for method in [Method::Cas, Method::Store, Method::TwoLines] {
            with_pair(method, home, |pair| {
                assert_eq!(pair.pass(5), 5 * HANDOVERS_OF_PASS);
                assert_eq!(pair.verify(), Ok(5 * HANDOVERS_OF_PASS), "{method:?}");
                assert_eq!(pair.pass(1), HANDOVERS_OF_PASS);
                assert_eq!(pair.verify(), Ok(6 * HANDOVERS_OF_PASS), "{method:?}");
                assert!(pair.verify().is_err(), "nothing since");
                pair.pass(1);
                pair.rounds += 1;
                assert!(pair.verify().unwrap_err().contains("stand at"), "a round too many");
                pair.rounds -= 1;
            });
        }
    }
}

#[test]
fn blocks_arrive_as_they_were_given() {
    for block in [64, 4096, 1 << 20] {
        with_pair(Method::Handover(block), Home::Ping, |pair| {
            let blocks = 3 * blocks_of_pass(block);
            assert_eq!(pair.pass(3), blocks);
            assert_eq!(pair.verify(), Ok(blocks));
            pair.pass(1);
            assert_eq!(pair.verify(), Ok(blocks + blocks_of_pass(block)));
        });
    }
}

#[test]
fn a_block_that_arrives_wrong_is_found() {
    with_pair(Method::Handover(64), Home::Pong, |pair| {
        pair.pass(1);
        // As if a block had been published before it was written.
        let given = pair.rounds;
        pair.shared.word(0).store(given + 1, std::sync::atomic::Ordering::Release);
        while pair.shared.word(1).load(Relaxed) != given + 1 {
            std::thread::yield_now();
        }
        pair.rounds += 1;
        let wrong = pair.verify().unwrap_err();
        assert!(wrong.starts_with("1 of ") && wrong.contains(&given.to_string()), "{wrong}");
    });
}

#[test]
fn pong_is_watched_and_ends_with_the_pair() {
    let mut tid = 0;
    with_pair(Method::Cas, Home::Ping, |pair| {
        tid = pair.watched()[0];
        assert!(std::path::Path::new(&format!("/proc/self/task/{tid}")).exists());
    });
    assert!(!std::path::Path::new(&format!("/proc/self/task/{tid}")).exists());
}

#[test]
fn pong_sleeps_before_the_first_pass_and_after_a_look() {
    let spent =
        |tid: i32| crate::lab::clock::cpu_ns_of_thread(u32::try_from(tid).unwrap()).unwrap();
    let asleep = |tid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('S')
    };
    for method in [Method::Cas, Method::Store, Method::TwoLines, Method::Handover(64)] {
        with_pair(method, Home::Ping, |pair| {
            let tid = pair.watched()[0];
            for _ in 0..2 {
                while !asleep(tid) {
                    std::thread::yield_now();
                }
                let before = spent(tid);
                pair.pass(2);
                assert!(pair.verify().is_ok(), "{method:?}");
                assert!(spent(tid) > before);
            }
        });
    }
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    let setup = Setup { pong: 1000, method: Method::Cas, home: Home::Ping };
    assert!(Pair::make(setup).is_err());
}
