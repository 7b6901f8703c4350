//! Knows how the value of a setting stands in its file below `/proc/sys`, `/proc/irq` or `/sys`, or
//! in a register of a CPU.
//!
//! Must not know what the setting means.

use super::error::UndoError;
use super::register;
use super::story::Kind;
use std::fs;
use std::path::{Component, Path};

/// The present value in the text of a file: the word in brackets (`always [madvise] never`), or
/// all of it.
#[must_use]
pub fn value_in(text: &str) -> &str {
    let bracketed = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    bracketed.unwrap_or_else(|| text.trim())
}

/// Reads the present value of a thing of this kind.
pub(super) fn read(kind: Kind, path: &Path) -> Result<String, UndoError> {
    if kind == Kind::Register {
        let read = register::read(path).map(register::written);
        return read.map_err(|source| UndoError::Setting { path: path.into(), source });
    }
    let text = fs::read_to_string(path)
        .map_err(|source| UndoError::Setting { path: path.into(), source })?;
    Ok(value_in(&text).to_owned())
}

/// Writes a value, in one call, to what is there.
pub(super) fn write(kind: Kind, path: &Path, value: &str) -> Result<(), UndoError> {
    let fail = |source| UndoError::Setting { path: path.into(), source };
    if kind == Kind::Register {
        return register::write(path, value).map_err(fail);
    }
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(path).map_err(fail)?;
    std::io::Write::write_all(&mut file, format!("{value}\n").as_bytes()).map_err(fail)
}

/// Writes a value and reads it back.
pub(super) fn write_and_verify(kind: Kind, path: &Path, value: &str) -> Result<(), UndoError> {
    write(kind, path, value)?;
    let found = read(kind, path)?;
    if found == value {
        return Ok(());
    }
    Err(UndoError::NotTaken { path: path.into(), asked: value.into(), found })
}

/// Whether a path is that of a setting of this kind; nothing else is written, whatever a journal
/// says.
pub(super) fn may_be(kind: Kind, root: &Path, path: &Path) -> bool {
    match kind {
        Kind::Register => register::is_one(root, path),
        Kind::Pages => path == root.join("proc/sys/vm/nr_hugepages"),
        _ => is_setting(root, path) || is_affinity(root, path),
    }
}

/// Whether a path is the list of CPUs of an interrupt, `proc/irq/24/smp_affinity_list`.
fn is_affinity(root: &Path, path: &Path) -> bool {
    let text = path.strip_prefix(root).ok().and_then(Path::to_str);
    let inside = text.and_then(|text| text.strip_prefix("proc/irq/"));
    let number = inside.and_then(|text| text.strip_suffix("/smp_affinity_list"));
    number.is_some_and(|text| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()))
}

fn is_setting(root: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else { return false };
    let plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
    plain && (inside.starts_with("proc/sys") || inside.starts_with("sys"))
}

/// Whether a path is the list of controllers of a control group; nothing else is written as one.
pub(super) fn is_controllers(root: &Path, path: &Path) -> bool {
    let ours = path.file_name().is_some_and(|name| name == "cgroup.subtree_control");
    ours && is_setting(root, path) && path.starts_with(root.join("sys/fs/cgroup"))
}

/// Whether a list of controllers names `cpu`.
pub(super) fn gives_cpu(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().any(|word| word == "cpu")
}
