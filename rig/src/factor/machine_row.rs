//! Knows how a setting of the machine itself is changed: a file, or the same file of every CPU or
//! disk, below `/proc/sys` or `/sys`, or four bits of a register of every CPU.
//!
//! Must not know the list of factors, nor how a change is undone: the journal does.

use super::FactorError;
use crate::lab::capability;
use crate::lab::undo::{Intent, Journal, Kind, register, value_in};
use desk::record::{FactorSpec, Value, Words};
use desk::unit::Kind as Family;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A factor of the machine. A file holds a number in steps of its range: microseconds, kilohertz.
#[derive(Debug)]
pub struct MachineRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// Where it may stand; the first place that is there is taken.
    pub places: &'static [Place],
    /// Whether the kernel asks for `CAP_SYS_ADMIN` at the write, whatever the file's mode says.
    pub administered: bool,
    /// What shows that it took, besides the file itself.
    pub effect: Option<Effect>,
}

/// Files in which a factor stands, and how.
#[derive(Debug)]
pub struct Place {
    /// Path below the root; one `*` stands for the number of a CPU, or the name of a disk.
    pub pattern: &'static str,
    /// How levels are written there: level and text; empty for levels that are written as they are.
    pub words: &'static [(&'static str, &'static str)],
    /// A file beside it that lists what it takes.
    pub menu: Option<&'static str>,
    /// Where the pattern is of devices of registers: why this machine has none to write, as its
    /// files below a root tell.
    pub register: Option<fn(&Path) -> Option<String>>,
}

impl Place {
    const fn kind(&self) -> Kind {
        if self.register.is_some() { Kind::Register } else { Kind::File }
    }

    /// The text of a level in a file that now says `present`: of a register the other bits stay.
    fn merged(&self, present: &str, text: &str) -> String {
        let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        match (self.kind(), number(present), number(text)) {
            (Kind::Register, Some(now), Some(bits)) => {
                register::written(now & !register::BITS | bits & register::BITS)
            }
            _ => text.to_owned(),
        }
    }
}

/// Reads a level by what it does, below a root; none where that cannot be seen.
pub type Effect = fn(&Path) -> Option<&'static str>;

impl MachineRow {
    /// The level that is in force on the machine below `root`.
    ///
    /// # Errors
    /// When it has no such setting, or its CPUs disagree.
    pub fn observe(&self, root: &Path) -> Result<Value, FactorError> {
        let (place, files) = self.find(root)?;
        let mut levels = Vec::new();
        for file in &files {
            levels.push(self.level(place, &self.read(place, file)?));
        }
        let first = levels.first().cloned().unwrap_or_else(|| Value::Word("none".into()));
        for (file, level) in files.iter().zip(&levels) {
            if *level != first {
                return Err(self.not_taken(file, &first.exact(), &level.exact()));
            }
        }
        Ok(first)
    }

    /// The files in which it stands, as the record of a run names them.
    #[must_use]
    pub fn source(&self, root: &Path) -> String {
        let first = self.find(root).ok().and_then(|(_, files)| files.first().cloned());
        first.map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Says before anything is measured why a level cannot be set.
    ///
    /// # Errors
    /// When the machine has no such setting, does not know the level, or this user may not write.
    pub fn refuse(&self, root: &Path, level: &Value) -> Result<(), FactorError> {
        let (place, files) = self.find(root)?;
        let text = self.text(place, level)?;
        for file in &files {
            let present = self.read(place, file)?;
            self.refuse_fixed(place, file, &present)?;
            let menu = match place.menu {
                Some(name) => fs::read_to_string(file.with_file_name(name)).unwrap_or_default(),
                None if present.contains('[') => present.replace(['[', ']'], ""),
                None => String::new(),
            };
            if !menu.trim().is_empty() && !menu.split_whitespace().any(|word| word == text) {
                return Err(FactorError::NotOnMenu {
                    factor: self.spec.name,
                    level: level.to_string(),
                    menu: menu.trim().into(),
                });
            }
            self.openable(file).map_err(|source| self.not_allowed(file, source))?;
        }
        Ok(())
    }

    /// Opens a file and writes nothing: the kernel itself says whether it could be.
    fn openable(&self, file: &Path) -> io::Result<()> {
        fs::OpenOptions::new().write(true).open(file)?;
        let held = !self.administered || capability::holds_sys_admin(Path::new("/"));
        if held { Ok(()) } else { Err(rustix::io::Errno::PERM.into()) }
    }

    /// The text of a file, or the number in a register, which root alone may read.
    fn read(&self, place: &Place, path: &Path) -> Result<String, FactorError> {
        if place.kind() == Kind::File {
            return fs::read_to_string(path).map_err(|source| FactorError::Unreadable {
                path: path.display().to_string(),
                source,
            });
        }
        register::read(path).map(register::written).map_err(|source| self.not_allowed(path, source))
    }

    fn not_allowed(&self, file: &Path, source: io::Error) -> FactorError {
        let (factor, path) = (self.spec.name, file.display().to_string());
        FactorError::NotAllowed { factor, path, remedy: remedy(&source), source }
    }

    /// Sets a level and reads it back; returns the entries of the journal that undo it.
    ///
    /// # Errors
    /// When it cannot be written down or set, or does not take; what was set is undone.
    pub fn apply(
        &self,
        root: &Path,
        journal: &Journal,
        level: &Value,
    ) -> Result<Vec<u64>, FactorError> {
        let (place, files) = self.find(root)?;
        let text = self.text(place, level)?;
        let mut intents = Vec::new();
        for path in files {
            let new = place.merged(&self.read(place, &path)?, &text);
            intents.push(Intent { key: self.spec.name.into(), kind: place.kind(), path, new });
        }
        let entries = journal.change(intents)?;
        if let Err(e) = self.verify(root, level) {
            let _ = journal.undo(&entries);
            return Err(e);
        }
        Ok(entries)
    }

    /// Reads the level back, by what it does where that can be seen.
    fn verify(&self, root: &Path, level: &Value) -> Result<(), FactorError> {
        let found = self.observe(root)?;
        let asked = level.exact();
        if found != *level {
            return Err(self.not_taken(root, &asked, &found.exact()));
        }
        match self.effect.and_then(|effect| effect(root)) {
            Some(seen) if seen != asked => {
                Err(self.not_taken(Path::new("the topology of the CPUs"), &asked, seen))
            }
            _ => Ok(()),
        }
    }

    fn find(&self, root: &Path) -> Result<(&'static Place, Vec<PathBuf>), FactorError> {
        for place in self.places {
            if let Some(what) = place.register.and_then(|why_not| why_not(root)) {
                return Err(FactorError::NotHere { factor: self.spec.name, what });
            }
            let files = matching(root, place.pattern);
            if !files.is_empty() {
                return Ok((place, files));
            }
        }
        let patterns: Vec<String> =
            self.places.iter().map(|p| root.join(p.pattern).display().to_string()).collect();
        let help = self.places.iter().any(|place| place.register.is_some());
        let help = if help { " (`modprobe msr` as root makes it)" } else { "" };
        let what = format!("{} is not there{help}", patterns.join(" or "));
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    /// A switch that is neither on nor off has words of the kernel for why it cannot be moved.
    fn refuse_fixed(&self, at: &Place, file: &Path, present: &str) -> Result<(), FactorError> {
        let Words::Of(known @ [_, ..]) = self.spec.kind.words else { return Ok(()) };
        if at.kind() == Kind::Register {
            // Any of its bits can be moved, whichever of them are set.
            return Ok(());
        }
        let (place, now) = (self.place_of(present), value_in(present));
        if place || known.contains(&now) || now.parse::<u64>().is_ok() {
            return Ok(());
        }
        let what = format!("{} says '{now}'", file.display());
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    /// Whether the text is one that a place writes for a level.
    fn place_of(&self, present: &str) -> bool {
        let all = self.places.iter().flat_map(|place| place.words);
        all.into_iter().any(|(_, text)| *text == value_in(present))
    }

    fn level(&self, place: &Place, text: &str) -> Value {
        let bits = register_bits(place, text);
        let now = bits.as_deref().unwrap_or_else(|| value_in(text));
        let named = place.words.iter().find(|(_, text)| *text == now);
        if let Some((level, _)) = named {
            return Value::Word((*level).into());
        }
        let number = self.spec.kind.range.zip(now.parse().ok());
        number.map_or_else(|| Value::Word(now.into()), |(range, steps)| range.at_step(steps))
    }

    pub(super) fn text(&self, place: &Place, level: &Value) -> Result<String, FactorError> {
        let asked = level.to_string();
        let bad =
            |remedy| FactorError::BadLevel { factor: self.spec.name, level: asked.clone(), remedy };
        match (self.spec.kind.range, level) {
            (Some(range), _) => {
                let steps = range.steps(level).map(|steps| steps.to_string());
                let counted = range.family == Family::Count;
                let wanted =
                    if counted { "write a whole number" } else { "write it with its unit" };
                steps.ok_or_else(|| bad(wanted))
            }
            (None, Value::Word(word)) if place.words.is_empty() => Ok(word.clone()),
            (None, Value::Word(word)) => {
                let named = place.words.iter().find(|(level, _)| level == word);
                named.map(|(_, text)| (*text).into()).ok_or_else(|| bad("write on or off"))
            }
            _ => Err(bad("write a word")),
        }
    }

    fn not_taken(&self, place: &Path, asked: &str, found: &str) -> FactorError {
        FactorError::NotTaken {
            factor: self.spec.name,
            place: place.display().to_string(),
            asked: asked.into(),
            found: found.into(),
        }
    }
}

/// What helps where a file that is there cannot be opened for writing.
fn remedy(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::ReadOnlyFilesystem => "mount it writable",
        _ => "run as root",
    }
}

/// Of a register the bits that are switched; none for a file.
fn register_bits(place: &Place, text: &str) -> Option<String> {
    let number = u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let bits = number.filter(|_| place.kind() == Kind::Register)?;
    Some(register::written(bits & register::BITS))
}

/// Block devices; those with `device` are disks, or read-only media (`sr`).
const DISKS: &str = "sys/block";

/// The files of a pattern that are there: of CPUs by their numbers, of disks by their names.
pub(super) fn matching(root: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        let path = root.join(pattern);
        return if path.exists() { vec![path] } else { Vec::new() };
    };
    let (folder, prefix) = before.rsplit_once('/').unwrap_or(("", before));
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = match folder {
            DISKS if name.starts_with("sr") => None,
            DISKS => entry.path().join("device").exists().then_some(0),
            _ => name.strip_prefix(prefix).and_then(|rest| rest.parse().ok()),
        };
        let path = entry.path().join(after.trim_start_matches('/'));
        if let Some(number) = number.filter(|_| path.exists()) {
            found.push((number, path));
        }
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}
