//! Knows how a small text file of the kernel is read under some root; knows no file by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A file system as seen from a root; all paths are relative to it, without a leading slash.
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn at(root: &Path) -> Self {
        // Links are resolved to absolute paths, which only a resolved root is a prefix of.
        Self { root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()) }
    }

    /// The content without the white space around it; absent where there is none.
    ///
    /// Many files of sysfs exist and refuse to be read (the carrier of a link that is down).
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The content as it is; absent where there is none.
    pub(super) fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(path)).ok()
    }

    /// The content as a number.
    pub(super) fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The names in a directory, sorted; none where it is missing.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Where a path ends after all symbolic links, relative to the root.
    pub(super) fn resolve(&self, path: &str) -> Option<String> {
        let target = fs::canonicalize(self.root.join(path)).ok()?;
        Some(target.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    /// Whether there is anything at a path.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

/// The value of the first line `name : value`, as in `/proc/cpuinfo` and `/proc/meminfo`.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// The last name of a path.
pub(super) fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The CPUs of a list such as `0-3,8`; what is not a number is left out.
pub(in crate::lab) fn cpu_list(text: &str) -> Vec<u32> {
    text.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
        })
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_list_has_ranges_and_single_cpus() {
        assert_eq!(cpu_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(cpu_list(""), [0_u32; 0]);
    }

    #[test]
    fn a_field_without_a_value_is_absent() {
        let text = "model name\t: A CPU\npower management:\n";
        assert_eq!(field(text, "model name"), Some("A CPU"));
        assert_eq!(field(text, "power management"), None);
        assert_eq!(field(text, "model"), None);
    }
}
