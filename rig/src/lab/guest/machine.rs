//! Knows how a guest is put together and started: archive, command line of QEMU, cables.
//!
//! Must not know what happens inside (`init.rs`).

use super::adapter::Model;
use super::archive::Archive;
use super::init::{ADDRESS, COMMANDS, JOIN, MODULES, mac};
use super::kernel::Kernel;
use super::{CONTROL, GuestError};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

const EMULATOR: &str = "qemu-system-x86_64";
/// Where a guest reaches the loopback of the machine that emulates it.
pub const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
/// What a guest has besides its files, MiB.
const MEMORY_MIB: u64 = 256;

/// From what guests boot.
#[derive(Debug)]
pub struct System {
    kernel: PathBuf,
    archive: PathBuf,
    memory_mib: u64,
}

impl System {
    /// Makes the archive of guests in a directory: this program, the libraries that it needs, and
    /// the modules for these adapters.
    ///
    /// # Errors
    /// When a module is not there, or a file cannot be read or written.
    pub fn build(
        kernel: &Kernel,
        program: &Path,
        models: &[Model],
        directory: &Path,
    ) -> Result<Self, GuestError> {
        let drivers: Vec<&'static str> = models.iter().map(|model| model.driver).collect();
        let modules = kernel.load(&drivers)?;
        let libraries = libraries(program)?;
        let path = directory.join("initramfs");
        let size = pack(&path, program, &libraries, &modules);
        let size = size.map_err(|e| GuestError::file(&path, e))?;
        // The archive is in memory twice while it is unpacked.
        let memory_mib = MEMORY_MIB + 2 * size.div_ceil(1 << 20);
        Ok(Self { kernel: kernel.image.clone(), archive: path, memory_mib })
    }
}

/// Writes the archive, and tells its size in bytes.
fn pack(
    path: &Path,
    program: &Path,
    libraries: &[String],
    modules: &[(String, Vec<u8>)],
) -> io::Result<u64> {
    let mut archive = Archive::create(path)?;
    for name in ["dev", "proc", "sys", "run", "tmp", "lab", "var", "var/lib", "etc"] {
        archive.directory(name)?;
    }
    let inside = MODULES.trim_start_matches('/');
    archive.directory(inside)?;
    for (at, (name, body)) in modules.iter().enumerate() {
        archive.file(&format!("{inside}/{at:03}-{name}"), body)?;
    }
    for library in libraries {
        archive.file(library.trim_start_matches('/'), &fs::read(library)?)?;
    }
    archive.file("stend", &fs::read(program)?)?;
    archive.end()
}

/// The libraries of a program, with the one that loads them; none of a static one.
fn libraries(program: &Path) -> Result<Vec<String>, GuestError> {
    let head = fs::read(program).map_err(|e| GuestError::file(program, e))?;
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let named = head.get(..4096).unwrap_or_default();
    if !named.windows(loader.len()).any(|window| window == loader.as_bytes()) {
        return Ok(Vec::new());
    }
    let output = Command::new(loader).arg("--list").arg(program).output();
    let output = output.map_err(|e| GuestError::refused(loader, e))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let paths = said.split_whitespace().filter(|word| word.starts_with('/'));
    let mut paths: Vec<String> = paths.map(str::to_owned).collect();
    paths.push(loader.into());
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Both ends of a cable. A frame is a datagram, so that a guest that ends cuts none in two.
///
/// # Errors
/// When the kernel has no sockets left.
pub fn cable() -> Result<(OwnedFd, OwnedFd), GuestError> {
    socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .map_err(|e| GuestError::refused("a cable", e))
}

/// An adapter of a guest, and its ends of cables: a hub joins several.
#[derive(Debug)]
pub struct Port {
    /// What it is.
    pub model: Model,
    /// One cable for each guest that it reaches.
    pub cables: Vec<OwnedFd>,
}

/// How one guest differs from another.
#[derive(Debug)]
pub struct Boot<'a> {
    /// Its number, from 1 up.
    pub number: u8,
    /// The code by which it joins.
    pub code: &'a str,
    /// Port of the loopback of this machine at which its agent is reached.
    pub port: u16,
    /// Its adapters.
    pub ports: &'a [Port],
    /// The file that its console is written to.
    pub console: &'a Path,
    /// The socket at which QEMU takes orders of its machine protocol (QMP).
    pub orders: &'a Path,
}

/// A guest that runs; it ends with the value, and with the process that has it.
#[derive(Debug)]
pub struct Guest(Child);

impl Guest {
    /// Boots a guest. `program` is this one, which starts the emulator by [`emulate`].
    ///
    /// # Errors
    /// When the emulator is not there or cannot be started.
    pub fn boot(system: &System, program: &Path, boot: &Boot<'_>) -> Result<Self, GuestError> {
        let found = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&found).any(|path| path.join(EMULATOR).is_file());
        if !found {
            return Err(GuestError::NoEmulator(EMULATOR));
        }
        let mut command = Command::new(program);
        command.args(["guest", "emulate"]).args(words(system, boot));
        let child = with_inherited(boot.ports, || command.spawn());
        child.map(Self).map_err(|e| GuestError::refused(EMULATOR, e))
    }

    /// How it ended; none while it runs.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts what inherits the cables of these ports, and nothing else does.
fn with_inherited(ports: &[Port], start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
    let set = |flags: FdFlags| {
        let mut ends = ports.iter().flat_map(|port| &port.cables);
        ends.try_for_each(|end| fcntl_setfd(end.as_fd(), flags))
    };
    set(FdFlags::empty())?;
    let started = start();
    set(FdFlags::CLOEXEC)?;
    started
}

/// The command line of the emulator. Two threads of one core: a guest has SMT that can
/// be switched, which QEMU gives without doubts to processors of this vendor only.
fn words(system: &System, boot: &Boot<'_>) -> Vec<String> {
    let Boot { number, code, port, ports, console, orders } = boot;
    let append =
        format!("rdinit=/stend console=ttyS0 quiet panic=-1 {JOIN}={code} -- guest {COMMANDS}");
    let mut words: Vec<String> = [
        "-accel",
        "tcg,thread=multi",
        "-machine",
        "q35",
        "-cpu",
        "max,vendor=GenuineIntel",
        "-smp",
        "2,sockets=1,cores=1,threads=2",
        "-smbios",
        "type=1,manufacturer=QEMU,product=software emulation (TCG)",
        "-nodefaults",
        "-display",
        "none",
        "-no-reboot",
    ]
    .map(str::to_owned)
    .into();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    add("-m", format!("{}M", system.memory_mib));
    add("-kernel", system.kernel.display().to_string());
    add("-initrd", system.archive.display().to_string());
    add("-append", append);
    add("-serial", format!("file:{}", console.display()));
    add("-qmp", format!("unix:{},server=on,wait=off", orders.display()));
    let to = format!("{ADDRESS}:{CONTROL}");
    add("-netdev", format!("user,id=control,restrict=off,hostfwd=tcp:127.0.0.1:{port}-{to}"));
    add("-device", format!("virtio-net-pci,netdev=control,romfile=,mac={}", mac(*number, 0)));
    for (at, port) in (1_u8..).zip(*ports) {
        for (cable, end) in port.cables.iter().enumerate() {
            let end = end.as_raw_fd();
            add("-netdev", format!("dgram,id=cable{at}-{cable},local.type=fd,local.str={end}"));
            if port.cables.len() > 1 {
                let hub = format!("hubport,id=hub{at}-{cable},hubid={at}");
                add("-netdev", format!("{hub},netdev=cable{at}-{cable}"));
            }
        }
        let mut data = format!("cable{at}-0");
        if port.cables.len() > 1 {
            data = format!("hub{at}");
            add("-netdev", format!("hubport,id={data},hubid={at}"));
        }
        let (device, mac) = (port.model.device, mac(*number, at));
        add("-device", format!("{device},id=eth{at},netdev={data},romfile=,mac={mac}"));
    }
    words
}

/// Becomes the emulator, which then ends with the process that started it.
///
/// # Errors
/// When it cannot be started; else this does not come back.
pub fn emulate(words: &[String]) -> Result<(), GuestError> {
    let kill = Some(rustix::process::Signal::KILL);
    rustix::process::set_parent_process_death_signal(kill)
        .map_err(|e| GuestError::refused("the end with the parent", e))?;
    Err(GuestError::refused(EMULATOR, Command::new(EMULATOR).args(words).exec()))
}
