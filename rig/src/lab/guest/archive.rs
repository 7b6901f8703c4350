//! Knows the archive from which a kernel fills its first file system: `newc` of cpio.
//!
//! Must not know what is in it.

use cpio::newc::{Builder, trailer};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// Writes entries one after the other.
pub(super) struct Archive {
    out: BufWriter<File>,
    directories: BTreeSet<String>,
    entries: u32,
}

impl Archive {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        Ok(Self { out, directories: BTreeSet::new(), entries: 0 })
    }

    /// A directory, after those around it.
    pub(super) fn directory(&mut self, path: &str) -> io::Result<()> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for path in ends.filter_map(|end| path.get(..end)) {
            if self.directories.insert(path.into()) {
                self.entry(path, DIRECTORY, &[])?;
            }
        }
        Ok(())
    }

    /// A file that may be executed, after the directories around it.
    pub(super) fn file(&mut self, path: &str, body: &[u8]) -> io::Result<()> {
        if let Some((around, _)) = path.rsplit_once('/') {
            self.directory(around)?;
        }
        self.entry(path, PROGRAM, body)
    }

    /// Ends the archive, and tells its size in bytes.
    pub(super) fn end(self) -> io::Result<u64> {
        let mut out = trailer(self.out)?;
        out.flush()?;
        Ok(out.get_ref().metadata()?.len())
    }

    fn entry(&mut self, path: &str, mode: u32, body: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let size = u32::try_from(body.len()).map_err(io::Error::other)?;
        let mut entry = Builder::new(path).ino(self.entries).mode(mode).write(&mut self.out, size);
        entry.write_all(body)?;
        entry.finish().map(|_| ())
    }
}
