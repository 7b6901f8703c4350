//! Runs with their analyses, made by formula, for the tests of this room only.

use crate::record::*;
use crate::stats::{Estimate, EstimateMethod};
use crate::unit::{Quantity, Unit};
use crate::verdict::*;
use std::collections::BTreeMap;

const DIRECTIONS: [&str; 3] = ["transmit", "receive", "both"];
const BLOCKS: u32 = 5;

/// A fixed wobble of about a per cent, different for every block and place.
fn wobble(block: u32, place: u32) -> f64 {
    1.0 + 0.011 * (f64::from(block * 7 + place * 13) * 1.7).sin()
}

fn estimate(centre: f64, width: f64, unit: Unit, method: EstimateMethod) -> Estimate {
    Estimate {
        centre: Quantity::new(centre, unit),
        low: Quantity::new(centre * (1.0 - width), unit),
        high: Quantity::new(centre * (1.0 + width), unit),
        level: 0.95,
        n: BLOCKS,
        method,
    }
}

fn ratio(centre: f64, width: f64) -> Estimate {
    estimate(centre, width, Unit::Ratio, EstimateMethod::PairedLogTHolm)
}

/// Payload rate under the baseline, bit/s: a cost a request, then the wire.
fn base_rate(size: f64) -> f64 {
    1.0 / (1.0 / 9.41e8 + 1.9e-7 / (size * 8.0) * 8.0)
}

/// other / base by direction and size.
fn true_ratio(direction: &str, size: f64) -> f64 {
    match direction {
        "transmit" => 1.004 + 1.93 * (size / (size + 6000.0)),
        "receive" => 1.002,
        _ => 1.0 - 0.42 * (2000.0 / (size + 2000.0)),
    }
}

fn sizes(count: u32) -> Vec<u64> {
    (0..count).map(|i| 64 << i).collect()
}

fn verdict(ratio: &Estimate) -> Verdict {
    if ratio.low.value > 1.0 {
        Verdict::Better
    } else if ratio.high.value < 1.0 {
        Verdict::Worse
    } else if ratio.low.value > 0.98 && ratio.high.value < 1.02 {
        Verdict::Equivalent
    } else {
        Verdict::Undecided { more_blocks: Some(12) }
    }
}

#[allow(clippy::cast_precision_loss)]
fn point(direction: &str, size: u64, place: u32) -> PointResult {
    let factor = true_ratio(direction, size as f64);
    let width = if direction == "both" && size == 8192 { 0.2 } else { 0.017 };
    let base = base_rate(size as f64);
    let runs = |scale: f64, salt: u32| -> Vec<Quantity> {
        let run = |b| Quantity::new(base * scale * wobble(b, place + salt), Unit::BitPerSecond);
        (1..=BLOCKS).map(run).collect()
    };
    let ratio = ratio(factor, width);
    let rate = |centre| estimate(centre, 0.012, Unit::BitPerSecond, EstimateMethod::MeanT);
    PointResult {
        at: Some(Value::Quantity(Quantity::bytes(size))),
        base: rate(base),
        other: rate(base * factor),
        verdict: verdict(&ratio),
        ratio,
        base_runs: runs(1.0, 0),
        other_runs: runs(factor, 3),
    }
}

fn regions(points: &[PointResult]) -> Vec<Region> {
    let side = |p: &PointResult| match p.verdict {
        Verdict::Better => Some(true),
        Verdict::Worse => Some(false),
        _ => None,
    };
    let stretches = points.chunk_by(|a, b| side(a).is_some() && side(a) == side(b));
    let region = |s: &[PointResult]| {
        let by = |a: &&PointResult, b: &&PointResult| {
            a.ratio.centre.value.total_cmp(&b.ratio.centre.value)
        };
        Some(Region {
            from: s.first()?.at.clone()?,
            to: s.last()?.at.clone()?,
            other_ahead: side(s.first()?)?,
            least: s.iter().min_by(by)?.ratio.clone(),
            most: s.iter().max_by(by)?.ratio.clone(),
        })
    };
    stretches.filter_map(region).collect()
}

fn comparison(direction: &str, count: u32) -> Comparison {
    let points: Vec<PointResult> =
        sizes(count).iter().zip(0..).map(|(size, place)| point(direction, *size, place)).collect();
    let mean = points.iter().map(|p| p.ratio.centre.value.ln()).sum::<f64>() / f64::from(count);
    let overall = Estimate { method: EstimateMethod::PairedLogT, ..ratio(mean.exp(), 0.012) };
    Comparison {
        id: format!("path-pro1000-{direction}"),
        factor: "path".into(),
        base: "onboard".into(),
        other: "pro1000".into(),
        stratum: BTreeMap::new(),
        fixed: [("direction".to_owned(), Value::Word(direction.into()))].into(),
        load: "stream".into(),
        metric: "throughput".into(),
        better: Better::Higher,
        margin: Quantity::new(0.02, Unit::Share),
        curve: Some("size".into()),
        regions: regions(&points),
        points,
        verdict: verdict(&overall),
        overall,
        left_out: u32::from(direction == "both"),
    }
}

fn limit(direction: &str, level: &str, kind: LimitKind, share: f64) -> Limit {
    Limit {
        comparison: format!("path-pro1000-{direction}"),
        level: level.into(),
        kind,
        evidence: estimate(share, 0.01, Unit::Share, EstimateMethod::MeanT),
    }
}

/// The published duel: two paths, three directions, thirteen sizes, five blocks.
pub(super) fn duel() -> (Run, Analysis) {
    let comparisons = DIRECTIONS.iter().map(|d| comparison(d, 13)).collect();
    let limits = vec![
        limit("transmit", "onboard", LimitKind::OneCpu, 0.991),
        limit("transmit", "pro1000", LimitKind::AllCpus, 0.974),
        limit("receive", "onboard", LimitKind::SetRate, 0.962),
        limit("receive", "pro1000", LimitKind::SetRate, 0.964),
        limit("both", "onboard", LimitKind::ReceiveWindow, 0.43),
        limit("both", "pro1000", LimitKind::NoneSeen, 0.61),
    ];
    let caveats = vec![
        Caveat::VirtualLinks,
        Caveat::OneMachine,
        Caveat::Guest { hypervisor: "KVM".into() },
        Caveat::NoiseFloor { ratio: ratio(1.0031, 0.0052) },
        Caveat::Faults { trials: Quantity::count(1), first: "stream c02.0 moved nothing".into() },
    ];
    (
        run("NIC duel: onboard against pro1000", 13),
        Analysis { comparisons, limits, caveats, ..Analysis::default() },
    )
}

/// A short curve for the survey.
pub(super) fn curve() -> (Run, Analysis) {
    let analysis = Analysis {
        comparisons: vec![comparison("transmit", 7)],
        limits: vec![limit("transmit", "onboard", LimitKind::AllCpus, 0.986)],
        caveats: vec![Caveat::VirtualLinks, Caveat::OneMachine],
        ..Analysis::default()
    };
    (run("Throughput by request size", 7), analysis)
}

/// One load, one ratio.
pub(super) fn single(title: &str, ratio_centre: f64) -> (Run, Analysis) {
    let mut comparison = comparison("receive", 1);
    let effect = ratio(ratio_centre, 0.008);
    for point in &mut comparison.points {
        point.at = None;
        point.ratio = effect.clone();
        point.verdict = verdict(&effect);
    }
    comparison.fixed = BTreeMap::new();
    comparison.curve = None;
    comparison.regions = Vec::new();
    comparison.verdict = verdict(&effect);
    comparison.overall = effect;
    let caveats = vec![
        Caveat::OneMachine,
        Caveat::FewBlocks { blocks: Quantity::count(5), smallest: ratio(1.021, 0.0) },
    ];
    let analysis = Analysis { comparisons: vec![comparison], caveats, ..Analysis::default() };
    (run(title, 1), analysis)
}

/// A comparison of two values of a factor, by ratio and by the level of `tso` it holds under.
fn values(key: &str, [base, other]: [&str; 2], sides: &[(f64, Option<&str>)]) -> (Run, Analysis) {
    let (mut run, mut analysis) = single(key, 1.0);
    let level = |value: &str| Level {
        name: value.into(),
        settings: [(key.to_owned(), Value::Word(value.into()))].into(),
    };
    let factor = |name: &str, levels| FactorPlan { name: name.into(), levels };
    run.plan.factors = vec![factor(key, vec![level(base), level(other)])];
    run.plan.method.compare = key.into();
    let side = |(centre, under): &(f64, Option<&str>)| {
        let (_, mut one) = single(key, *centre);
        let mut comparison = one.comparisons.remove(0);
        (comparison.factor, comparison.base) = (key.into(), base.into());
        comparison.other = other.into();
        comparison.stratum = under.iter().map(|l| ("tso".to_owned(), (*l).to_owned())).collect();
        comparison
    };
    analysis.comparisons = sides.iter().map(side).collect();
    if sides.iter().any(|(_, under)| under.is_some()) {
        let level = |value: &str| Level {
            name: value.into(),
            settings: [("tso".to_owned(), Value::Word(value.into()))].into(),
        };
        run.plan.factors.push(factor("tso", vec![level("off"), level("on")]));
    }
    (run, analysis)
}

/// What segmentation offload is worth.
pub(super) fn offload(ratio: f64) -> (Run, Analysis) {
    values("tso", ["off", "on"], &[(ratio, None)])
}

/// What jumbo frames are worth without and with segmentation offload.
pub(super) fn jumbo(without: f64, with: f64) -> (Run, Analysis) {
    values("mtu", ["1500 B", "9000 B"], &[(without, Some("off")), (with, Some("on"))])
}

fn run(title: &str, points: u32) -> Run {
    Run {
        schema: RUN_SCHEMA,
        id: format!("2026-11-21-0015-k{points}"),
        started: "2026-11-21T00:15:01Z".into(),
        version: "0.1.0".into(),
        command: "stend run plans/nic-duel.toml --seed 4711".into(),
        plan: plan(title, points),
        plan_text: String::new(),
        metrics: vec![Metric {
            name: "throughput".into(),
            title: "throughput".into(),
            unit: Unit::BitPerSecond,
            better: Better::Higher,
        }],
        environment: environment(),
        records: records(points),
        completeness: Completeness::Complete,
    }
}

fn plan(title: &str, points: u32) -> Plan {
    let rate = Value::Quantity(Quantity::new(1e9, Unit::BitPerSecond));
    let link = |name: &str, settings: Settings| LinkPlan { name: name.into(), settings };
    let level = |name: &str| Level {
        name: name.into(),
        settings: [("path".to_owned(), Value::Word(name.into()))].into(),
    };
    let all = sizes(points).into_iter().map(|s| Value::Quantity(Quantity::bytes(s))).collect();
    Plan {
        title: title.into(),
        question: "Which adapter serves ten clients faster, and at which request sizes?".into(),
        lab: LabPlan {
            settings: Settings::new(),
            clients: 10,
            client_rate: Some(Quantity::new(1e8, Unit::BitPerSecond)),
            links: vec![
                link("onboard", [("rate".to_owned(), rate)].into()),
                link("pro1000", Settings::new()),
            ],
        },
        factors: vec![FactorPlan {
            name: "path".into(),
            levels: vec![level("onboard"), level("pro1000")],
        }],
        loads: vec![LoadPlan {
            name: "stream".into(),
            workload: "tcp_stream".into(),
            fixed: [("streams".to_owned(), Value::Count(1))].into(),
            over: vec![
                ("direction".into(), DIRECTIONS.map(|d| Value::Word(d.into())).to_vec()),
                ("size".into(), all),
            ],
        }],
        method: Method {
            blocks: BLOCKS,
            dry: true,
            settle: Quantity::seconds(0.3),
            settle_max: Quantity::seconds(2.0),
            window: Quantity::seconds(0.8),
            seed: 4711,
            primary: "throughput".into(),
            compare: "path".into(),
            margin: Quantity::new(0.02, Unit::Share),
            curve: Some("size".into()),
            displaced_work: false,
        },
        published: None,
    }
}

fn environment() -> Environment {
    let fact = |key: &str, value: &str, source: &str| Fact {
        key: key.into(),
        value: value.into(),
        class: KeyClass::Critical,
        source: source.into(),
    };
    let cache = |level, kind: &str, kib: u64, shared_by| Cache {
        level,
        kind: kind.into(),
        size: Quantity::bytes(kib * 1024),
        shared_by,
    };
    Environment {
        cpu: Cpu {
            model: "Intel(R) Xeon(R) Processor @ 2.90GHz".into(),
            sockets: 1,
            cores: 1,
            logical: 2,
            smt: Some("on".into()),
            frequency_max: None,
            governor: None,
            hypervisor: Some("KVM".into()),
            numa_nodes: 1,
        },
        caches: vec![
            cache(1, "Data", 32, 2),
            cache(2, "Unified", 1024, 2),
            cache(3, "Unified", 33792, 2),
        ],
        memory: Some(Quantity::bytes(4_126_789_632)),
        adapters: vec![adapter("eth0", 1), adapter("eth1", 4)],
        facts: vec![
            fact("kernel.release", "6.1.0-28-amd64", "/proc/sys/kernel/osrelease"),
            fact("net.ipv4.tcp_rmem", "4096 131072 6291456", "/proc/sys/net/ipv4/tcp_rmem"),
            fact("vulnerabilities.mds", "Mitigation: Clear CPU buffers; SMT <unsafe>", "/sys"),
        ],
        lab: Some((LabKind::UserNamespaces, "unprivileged user namespaces are allowed".into())),
    }
}

fn adapter(name: &str, queues: u32) -> Adapter {
    let offload = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    Adapter {
        name: name.into(),
        driver: Some("virtio_net".into()),
        driver_version: Some("1.0.0".into()),
        bus: Some("0000:00:03.0".into()),
        device_id: Some("1af4:1041".into()),
        carrier: true,
        mtu: 1500,
        tx_queues: queues,
        rx_queues: queues,
        offloads: vec![
            offload("tx-checksumming", "on"),
            offload("tcp-segmentation-offload", "on"),
            offload("generic-receive-offload", "on"),
            offload("large-receive-offload", "off [fixed]"),
        ],
        physical: true,
        ..Adapter::default()
    }
}

fn records(points: u32) -> Vec<TrialRecord> {
    let mut records = Vec::new();
    for block in 0..=BLOCKS {
        for direction in DIRECTIONS {
            for size in sizes(points) {
                for level in ["onboard", "pro1000"] {
                    let id = u32::try_from(records.len()).unwrap();
                    records.push(record(id, block, (direction, size), level));
                }
            }
        }
    }
    records
}

fn record(id: u32, block: u32, (direction, size): (&str, u64), level: &str) -> TrialRecord {
    let word = |text: &str| Value::Word(text.into());
    let params: Settings = [
        ("direction".to_owned(), word(direction)),
        ("size".to_owned(), Value::Quantity(Quantity::bytes(size))),
    ]
    .into();
    let point = LoadPoint { load: "stream".into(), workload: "tcp_stream".into(), params };
    let outcome = if id == 20 {
        Outcome::faulty(Fault::DeadStream { stream: "c02.0".into() })
    } else {
        Outcome {
            steady: true,
            made_with: [("engine".to_owned(), word("epoll")), ("pinned".to_owned(), word("no"))]
                .into(),
            streams: vec![StreamFacts { congestion: "cubic".into(), ..StreamFacts::default() }],
            ..Outcome::default()
        }
    };
    TrialRecord {
        trial: Trial {
            id,
            block,
            point_index: 0,
            point,
            treatment: Treatment { levels: [("path".to_owned(), level.to_owned())].into() },
            settings: Settings::new(),
            seed: u64::from(id),
            kind: if block == 0 { TrialKind::Dry } else { TrialKind::Counted },
        },
        observed: Settings::new(),
        outcome,
        readings: Vec::new(),
        started_s: f64::from(id),
    }
}
