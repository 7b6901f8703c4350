//! Knows where the files and the driver of an adapter are reached that has gone to the namespace of
//! a host: the machine's own sysfs no longer lists it.
//!
//! Must not know what is read of it.

use crate::lab::adapter_file::AdapterFiles;
use crate::lab::error::LabError;
use crate::lab::ethtool::Counters;
use crate::lab::ethtool::Ethtool;
use crate::lab::namespace;
use std::path::PathBuf;

/// An adapter in the network namespace of a host.
#[derive(Debug)]
pub struct Away {
    /// Its name on the machine.
    pub own: String,
    /// Its name there.
    name: String,
    /// The file of the namespace.
    namespace: PathBuf,
    files: AdapterFiles,
}

impl Away {
    /// One that has gone, by its name on the machine and its name there.
    ///
    /// # Errors
    /// When the namespace cannot be joined, or the kernel refuses a sysfs of it.
    pub(super) fn find(own: String, name: &str, namespace: PathBuf) -> Result<Self, LabError> {
        let files = namespace::within(&namespace, AdapterFiles::open).flatten()?;
        Ok(Self { own, name: name.to_owned(), namespace, files })
    }

    /// One whose files lie below a folder, as those of a sysfs do.
    #[cfg(test)]
    pub fn of_files(own: &str, name: &str, sysfs: &std::path::Path) -> Self {
        let files = AdapterFiles::below(sysfs);
        Self { own: own.to_owned(), name: name.to_owned(), namespace: PathBuf::new(), files }
    }

    /// The folder of its files, which this process can open while the value lives.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.files.folder(&self.name)
    }

    /// What its driver has counted; none where it does not tell.
    #[must_use]
    pub fn counters(&self) -> Option<Counters> {
        let name = self.name.clone();
        let ask = move || Ethtool::open()?.counters(&name);
        namespace::within(&self.namespace, ask).ok()?.ok()
    }
}
