//! Knows the settings of an adapter that stand in files below `/sys/class/net`, and reaches those
//! of the network namespace of this process without a mount point.
//!
//! Must not know which value is better. No path comes from outside: the name of a link, and a file
//! of the list below.

use super::error::LabError;
use super::namespace;
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};
use rustix::mount::{fsconfig_create, fsmount, fsopen};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::thread;

/// A setting in a file of an adapter, or in the same file of each of its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AdapterFile {
    /// Polls of NAPI without work until the interrupt is armed again.
    DeferHardIrqs,
    /// Nanoseconds for which frames wait to be merged, and for which interrupts stay deferred.
    GroFlushTimeout,
    /// Mask of the CPUs to which a receive queue hands its packets.
    RpsCpus,
    /// Flows that a receive queue remembers the CPU of.
    RpsFlows,
    /// Whether NAPI polls in threads of the kernel.
    ThreadedNapi,
    /// Mask of the CPUs that send by a transmit queue.
    XpsCpus,
}

impl AdapterFile {
    /// Every file.
    pub const ALL: [Self; 6] = [
        Self::DeferHardIrqs,
        Self::GroFlushTimeout,
        Self::RpsCpus,
        Self::RpsFlows,
        Self::ThreadedNapi,
        Self::XpsCpus,
    ];

    /// How the folders of the queues begin, where the file is of queues; its name.
    const fn place(self) -> (Option<&'static str>, &'static str) {
        match self {
            Self::DeferHardIrqs => (None, "napi_defer_hard_irqs"),
            Self::GroFlushTimeout => (None, "gro_flush_timeout"),
            Self::RpsCpus => (Some("rx-"), "rps_cpus"),
            Self::RpsFlows => (Some("rx-"), "rps_flow_cnt"),
            Self::ThreadedNapi => (None, "threaded"),
            Self::XpsCpus => (Some("tx-"), "xps_cpus"),
        }
    }

    /// What the refusal of a write means.
    const fn remedy(self, errno: Errno) -> Option<&'static str> {
        match (self, errno) {
            (_, Errno::PERM | Errno::ACCESS) => {
                Some("the kernel asks for CAP_NET_ADMIN of the machine itself; take lab root")
            }
            (Self::ThreadedNapi, Errno::OPNOTSUPP) => {
                Some("the adapter has no NAPI; a virtual pair has one while gro = \"on\"")
            }
            _ => None,
        }
    }
}

/// The files of the adapters of one network namespace.
#[derive(Debug)]
pub struct AdapterFiles {
    /// The root of a sysfs of that namespace.
    root: OwnedFd,
}

impl AdapterFiles {
    /// Those of the network namespace of the calling process.
    ///
    /// # Errors
    /// When the kernel refuses a sysfs, in its words.
    pub fn open() -> Result<Self, LabError> {
        // Mounts of a user namespace are its own only in a mount namespace of its own, which lives
        // as long as the thread that made it.
        let apart = || namespace::own_mounts().and_then(|()| sysfs().map_err(refused));
        let root = sysfs().or_else(|first| match first {
            Errno::PERM => thread::spawn(apart).join().unwrap_or_else(|_| Err(refused(first))),
            other => Err(refused(other)),
        });
        Ok(Self { root: root? })
    }

    /// The files below a folder.
    #[cfg(test)]
    pub fn below(folder: &std::path::Path) -> Self {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self { root: rustix::fs::open(folder, how, Mode::empty()).unwrap() }
    }

    /// The folder of a link, as this process reaches it while the value lives. Its path cannot be
    /// resolved to another: the sysfs is mounted nowhere.
    #[must_use]
    pub fn folder(&self, link: &str) -> PathBuf {
        format!("/proc/self/fd/{}/class/net/{link}", self.root.as_raw_fd()).into()
    }

    /// What the files say, one text each, queues by their numbers; none where the adapter has no
    /// such file.
    ///
    /// # Errors
    /// When there is no such link, or a file cannot be read.
    pub fn read(&self, link: &str, file: AdapterFile) -> Result<Option<Vec<String>>, LabError> {
        let mut texts = Vec::new();
        for path in self.paths(link, file)? {
            let mut text = String::new();
            let read = self.file(&path, OFlags::RDONLY);
            match read.and_then(|mut file| file.read_to_string(&mut text)) {
                Ok(_) => texts.push(text.trim().to_owned()),
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(source) => return Err(LabError::File { path, source }),
            }
        }
        Ok(Some(texts).filter(|texts| !texts.is_empty()))
    }

    /// Writes a text to each file, or one text to all.
    ///
    /// # Errors
    /// When the kernel refuses one, in its words; or when there are fewer texts than queues.
    pub fn write(&self, link: &str, file: AdapterFile, texts: &[String]) -> Result<(), LabError> {
        let paths = self.paths(link, file)?;
        if texts.len() != 1 && texts.len() != paths.len() {
            let what = format!("{} values for {} queues", texts.len(), paths.len());
            return Err(LabError::File { path: link.into(), source: io::Error::other(what) });
        }
        for (path, text) in paths.into_iter().zip(texts.iter().cycle()) {
            let written = self.file(&path, OFlags::WRONLY);
            let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|source| {
                let remedy = Errno::from_io_error(&source).and_then(|errno| file.remedy(errno));
                let told = remedy.map(|remedy| io::Error::other(format!("{source}; {remedy}")));
                LabError::File { path, source: told.unwrap_or(source) }
            })?;
        }
        Ok(())
    }

    fn file(&self, path: &str, how: OFlags) -> io::Result<File> {
        Ok(File::from(openat(&self.root, path, how | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// The file of a link, or that of each of its queues.
    fn paths(&self, link: &str, file: AdapterFile) -> Result<Vec<String>, LabError> {
        let path = format!("class/net/{link}");
        if link.is_empty() || link.starts_with('.') || link.contains('/') {
            return Err(LabError::File { path, source: io::Error::other("no name of a link") });
        }
        let (queue, name) = file.place();
        let Some(queue) = queue else { return Ok(vec![format!("{path}/{name}")]) };
        let folder = format!("{path}/queues");
        let fail = |source: Errno| LabError::File { path: folder.clone(), source: source.into() };
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&self.root, &folder, how, Mode::empty()).map_err(fail)?;
        let entries = Dir::new(opened).map_err(fail)?.flatten();
        let number = |entry: rustix::fs::DirEntry| {
            entry.file_name().to_str().ok()?.strip_prefix(queue)?.parse::<u32>().ok()
        };
        let mut numbers: Vec<u32> = entries.filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers.iter().map(|number| format!("{folder}/{queue}{number}/{name}")).collect())
    }
}

/// A sysfs of the network namespace of this thread, mounted nowhere.
fn sysfs() -> Result<OwnedFd, Errno> {
    let filesystem = fsopen("sysfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&filesystem)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&filesystem, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn refused(errno: Errno) -> LabError {
    LabError::Namespace { what: "a sysfs of the host's network namespace", source: errno.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An adapter of two receive queues and one transmit queue, as a tree of files.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> (Self, AdapterFiles) {
            let name = format!("stend-adapter-file-{}-{name}", std::process::id());
            let root = std::env::temp_dir().join(name);
            for (path, text) in [
                ("queues/rx-0/rps_cpus", "0\n"),
                ("queues/rx-10/rps_cpus", "3\n"),
                ("queues/rx-2/rps_cpus", "1\n"),
                ("queues/tx-0/xps_cpus", "0\n"),
                ("gro_flush_timeout", "0\n"),
            ] {
                let path = root.join("class/net/eth7").join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let opened = rustix::fs::open(&root, OFlags::DIRECTORY, Mode::empty()).unwrap();
            (Self(root), AdapterFiles { root: opened })
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn every_queue_has_its_text_and_one_text_is_for_all() {
        let (_tree, files) = Tree::new("queues");
        let read = || files.read("eth7", AdapterFile::RpsCpus).unwrap().unwrap();
        assert_eq!(read(), texts(&["0", "1", "3"]), "by number");
        files.write("eth7", AdapterFile::RpsCpus, &texts(&["2"])).unwrap();
        assert_eq!(read(), texts(&["2", "2", "2"]));
        files.write("eth7", AdapterFile::RpsCpus, &texts(&["4", "5", "6"])).unwrap();
        assert_eq!(read(), texts(&["4", "5", "6"]));
        let few = files.write("eth7", AdapterFile::RpsCpus, &texts(&["1", "2"])).unwrap_err();
        assert!(few.to_string().contains("2 values for 3 queues"), "{few}");
        assert_eq!(read(), texts(&["4", "5", "6"]), "none of them is written");
        let one = files.read("eth7", AdapterFile::GroFlushTimeout).unwrap();
        assert_eq!(one, Some(texts(&["0"])));
    }

    #[test]
    fn what_an_adapter_lacks_is_absent_and_no_other_path_can_be_named() {
        let (tree, files) = Tree::new("paths");
        assert_eq!(files.read("eth7", AdapterFile::ThreadedNapi).unwrap(), None);
        fs::create_dir_all(tree.0.join("class/net/a/b")).unwrap();
        fs::write(tree.0.join("class/net/a/b/threaded"), "0").unwrap();
        for name in ["", ".", "..", "a/b", "../net/eth7"] {
            let refused = files.write(name, AdapterFile::ThreadedNapi, &texts(&["1"])).unwrap_err();
            assert!(refused.to_string().contains("no name of a link"), "{name}: {refused}");
        }
    }

    #[test]
    fn what_the_kernel_refuses_is_said_with_what_helps() {
        let said = |file: AdapterFile, errno| file.remedy(errno).unwrap_or_default();
        assert!(said(AdapterFile::RpsCpus, Errno::PERM).contains("CAP_NET_ADMIN of the machine"));
        assert!(said(AdapterFile::ThreadedNapi, Errno::OPNOTSUPP).contains("gro = \"on\""));
        assert_eq!(said(AdapterFile::XpsCpus, Errno::INVAL), "");
    }
}
