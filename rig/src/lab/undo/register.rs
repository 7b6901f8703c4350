//! Knows the one register of a CPU that is ever written: what switches the prefetchers of an Intel
//! core, and of it the four bits that do.
//!
//! Must not know when they are switched. Any other register, and any other bit of this one, stays
//! as it is, whatever a journal says.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path};

/// Number of the register, which is its place in the device of its CPU (msr(4)). Source: Intel,
/// "Disclosure of Hardware Prefetcher Control on Some Intel Processors".
const NUMBER: u64 = 0x1a4;
/// Its bits, each of which takes one prefetcher away: of L2, of the line beside, of L1 data by the
/// next line and by the instruction.
pub const BITS: u64 = 0b1111;

/// Whether a path is the device of a CPU's registers, `dev/cpu/3/msr` below the root.
pub(super) fn is_one(root: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else { return false };
    let parts: Option<Vec<&str>> = inside
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    matches!(parts.as_deref(), Some(["dev", "cpu", cpu, "msr"]) if number(cpu))
}

/// The register of the CPU whose device this is.
///
/// # Errors
/// When the device cannot be opened, or the CPU has no such register.
pub fn read(path: &Path) -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open(path)?.read_exact_at(&mut bytes, NUMBER)?;
    Ok(u64::from_le_bytes(bytes))
}

/// As it stands in a journal.
#[must_use]
pub fn written(value: u64) -> String {
    format!("{value:#x}")
}

/// Writes a value that differs from what is there in the four bits only.
pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    let digits = value.strip_prefix("0x").and_then(|text| u64::from_str_radix(text, 16).ok());
    let value = digits.ok_or_else(|| io::Error::other(format!("'{value}' is no register")))?;
    let now = read(path)?;
    if (now ^ value) & !BITS != 0 {
        let other = format!("{} is more than the prefetchers of {}", written(value), written(now));
        return Err(io::Error::other(other));
    }
    File::options().write(true).open(path)?.write_all_at(&value.to_le_bytes(), NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_the_four_bits_of_the_one_register_are_written() {
        let path = std::env::temp_dir().join(format!("stend-register-{}", std::process::id()));
        let mut bytes = vec![0x55; 0x1a4];
        bytes.extend(0xab0_u64.to_le_bytes());
        bytes.extend([0x55; 8]);
        fs::write(&path, &bytes).unwrap();
        let set = write(&path, "0xabf").and_then(|()| read(&path));
        let refused = ["0xbbf", "0x1ab0", "abf", ""].map(|value| write(&path, value).is_err());
        let after = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((set.unwrap(), refused), (0xabf, [true; 4]));
        let touched = (0..bytes.len()).filter(|at| bytes[*at] != after[*at]).collect::<Vec<_>>();
        assert_eq!(touched, [0x1a4]);
    }

    #[test]
    fn a_register_is_the_device_of_a_cpu_and_nothing_else() {
        let root = Path::new("/r");
        for (path, is) in [
            ("/r/dev/cpu/0/msr", true),
            ("/r/dev/cpu/127/msr", true),
            ("/r/dev/cpu/../msr", false),
            ("/r/dev/cpu/0/cpuid", false),
            ("/r/dev/cpu//msr", false),
            ("/r/dev/cpu/0/0/msr", false),
            ("/r/dev/sda", false),
            ("/dev/cpu/0/msr", false),
        ] {
            assert_eq!(is_one(root, Path::new(path)), is, "{path}");
        }
    }
}
