//! Damage that another descriptor writes into the file is named, whoever reads it; files without
//! names; the floor of free space.

use super::blocks::{Blocks, Kind, Op};
use super::content::{Content, SECTOR};
use super::device::begin;
use super::job::{Book, Engine, Job, Target, locked};
use super::ring::Ring;
use super::setup::{Setup, unregistered};
use super::slots::Slots;
use super::steps::{Plan, Step, Writing, block_of};
use super::target::{WORDS, fill, trims};
use super::turns::Turns;
use super::versions::{TRIMMED, Versions};
use crate::engine::access::Access;
use crate::engine::file::{Space, Wanted, make, named, room, whole};
use crate::engine::pace::{Arrivals, Pace};
use crate::engine::ring::Completions;
use rig::lab::clock;
use rig::metal::{Hot as _, Span, Unready};
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const BLOCK: usize = 4096;
const BLOCKS: usize = 16;
const SEED: u64 = 3;

/// Through the page cache, so that a test needs no `O_DIRECT`.
fn wanted() -> Wanted {
    let bytes = (BLOCKS * BLOCK) as u64;
    let directory = PathBuf::from("/var/tmp");
    Wanted { directory, bytes, begin: 0, block: BLOCK, direct: false, words: WORDS }
}

/// The same file by another descriptor.
fn other(file: &File) -> File {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    File::options().read(true).write(true).open(path).unwrap()
}

/// A full file; none, aloud, where the disk is too full.
fn target(block: usize, most: usize) -> Option<Target> {
    let (content, wanted) = (Content::new(SEED), Wanted { block, ..wanted() });
    let file = match make(&wanted) {
        Ok(file) => Arc::new(file),
        Err(why) => {
            println!("skipped: {why:?}");
            return None;
        }
    };
    fill(&file, &wanted, content).unwrap();
    let versions = Arc::new(Versions::new(BLOCKS * BLOCK / block).unwrap());
    Some(Target { file, begin: 0, block, most, content, versions })
}

/// A loop over such a file; none where the kernel refuses the engine.
fn loop_of(target: &Target, plan: Plan, engine: (bool, usize)) -> Option<Job> {
    paced(target, plan, engine, None)
}

/// The same, as an open loop where a pace is set.
fn paced(
    target: &Target,
    plan: Plan,
    (ring, depth): (bool, usize),
    pace: Option<Pace>,
) -> Option<Job> {
    let count = BLOCKS * BLOCK / target.block;
    let blocks = Blocks::new((0, count), &target.versions, plan, SEED).unwrap();
    let book = Arc::new(Mutex::new(Book::new(blocks, pace).unwrap()));
    let turns = pace.map(|pace| Arc::new(Mutex::new(Turns::new(pace))));
    let setup = (depth, Setup::default());
    let engine = match ring {
        true => Engine::Ring(Box::new(Ring::new(target, &book, setup, turns.clone()).ok()?)),
        false => Engine::Slots(Slots::start(target, &book, depth, turns.clone()).unwrap()),
    };
    Some(Job { target: target.clone(), book, engine, turns, unsent: 0 })
}

/// A loop over a full file of blocks in order.
fn job(ring: bool, reads: u64, depth: usize) -> Option<Job> {
    loop_of(&target(BLOCK, 1)?, Plan::one(reads, 0, 0), (ring, depth))
}

/// What is written over block 5, which is of version 6 then, and the word for it.
fn damages() -> [(&'static str, Vec<u8>); 7] {
    let block = |seed: u64, sector: u64, version: u32| {
        let mut bytes = vec![0; BLOCK];
        Content::new(seed).fill(&mut bytes, sector, version);
        bytes
    };
    let (good, old) = (block(SEED, 40, 6), block(SEED, 40, 0));
    let mut flipped = good.clone();
    flipped[1000] ^= 4;
    [
        ("flipped: 1 bits of sector 41", flipped),
        ("misdirected: sector 40 holds what belongs to sector 48", block(SEED, 48, 6)),
        ("stale: sector 40 holds version 0, and version 6 was written", old.clone()),
        ("stale: sector 40 holds content of another trial", block(SEED + 1, 40, 6)),
        ("torn: sector 42 holds version 0", [&good[..2 * SECTOR], &old[2 * SECTOR..]].concat()),
        ("lost: sector 40", vec![0; BLOCK]),
        ("lost: sector 43", [&good[..3 * SECTOR], &[0; SECTOR], &good[4 * SECTOR..]].concat()),
    ]
}

#[test]
fn every_damage_is_named_by_both_engines_while_they_run() {
    for ring in [true, false] {
        for (says, bytes) in damages() {
            for depth in [1, 4] {
                // Each block once, in order.
                let Some(mut job) = job(ring, 0, 1) else { continue };
                job.pass(BLOCKS as u64);
                assert_eq!(job.verify(), Ok(BLOCKS as u64));
                other(&job.target.file).write_all_at(&bytes, 5 * BLOCK as u64).unwrap();
                let mut reader = reading(&job, ring, depth);
                reader.pass(2 * BLOCKS as u64);
                let why = reader.verify().unwrap_err();
                assert!(
                    why.contains(says) && why.starts_with("block 5: "),
                    "{ring} {depth}: {why}"
                );
                assert_eq!(reader.pass(1), 0, "no work after it");
                // And the writer's own look at the end finds it, too.
                let why = job.verify().unwrap_err();
                assert!(why.contains(says), "{why}");
            }
        }
    }
}

/// A loop that reads what another has written.
fn reading(writer: &Job, ring: bool, depth: usize) -> Job {
    loop_of(&writer.target, Plan::one(100, 0, 0), (ring, depth)).unwrap()
}

#[test]
fn sizes_mix_and_each_sector_is_compared_with_the_write_that_it_is_of() {
    // Sizes of 512 B to 4 KiB at any sector: most reads find sectors of several writes.
    let step = |blocks, random| Step { share: 25, blocks, align: 1, reads: 30, random };
    let steps = Arc::new([step(1, 100), step(2, 100), step(8, 100), step(3, 0)]);
    let plan = Plan { steps, sync_every: 0, writing: Writing::Over };
    for ring in [true, false] {
        let Some(target) = target(SECTOR, 8) else { continue };
        let Some(mut writer) = loop_of(&target, plan.clone(), (ring, 4)) else { continue };
        // A pass ends early on a slow machine.
        while locked(&writer.book).done() < 4000 {
            writer.pass(500);
        }
        assert!(writer.verify().unwrap() > 1000);
        let (kind, version, sync, empties) = (Kind::Read, 0, false, false);
        let all = |blocks: usize| Op { block: 0, blocks, kind, version, sync, empties };
        let mut bytes = vec![0; BLOCKS * BLOCK];
        other(&target.file).read_exact_at(&mut bytes, 0).unwrap();
        let whole = all(bytes.len() / SECTOR);
        assert_eq!(target.verify(whole, &bytes), Ok(()));
        let kinds: std::collections::BTreeSet<u32> =
            whole.all().map(|block| target.versions.of(block)).collect();
        assert!(kinds.len() > 20, "{} writes are in the file", kinds.len());
        // Each sector in turn holds another version, and is named.
        for sector in 0..whole.blocks {
            let mut read = bytes.clone();
            let place = &mut read[sector * SECTOR..][..SECTOR];
            let was = target.versions.of(sector as u64);
            target.content.fill(place, sector as u64, was.wrapping_add(1));
            let why = target.verify(whole, &read).unwrap_err();
            let says = format!("sector {sector} holds version {}", was + 1);
            assert!(why.contains(&says), "{why}");
        }
    }
}

#[test]
fn a_write_that_was_lost_is_stale_to_a_pattern_that_reads_over_it() {
    let plan = |reads: u64| {
        let access = Access::preset("database").unwrap();
        let mut plan = Plan::of(&access, block_of(&access), (0, Writing::Over));
        plan.steps = plan.steps.iter().map(|step| Step { reads, ..*step }).collect();
        plan
    };
    for ring in [true, false] {
        let Some(target) = target(SECTOR, 16) else { continue };
        let Some(mut writer) = loop_of(&target, plan(0), (ring, 1)) else { continue };
        let before = {
            let mut bytes = vec![0; BLOCKS * BLOCK];
            other(&target.file).read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        writer.pass(1);
        writer.verify().unwrap();
        // The disk forgets the first write.
        other(&target.file).write_all_at(&before, 0).unwrap();
        let mut reader = loop_of(&target, plan(100), (ring, 2)).unwrap();
        while locked(&reader.book).done() < 2000 && !locked(&reader.book).is_broken() {
            reader.pass(50);
        }
        let why = reader.verify().unwrap_err();
        assert!(why.contains("stale: ") && why.contains("holds version 0, and version"), "{why}");
    }
}

#[test]
fn a_spoilt_block_is_refused() {
    for (ring, reads) in [(true, 100), (false, 100), (true, 0), (false, 0)] {
        let Some(mut job) = job(ring, reads, 2) else { continue };
        job.pass(20);
        assert!(job.verify().is_ok());
        job.spoil();
        assert!(job.verify().unwrap_err().contains("flipped: 1 bits"));
    }
}

#[test]
fn a_file_that_became_shorter_is_an_error_of_the_operation() {
    for ring in [true, false] {
        let Some(mut job) = job(ring, 100, 4) else { continue };
        job.target.file.set_len((8 * BLOCK) as u64).unwrap();
        job.pass(2 * BLOCKS as u64);
        let why = job.verify().unwrap_err();
        assert!(why.contains("a read of block ") && why.contains("failed"), "{why}");
    }
}

#[test]
fn only_times_within_the_window_count() {
    for ring in [true, false] {
        let Some(mut job) = job(ring, 50, 4) else { continue };
        job.pass(50);
        assert!(job.distributions().is_empty(), "no window yet");
        job.opens(Span { opens_ns: 0, closes_ns: u64::MAX - 1 });
        let work = job.pass(500);
        let timed = job.distributions().remove(0);
        // What began before it, or ended unseen between two passes, is not timed.
        assert!(work >= 500 && timed.count >= 490, "{work} {}", timed.count);
        job.verify().unwrap();
        job.opens(Span { opens_ns: 0, closes_ns: 0 });
        // So long a sample may take that begins too late.
        std::thread::sleep(std::time::Duration::from_millis(80));
        job.pass(50);
        assert!(job.distributions().is_empty(), "it is closed");
        job.verify().unwrap();
        assert!(locked(&job.book).done() >= 600);
    }
}

#[test]
fn in_an_open_loop_what_is_due_is_begun_then_or_counted_as_unsent() {
    const SPAN_NS: u64 = 300_000_000;
    let reads = || Plan::one(100, 100, 0);
    let pace = |rate| Pace { arrivals: Arrivals::Constant, rate, offset: 0.0, seed: SEED };
    for (ring, depth) in [(true, 1), (false, 1), (true, 4), (false, 4)] {
        // Far below what a page cache does, and far above.
        for (rate, carried) in [(500.0, true), (1e7, false)] {
            let Some(target) = target(BLOCK, 1) else { continue };
            let Some(mut job) = paced(&target, reads(), (ring, depth), Some(pace(rate))) else {
                continue;
            };
            job.pass(1);
            let opens_ns = clock::now_ns();
            let window = Span { opens_ns, closes_ns: opens_ns + SPAN_NS };
            job.opens(window);
            while clock::now_ns() + SPAN_NS / 2 < window.closes_ns {
                job.pass(50);
            }
            // What is due until the window closes is begun.
            job.verify().unwrap();
            let told = job.paced().unwrap();
            let count = |name: &str| {
                let all = job.book().distributions();
                all.into_iter().find(|one| one.name == name).unwrap().count
            };
            let due = (rate * 0.3) as u64;
            // A pass that the machine holds up may leave one that was due at the end.
            let right = if carried { told.unsent * 100 <= due } else { told.unsent * 2 > due };
            assert!(right, "{ring} {depth} {rate}: {told:?}");
            assert!((told.due + told.unsent).abs_diff(due) <= due / 100, "{due} {told:?}");
            // Between two passes operations end unseen.
            assert!(count("response") * 10 >= told.due * 9, "{told:?}");
            assert_eq!(count("response"), count("lateness"));
        }
    }
}

#[test]
fn what_was_trimmed_is_zeros_and_anything_else_there_is_named() {
    for ring in [true, false] {
        let Some(target) = target(BLOCK, 1) else { continue };
        if let Err(why) = trims(&target.file, (0, BLOCK as u64)) {
            println!("skipped: {why}");
            continue;
        }
        fill(&target.file, &wanted(), target.content).unwrap();
        let plan = Plan { writing: Writing::Trims, ..Plan::one(0, 0, 0) };
        let Some(mut job) = loop_of(&target, plan, (ring, 1)) else { continue };
        let trimmed = || (0..BLOCKS as u64).filter(|at| target.versions.of(*at) == TRIMMED).count();
        job.pass(BLOCKS as u64);
        assert_eq!((job.verify(), trimmed()), (Ok(BLOCKS as u64), BLOCKS));
        let mut reader = reading(&job, ring, 4);
        reader.pass(2 * BLOCKS as u64);
        assert!(reader.verify().is_ok());
        other(&target.file).write_all_at(&[1], 7 * BLOCK as u64 + 9).unwrap();
        reader.pass(2 * BLOCKS as u64);
        let why = reader.verify().unwrap_err();
        assert_eq!(why, "block 7: stale: it was trimmed, and holds other than zeros");
        // What was trimmed is written again.
        job.pass(BLOCKS as u64);
        assert_eq!((job.verify(), trimmed()), (Ok(BLOCKS as u64), 0));
        job.opens(Span { opens_ns: 0, closes_ns: u64::MAX - 1 });
        job.pass(2 * BLOCKS as u64);
        let names = |name: &str| job.book().distributions().iter().any(|one| one.name == name);
        assert!(names("trim") && names("write") && !names("read"));
    }
}

#[test]
fn a_file_that_grows_begins_empty_and_is_emptied_at_its_greatest_length() {
    for ring in [true, false] {
        let Some(target) = target(BLOCK, 1) else { continue };
        let plan = Plan { writing: Writing::Appends, ..Plan::one(0, 0, 0) };
        let Some(mut job) = loop_of(&target, plan, (ring, 1)) else { continue };
        let blocks = || target.file.metadata().unwrap().len() / BLOCK as u64;
        for (more, then) in [(1, 1), (4, 5), (BLOCKS as u64 - 5, BLOCKS as u64), (3, 3)] {
            job.pass(more);
            assert_eq!((job.verify(), blocks()), (Ok(then), then));
        }
        job.spoil();
        assert!(job.verify().unwrap_err().contains("flipped: 1 bits"));
    }
}

#[test]
fn a_tenth_of_the_file_system_or_4_gib_stay_free() {
    let wanted = |bytes| Wanted { bytes, ..wanted() };
    let space = Space { free: 300, all: 1000 };
    assert_eq!(room(space, &wanted(200)), Ok(()));
    let why = room(space, &wanted(201)).unwrap_err();
    let says = "file_size = 201 B: of 1000 B in /var/tmp 300 B are free, and 100 B stay so; \
                take at most 200 B, free space, or name another directory";
    assert_eq!(why, Unready::NotAvailable(says.into()));
    assert!(room(Space { free: 50, all: 1000 }, &wanted(1)).is_err());
    let large = Space { free: 5 << 30, all: 1 << 40 };
    assert_eq!(room(large, &wanted(1 << 30)), Ok(()));
    assert!(room(large, &wanted((1 << 30) + 1)).is_err());
    assert_eq!(whole(8192, 4096, WORDS), Ok(()));
    assert!(whole(512, 4096, WORDS).unwrap_err().to_string().contains("block_size = 512 B"));
}

#[test]
fn a_file_has_no_name_where_the_file_system_has_no_such_files() {
    let place = format!("/var/tmp/stend-test-named-{}", std::process::id());
    std::fs::create_dir(&place).unwrap();
    let directory = open(&*place, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let file = File::from(named(&directory, false).unwrap());
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    file.write_all_at(b"there", 0).unwrap();
    std::fs::remove_dir(place).unwrap();
}

#[test]
fn a_kernel_without_io_uring_is_told_with_the_remedy() {
    let of = |completions, number| {
        let why = std::io::Error::from_raw_os_error(number);
        Setup { completions, ..Setup::default() }.refused(&why).to_string()
    };
    for (completions, number, says, remedy) in [
        (Completions::Cooperative, libc::EPERM, "refuses io_uring", "take engine = \"pread\""),
        (Completions::Deferred, libc::EINVAL, "from 6.1 on", "take task_run = \"cooperative\""),
        (
            Completions::Polled,
            libc::EPERM,
            "\"on\": the kernel",
            "take polled_submission = \"off\"",
        ),
        (Completions::Polled, libc::ENOSYS, "refuses io_uring", "take engine = \"pread\""),
    ] {
        let why = of(completions, number);
        assert!(why.contains(says) && why.contains(remedy), "{why}");
    }
    let why = unregistered(8192, &std::io::Error::from_raw_os_error(libc::ENOMEM)).to_string();
    assert!(why.contains("lock 8192 B") && why.contains("registered_buffers = \"auto\""), "{why}");
}

#[test]
fn a_part_of_a_disk_begins_at_whole_blocks_and_mebibytes() {
    let (left, mib) = (100 << 20, 1 << 20);
    assert_eq!([0, 50, 100].map(|percent| begin(left, 4096, percent)), [0, 50 * mib, 100 * mib]);
    assert_eq!(begin(mib + 5, 4096, 99), 0);
    assert_eq!(begin(left, 3 * 512, 50) % (3 * 512), 0);
    assert_eq!(begin(left, 4 * mib, 99), 96 * mib);
    assert_eq!(begin(u64::MAX, 512, 100), u64::MAX / mib * mib);
}
