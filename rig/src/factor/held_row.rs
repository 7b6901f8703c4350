//! Knows the factor `c_state_latency`: how long a CPU may take to wake, which holds as long as a
//! file stays open (PM QoS of the kernel's `Documentation/power/pm_qos_interface.rst`).
//!
//! Must not know when it is wanted. Whoever holds the file may end in any way: the kernel closes
//! it.

use super::FactorError;
use desk::record::{FactorSpec, ParamKind, Scope, Value};
use desk::unit::Kind;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

pub(super) const C_STATE_LATENCY: FactorSpec = FactorSpec {
    name: "c_state_latency",
    about: "longest that a CPU may take to wake from idle; none: no request of ours",
    scope: Scope::Machine,
    kind: ParamKind::within(Kind::Duration, 0.0, 2000.0).by(1e-6).or(&["none"]),
};

/// What the kernel says where nobody asks for anything, microseconds: 2,000 s.
const NOBODY_US: i32 = 2_000_000_000;

/// A factor that is a number of microseconds in a file which is held open.
#[derive(Debug)]
pub struct HeldRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// The file below the root.
    path: &'static str,
}

static ROW: HeldRow = HeldRow { spec: &C_STATE_LATENCY, path: "dev/cpu_dma_latency" };

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static HeldRow> {
    (name == C_STATE_LATENCY.name).then_some(&ROW)
}

impl HeldRow {
    /// The level that is in force: the least that anybody asks for.
    ///
    /// # Errors
    /// When the machine has no such file, or this user may not read it.
    pub fn observe(&self, root: &Path) -> Result<Value, FactorError> {
        let mut bytes = [0; 4];
        let file = self.file(root)?;
        let read = File::open(&file).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|source| self.not_allowed(&file, source))?;
        Ok(self.level(i32::from_ne_bytes(bytes)))
    }

    /// The file, as the record of a run names it.
    #[must_use]
    pub fn source(&self, root: &Path) -> String {
        root.join(self.path).display().to_string()
    }

    /// Says before anything is measured why a level cannot be set.
    ///
    /// # Errors
    /// When the machine has no such file, or this user may not write it.
    pub fn refuse(&self, root: &Path, level: &Value) -> Result<(), FactorError> {
        self.microseconds(level)?;
        self.open(&self.file(root)?).map(|_| ())
    }

    /// Sets a level and reads it back; it holds until the file is closed.
    ///
    /// # Errors
    /// When it cannot be written, or somebody else asks for less.
    pub fn hold(&self, root: &Path, level: &Value) -> Result<File, FactorError> {
        let (asked, path) = (self.microseconds(level)?, self.file(root)?);
        let mut file = self.open(&path)?;
        let written = file.write_all(&asked.to_ne_bytes());
        written.map_err(|source| self.not_allowed(&path, source))?;
        let (asked, found) = (self.level(asked), self.observe(root)?);
        if asked == found {
            return Ok(file);
        }
        Err(FactorError::NotTaken {
            factor: self.spec.name,
            place: format!("{}, of which the kernel keeps the least request", path.display()),
            asked: asked.to_string(),
            found: found.to_string(),
        })
    }

    fn file(&self, root: &Path) -> Result<PathBuf, FactorError> {
        let path = root.join(self.path);
        if path.exists() {
            return Ok(path);
        }
        let what = format!("{} is not there; the kernel has no CPU_IDLE", path.display());
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    fn open(&self, path: &Path) -> Result<File, FactorError> {
        let opened = File::options().write(true).open(path);
        opened.map_err(|source| self.not_allowed(path, source))
    }

    fn not_allowed(&self, path: &Path, source: io::Error) -> FactorError {
        let (factor, path) = (self.spec.name, path.display().to_string());
        FactorError::NotAllowed { factor, path, source, remedy: "run as root" }
    }

    fn microseconds(&self, level: &Value) -> Result<i32, FactorError> {
        let steps = self.spec.kind.range.and_then(|range| range.steps(level));
        match (level.word(), steps) {
            (Some("none"), _) => Ok(NOBODY_US),
            #[expect(clippy::cast_possible_truncation, reason = "bounded by spec")]
            (None, Some(steps)) => Ok(steps as i32),
            _ => Err(FactorError::BadLevel {
                factor: self.spec.name,
                level: level.to_string(),
                remedy: "write for instance 10 us, or none",
            }),
        }
    }

    fn level(&self, microseconds: i32) -> Value {
        let range = self.spec.kind.range.filter(|_| microseconds != NOBODY_US);
        let steps = u64::try_from(microseconds).ok();
        let number = range.zip(steps).map(|(range, steps)| range.at_step(steps));
        number.unwrap_or_else(|| Value::Word("none".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::unit::Quantity;
    use std::fs;

    fn level(microseconds: f64) -> Value {
        Value::Quantity(Quantity::seconds(microseconds / 1e6))
    }

    #[test]
    fn a_level_is_four_bytes_and_the_least_request_wins() {
        let root = std::env::temp_dir().join(format!("stend-held-{}", std::process::id()));
        let said = |e: FactorError| e.to_string();
        assert!(said(ROW.observe(&root).unwrap_err()).contains("cpu_dma_latency is not there"));
        assert!(said(ROW.refuse(&root, &level(1.0)).unwrap_err()).contains("leave it out"));
        fs::create_dir_all(root.join("dev")).unwrap();
        let file = root.join("dev/cpu_dma_latency");
        fs::write(&file, NOBODY_US.to_ne_bytes()).unwrap();
        assert_eq!(ROW.observe(&root).unwrap(), Value::Word("none".into()));
        ROW.refuse(&root, &level(7.0)).unwrap();
        let held = ROW.hold(&root, &level(7.0)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), 7_i32.to_ne_bytes());
        assert_eq!(ROW.observe(&root).unwrap(), level(7.0));
        drop(held);
        let wrong = said(ROW.refuse(&root, &Value::Word("deep".into())).unwrap_err());
        assert!(wrong.contains("write for instance 10 us, or none"), "{wrong}");
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/full", &file).unwrap();
        let full = said(ROW.hold(&root, &level(7.0)).unwrap_err());
        assert!(full.contains("No space left"), "{full}");
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_kernel_keeps_the_request_while_the_file_is_open() {
        let root = Path::new("/");
        let Ok(before) = ROW.observe(root) else {
            println!("skipped: no cpu_dma_latency that this user may open");
            return;
        };
        let held = ROW.hold(root, &level(10.0));
        let less = ROW.hold(root, &level(5.0));
        let found = ROW.observe(root).unwrap();
        let more = ROW.hold(root, &level(20.0)).unwrap_err().to_string();
        drop((held.unwrap(), less.unwrap()));
        assert_eq!(found, level(5.0));
        assert!(more.contains("asked 20 µs, read back 5 µs"), "{more}");
        assert_eq!(ROW.observe(root).unwrap(), before, "closed, it is gone");
    }
}
