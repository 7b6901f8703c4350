//! Knows where sensors stand below `/sys/class/hwmon`, and how their chips are called.
//!
//! From Documentation/hwmon/sysfs-interface.rst. Numbers of folders change from boot to boot, so a
//! chip goes by its name; a second one of the same name is `NAME-2`. Disks are left out: to read
//! their sensor is a command to the disk, which may be what is measured, or asleep.
//! Must not know what a sensor says.

use std::fs;
use std::path::{Path, PathBuf};

/// Drivers whose sensors are those of disks.
const DISKS: [&str; 2] = ["nvme", "drivetemp"];

/// A file of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sensor {
    /// Name of the chip.
    pub(super) chip: String,
    /// What its driver calls it, or else the file's name without the last part: `power1`.
    pub(super) name: String,
    /// The file.
    pub(super) path: PathBuf,
}

/// The files of all chips whose name begins with `kind`, a number follows, and it ends in one of
/// `endings`; of two endings of one number the first counts.
pub(super) fn sensors(root: &Path, kind: &str, endings: &[&str]) -> Vec<Sensor> {
    let mut chips: Vec<(String, PathBuf)> = folders(&root.join("sys/class/hwmon"), "hwmon")
        .into_iter()
        .filter_map(|folder| Some((line(&folder.join("name"))?, folder)))
        .filter(|(chip, _)| !DISKS.contains(&chip.as_str()))
        .collect();
    for at in (1..chips.len()).rev() {
        let same = chips[..at].iter().filter(|(chip, _)| *chip == chips[at].0).count();
        if same > 0 {
            chips[at].0 = format!("{}-{}", chips[at].0, same + 1);
        }
    }
    chips.iter().flat_map(|(chip, folder)| of_chip(chip, folder, (kind, endings))).collect()
}

fn of_chip(chip: &str, folder: &Path, (kind, endings): (&str, &[&str])) -> Vec<Sensor> {
    let files = names(folder);
    let numbered = |file: &String| {
        let (number, ending) = file.strip_prefix(kind)?.split_once('_')?;
        let rank = endings.iter().position(|wanted| *wanted == ending)?;
        Some((number.parse::<u32>().ok()?, rank, file.clone()))
    };
    let mut found: Vec<(u32, usize, String)> = files.iter().filter_map(numbered).collect();
    found.sort();
    found.dedup_by_key(|(number, _, _)| *number);
    let sensor = |(number, _, file): (u32, usize, String)| {
        let name = format!("{kind}{number}");
        let label = line(&folder.join(format!("{name}_label")));
        let name = label.map_or(name, |label| label.replace(char::is_whitespace, "_"));
        Sensor { chip: chip.into(), name, path: folder.join(file) }
    };
    found.into_iter().map(sensor).collect()
}

/// The folders `PREFIX0`, `PREFIX1` .. in the order of their numbers.
pub(super) fn folders(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let number = |name: String| Some((name.strip_prefix(prefix)?.parse::<u32>().ok()?, name));
    let mut found: Vec<(u32, String)> = names(parent).into_iter().filter_map(number).collect();
    found.sort();
    found.into_iter().map(|(_, name)| parent.join(name)).collect()
}

/// The names in a folder; none where it is missing.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The text of a file that has one line; none of one that is empty or cannot be read.
pub(super) fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    #[test]
    fn chips_go_by_name_and_disks_are_left_alone() {
        let tree = Tree::new("hwmon");
        for (number, chip) in [(0, "nvme"), (2, "coretemp"), (10, "coretemp"), (3, "acpitz")] {
            let folder = format!("sys/class/hwmon/hwmon{number}");
            tree.file(&format!("{folder}/name"), &format!("{chip}\n"));
            tree.file(&format!("{folder}/temp1_input"), "1\n");
        }
        tree.file("sys/class/hwmon/hwmon2/temp1_label", "Package id 0\n");
        tree.eio("sys/class/hwmon/hwmon4/name");
        tree.file("sys/class/hwmon/hwmon4/temp1_input", "1\n");
        let found = sensors(tree.root(), "temp", &["input"]);
        let told: Vec<(&str, &str)> =
            found.iter().map(|s| (s.chip.as_str(), s.name.as_str())).collect();
        assert_eq!(
            told,
            [("coretemp", "Package_id_0"), ("acpitz", "temp1"), ("coretemp-2", "temp1")]
        );
        assert!(sensors(Path::new("/nonexistent"), "temp", &["input"]).is_empty());
    }

    #[test]
    fn the_first_ending_of_a_number_counts() {
        let tree = Tree::new("hwmon-endings");
        tree.file("sys/class/hwmon/hwmon0/name", "power_meter\n");
        for file in ["power1_average", "power1_input", "power2_input", "power1_cap", "power_x"] {
            tree.file(&format!("sys/class/hwmon/hwmon0/{file}"), "1\n");
        }
        let found = sensors(tree.root(), "power", &["average", "input"]);
        let files: Vec<_> = found.iter().map(|s| s.path.file_name().unwrap()).collect();
        assert_eq!(files, ["power1_average", "power2_input"]);
    }
}
