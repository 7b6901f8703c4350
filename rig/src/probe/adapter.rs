//! Knows which network adapters sit on a device, as no virtual one does.
//!
//! Must not know what is read of them.

use std::fs;
use std::path::{Path, PathBuf};

/// Name and folder below `/sys/class/net` of every adapter on a device, by name.
pub(super) fn on_devices(root: &Path) -> Vec<(String, PathBuf)> {
    let adapters = fs::read_dir(root.join("sys/class/net")).into_iter().flatten().flatten();
    let named = adapters.filter_map(|adapter| {
        let path = adapter.path();
        path.join("device").exists().then_some(())?;
        Some((adapter.file_name().into_string().ok()?, path))
    });
    let mut all: Vec<_> = named.collect();
    all.sort();
    all
}
