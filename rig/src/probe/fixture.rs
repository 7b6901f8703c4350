//! Knows trees of files that tests write in place of the machine's, good ones and broken ones.
//!
//! Must not know which probe reads them.

use super::{Moment, Probe};
use crate::lab::Ours;
use desk::record::Reading;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A tree under the temporary directory; gone when the test ends.
pub struct Tree(PathBuf);

impl Tree {
    pub fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("stend-{name}-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Writes a file in place: who has it open reads the new text.
    pub fn file(&self, path: &str, text: &str) {
        fs::write(self.parent(path), text).unwrap();
    }

    pub fn directory(&self, path: &str) {
        fs::create_dir_all(self.path(path)).unwrap();
    }

    /// A file that can be opened, and of which every read fails with EIO: memory at address 0.
    pub fn eio(&self, path: &str) {
        self.link(path, Path::new("/proc/self/mem"));
    }

    pub fn link(&self, path: &str, to: &Path) {
        let path = self.parent(path);
        let _ = fs::remove_file(&path);
        symlink(to, path).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_dir_all(self.path(path)).unwrap();
    }

    fn parent(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// A device that can vanish: the file of a process, whose open descriptor then refuses (ESRCH), as
/// that of a device that is gone does (ENODEV).
pub struct Mortal(Child);

impl Mortal {
    pub fn new() -> Self {
        Self(Command::new("sleep").arg("60").spawn().unwrap())
    }

    /// A file that holds a number while the device is there.
    pub fn file(&self) -> PathBuf {
        format!("/proc/{}/oom_score_adj", self.0.id()).into()
    }

    pub fn end(self) {}
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// What a probe reads over a window in which this happens.
pub fn window(probe: &mut impl Probe, within: impl FnOnce()) -> Vec<Reading> {
    let ours = Ours::default();
    let moment = Moment { ours: &ours, soaker: &[] };
    probe.prepare(&ours);
    probe.begin(&moment);
    within();
    let rows = probe.end(&moment);
    assert!(rows.iter().all(|row| row.quantity.value.is_finite()), "{rows:?}");
    rows
}

/// The value of a reading of the machine.
pub fn value(rows: &[Reading], key: &str) -> Option<f64> {
    let row = rows.iter().find(|row| row.host == "machine" && row.key == key);
    row.map(|row| row.quantity.value)
}
