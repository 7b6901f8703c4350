//! Knows where a kernel and its modules are, and in which order modules are loaded.
//!
//! Must not know what a guest does with them.

use super::GuestError;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Without these a guest is of no use; the drivers of its adapters come besides.
const NEEDED: [&str; 4] = ["virtio_pci", "virtio_net", "veth", "bridge"];
/// These make more possible: links of several clients, bonds, VLAN, IPsec, shapers, congestion
/// control, IPMI. Those that ESP asks for by the name of an algorithm come before it.
const WANTED: [&str; 19] = [
    "macvlan",
    "bonding",
    "8021q",
    "xfrm_user",
    "aesni_intel",
    "ghash_generic",
    "ctr",
    "gcm",
    "sha512_generic",
    "drbg",
    "seqiv",
    "esp4",
    "sch_tbf",
    "sch_fq",
    "sch_fq_codel",
    "tcp_bbr",
    "tcp_dctcp",
    "ipmi_si",
    "ipmi_devintf",
];

/// A kernel that can be booted, and its modules.
#[derive(Debug)]
pub struct Kernel {
    /// The image.
    pub image: PathBuf,
    release: String,
    /// Files of the modules by name; one that is built in has none.
    modules: BTreeMap<String, Option<PathBuf>>,
}

impl Kernel {
    /// The newest kernel below a directory: `/`, or where a package was unpacked.
    ///
    /// # Errors
    /// When there is none that can be read together with its modules.
    pub fn find(root: &Path) -> Result<Self, GuestError> {
        let none = || GuestError::NoKernel(root.into());
        let mut images: Vec<(Vec<u64>, String, PathBuf)> = Vec::new();
        for entry in fs::read_dir(root.join("boot")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(release) = name.strip_prefix("vmlinuz-") else { continue };
            if modules(root, release).is_dir() && fs::File::open(entry.path()).is_ok() {
                let numbers = release.split(|c: char| !c.is_ascii_digit());
                let numbers = numbers.filter_map(|n| n.parse().ok()).collect();
                images.push((numbers, release.into(), entry.path()));
            }
        }
        let (_, release, image) = images.into_iter().max().ok_or_else(none)?;
        let directory = modules(root, &release);
        let mut found = BTreeMap::new();
        let builtin = fs::read_to_string(directory.join("modules.builtin")).unwrap_or_default();
        found.extend(builtin.lines().filter_map(|line| Some((name(Path::new(line))?, None))));
        walk(&directory.join("kernel"), &mut found);
        Ok(Self { image, release, modules: found })
    }

    /// Names and bodies of the modules that a guest with these drivers loads, in that order.
    ///
    /// # Errors
    /// When one that is needed is not there, or cannot be unpacked.
    pub fn load(&self, drivers: &[&'static str]) -> Result<Vec<(String, Vec<u8>)>, GuestError> {
        let mut order = Vec::new();
        for module in NEEDED.into_iter().chain(drivers.iter().copied()) {
            if !self.modules.contains_key(module) {
                return Err(GuestError::NoModule { release: self.release.clone(), module });
            }
            self.add(module, &mut order)?;
        }
        for module in WANTED {
            self.add(module, &mut order)?;
        }
        Ok(order)
    }

    /// Adds a module behind those that it depends on.
    fn add(&self, module: &str, order: &mut Vec<(String, Vec<u8>)>) -> Result<(), GuestError> {
        let Some(Some(path)) = self.modules.get(module) else { return Ok(()) };
        if order.iter().any(|(name, _)| name == module) {
            return Ok(());
        }
        let body = unpacked(path)?;
        for needed in depends(&body) {
            self.add(&needed, order)?;
        }
        order.push((module.into(), body));
        Ok(())
    }
}

fn modules(root: &Path, release: &str) -> PathBuf {
    let merged = root.join("usr/lib/modules").join(release);
    if merged.is_dir() { merged } else { root.join("lib/modules").join(release) }
}

/// The name by which the kernel knows the module of a file.
fn name(path: &Path) -> Option<String> {
    let (name, _) = path.file_name()?.to_str()?.split_once(".ko")?;
    Some(name.replace('-', "_"))
}

fn walk(directory: &Path, found: &mut BTreeMap<String, Option<PathBuf>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, found);
        } else if let Some(name) = name(&path) {
            found.insert(name, Some(path));
        }
    }
}

/// What a module says in its section `.modinfo` that it depends on.
pub(super) fn depends(body: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = body.windows(KEY.len()).position(|window| window == KEY) else {
        return Vec::new();
    };
    let rest = body.get(at + KEY.len()..).unwrap_or_default();
    let list = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    let list = String::from_utf8_lossy(list).replace('-', "_");
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The body of a module. The standard distributions pack with xz or zstd, or not at all.
fn unpacked(path: &Path) -> Result<Vec<u8>, GuestError> {
    let bad = |why: String| GuestError::Packed { path: path.into(), why };
    match path.extension().and_then(|end| end.to_str()) {
        Some("ko") => fs::read(path).map_err(|e| GuestError::file(path, e)),
        Some("zst") => {
            let file = fs::File::open(path).map_err(|e| GuestError::file(path, e))?;
            zstd::decode_all(file).map_err(|e| bad(e.to_string()))
        }
        Some("xz") => {
            let output = Command::new("xz").arg("-dc").arg(path).output();
            let output = output.map_err(|e| bad(format!("xz: {e}; run `apt install xz-utils`")))?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(output.stdout) } else { Err(bad(said)) }
        }
        _ => Err(bad("not packed by xz or zstd; unpack it, and name its directory".into())),
    }
}
