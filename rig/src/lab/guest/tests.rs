//! Archives, dependencies of modules, names of adapters.

use super::archive::Archive;
use super::kernel::depends;
use super::*;

#[test]
fn an_archive_is_what_cpio_reads() {
    let mut out = Vec::new();
    let mut archive = Archive::new(&mut out);
    archive.directory("a").unwrap();
    archive.file("a/b", b"hello").unwrap();
    archive.end().unwrap();
    assert_eq!(out.len() % 4, 0);
    let text = String::from_utf8_lossy(&out);
    assert_eq!(text.matches("070701").count(), 3);
    // Header of 110 bytes and a name are a multiple of four, and so is a body.
    assert!(text[112..].starts_with("070701"), "{text}");
    assert_eq!(&out[112 + 116..][..5], b"hello");
}

#[test]
fn a_module_says_what_it_depends_on() {
    assert_eq!(depends(b"x\0depends=net-failover,virtio\0y"), ["net_failover", "virtio"]);
    assert_eq!(depends(b"x\0depends=\0y"), Vec::<String>::new());
    assert_eq!(depends(b"x"), Vec::<String>::new());
}

#[test]
fn an_unknown_adapter_or_a_missing_kernel_is_refused_with_the_remedy() {
    assert_eq!("e1000e-82574l".parse::<Model>().unwrap().device, "e1000e");
    let words = "ne2000".parse::<Model>().unwrap_err().to_string();
    assert!(words.contains("e1000-82540em, e1000-82545em"), "{words}");
    let words = Kernel::find(std::path::Path::new("/nonexistent")).unwrap_err().to_string();
    assert!(words.contains("apt install linux-image-amd64"), "{words}");
}
