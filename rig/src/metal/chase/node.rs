//! Knows how memory comes from a certain NUMA node, and from which it came. Must not know what for.

use std::io;
use std::path::Path;

/// `MPOL_DEFAULT`, `MPOL_BIND` of `linux/mempolicy.h`.
const DEFAULT: libc::c_int = 0;
const BIND: libc::c_int = 2;
/// `MPOL_F_NODE` and `MPOL_F_ADDR`: ask for the node of an address.
const NODE_OF_ADDRESS: libc::c_ulong = 1 | 2;
/// Nodes that a mask can name.
const MOST: u32 = 1024;

/// Numbers of the nodes that have memory; `0` alone where the kernel knows of no nodes.
#[must_use]
pub fn nodes(root: &Path) -> Vec<u32> {
    let path = root.join("sys/devices/system/node/has_memory");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let found = list(text.trim());
    if found.is_empty() { vec![0] } else { found }
}

/// Numbers of a kernel list such as `0-3,8`.
fn list(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            numbers.extend((first..=last).take(MOST as usize));
        }
    }
    numbers
}

/// Does something with all memory that this thread touches for the first time coming from `node`
/// (none: from where the thread runs).
///
/// # Errors
/// When the kernel refuses, or what is done fails.
pub fn with<T>(node: Option<u32>, make: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let Some(node) = node else { return make() };
    let mut mask = [0_u64; MOST as usize / 64];
    let word = mask.get_mut(node as usize / 64).ok_or(format!("node {node}: at most {MOST}"))?;
    *word |= 1 << (node % 64);
    policy(BIND, &mask).map_err(|e| format!("memory of node {node}: {e}"))?;
    let made = make();
    policy(DEFAULT, &[]).map_err(|e| format!("memory of any node again: {e}"))?;
    made
}

fn policy(mode: libc::c_int, mask: &[u64]) -> io::Result<()> {
    // The kernel reads one bit less than it is told.
    let bits = if mask.is_empty() { 0 } else { mask.len() * 64 + 1 };
    let start = if mask.is_empty() { std::ptr::null() } else { mask.as_ptr() };
    // SAFETY: the kernel reads as many bits of the mask as it has, or none at all.
    let refused = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, start, bits) } != 0;
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The node that holds the page of an address.
///
/// # Errors
/// When the kernel cannot tell: no NUMA in it, or no page there.
pub fn of(address: usize) -> io::Result<u32> {
    let mut node: libc::c_int = -1;
    let none = std::ptr::null::<libc::c_ulong>();
    // SAFETY: the kernel writes one int; it only looks up the page of the address.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_get_mempolicy,
            &raw mut node,
            none,
            0_usize,
            address,
            NODE_OF_ADDRESS,
        )
    } != 0;
    if refused {
        return Err(io::Error::last_os_error());
    }
    u32::try_from(node).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(list("0-2,8"), [0, 1, 2, 8]);
        assert_eq!(list("0"), [0]);
        assert_eq!(list(""), Vec::<u32>::new());
    }

    #[test]
    fn a_machine_without_nodes_has_node_0() {
        assert_eq!(nodes(Path::new("/nowhere")), [0]);
    }

    #[test]
    fn memory_of_node_0_is_on_node_0() {
        let block = with(Some(0), || Ok(vec![1_u8; 1 << 20]));
        // A kernel without NUMA, or a sandbox that allows no policy, refuses; that is an answer.
        let Ok(block) = block else { return };
        if let Ok(node) = of(block.as_ptr() as usize) {
            assert_eq!(node, 0);
        }
        assert!(with(Some(MOST), || Ok(())).is_err());
    }
}
