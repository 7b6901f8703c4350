//! Every engine on every task that it has, against known answers and against another engine.

use super::check;
use super::engine::{Engine, Lack};
use super::task::{Algorithm, Last, Operation, Task, hex, unhex};

fn tasks(block_bytes: usize) -> Vec<Task> {
    let of = |(_, algorithm): &(&str, Algorithm)| {
        let algorithm = *algorithm;
        let task =
            move |operation: &Operation| Task { algorithm, operation: *operation, block_bytes };
        algorithm.operations().iter().map(task).collect::<Vec<_>>()
    };
    Algorithm::ALL.iter().flat_map(of).collect()
}

/// Whether an engine is here; says why not.
fn is_here(engine: Engine, task: Task) -> bool {
    match engine.identity(task, None) {
        Ok(_) => true,
        Err(Lack::NotAvailable(why)) => {
            println!("skipped: {} {}: {why}", engine.name(), task.algorithm.name());
            false
        }
        Err(Lack::Failed(why)) => panic!("{} {}: {why}", engine.name(), task.algorithm.name()),
    }
}

#[test]
fn every_engine_gives_the_known_answers() {
    for (name, engine) in Engine::ALL {
        for task in tasks(16) {
            if is_here(engine, task) {
                let found = check::known(engine, task, None);
                assert_eq!(found, Ok(()), "{name} {task:?}");
            }
        }
    }
}

#[test]
fn every_engine_agrees_with_another_on_what_it_did_last() {
    for engine in [Engine::AwsLc, Engine::Rustcrypto, Engine::Libcrypto] {
        for block_bytes in [16, 1024, 16 << 10] {
            for task in tasks(block_bytes) {
                if !is_here(engine, task) {
                    continue;
                }
                let input = check::input(task, 7).unwrap();
                let mut worker =
                    engine.worker(task, &input, None).unwrap_or_else(|e| panic!("{e:?}"));
                assert_eq!(worker.run(3), Ok(3 * task.work()));
                let last = worker.last().unwrap().unwrap();
                assert_eq!(
                    check::holds(engine, task, &input, &last),
                    Ok(()),
                    "{engine:?} {task:?}"
                );
                let mut wrong = last.clone();
                *wrong.output.last_mut().unwrap() ^= 1;
                assert!(check::holds(engine, task, &input, &wrong).is_err(), "{engine:?} {task:?}");
            }
        }
    }
}

#[test]
fn messages_of_a_cipher_go_on_where_the_last_one_ended() {
    for (algorithm, steps) in [(Algorithm::Aes256Cbc, false), (Algorithm::Aes256Gcm, true)] {
        let task = Task { algorithm, operation: Operation::Encrypt, block_bytes: 32 };
        let input = check::input(task, 1).unwrap();
        for engine in [Engine::AwsLc, Engine::Rustcrypto] {
            let mut worker = engine.worker(task, &input, None).unwrap_or_else(|e| panic!("{e:?}"));
            worker.run(1).unwrap();
            let first = worker.last().unwrap().unwrap();
            assert_eq!(first.start, input.start);
            worker.run(1).unwrap();
            let second = worker.last().unwrap().unwrap();
            if steps {
                let last = |nonce: &[u8]| u64::from_be_bytes(nonce[4..].try_into().unwrap());
                assert_eq!(last(&second.start), last(&input.start).wrapping_add(1));
            } else {
                assert_eq!(second.start, first.output[16..]);
            }
            assert_ne!(first.output, second.output);
        }
    }
}

#[test]
fn an_engine_that_is_wrong_is_found_out() {
    let task =
        Task { algorithm: Algorithm::Ed25519, operation: Operation::Verify, block_bytes: 16 };
    let input = check::input(task, 1).unwrap();
    let holds = |output: &[u8]| {
        let last = Last { start: Vec::new(), output: output.to_vec() };
        check::holds(Engine::AwsLc, task, &input, &last)
    };
    assert_eq!(holds(&[1, 1]), Ok(()));
    assert!(holds(&[0, 1]).unwrap_err().contains("refused"));
    assert!(holds(&[1, 0]).unwrap_err().contains("accepted"));
}

#[test]
fn identities_name_engine_version_calls_and_features() {
    let task = Task { algorithm: Algorithm::Sha256, operation: Operation::Digest, block_bytes: 16 };
    let mut seen = Vec::new();
    for (name, engine) in Engine::ALL {
        if !is_here(engine, task) {
            continue;
        }
        let identity = engine.identity(task, None).unwrap();
        assert_eq!(identity.engine, name);
        assert!(identity.version.contains(|c: char| c.is_ascii_digit()), "{identity:?}");
        assert!(!identity.call_path.is_empty());
        println!("{identity:?}");
        let settings = identity.settings();
        assert_eq!(settings.len(), 4);
        assert!(!seen.contains(&settings));
        seen.push(settings);
    }
    assert!(seen.len() >= 2);
}

#[test]
fn a_mask_is_obeyed_or_refused() {
    let task = Task { algorithm: Algorithm::Sha256, operation: Operation::Digest, block_bytes: 16 };
    let mask = Some("~0x0:~0x20000000");
    for engine in [Engine::AwsLc, Engine::Rustcrypto] {
        assert!(matches!(engine.identity(task, mask), Err(Lack::NotAvailable(_))), "{engine:?}");
    }
    for engine in [Engine::Libcrypto, Engine::OpensslCli] {
        if cfg!(target_arch = "x86_64") && is_here(engine, task) {
            let features = engine.identity(task, mask).unwrap().cpu_features;
            assert!(!features.split(' ').any(|name| name == "sha"), "{features}");
            assert!(features.contains("sse2"), "{features}");
        }
    }
}

#[test]
fn openssl_speed_gives_a_figure() {
    let task = Task { algorithm: Algorithm::Md5, operation: Operation::Digest, block_bytes: 1024 };
    if is_here(Engine::OpensslCli, task) {
        let input = check::input(task, 1).unwrap();
        let mut worker =
            Engine::OpensslCli.worker(task, &input, None).unwrap_or_else(|e| panic!("{e:?}"));
        assert!(worker.run(1).unwrap() > 1_000_000);
        assert_eq!(worker.own_ns(), Some(1_000_000_000));
    }
}

#[test]
fn digits_are_read_and_written() {
    assert_eq!(hex("00ff\n a5"), [0, 0xff, 0xa5]);
    assert_eq!(unhex(&[0, 0xff, 0xa5]), "00ffa5");
}
