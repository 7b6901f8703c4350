//! Knows how a setting of the machine itself is changed: a file, or the same file of every CPU,
//! disk or vector, below `/proc` or `/sys`, or four bits of a register of every CPU.
//!
//! Must not know the list of factors, nor how a change is undone: the journal does.

use super::FactorError;
use super::machine_form::{Form, MANAGED};
use crate::lab::capability;
use crate::lab::undo::{Intent, Journal, Kind, UndoError, register, value_in};
use desk::record::{FactorSpec, Value, Words};
use desk::unit::Kind as Family;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A factor of the machine. A file holds a number in steps of its range: microseconds, kilohertz.
#[derive(Debug)]
pub struct MachineRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// Where it may stand; the first place that is there is taken.
    pub places: &'static [Place],
    /// How a level stands in its files.
    pub form: Form,
    /// Whether the kernel asks for `CAP_SYS_ADMIN` at the write, whatever the file's mode says.
    pub administered: bool,
    /// What shows that it took, besides the file itself.
    pub effect: Option<Effect>,
}

/// Files in which a factor stands, and how.
#[derive(Debug)]
pub struct Place {
    /// Path below the root; one `*` stands for a number (of a CPU, a vector) or the name of a disk.
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
        let mut texts = Vec::new();
        for file in &files {
            texts.push(self.read(place, file)?);
        }
        if self.form != Form::Same {
            let texts: Vec<String> = texts.iter().map(|text| value_in(text).to_owned()).collect();
            let level = self.form.level(root, (&files, &texts));
            let none = |what| FactorError::NoOneLevel { factor: self.spec.name, what };
            return level.map_err(none);
        }
        let levels: Vec<Value> = texts.iter().map(|text| self.level(place, text)).collect();
        let first = levels.first().cloned().unwrap_or_else(|| Value::Word("none".into()));
        let other = files.iter().zip(&levels).find(|(_, level)| **level != first);
        other.map_or(Ok(first.clone()), |(file, level)| {
            let (one, other) = (files.first().unwrap_or(file).display(), file.display());
            let what = format!("{one} says {first}, {other} says {level}");
            Err(FactorError::NoOneLevel { factor: self.spec.name, what })
        })
    }

    /// A level that is in force somewhere on the machine, and what is in force, in words.
    ///
    /// # Errors
    /// When it has no such setting, or none that is a level.
    pub fn now(&self, root: &Path) -> Result<(Value, String), FactorError> {
        match self.observe(root) {
            Ok(level) => Ok((level.clone(), level.to_string())),
            Err(FactorError::NoOneLevel { what, .. }) if self.form == Form::Same => {
                let (place, files) = self.find(root)?;
                let file = files.first().map_or(Ok(String::new()), |file| self.read(place, file));
                Ok((self.level(place, &file?), format!("unlike ({what})")))
            }
            Err(e) => Err(e),
        }
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
        let texts = self.texts(root, (place, &files), level)?;
        for (file, text) in files.iter().zip(&texts) {
            let present = self.read(place, file)?;
            self.refuse_fixed(place, file, &present)?;
            self.refuse_read_only(file)?;
            let menu = match place.menu {
                Some(name) => fs::read_to_string(file.with_file_name(name)).unwrap_or_default(),
                None if present.contains('[') => present.replace(['[', ']'], ""),
                None => String::new(),
            };
            if !menu.trim().is_empty() && !menu.split_whitespace().any(|word| word == text) {
                return Err(FactorError::NotOnMenu {
                    factor: self.spec.name,
                    level: level.to_string(),
                    place: file.display().to_string(),
                    menu: menu.trim().into(),
                });
            }
            self.openable(file).map_err(|source| self.not_allowed(file, source))?;
        }
        Ok(())
    }

    /// A file that not even its owner may write is nobody's to write.
    fn refuse_read_only(&self, file: &Path) -> Result<(), FactorError> {
        if fs::metadata(file).is_ok_and(|of| of.mode() & 0o200 != 0) {
            return Ok(());
        }
        let why = if self.form == Form::Vectors { MANAGED } else { "this kernel only shows it" };
        Err(self.not_here(format!("{} is read-only: {why}", file.display())))
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
        let remedy = remedy(self.form, &source);
        FactorError::NotAllowed { factor, path, remedy, source }
    }

    /// What each file is to say at a level.
    pub(super) fn texts(
        &self,
        root: &Path,
        (place, files): (&Place, &[PathBuf]),
        level: &Value,
    ) -> Result<Vec<String>, FactorError> {
        if self.form == Form::Same {
            return Ok(vec![self.text(place, level)?; files.len()]);
        }
        self.form.texts(root, files, level).map_err(|what| self.not_here(what))
    }

    fn not_here(&self, what: String) -> FactorError {
        FactorError::NotHere { factor: self.spec.name, what }
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
        let texts = self.texts(root, (place, &files), level)?;
        let mut intents = Vec::new();
        for (path, text) in files.into_iter().zip(&texts) {
            let new = place.merged(&self.read(place, &path)?, text);
            let kind = if place.register.is_some() { Kind::Register } else { self.form.kind() };
            intents.push(Intent { key: self.spec.name.into(), kind, path, new });
        }
        let entries = journal.change(intents).map_err(|e| self.refused(e))?;
        let verified = if self.form == Form::Same { self.verify(root, level) } else { Ok(()) };
        if let Err(e) = verified {
            let _ = journal.undo(&entries);
            return Err(e);
        }
        Ok(entries)
    }

    /// What a write that failed means of this factor. Of forms the journal has read each file back.
    fn refused(&self, error: UndoError) -> FactorError {
        match error {
            UndoError::NotTaken { path, asked, found } => self.not_taken(&path, &asked, &found),
            UndoError::Setting { path, source } if self.form == Form::Vectors => {
                self.not_allowed(&path, source)
            }
            other => other.into(),
        }
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
            let files = self.form.files(root, place.pattern);
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
fn remedy(form: Form, source: &io::Error) -> &'static str {
    match (form, source.raw_os_error()) {
        (Form::Vectors, Some(libc::EIO | libc::EPERM)) => MANAGED,
        (_, Some(libc::EROFS)) => "mount it writable",
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
