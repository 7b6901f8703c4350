//! Knows the other clients of HTTP: how they are started, what they print, the CPU they use; and
//! the nginx that they ask.
//!
//! Must not know how figures are judged.

use super::process::{Running, start, wait_for_port};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Address and port of the server.
const SERVER: &str = "127.0.0.1:8080";
const PORT: i32 = 8080;

/// Another tool.
pub struct Peer {
    /// The file of its client.
    pub name: &'static str,
    /// Debian's package, which the script installs; none if it counts only where it is on PATH.
    pub package: Option<&'static str>,
    /// Its options for so many connections and seconds.
    words: fn(u32, u32) -> String,
    /// Responses in what it prints.
    responses: fn(&str) -> Option<f64>,
}

/// All of them, with flags as their authors document them.
pub const PEERS: &[Peer] = &[
    Peer {
        name: "wrk",
        package: Some("wrk"),
        words: |connections, seconds| format!("-t1 -c{connections} -d{seconds}s"),
        responses: |text| number(text.lines().find(|l| l.contains(" requests in "))?),
    },
    Peer {
        name: "ab",
        package: Some("apache2-utils"),
        words: |connections, seconds| format!("-q -k -c {connections} -t {seconds} -n 100000000"),
        responses: |text| number(text.lines().find_map(|l| l.strip_prefix("Complete requests:"))?),
    },
    Peer {
        name: "h2load",
        package: Some("nghttp2-client"),
        words: |connections, seconds| format!("--h1 -t1 -c {connections} -D {seconds}"),
        responses: |text| number(text.lines().find_map(|l| l.strip_prefix("requests:"))?),
    },
    Peer {
        name: "oha",
        package: None,
        words: |connections, seconds| format!("--no-tui -c {connections} -z {seconds}s"),
        responses: |text| number(text.lines().find_map(|l| l.trim().strip_prefix("[200]"))?),
    },
];

/// The number that a text begins with.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// What a client got, and what it cost.
#[derive(Clone, Copy)]
pub struct Got {
    /// Responses a second.
    pub rate: f64,
    /// Its CPU time for one response, seconds.
    pub cost: f64,
}

impl Peer {
    /// Whether it can be started.
    pub fn is_there(&self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|at| at.join(self.name).is_file())
    }

    /// Asks for a file of these bytes from a host on one CPU.
    ///
    /// # Errors
    /// When it does not start, says nothing, or fails.
    pub fn run(
        &self,
        (host, cpu): (u32, u32),
        (connections, bytes): (u32, u64),
        seconds: u32,
    ) -> io::Result<Got> {
        let words = (self.words)(connections, seconds);
        let line = format!(
            "TIMEFORMAT='stend %U %S'; time taskset -c {cpu} {} {words} http://{SERVER}/{bytes}",
            self.name
        );
        let done = Command::new("nsenter")
            .arg(format!("--net=/proc/{host}/ns/net"))
            .args(["bash", "-c", &line])
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::null())
            .output()?;
        let (out, err) = (text(&done.stdout), text(&done.stderr));
        let silent = || io::Error::other(format!("{} said: {out} {err}", self.name));
        let used = err.lines().rev().find_map(|line| line.strip_prefix("stend "));
        let used = used.ok_or_else(silent)?.split(' ').filter_map(|word| word.parse::<f64>().ok());
        let responses = (self.responses)(&out).filter(|n| *n > 0.0).ok_or_else(silent)?;
        Ok(Got { rate: responses / f64::from(seconds), cost: used.sum::<f64>() / responses })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An nginx with files of these sizes, named after them; it goes with the value.
pub struct Server {
    /// The host that it is on.
    pub host: u32,
    _running: Running,
    directory: PathBuf,
}

impl Server {
    /// Starts one on a CPU of a host.
    ///
    /// # Errors
    /// When it does not listen.
    pub fn start(host: u32, cpu: u32, sizes: &[u64]) -> io::Result<Self> {
        // In memory, as the run directory of a service is.
        let directory = Path::new("/dev/shm").join(format!("stend-http-{}", std::process::id()));
        fs::create_dir_all(directory.join("www"))?;
        for size in sizes {
            let bytes = vec![b'x'; usize::try_from(*size).unwrap_or(0)];
            fs::write(directory.join("www").join(size.to_string()), bytes)?;
        }
        fs::write(directory.join("nginx.conf"), configuration(&directory))?;
        let words = format!("-p {0} -c {0}/nginx.conf -e {0}/log", directory.display());
        let running = start((host, cpu), "/usr/sbin/nginx", &words, Stdio::null())?;
        wait_for_port(host, PORT)?;
        Ok(Self { host, _running: running, directory })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("pkill").args(["-f", &self.directory.display().to_string()]).status();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// As the service `nginx` of stend is set by default, with one worker.
fn configuration(directory: &Path) -> String {
    let at = directory.display();
    let places: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\nuser root;\nworker_rlimit_nofile 16384;\npid {at}/pid;\n\
         error_log {at}/log notice;\nevents {{ worker_connections 8192; }}\n\
         http {{\n{places}access_log off;\nsendfile on;\ntcp_nopush off;\n\
         keepalive_requests 1000000000;\ndefault_type application/octet-stream;\n\
         open_file_cache max=1000;\nserver {{ listen {SERVER} backlog=4096; root {at}/www; }} }}\n"
    )
}
