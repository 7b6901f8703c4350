//! Knows what follows from the cells of a machine: sizes of caches, where prefetching ends, how far
//! cores add up, and the balance of memory and computation.
//!
//! Each is made of estimates of one run under the first level of every factor; [`DerivedKind`] says
//! how. Never: what is told of the machine elsewhere, but beside it.

use super::cells::MachineCell;
use super::levels::ends;
use crate::record::{Better, Derivation, Derive, Environment, Run, Settings, Value};
use crate::stats::{Estimate, decide, log_ratio};
use crate::unit::{Quantity, Unit};
use crate::verdict::knee::knee;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sizes of a curve from which caches are inferred, at the least.
const SIZES: usize = 5;
/// Strides, or numbers of threads, that make a course.
const COURSE: usize = 3;
/// An inferred cache is that of a level where the machine tells of a size within this ratio of it.
const ALIKE: f64 = 3.0;
/// Share of the latency of random loads from which a sequential walk has lost its prefetching.
const LOST: f64 = 0.5;

/// What is derived, and how.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DerivedKind {
    /// Latency of random loads in clocks of the core: time of a load over that of a dependent
    /// addition, measured beside it.
    Clocks,
    /// Between two neighbouring sizes the time of an access leaves a plateau (of two sizes or more
    /// within 1.35 of the best) by a step (1.35 and more, within two doublings of the size, twice
    /// as steep as the plateau, and for good): a cache ends there. It is held against what sysfs
    /// tells of the level of the nearest size, within a factor of three. On x86 that is what the
    /// kernel read from CPUID leaf 4 (of AMD 0x8000001D), so it is no second witness beside CPUID.
    CacheSize,
    /// The first stride at which a sequential walk takes half of what random loads of the same
    /// memory take, or half of its own longest: prefetching no longer helps. Of data beyond the
    /// first cache, and where the shortest stride is still helped.
    PrefetchEnds,
    /// The fewest threads whose bandwidth comes within 5 % of the highest of any number.
    Saturation,
    /// Bytes that a core moves in a clock, in memory.
    BytesPerClock,
    /// Bytes that are read from memory for each byte that a cipher does with as many threads. A
    /// cipher that works in memory moves two for each: it reads one and writes one; three where the
    /// line that it writes is read first.
    BytesPerCipherByte,
    /// The figure of the most threads that were measured over that of one, from the blocks.
    Scaling,
    /// [`Self::Scaling`] over the number of threads: what each of them keeps.
    PerCopy,
}

/// Something that follows from cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DerivedFact {
    /// What it is.
    pub kind: DerivedKind,
    /// Name of the load that it rests on.
    pub load: String,
    /// Parameters that its cells share.
    pub params: Settings,
    /// Where it was seen: a stride, a number of threads, the largest size that still fits.
    pub at: Option<Value>,
    /// The next measured place, or the last where nothing was seen.
    pub until: Option<Value>,
    /// The figure, where it is one.
    pub figure: Option<Estimate>,
    /// What it is set beside.
    pub beside: Option<Estimate>,
    /// Level of the cache, where the machine tells of one within a factor of three of that size.
    pub cache: Option<u32>,
    /// What the machine tells of it, by whom; several where its cores are of several kinds.
    pub told: Vec<(String, Quantity)>,
    /// Whether one that is told fits.
    pub agrees: Option<bool>,
}

impl DerivedFact {
    fn of(kind: DerivedKind, cell: &MachineCell, without: &[&str]) -> Self {
        Self {
            kind,
            load: cell.load.clone(),
            params: cell.without(without),
            at: None,
            until: None,
            figure: None,
            beside: None,
            cache: None,
            told: Vec::new(),
            agrees: None,
        }
    }
}

/// All that follows from the cells under the first level of every factor, kind by kind.
pub(in crate::verdict) fn derived(run: &Run, cells: &[MachineCell]) -> Vec<DerivedFact> {
    let first = |cell: &&MachineCell| {
        run.plan.factors.iter().all(|factor| {
            cell.levels.get(&factor.name) == factor.levels.first().map(|level| &level.name)
        })
    };
    let cells: Vec<&MachineCell> = cells.iter().filter(first).collect();
    let mut all = told_as(run, &cells, (Derivation::Clocks, DerivedKind::Clocks));
    let caches = caches(run, &cells);
    all.extend(prefetching(run, first_cache(run.environment(), &caches), &cells));
    all.extend(caches);
    all.extend(saturation(run, &cells));
    all.extend(told_as(run, &cells, (Derivation::BytesPerClock, DerivedKind::BytesPerClock)));
    all.extend(balance(run, &cells));
    all.extend(scaling(run, &cells));
    all.retain(is_possible);
    all.sort_by_key(|fact| fact.kind);
    all
}

/// Most bytes that a core loads in a clock: three loads of 64 bytes.
const BYTES_A_CLOCK: f64 = 192.0;

/// Whether the interval of a fact reaches what is physically possible: a load takes a clock or
/// more, a core loads no more than three lines in one, and a thread among several does no more than
/// one alone. What lies beyond is a wrong measurement, and is no fact.
fn is_possible(fact: &DerivedFact) -> bool {
    let Some(figure) = &fact.figure else { return true };
    let threads = || fact.at.as_ref().and_then(Value::count).unwrap_or(u64::MAX);
    match fact.kind {
        DerivedKind::Clocks => figure.high.value >= 1.0,
        DerivedKind::BytesPerClock => figure.low.value <= BYTES_A_CLOCK,
        #[expect(clippy::cast_precision_loss, reason = "threads are few")]
        DerivedKind::Scaling => figure.low.value <= threads() as f64,
        DerivedKind::PerCopy => figure.low.value <= 1.0,
        _ => true,
    }
}

/// The cells at which a load asks for something, each with what it asks.
fn asked<'c>(
    run: &'c Run,
    cells: &[&'c MachineCell],
    what: Derivation,
) -> impl Iterator<Item = (&'c Derive, &'c MachineCell)> {
    let of = move |cell: &&'c MachineCell| {
        let mut its = run.plan.load(&cell.load)?.asks(what);
        Some((its.find(|derive| derive.fits(&cell.params))?, *cell))
    };
    cells.iter().filter_map(of)
}

/// The same in groups of a workload's cells that differ in nothing but the parameter along which it
/// goes.
fn courses<'c>(
    run: &'c Run,
    cells: &[&'c MachineCell],
    what: Derivation,
) -> Vec<(&'c Derive, Vec<&'c MachineCell>)> {
    let mut groups: Vec<(Settings, &Derive, Vec<&MachineCell>)> = Vec::new();
    for (derive, cell) in asked(run, cells, what) {
        let rest = cell.without(&[&derive.along]);
        let alike = |(known, _, group): &&mut (Settings, &Derive, Vec<&MachineCell>)| {
            *known == rest && group.iter().all(|other| other.workload == cell.workload)
        };
        match groups.iter_mut().find(alike) {
            Some((.., group)) => group.push(cell),
            None => groups.push((rest, derive, vec![cell])),
        }
    }
    groups.into_iter().map(|(_, derive, group)| (derive, group)).collect()
}

/// A group by a number of each cell, rising, of equals the first.
fn course<'c>(
    group: &[&'c MachineCell],
    number: impl Fn(&MachineCell) -> Option<f64>,
) -> Vec<(f64, &'c MachineCell, &'c Estimate)> {
    let mut course: Vec<_> =
        group.iter().filter_map(|cell| Some((number(cell)?, *cell, cell.figure()?))).collect();
    course.sort_by(|a, b| a.0.total_cmp(&b.0));
    course.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    course
}

/// The metric that a load asks to have told, at every cell; beside clocks how long one is.
fn told_as(
    run: &Run,
    cells: &[&MachineCell],
    (what, kind): (Derivation, DerivedKind),
) -> Vec<DerivedFact> {
    let fact = |(derive, cell): (&Derive, &MachineCell)| {
        let figure = Some(cell.figures.get(&derive.metric)?.clone());
        let beside = cell.clock.clone().filter(|_| what == Derivation::Clocks);
        Some(DerivedFact { figure, beside, ..DerivedFact::of(kind, cell, &[]) })
    };
    asked(run, cells, what).filter_map(fact).collect()
}

fn caches(run: &Run, cells: &[&MachineCell]) -> Vec<DerivedFact> {
    let falls = |(_, group): &(&Derive, Vec<&MachineCell>)| {
        let metric = group.first().and_then(|cell| run.metric(&cell.load, &cell.metric));
        metric.is_some_and(|metric| metric.better == Better::Higher)
    };
    let mut groups = courses(run, cells, Derivation::CacheSize);
    groups.retain(|(_, group)| group.iter().all(|cell| cell.threads.is_none_or(|n| n == 1)));
    groups.sort_by_key(falls);
    let (mut all, all_told) = (Vec::new(), told_levels(run.environment()));
    for (derive, group) in &groups {
        let course = course(group, |cell| cell.bytes.map(|bytes| bytes.value));
        if course.len() < SIZES {
            continue;
        }
        let falls = falls(&(derive, group.clone()));
        let time = |(_, _, figure): &(f64, &MachineCell, &Estimate)| {
            let value = figure.centre.value;
            if falls { 1.0 / value } else { value }
        };
        let curve: Vec<(f64, f64)> = course.iter().map(|one| (one.0, time(one))).collect();
        let ends = ends(&curve);
        let middle = |end: &usize| (curve[*end].0 * curve[*end + 1].0).sqrt();
        let levels = assigned(&all_told, &ends.iter().map(middle).collect::<Vec<_>>());
        for (end, cache) in ends.into_iter().zip(levels) {
            let (from, to) = (course[end].0, course[end + 1].0);
            let size = |bytes| Some(Value::Quantity(Quantity::new(bytes, Unit::Byte)));
            let told = cache.and_then(|level| all_told.get(&level)).cloned().unwrap_or_default();
            let fits = |(_, size): &(String, Quantity)| from <= size.value && size.value <= to;
            let agrees = cache.is_some().then(|| told.iter().any(fits));
            let figure = Some(course[end].2.clone());
            let fact = DerivedFact::of(DerivedKind::CacheSize, course[end].1, &[&derive.along]);
            let (at, until) = (size(from), size(to));
            all.push(DerivedFact { at, until, figure, cache, told, agrees, ..fact });
        }
    }
    all
}

/// Sizes of caches by level, each with who tells of it.
type Told = BTreeMap<u32, Vec<(String, Quantity)>>;

/// What the kernel tells in sysfs of the caches that hold data, by level: every size once, for
/// cores of several kinds have several. On x86 the kernel read them from CPUID leaf 4 (of AMD
/// 0x8000001D): sysfs and CPUID are one source, and no record holds the leaf beside it.
fn told_levels(env: &Environment) -> Told {
    let mut all = Told::new();
    for cache in env.caches.iter().filter(|cache| cache.kind != "Instruction") {
        let told = all.entry(cache.level).or_default();
        if told.iter().all(|(_, size)| *size != cache.size) {
            told.push(("sysfs".into(), cache.size));
        }
    }
    all
}

/// Bytes of the first cache: the largest that is told, else the largest size that was measured
/// within the smallest cache that was inferred.
fn first_cache(env: &Environment, inferred: &[DerivedFact]) -> Option<f64> {
    let told = told_levels(env).remove(&1);
    let told = told.into_iter().flatten().map(|(_, size)| size.value).reduce(f64::max);
    let first = inferred.iter().filter(|fact| fact.cache.is_none_or(|level| level == 1));
    let fits = first.filter_map(|fact| Some(fact.at.as_ref()?.quantity()?.value));
    told.or_else(|| fits.reduce(f64::min))
}

/// For each place, bytes, the level whose size is nearest to it by ratio, within [`ALIKE`]. Of
/// several places with the same level the nearest has it and the others have none: they are steps
/// of something else, as of the reach of a TLB. The last place, where it lies behind all other
/// levels, is the last level however large that is told: a guest is told of its whole host's.
fn assigned(told: &Told, places: &[f64]) -> Vec<Option<u32>> {
    let nearest = |bytes: &f64| {
        let off = |sizes: &Vec<(String, Quantity)>| {
            let each = sizes.iter().map(|(_, size)| (size.value / bytes).ln().abs());
            each.fold(f64::INFINITY, f64::min)
        };
        let all = told.iter().map(|(level, sizes)| (*level, off(sizes)));
        let near = all.filter(|(_, off)| *off <= ALIKE.ln());
        near.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let wanted: Vec<Option<(u32, f64)>> = places.iter().map(nearest).collect();
    let has = |at: usize, level: u32| {
        let same = wanted.iter().enumerate().filter_map(|(at, one)| Some((at, (*one)?)));
        let same = same.filter(|(_, (other, _))| *other == level);
        same.min_by(|a, b| a.1.1.total_cmp(&b.1.1)).is_some_and(|(first, _)| first == at)
    };
    let levels = wanted.iter().enumerate();
    let mut levels: Vec<Option<u32>> =
        levels.map(|(at, one)| one.map(|(l, _)| l).filter(|level| has(at, *level))).collect();
    let last = told.last_key_value().map(|(level, _)| *level);
    let below = |place: f64| {
        let others = told.iter().filter(|(level, _)| Some(**level) != last).flat_map(|(_, s)| s);
        others.map(|(_, size)| size.value).fold(0.0, f64::max) * ALIKE < place
    };
    let beyond = places.last().is_some_and(|place| below(*place));
    if !levels.contains(&last)
        && beyond
        && let Some(level @ None) = levels.last_mut()
    {
        *level = last;
    }
    levels
}

/// Within the first cache nothing is to be fetched, and the shortest stride takes what any takes.
fn prefetching(run: &Run, first_cache: Option<f64>, cells: &[&MachineCell]) -> Vec<DerivedFact> {
    let within = |cell: &MachineCell| {
        cell.bytes.zip(first_cache).is_some_and(|(bytes, cache)| bytes.value <= cache)
    };
    let mut all = Vec::new();
    for (derive, group) in courses(run, cells, Derivation::PrefetchEnds) {
        let stride = |cell: &MachineCell| Some(cell.params.get(&derive.along)?.quantity()?.value);
        let course = course(&group, stride);
        let (Some(first), Some(last)) = (course.first(), course.last()) else { continue };
        if course.len() < COURSE || within(first.1) {
            continue;
        }
        let beside = random_of(run, cells, (derive, first.1)).unwrap_or(last.2);
        let lost = |(_, _, figure): &(f64, &MachineCell, &Estimate)| {
            figure.centre.value >= LOST * beside.centre.value
        };
        if lost(first) {
            continue;
        }
        let place = |(stride, ..): &(f64, &MachineCell, &Estimate)| {
            Value::Quantity(Quantity::new(*stride, Unit::Byte))
        };
        let found = course.iter().find(|one| lost(one));
        let fact = DerivedFact::of(DerivedKind::PrefetchEnds, first.1, &[&derive.along]);
        all.push(DerivedFact {
            at: found.map(place),
            until: Some(place(last)),
            figure: found.map(|(_, _, figure)| (*figure).clone()),
            beside: Some(beside.clone()),
            ..fact
        });
    }
    all
}

/// What random loads take where a cell walks by address.
fn random_of<'c>(
    run: &'c Run,
    cells: &[&'c MachineCell],
    (derive, walk): (&Derive, &MachineCell),
) -> Option<&'c Estimate> {
    let mut names: Vec<&str> = derive.only.keys().map(String::as_str).collect();
    names.push(&derive.along);
    let alike = |cell: &MachineCell| {
        cell.workload == walk.workload && cell.without(&names) == walk.without(&names)
    };
    let mut random = asked(run, cells, Derivation::CacheSize).map(|(_, cell)| cell);
    random.find(|cell| alike(cell)).and_then(|cell| cell.figure())
}

#[expect(clippy::cast_precision_loss, reason = "threads are few")]
fn by_threads(cell: &MachineCell) -> Option<f64> {
    cell.threads.map(|threads| threads as f64)
}

fn saturation(run: &Run, cells: &[&MachineCell]) -> Vec<DerivedFact> {
    let mut all = Vec::new();
    for (derive, group) in courses(run, cells, Derivation::Saturation) {
        let course = course(&group, by_threads);
        let values: Vec<f64> = course.iter().map(|(_, _, figure)| figure.centre.value).collect();
        let Some(at) = knee(&values).filter(|_| course.len() >= COURSE) else { continue };
        let threads = |at: usize| course[at].1.threads.map(Value::Count);
        let rising = at + 1 == course.len();
        let fact = DerivedFact::of(DerivedKind::Saturation, course[at].1, &[&derive.along]);
        all.push(DerivedFact {
            at: threads(at).filter(|_| !rising),
            until: threads(course.len() - 1),
            figure: Some(course[at].2.clone()),
            ..fact
        });
    }
    all
}

/// other / base of the blocks that both have.
fn ratio(run: &Run, base: &MachineCell, other: &MachineCell) -> Option<Estimate> {
    let pair = |(block, a): (&u32, &Quantity)| log_ratio(a.value, other.blocks.get(block)?.value);
    let logs: Vec<f64> = base.blocks.iter().filter_map(pair).collect();
    Some(decide(&logs, run.plan.method.rule())?.ratio)
}

/// Reading memory against the largest blocks of each cipher, with as many threads.
fn balance(run: &Run, cells: &[&MachineCell]) -> Vec<DerivedFact> {
    let mut all = Vec::new();
    for (derive, group) in courses(run, cells, Derivation::Balance) {
        let block = |cell: &MachineCell| Some(cell.params.get(&derive.along)?.quantity()?.value);
        let Some((_, cipher, rate)) = course(&group, block).pop() else { continue };
        let alike = |cell: &&MachineCell| {
            cell.threads == cipher.threads
                && cell.figure().is_some_and(|figure| figure.centre.unit == rate.centre.unit)
        };
        let most = |cell: &&MachineCell| cell.figure().map_or(0.0, |figure| figure.centre.value);
        let reads = asked(run, cells, Derivation::MemoryRead).map(|(_, cell)| cell).filter(alike);
        let Some(memory) = reads.max_by(|a, b| most(a).total_cmp(&most(b))) else { continue };
        let fact = DerivedFact::of(DerivedKind::BytesPerCipherByte, cipher, &[]);
        let figure = ratio(run, cipher, memory);
        all.extend(figure.map(|figure| DerivedFact { figure: Some(figure), ..fact }));
    }
    all
}

/// The most threads against one, be they of one load or of two.
fn scaling(run: &Run, cells: &[&MachineCell]) -> Vec<DerivedFact> {
    let mut all = Vec::new();
    for (derive, group) in courses(run, cells, Derivation::Scaling) {
        let course = course(&group, by_threads);
        let (Some(one), Some(most)) = (course.first(), course.last()) else { continue };
        let threads = most.1.threads.filter(|_| one.1.threads == Some(1) && most.0 > 1.0);
        let Some(threads) = threads else { continue };
        let Some(figure) = ratio(run, one.1, most.1) else { continue };
        let share = |q: Quantity| Quantity::new(q.value / most.0, Unit::Share);
        let kept = Estimate {
            centre: share(figure.centre),
            low: share(figure.low),
            high: share(figure.high),
            ..figure.clone()
        };
        for (kind, figure) in [(DerivedKind::Scaling, figure), (DerivedKind::PerCopy, kept)] {
            let fact = DerivedFact::of(kind, most.1, &[&derive.along]);
            let at = Some(Value::Count(threads));
            all.push(DerivedFact { at, figure: Some(figure), ..fact });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Cache, DeriveSpec};
    use crate::verdict::simulated::Simulated;

    const KIB: f64 = 1024.0;

    /// Random loads of so many bytes that take so long, seconds.
    fn cell(bytes: f64, time: f64) -> MachineCell {
        let size = Quantity::new(bytes, Unit::Byte);
        let figure = Estimate::exact(Quantity::seconds(time));
        MachineCell {
            load: "ladder".into(),
            workload: "mem_latency".into(),
            params: Settings::from([("size".to_owned(), Value::Quantity(size))]),
            levels: BTreeMap::new(),
            metric: "latency".into(),
            bytes: Some(size),
            threads: None,
            clock: None,
            figures: BTreeMap::from([("latency".to_owned(), figure)]),
            blocks: BTreeMap::new(),
            pairs: BTreeMap::new(),
        }
    }

    /// A machine that tells of caches of 32 KiB, 1 MiB and 32 MiB.
    fn environment() -> Environment {
        let cache = |level, kib: u64| Cache {
            level,
            kind: "Unified".into(),
            size: Quantity::bytes(kib << 10),
            shared_by: 2,
        };
        let caches = vec![cache(1, 32), cache(2, 1024), cache(3, 32768)];
        Environment { caches, ..Environment::default() }
    }

    /// Level, the largest size that still fits in KiB, and whether what is told fits.
    type Row = (Option<u32>, f64, Option<bool>);

    /// What follows from nanoseconds at 16 KiB and every doubling of it.
    fn inferred(env: &Environment, nanoseconds: &[f64]) -> Vec<Row> {
        let mut run = Simulated::default().run();
        *run.environment_mut() = env.clone();
        run.plan.loads[0].name = "ladder".into();
        let along_sizes = DeriveSpec::along(Derivation::CacheSize, "size");
        run.plan.loads[0].derives = vec![along_sizes.stored()];
        let sizes = std::iter::successors(Some(16.0 * KIB), |size| Some(size * 2.0));
        let cells = sizes.zip(nanoseconds).map(|(size, time)| cell(size, time * 1e-9));
        let cells: Vec<MachineCell> = cells.collect();
        let at = |fact: &DerivedFact| fact.at.as_ref().and_then(Value::quantity).unwrap().value;
        let row = |fact: &DerivedFact| (fact.cache, at(fact) / KIB, fact.agrees);
        caches(&run, &cells.iter().collect::<Vec<_>>()).iter().map(row).collect()
    }

    #[test]
    fn what_passes_the_possible_is_no_fact() {
        let fact = |kind, low: f64, high: f64| {
            let figure = Estimate {
                low: Quantity::new(low, Unit::Ratio),
                high: Quantity::new(high, Unit::Ratio),
                ..Estimate::exact(Quantity::new(low.midpoint(high), Unit::Ratio))
            };
            let at = Some(Value::Count(4));
            let of = DerivedFact::of(kind, &cell(KIB, 1.0), &[]);
            is_possible(&DerivedFact { at, figure: Some(figure), ..of })
        };
        assert!(fact(DerivedKind::Scaling, 3.9, 4.3) && !fact(DerivedKind::Scaling, 4.1, 4.3));
        assert!(fact(DerivedKind::PerCopy, 0.9, 1.1) && !fact(DerivedKind::PerCopy, 1.1, 1.3));
        assert!(fact(DerivedKind::Clocks, 0.9, 1.1) && !fact(DerivedKind::Clocks, 0.4, 0.6));
        assert!(fact(DerivedKind::BytesPerClock, 10.0, 11.0));
        assert!(!fact(DerivedKind::BytesPerClock, 200.0, 210.0));
    }

    // Zen 4 with pages of 4 KiB: from 512 KiB on the first TLB has not all of them.
    #[test]
    fn a_step_of_the_tlb_does_not_take_the_name_of_the_second_cache() {
        let nanoseconds = [
            1.3, 1.3, 3.9, 4.0, 4.0, 5.6, 6.2, 12.0, 13.0, 13.5, 14.0, 17.0, 60.0, 90.0, 100.0,
            105.0,
        ];
        let found: [Row; 4] = [
            (Some(1), 32.0, Some(true)),
            (None, 256.0, None),
            (Some(2), 1024.0, Some(true)),
            (Some(3), 16384.0, Some(true)),
        ];
        assert_eq!(inferred(&environment(), &nanoseconds), found);
        let untold: [Row; 4] = found.map(|(_, at, _)| (None, at, None));
        assert_eq!(inferred(&Environment::default(), &nanoseconds), untold);
    }

    #[test]
    fn a_slow_rise_is_no_cache_and_has_no_name() {
        let nanoseconds = [1.4, 1.4, 5.5, 5.7, 5.9, 6.0, 6.0, 8.0, 10.0, 12.0, 14.0, 17.0];
        let found: [Row; 2] = [(Some(1), 32.0, Some(true)), (Some(2), 1024.0, Some(true))];
        assert_eq!(inferred(&environment(), &nanoseconds), found);
    }

    #[test]
    fn a_level_is_told_only_of_what_lies_within_a_factor_of_three() {
        let told = told_levels(&environment());
        let mib = KIB * KIB;
        let near = [mib / 3.1, mib / 2.9, 1.4 * mib, 4.0 * mib, 200.0 * mib];
        let last = Some(3);
        assert_eq!(assigned(&told, &near), [None, None, Some(2), None, last], "but for the last");
        assert_eq!(assigned(&told, &[mib / 2.9, 12.0 * mib]), [Some(2), Some(3)]);
        assert_eq!(assigned(&Told::new(), &[mib]), [None::<u32>]);
    }
}
