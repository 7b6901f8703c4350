//! Knows which calls the kernel grants that it grants to some only: each is made once, on nothing,
//! and what it opened is closed.
//!
//! Must not know what they would be good for.

use super::{Capability, State, said};
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::path::Path;

/// `BPF_MAP_CREATE` and `BPF_MAP_TYPE_ARRAY` of `linux/bpf.h`.
const MAP_CREATE: libc::c_long = 0;
const ARRAY: u32 = 2;
/// `PERF_TYPE_HARDWARE`, `PERF_COUNT_HW_CPU_CYCLES` and `PERF_ATTR_SIZE_VER0` of
/// `linux/perf_event.h`; the flags are `disabled`, `exclude_kernel` and `exclude_hv`.
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
const ATTR_SIZE: u32 = 64;
const FLAGS: u64 = 1 | 1 << 5 | 1 << 6;
/// `sizeof(struct io_uring_params)`, in words of four bytes.
const RING_WORDS: usize = 30;

pub(super) fn look(root: &Path) -> Vec<Capability> {
    let one = |name: &str, call: &str, tried: io::Result<OwnedFd>, file: &str| {
        let setting = said(root, file);
        match tried {
            Ok(_) => Capability::new(name, State::Ok, format!("{call}: granted; {setting}")),
            Err(e) => Capability::new(name, State::Absent, format!("{call}: {e}; {setting}")),
        }
    };
    vec![
        one("BPF", "bpf(MAP_CREATE)", bpf(), "proc/sys/kernel/unprivileged_bpf_disabled"),
        one("PMU", "perf_event_open(cycles)", cycles(), "proc/sys/kernel/perf_event_paranoid"),
        one("io_uring", "io_uring_setup", ring(), "proc/sys/kernel/io_uring_disabled"),
    ]
}

/// A map of one element.
fn bpf() -> io::Result<OwnedFd> {
    // map_type, key_size, value_size, max_entries, and flags and the like, which are 0.
    let mut attr = [0_u32; 32];
    attr[..4].copy_from_slice(&[ARRAY, 4, 4, 1]);
    let size = size_of_val(&attr);
    // SAFETY: the kernel reads `size` bytes of an array that lives until the call has returned.
    opened(unsafe { libc::syscall(libc::SYS_bpf, MAP_CREATE, attr.as_mut_ptr(), size) })
}

/// The cycles of this thread, not counting.
fn cycles() -> io::Result<OwnedFd> {
    // type and size in one, config, period, sample_type, read_format, flags, wakeup, address.
    let mut attr = [0_u64; ATTR_SIZE as usize / 8];
    attr[0] = u64::from(HARDWARE) | u64::from(ATTR_SIZE) << 32;
    attr[1] = CYCLES;
    attr[5] = FLAGS;
    let (this, any, none) = (0, -1, -1);
    let call = libc::SYS_perf_event_open;
    // SAFETY: the kernel reads the 64 bytes that the structure says it has; it lives until the call
    // has returned.
    opened(unsafe { libc::syscall(call, attr.as_mut_ptr(), this, any, none, 0) })
}

/// A ring of one entry.
fn ring() -> io::Result<OwnedFd> {
    let mut params = [0_u32; RING_WORDS];
    // SAFETY: the kernel writes its 120 bytes of parameters into an array that is as long.
    opened(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr()) })
}

/// The descriptor that a call gave.
fn opened(answer: libc::c_long) -> io::Result<OwnedFd> {
    match i32::try_from(answer) {
        // SAFETY: the call has just made this descriptor for us, and nobody else knows it.
        Ok(number) if number >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        _ => Err(io::Error::last_os_error()),
    }
}
