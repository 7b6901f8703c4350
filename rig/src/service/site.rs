//! Knows where an instance lives: its run directory, its address, its settings.
//!
//! Must not know which service it is of.

use super::Why;
use super::told::FileSum;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for an answer of the service, and longest answer.
const ANSWER: Duration = Duration::from_secs(2);
const ANSWER_MAX: u64 = 64 << 10;
/// Bytes of an answer that are read by one call.
const PIECE: usize = 64 << 10;
/// Lines of a log that go with a fault.
const LOG_LINES: usize = 5;
/// Bytes of a log that are kept with a fault.
const LOG_MAX: u64 = 64 << 10;

/// Where an instance lives.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its run directory.
    pub directory: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it listens without encryption, for its keeper: the same, or another port.
    pub plain: SocketAddr,
    /// What it is told, as the service calls it.
    pub settings: BTreeMap<String, String>,
    /// CPUs that it may use.
    pub cpus: usize,
    /// Whether it begins as the root of the machine, and may become somebody else.
    pub is_root: bool,
}

impl Site {
    /// One that nobody has made yet, with these settings.
    #[must_use]
    pub fn told(settings: BTreeMap<String, String>) -> Self {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let directory = PathBuf::new();
        Self { directory, address, plain: address, settings, cpus: 1, is_root: false }
    }

    /// A setting, or what it is where nobody says.
    #[must_use]
    pub fn setting<'s>(&'s self, name: &str, default: &'s str) -> &'s str {
        self.settings.get(name).map_or(default, String::as_str)
    }

    /// Whether its clients encrypt.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.setting("tls", "off") != "off"
    }

    /// A path below the run directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a file below the run directory.
    ///
    /// # Errors
    /// When the path leaves it, or the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Why> {
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(format!("{name} is no path below the run directory"));
        }
        let path = self.path(name);
        let fail = |e: std::io::Error| format!("{}: {e}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&self.directory)).map_err(fail)?;
        fs::write(&path, bytes).map_err(fail)
    }

    /// A file below the run directory by its digest; none where it cannot be read.
    pub(super) fn sum(&self, name: &str) -> Option<FileSum> {
        let bytes = fs::read(self.path(name)).ok()?;
        Some(FileSum::of(&(name.to_owned(), &bytes)))
    }

    /// The body of the answer to `GET path`, which must be 200, or its beginning.
    ///
    /// # Errors
    /// When it does not answer, or otherwise.
    pub fn get(&self, path: &str) -> Result<String, Why> {
        let (_, body) = get(self.plain, path, (ANSWER_MAX, ANSWER), Ok)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// The log, or its last 64 KiB; empty where there is none.
    #[must_use]
    pub fn whole_log(&self) -> String {
        let read = || {
            let mut file = fs::File::open(self.path("log"))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_MAX)))?;
            let mut text = Vec::new();
            file.take(LOG_MAX).read_to_end(&mut text).map(|_| text)
        };
        let text = read().unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The last lines of the log, in one; empty where there is none.
    #[must_use]
    pub fn log(&self) -> String {
        let text = self.whole_log();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("; ")
    }
}

/// Asks a server for a path once, through what a connection becomes; head and body of its answer,
/// which must be 200, as far as this many bytes and this time reach.
///
/// # Errors
/// When it does not answer in time, or otherwise.
pub(super) fn get<S: Read + Write>(
    server: SocketAddr,
    path: &str,
    within: (u64, Duration),
    through: impl FnOnce(TcpStream) -> io::Result<S>,
) -> Result<(String, Vec<u8>), Why> {
    let answer = connect(server, within.1).and_then(through);
    let answer = answer.and_then(|socket| ask(socket, (server, path), within));
    let answer = answer.map_err(|e| format!("{server}: {e}"))?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = answer.split_at(end.map_or(answer.len(), |end| end + 4));
    let head = String::from_utf8_lossy(head).into_owned();
    match head.split_ascii_whitespace().nth(1) {
        Some("200") => Ok((head, body.to_vec())),
        _ => Err(format!("{server} says {} for {path}", head.lines().next().unwrap_or_default())),
    }
}

fn connect(server: SocketAddr, longest: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&server, longest)?;
    socket.set_read_timeout(Some(longest))?;
    Ok(socket)
}

fn ask(
    mut socket: impl Read + Write,
    (server, path): (SocketAddr, &str),
    (most, longest): (u64, Duration),
) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + longest;
    // HTTP/1.0: the server ends the connection behind the answer, which has no chunks.
    let asks = format!("GET {path} HTTP/1.0\r\nHost: {server}\r\nUser-Agent: stend\r\n\r\n");
    socket.write_all(asks.as_bytes())?;
    let (mut answer, mut piece) = (Vec::new(), vec![0; PIECE]);
    while (answer.len() as u64) < most {
        let n = match socket.read(&mut piece) {
            // A session of TLS that ends without a word.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => 0,
            read => read?,
        };
        answer.extend_from_slice(&piece[..n]);
        if n == 0 {
            break;
        }
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn site(directory: &Path, port: u16) -> Site {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (settings, directory) = (BTreeMap::new(), directory.into());
        Site { directory, address, plain: address, settings, cpus: 1, is_root: false }
    }

    #[test]
    fn files_stay_below_the_run_directory_and_the_log_is_its_end() {
        let directory = std::env::temp_dir().join(format!("stend-site-{}", std::process::id()));
        let site = site(&directory, 1);
        for outside in ["../x", "/etc/x", "a/../../x", ""] {
            assert!(site.write(outside, b"").is_err(), "{outside}");
        }
        assert_eq!(site.log(), "");
        site.write("log", b"1\n2\n3\n4\n5\n6\n").unwrap();
        assert_eq!(site.log(), "2; 3; 4; 5; 6");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn an_answer_that_is_not_200_is_an_error_in_its_own_words() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = std::thread::spawn(move || {
            for said in ["HTTP/1.1 200 OK\r\n\r\nfine", "HTTP/1.1 404 Not Found\r\n\r\n"] {
                let (mut socket, _) = listener.accept().unwrap();
                let _ = socket.read(&mut [0; 512]);
                socket.write_all(said.as_bytes()).unwrap();
            }
        });
        let site = site(Path::new("/nowhere"), port);
        assert_eq!(site.get("/"), Ok("fine".into()));
        let wrong = site.get("/").unwrap_err();
        assert!(wrong.ends_with("says HTTP/1.1 404 Not Found for /"), "{wrong}");
        serve.join().unwrap();
        assert!(site.get("/").is_err());
    }
}
