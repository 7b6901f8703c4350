//! Knows how the files of a lab are kept: for their owner alone, each written whole.
//!
//! Must not know what is in them.

use super::TrustError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A directory that nobody but its owner may enter.
#[derive(Clone, Debug)]
pub(super) struct Home(PathBuf);

impl Home {
    /// One that is there.
    pub(super) fn open(path: &Path) -> Result<Self, TrustError> {
        let home = Self(path.into());
        home.closed(path)?;
        Ok(home)
    }

    /// One that is made where there is none.
    pub(super) fn make(path: &Path) -> Result<Self, TrustError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|source| TrustError::File { path: path.into(), source })?;
        Self::open(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps other processes from changing what is kept until it is dropped.
    pub(super) fn lock(&self) -> Result<File, TrustError> {
        let path = self.0.join("lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let locked = options.open(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|source| TrustError::File { path, source })
    }

    /// A file that others may not read.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, TrustError> {
        let path = self.0.join(name);
        self.closed(&path)?;
        fs::read(&path).map_err(|source| TrustError::File { path, source })
    }

    /// Puts a file in place of what was there; a reader sees one or the other. The lock is held.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TrustError> {
        let (path, half) = (self.0.join(name), self.0.join(format!("{name}.part")));
        let write = || {
            match fs::remove_file(&half) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&half)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&half, &path)?;
            File::open(&self.0)?.sync_all()
        };
        write().map_err(|source| TrustError::File { path: path.clone(), source })
    }

    fn closed(&self, path: &Path) -> Result<(), TrustError> {
        let meta = fs::metadata(path);
        let meta = meta.map_err(|source| TrustError::File { path: path.into(), source })?;
        if meta.mode() & 0o077 == 0 {
            return Ok(());
        }
        Err(TrustError::Open { path: path.into() })
    }
}
