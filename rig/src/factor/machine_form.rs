//! Knows how a level stands in the files of a machine where it is not the same text in each: pages
//! of the huge size, CPUs that are online, vectors of interrupts.
//!
//! Must not know the list of factors, nor how a file is written.

use super::machine_row::matching;
use crate::lab::cpus;
use crate::lab::undo::Kind;
use desk::record::Value;
use desk::unit::Quantity;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How a level stands in the files of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As the same text in each.
    Same,
    /// As a number of huge pages of the default size.
    HugePages,
    /// As 1 in the files of the first so many CPUs, as 0 in the others.
    FirstCpus,
    /// As the CPUs of every vector of the network adapters: the same list, or one CPU each in turn.
    Vectors,
}

/// Texts of the files of a level, one each; or why there are none, in words.
pub(super) type Texts = Result<Vec<String>, String>;

impl Form {
    /// What the journal has to know of such a file.
    pub(super) const fn kind(self) -> Kind {
        if matches!(self, Self::HugePages) { Kind::Pages } else { Kind::File }
    }

    /// The files of a pattern that are there.
    pub(super) fn files(self, root: &Path, pattern: &str) -> Vec<PathBuf> {
        let mut files = matching(root, pattern);
        if self == Self::Vectors {
            let vectors = vectors(root);
            files.retain(|file| number_of(file).is_some_and(|vector| vectors.contains(&vector)));
        }
        files
    }

    /// What each file is to say at a level. Of the form [`Self::Same`] the row knows it.
    pub(super) fn texts(self, root: &Path, files: &[PathBuf], level: &Value) -> Texts {
        match self {
            Self::Same => Err("the row has one text for all files".into()),
            Self::HugePages => pages(root, level).map(|pages| vec![pages; files.len()]),
            Self::FirstCpus => first_cpus(root, files, level),
            Self::Vectors => affinities(root, files, level),
        }
    }

    /// The level that these texts mean; else what they say together, in words.
    pub(super) fn level(
        self,
        root: &Path,
        (files, texts): (&[PathBuf], &[String]),
    ) -> Result<Value, String> {
        match self {
            Self::Same => Err("the row knows what its files say".into()),
            Self::HugePages => {
                let pages: Option<u64> = texts.first().and_then(|text| text.parse().ok());
                let bytes = pages.zip(page_bytes(root)).map(|(pages, bytes)| pages * bytes);
                let size = bytes.map(|bytes| Value::Quantity(Quantity::bytes(bytes)));
                size.ok_or_else(|| "no number of huge pages".into())
            }
            Self::FirstCpus => {
                let cpus = all_cpus(root);
                let off = |cpu: &u32| {
                    let file = files.iter().position(|file| number_of(file) == Some(*cpu));
                    file.and_then(|at| texts.get(at)).is_some_and(|text| text == "0")
                };
                let online: Vec<u32> = cpus.iter().copied().filter(|cpu| !off(cpu)).collect();
                match cpus.get(..online.len()) {
                    Some(first) if first == online => Ok(Value::Count(online.len() as u64)),
                    _ => Err(format!("CPUs {} are online", cpus::list(&online))),
                }
            }
            Self::Vectors => {
                let first = texts.first().cloned().unwrap_or_default();
                if texts.iter().all(|text| *text == first) {
                    return Ok(Value::Word(first));
                }
                let spread = Value::Word(SPREAD.into());
                let even = self.texts(root, files, &spread)?;
                let unlike = || format!("the vectors have CPUs {}", texts.join("; "));
                if even == texts { Ok(spread) } else { Err(unlike()) }
            }
        }
    }
}

/// Of interrupts, what says that a vector is on one CPU each.
pub(super) const SPREAD: &str = "spread";

/// Why the kernel keeps a vector to itself.
pub(super) const MANAGED: &str =
    "the kernel itself places this vector (a managed interrupt), and takes no other place";

fn pages(root: &Path, level: &Value) -> Result<String, String> {
    let bytes = page_bytes(root).ok_or("/proc/meminfo names no size of huge pages")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and > 0")]
    let asked = level.quantity().map(|quantity| quantity.value as u64);
    let asked = asked.ok_or("it is a size; write for instance 1 GiB")?;
    let page = Quantity::bytes(bytes);
    if asked % bytes != 0 {
        return Err(format!("{level} is no multiple of {page}, the size of a huge page here"));
    }
    let memory = meminfo(root, "MemTotal").unwrap_or(u64::MAX);
    if asked > memory {
        return Err(format!("{level} is more than the machine's {}", Quantity::bytes(memory)));
    }
    Ok((asked / bytes).to_string())
}

/// Bytes of a huge page of the default size.
fn page_bytes(root: &Path) -> Option<u64> {
    meminfo(root, "Hugepagesize").filter(|bytes| *bytes > 0)
}

/// A field of `/proc/meminfo`, bytes.
fn meminfo(root: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = fields.find(|(key, _)| *key == name)?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// All CPUs of the machine, online or not, by number.
fn all_cpus(root: &Path) -> Vec<u32> {
    let folders = matching(root, "sys/devices/system/cpu/cpu*");
    folders.iter().filter_map(|folder| digits(folder.file_name()?.to_str()?)).collect()
}

fn first_cpus(root: &Path, files: &[PathBuf], level: &Value) -> Texts {
    let cpus = all_cpus(root);
    let asked = level.count().ok_or("it is a number of CPUs")?;
    let first = usize::try_from(asked).ok().and_then(|asked| cpus.get(..asked));
    let first = first
        .ok_or_else(|| format!("{asked} CPUs are asked for, and the machine has {}", cpus.len()))?;
    let fixed = |cpu: &&u32| files.iter().all(|file| number_of(file) != Some(**cpu));
    if let Some(cpu) = cpus.iter().skip(first.len()).find(fixed) {
        return Err(format!("CPU {cpu} cannot go offline: it has no file online"));
    }
    let on = |file: &PathBuf| number_of(file).is_some_and(|cpu| first.contains(&cpu));
    Ok(files.iter().map(|file| u8::from(on(file)).to_string()).collect())
}

fn affinities(root: &Path, files: &[PathBuf], level: &Value) -> Texts {
    let online = fs::read_to_string(root.join("sys/devices/system/cpu/online"));
    let online = cpus::parse(&online.unwrap_or_default());
    let word = level.word().ok_or("it is a list of CPUs, or spread")?;
    if word == SPREAD {
        let turn = online.iter().cycle().zip(files);
        return Ok(turn.map(|(cpu, _)| cpu.to_string()).collect());
    }
    let asked = cpus::parse(word);
    if let Some(cpu) = asked.iter().find(|cpu| !online.contains(cpu)) {
        return Err(format!("CPU {cpu} is not online here; {} are", cpus::list(&online)));
    }
    Ok(vec![cpus::list(&asked); files.len()])
}

/// The vectors of all network adapters that are on a device. The device of a virtio adapter is a
/// part of the one that has them.
fn vectors(root: &Path) -> BTreeSet<u32> {
    let adapters = fs::read_dir(root.join("sys/class/net")).into_iter().flatten().flatten();
    let devices = adapters.filter_map(|adapter| adapter.path().join("device").canonicalize().ok());
    let mut found = BTreeSet::new();
    for device in devices {
        let own = device.join("msi_irqs");
        let folder = if own.exists() { own } else { device.join("../msi_irqs") };
        let names = fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(names.filter_map(|name| name.file_name().to_str()?.parse::<u32>().ok()));
    }
    found
}

/// The number of the CPU or the vector whose folder a file is in.
fn number_of(file: &Path) -> Option<u32> {
    digits(file.parent()?.file_name()?.to_str()?)
}

fn digits(name: &str) -> Option<u32> {
    name.trim_start_matches("cpu").parse().ok()
}
