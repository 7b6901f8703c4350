//! Knows one control group with CPU bandwidth control: its limit, its counts, and who is in it.
//!
//! Must not know where groups can be made, nor why.

use super::place::{self, Version};
use crate::lab::clock;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Period over which the kernel enforces a limit, microseconds: so short that a window has many.
const PERIOD_US: f64 = 10_000.0;
/// Least quota and longest period that the kernel takes (`min_cfs_quota_period` and
/// `max_cfs_quota_period` of kernel/sched/core.c), microseconds.
const QUOTA_LEAST_US: f64 = 1_000.0;
const PERIOD_MOST_US: f64 = 1_000_000.0;
/// Least limit of a host, CPUs.
pub const LEAST: f64 = QUOTA_LEAST_US / PERIOD_MOST_US;

/// The group of one host; only a view, it removes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaGroup {
    /// The host.
    pub host: String,
    process: u32,
    version: Version,
    directory: PathBuf,
    /// Where its process was before.
    home: Option<PathBuf>,
}

/// What the kernel has counted of a group since it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// CPU time of its process, nanoseconds.
    pub cpu_ns: u64,
    /// Periods in which somebody in it wanted to run while a limit was set.
    pub periods: u64,
    /// Of them, those in which the limit was reached.
    pub throttled: u64,
}

impl QuotaGroup {
    /// The group of a host's process.
    #[must_use]
    pub fn new(host: &str, process: u32, (version, directory): (Version, PathBuf)) -> Self {
        let home = home(process, version, &directory);
        Self { host: host.into(), process, version, directory, home }
    }

    /// The group around a host's process that is held to the least, whoever set its limit; none
    /// where no group around it has a limit. `mounts` is the text of `/proc/self/mounts`.
    #[must_use]
    pub fn around(host: &str, process: u32, mounts: &str) -> Option<Self> {
        let own = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        Self::least((host, process), mounts, &own)
    }

    /// The same, of a process in these groups.
    pub(super) fn least((host, process): (&str, u32), mounts: &str, own: &str) -> Option<Self> {
        let of = |version| Some((version, place::of_process(mounts, own, version)?));
        let (version, (mount, start)) = of(Version::One).or_else(|| of(Version::Two))?;
        let group = |at: &Path| {
            let (host, directory) = (host.to_owned(), at.to_owned());
            let group = Self { host, process, version, directory, home: None };
            Some((group.limit().ok()??, group))
        };
        let all = start.ancestors().take_while(|at| at.starts_with(&mount)).filter_map(group);
        all.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, group)| group)
    }

    /// Which kind it is.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Its directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Moves the process in.
    pub(super) fn enter(&self) -> io::Result<()> {
        fs::write(self.directory.join("cgroup.procs"), self.process.to_string())
    }

    /// Moves it back to where it was.
    pub(super) fn leave(&self) -> io::Result<()> {
        match &self.home {
            Some(home) => fs::write(home.join("cgroup.procs"), self.process.to_string()),
            None => Ok(()),
        }
    }

    /// Holds it to so many CPUs, [`LEAST`] or more, or to none.
    ///
    /// # Errors
    /// When the kernel refuses, for instance because a group around this one is held to less.
    pub fn set(&self, cpus: Option<f64>) -> io::Result<()> {
        let write = |name: &str, text: &str| {
            // Never made: a file that is not there is a group that is no group.
            let mut file = fs::OpenOptions::new();
            let mut file = file.write(true).truncate(true).open(self.directory.join(name))?;
            io::Write::write_all(&mut file, text.as_bytes())
        };
        let shape = cpus.map(shape);
        match self.version {
            Version::Two => {
                let quota = shape.map_or("max".into(), |(quota, _)| quota.to_string());
                let period = shape.map_or(PERIOD_US.to_string(), |(_, period)| period.to_string());
                write("cpu.max", &format!("{quota} {period}"))
            }
            Version::One => {
                // A limit under the old period might be more than groups around this one allow.
                write("cpu.cfs_quota_us", "-1")?;
                let Some((quota, period)) = shape else { return Ok(()) };
                write("cpu.cfs_period_us", &period.to_string())?;
                write("cpu.cfs_quota_us", &quota.to_string())
            }
        }
    }

    /// What the kernel says that it is held to, CPUs; none for no limit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn limit(&self) -> io::Result<Option<f64>> {
        let read = |name: &str| fs::read_to_string(self.directory.join(name));
        let odd = |text: &str| io::Error::other(format!("'{}' is no limit", text.trim()));
        let text = match self.version {
            Version::Two => read("cpu.max")?,
            Version::One => {
                format!("{} {}", read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?)
            }
        };
        let mut words = text.split_whitespace();
        let quota = words.next().ok_or_else(|| odd(&text))?;
        if matches!(quota, "max" | "-1") {
            return Ok(None);
        }
        let period = words.next().and_then(|word| word.parse::<f64>().ok());
        match (quota.parse::<f64>().ok(), period.filter(|period| *period > 0.0)) {
            (Some(quota), Some(period)) => Ok(Some(quota / period)),
            _ => Err(odd(&text)),
        }
    }

    /// What the kernel has counted; none when it cannot be read.
    ///
    /// In the old hierarchy `cpu` counts no time: there it is that of the processes in the group
    /// and in those below it.
    #[must_use]
    pub fn counts(&self) -> Option<Counts> {
        let text = fs::read_to_string(self.directory.join("cpu.stat")).ok()?;
        let field = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name));
            rest.and_then(|rest| rest.trim().parse::<u64>().ok())
        };
        let cpu_ns = match self.version {
            Version::Two => field("usage_usec ").map(|us| us * 1000),
            Version::One => cpu_ns_in(&self.directory),
        };
        let (periods, throttled) = (field("nr_periods ")?, field("nr_throttled ")?);
        Some(Counts { cpu_ns: cpu_ns?, periods, throttled })
    }
}

/// CPU time of all processes in a group and in those below it, nanoseconds.
fn cpu_ns_in(group: &Path) -> Option<u64> {
    let inside = fs::read_to_string(group.join("cgroup.procs")).ok()?;
    let inside = inside.lines().filter_map(|line| line.parse().ok());
    let below = fs::read_dir(group).ok()?.flatten();
    let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let here: u64 = inside.filter_map(clock::cpu_ns_of).sum();
    Some(here + below.filter_map(|entry| cpu_ns_in(&entry.path())).sum::<u64>())
}

/// Quota and period of a limit, microseconds. The period is longer only where the quota would be
/// less than the kernel takes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 10^9")]
fn shape(cpus: f64) -> (u64, u64) {
    let period = (QUOTA_LEAST_US / cpus).ceil().clamp(PERIOD_US, PERIOD_MOST_US);
    ((cpus * period).round().max(QUOTA_LEAST_US) as u64, period as u64)
}

/// Where a process is in the hierarchy of a directory, as `/proc/PID/cgroup` tells.
fn home(process: u32, version: Version, directory: &Path) -> Option<PathBuf> {
    let own = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let (_, home) = place::of_process(&mounts, &own, version)?;
    // One of this machine: a tree of files is no home.
    (directory.starts_with("/sys/fs/cgroup") && home != directory).then_some(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_quota_of_ten_milliseconds_or_of_longer_where_that_is_too_little() {
        assert_eq!(shape(0.5), (5_000, 10_000));
        assert_eq!(shape(1.7), (17_000, 10_000));
        assert_eq!(shape(0.05), (1_000, 20_000));
        assert_eq!(shape(LEAST), (1_000, 1_000_000));
    }
}
