//! Knows how another tool is started where a host is, in its network namespace and its control
//! group, and when it listens.
//!
//! Must not know which tool, nor what it measures.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends when it is dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, which is what was wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program in a host's network namespace and control group on one CPU.
pub fn start(
    (host, cpu): (u32, u32),
    program: &str,
    words: &str,
    out: Stdio,
) -> io::Result<Running> {
    let child = Command::new("nsenter")
        .arg(format!("--net=/proc/{host}/ns/net"))
        .args(["taskset", "-c", &cpu.to_string(), program])
        .args(words.split(' '))
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()?;
    let running = Running(child);
    join(host, running.0.id())?;
    Ok(running)
}

/// Puts a process into the control group of a host, so that both pay the kernel's accounting.
fn join(host: u32, process: u32) -> io::Result<()> {
    for line in fs::read_to_string(format!("/proc/{host}/cgroup"))?.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        if !group.contains("stend-") {
            continue;
        }
        let mounts = [controllers, "unified", ""].map(|at| format!("/sys/fs/cgroup/{at}{group}"));
        let Some(place) = mounts.iter().find(|place| Path::new(place).is_dir()) else {
            return Err(io::Error::other(format!("control group {group} is not found")));
        };
        fs::write(Path::new(place).join("cgroup.procs"), process.to_string())?;
    }
    Ok(())
}

/// Waits until somebody listens on a port there.
pub fn wait_for_port(host: u32, port: i32) -> io::Result<()> {
    let wanted = format!(":{port:04X}");
    let deadline = Instant::now() + Duration::from_secs(3);
    let listens = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        words.get(1).is_some_and(|w| w.ends_with(&wanted)) && words.get(3) == Some(&"0A")
    };
    while Instant::now() < deadline {
        for table in ["tcp", "tcp6"] {
            let text = fs::read_to_string(format!("/proc/{host}/net/{table}")).unwrap_or_default();
            if text.lines().any(listens) {
                return Ok(());
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(io::Error::other(format!("nobody listens on port {port}")))
}
