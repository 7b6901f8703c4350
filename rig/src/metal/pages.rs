//! Knows memory of one page size: mapped, touched, how much of it there is for us, and how much of
//! it the kernel granted as asked.
//!
//! Must not know what is done in it.

use super::gang::Unready;
use crate::lab::environment::free_in_groups;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};
use std::ffi::c_void;
use std::fs;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

/// A huge page of x86-64 and of aarch64 with 4 KiB base pages, bytes.
const HUGE: usize = 2 << 20;
/// Of memory that was asked for in huge pages at least this share must have been granted.
const GRANTED_LEAST: f64 = 0.95;

/// What pages are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// Base pages, 4 KiB on most machines; transparent huge pages are declined.
    Base,
    /// Transparent huge pages of 2 MiB.
    Huge,
    /// What the machine gives without being asked.
    Own,
}

/// Memory that is mapped, touched and aligned to 2 MiB. Unmapped when dropped.
#[derive(Debug)]
pub struct Memory {
    mapped: NonNull<c_void>,
    mapped_len: usize,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is private to this value and stays where it is; whoever holds the pointer
// decides who writes.
unsafe impl Send for Memory {}

impl Memory {
    /// Maps so many bytes, rounded up to whole pages of 2 MiB, and touches each page on the CPU
    /// that calls, so that memory is taken from its node. All bytes are 0.
    ///
    /// # Errors
    /// When the kernel has no such memory, in words for the person.
    pub fn map(bytes: usize, pages: PageSize) -> Result<Self, String> {
        let len = bytes.max(1).next_multiple_of(HUGE);
        let mapped_len = len + HUGE;
        let refused =
            |e: rustix::io::Errno| format!("no memory of {bytes} B: {e}; take a smaller size");
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new anonymous mapping, at an address of the kernel's choice.
        let mapped = unsafe { mmap_anonymous(null_mut(), mapped_len, protection, flags) };
        let mapped = NonNull::new(mapped.map_err(refused)?).ok_or("a mapping at address 0")?;
        let up = mapped.as_ptr().cast::<u8>().align_offset(HUGE);
        // SAFETY: the mapping is one huge page longer than is used, and `up` is less than that.
        let start = unsafe { mapped.cast::<u8>().add(up) };
        let memory = Self { mapped, mapped_len, start, len };
        memory.part(up);
        memory.advise(pages);
        memory.touch();
        Ok(memory)
    }

    /// Takes the rest behind what is used, of which there is at least a page: the kernel would join
    /// neighbouring mappings, and tell of the huge pages of both in one sum.
    fn part(&self, up: usize) {
        let rest = self.mapped_len - up - self.len;
        // SAFETY: the range is this value's own mapping, and nobody is given a pointer to it.
        let _ = unsafe {
            let behind = self.start.as_ptr().add(self.len);
            mprotect(behind.cast(), rest, MprotectFlags::empty())
        };
    }

    /// What cannot be advised shows in what is granted.
    fn advise(&self, pages: PageSize) {
        let advice = match pages {
            PageSize::Base => Advice::LinuxNoHugepage,
            PageSize::Huge => Advice::LinuxHugepage,
            PageSize::Own => return,
        };
        // SAFETY: the range is this value's own mapping, and the advice changes no content.
        let _ = unsafe { madvise(self.start.as_ptr().cast(), self.len, advice) };
    }

    /// Has the kernel make every page, where it knows how (5.14), which takes one call and not a
    /// fault a page; else writes to each.
    fn touch(&self) {
        // SAFETY: the range is this value's own mapping; pages that come are zero.
        let made =
            unsafe { madvise(self.start.as_ptr().cast(), self.len, Advice::LinuxPopulateWrite) };
        if made.is_ok() {
            return;
        }
        for at in (0..self.len).step_by(4096) {
            // SAFETY: `at` is inside the mapping, which nobody else knows yet.
            unsafe { self.start.as_ptr().add(at).write_volatile(0) };
        }
    }

    /// Its first byte, aligned to 2 MiB.
    #[must_use]
    pub const fn as_mut_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length in bytes, a multiple of 2 MiB.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Share of it that stands in huge pages now, 0-1, by `/proc/self/smaps` (`AnonHugePages`);
    /// none where the kernel does not tell.
    #[must_use]
    pub fn granted(&self) -> Option<f64> {
        let smaps = fs::read_to_string("/proc/self/smaps").ok()?;
        let (from, to) = (self.start.as_ptr() as u64, self.start.as_ptr() as u64 + self.len as u64);
        #[expect(clippy::cast_precision_loss, reason = "mappings are far below 2^53 bytes")]
        let share = huge_bytes(&smaps, from, to)? as f64 / self.len as f64;
        Some(share.min(1.0))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nobody can use it after it.
        let _ = unsafe { munmap(self.mapped.as_ptr(), self.mapped_len) };
    }
}

/// Whether a share of memory that was granted in huge pages (none: the kernel does not tell) is
/// what was asked for.
///
/// # Errors
/// `NotAvailable` where that is how the machine is set, `Disturbed` where it is how its memory is
/// today.
pub fn huge_enough(granted: Option<f64>) -> Result<(), Unready> {
    let lacks = |what: &str| {
        let what = format!("{what}; ask for pages = \"own\" or \"base\"");
        Err(Unready::NotAvailable(what))
    };
    match granted {
        None => lacks("the kernel does not tell whether it grants huge pages"),
        // Declined for all of the memory is the machine's own setting, for a part of it bad luck.
        Some(share) if share <= 0.0 => lacks(
            "the kernel grants no huge pages of 2 MiB; allow them in \
             /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Some(share) if share < GRANTED_LEAST => Err(Unready::Disturbed(format!(
            "only {:.0} % of the memory came in huge pages of 2 MiB, for free memory is in pieces; \
             ask for pages = \"own\", or echo 1 > /proc/sys/vm/compact_memory",
            share * 100.0
        ))),
        Some(_) => Ok(()),
    }
}

/// Whether so many bytes for each of so many threads, and so on, can be had while the machine keeps
/// an eighth of what is `available`, bytes; memory comes in whole pages of 2 MiB.
///
/// # Errors
/// `NotAvailable` with what is wanted and what can be had.
pub fn room_for(wanted: &[(usize, usize)], available: u64) -> Result<(), Unready> {
    let page = HUGE as u64;
    let whole = |(bytes, threads): &(usize, usize)| {
        let each = (*bytes as u64).checked_next_multiple_of(page).unwrap_or(u64::MAX);
        each.saturating_mul(*threads as u64)
    };
    let bytes = wanted.iter().map(whole).fold(0, u64::saturating_add);
    let most = available - available / 8;
    if bytes <= most {
        return Ok(());
    }
    let threads: usize = wanted.iter().map(|(_, threads)| threads).sum();
    let who =
        if threads == 1 { "1 thread wants".into() } else { format!("{threads} threads want") };
    Err(Unready::NotAvailable(format!(
        "{who} {bytes} B of memory, and {most} B can be had; take a smaller size"
    )))
}

/// Bytes of memory that can be had without swapping, within the limits of our control groups; all
/// there could be where it is not told.
#[must_use]
pub fn available() -> u64 {
    available_below(Path::new("/"))
}

/// The same by the files below `root`.
fn available_below(root: &Path) -> u64 {
    let groups = free_in_groups(root).unwrap_or(u64::MAX);
    let text = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.map_or(u64::MAX, |k| k.saturating_mul(1024)).min(groups)
}

/// Bytes in huge pages of all mappings that lie within a range; none if no such mapping is told of.
///
/// The kernel joins neighbouring mappings of the same kind and splits them where advice differs: a
/// mapping counts for the part of it that lies within.
fn huge_bytes(smaps: &str, from: u64, to: u64) -> Option<u64> {
    let (mut inside, mut huge, mut any) = (None, 0, false);
    for line in smaps.lines() {
        if let Some((first, last)) = range(line) {
            inside = (first < to && last > from).then_some((
                first.max(from),
                last.min(to),
                last - first,
            ));
            any |= inside.is_some();
        } else if let (Some((first, last, whole)), Some(text)) =
            (inside, line.strip_prefix("AnonHugePages:"))
        {
            let kibibytes: u64 = text.trim().strip_suffix("kB")?.trim().parse().ok()?;
            // More than lies within cannot be within.
            huge += (kibibytes * 1024).min(last - first).min(whole);
        }
    }
    any.then_some(huge)
}

/// The addresses of a line that begins a mapping.
fn range(line: &str) -> Option<(u64, u64)> {
    let (first, last) = line.split_once(' ')?.0.split_once('-')?;
    Some((u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(last, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zero_and_its_own() {
        let memory = Memory::map(3 << 20, PageSize::Base).unwrap();
        assert_eq!((memory.as_mut_ptr() as usize % HUGE, memory.len()), (0, 4 << 20));
        // SAFETY: the last byte of the mapping.
        assert_eq!(unsafe { *memory.as_mut_ptr().add(memory.len() - 1) }, 0);
        assert_eq!(memory.granted(), Some(0.0));
        let none = Memory::map(1 << 60, PageSize::Base).unwrap_err();
        assert!(none.contains("1152921504606846976") && none.contains("a smaller size"), "{none}");
    }

    #[test]
    fn huge_pages_are_counted_within_the_range_only() {
        let smaps = "00200000-00600000 rw-p 00000000 00:00 0\nSize: 4096 kB\n\
                     AnonHugePages:      2048 kB\n00600000-00a00000 rw-p 00000000 00:00 0\n\
                     AnonHugePages:      4096 kB\n";
        assert_eq!(huge_bytes(smaps, 0x20_0000, 0x60_0000), Some(2 << 20));
        assert_eq!(huge_bytes(smaps, 0x20_0000, 0xa0_0000), Some(6 << 20));
        assert_eq!(huge_bytes(smaps, 0xb0_0000, 0xc0_0000), None);
    }

    #[test]
    fn huge_pages_that_were_not_granted_are_a_fault_by_name() {
        for granted in [None, Some(0.0)] {
            let why = huge_enough(granted).unwrap_err();
            assert!(matches!(&why, Unready::NotAvailable(text) if text.contains("base")));
        }
        for (granted, says) in [(0.9, "only 90 %"), (0.5, "only 50 %"), (0.01, "only 1 %")] {
            let why = huge_enough(Some(granted)).unwrap_err();
            assert!(matches!(&why, Unready::Disturbed(text) if text.starts_with(says)), "{why:?}");
            let text = why.to_string();
            assert!(text.ends_with("echo 1 > /proc/sys/vm/compact_memory"), "{text}");
        }
        assert_eq!(
            [0.95, 0.96, 1.0].map(|share| huge_enough(Some(share))),
            [Ok(()), Ok(()), Ok(())]
        );
    }

    #[test]
    fn more_memory_than_there_is_is_refused_before_it_is_touched() {
        let page = 2 << 20;
        assert_eq!(room_for(&[(page, 7)], 8 * page as u64), Ok(()));
        let why = |wanted: &[(usize, usize)]| room_for(wanted, 8 * page as u64).unwrap_err();
        let none = why(&[(page, 8)]).to_string();
        assert!(none.starts_with("8 threads want 16777216 B of memory, and 14680064 B"), "{none}");
        assert!(none.ends_with("take a smaller size"), "{none}");
        // Memory comes in whole pages, and all threads count.
        assert_eq!(
            why(&[(page + 1, 2), (page, 4)]).to_string(),
            why(&[(page, 8)]).to_string().replace("8 threads", "6 threads")
        );
        let one = why(&[(usize::MAX, 1)]).to_string();
        assert!(one.starts_with("1 thread wants 18446744073709551615 B"), "{one}");
    }

    /// A root with so much memory, kB, and files of control groups: path and text.
    fn root(name: &str, kibibytes: u64, files: &[(&str, &str)]) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("stend-pages-{name}-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        };
        put("proc/meminfo", &format!("MemTotal: 9 kB\nMemAvailable:   {kibibytes} kB"));
        for (path, text) in files {
            put(path, text);
        }
        root
    }

    #[test]
    fn a_limit_of_any_group_above_us_is_one_of_ours() {
        let of = |name: &str, files: &[(&str, &str)]| {
            let root = root(name, 1000, files);
            let bytes = available_below(&root);
            fs::remove_dir_all(&root).unwrap();
            bytes
        };
        let own = ("proc/self/cgroup", "1:cpu:/other\n0::/a.slice/b");
        let max = ("sys/fs/cgroup/a.slice/b/memory.max", "max");
        let current = ("sys/fs/cgroup/a.slice/b/memory.current", "7");
        assert_eq!(of("none", &[]), 1000 << 10);
        assert_eq!(of("unlimited", &[own, max, current]), 1000 << 10);
        let above = [
            ("sys/fs/cgroup/a.slice/memory.max", "5000"),
            ("sys/fs/cgroup/a.slice/memory.current", "1000"),
        ];
        assert_eq!(of("above", &[own, max, current, above[0], above[1]]), 4000);
        // The root of a container's own view of the groups has a limit, too.
        let top = [("sys/fs/cgroup/memory.max", "300"), ("sys/fs/cgroup/memory.current", "400")];
        let container = [("proc/self/cgroup", "0::/"), top[0], top[1]];
        assert_eq!(of("container", &container), 0, "more is in use than may be");
        assert_eq!(of("both", &[own, above[0], above[1], top[0], top[1]]), 0, "the least");
        let elsewhere = ("sys/fs/cgroup/c.slice/memory.max", "1");
        assert_eq!(of("elsewhere", &[own, elsewhere]), 1000 << 10);
    }

    #[test]
    fn huge_pages_come_where_the_kernel_grants_them() {
        let all = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let memory = Memory::map(64 << 20, PageSize::Huge).unwrap();
        if let (Ok(all), Some(share)) = (all, memory.granted()) {
            let never = all.contains("[never]");
            assert_eq!(share > 0.0, !never, "{share} of it under '{}'", all.trim());
        }
    }
}
