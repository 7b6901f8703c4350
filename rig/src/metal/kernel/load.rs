//! A loop on its CPUs: memory of each thread, and how the load is really made.
//!
//! Knows on which CPU memory is touched first, and whether huge pages were granted. Must not know
//! why a loop was chosen, nor what its figure means.

use super::arrays::{Layout, Loop};
use super::row::Row;
use crate::metal::{Member, Memory, PageSize, Unready, available, core_hertz, pin};
use desk::record::{Settings, Value};
use desk::unit::{Quantity, Unit};
use std::thread;

/// Of memory that was asked for in huge pages at least this share must have been granted.
const GRANTED_LEAST: f64 = 0.95;

/// How a load is made: a clock of the cores, where it is known.
pub const CORE_CLOCK: &str = "core_clock";

/// A loop for each of these CPUs, over arrays that are at most so many bytes together, and how it
/// is made: true bytes, offsets, pages that were granted, the clock of the cores.
///
/// # Errors
/// What this CPU lacks, arrays too small, memory or huge pages that were not given.
pub fn spread(
    row: &'static Row,
    bytes: u64,
    cpus: &[u32],
    pages: PageSize,
    seed: u64,
) -> Result<(Vec<Member>, Settings), Unready> {
    if let Some(feature) = row.missing() {
        let what = feature.word();
        return Err(Unready::NotAvailable(format!("this CPU has no {what}")));
    }
    let layout = Layout::of(row, bytes).map_err(Unready::NotAvailable)?;
    room_for(layout.end(), cpus.len(), available())?;
    let places = all(cpus, layout.end(), pages)?;
    let made_with = made_with(row, &layout, &places);
    let member = |place: Place| place.member(row, layout.clone(), seed);
    Ok((places.into_iter().map(member).collect(), made_with))
}

/// Whether so many threads can have so many bytes each, and the machine keeps an eighth.
fn room_for(bytes: usize, threads: usize, available: u64) -> Result<(), Unready> {
    let wanted = (bytes as u64).saturating_mul(threads as u64);
    let most = available - available / 8;
    if wanted > most {
        return Err(Unready::NotAvailable(format!(
            "{threads} threads want {wanted} B of memory, and {most} B can be had; take a smaller \
             size"
        )));
    }
    Ok(())
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
    if let Some(hertz) = places.iter().map(|place| place.hertz).reduce(least).flatten() {
        // To 10 MHz: it is measured anew for every trial.
        let hertz = (hertz / 1e7).round() * 1e7;
        made.insert(CORE_CLOCK.into(), Value::Quantity(Quantity::new(hertz, Unit::Hertz)));
    }
    made
}

/// The smaller of two; none where one is not known.
fn least(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a?.min(b?))
}

/// Maps so many bytes for a thread on each of these CPUs, all at once.
fn all(cpus: &[u32], bytes: usize, pages: PageSize) -> Result<Vec<Place>, Unready> {
    thread::scope(|scope| {
        let start = |cpu: &u32| {
            let cpu = *cpu;
            scope.spawn(move || Place::on(cpu, bytes, pages))
        };
        let threads: Vec<_> = cpus.iter().map(start).collect();
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
}

impl Place {
    fn on(cpu: u32, bytes: usize, pages: PageSize) -> Result<Self, Unready> {
        pin(cpu)?;
        let memory = Memory::map(bytes, pages)?;
        let granted = memory.granted();
        if pages == PageSize::Huge {
            enough(granted)?;
        }
        Ok(Self { cpu, memory, granted, hertz: core_hertz() })
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

/// Whether so many huge pages are what was asked for.
fn enough(granted: Option<f64>) -> Result<(), Unready> {
    match granted {
        None => Err(Unready::NotAvailable(
            "the kernel does not tell whether it grants huge pages; ask for pages = \"own\"".into(),
        )),
        // Declined for all of the memory is the machine's own setting, for a part of it bad luck.
        Some(share) if share <= 0.0 => Err(Unready::NotAvailable(
            "the kernel grants no huge pages of 2 MiB (transparent_hugepage/enabled); ask for \
             pages = \"own\" or \"base\""
                .into(),
        )),
        Some(share) if share < GRANTED_LEAST => Err(Unready::Failed(format!(
            "only {:.0} % of the memory came in huge pages of 2 MiB; free memory is in pieces",
            share * 100.0
        ))),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::Cpus;
    use crate::metal::kernel::{Isa, Operation, Store, Walk, find};
    use std::path::Path;

    #[test]
    fn huge_pages_that_were_not_granted_are_a_fault_by_name() {
        assert!(matches!(enough(None), Err(Unready::NotAvailable(_))));
        assert!(matches!(enough(Some(0.0)), Err(Unready::NotAvailable(_))));
        let some = enough(Some(0.5)).unwrap_err().to_string();
        assert!(some.contains("only 50 %"), "{some}");
        assert_eq!(enough(Some(0.96)), Ok(()));
    }

    #[test]
    fn more_memory_than_there_is_is_refused_before_it_is_touched() {
        assert_eq!(room_for(700, 10, 8000), Ok(()));
        let none = room_for(701, 10, 8000).unwrap_err().to_string();
        assert!(none.starts_with("10 threads want 7010 B of memory, and 7000 B"), "{none}");
    }

    #[test]
    fn memory_is_mapped_on_each_cpu() {
        let cpus = Cpus::read(Path::new("/")).order();
        let places = all(&cpus, 1 << 20, PageSize::Base).unwrap();
        assert_eq!(places.iter().map(|place| place.cpu).collect::<Vec<_>>(), cpus);
        assert!(all(&[1023], 1, PageSize::Base).is_err());
    }

    #[test]
    fn what_was_really_made_is_told() {
        let row = find(Operation::Triad, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
        let cpu = Cpus::read(Path::new("/")).order()[0];
        let (members, made) = spread(row, 100_000, &[cpu], PageSize::Base, 1).unwrap();
        assert_eq!((members.len(), members[0].cpu), (1, Some(cpu)));
        // 33,333 B less what is no whole granule of 64 B, three times.
        assert_eq!(made["bytes"], Value::Quantity(Quantity::bytes(3 * 33_280)));
        assert_eq!(made["loop"], Value::Word("triad_scalar".into()));
        assert_eq!(made["array_offset"], Value::Quantity(Quantity::bytes(1024)));
        assert_eq!(made["huge_pages"], Value::Quantity(Quantity::new(0.0, Unit::Share)));
        let few = spread(row, 100, &[cpu], PageSize::Base, 1).err();
        assert!(matches!(few, Some(Unready::NotAvailable(why)) if why.contains("100 B")));
    }
}
