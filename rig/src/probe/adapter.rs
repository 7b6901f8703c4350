//! Knows which network adapters of the machine sit on a device, as no virtual one does, and those
//! that have gone to the namespaces of hosts, whatever they are.
//!
//! Must not know what is read of them.

use crate::lab::{Away, Ours};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An adapter of the machine.
#[derive(Clone, Debug)]
pub(super) struct Adapter {
    /// Its name on the machine, also where it has another one in a namespace.
    pub name: String,
    /// The folder of its files, as below `/sys/class/net`.
    pub folder: PathBuf,
    /// The folder of its device, whose parents are the bridges; none of a virtual one.
    pub device: Option<PathBuf>,
    /// Where it is, if not in the machine's own namespace.
    pub away: Option<Arc<Away>>,
}

/// Every adapter, by name.
pub(super) fn adapters(root: &Path, ours: &Ours) -> Vec<Adapter> {
    let links = root.join("sys/class/net");
    let here = fs::read_dir(&links).into_iter().flatten().flatten().filter_map(|entry| {
        let folder = entry.path();
        let device = Some(fs::canonicalize(folder.join("device")).ok()?);
        Some(Adapter { name: entry.file_name().into_string().ok()?, folder, device, away: None })
    });
    let away = ours.away.iter().map(|away| {
        let folder = away.folder();
        // `../../devices/pci0000:00/0000:00:03.0/net/NAME`: the device is the machine's, too.
        let device = || {
            let link = fs::read_link(&folder).ok().filter(|_| folder.join("device").exists())?;
            fs::canonicalize(links.join(link.parent()?.parent()?)).ok()
        };
        let (name, device, away) = (away.own.clone(), device(), Some(Arc::clone(away)));
        Adapter { name, device, folder: folder.clone(), away }
    });
    let mut all: Vec<_> = here.chain(away).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

impl Adapter {
    /// One of its statistics, by the name of the file.
    pub fn statistic(&self, file: &str) -> PathBuf {
        self.folder.join("statistics").join(file)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    /// A machine with one adapter on a device and a virtual one, and the sysfs of a namespace that
    /// has another port of the device under a name of its own.
    #[test]
    fn one_in_a_namespace_has_the_device_of_the_machine_and_its_own_name() {
        let tree = Tree::new("adapters");
        let (bus, port) = ("devices/pci0000:00/0000:00:01.0", "0000:03:00.1");
        tree.directory(&format!("sys/{bus}/0000:03:00.0"));
        tree.directory(&format!("sys/{bus}/{port}"));
        tree.file("sys/class/net/eth1/mtu", "1500\n");
        let device = tree.path(&format!("sys/{bus}/0000:03:00.0"));
        tree.link("sys/class/net/eth1/device", &device);
        tree.file("sys/class/net/veth0/mtu", "1500\n");
        let folder = format!("theirs/{bus}/{port}/net/path");
        tree.file(&format!("{folder}/statistics/rx_bytes"), "7\n");
        tree.link(&format!("{folder}/device"), Path::new("../.."));
        let to = format!("../../{bus}/{port}/net/path");
        tree.link("theirs/class/net/path", Path::new(&to));
        tree.file("theirs/devices/virtual/net/cable/mtu", "1500\n");
        tree.link("theirs/class/net/cable", Path::new("../../devices/virtual/net/cable"));
        let theirs = tree.path("theirs");
        let away = |own, name| Arc::new(Away::of_files(own, name, &theirs));
        let ours =
            Ours { away: vec![away("eth2", "path"), away("veth7", "cable")], ..Ours::default() };
        let found = adapters(tree.root(), &ours);
        let told: Vec<_> = found.iter().map(|a| (a.name.as_str(), a.device.clone())).collect();
        let port = tree.path(&format!("sys/{bus}/{port}"));
        assert_eq!(told, [("eth1", Some(device)), ("eth2", Some(port)), ("veth7", None)]);
        assert_eq!(fs::read_to_string(found[1].statistic("rx_bytes")).unwrap(), "7\n");
        assert_eq!(adapters(tree.root(), &Ours::default()).len(), 1);
    }
}
