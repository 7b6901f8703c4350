//! Archives, dependencies of modules, names of adapters.

use super::archive::Archive;
use super::kernel::depends;
use super::*;

#[test]
fn an_archive_has_a_directory_before_what_is_in_it() {
    let path = std::env::temp_dir().join(format!("stend-archive-{}", std::process::id()));
    let mut archive = Archive::create(&path).unwrap();
    archive.directory("a").unwrap();
    archive.file("a/b/c", b"hello").unwrap();
    let size = archive.end().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(bytes.len() as u64, size);
    let (mut rest, mut names) = (bytes.as_slice(), Vec::new());
    loop {
        let entry = cpio::newc::Reader::new(rest).unwrap();
        if entry.entry().is_trailer() {
            break;
        }
        let (name, mode, size) =
            (entry.entry().name().to_owned(), entry.entry().mode(), entry.entry().file_size());
        names.push(format!("{name} {mode:o} {size}"));
        rest = entry.finish().unwrap();
    }
    assert_eq!(names, ["a 40755 0", "a/b 40755 0", "a/b/c 100755 5"]);
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
