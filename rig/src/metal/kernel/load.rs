//! A loop on its CPUs: memory of each thread, and how the load is really made.
//!
//! Knows on which CPU memory is touched first, and whether huge pages were granted. Must not know
//! why a loop was chosen, nor what its figure means.

use super::arrays::{Layout, Loop};
use super::row::{Feature, Row};
use super::trial::{Paces, paces, quickest};
use crate::metal::{
    Member, Memory, PageSize, Unready, available, core_hertz, huge_enough, pin, room_for,
};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use std::thread;

/// How a load is made: the clock of its cores, where it is known and the same of all.
pub const CORE_CLOCK: &str = "core_clock";

/// Clocks of which the fastest is at most this times the slowest are the same.
const ALIKE: f64 = 1.02;

/// A loop for each of these CPUs, over arrays that are at most so many bytes together, and how it
/// is made: its name, true bytes, offsets, pages that were granted, the clock of the cores if they
/// share one. Of several loops that do the same the one that all threads together are quickest
/// with, by trial.
///
/// # Errors
/// What this CPU lacks, arrays too small, memory or huge pages that were not given.
pub fn spread(
    rows: &[&'static Row],
    bytes: u64,
    cpus: &[u32],
    pages: PageSize,
    seed: u64,
) -> Result<(Vec<Member>, Settings), Unready> {
    if let Some(feature) = rows.iter().find_map(|row| row.missing()) {
        return Err(lacks(feature));
    }
    let rows = laid(rows, bytes)?;
    let longest = rows.iter().map(|(_, layout)| layout.end()).max().unwrap_or(0);
    room_for(&[(longest, cpus.len())], available())?;
    let on = |cpu: u32| Place::on(cpu, longest, pages);
    let mut places = side_by_side(cpus.to_vec(), &on)?;
    if rows.len() > 1 {
        places = side_by_side(places, &|place: Place| place.tried(&rows))?;
    }
    let at = quickest(places.iter().map(|place| &place.paces));
    let none = || Unready::Failed("no loop was asked for".into());
    let (row, layout) = rows.into_iter().nth(at).ok_or_else(none)?;
    let made_with = made_with(row, &layout, &places);
    let member = |place: Place| place.member(row, layout.clone(), seed);
    Ok((places.into_iter().map(member).collect(), made_with))
}

/// Each loop with its arrays, which are of one length.
fn laid(rows: &[&'static Row], bytes: u64) -> Result<Vec<(&'static Row, Layout)>, Unready> {
    // Granules are powers of two, so the largest is a multiple of all.
    let granule = rows.iter().map(|row| row.granule).max().unwrap_or(1);
    let layout = |row: &&'static Row| Ok((*row, Layout::by(granule, row, bytes)?));
    rows.iter().map(layout).collect::<Result<_, String>>().map_err(Unready::NotAvailable)
}

/// A loop that this CPU cannot run.
fn lacks(feature: Feature) -> Unready {
    let what = feature.word();
    Unready::NotAvailable(format!("this CPU has no {what}; take another isa, or best"))
}

fn made_with(row: &Row, layout: &Layout, places: &[Place]) -> Settings {
    let bytes = |bytes: usize| Value::Quantity(Quantity::bytes(bytes as u64));
    let word = |word: &str| Value::Word(word.to_owned());
    let arrays = usize::try_from(row.operation.arrays()).unwrap_or(1);
    let mut made = Settings::from([
        ("array_offset".into(), bytes(layout.offset)),
        ("bytes".into(), bytes(layout.bytes * arrays)),
        ("isa".into(), word(row.isa.word())),
        ("loop".into(), word(row.name)),
        ("threads".into(), Value::Count(places.len() as u64)),
    ]);
    if let Some(share) = places.iter().map(|place| place.granted).reduce(least).flatten() {
        made.insert("huge_pages".into(), Value::Quantity(Quantity::new(share, Unit::Share)));
    }
    if let Some(hertz) = one_clock(places.iter().map(|place| place.hertz)) {
        // To 10 MHz: it is measured anew for every trial.
        let hertz = (hertz / 1e7).round() * 1e7;
        made.insert(CORE_CLOCK.into(), Value::Quantity(Quantity::new(hertz, Unit::Hertz)));
    }
    made
}

/// The clock of all threads, the slowest of them; none where one is not known, and where they
/// differ by more than 2 %: of unlike cores there is no clock that a figure could be divided by.
fn one_clock(hertz: impl Iterator<Item = Option<f64>> + Clone) -> Option<f64> {
    let slowest = hertz.clone().reduce(least).flatten()?;
    let fastest = hertz.flatten().fold(slowest, f64::max);
    (fastest <= slowest * ALIKE).then_some(slowest)
}

/// The smaller of two; none where one is not known.
fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a?.min(b?))
}

/// Makes a place of each of these, all at once, a thread each.
fn side_by_side<T: Send>(
    of: Vec<T>,
    make: &(impl Fn(T) -> Result<Place, Unready> + Sync),
) -> Result<Vec<Place>, Unready> {
    thread::scope(|scope| {
        let start = |one: T| {
            let thread = thread::Builder::new().name("place".into());
            let started = thread.spawn_scoped(scope, move || make(one));
            started.map_err(|e| Unready::Failed(format!("no thread can be started: {e}")))
        };
        let threads = of.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let gone = || Unready::Failed("a thread that maps memory ended".into());
        threads.into_iter().map(|one| one.join().map_err(|_| gone())?).collect()
    })
}

/// Memory of one thread, touched on its CPU.
#[derive(Debug)]
struct Place {
    cpu: u32,
    memory: Memory,
    /// Share of it in huge pages, 0-1; none where the kernel does not tell.
    granted: Option<f64>,
    /// Clocks a second of the core after memory was mapped; none where they cannot be told.
    hertz: Option<f64>,
    /// Bytes a second of each loop that was tried here.
    paces: Paces,
}

impl Place {
    fn on(cpu: u32, bytes: usize, pages: PageSize) -> Result<Self, Unready> {
        pin(cpu)?;
        let memory = Memory::map(bytes, pages)?;
        let granted = memory.granted();
        if pages == PageSize::Huge {
            huge_enough(granted)?;
        }
        Ok(Self { cpu, memory, granted, hertz: core_hertz(), paces: Paces::new() })
    }

    /// With these loops tried on it.
    fn tried(self, rows: &[(&'static Row, Layout)]) -> Result<Self, Unready> {
        pin(self.cpu)?;
        let (paces, memory) = paces(rows, self.memory)?;
        Ok(Self { paces, memory, ..self })
    }

    /// The thread that goes over arrays in this memory.
    fn member(self, row: &'static Row, layout: Layout, seed: u64) -> Member {
        let Self { cpu, memory, .. } = self;
        let make = move || -> crate::metal::Made {
            let made = Loop::new(row, layout, (memory, seed)).map_err(Unready::Failed)?;
            Ok(Box::new(made))
        };
        Member { cpu: Some(cpu), make: Box::new(make) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::Cpus;
    use crate::metal::kernel::{Isa, Operation, Store, Walk, find};
    use std::path::Path;

    #[test]
    fn unlike_cores_have_no_clock_in_common() {
        let clock = |hertz: &[Option<f64>]| one_clock(hertz.iter().copied());
        assert_eq!(clock(&[Some(3e9)]), Some(3e9));
        assert_eq!(clock(&[Some(3.05e9), Some(3e9)]), Some(3e9));
        assert_eq!(clock(&[Some(5e9), Some(3.6e9), Some(5e9)]), None);
        assert_eq!((clock(&[Some(3e9), None]), clock(&[])), (None, None));
    }

    #[test]
    fn an_instruction_set_that_is_not_here_has_a_way_out() {
        let why = lacks(Feature::Avx512f).to_string();
        assert_eq!(why, "this CPU has no AVX-512F; take another isa, or best");
    }

    #[test]
    fn more_memory_than_there_is_is_refused() {
        let row = find(Operation::Triad, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
        let why = spread(&[row], 1 << 60, &[0], PageSize::Base, 1).err();
        assert!(matches!(why, Some(Unready::NotAvailable(why)) if why.contains("1 thread wants")));
    }

    #[test]
    fn of_two_loops_one_runs_and_is_named() {
        let of = |isa| find(Operation::Copy, isa, Store::Temporal, Walk::Straight).unwrap();
        let both = [of(Isa::Scalar), of(Isa::Compiler)];
        let cpu = Cpus::read(Path::new("/")).order()[0];
        let (members, made) = spread(&both, 200_000, &[cpu], PageSize::Base, 1).unwrap();
        let name = made["loop"].word().unwrap();
        assert!(members.len() == 1 && both.iter().any(|row| row.name == name), "{name}");
        assert!(spread(&[], 200_000, &[cpu], PageSize::Base, 1).is_err());
    }

    #[test]
    fn memory_is_mapped_on_each_cpu() {
        let cpus = Cpus::read(Path::new("/")).order();
        let on = |cpu: u32| Place::on(cpu, 1 << 20, PageSize::Base);
        let places = side_by_side(cpus.clone(), &on).unwrap();
        assert_eq!(places.iter().map(|place| place.cpu).collect::<Vec<_>>(), cpus);
        assert!(side_by_side(vec![1023], &on).is_err());
    }

    #[test]
    fn what_was_really_made_is_told() {
        let row = find(Operation::Triad, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
        let cpu = Cpus::read(Path::new("/")).order()[0];
        let (members, made) = spread(&[row], 100_000, &[cpu], PageSize::Base, 1).unwrap();
        assert_eq!((members.len(), members[0].cpu), (1, Some(cpu)));
        // 33,333 B less what is no whole granule of 64 B, three times.
        assert_eq!(made["bytes"], Value::Quantity(Quantity::bytes(3 * 33_280)));
        assert_eq!(made["loop"], Value::Word("triad_scalar".into()));
        assert_eq!(made["array_offset"], Value::Quantity(Quantity::bytes(1024)));
        assert_eq!(made["huge_pages"], Value::Quantity(Quantity::new(0.0, Unit::Share)));
        let few = spread(&[row], 100, &[cpu], PageSize::Base, 1).err();
        assert!(matches!(few, Some(Unready::NotAvailable(why)) if why.contains("100 B")));
    }
}
