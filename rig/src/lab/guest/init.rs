//! Knows what our binary does as the first process of a guest: file systems, modules, names of
//! adapters, the address for control, and an agent that serves one run after the other.
//!
//! Must not know how the guest was started.

use super::GuestError;
use crate::lab::link::Routes;
use crate::lab::trust;
use rustix::fs::CWD;
use rustix::mount::{MountFlags, mount};
use rustix::process::WaitOptions;
use rustix::system::{RebootCommand, init_module, reboot};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Port of the agent.
pub const CONTROL: u16 = 7000;
/// What the console says once the agent listens.
pub const LISTENS: &str = "stend guest: the agent listens";
/// The address for control: the first that QEMU's network of user mode gives.
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// The word of the command line that holds the code.
pub(super) const JOIN: &str = "stend.join";
/// The second word to our binary.
pub(super) const COMMANDS: &str = "init";
/// Where the modules are, in the order in which they are loaded.
pub(super) const MODULES: &str = "/modules";
/// The first bytes that QEMU gives to adapters.
const PREFIX: [u8; 3] = [0x52, 0x54, 0x00];
const PART: &str = "/lab/part";

/// The address of an adapter of a guest; 0 is that for control.
pub(super) fn mac(guest: u8, adapter: u8) -> String {
    let [a, b, c] = PREFIX;
    format!("{a:02x}:{b:02x}:{c:02x}:00:{guest:02x}:{adapter:02x}")
}

/// Is the first process of a guest, up to its end.
///
/// # Errors
/// When this is not such a process. A guest that cannot serve says why on its console and ends.
pub fn init() -> Result<(), GuestError> {
    if std::process::id() != 1 {
        let source = io::Error::other("only the kernel of a guest starts this");
        return Err(GuestError::refused("init", source));
    }
    if let Err(e) = serve() {
        say(&format!("stend guest: {e}"));
    }
    // The kernel would panic when its first process ends.
    std::thread::sleep(Duration::from_secs(1));
    reboot(RebootCommand::PowerOff).map_err(|e| GuestError::refused("power off", e))
}

fn say(words: &str) {
    let _ = writeln!(io::stdout(), "{words}");
}

fn serve() -> Result<(), GuestError> {
    mounts()?;
    modules()?;
    network()?;
    let path = Path::new("/proc/cmdline");
    let line = fs::read_to_string(path).map_err(|e| GuestError::file(path, e))?;
    let code = line.split_whitespace().find_map(|word| word.strip_prefix(JOIN)?.strip_prefix('='));
    let joined = trust::join(code.unwrap_or_default(), Path::new(PART), &mut |_| ());
    let joined = joined.map_err(|e| GuestError::refused("join", io::Error::other(e)))?;
    let _ = rustix::system::sethostname(joined.name.as_bytes());
    say(&format!("stend guest: joined as '{}'", joined.name));
    loop {
        run().map_err(|e| GuestError::refused("agent", e))?;
    }
}

/// One life of the agent; children that nobody else waits for are waited for here.
fn run() -> io::Result<()> {
    let address = format!("{ADDRESS}:{CONTROL}");
    let mut command = Command::new("/stend");
    command.args(["agent", "listen", &address, "--dir", PART]).env("HOME", "/");
    let agent = command.env("PATH", "/").spawn()?;
    std::thread::spawn(|| {
        for _ in 0..600 {
            if listens() {
                return say(LISTENS);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    loop {
        let ended = rustix::process::wait(WaitOptions::empty())?;
        let of_agent =
            |pid: rustix::process::Pid| u32::try_from(pid.as_raw_nonzero().get()) == Ok(agent.id());
        if ended.is_some_and(|(pid, _)| of_agent(pid)) {
            // One that cannot begin must not keep the CPU busy.
            std::thread::sleep(Duration::from_millis(100));
            return Ok(());
        }
    }
}

/// Whether somebody listens at the port of the agent: state 0A of proc(5).
fn listens() -> bool {
    let port = format!(":{CONTROL:04X} 00000000:0000 0A");
    fs::read_to_string("/proc/net/tcp").is_ok_and(|text| text.contains(&port))
}

fn mounts() -> Result<(), GuestError> {
    let kinds = [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/run"),
        ("tmpfs", "/tmp"),
        ("cgroup2", "/sys/fs/cgroup"),
    ];
    for (kind, path) in kinds {
        mount(kind, path, kind, MountFlags::empty(), None)
            .map_err(|e| GuestError::refused(format!("mount {path}"), e))?;
    }
    let mode = rustix::fs::Mode::from_raw_mode(0o755);
    rustix::fs::mkdirat(CWD, "/run/netns", mode).map_err(|e| GuestError::refused("/run/netns", e))
}

/// Loads the modules; one that the hardware is missing for is told and passed over.
fn modules() -> Result<(), GuestError> {
    let path = Path::new(MODULES);
    let entries = fs::read_dir(path).map_err(|e| GuestError::file(path, e))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let body = fs::read(&file).map_err(|e| GuestError::file(&file, e))?;
        if let Err(e) = init_module(&body, options(&file)) {
            say(&format!("stend guest: {}: {e}", file.display()));
        }
    }
    Ok(())
}

/// The parameters of a module; the one of bonds shall make none.
fn options(file: &Path) -> &'static CStr {
    let named = file.file_name().unwrap_or_default().to_string_lossy();
    if named.contains("-bonding") { c"max_bonds=0" } else { c"" }
}

/// Names the adapters by their addresses, `control` and `eth1` up, and sets up the first.
fn network() -> Result<(), GuestError> {
    let refused = |what: &str| {
        let what = what.to_owned();
        move |e: crate::lab::link::LinkError| GuestError::refused(what, io::Error::other(e))
    };
    let named = await_adapters();
    let mut routes = Routes::open().map_err(refused("rtnetlink"))?;
    // Two steps, for a name may be another's now.
    for (at, name) in &named {
        routes.rename(name, &format!("new{at}")).map_err(refused(name))?;
    }
    for at in named.keys() {
        let name = if *at == 0 { "control".to_owned() } else { format!("eth{at}") };
        routes.rename(&format!("new{at}"), &name).map_err(refused(&name))?;
    }
    routes.set_up("lo", true).map_err(refused("lo"))?;
    routes.set_up("control", true).map_err(refused("control"))?;
    routes.add_address("control", ADDRESS.into(), 24).map_err(refused("control"))
}

/// The adapters of the guest by number, once that for control is there.
fn await_adapters() -> BTreeMap<u8, String> {
    let prefix = PREFIX.map(|byte| format!("{byte:02x}")).join(":");
    let mut found = BTreeMap::new();
    for _ in 0..100 {
        for entry in fs::read_dir("/sys/class/net").into_iter().flatten().flatten() {
            let address = fs::read_to_string(entry.path().join("address")).unwrap_or_default();
            let Some((_, last)) = address.trim().rsplit_once(':') else { continue };
            if let (true, Ok(at)) = (address.starts_with(&prefix), u8::from_str_radix(last, 16)) {
                found.insert(at, entry.file_name().to_string_lossy().into_owned());
            }
        }
        if found.contains_key(&0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    found
}
