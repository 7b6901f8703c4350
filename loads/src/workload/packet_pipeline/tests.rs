//! Lines of a tester and a device: what they forward, what is refused, and their figures.

use super::check::figures;
use super::run::{nominal, ready};
use super::spec::SPEC;
use crate::engine::alone::fixture::series;
use crate::engine::alone::{Order, Ready, Taken};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::metal::{Gang, Span};

/// All services over small tables, but for what is said otherwise.
fn order(changes: &[(&str, Value)]) -> Order {
    let count = |name: &str, value| (name.to_owned(), Value::Count(value));
    let word = |name: &str, word: &str| (name.to_owned(), Value::Word(word.to_owned()));
    let mut params = Settings::from([
        word("access_list", "on"),
        count("batch", 64),
        count("flows", 2000),
        word("forwarding", "route"),
        ("frame_size".into(), Value::Quantity(Quantity::bytes(64))),
        word("nat", "on"),
        count("output_ports", 4),
        word("placement", "spread"),
        count("policers", 16),
        count("port_queues", 8),
        count("routes", 1000),
        count("rules", 20),
        word("queue_order", "mixed"),
        word("subscriber_direction", "upstream"),
        count("subscribers", 0),
        count("threads", 1),
        word("traffic", "near_miss"),
    ]);
    params.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Order { params, settings: Settings::new(), seed: 5 }
}

fn word(word: &str) -> Value {
    Value::Word(word.into())
}

/// What a load says of its results after 5 ms, and what it was made with.
fn measured(order: &Order) -> (Result<u64, String>, Settings) {
    let Ready { members, made_with } = ready(order).unwrap();
    let gang = Gang::start(members).unwrap();
    let now_ns = rig::lab::clock::now_ns();
    let span = Span { opens_ns: now_ns, closes_ns: now_ns + 5_000_000 };
    let series = gang.measure(span).unwrap().series;
    assert!(series[0].samples.iter().all(|sample| sample.work > 0));
    (series[0].verified.clone(), made_with)
}

#[test]
fn every_service_forwards_as_the_plain_reference_does() {
    let changes: [&[(&str, Value)]; 15] = [
        &[],
        &[("forwarding", word("bypass"))],
        &[("forwarding", word("bridge"))],
        &[("nat", word("off"))],
        &[("subscribers", Value::Count(1))],
        &[
            ("subscribers", Value::Count(4096)),
            ("frame_size", Value::Quantity(Quantity::bytes(1518))),
        ],
        &[("subscribers", Value::Count(4096)), ("subscriber_direction", word("downstream"))],
        &[
            ("subscribers", Value::Count(7)),
            ("subscriber_direction", word("downstream")),
            ("port_queues", Value::Count(0)),
            ("frame_size", Value::Quantity(Quantity::bytes(1518))),
        ],
        &[("access_list", word("off"))],
        &[("policers", Value::Count(0)), ("port_queues", Value::Count(0))],
        &[("port_queues", Value::Count(64)), ("queue_order", word("priority"))],
        &[("output_ports", Value::Count(10)), ("forwarding", word("bridge"))],
        &[("traffic", word("hit")), ("batch", Value::Count(1))],
        &[("traffic", word("miss")), ("queue_order", word("weighted"))],
        &[("frame_size", Value::Quantity(Quantity::bytes(9018)))],
    ];
    for change in changes {
        let (verified, made_with) = measured(&order(change));
        assert_eq!(verified, Ok(512), "{change:?}");
        let hits = change.iter().any(|(_, value)| *value == word("hit"));
        assert_eq!(made_with.contains_key("median_rule"), hits, "{change:?}");
        assert_eq!(made_with["routes"], Value::Count(1000), "read back as a factor");
    }
}

#[test]
fn subscribers_of_a_bridge_are_refused() {
    let bridged = [("subscribers", Value::Count(7)), ("forwarding", word("bridge"))];
    let Err(why) = ready(&order(&bridged)).map(|_| ()) else { panic!("a bridge ends no session") };
    let why = why.to_string();
    assert!(why.contains("7 subscribers with forwarding = \"bridge\""), "{why}");
}

#[test]
fn rules_of_a_file_are_read_and_told_from_others() {
    let file = std::env::temp_dir().join(format!("stend-rules-{}", std::process::id()));
    let path = file.to_str().unwrap();
    let from = |text: &str| {
        std::fs::write(&file, text).unwrap();
        order(&[("rules", word(path)), ("flows", Value::Count(200))])
    };
    let digests = ["192.0.2.0/24", "198.51.100.0/24"].map(|dst| {
        let list = format!("# of one rule\n@10.0.0.0/8 {dst} 0 : 65535 80 : 80 0x06/0xff\n");
        let (verified, made_with) = measured(&from(&list));
        assert_eq!(verified, Ok(512));
        made_with["file_digest"].clone()
    });
    assert_ne!(digests[0], digests[1]);
    let refused = |order: &Order| {
        let Err(why) = ready(order).map(|_| ()) else { panic!("it is refused") };
        why.to_string()
    };
    let why = refused(&from("permit ip any any\n"));
    assert!(why.contains("line 1: 'permit ip any any' does not begin with @"), "{why}");
    let every = from("@0.0.0.0/0 0.0.0.0/0 0 : 65535 0 : 65535 0x00/0x00\n");
    assert!(refused(&every).contains("traffic = \"hit\""), "nothing misses it");
    std::fs::remove_file(&file).unwrap();
    let why = refused(&every);
    assert!(why.contains(&format!("rules = \"{path}\": No such file")), "{why}");
}

#[test]
fn a_frame_that_came_out_wrong_is_refused() {
    let Ready { members, .. } = ready(&order(&[])).unwrap();
    let mut line = (members.into_iter().next().unwrap().make)().unwrap();
    assert!(line.pass(3) == 3 * 512 && line.own_ns().unwrap() > 0);
    assert_eq!(line.verify(), Ok(512));
    line.spoil();
    let why = line.verify().unwrap_err();
    assert!(why.contains("511 of 512 frames"), "{why}");
}

#[test]
fn the_same_seed_gives_the_same_flows() {
    let digest = |order: &Order| {
        let Ready { members, .. } = ready(order).unwrap();
        (members.into_iter().next().unwrap().make)().unwrap().digest()
    };
    let other = Order { seed: 6, ..order(&[]) };
    assert_eq!(digest(&order(&[])), digest(&order(&[])));
    assert_ne!(digest(&order(&[])), digest(&other));
}

#[test]
fn figures_are_frames_time_and_line() {
    let series = series(&[40_000, 60_000, 50_000], 1_000_000);
    let taken = Taken { series: vec![series.clone(), series], made_with: Settings::new() };
    let samples = figures(&order(&[]), &taken).unwrap();
    let expected = [
        ("rate", 1e8, Unit::PacketPerSecond),
        ("frame_time", 2e-8, Unit::Second),
        ("throughput", 1e8 * 84.0 * 8.0, Unit::BitPerSecond),
    ];
    for (sample, (name, value, unit)) in samples.iter().zip(expected) {
        assert_eq!((sample.metric.as_str(), sample.quantity.unit), (name, unit));
        assert!((sample.quantity.value / value - 1.0).abs() < 1e-9, "{sample:?}");
        assert!(SPEC.metrics.iter().any(|spec| spec.name == name));
    }
    assert_eq!(nominal(&order(&[]), 8).len(), 1);
}

#[test]
fn a_table_of_usual_size_takes_all_flows() {
    let usual = [("flows", Value::Count(65_536)), ("routes", Value::Count(1))];
    // With this seed a flow is found farthest from where it belongs.
    let Ready { members, .. } = ready(&Order { seed: 4, ..order(&usual) }).unwrap();
    let mut line = (members.into_iter().next().unwrap().make)().unwrap();
    assert_eq!(line.pass(130), 130 * 512);
    assert_eq!(line.verify(), Ok(512));
}
