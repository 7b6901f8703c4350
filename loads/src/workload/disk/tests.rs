//! A trial becomes a file and queues, or a reason; every damage has its name; nothing is left.

use super::accesses::accesses;
use super::check::figures;
use super::run::{Wanted, filling, nominal, overwrites, ready, staging};
use super::spec::SPEC;
use crate::engine::alone::fixture::{self, bytes, series, word};
use crate::engine::alone::{Order, Ready, Taken};
use crate::engine::times::RESPONSE;
use desk::record::{LoadPoint, Settings, Value};
use desk::unit::{Quantity, Unit};
use rig::lab::clock;
use rig::metal::{Cpus, Gang, Series, Span, Thread, Unready};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// An order with every parameter at its default, but for these.
fn order(params: &[(&str, Value)]) -> Order {
    let defaults = [
        ("arrivals", word("constant")),
        ("block_size", bytes(4096)),
        ("cache", word("direct")),
        ("compressible", Value::Count(0)),
        ("directory", word("state")),
        ("disk_place", Value::Count(0)),
        ("duplicated", Value::Count(0)),
        ("engine", word("uring")),
        ("file_size", bytes(64 << 20)),
        ("fills", Value::Count(1)),
        ("hot_places", Value::Count(10)),
        ("hot_share", Value::Count(90)),
        ("locality", word("uniform")),
        ("mix_reads", Value::Count(70)),
        ("offered_load", word("full")),
        ("operation", word("read")),
        ("pattern", word("random")),
        ("polled_submission", word("off")),
        ("queue_depth", Value::Count(1)),
        ("registered_buffers", word("auto")),
        ("round", Value::Quantity(Quantity::seconds(1.0))),
        ("skew", Value::Count(120)),
        ("specification", Value::Count(1)),
        ("submission", word("each")),
        ("sync_every", Value::Count(0)),
        ("task_run", word("cooperative")),
        ("threads", Value::Count(1)),
        ("whole_disk", word("none")),
    ];
    fixture::order(&SPEC, &defaults, params)
}

/// Two CPUs.
fn machine() -> Cpus {
    let thread =
        |cpu: u32| Thread { cpu, siblings: vec![cpu], package: 0, node: 0, caches: vec![] };
    Cpus { threads: (0..2).map(thread).collect() }
}

/// On that machine with 8 GiB of memory.
fn wanted(params: &[(&str, Value)]) -> Result<Wanted, Unready> {
    Wanted::read(&order(params), &machine(), 8 << 30)
}

/// A directory of a test's own, on a disk; it has to be empty at the end.
struct Own(PathBuf);

impl Own {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let at = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = format!("/var/tmp/stend-test-disk-{}-{at}", std::process::id());
        std::fs::create_dir(&path).unwrap();
        Self(path.into())
    }

    fn word(&self) -> (&'static str, Value) {
        ("directory", word(self.0.to_str().unwrap()))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // It fails where anything is left.
        let removed = std::fs::remove_dir(&self.0);
        assert!(std::thread::panicking() || removed.is_ok(), "{removed:?}");
    }
}

/// The load, or none where this machine lacks something, which is said.
fn staged(order: &Order) -> Option<Ready> {
    match ready(order) {
        Ok(ready) => Some(ready),
        Err(Unready::NotAvailable(why)) => {
            // The reason names what to take instead.
            assert!(why.contains("take"), "{why}");
            println!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// What a load did in 60 ms.
fn ran(gang: &Gang) -> Vec<Series> {
    let opens_ns = clock::now_ns() + 5_000_000;
    gang.measure(Span { opens_ns, closes_ns: opens_ns + 60_000_000 }).unwrap().series
}

#[test]
fn a_trial_becomes_a_file_and_queues() {
    let plain = wanted(&[]).unwrap();
    assert_eq!((plain.cpus.as_slice(), plain.blocks, plain.depth), (&[0][..], 16384, 1));
    assert!(plain.ring.is_some() && plain.target.direct && plain.target.directory.is_dir());
    let odd = [
        ("threads", word("all")),
        ("block_size", bytes(1536)),
        ("file_size", bytes(1 << 20)),
        ("queue_depth", Value::Count(32)),
        ("engine", word("pread")),
        ("cache", word("buffered")),
        ("directory", word("/x")),
    ];
    let odd = wanted(&odd).unwrap();
    assert_eq!((odd.cpus.len(), odd.blocks, odd.depth), (2, 341, 32));
    assert_eq!((odd.target.bytes, odd.target.directory), (2 * 341 * 1536, "/x".into()));
    assert!(odd.ring.is_none() && !odd.target.direct);
}

#[test]
fn what_cannot_be_is_refused_with_the_value_and_the_remedy() {
    let few = [("file_size", bytes(1 << 20)), ("queue_depth", Value::Count(129))];
    let many = [("file_size", bytes(1 << 40)), ("block_size", bytes(512))];
    let deep = [("block_size", bytes(4 << 20)), ("queue_depth", Value::Count(256))];
    let deep =
        [&deep[..], &[("file_size", bytes(16 << 30)), ("threads", Value::Count(2))]].concat();
    let rows: [(&[_], &[&str]); 4] = [
        (&few, &["file_size = 1048576 B", "queue_depth = 129", "1056768 B", "take a larger"]),
        (&many, &["1099511627776 B", "2147483648 blocks", "take at most 34359738368 B"]),
        (&deep, &["2 threads want", "take a smaller size"]),
        (&[("threads", Value::Count(3))], &["3 threads", "ask for 2 or fewer"]),
    ];
    for (params, parts) in rows {
        let why = Wanted::read(&order(params), &machine(), 2 << 30).unwrap_err();
        let Unready::NotAvailable(why) = why else { panic!("{why:?}") };
        assert!(parts.iter().all(|part| why.contains(part)), "{why}");
    }
    let nowhere = ready(&order(&[("directory", word("/no/such/place"))])).err().unwrap();
    let says = nowhere.to_string();
    assert!(says.contains("/no/such/place") && says.contains("name a directory"), "{says}");
    // More than any disk of a test has free.
    let own = Own::new();
    let huge = [own.word(), ("file_size", bytes(1 << 40)), ("block_size", bytes(4 << 20))];
    let why = ready(&order(&huge)).err().unwrap().to_string();
    assert!(why.contains("file_size = 1099511627776 B"), "{why}");
    assert!(why.contains("B stay so; take at most"), "{why}");
}

#[test]
fn a_pattern_of_iometer_becomes_blocks_and_leaves_no_room_for_sizes() {
    let server = |more: &[(&str, Value)]| {
        let listed = [
            ("block_size", word("listed")),
            ("operation", word("listed")),
            ("pattern", word("file_server")),
        ];
        wanted(&[&listed, more].concat()).map(|wanted| {
            assert!(wanted.listed.as_ref().is_some_and(|told| told.contains("60 % 4 KiB")));
            (wanted.target.block, wanted.plan.most(), wanted.blocks)
        })
    };
    assert_eq!(server(&[]), Ok((512, 128, 131_072)));
    let largest = [("queue_depth", Value::Count(256))];
    assert_eq!(server(&largest).unwrap().2, 131_072, "four times 64 KiB each");
    let refused: [(&[_], &str); 5] = [
        (
            &[("block_size", bytes(4096))],
            "block_size = 4 KiB cannot be with pattern = \"file_server\": the list of the pattern \
             has it; write block_size = \"listed\"",
        ),
        (&[("operation", word("mix"))], "operation = mix cannot be with pattern"),
        (&[("specification", Value::Count(2))], "specification = 2 needs a pattern that is a file"),
        (
            &[("queue_depth", Value::Count(256)), ("file_size", bytes(63 << 20))],
            "4 times the largest block for each operation at once, 67108864 B",
        ),
        (&[("pattern", word("/nowhere/a.icf"))], "/nowhere/a.icf: No such file"),
    ];
    for (params, says) in refused {
        let why = server(params).unwrap_err().to_string();
        assert!(why.contains(says), "{why}");
    }
    let reads = ("mix_reads", Value::Count(50));
    let why = wanted(std::slice::from_ref(&reads)).unwrap_err().to_string();
    assert!(why.contains("mix_reads = 50 needs operation = \"mix\"; leave it out"), "{why}");
    let mix = wanted(&[reads, ("operation", word("mix"))]).unwrap();
    assert_eq!((mix.plan.steps[0].reads, mix.listed), (50, None));
    let why = wanted(&[("arrivals", word("poisson"))]).unwrap_err().to_string();
    assert!(why.contains("arrivals = poisson needs offered_load such as"), "{why}");
    let append = ("operation", word("append"));
    let in_order = [append.clone(), ("pattern", word("sequential"))];
    assert!(wanted(&in_order).is_ok());
    let refused = [
        vec![append],
        [&in_order[..], &[("queue_depth", Value::Count(2))]].concat(),
        [&in_order[..], &[("threads", Value::Count(2))]].concat(),
        [&in_order[..], &[("whole_disk", word("/dev/sdx"))]].concat(),
    ];
    for params in refused {
        let why = wanted(&params).unwrap_err().to_string();
        assert!(why.contains("\"append\" is one writer of a file; take"), "{why}");
    }
    let why = wanted(&[("block_size", word("listed"))]).unwrap_err().to_string();
    let says = "listed cannot be with pattern = \"random\": the pattern has no list; write such as \
                block_size = \"4 KiB\"";
    assert!(why.contains(says), "{why}");
}

#[test]
fn an_offered_load_is_shared_among_threads_that_take_turns() {
    let rate = Value::Quantity(Quantity::new(500.0, Unit::OperationPerSecond));
    let paces = wanted(&[("offered_load", rate), ("threads", word("all"))]).unwrap().paces;
    let told: Vec<(f64, f64)> = paces.iter().map(|pace| (pace.rate, pace.offset)).collect();
    assert_eq!(told, [(250.0, 0.0), (250.0, 0.002)]);
    assert_ne!(paces[0].seed, paces[1].seed);
    assert_eq!(wanted(&[]).unwrap().paces, []);
}

#[test]
fn places_and_content_that_cannot_be_are_refused_with_the_value_and_the_remedy() {
    let count = Value::Count;
    let hot = ("locality", word("hot"));
    let listed = [
        ("block_size", word("listed")),
        ("operation", word("listed")),
        ("pattern", word("database")),
        ("duplicated", count(50)),
    ];
    let small = ("file_size", bytes(1 << 20));
    let deep = ("queue_depth", count(16));
    let rows: [(&[_], &str); 7] = [
        (&[("skew", count(90))], "skew = 90 needs locality = \"zipf\"; leave it out"),
        (&[("hot_share", count(80))], "hot_share = 80 needs locality = \"hot\"; leave it out"),
        (
            &[("hot_places", count(20)), ("locality", word("zipf"))],
            "hot_places = 20 needs locality = \"hot\"; leave it out",
        ),
        (
            &[hot.clone(), ("pattern", word("sequential"))],
            "locality = hot needs a pattern with random places; leave it out",
        ),
        (&listed, "duplicated = 50 needs a pattern of one size at multiples of it"),
        (
            &[hot.clone(), small.clone(), deep.clone()],
            "hot_places = 10: 25 blocks of the part of a thread are hot places, and queue_depth = \
             16 wants 32; take a larger hot_places, a smaller queue_depth, or a larger file_size",
        ),
        (
            &[hot.clone(), small.clone(), deep, ("hot_places", count(90))],
            "hot_places = 90: 26 blocks of the part of a thread are other places, and",
        ),
    ];
    for (params, says) in rows {
        let why = wanted(params).unwrap_err().to_string();
        assert!(why.contains(says), "{why}");
    }
    assert!(wanted(&[hot.clone(), small, ("queue_depth", count(12))]).is_ok());
    let part =
        wanted(&[hot, ("pattern", word("workstation")), listed[0].clone(), listed[1].clone()]);
    assert!(part.is_ok(), "a part of its operations is at random");
}

#[test]
fn hot_places_and_shaped_content_are_verified_by_both_engines() {
    let own = Own::new();
    let count = Value::Count;
    for engine in ["uring", "pread"] {
        for more in [
            [("locality", word("zipf")), ("skew", count(250)), ("compressible", count(60))],
            [("locality", word("hot")), ("hot_places", count(25)), ("duplicated", count(50))],
            [("compressible", count(90)), ("duplicated", count(100)), ("sync_every", count(20))],
        ] {
            let params = [
                own.word(),
                ("cache", word("buffered")),
                ("engine", word(engine)),
                ("file_size", bytes(1 << 20)),
                ("operation", word("mix")),
                ("queue_depth", count(16)),
            ];
            let order = order(&[&params[..], &more[..]].concat());
            let Some(Ready { members, made_with }) = staged(&order) else { continue };
            assert!(more.iter().all(|(name, value)| match *name {
                "sync_every" => true,
                name => made_with.get(name) == Some(value),
            }));
            let is_hot = more[0].1 == word("hot");
            assert_eq!(made_with.contains_key("hot_share"), is_hot, "{made_with:?}");
            let series = ran(&Gang::start(members).unwrap());
            let told = format!("{engine} {more:?}: {series:?}");
            assert!(series[0].verified.as_ref().is_ok_and(|checks| *checks > 100), "{told}");
        }
    }
}

#[test]
fn a_file_of_iometer_is_a_pattern_by_its_number() {
    let own = Own::new();
    let file = own.0.join("a.icf");
    let of = |lines: &str, number: u64| {
        let head = "'ACCESS SPECIFICATIONS\n'Access specification name,\n\tOne,NONE\n";
        std::fs::write(&file, format!("{head}{lines}'END access specifications\n")).unwrap();
        let named = [
            ("block_size", word("listed")),
            ("operation", word("listed")),
            ("pattern", word(file.to_str().unwrap())),
            ("specification", Value::Count(number)),
        ];
        accesses(&order(&named)).map_err(|why| why.to_string())
    };
    let two = "512,50,0,0,0,1,0,0\n1024,50,0,0,0,1,0,0\n'Access specification name\n\tTwo,NONE\n\
               4096,100,67,100,0,1,4096,0\n";
    let told = of(two, 2).unwrap().to_string();
    assert_eq!(told, "Two: 100 % 4 KiB, 67 % reads, 100 % random, aligned to 4 KiB");
    let rows = [
        (two, 3, "specification = 3: ", "has 2 (One, Two); take 1 to 2"),
        ("1000,100,0,0,0,1,0,0\n", 1, "'One': size = 1000 B is not whole sectors", "change it"),
        ("512,100,0,0,0,1,100,0\n", 1, "align = 100 B is not whole sectors", "change it"),
        ("512,100,0,0,5,1,0,0\n", 1, "delay = 5 ms: this load has no pauses", "make it 0"),
        ("512,100,0,0,0,1,0,64\n", 1, "reply = 64 B is of a network", "make it 0"),
        ("8388608,100,0,0,0,1,0,0\n", 1, "size = 8388608 B", "up to 4194304 B"),
    ];
    for (lines, number, says, remedy) in rows {
        let why = of(lines, number).unwrap_err();
        assert!(why.contains(says) && why.contains(remedy), "{why}");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn patterns_of_iometer_are_verified_and_their_bytes_are_counted() {
    let own = Own::new();
    for (pattern, engine, mean) in [
        ("file_server", "uring", 11_345.92),
        ("file_server", "pread", 11_345.92),
        ("workstation", "uring", 8192.0),
    ] {
        let params = [
            own.word(),
            ("block_size", word("listed")),
            ("cache", word("buffered")),
            ("engine", word(engine)),
            ("file_size", bytes(4 << 20)),
            ("operation", word("listed")),
            ("pattern", word(pattern)),
            ("queue_depth", Value::Count(4)),
        ];
        let order = order(&params);
        let Some(Ready { members, made_with }) = staged(&order) else { continue };
        assert!(made_with.contains_key("accesses") && !made_with.contains_key("mix_reads"));
        let gang = Gang::start(members).unwrap();
        let series = ran(&gang);
        assert!(series[0].verified.as_ref().is_ok_and(|checks| *checks > 0), "{series:?}");
        let found = series[0].unit_bytes.unwrap();
        assert!((0.7..1.4).contains(&(found / mean)), "{pattern}: {found} B");
        let taken = Taken { series, made_with };
        let samples = figures(&order, &taken).unwrap();
        let each = samples[1].quantity.value / samples[0].quantity.value / 8.0;
        assert!((each / found - 1.0).abs() < 1e-9, "{each} B and {found} B");
    }
}

/// Every engine, operation, cache and pattern in some cell.
const CELLS: [(&str, &str, &str, &str, u64); 11] = [
    ("uring", "read", "direct", "random", 1),
    ("uring", "mix", "direct", "random", 8),
    ("uring", "write", "direct", "sequential", 4),
    ("uring", "mix", "buffered", "sequential", 4),
    ("pread", "read", "direct", "random", 1),
    ("pread", "mix", "direct", "random", 8),
    ("pread", "write", "buffered", "random", 1),
    ("pread", "mix", "buffered", "sequential", 4),
    ("uring", "append", "direct", "sequential", 1),
    ("uring", "trim", "direct", "random", 4),
    ("pread", "trim", "buffered", "sequential", 2),
];

#[test]
fn both_engines_do_the_work_and_give_every_figure_and_leave_nothing() {
    let own = Own::new();
    for (at, (engine, operation, cache, pattern, depth)) in (0..).zip(CELLS) {
        let params = [
            own.word(),
            ("engine", word(engine)),
            ("operation", word(operation)),
            ("cache", word(cache)),
            ("pattern", word(pattern)),
            ("queue_depth", Value::Count(depth)),
            ("file_size", bytes(1 << 20)),
            ("sync_every", Value::Count(if at % 2 == 0 { 0 } else { 16 })),
        ];
        let order = order(&params);
        let Some(Ready { members, made_with }) = staged(&order) else { continue };
        let left = std::fs::read_dir(&own.0).unwrap().count();
        assert_eq!(left, 0, "the file has no name while it is in use");
        assert_eq!(made_with.contains_key("io_uring"), engine == "uring");
        let gang = Gang::start(members).unwrap();
        // And a gang can be asked again.
        for _ in 0..2 {
            let series = ran(&gang);
            let told = format!("{engine} {operation} {cache} {pattern} {depth}: {series:?}");
            assert!(series[0].verified.as_ref().is_ok_and(|checks| *checks > 0), "{told}");
            let times = &series[0].distributions[0];
            assert_eq!(times.name, RESPONSE);
            let of = |at: f64| times.quantile(at).unwrap();
            let all = SPEC.quantiles.iter().filter(|q| q.of == RESPONSE);
            let quantiles: Vec<f64> = all.map(|q| of(q.at)).collect();
            assert_eq!(quantiles.len(), 4);
            let kinds: Vec<&str> =
                series[0].distributions[1..].iter().map(|one| &*one.name).collect();
            let mixed: &[&str] = match operation {
                "mix" => &["read", "write"],
                "trim" => &["write", "trim"],
                _ => &[],
            };
            // On a slow disk the window may be over before all 256 blocks are trimmed, and before
            // any of them is written again; times are those of operations that begin in it.
            let part = operation == "trim" && times.count <= 256;
            let of_these = kinds.iter().all(|kind| mixed.contains(kind));
            assert!(kinds == mixed || (part && of_these), "{told}");
            assert!(kinds.iter().all(|kind| SPEC.quantiles.iter().any(|q| q.of == *kind)));
            assert!(quantiles[0] > 1e-8 && quantiles.is_sorted(), "{quantiles:?}");
            let taken = Taken { series, made_with: made_with.clone() };
            let samples = figures(&order, &taken).unwrap();
            assert_eq!(samples.len() + SPEC.quantiles.len(), SPEC.metrics.len());
            assert!(samples.iter().all(|s| s.quantity.value > 0.0), "{samples:?}");
        }
    }
}

#[test]
fn a_ring_is_made_and_used_in_every_way() {
    let own = Own::new();
    for (name, other, flag) in [
        ("task_run", "deferred", "defer_taskrun"),
        ("polled_submission", "on", "sqpoll"),
        ("registered_buffers", "off", "plain"),
        ("submission", "batch", "single_issuer"),
    ] {
        for (operation, depth) in [("mix", 8), ("read", 1)] {
            let params = [
                own.word(),
                ("cache", word("buffered")),
                ("file_size", bytes(1 << 20)),
                ("operation", word(operation)),
                ("queue_depth", Value::Count(depth)),
                ("sync_every", Value::Count(16)),
                (name, word(other)),
            ];
            let Some(Ready { members, made_with }) = staged(&order(&params)) else { continue };
            assert_eq!(made_with[name].word(), Some(other));
            let granted = made_with["io_uring"].to_string();
            println!("{name} = {other}: {granted}");
            assert!(granted.contains(flag) || granted.contains("coop_taskrun"), "{granted}");
            let gang = Gang::start(members).unwrap();
            for _ in 0..2 {
                let series = ran(&gang);
                assert!(series[0].verified.as_ref().is_ok_and(|some| *some > 100), "{series:?}");
            }
        }
    }
}

#[test]
fn ways_of_a_ring_that_cannot_be_are_refused() {
    for (params, says) in [
        (
            [("engine", "pread"), ("submission", "batch")],
            "submission = batch needs engine = \"uring\"; leave it out",
        ),
        (
            [("polled_submission", "on"), ("task_run", "deferred")],
            "task_run = deferred cannot be with polled_submission = on: a thread of the kernel",
        ),
    ] {
        let why = wanted(&params.map(|(name, value)| (name, word(value)))).unwrap_err();
        assert!(why.to_string().contains(says), "{why}");
    }
}

#[test]
fn two_threads_share_a_file_and_the_content_follows_from_the_seed() {
    if Cpus::read(Path::new("/")).threads.len() < 2 {
        println!("skipped: needs two CPUs");
        return;
    }
    let own = Own::new();
    let digests = |seed: u64| {
        let params = [
            own.word(),
            ("engine", word("pread")),
            ("cache", word("buffered")),
            ("operation", word("mix")),
            ("threads", Value::Count(2)),
            ("file_size", bytes(1 << 20)),
        ];
        let order = Order { seed, ..order(&params) };
        let gang = Gang::start(staged(&order)?.members).unwrap();
        let series = ran(&gang);
        assert!(series.len() == 2 && series.iter().all(|s| s.verified.is_ok()), "{series:?}");
        Some(series.iter().map(|s| s.digest.unwrap()).collect::<Vec<_>>())
    };
    let (one, again, other) = (digests(7), digests(7), digests(8));
    assert_eq!(one, again);
    assert!(one.is_none() || one != other);
}

#[test]
fn the_rate_is_of_all_operations_by_all_time() {
    // The third stalled.
    let mut stalled = series(&[100, 100, 100], 20_000_000);
    stalled.samples[2].ns = 160_000_000;
    let plain = series(&[50], 25_000_000);
    let taken = Taken { series: vec![stalled, plain], made_with: Settings::new() };
    let samples = figures(&order(&[]), &taken).unwrap();
    assert_eq!(samples[0].quantity, Quantity::new(3500.0, Unit::OperationPerSecond));
    let bits = 3500.0 * 4096.0 * 8.0;
    assert_eq!(samples[1].quantity, Quantity::new(bits, Unit::BitPerSecond));
    let none = Taken { series: vec![series(&[0], 20_000_000)], made_with: Settings::new() };
    assert!(figures(&order(&[]), &none).is_err());
}

/// Bytes that this thread has written so far, where the kernel counts them.
fn written() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    told.lines().find_map(|line| line.strip_prefix("wchar: ")).and_then(|word| word.parse().ok())
}

#[test]
fn a_file_is_filled_as_often_as_asked_and_each_fill_differs() {
    let own = Own::new();
    let params = [
        own.word(),
        ("cache", word("buffered")),
        ("file_size", bytes(1 << 20)),
        ("fills", Value::Count(3)),
    ];
    let order = order(&params);
    let before = written();
    let Some(Ready { members, .. }) = staged(&order) else { return };
    match before.zip(written()) {
        Some((before, now)) => assert_eq!((now - before) >> 20, 3),
        None => println!("skipped: the kernel counts no bytes"),
    }
    let gang = Gang::start(members).unwrap();
    let series = ran(&gang);
    assert!(series[0].verified.as_ref().is_ok_and(|checks| *checks > 0), "{series:?}");
    let fills = [filling(5, 0), filling(5, 1), filling(5, 2), filling(6, 0), filling(6, 1)];
    for (at, one) in fills.iter().enumerate() {
        assert!(!fills[at + 1..].contains(one), "{fills:?}");
    }
}

#[test]
fn a_forecast_of_what_is_overwritten_counts_every_fill() {
    let of = |workload: &str, disk: &str, fills: u64| {
        let changes = [
            ("file_size", bytes(1 << 30)),
            ("fills", Value::Count(fills)),
            ("whole_disk", word(disk)),
        ];
        let params = order(&changes).params;
        overwrites(&LoadPoint { load: "it".into(), workload: workload.into(), params })
    };
    let bytes = f64::from(1 << 30);
    assert_eq!(of("disk", "/dev/sdb", 1), Some(("/dev/sdb".into(), bytes)));
    assert_eq!(of("disk", "/dev/sdb", 3), Some(("/dev/sdb".into(), 3.0 * bytes)));
    assert_eq!((of("disk", "none", 3), of("other", "/dev/sdb", 3)), (None, None));
}

#[test]
fn a_simulated_disk_saturates_and_a_large_file_has_its_time() {
    let rate = |depth: u64, block: u64, threads: u64| {
        let params = [
            ("queue_depth", Value::Count(depth)),
            ("block_size", bytes(block)),
            ("threads", Value::Count(threads)),
        ];
        nominal(&order(&params), 4).iter().sum::<f64>()
    };
    assert!(rate(1, 4096, 1) < rate(4, 4096, 1) && rate(64, 4096, 1) <= rate(256, 4096, 1));
    assert!((rate(2, 4096, 2) / rate(4, 4096, 1) - 1.0).abs() < 1e-9);
    assert!(rate(8, 1 << 20, 1) < rate(8, 4096, 1));
    let large = [("file_size", bytes(100 << 30)), ("fills", Value::Count(2))];
    let (once, twice) = (staging(&order(&large[..1])), staging(&order(&large)));
    assert!(once > Duration::from_secs(5000) && staging(&order(&[])).as_secs() < 60);
    assert!((twice - once).as_secs_f64() > 5000.0, "{twice:?}");
}
