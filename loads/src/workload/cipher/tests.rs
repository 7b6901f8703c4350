//! Every engine on every task that it has, against known answers and against another engine.

use super::engine::{Engine, Mask};
use super::task::{Algorithm, Last, Operation, Task, hex, unhex};
use super::{check, run, spec};
use crate::engine::alone::fixture::series;
use crate::engine::alone::{Order, Taken};
use desk::record::{Settings, Value, Words};
use desk::unit::Quantity;
use rig::metal::{Gang, Span, Unready};

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
    match engine.identity(task, Mask::AsItIs) {
        Ok(_) => true,
        Err(Unready::NotAvailable(why)) => {
            println!("skipped: {} {}: {why}", engine.name(), task.algorithm.name());
            false
        }
        Err(Unready::Disturbed(why) | Unready::Failed(why)) => {
            panic!("{} {}: {why}", engine.name(), task.algorithm.name())
        }
    }
}

#[test]
fn every_engine_gives_the_known_answers() {
    for (name, engine) in Engine::ALL {
        for task in tasks(16) {
            if is_here(engine, task) {
                let found = check::known(engine, task, Mask::AsItIs);
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
                    engine.worker(task, &input, Mask::AsItIs).unwrap_or_else(|e| panic!("{e:?}"));
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
            if !is_here(engine, task) {
                continue;
            }
            let mut worker =
                engine.worker(task, &input, Mask::AsItIs).unwrap_or_else(|e| panic!("{e:?}"));
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
        check::holds(Engine::SIGNER, task, &input, &last)
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
        let identity = engine.identity(task, Mask::AsItIs).unwrap();
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
    let mask = Mask::Set("~0x0:~0x20000000");
    for engine in [Engine::AwsLc, Engine::Rustcrypto] {
        assert!(matches!(engine.identity(task, mask), Err(Unready::NotAvailable(_))), "{engine:?}");
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
        let mut worker = Engine::OpensslCli
            .worker(task, &input, Mask::AsItIs)
            .unwrap_or_else(|e| panic!("{e:?}"));
        // The first stands for the warm-up.
        assert_eq!(worker.run(1), Ok(0));
        assert!(worker.run(1).unwrap() > 1_000_000);
        assert_eq!(worker.own_ns(), Some(1_000_000_000));
    }
}

#[test]
fn digits_are_read_and_written() {
    assert_eq!(hex("00ff\n a5"), [0, 0xff, 0xa5]);
    assert_eq!(unhex(&[0, 0xff, 0xa5]), "00ffa5");
}

fn order(changes: &[(&str, Value)]) -> Order {
    let word = |word: &str| Value::Word(word.into());
    let mut params = Settings::from([
        ("algorithm".into(), word("sha256")),
        ("block_size".into(), Value::Quantity(Quantity::bytes(1024))),
        ("engine".into(), word("aws_lc")),
        ("operation".into(), word("usual")),
        ("threads".into(), Value::Count(1)),
    ]);
    params.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Order { params, settings: Settings::new(), seed: 3 }
}

fn word(key: &'static str, value: &str) -> (&'static str, Value) {
    (key, Value::Word(value.into()))
}

#[test]
fn the_spec_offers_what_there_is() {
    let words = |name: &str| {
        let param = spec::SPEC.params.iter().find(|p| p.name == name).unwrap();
        if let Words::Of(words) = param.kind.words { words.to_vec() } else { Vec::new() }
    };
    assert_eq!(words("algorithm"), Algorithm::ALL.map(|(name, _)| name));
    assert_eq!(words("engine"), Engine::ALL.map(|(name, _)| name));
    assert_eq!(words("operation")[1..], Operation::ALL.map(|(name, _)| name));
}

#[test]
fn what_does_not_fit_together_is_not_available() {
    for (changes, says) in [
        (vec![word("operation", "sign")], "sha256 has no operation sign"),
        (vec![word("engine", "rustcrypto"), word("algorithm", "rsa-2048")], "RSA"),
        (
            vec![
                word("algorithm", "aes-256-cbc"),
                ("block_size", Value::Quantity(Quantity::bytes(20))),
            ],
            "20 B",
        ),
        (vec![("threads", Value::Count(1024))], "1024 threads"),
    ] {
        match run::ready(&order(&changes)) {
            Err(Unready::NotAvailable(why)) => assert!(why.contains(says), "{why}"),
            other => panic!("{says}: {:?}", other.err()),
        }
    }
}

#[test]
fn a_level_of_the_factor_reaches_the_engine() {
    let mut order = order(&[word("engine", "libcrypto")]);
    if !is_here(Engine::Libcrypto, Task::read(&order).unwrap()) || cfg!(not(target_arch = "x86_64"))
    {
        return println!("skipped: no libcrypto here that hears a mask");
    }
    order.settings.insert("openssl_ia32cap".into(), Value::Word("no_sha".into()));
    let features = run::ready(&order).unwrap().made_with["cpu_features"].to_string();
    assert!(features.contains("ssse3") && !features.split(' ').any(|f| f == "sha"), "{features}");
    order.settings.insert("openssl_ia32cap".into(), Value::Word("all".into()));
    assert!(run::ready(&order).is_ok());
    order.settings.insert("openssl_ia32cap".into(), Value::Word("half".into()));
    assert!(matches!(run::ready(&order), Err(Unready::Failed(_))));
}

/// What a gang of this order did in a short window.
fn measured(order: &Order) -> Option<(Taken, Settings)> {
    let ready = match run::ready(order) {
        Ok(ready) => ready,
        Err(Unready::NotAvailable(why)) => {
            println!("skipped: {why}");
            return None;
        }
        Err(Unready::Disturbed(why) | Unready::Failed(why)) => panic!("{why}"),
    };
    let made_with = ready.made_with.clone();
    let gang = Gang::start(ready.members).unwrap();
    let opens_ns = rig::lab::clock::now_ns() + 10_000_000;
    let series = gang.measure(Span { opens_ns, closes_ns: opens_ns + 30_000_000 }).unwrap().series;
    Some((Taken { series, made_with: made_with.clone() }, made_with))
}

#[test]
fn every_engine_is_measured_and_verified() {
    for (engine, _) in Engine::ALL {
        for algorithm in ["sha256", "aes-256-gcm", "ed25519"] {
            let order = order(&[word("engine", engine), word("algorithm", algorithm)]);
            let Some((taken, made_with)) = measured(&order) else { continue };
            assert_eq!(made_with["engine"], Value::Word(engine.into()));
            for series in &taken.series {
                let verified = series.verified.as_ref().unwrap_or_else(|why| panic!("{why}"));
                assert!(*verified > 0, "{engine} {algorithm}");
            }
            let samples = check::figures(&order, &taken).unwrap();
            let metric = if algorithm == "ed25519" { "operations" } else { "rate" };
            assert_eq!(samples[0].metric, metric);
            assert!(samples[0].quantity.value > 0.0, "{engine} {algorithm}");
        }
    }
}

#[test]
fn figures_are_the_sum_of_the_copies_and_their_mean() {
    let series = |work| series(&[work], 1_000_000);
    let taken = Taken { series: vec![series(3_000), series(1_000)], made_with: Settings::new() };
    let values = |order: &Order| {
        let samples = check::figures(order, &taken).unwrap();
        samples.iter().map(|s| (s.metric.clone(), s.quantity.value)).collect::<Vec<_>>()
    };
    assert_eq!(values(&order(&[])), [("rate".into(), 4e6), ("per_copy".into(), 2e6)]);
    let signs = order(&[word("algorithm", "rsa-2048")]);
    let wanted = [("operations".into(), 4e6), ("operations_per_copy".into(), 2e6)];
    assert_eq!(values(&signs), wanted);
}
