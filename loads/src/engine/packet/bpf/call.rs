//! Knows the calls of bpf(2) that this needs, and the signal that ends a long one.
//!
//! Must not know what a program does.

use super::BpfError;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;

/// `enum bpf_cmd`.
const MAP_CREATE: libc::c_long = 0;
const LOOKUP: libc::c_long = 1;
const UPDATE: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const TEST_RUN: libc::c_long = 10;
const LINK_CREATE: libc::c_long = 28;
/// `BPF_PROG_TYPE_XDP`, `BPF_XDP` and `BPF_F_TEST_XDP_LIVE_FRAMES`.
const XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const LIVE: u32 = 1 << 1;
/// `XDP_FLAGS_DRV_MODE`: by the driver, or not at all.
const NATIVE: u32 = 1 << 2;
/// `BPF_F_XDP_HAS_FRAGS`: frames may have more than their first part.
const IN_PARTS: u32 = 1 << 5;
/// None of the helpers that are used is for programs under the GPL alone.
const LICENCE: &CStr = c"Apache-2.0";
/// Bytes of the verifier's log that are asked for, and of its end that are told.
const LOG: usize = 1 << 18;
const TOLD: usize = 1200;
/// The signal that ends a call; no other part of the program uses it.
const INTERRUPT: i32 = libc::SIGUSR2;

/// What the kernel is told: 18 words, of which the first are used (`union bpf_attr`).
struct Attr([u64; 18]);

impl Attr {
    const fn new() -> Self {
        Self([0; 18])
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        for (offset, byte) in (at..).zip(bytes) {
            let mut word = self.0[offset / 8].to_ne_bytes();
            word[offset % 8] = *byte;
            self.0[offset / 8] = u64::from_ne_bytes(word);
        }
    }

    fn word(mut self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_ne_bytes());
        self
    }

    fn file(self, at: usize, file: &OwnedFd) -> Self {
        self.word(at, file.as_raw_fd().cast_unsigned())
    }

    fn address<T>(mut self, at: usize, of: *const T) -> Self {
        self.put(at, &(of.addr() as u64).to_ne_bytes());
        self
    }

    fn name(mut self, at: usize, name: &str) -> Self {
        // 15 letters and a zero.
        self.put(at, name.as_bytes().get(..name.len().min(15)).unwrap_or_default());
        self
    }

    /// What the kernel has written at a place of it.
    fn told(&self, at: usize) -> u32 {
        let bytes = self.0[at / 8].to_ne_bytes();
        u32::from_ne_bytes(std::array::from_fn(|byte| bytes[at % 8 + byte]))
    }

    /// Makes the call. What its addresses lead to must live and be as long as the call asks.
    fn call(&mut self, number: libc::c_long) -> io::Result<i32> {
        let size = size_of_val(&self.0);
        // SAFETY: the kernel reads `size` bytes of an array that lives until the call has
        // returned; what its addresses lead to is lent by the callers of this file, each for as
        // many bytes as the call reads or writes there.
        let answer = unsafe { libc::syscall(libc::SYS_bpf, number, self.0.as_mut_ptr(), size) };
        i32::try_from(answer).ok().filter(|n| *n >= 0).ok_or_else(io::Error::last_os_error)
    }

    /// Makes a call that gives a descriptor.
    fn open(mut self, number: libc::c_long) -> io::Result<OwnedFd> {
        let file = self.call(number)?;
        // SAFETY: the call has just made this descriptor for us, and nobody else knows it.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    }
}

fn failed(call: &'static str) -> impl Fn(io::Error) -> BpfError {
    move |source| BpfError::Call { call, source }
}

/// How a map finds its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// By a key of any bytes.
    Hash,
    /// By a number of four bytes.
    Array,
    /// By a number of four bytes, a value for each CPU.
    PerCpu,
    /// By a number of four bytes, an adapter: the index in the lower half of a word.
    Adapters,
    /// By a number of four bytes, a socket of AF_XDP; it is put in by [`Map::put_socket`].
    Sockets,
}

/// A map: memory that programs and this process share.
#[derive(Debug)]
pub struct Map {
    file: OwnedFd,
    key: usize,
    value: usize,
    /// Values of one key.
    copies: usize,
}

impl Map {
    /// With so many entries, of keys and values of so many bytes. All zero where it is an array.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn new(kind: MapKind, (key, value): (u32, u32), entries: u32) -> Result<Self, BpfError> {
        let number = match kind {
            MapKind::Hash => 1,
            MapKind::Array => 2,
            MapKind::PerCpu => 6,
            MapKind::Adapters => 14,
            MapKind::Sockets => 17,
        };
        let attr = Attr::new().word(0, number).word(4, key).word(8, value).word(12, entries);
        let file = attr.name(28, "stend").open(MAP_CREATE).map_err(failed("MAP_CREATE"))?;
        let copies = if kind == MapKind::PerCpu { possible_cpus() } else { 1 };
        Ok(Self { file, key: key as usize, value: value as usize, copies })
    }

    /// Number of its descriptor.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// The values of a key, one for each CPU where it has such, as words of eight bytes; a value
    /// of fewer bytes fills its word from the start.
    ///
    /// # Errors
    /// What the kernel says: `ENOENT` where a hash does not have it.
    pub fn read(&self, key: &[u8]) -> Result<Vec<Vec<u64>>, BpfError> {
        self.fits(key, self.value)?;
        let words = self.value.div_ceil(8);
        let mut values = vec![0_u64; words * self.copies];
        let attr = Attr::new().file(0, &self.file).address(8, key.as_ptr());
        // The kernel writes a value, or one for each possible CPU, each rounded up to eight bytes.
        let mut attr = attr.address(16, values.as_mut_ptr());
        attr.call(LOOKUP).map_err(failed("MAP_LOOKUP_ELEM"))?;
        Ok(values.chunks(words.max(1)).map(<[u64]>::to_vec).collect())
    }

    /// The sums of the values of a number over all CPUs, word by word.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn sums(&self, number: u32) -> Result<Vec<u64>, BpfError> {
        let values = self.read(&number.to_ne_bytes())?;
        let words = values.first().map_or(0, Vec::len);
        Ok((0..words).map(|at| values.iter().map(|value| value[at]).sum()).collect())
    }

    /// Sets the value of a key in a map that is not per CPU.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn write(&self, key: &[u8], value: &[u64]) -> Result<(), BpfError> {
        self.fits(key, value.len() * 8)?;
        self.update(key, value.as_ptr())
    }

    /// Puts a socket of AF_XDP in.
    ///
    /// # Errors
    /// What the kernel says: `EOPNOTSUPP` where it has no ring of frames that come.
    pub fn put_socket(&self, number: u32, socket: &OwnedFd) -> Result<(), BpfError> {
        let value = socket.as_raw_fd();
        let key = number.to_ne_bytes();
        self.fits(&key, size_of_val(&value))?;
        self.update(&key, &raw const value)
    }

    /// Sets the value of a key, both as long as the map says.
    fn update<T>(&self, key: &[u8], value: *const T) -> Result<(), BpfError> {
        let attr = Attr::new().file(0, &self.file).address(8, key.as_ptr());
        let mut attr = attr.address(16, value);
        attr.call(UPDATE).map(drop).map_err(failed("MAP_UPDATE_ELEM"))
    }

    /// The kernel reads and writes as many bytes as the map says, whatever it is handed.
    fn fits(&self, key: &[u8], value: usize) -> Result<(), BpfError> {
        if key.len() == self.key && value == self.value {
            return Ok(());
        }
        let what = format!("{} and {value} B for {} and {}", key.len(), self.key, self.value);
        Err(failed("MAP_ELEM")(io::Error::new(io::ErrorKind::InvalidInput, what)))
    }
}

/// CPUs that the kernel could have: of each it keeps a value.
fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or(1, |last| last + 1)
}

/// A program that the verifier has taken.
#[derive(Debug)]
pub struct Program(OwnedFd);

impl Program {
    /// Loads a program of XDP for frames that lie in one page each.
    ///
    /// # Errors
    /// What the kernel says, with the end of the verifier's log.
    pub fn load(name: &'static str, code: &[u64]) -> Result<Self, BpfError> {
        Self::load_as(name, code, 0)
    }

    /// Loads one for longer frames, too, of which it sees the first part (Linux 5.18).
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_for_parts(name: &'static str, code: &[u64]) -> Result<Self, BpfError> {
        Self::load_as(name, code, IN_PARTS)
    }

    fn load_as(name: &'static str, code: &[u64], flags: u32) -> Result<Self, BpfError> {
        let count = u32::try_from(code.len()).unwrap_or(u32::MAX);
        let attr = |level: u32, log: &mut [u8]| {
            let attr = Attr::new().word(0, XDP).word(4, count).address(8, code.as_ptr());
            let attr = attr.address(16, LICENCE.as_ptr()).name(48, name).word(24, level);
            let attr = attr.word(44, flags);
            match level {
                0 => attr,
                _ => attr
                    .word(28, u32::try_from(log.len()).unwrap_or(0))
                    .address(32, log.as_mut_ptr()),
            }
        };
        let mut log = vec![0_u8; LOG];
        match attr(0, &mut log).open(PROG_LOAD) {
            Ok(file) => Ok(Self(file)),
            // Only who is refused pays for the log.
            Err(_) => match attr(1, &mut log).open(PROG_LOAD) {
                Ok(file) => Ok(Self(file)),
                Err(source) => Err(BpfError::Refused { name, source, log: last_of(&log) }),
            },
        }
    }

    /// Attaches it to the frames that an interface of this network namespace receives, by the
    /// driver. It stays until this is dropped or the process ends.
    ///
    /// # Errors
    /// What the kernel says: `EOPNOTSUPP` where the driver has no XDP.
    pub fn attach(&self, index: u32) -> Result<Attached, BpfError> {
        let attr = Attr::new().file(0, &self.0).word(4, index).word(8, ATTACH_XDP);
        let file = attr.word(12, NATIVE).open(LINK_CREATE);
        file.map(Attached).map_err(|source| BpfError::Attach { index, source })
    }

    /// Runs it over copies of a frame and does with each what it says, `times` times in one call,
    /// so many at once, until [`interrupt`] ends the call.
    ///
    /// # Errors
    /// What the kernel says. An end by a signal is none.
    pub fn run_live(&self, frame: &[u8], times: u32, batch: u32) -> Result<(), BpfError> {
        let bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let attr = Attr::new().file(0, &self.0).word(8, bytes).address(16, frame.as_ptr());
        let mut attr = attr.word(32, times).word(64, LIVE).word(72, batch);
        match attr.call(TEST_RUN) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(failed("PROG_TEST_RUN")(e)),
            _ => Ok(()),
        }
    }

    /// Runs it over a frame, `times` times, and does nothing with it. Gives its last answer, and
    /// the mean time of a run in nanoseconds, as the kernel tells it.
    ///
    /// # Errors
    /// What the kernel says: `EINVAL` for a frame of fewer than 14 B.
    pub fn run(&self, frame: &[u8], times: u32) -> Result<(u32, u32), BpfError> {
        let bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let attr = Attr::new().file(0, &self.0).word(8, bytes).address(16, frame.as_ptr());
        let mut attr = attr.word(32, times);
        attr.call(TEST_RUN).map_err(failed("PROG_TEST_RUN"))?;
        Ok((attr.told(4), attr.told(36)))
    }
}

fn last_of(log: &[u8]) -> String {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[end.saturating_sub(TOLD)..end]);
    text.trim().replace('\n', " | ")
}

/// A program at an interface.
#[derive(Debug)]
pub struct Attached(#[expect(dead_code, reason = "what is attached goes with it")] OwnedFd);

/// The number of the calling thread, for [`interrupt`].
#[must_use]
pub fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

extern "C" fn nothing(_: i32) {}

/// Has the signal of [`interrupt`] end system calls and nothing else, in all of this process.
///
/// # Errors
/// What the kernel says.
pub fn take_interrupts() -> io::Result<()> {
    let handler: extern "C" fn(i32) = nothing;
    // SAFETY: all zero is a `sigaction` without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    // SAFETY: the structure lives until the call has returned; the handler does nothing, which is
    // safe in a signal.
    match unsafe { libc::sigaction(INTERRUPT, &raw const action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Ends the system call that a thread of this process is in; [`take_interrupts`] comes before.
pub fn interrupt(thread: i32) {
    let process = std::process::id();
    // SAFETY: the call takes numbers. A thread that has ended is not found, and one that got its
    // number is of this process too and only has a call ended early.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, INTERRUPT) };
}
