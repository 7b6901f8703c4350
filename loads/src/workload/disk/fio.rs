//! Knows simple job files of fio: sections of `key = value` lines become loads of a plan, and load
//! points of a run become sections.
//!
//! Must not know how a plan is read, nor any file.

use super::accesses::accesses;
use super::fio_ring;
use super::fio_words::{exponent, filled, located, zones};
use super::spec::{
    COMPRESSIBLE, DUPLICATED, HOT, HOT_PLACES, HOT_SHARE, LOCALITY, OPERATION, SKEW, SPEC,
    WHOLE_DISK, ZIPF,
};
use crate::engine::access::{Access, Line, SECTOR};
use crate::engine::alone::Order;
use crate::engine::pace::{OFFERED, offered};
use desk::record::{LoadPoint, Run, Settings, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Keys that become parameters.
const TAKEN: [&str; 18] = [
    "blocksize",
    "bs",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "direct",
    "directory",
    "fsync",
    "iodepth",
    "ioengine",
    "numjobs",
    "ramp_time",
    "random_distribution",
    "readwrite",
    "runtime",
    "rw",
    "rwmixread",
    "size",
];

/// Keys that say nothing about what is read and written, or what this load does anyway.
const NEEDLESS: [&str; 9] = [
    "description",
    "group_reporting",
    "name",
    "norandommap",
    "randrepeat",
    "stonewall",
    "thread",
    "time_based",
    "unlink",
];

/// Values of a section by key, each with its line.
type Values<'t> = BTreeMap<&'t str, (usize, &'t str)>;

/// A section of the file.
struct Section<'t> {
    name: &'t str,
    line: usize,
    values: Values<'t>,
}

/// The text of a plan of the jobs of a file, a load each.
///
/// # Errors
/// What is not taken or not understood, with line, value and remedy.
pub fn plan(text: &str) -> Result<String, String> {
    let all = sections(text)?;
    let (globals, sections): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|section| section.name == "global");
    let global: Values<'_> = globals.into_iter().flat_map(|section| section.values).collect();
    if sections.is_empty() {
        return Err("no job in it; write a section such as [job]".into());
    }
    let (mut loads, mut times) = (String::new(), BTreeMap::new());
    for (at, section) in sections.iter().enumerate() {
        let waits = section.values.contains_key("stonewall") || global.contains_key("stonewall");
        if at > 0 && !waits {
            let Section { name, line, .. } = section;
            return Err(format!(
                "line {line}: [{name}] runs beside the section before it, and loads of a plan run \
                 one after another; write stonewall, or keep one section"
            ));
        }
        let values = global.iter().chain(&section.values).map(|(key, value)| (*key, *value));
        let job = Job { values: values.collect() };
        loads += &job.load(&format!("{}-{}", at + 1, plain(section.name)))?;
        for (key, to) in [("runtime", "window"), ("ramp_time", "settle")] {
            let Some((line, word)) = job.get(key) else { continue };
            let told =
                seconds(word).ok_or_else(|| wrong(line, key, word, "seconds, such as 10"))?;
            if times.insert(to, told).is_some_and(|before| before != told) {
                return Err(format!(
                    "line {line}: {key} = {word} differs from another section's, and a plan has \
                     one; write the same"
                ));
            }
        }
    }
    let mut plan = "title = \"Jobs of fio\"\n".to_owned();
    plan += &loads;
    plan += "\n[method]\nblocks = 5\n";
    for (key, seconds) in times {
        let _ = writeln!(plan, "{key} = \"{seconds} s\"");
    }
    Ok(plan)
}

/// The text of a job file of the load points of a run that fio can do, each a section, one after
/// another. fio makes files with names, does not compare what it reads, and its response times do
/// not include what its own loop takes. Its ranks of Zipf's law are drawn by an approximation, and
/// several may be one block.
///
/// # Errors
/// A run without a load of a disk, or with one that a simple job cannot describe.
pub fn jobs(run: &Run) -> Result<String, String> {
    let mut points: Vec<(&LoadPoint, &str)> = Vec::new();
    for record in &run.records {
        let (point, made) = (&record.trial.point, record.outcome.made_with.get("io_uring"));
        if point.workload == SPEC.name && !points.iter().any(|(known, _)| known == &point) {
            points.push((point, made.and_then(Value::word).unwrap_or_default()));
        }
    }
    if points.is_empty() {
        return Err(format!("run {}: no load of a disk in it, which fio could do", run.id));
    }
    let method = &run.plan.method;
    let seconds = |time: f64| time.ceil().max(1.0);
    let mut text = format!(
        "; the load points of run {}, once each\n; fio has no key for task_run: it defers \
         completions where the kernel can (DEFER_TASKRUN)\n[global]\ntime_based\nruntime={}\n\
         ramp_time={}\n",
        run.id,
        seconds(method.window.value),
        seconds(method.settle.value)
    );
    for (at, (point, granted)) in points.into_iter().enumerate() {
        let name = format!("{}-{}", plain(&point.load), at + 1);
        let told = section(&name, &point.params, granted);
        text += &told.map_err(|why| format!("load {}: {why}", point.load))?;
    }
    Ok(text)
}

/// The section of a load whose records say this of its ring.
fn section(name: &str, params: &Settings, granted: &str) -> Result<String, String> {
    let order = Order { params: params.clone(), settings: Settings::new(), seed: 0 };
    let access = accesses(&order).map_err(|why| why.to_string())?;
    let (depth, ring) = (order.count("queue_depth").max(1), order.word("engine") == "uring");
    if order.word("threads") == "all" {
        return Err("threads = all is another number on each machine; give a number".into());
    }
    // Of `pread` each slot of the queue is a thread, and in fio a job.
    let threads = order.count("threads").max(1);
    let (jobs, depth) = if ring { (threads, depth) } else { (threads * depth, 1) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "to 2^40")]
    let bytes = order.quantity("file_size").unwrap_or(0.0) as u64;
    let mut rows = vec![
        "stonewall".to_owned(),
        format!("ioengine={}", if ring { "io_uring" } else { "psync" }),
        format!("direct={}", u8::from(order.word("cache") != "buffered")),
        format!("iodepth={depth}"),
        format!("numjobs={jobs}"),
        format!("size={}", bytes / jobs),
        "norandommap".to_owned(),
        "group_reporting".to_owned(),
    ];
    rows.extend(mixed(&access)?);
    rows.extend(located(&order, &access)?);
    rows.extend(filled(&order, &access)?);
    if order.word(WHOLE_DISK.name).starts_with('/') {
        return Err("a disk is overwritten only where its serial is named, which fio does not \
                    ask; measure a file"
            .into());
    }
    let operation = order.word(OPERATION.name);
    if ["trim", "append"].contains(&operation) {
        return Err(format!(
            "operation = {operation} is done in another way by fio; measure a write"
        ));
    }
    if let Some(rate) = offered(params) {
        return Err(format!(
            "{} = {rate} op/s is an open loop, and the rate of fio waits for what is late; measure \
             {} = full",
            OFFERED.name, OFFERED.name
        ));
    }
    if ring {
        rows.extend(fio_ring::keys(&order, depth, granted)?);
    }
    let every = order.count("sync_every");
    rows.extend((every > 0).then(|| format!("fsync={every}")));
    let directory = order.word("directory");
    rows.extend(directory.starts_with('/').then(|| format!("directory={directory}")));
    Ok(format!("\n[{name}]\n{}\n", rows.join("\n")))
}

/// The keys of sizes, reads and places.
fn mixed(access: &Access) -> Result<Vec<String>, String> {
    let Some(first) = access.lines.first() else { return Ok(Vec::new()) };
    let (reads, random, align) = (first.reads, first.random, first.aligned());
    let is_same = |line: &Line| (line.reads, line.random, line.aligned()) == (reads, random, align);
    if !access.lines.iter().all(is_same) {
        let name = &access.name;
        return Err(format!(
            "lines of '{name}' differ in reads or places, and fio has one of each"
        ));
    }
    let kind = match reads {
        0 => "write",
        100 => "read",
        _ => "rw",
    };
    let mut rows = vec![format!("rw={}{kind}", if random > 0 { "rand" } else { "" })];
    rows.extend((kind == "rw").then(|| format!("rwmixread={reads}")));
    rows.extend((1..100).contains(&random).then(|| format!("percentage_random={random}")));
    if let [line] = access.lines.as_slice() {
        rows.push(format!("bs={}", line.size));
    } else {
        let of = |line: &Line| format!("{}/{}", line.size, line.share);
        let sizes: Vec<String> = access.lines.iter().map(of).collect();
        rows.push(format!("bssplit={}", sizes.join(":")));
    }
    rows.extend((align == SECTOR || align != first.size).then(|| format!("blockalign={align}")));
    Ok(rows)
}

/// The sections of a text, and what stands in each.
fn sections(text: &str) -> Result<Vec<Section<'_>>, String> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            all.push(Section { name: name.trim(), line: number, values: Values::new() });
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "1"));
        let (key, value) = (key.trim(), value.trim());
        let taken = || TAKEN.iter().chain(&fio_ring::TAKEN);
        if !taken().any(|known| *known == key) && !NEEDLESS.contains(&key) {
            let mut taken: Vec<&str> = taken().copied().collect();
            taken.sort_unstable();
            let taken = taken.join(", ");
            return Err(format!(
                "line {number}: '{key}' is not taken; leave it out, or describe the load in a \
                 plan; taken are {taken}"
            ));
        }
        let Some(section) = all.last_mut() else {
            return Err(format!("line {number}: '{line}' stands in no section; write [job] first"));
        };
        section.values.insert(key, (number, value));
    }
    Ok(all)
}

/// A job with what is said of all.
struct Job<'t> {
    values: Values<'t>,
}

impl<'t> Job<'t> {
    fn get(&self, key: &str) -> Option<(usize, &'t str)> {
        self.values.get(key).copied()
    }

    /// The value of a key, by a reader of it; what it is where the key is not there.
    fn value<T>(
        &self,
        key: &str,
        usual: T,
        (read, wanted): (impl Fn(&str) -> Option<T>, &str),
    ) -> Result<T, String> {
        match self.get(key) {
            None => Ok(usual),
            Some((line, word)) => read(word).ok_or_else(|| wrong(line, key, word, wanted)),
        }
    }

    /// The text of its load.
    fn load(&self, name: &str) -> Result<String, String> {
        let number = (|word: &str| word.parse::<u64>().ok(), "a whole number");
        let jobs = self.value("numjobs", 1, number)?.max(1);
        let depth = self.value("iodepth", 1, number)?;
        let ring = self.value("ioengine", false, (engine, "io_uring, psync, pread or sync"))?;
        if let Some((line, word)) = self.get("iodepth").filter(|_| !ring && depth > 1) {
            return Err(format!(
                "line {line}: iodepth = {word} has no effect in fio without io_uring; write \
                 ioengine = io_uring, or 1"
            ));
        }
        let direct = self.value("direct", 0, number)? > 0;
        let bytes = (bytes, "bytes, such as 4k");
        let block = self.value("bs", self.value("blocksize", 4096, bytes)?, bytes)?;
        let no_size = || "no size; write the bytes of each job, such as size = 1g".to_owned();
        let size = Some(self.value("size", 0, bytes)?).filter(|size| *size > 0);
        let (pattern, operation) = self.accesses()?;
        let size = size.ok_or_else(no_size)?.saturating_mul(jobs);
        let word = |word: &str| format!("\"{word}\"");
        let mut rows = vec![
            ("workload", word(SPEC.name)),
            ("pattern", word(pattern)),
            ("operation", word(operation)),
            ("block_size", word(&format!("{block} B"))),
            ("file_size", word(&format!("{size} B"))),
            ("queue_depth", depth.to_string()),
            ("threads", jobs.to_string()),
            ("cache", word(if direct { "direct" } else { "buffered" })),
            ("engine", word(if ring { "uring" } else { "pread" })),
            ("sync_every", self.value("fsync", 0, number)?.to_string()),
        ];
        let of_ring = fio_ring::params(|key| self.get(key), (ring, depth))?;
        rows.extend(of_ring.into_iter().map(|(name, value)| (name, word(value))));
        if operation == "mix" {
            rows.push(("mix_reads", self.value("rwmixread", 50, number)?.to_string()));
        }
        rows.extend(self.localities(pattern)?);
        rows.extend(self.contents(block)?);
        if let Some((line, path)) = self.get("directory") {
            if !path.starts_with('/') || path.contains(['"', '\\', ' ']) {
                return Err(wrong(line, "directory", path, "a path from / on"));
            }
            rows.push(("directory", word(path)));
        }
        let rows = rows.into_iter().map(|(key, value)| format!("{key} = {value}\n"));
        Ok(format!("\n[load.{name}]\n{}", rows.collect::<String>()))
    }

    /// Parameters of places at random that are not all alike.
    fn localities(&self, pattern: &str) -> Result<Vec<(&'static str, String)>, String> {
        let (key, usual) = ("random_distribution", "random");
        let Some((line, word)) = self.get(key).filter(|(_, word)| *word != usual) else {
            return Ok(Vec::new());
        };
        if pattern != "random" {
            return Err(format!(
                "line {line}: {key} = {word} has no effect in fio without random places; leave it \
                 out"
            ));
        }
        let named = |kind: &str| (LOCALITY.name, format!("\"{kind}\""));
        if let Some(skew) = exponent(word) {
            return Ok(vec![named(ZIPF), (SKEW.name, skew.to_string())]);
        }
        let (share, places) = zones(word).ok_or_else(|| {
            let wanted = "random, zipf:1.2 with an exponent of 0.01 to 4 in hundredths, or two \
                          zones that are all of the file, such as zoned:90/10:10/90";
            wrong(line, key, word, wanted)
        })?;
        let [share, places] = [share, places].map(|percent| percent.to_string());
        Ok(vec![named(HOT), (HOT_SHARE.name, share), (HOT_PLACES.name, places)])
    }

    /// Parameters of content that can be compressed or is there more than once.
    fn contents(&self, block: u64) -> Result<Vec<(&'static str, String)>, String> {
        let percent = |most: u64| move |word: &str| word.parse().ok().filter(|it| *it <= most);
        let chunk = self.value("buffer_compress_chunk", SECTOR, (bytes, "bytes, such as 512"))?;
        let piece = if chunk == 0 { block } else { chunk.min(block) };
        let mut rows = Vec::new();
        for (key, name, most, wanted) in [
            ("buffer_compress_percentage", COMPRESSIBLE.name, 90, SECTOR),
            ("dedupe_percentage", DUPLICATED.name, 100, block),
        ] {
            let known = format!("a whole number from 0 to {most}");
            let asked = self.value(key, 0, (percent(most), known.as_str()))?;
            let Some((line, _)) = self.get(key).filter(|_| asked > 0) else { continue };
            if piece != wanted {
                return Err(format!(
                    "line {line}: {key} = {asked}: fio does so by pieces of {piece} B, and this \
                     load by {wanted} B; write buffer_compress_chunk = {wanted}, or leave it out"
                ));
            }
            rows.push((name, asked.to_string()));
        }
        Ok(rows)
    }

    /// Pattern and operation.
    fn accesses(&self) -> Result<(&'static str, &'static str), String> {
        let known = "read, write, randread, randwrite, readwrite or randrw";
        let of = |word: &str| match word {
            "read" => Some(("sequential", "read")),
            "write" => Some(("sequential", "write")),
            "rw" | "readwrite" => Some(("sequential", "mix")),
            "randread" => Some(("random", "read")),
            "randwrite" => Some(("random", "write")),
            "randrw" => Some(("random", "mix")),
            _ => None,
        };
        let usual = self.value("readwrite", ("sequential", "read"), (of, known))?;
        self.value("rw", usual, (of, known))
    }
}

/// Whether an engine is `io_uring`; none of one that is not here.
fn engine(word: &str) -> Option<bool> {
    match word {
        "io_uring" => Some(true),
        "pread" | "psync" | "sync" => Some(false),
        _ => None,
    }
}

/// Bytes as fio writes them: `4k` are 4096.
fn bytes(word: &str) -> Option<u64> {
    let word = word.to_ascii_lowercase();
    let word = word.trim_end_matches('b').trim_end_matches('i');
    let (digits, shift) = match word.char_indices().last()? {
        (at, 'k') => (&word[..at], 10),
        (at, 'm') => (&word[..at], 20),
        (at, 'g') => (&word[..at], 30),
        (at, 't') => (&word[..at], 40),
        _ => (word, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes < 1 << 53)
}

/// Seconds: `10`, `10s` or `2m`.
fn seconds(word: &str) -> Option<u64> {
    match word.strip_suffix('m') {
        Some(minutes) => minutes.parse::<u64>().ok()?.checked_mul(60),
        None => word.trim_end_matches('s').parse().ok(),
    }
}

/// A name of a load that a plan takes.
fn plain(name: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
    let kept: String = name.chars().filter(fits).take(20).collect();
    if kept.is_empty() { "job".into() } else { kept }
}

fn wrong(line: usize, key: &str, word: &str, wanted: &str) -> String {
    format!("line {line}: {key} = '{word}': write {wanted}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ALL;
    use desk::plan::{Catalogue, read_seeded};
    use desk::record::Plan;
    use proptest::prelude::*;

    const JOBS: &str = "; what a disk does
[global]
direct=1
ioengine=io_uring
size=1g
runtime=30
time_based

[rand read]
rw=randread
bs=4k
iodepth=32

[mix]
stonewall
readwrite=randrw
rwmixread=67
bs=8Ki
numjobs=2
iodepth=8
fsync=16
directory=/srv/array
";

    fn read(text: &str) -> Plan {
        let specs: Vec<_> = ALL.iter().map(|entry| entry.spec).collect();
        let catalogue = Catalogue { workloads: &specs, factors: rig::factor::ALL };
        read_seeded(text, &catalogue, 1).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    #[test]
    fn jobs_become_a_plan_that_is_accepted() {
        let plan = read(&plan(JOBS).unwrap());
        let words = |at: usize, key: &str| plan.loads[at].fixed[key].to_string();
        assert_eq!(
            (plan.loads[0].name.as_str(), plan.loads[1].name.as_str()),
            ("1-randread", "2-mix")
        );
        let keys = ["pattern", "operation", "block_size", "file_size", "queue_depth", "cache"];
        assert_eq!(
            keys.map(|key| words(0, key)),
            ["random", "read", "4 KiB", "1 GiB", "32", "direct"]
        );
        let keys = ["operation", "mix_reads", "block_size", "file_size", "threads", "sync_every"];
        assert_eq!(keys.map(|key| words(1, key)), ["mix", "67", "8 KiB", "2 GiB", "2", "16"]);
        assert_eq!(
            (words(1, "directory"), words(1, "engine")),
            ("/srv/array".into(), "uring".into())
        );
        let sync = read(&super::plan("[a]\nsize=64m\nioengine=psync\n").unwrap());
        let fixed = &sync.loads[0].fixed;
        assert_eq!(
            (fixed["engine"].word(), fixed["cache"].word()),
            (Some("pread"), Some("buffered"))
        );
        assert_eq!(fixed["queue_depth"], Value::Count(1));
    }

    fn params(changes: &[(&str, Value)]) -> Settings {
        let plan = read(&plan(JOBS).unwrap());
        let mut params = desk::plan::order(&plan)[0].point.params.clone();
        params.extend(changes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        params
    }

    #[test]
    fn a_load_becomes_a_section() {
        let told = section("a", &params(&[]), "").unwrap();
        for row in
            ["rw=randread", "bs=4096", "iodepth=32", "numjobs=1", "size=1073741824", "direct=1"]
        {
            assert!(told.lines().any(|line| line == row), "{row}: {told}");
        }
        let word = |text: &str| Value::Word(text.into());
        let server = section(
            "b",
            &params(&[
                ("pattern", word("file_server")),
                ("block_size", word("listed")),
                ("operation", word("listed")),
            ]),
            "",
        )
        .unwrap();
        let rows = ["rw=randrw", "rwmixread=80", "blockalign=512"];
        assert!(rows.iter().all(|row| server.lines().any(|line| line == *row)), "{server}");
        assert!(server.contains("bssplit=512/10:1024/5:2048/5:4096/60:8192/2"), "{server}");
        let slots = section("c", &params(&[("engine", word("pread"))]), "").unwrap();
        assert!(slots.contains("numjobs=32") && slots.contains("iodepth=1"), "{slots}");
        let all = section("d", &params(&[("threads", word("all"))]), "").unwrap_err();
        assert!(all.contains("give a number"), "{all}");
        // What was written is taken again, and is the same load.
        let text = told.replace("stonewall\n", "");
        assert_eq!(params(&[]), {
            let again = read(&plan(&text).unwrap());
            desk::plan::order(&again)[0].point.params.clone()
        });
    }

    /// Keys of a ring with a depth of 32, the parameters that they are, and the keys of these.
    const RINGS: [(&str, [&str; 3], &str); 4] = [
        ("fixedbufs=0\n", ["off", "off", "each"], ""),
        (
            "fixedbufs\nregisterfiles\niodepth_batch=1\niodepth_batch_complete_max=32\n",
            ["off", "on", "each"],
            "fixedbufs=1\nregisterfiles=1\n",
        ),
        (
            "iodepth_batch_submit=0\niodepth_batch_complete_max=64\n",
            ["off", "off", "batch"],
            "iodepth_batch_submit=32\niodepth_batch_complete_max=32\n",
        ),
        (
            "sqthread_poll=1\nfixedbufs=1\n",
            ["on", "on", "each"],
            "fixedbufs=1\nregisterfiles=1\nsqthread_poll=1\n",
        ),
    ];

    #[test]
    fn how_a_ring_is_used_is_taken_and_given() {
        for (keys, wanted, given) in RINGS {
            let with = format!("iodepth=32\n{keys}");
            let plan = read(&plan(&JOBS.replace("iodepth=32\n", &with)).unwrap());
            let names = ["polled_submission", "registered_buffers", "submission"];
            let fixed = &plan.loads[0].fixed;
            assert_eq!(names.map(|name| fixed[name].word().unwrap()), wanted, "{keys}");
            let params = desk::plan::order(&plan)[0].point.params.clone();
            let told = section("a", &params, "registered buffers").unwrap();
            assert!(told.ends_with(&format!("group_reporting\nrw=randread\nbs=4096\n{given}")));
        }
        let auto = params(&[("registered_buffers", Value::Word("auto".into()))]);
        let granted = "coop_taskrun, single_issuer, fixed file, registered buffers";
        assert!(section("a", &auto, granted).unwrap().contains("fixedbufs=1\nregisterfiles=1"));
        assert!(!section("a", &auto, "coop_taskrun, plain").unwrap().contains("fixedbufs"));
        let polled = params(&[("polled_submission", Value::Word("on".into()))]);
        let why = section("a", &polled, "").unwrap_err();
        assert!(why.contains("fio registers the file") && why.contains("take registered_buffers"));
    }

    #[test]
    fn fio_takes_what_is_given() {
        let mut all = "[global]\ntime_based\nruntime=1\n".to_owned();
        for (at, (keys, ..)) in RINGS.iter().enumerate() {
            let plan =
                read(&plan(&JOBS.replace("iodepth=32\n", &format!("iodepth=32\n{keys}"))).unwrap());
            let params = &desk::plan::order(&plan)[0].point.params;
            all += &section(&format!("job{at}"), params, "").unwrap();
        }
        let path = std::env::temp_dir().join(format!("stend-fio-{}.fio", std::process::id()));
        std::fs::write(&path, &all).unwrap();
        let asked = std::process::Command::new("fio").arg("--parse-only").arg(&path).output();
        std::fs::remove_file(&path).unwrap();
        match asked {
            Ok(told) => assert!(told.status.success(), "{told:?}\n{all}"),
            Err(why) => println!("skipped: fio: {why}"),
        }
    }

    #[test]
    fn ways_of_a_ring_that_have_no_parameter_are_refused() {
        for (keys, says) in [
            ("fixedbufs\n", "line 13: of a ring the file and the buffers are registered, or"),
            ("registerfiles\n", "line 13: of a ring the file and the buffers are registered, or"),
            ("sqthread_poll\n", "line 13: of a ring the file and the buffers are registered, or"),
            ("fixedbufs=on\n", "line 13: fixedbufs = 'on': write 1 or 0"),
            ("iodepth_batch=8\n", "line 13: iodepth_batch_submit = 8 with iodepth_batch_complete"),
            ("iodepth_batch=32\n", "write 1, or 32 for both"),
            ("iodepth_batch_submit=x\n", "line 13: iodepth_batch_submit = 'x': write a whole"),
        ] {
            let with = format!("iodepth=32\n{keys}");
            let why = plan(&JOBS.replace("iodepth=32\n", &with)).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let why = plan("[a]\nsize=64m\nioengine=psync\nfixedbufs\n").unwrap_err();
        assert!(why.contains("line 4: fixedbufs has no effect in fio without io_uring"), "{why}");
    }

    #[test]
    fn places_and_content_are_taken_and_given_where_both_mean_the_same() {
        let count = Value::Count;
        let word = |text: &str| Value::Word(text.into());
        for (told, key, changes) in [
            ("zipf:1.2", "random_distribution", vec![("locality", word("zipf"))]),
            (
                "zipf:0.9",
                "random_distribution",
                vec![("locality", word("zipf")), ("skew", count(90))],
            ),
            ("zoned:90/10:10/90", "random_distribution", vec![("locality", word("hot"))]),
            (
                "zoned:60/30:40/70",
                "random_distribution",
                vec![
                    ("locality", word("hot")),
                    ("hot_share", count(60)),
                    ("hot_places", count(30)),
                ],
            ),
            ("50", "buffer_compress_percentage", vec![("compressible", count(50))]),
            ("30", "dedupe_percentage", vec![("duplicated", count(30))]),
        ] {
            let params = params(&changes);
            let text = section("a", &params, "").unwrap();
            assert!(text.contains(&format!("\n{key}={told}\n")), "{text}");
            let again = read(&plan(&text).unwrap());
            assert_eq!(desk::plan::order(&again)[0].point.params, params, "{text}");
        }
        let both = [("compressible", count(50)), ("duplicated", count(30))];
        let sector = Value::Quantity(desk::unit::Quantity::bytes(512));
        let single = section("a", &params(&[&both[..], &[("block_size", sector)]].concat()), "");
        assert!(single.is_ok(), "a block is a sector: {single:?}");
        let zipf = ("locality", word("zipf"));
        let listed = [
            zipf.clone(),
            ("pattern", word("database")),
            ("block_size", word("listed")),
            ("operation", word("listed")),
        ];
        let rows: [(&[(&str, Value)], &str); 4] = [
            (&both, "compressible = 50 with duplicated = 30: fio repeats"),
            (&[zipf.clone(), ("skew", count(100))], "skew = 100 is the exponent 1"),
            (&[zipf, ("engine", word("pread"))], "queue_depth = 32: fio has a job"),
            (&listed, "smallest size, 8192 B, and these places are multiples of 512 B"),
        ];
        for (changes, says) in rows {
            let why = section("a", &params(changes), "").unwrap_err();
            assert!(why.contains(says) && why.contains("take "), "{why}");
        }
        let usual = read(&super::plan(&JOBS.replace("bs=4k", "random_distribution=zipf")).unwrap());
        assert_eq!(usual.loads[0].fixed["skew"], count(110), "as fio has it");
        // A record from before these parameters were there.
        let mut old = params(&[]);
        let new = ["compressible", "hot_places", "hot_share", "locality", "duplicated", "skew"];
        new.iter().for_each(|name| drop(old.remove(*name)));
        assert_eq!(section("a", &old, ""), section("a", &params(&[]), ""));
    }

    #[test]
    fn what_is_not_taken_is_refused_with_line_value_and_remedy() {
        let change = |from: &str, to: &str| plan(&JOBS.replace(from, to)).unwrap_err();
        let rows = [
            ("direct=1", "filename=/dev/sda", "line 3: 'filename' is not taken; leave it out"),
            ("io_uring", "libaio", "line 4: ioengine = 'libaio': write io_uring, psync"),
            ("io_uring", "psync", "line 12: iodepth = 32 has no effect in fio without io_uring"),
            ("randread", "trim", "line 10: rw = 'trim': write read, write"),
            ("bs=4k", "bs=4k,8k", "line 11: bs = '4k,8k': write bytes, such as 4k"),
            ("size=1g\n", "", "no size; write the bytes of each job"),
            ("stonewall\n", "", "line 14: [mix] runs beside the section before it"),
            ("[global]\n", "", "line 2: 'direct=1' stands in no section; write [job] first"),
            ("fsync=16", "runtime=10", "line 21: runtime = 10 differs from another section's"),
            ("=/srv/array", "=array", "line 22: directory = 'array': write a path from / on"),
            (
                "fsync=16",
                "random_distribution=zipf:1.2:0.5",
                "line 21: random_distribution = 'zipf:1.2:0.5': write random, zipf:1.2",
            ),
            (
                "fsync=16",
                "random_distribution=zoned:90/10:10/80",
                "= 'zoned:90/10:10/80': write random, zipf:1.2",
            ),
            (
                "rw=randread",
                "random_distribution=zipf",
                "line 10: random_distribution = zipf has no effect in fio without random places",
            ),
            (
                "fsync=16",
                "dedupe_percentage=30",
                "line 21: dedupe_percentage = 30: fio does so by pieces of 512 B, and this load by \
                 8192 B; write buffer_compress_chunk = 8192",
            ),
            (
                "fsync=16",
                "buffer_compress_percentage=95",
                "= '95': write a whole number from 0 to 90",
            ),
        ];
        for (from, to, says) in rows {
            let why = change(from, to);
            assert!(why.contains(says), "{why}");
        }
        assert!(plan("").unwrap_err().starts_with("no job in it"));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(256)
        })]

        #[test]
        fn no_text_makes_it_panic(
            (from, length) in (0..JOBS.len(), 0..30_usize),
            put in "[\\PC=\n\\[\\]0-9kmg]{0,20}",
            any in "\\PC{0,100}",
        ) {
            let mut text = JOBS.to_owned();
            text.replace_range(from..(from + length).min(JOBS.len()), &put);
            let _ = plan(&text);
            let _ = plan(&any);
        }
    }
}
