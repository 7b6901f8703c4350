//! Knows the archive from which a kernel fills its first file system: `newc` of cpio, after
//! `Documentation/driver-api/early-userspace/buffer-format.rst` of the kernel.
//!
//! Must not know what is in it.

use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// Writes entries one after the other.
pub(super) struct Archive<W> {
    out: W,
    written: usize,
    entries: u32,
}

impl<W: Write> Archive<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, written: 0, entries: 0 }
    }

    /// A directory, after those around it.
    pub(super) fn directory(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, DIRECTORY, &[])
    }

    /// A file that may be executed.
    pub(super) fn file(&mut self, path: &str, body: &[u8]) -> io::Result<()> {
        self.entry(path, PROGRAM, body)
    }

    /// Ends the archive.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.entry("TRAILER!!!", 0, &[])?;
        self.out.flush()
    }

    fn entry(&mut self, path: &str, mode: u32, body: &[u8]) -> io::Result<()> {
        self.entries += 1;
        let number = |size: usize| u32::try_from(size).map_err(io::Error::other);
        let (size, named) = (number(body.len())?, number(path.len() + 1)?);
        // Magic, then: inode, mode, user, group, links, time, size, two numbers of the device that
        // holds it, two of the one that it is, length of the name, sum.
        write!(self.out, "070701{:08x}{mode:08x}{:08x}{:08x}", self.entries, 0, 0)?;
        write!(self.out, "{:08x}{:08x}{size:08x}{:032x}{named:08x}{:08x}", 1, 0, 0, 0)?;
        self.written += 110;
        self.aligned(path.as_bytes(), 1)?;
        self.aligned(body, 0)
    }

    /// Bytes, so many zeros, and more up to a multiple of four.
    fn aligned(&mut self, bytes: &[u8], zeros: usize) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len();
        let zeros = zeros + (self.written + zeros).wrapping_neg() % 4;
        self.written += zeros;
        self.out.write_all(&vec![0; zeros])
    }
}
