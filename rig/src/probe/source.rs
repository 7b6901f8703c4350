//! Knows how files of the kernel are opened once and read at both edges from the same descriptor.
//!
//! A read from the beginning makes the text of procfs and sysfs anew, and costs a half to a third
//! of opening, reading and closing. The descriptor of a device that is gone refuses to be read,
//! even if another one has its name by then. Must not know what a file says.

use crate::lab::clock;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Size of the first buffer, bytes: the longest file of sysfs.
const BUFFER: usize = 4096;

/// A file that is kept open from the first window on.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    file: Option<File>,
}

/// A text, and the moment halfway through its reading, nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) at_ns: u64,
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// Reads at the opening. A file that is not open, or whose device was replaced since the last
    /// window, is opened.
    pub(super) fn open(&mut self) -> Option<Text> {
        if let Some(text) = self.again() {
            return Some(text);
        }
        self.file = File::open(&self.path).ok();
        let text = self.again();
        if text.is_none() {
            self.file = None;
        }
        text
    }

    /// Reads at the close; none where nothing was read at the opening, and of a device that is
    /// gone.
    pub(super) fn again(&self) -> Option<Text> {
        let file = self.file.as_ref()?;
        let before_ns = clock::now_ns();
        let mut buffer = vec![0; BUFFER];
        let length = whole(file, &mut buffer)?;
        buffer.truncate(length);
        let text = String::from_utf8(buffer).ok()?;
        Some(Text { at_ns: before_ns.midpoint(clock::now_ns()), text })
    }

    /// Reads into memory that is there already, and grows only for a file that is longer; none as
    /// of [`Self::again`].
    pub(super) fn again_into<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
        let length = whole(self.file.as_ref()?, buffer)?;
        std::str::from_utf8(&buffer[..length]).ok()
    }
}

/// The content from the beginning, at the beginning of the buffer: its length; none where the
/// kernel refuses.
fn whole(file: &File, bytes: &mut Vec<u8>) -> Option<usize> {
    let mut length = 0;
    loop {
        if length == bytes.len() {
            bytes.resize((2 * length).max(BUFFER), 0);
        }
        match file.read_at(&mut bytes[length..], length as u64) {
            Ok(0) => return Some(length),
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

impl Text {
    /// Time since another reading, seconds, above 0.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    pub(super) fn seconds_since(&self, opened: &Self) -> f64 {
        self.at_ns.saturating_sub(opened.at_ns).max(1) as f64 / 1e9
    }
}

/// Files that are read whole at both edges.
#[derive(Debug)]
pub(super) struct Sources<const N: usize> {
    sources: [Source; N],
    opened: [Option<Text>; N],
}

impl<const N: usize> Sources<N> {
    /// Of these paths below a root.
    pub(super) fn new(root: &Path, paths: [&str; N]) -> Self {
        let sources = paths.map(|path| Source::new(root.join(path)));
        Self { sources, opened: [const { None }; N] }
    }

    /// Reads at the opening.
    pub(super) fn open(&mut self) {
        self.opened = self.sources.each_mut().map(Source::open);
    }

    /// Reads at the close: what each file said then and says now, where it could be read twice.
    pub(super) fn close(&mut self) -> [Option<(Text, Text)>; N] {
        let mut opened = std::mem::replace(&mut self.opened, [const { None }; N]).into_iter();
        self.sources.each_ref().map(|source| opened.next().flatten().zip(source.again()))
    }
}

/// Numbers in files of their own, that come and go with their devices; `K` says whose they are.
#[derive(Debug)]
pub(super) struct Numbers<K> {
    files: BTreeMap<K, Number>,
}

#[derive(Debug)]
struct Number {
    source: Source,
    opened: Option<(u64, i64)>,
}

/// What a file said at both edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) then: i64,
    pub(super) now: i64,
    /// Time between the two readings, nanoseconds, at least 1.
    pub(super) wall_ns: u64,
}

impl Change {
    /// Time between the two readings.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
    pub(super) fn seconds(&self) -> f64 {
        self.wall_ns as f64 / 1e9
    }
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self { files: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Numbers<K> {
    /// Opens these files for the windows to come, and closes all others.
    pub(super) fn find(&mut self, found: impl IntoIterator<Item = (K, PathBuf)>) {
        let mut before = std::mem::take(&mut self.files);
        for (key, path) in found {
            let kept = before.remove(&key).filter(|number| number.source.path == path);
            let mut source = kept.map_or_else(|| Source::new(path), |number| number.source);
            // What it says now is no matter.
            let _ = source.open();
            self.files.insert(key, Number { source, opened: None });
        }
    }

    /// Reads them at the opening.
    pub(super) fn open(&mut self) {
        for file in self.files.values_mut() {
            file.opened = file.source.open().and_then(number);
        }
    }

    /// Reads again at the close; a file that was unreadable at one of the edges is left out.
    pub(super) fn close(&mut self) -> BTreeMap<K, Change> {
        let change = |(key, file): (&K, &mut Number)| {
            let (then_ns, then) = file.opened.take()?;
            let (now_ns, now) = file.source.again().and_then(number)?;
            let wall_ns = now_ns.saturating_sub(then_ns).max(1);
            Some((key.clone(), Change { then, now, wall_ns }))
        };
        self.files.iter_mut().filter_map(change).collect()
    }
}

fn number(text: Text) -> Option<(u64, i64)> {
    Some((text.at_ns, text.text.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Mortal, Tree};
    use super::*;

    #[test]
    fn a_kept_descriptor_reads_what_the_file_says_now_however_long() {
        let tree = Tree::new("source");
        tree.file("a", "1\n");
        let mut source = Source::new(tree.path("a"));
        assert_eq!(source.again(), None, "not open yet");
        assert_eq!(source.open().unwrap().text, "1\n");
        let long = "0123456789".repeat(2000);
        tree.file("a", &long);
        assert_eq!(source.again().unwrap().text, long);
        let mut stat = Source::new("/proc/self/stat".into());
        let (first, second) = (stat.open().unwrap(), stat.again().unwrap());
        assert!(second.at_ns > first.at_ns && !second.text.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        let tree = Tree::new("source-eio");
        tree.eio("a");
        tree.directory("b");
        for path in ["a", "b", "c"] {
            assert_eq!(Source::new(tree.path(path)).open(), None, "{path}");
        }
    }

    #[test]
    fn a_device_that_goes_takes_its_own_numbers_only() {
        let tree = Tree::new("numbers");
        let device = Mortal::new();
        let gone = device.file();
        tree.file("a", "5\n");
        tree.eio("bad");
        let named = ["a", "bad", "none"].map(|key| (key, tree.path(key)));
        let mut files = BTreeMap::from(named);
        files.insert("gone", gone);
        let mut numbers = Numbers::default();
        numbers.find(files);
        numbers.open();
        tree.file("a", "-7\n");
        device.end();
        let closed = numbers.close();
        assert_eq!(closed.keys().copied().collect::<Vec<_>>(), ["a"]);
        assert_eq!((closed["a"].then, closed["a"].now), (5, -7));
        assert!(numbers.close().is_empty(), "there was no further opening");
    }
}
