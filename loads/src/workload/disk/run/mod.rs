//! Knows how a trial's parameters become a file, threads and the queue of each.
//!
//! Must not know what their figures mean.

mod blocks;
mod content;
mod device;
mod job;
mod places;
mod ring;
mod setup;
mod shape;
mod slots;
mod steps;
mod target;
#[cfg(test)]
mod tests;
mod turns;
mod versions;

use super::accesses::{accesses, effects};
use super::spec::{
    COMPRESSIBLE, DISK_PLACE, DUPLICATED, FILLS, HOT_PLACES, HOT_SHARE, LOCALITY, MIX_READS,
    OPERATION, RING, SKEW,
};
use crate::engine::alone::{Order, Ready, SOON, Storing, nominal_threads, threads_of};
use crate::engine::file::{self, file_system, make};
use crate::engine::net::content::mix;
use crate::engine::pace::{ARRIVALS, OFFERED, Pace, offered, told};
use blocks::Blocks;
pub use content::is_ours as is_block_of_ours;
pub use device::overwrites;

use content::Content;
use desk::record::{Settings, Value};
use desk::unit::Quantity;
use job::{Book, Engine, Job, Target};
use places::{Locality, first_of};
use rig::metal::{Cpus, Hot, Made, Member, Unready, available, room_for};
use ring::Ring;
use setup::Setup;
use shape::Shape;
use slots::Slots;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steps::{Plan, Writing, block_of};
use target::{WORDS, fill, trims};
use turns::Turns;
use versions::Versions;

/// Most blocks of a file: the version of each is kept, 5 bytes a block.
const BLOCKS_MOST: u64 = 1 << 26;
/// Most threads of the engine `pread`, of all queues: a kernel has some 16,000 of a process.
const SLOTS_MOST: usize = 4096;
/// The slowest disk that is waited for while the file is filled, bytes a second.
const SLOWEST: f64 = 20e6;

/// Of a plain disk in a simulated lab: time of an operation, s, operations and bytes a second.
const NOMINAL_ACCESS: f64 = 80e-6;
const NOMINAL_RATE: f64 = 2e5;
const NOMINAL_BYTES: f64 = 1.5e9;

/// What was asked for in words that stay as they are.
const ASKED: [&str; 15] = [
    ARRIVALS.name,
    "cache",
    COMPRESSIBLE.name,
    DISK_PLACE.name,
    DUPLICATED.name,
    "engine",
    HOT_PLACES.name,
    HOT_SHARE.name,
    LOCALITY.name,
    MIX_READS.name,
    OFFERED.name,
    OPERATION.name,
    "pattern",
    "queue_depth",
    SKEW.name,
];

/// What a trial asks of this machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The file.
    pub target: file::Wanted,
    /// The disk that is overwritten; none where a file is made.
    pub device: Option<PathBuf>,
    /// CPUs of the threads.
    pub cpus: Vec<u32>,
    /// Blocks of each of them.
    pub blocks: usize,
    /// Operations of each of them that are under way at once.
    pub depth: usize,
    pub plan: Plan,
    /// Where those at random go.
    pub locality: Locality,
    /// What of their content is zeros, and what is there more than once.
    pub shape: Shape,
    /// What they do, in words; none where the parameters say it.
    pub listed: Option<String>,
    /// When they do it, one of each thread; none in a closed loop.
    pub paces: Vec<Pace>,
    /// The ring of each; none where they work by `pread`.
    pub ring: Option<Setup>,
}

impl Wanted {
    /// Reads the parameters for a machine of these CPUs, with so many bytes of memory that can be
    /// had.
    ///
    /// # Errors
    /// More threads than CPUs, more memory than there is, a file too small for so many operations
    /// at once or of too many blocks.
    pub fn read(order: &Order, cpus: &Cpus, available: u64) -> Result<Self, Unready> {
        let cpus = threads_of(order, cpus)?;
        let access = accesses(order)?;
        let block = block_of(&access);
        let writing = Writing::of(order.word(OPERATION.name));
        let plan = Plan::of(&access, block, (order.count("sync_every"), writing));
        let (depth, bytes) = (to_usize(order.count("queue_depth").clamp(1, 256)), size(order));
        let blocks = blocks((bytes, block), &plan, (cpus.len(), depth))?;
        let locality = Locality::read(order);
        refuse_crowded(locality, &plan, (blocks, depth))?;
        let percents = (order.count(COMPRESSIBLE.name), order.count(DUPLICATED.name));
        let shape = Shape::new(percents, (to_usize(block), (blocks * cpus.len()) as u64));
        let kept = to_usize(block).saturating_mul(plan.most()).saturating_mul(depth + 1);
        room_for(&[(kept.saturating_add(5 * blocks), cpus.len())], available)?;
        let (ring, all) = (Setup::read(order)?, depth * cpus.len());
        refuse_appends(order, &plan, all)?;
        if ring.is_none() && all > SLOTS_MOST {
            return Err(Unready::NotAvailable(format!(
                "engine = \"pread\" wants {all} threads, and {SLOTS_MOST} are allowed; take fewer \
                 threads, a smaller queue_depth, or engine = \"uring\""
            )));
        }
        let is_listed = !["random", "sequential"].contains(&order.word("pattern"));
        Ok(Self {
            target: file::Wanted {
                directory: file::directory(order.word("directory")),
                bytes: block * (blocks * cpus.len()) as u64,
                begin: 0,
                block: to_usize(block),
                direct: order.word("cache") != "buffered",
                words: WORDS,
            },
            device: device::of(order),
            blocks,
            depth,
            plan,
            locality,
            shape,
            listed: is_listed.then(|| access.to_string()),
            paces: paces(order, cpus.len()),
            cpus,
            ring,
        })
    }
}

/// Blocks of each of so many threads with so many operations at once in a file of these bytes.
fn blocks(
    (file, block): (u64, u64),
    plan: &Plan,
    (threads, depth): (usize, usize),
) -> Result<usize, Unready> {
    let all = file / block.max(1);
    let grain = plan.grain();
    let each = to_usize(all) / threads.max(1) / grain * grain;
    let least = plan.least().saturating_mul(depth).next_multiple_of(grain);
    let refused = |what: String| Err(Unready::NotAvailable(what));
    if each < least {
        let wanted = (least as u64).saturating_mul(threads as u64).saturating_mul(block);
        let times = plan.least() / plan.most();
        return refused(format!(
            "file_size = {file} B: {threads} threads with queue_depth = {depth} want {times} \
             times the largest block for each operation at once, {wanted} B; \
             take a larger file_size or a smaller queue_depth"
        ));
    }
    if all > BLOCKS_MOST {
        let most = BLOCKS_MOST * block;
        return refused(format!(
            "file_size = {file} B are {all} blocks of {block} B, and {BLOCKS_MOST} can be kept \
             count of; take at most {most} B, or larger blocks"
        ));
    }
    Ok(each)
}

/// Refuses hot places of a thread with so many blocks that leave no room, there or elsewhere, for
/// so many operations at once.
fn refuse_crowded(
    locality: Locality,
    plan: &Plan,
    (blocks, depth): (usize, usize),
) -> Result<(), Unready> {
    let Locality::Hot { places, .. } = locality else { return Ok(()) };
    let (hot, least) = (first_of(blocks, places), plan.least().saturating_mul(depth));
    let (room, which, change) = match (hot, blocks - hot) {
        (hot, _) if hot < least => (hot, "hot", "larger"),
        (_, cold) if cold < least => (cold, "other", "smaller"),
        _ => return Ok(()),
    };
    let name = HOT_PLACES.name;
    Err(Unready::NotAvailable(format!(
        "{name} = {places}: {room} blocks of the part of a thread are {which} places, and \
         queue_depth = {depth} wants {least}; take a {change} {name}, a smaller queue_depth, or a \
         larger file_size"
    )))
}

/// What each thread will do, on a file that is full.
///
/// # Errors
/// What the machine lacks: CPUs, memory, free space, `O_DIRECT`, `io_uring`; what the disk refused.
pub fn ready(order: &Order) -> Result<Ready, Unready> {
    let mut wanted = Wanted::read(order, &Cpus::read(Path::new("/")), available())?;
    let (file, place) = match &wanted.device {
        Some(path) => {
            let disk = device::open(path, &wanted.target, order.count(DISK_PLACE.name))?;
            wanted.target.begin = disk.begin;
            (disk.file, disk.told)
        }
        None => make(&wanted.target).map(|file| (file, Settings::new()))?,
    };
    let file = Arc::new(file);
    let content = Content::new(order.seed).shaped(wanted.shape);
    let versions = Versions::new(wanted.blocks * wanted.cpus.len()).map(Arc::new);
    let target = Target {
        file,
        begin: wanted.target.begin,
        block: wanted.target.block,
        most: wanted.plan.most(),
        content,
        versions: versions.ok_or_else(no_memory)?,
    };
    let mut made_with = made_with(&wanted, &target);
    made_with.extend(place);
    made_with.extend(order.words(&ASKED));
    for (param, ..) in effects(order).iter().filter(|(_, counts, _)| !counts) {
        made_with.remove(param.name);
    }
    made_with.extend([told(!wanted.paces.is_empty())]);
    if wanted.ring.is_some() {
        made_with.extend(order.words(&RING.map(|param| param.name)));
    }
    refuse_sync(&wanted, &target)?;
    let (mut members, mut granted) = (Vec::new(), BTreeSet::new());
    for (at, cpu) in wanted.cpus.iter().enumerate() {
        // A ring is refused before the file is filled, which may take minutes.
        let (member, has) = member(&wanted, (at, *cpu), &target, order.seed)?;
        granted.extend(has);
        members.push(member);
    }
    if !granted.is_empty() {
        let all = granted.into_iter().collect::<Vec<String>>().join("; ");
        made_with.insert("io_uring".into(), Value::Word(all));
    }
    if wanted.plan.writing == Writing::Trims {
        trims(&target.file, (target.begin, target.block as u64))?;
    }
    for fills_left in (0..fills(order)).rev() {
        fill(&target.file, &wanted.target, filling(order.seed, fills_left).shaped(wanted.shape))?;
    }
    Ok(Ready { members, made_with })
}

/// Refuses that anything but one writer in order makes a file longer.
fn refuse_appends(order: &Order, plan: &Plan, at_once: usize) -> Result<(), Unready> {
    let is_disk = device::of(order).is_some();
    let in_order = plan.steps.iter().all(|step| step.random == 0);
    if plan.writing != Writing::Appends || (in_order && at_once == 1 && !is_disk) {
        return Ok(());
    }
    Err(Unready::NotAvailable(
        "operation = \"append\" is one writer of a file; take pattern = \"sequential\", \
         threads = 1, queue_depth = 1 and no whole_disk"
            .into(),
    ))
}

/// Refuses an fsync of a file without a name where that is another one than of other files: btrfs
/// leaves it out, f2fs writes a checkpoint each time.
fn refuse_sync(wanted: &Wanted, target: &Target) -> Result<(), Unready> {
    let (every, system) = (wanted.plan.sync_every, file_system(target.file.as_ref()));
    if every == 0 || !["btrfs", "f2fs"].contains(&system.as_str()) {
        return Ok(());
    }
    Err(Unready::NotAvailable(format!(
        "sync_every = {every}: {system} syncs a file without a name otherwise than others; take 0, \
         or a directory of another file system"
    )))
}

/// Longest time to fill the file, and for all else that is made ready.
pub fn staging(order: &Order) -> Duration {
    SOON + Duration::from_secs_f64((filled(order) / SLOWEST).max(0.0))
}

/// How often the file is filled. A file that is made longer begins empty.
fn fills(order: &Order) -> u64 {
    match Writing::of(order.word(OPERATION.name)) {
        Writing::Appends => 0,
        Writing::Trims | Writing::Over => order.count(FILLS.name).max(1),
    }
}

/// Bytes that are written before the window.
#[expect(clippy::cast_precision_loss, reason = "at most 10")]
fn filled(order: &Order) -> f64 {
    order.quantity("file_size").unwrap_or(0.0) * fills(order) as f64
}

/// The content of a fill after which so many follow. Each differs from all others, so that no drive
/// can take one for what it holds already; the last is what the trial verifies.
pub(super) fn filling(seed: u64, fills_left: u64) -> Content {
    Content::new(if fills_left == 0 { seed } else { mix(seed ^ mix(fills_left)) })
}

/// Buffered writes only make pages dirty, where no fsync follows. What is trimmed is not counted.
pub fn storing(order: &Order) -> Option<Storing> {
    let direct = order.word("cache") != "buffered";
    if Writing::of(order.word(OPERATION.name)) == Writing::Trims {
        return None;
    }
    let writes = direct || order.count("sync_every") > 0;
    Some(Storing { direct, writes, spins: order.word("polled_submission") == "on" })
}

fn no_memory() -> Unready {
    Unready::Failed("no memory to keep count of the blocks; free some".into())
}

/// When each of so many threads begins its operations, in an open loop: they take turns.
#[expect(clippy::cast_precision_loss, reason = "threads are few")]
fn paces(order: &Order, threads: usize) -> Vec<Pace> {
    let each = offered(&order.params).map(|rate| rate / threads as f64);
    let pace = |(at, rate)| Pace::of(&order.params, rate, (at, threads), order.seed);
    (0..threads).filter_map(|at| Some(pace((at, each?)))).collect()
}

/// One thread, and what its ring has of the kernel.
fn member(
    wanted: &Wanted,
    (at, cpu): (usize, u32),
    target: &Target,
    seed: u64,
) -> Result<(Member, Option<String>), Unready> {
    let own = ((at * wanted.blocks) as u64, wanted.blocks);
    let blocks = Blocks::new(own, &target.versions, wanted.plan.clone(), seed);
    let blocks = blocks.map(|blocks| blocks.located(wanted.locality));
    let pace = wanted.paces.get(at).copied();
    let book = blocks.and_then(|blocks| Book::new(blocks, pace)).ok_or_else(no_memory)?;
    let (book, depth) = (Arc::new(Mutex::new(book)), wanted.depth);
    let turns = pace.map(|pace| Arc::new(Mutex::new(Turns::new(pace))));
    let made = wanted.ring.map(|setup| Ring::new(target, &book, (depth, setup), turns.clone()));
    let ring = made.transpose()?;
    let granted = ring.as_ref().map(|ring| ring.granted().to_owned());
    let target = target.clone();
    let make = move || -> Made {
        let engine = match ring {
            Some(ring) => Engine::Ring(Box::new(ring)),
            None => Engine::Slots(Slots::start(&target, &book, depth, turns.clone())?),
        };
        let hot: Box<dyn Hot> = Box::new(Job { target, book, engine, turns, unsent: 0 });
        Ok(hot)
    };
    Ok((Member { cpu: Some(cpu), make: Box::new(make) }, granted))
}

fn made_with(wanted: &Wanted, target: &Target) -> Settings {
    let of = |file: &file::Wanted| Value::Quantity(Quantity::bytes(file.bytes));
    let system = match wanted.device {
        Some(_) => "none".into(),
        None => file_system(target.file.as_ref()),
    };
    let mut made_with = Settings::from([
        ("bytes".into(), of(&wanted.target)),
        ("file_system".into(), Value::Word(system)),
        ("threads".into(), Value::Count(wanted.cpus.len() as u64)),
    ]);
    let behind = rig::block::behind(target.file.as_ref());
    made_with.extend(behind.into_iter().map(|(key, fact)| (key.to_owned(), Value::Word(fact))));
    let listed = wanted.listed.clone().map(|listed| ("accesses".into(), Value::Word(listed)));
    made_with.extend(listed);
    made_with
}

/// Operations of each thread in a second in a simulated lab: the depth by the time of access, up to
/// what the disk does, and its bytes.
#[expect(clippy::cast_precision_loss, reason = "threads and depths are few")]
pub fn nominal(order: &Order, cpus: usize) -> Vec<f64> {
    let threads = nominal_threads(order, cpus);
    let block = accesses(order).map_or(4096.0, |access| access.mean_size());
    let under_way = (threads as u64 * order.count("queue_depth").max(1)) as f64;
    let access = NOMINAL_ACCESS + block / NOMINAL_BYTES;
    let all = (under_way / access).min(NOMINAL_RATE).min(NOMINAL_BYTES / block);
    vec![all / threads.max(1) as f64; threads]
}

/// Bytes of the file.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2^20 to 2^40")]
fn size(order: &Order) -> u64 {
    order.quantity("file_size").unwrap_or(0.0) as u64
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
