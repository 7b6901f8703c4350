//! Every loop against the reference: short arrays, crooked lengths, many passes, nothing beside.

use super::door::ALIGNMENT;
use super::reference::{self, fill, result, scalar};
use super::{Arrays, Feature, Isa, Operation, Refused, Row, Store, Walk, find, rows};
use std::collections::BTreeSet;

/// Bytes around an array that no loop may touch.
const FENCE: usize = 128;
const UNTOUCHED: u8 = 0xa5;
const SEEDS: [u64; 2] = [11, 12];

/// Memory for one array, aligned to a page less `before`, with a fence on both sides.
struct Room {
    memory: Vec<u8>,
    begin: usize,
    bytes: usize,
}

impl Room {
    fn new(bytes: usize, before: usize) -> Self {
        let memory = vec![UNTOUCHED; bytes + 2 * FENCE + 8192];
        let page = memory.as_ptr().addr().next_multiple_of(4096) - memory.as_ptr().addr();
        Self { memory, begin: page + 4096 - before, bytes }
    }

    fn array(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..][..self.bytes]
    }

    fn is_fenced(&self) -> bool {
        let end = self.begin + self.bytes;
        let beside = self.memory[..self.begin].iter().chain(&self.memory[end..]);
        beside.copied().all(|byte| byte == UNTOUCHED)
    }
}

/// Runs a loop over arrays of `bytes` and holds what it left against the reference.
fn check(row: &Row, bytes: usize, passes: u64) {
    let reads = row.operation == Operation::Read;
    let mut to = Room::new(if reads { row.kept() } else { bytes }, 64);
    let one_bytes = if row.operation == Operation::Write { 0 } else { bytes };
    let (mut one, mut two) = (Room::new(one_bytes, 128), Room::new(row.second(bytes), 192));
    fill(one.array(), SEEDS[0]);
    if row.operation.loads() == 2 {
        fill(two.array(), SEEDS[1]);
    }
    let before = one.array().to_vec();
    let mut arrays = Arrays { to: to.array(), one: one.array(), two: two.array() };
    row.run(&mut arrays, passes, scalar(row.operation)).unwrap();
    let looked = row.verify(arrays.to, 0..bytes, SEEDS, 1).unwrap();
    assert!(looked as usize >= arrays.to.len() / 8, "{}: {looked}", row.name);
    assert!(to.is_fenced() && one.is_fenced() && two.is_fenced(), "{} at {bytes}", row.name);
    assert_eq!(one.array(), before, "{} wrote into what it reads", row.name);
}

#[test]
fn every_loop_does_what_the_reference_does() {
    let mut looked = 0;
    for row in rows().filter(|row| row.missing().is_none()) {
        let granules = [1, 2, 3, 5, 7];
        let lengths = granules.map(|n| n * row.granule);
        // Beyond a page, and beyond eight of them with something left over.
        let longer = [4096 + 64, 3 * 32768 + 5 * 64].map(|n| n - n % row.granule);
        for bytes in lengths.into_iter().chain(longer).filter(|bytes| *bytes > 0) {
            check(row, bytes, 1);
            check(row, bytes, 3);
        }
        looked += 1;
    }
    assert!(looked >= 12, "{looked} loops");
}

#[test]
fn a_wrong_result_is_found() {
    let row = find(Operation::Triad, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
    let mut to = Room::new(256, 0);
    for (at, place) in (0..).zip(to.array().chunks_exact_mut(8)) {
        place.copy_from_slice(&result(Operation::Triad, SEEDS, at).to_ne_bytes());
    }
    assert_eq!(row.verify(to.array(), 0..256, SEEDS, 1), Ok(33));
    to.array()[255] ^= 1;
    let wrong = row.verify(to.array(), 0..256, SEEDS, 5).unwrap_err();
    assert!(wrong.contains("word 31 of 32"), "{wrong}");
    // A read that stopped early holds other words.
    let row = find(Operation::Read, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
    let mut kept = vec![0; row.kept()];
    fill(&mut kept, SEEDS[0]);
    assert_eq!(row.verify(&kept, 0..row.kept(), SEEDS, 1), Ok(kept.len() as u64 / 8 + 1));
    assert!(row.verify(&kept, 0..2 * row.kept(), SEEDS, 1).is_err());
}

#[test]
fn sums_and_products_are_exact() {
    for at in 0..4096 {
        let [one, two] = SEEDS.map(|seed| reference::word(seed, at));
        assert_eq!(one.fract(), 0.0);
        assert!((0.0..f64::from(1 << 20)).contains(&one), "{one}");
        assert_eq!(reference::FACTOR.mul_add(two, one), result(Operation::Triad, SEEDS, at));
    }
    let values: BTreeSet<u64> = (0..4096).map(|at| reference::word(1, at).to_bits()).collect();
    assert!(values.len() > 4000, "{} of 4096 words differ", values.len());
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_touched() {
    let row = find(Operation::Copy, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
    let (mut to, mut one) = (Room::new(1024, 0), Room::new(1024, 0));
    let mut run = |to_at: usize, to_bytes: usize, one_bytes: usize, two: usize| {
        let mut second = vec![0; two];
        let mut arrays = Arrays {
            to: &mut to.array()[to_at..][..to_bytes],
            one: &one.array()[..one_bytes],
            two: &mut second,
        };
        row.run(&mut arrays, 1, 0.0)
    };
    let granule = |got| Err(Refused::Granule { row: "copy_scalar", got, granule: 64 });
    let length = |got, wanted| Err(Refused::Length { row: "copy_scalar", got, wanted });
    assert_eq!(run(0, 0, 0, 0), granule(0));
    assert_eq!(run(0, 100, 100, 0), granule(100));
    assert_eq!(run(0, 512, 256, 0), length(256, 512));
    assert_eq!(run(0, 512, 512, 64), length(64, 0));
    assert_eq!(run(8, 512, 512, 0), Err(Refused::Alignment(8)));
    assert!(to.memory.iter().all(|byte| *byte == UNTOUCHED));
    assert_eq!(ALIGNMENT % 64, 0);
    let told = Refused::Missing(Feature::Avx512f).to_string();
    assert_eq!(told, "this CPU has no AVX-512F; take a narrower instruction set");
}

#[test]
fn no_pass_at_all_touches_nothing() {
    for row in rows().filter(|row| row.operation == Operation::Copy && row.missing().is_none()) {
        let bytes = row.granule.max(64);
        let (mut to, mut one) = (Room::new(bytes, 0), Room::new(bytes, 0));
        let mut two = Room::new(row.second(bytes), 0);
        let mut arrays = Arrays { to: to.array(), one: one.array(), two: two.array() };
        assert_eq!(row.run(&mut arrays, 0, 0.0), Ok(()));
        assert!(to.memory.iter().all(|byte| *byte == UNTOUCHED), "{}", row.name);
    }
}

#[test]
fn what_makes_upper_halves_dirty_ends_with_vzeroupper() {
    let last = |row: &Row| row.text().lines().map(str::trim).rfind(|l| !l.is_empty()).unwrap_or("");
    let wide = |row: &&Row| row.text().contains("ymm") || row.text().contains("zmm");
    let mut looked = 0;
    for row in rows().filter(wide) {
        assert_eq!(last(row), "vzeroupper", "{}", row.name);
        assert!(!row.needs.is_empty(), "{} asks for nothing", row.name);
        looked += 1;
    }
    assert_eq!(looked > 20, cfg!(target_arch = "x86_64"), "{looked} loops");
}

#[test]
fn stores_past_the_caches_are_fenced() {
    let mut looked = 0;
    for row in rows().filter(|row| !row.text().is_empty()) {
        let past = ["movnt", "stnp"].iter().any(|word| row.text().contains(word));
        assert_eq!(past, row.store == Store::NonTemporal, "{}", row.name);
        let fence = ["sfence", "dmb"].iter().any(|word| row.text().contains(word));
        assert_eq!(past, fence, "{}", row.name);
        looked += usize::from(past);
    }
    assert!(looked >= 5, "{looked} loops");
}

#[test]
fn names_and_keys_tell_rows_apart() {
    let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
    assert_eq!(names.len(), rows().count());
    for row in rows() {
        let found = find(row.operation, row.isa, row.store, row.walk).unwrap();
        assert_eq!(found.name, row.name);
        let begins = format!("{}_{}", row.operation.word(), row.isa.word());
        assert!(row.name.starts_with(&begins), "{}", row.name);
    }
}

#[test]
fn bytes_are_counted_as_stream_counts_them() {
    let triad = |store| find(Operation::Triad, Isa::Scalar, store, Walk::Straight);
    let (through, past) = (triad(Store::Temporal), triad(Store::NonTemporal));
    assert_eq!(through.map(|row| (row.counted(8), row.bus(8))), Some((24, 32)));
    if let Some(row) = past {
        assert_eq!((row.counted(8), row.bus(8)), (24, 24));
    }
    let read = find(Operation::Read, Isa::Scalar, Store::Temporal, Walk::Straight).unwrap();
    assert_eq!((read.counted(8), read.bus(8)), (8, 8));
}
