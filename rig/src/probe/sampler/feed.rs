//! Knows which sources are sampled within the window, and how each is read at little cost.
//!
//! Light ones, ten times a second: `/proc/stat`, `softnet_stat`, bytes and packets of adapters, the
//! wait for CPUs, the packages' energy. Heavy ones, once a second: `/proc/net/snmp`, `meminfo`, one
//! sensor of each package's temperature, the management controller. A sensor of a core is not read:
//! a read wakes the core. A source that fails once gives no course. Must not know the window.

use super::super::adapter::adapters;
use super::super::counter;
use super::super::hwmon::{folders, line, sensors};
use super::super::ipmi::Meter;
use super::super::power::zones;
use super::super::pressure::total;
use super::super::source::Source;
use super::super::thermal::is_believed;
use super::course::{Course, Courses};
use crate::lab::Ours;
use crate::lab::clock::{self, TICK_NS};
use desk::unit::Unit;
use std::path::{Path, PathBuf};

/// Ticks between two samples of a heavy source; a light one has one each tick.
const HEAVY: u64 = 10;
/// What the files of an adapter name and count.
const OF_ADAPTERS: [(&str, Unit); 4] = [
    ("rx_bytes", Unit::BytePerSecond),
    ("rx_packets", Unit::PacketPerSecond),
    ("tx_bytes", Unit::BytePerSecond),
    ("tx_packets", Unit::PacketPerSecond),
];
/// Types of zones and labels of sensors that are of a whole package.
const PACKAGE_ZONE: &str = "x86_pkg_temp";
const PACKAGE_LABELS: [&str; 3] = ["Package_id", "Tctl", "Tdie"];
/// How the zones of packages are called.
const PACKAGE: &str = "package";
const MICRO: f64 = 1e-6;
const MILLI: f64 = 1e-3;
const KIB: f64 = 1024.0;

/// What a feed reads.
#[derive(Debug)]
enum What {
    /// `/proc/stat`: idle time of each CPU at the last sample, ticks.
    Cpu { file: Source, idle: Vec<(u32, u64)> },
    /// `/proc/net/softnet_stat`: packets dropped by all CPUs.
    Softnet { file: Source, last: u64 },
    /// A file that holds one counter, 0 again after a range, and what one of it is.
    Counter { file: Source, last: u64, range: Option<u64>, scale: f64 },
    /// `/proc/pressure/cpu`.
    Pressure { file: Source, last: u64 },
    /// `/proc/net/snmp`: segments sent again.
    Retransmissions { file: Source, last: u64 },
    /// `/proc/meminfo`: bytes available.
    Available { file: Source },
    /// The hottest of sensors, thousandths of a degree.
    Hottest { files: Vec<Source> },
    /// The management controller, whose answer comes later.
    Ipmi(Meter),
}

/// A source with its courses and the tick at which it is due.
#[derive(Debug)]
pub(super) struct Feed {
    what: What,
    pub(super) courses: Courses,
    /// Ticks between two samples.
    pub(super) every: u64,
    due: u64,
    /// It failed.
    pub(super) lost: bool,
}

/// All feeds below a root; those that a soaker falsifies are left out beside one.
pub(super) fn all(root: &Path, soaked: bool, ours: &Ours) -> Vec<Feed> {
    let mut feeds = Vec::new();
    if !soaked {
        feeds.push(cpu(root));
        let file = Source::new(root.join("proc/pressure/cpu"));
        let course = Course::new("pressure", "cpu.some", Unit::Share);
        feeds.push(Feed::new(What::Pressure { file, last: 0 }, 1, vec![course]));
    }
    let file = Source::new(root.join("proc/net/softnet_stat"));
    let course = Course::new("softirq", "softnet.dropped", Unit::PacketPerSecond);
    feeds.push(Feed::new(What::Softnet { file, last: 0 }, 1, vec![course]));
    for adapter in adapters(root, ours) {
        for (name, unit) in OF_ADAPTERS {
            let course = Course::new("nic", &format!("{name}.{}", adapter.name), unit);
            feeds.push(counter(adapter.statistic(name), (None, 1.0), course));
        }
    }
    for (name, range, path) in zones(root).into_iter().filter(|zone| zone.0.starts_with(PACKAGE)) {
        let course = Course::new("power", &format!("watts.{name}"), Unit::Watt);
        feeds.push(counter(path, (Some(range), MICRO), course));
    }
    feeds.extend(heavy(root));
    feeds
}

fn heavy(root: &Path) -> Vec<Feed> {
    let file = Source::new(root.join("proc/net/snmp"));
    let course = Course::new("tcp", "retransmitted", Unit::PacketPerSecond);
    let mut feeds = vec![Feed::new(What::Retransmissions { file, last: 0 }, HEAVY, vec![course])];
    let file = Source::new(root.join("proc/meminfo"));
    let course = Course::new("memory", "available", Unit::Byte);
    feeds.push(Feed::new(What::Available { file }, HEAVY, vec![course]));
    let files = of_packages(root);
    if !files.is_empty() {
        let course = Course::new("thermal", "packages", Unit::Celsius);
        feeds.push(Feed::new(What::Hottest { files }, HEAVY, vec![course]));
    }
    feeds.extend(Meter::of(root).map(Feed::of_meter));
    feeds
}

fn cpu(root: &Path) -> Feed {
    let file = Source::new(root.join("proc/stat"));
    let courses = ["busy", "busiest"].map(|key| Course::new("cpu", key, Unit::Share));
    Feed::new(What::Cpu { file, idle: Vec::new() }, 1, courses.into())
}

fn counter(path: PathBuf, (range, scale): (Option<u64>, f64), course: Course) -> Feed {
    let what = What::Counter { file: Source::new(path), last: 0, range, scale };
    Feed::new(what, 1, vec![course])
}

/// Sensors that are of a whole package each.
fn of_packages(root: &Path) -> Vec<Source> {
    let zones = folders(&root.join("sys/class/thermal"), "thermal_zone").into_iter();
    let zones = zones.filter(|zone| line(&zone.join("type")).as_deref() == Some(PACKAGE_ZONE));
    let chips = sensors(root, "temp", &["input"]).into_iter();
    let of_package = |name: &str| PACKAGE_LABELS.iter().any(|label| name.starts_with(label));
    let chips = chips.filter(|sensor| of_package(&sensor.name)).map(|sensor| sensor.path);
    zones.map(|zone| zone.join("temp")).chain(chips).map(Source::new).collect()
}

impl Feed {
    fn new(what: What, every: u64, courses: Vec<Course>) -> Self {
        Self { what, courses: Courses::new(courses), every, due: 0, lost: false }
    }

    pub(super) fn of_meter(meter: Meter) -> Self {
        let course = Course::new("power", "watts.board", Unit::Watt);
        Self::new(What::Ipmi(meter), HEAVY, vec![course])
    }

    /// Whether it is the management controller.
    pub(super) const fn is_meter(&self) -> bool {
        matches!(self.what, What::Ipmi(_))
    }

    /// Opens its files, so that the first sample costs no more than the others.
    pub(super) fn open(&mut self) {
        let opened = match &mut self.what {
            What::Cpu { file, .. }
            | What::Softnet { file, .. }
            | What::Counter { file, .. }
            | What::Pressure { file, .. }
            | What::Retransmissions { file, .. }
            | What::Available { file } => file.open().is_some(),
            What::Hottest { files } => files.iter_mut().all(|file| file.open().is_some()),
            What::Ipmi(_) => true,
        };
        self.lost = !opened;
    }

    /// Samples if it is due at a tick, and at the last whether it is or not.
    pub(super) fn sample(&mut self, tick: u64, last: bool, buffer: &mut Vec<u8>) {
        if self.lost {
            return;
        }
        let due = last || tick >= self.due;
        if let What::Ipmi(meter) = &mut self.what {
            self.lost = fetch(meter, due && !last, &mut self.courses).is_none();
        } else if due {
            self.lost = self.take(buffer).is_none();
        } else {
            return;
        }
        if self.courses.thin() {
            self.every *= 2;
        }
        if due {
            self.due = (tick / self.every + 1) * self.every;
        }
    }

    /// Reads once; none when the source failed.
    fn take(&mut self, buffer: &mut Vec<u8>) -> Option<()> {
        let courses = &mut self.courses;
        match &mut self.what {
            What::Cpu { file, idle } => busy(file.again_into(buffer)?, idle, courses)?,
            What::Softnet { file, last } => {
                let dropped = dropped(file.again_into(buffer)?)?;
                count(courses, last, dropped, (None, 1.0))?;
            }
            What::Counter { file, last, range, scale } => {
                let now = file.again_into(buffer)?.trim_ascii().parse().ok()?;
                count(courses, last, now, (*range, *scale))?;
            }
            What::Pressure { file, last } => {
                let now = total(file.again_into(buffer)?, "some")?;
                count(courses, last, now, (None, MICRO))?;
            }
            What::Retransmissions { file, last } => {
                let now = retransmitted(file.again_into(buffer)?)?;
                count(courses, last, now, (None, 1.0))?;
            }
            What::Available { file } => {
                let now = available(file.again_into(buffer)?)?;
                state(courses, now);
            }
            What::Hottest { files } => {
                let mut hottest = i64::MIN;
                for file in files {
                    let now: i64 = file.again_into(buffer)?.trim_ascii().parse().ok()?;
                    hottest = hottest.max(now);
                }
                #[expect(clippy::cast_precision_loss, reason = "thousandths of a degree")]
                let degrees = is_believed(hottest).then_some(hottest as f64 * MILLI)?;
                state(courses, degrees);
            }
            What::Ipmi(_) => {}
        }
        Some(())
    }
}

/// Adds what a counter of all gained.
#[expect(clippy::cast_precision_loss, reason = "counts of a window are far below 2^53")]
fn count(
    courses: &mut Courses,
    last: &mut u64,
    now: u64,
    (range, scale): (Option<u64>, f64),
) -> Option<()> {
    let first = courses.is_empty();
    let then = std::mem::replace(last, now);
    let gained = match range {
        _ if first => Some(0),
        Some(range) => counter::gained_within(then, now, range),
        None => counter::gained(then, now),
    }?;
    courses.at(clock::now_ns());
    courses.all[0].count(gained as f64 * scale);
    Some(())
}

fn state(courses: &mut Courses, now: f64) {
    let seconds = courses.at(clock::now_ns());
    courses.all[0].state(now, seconds);
}

/// Takes an answer that has come, and asks if it is time; none when the controller is gone or knows
/// no power.
fn fetch(meter: &mut Meter, ask: bool, courses: &mut Courses) -> Option<()> {
    if let Some(watts) = meter.watts().ok()? {
        state(courses, watts);
    }
    if ask {
        meter.ask().ok()?;
    }
    Some(())
}

/// Idle time is kept by a clock, see `cpu.rs`; the CPU that was idle least is the busiest, in each
/// stretch perhaps another one.
fn busy(text: &str, idle: &mut Vec<(u32, u64)>, courses: &mut Courses) -> Option<()> {
    let first = courses.is_empty();
    let seconds = courses.at(clock::now_ns());
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    let share = |ticks: u64| (ticks * TICK_NS) as f64 / 1e9 / seconds.max(1e-9);
    let (mut sum, mut most, mut at) = (0.0, 0.0_f64, 0);
    for line in text.lines().skip(1).take_while(|line| line.starts_with("cpu")) {
        let mut words = line.split_ascii_whitespace();
        let number = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let mut ticks = words.skip(3).map(|word| word.parse::<u64>().unwrap_or(0));
        let now = ticks.next()? + ticks.next()?;
        if first {
            idle.push((number, now));
            continue;
        }
        // A CPU that came or went ends the course: no step of it would be whole.
        let last = idle.get_mut(at).filter(|last| last.0 == number)?;
        let was = std::mem::replace(&mut last.1, now);
        let busy = (1.0 - share(now.saturating_sub(was))).clamp(0.0, 1.0);
        (sum, most, at) = (sum + busy, most.max(busy), at + 1);
    }
    let count = idle.len();
    if count == 0 || (!first && at != count) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "CPUs are counted in thousands")]
    courses.all[0].mean(sum / count as f64, seconds);
    courses.all[1].mean(most, seconds);
    Some(())
}

/// The second column of every line, hexadecimal, of 32 bits each.
fn dropped(text: &str) -> Option<u64> {
    let column = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(1)?, 16).ok();
    text.lines().map(column).sum()
}

/// The column `RetransSegs` of the second line `Tcp:`, by the name in the first.
fn retransmitted(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let mut names = lines.next()?.split_ascii_whitespace();
    let at = names.position(|name| name == "RetransSegs")?;
    lines.next()?.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// `MemAvailable`, which is told in KiB.
#[expect(clippy::cast_precision_loss, reason = "memory is far below 2^53 KiB")]
fn available(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib as f64 * KIB)
}
