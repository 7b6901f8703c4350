//! Knows Redis, which stands beside a web server: a string a page, under `page:NUMBER`.
//!
//! It keeps nothing on a disk. Must not know who asks.

use super::database::{memory, rows};
use super::root::{Root, directory};
use super::{Companion, Site, Software, Why};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The row.
pub const COMPANION: Companion = Companion {
    software: Software {
        name: "redis",
        program: "redis-server",
        package: "redis-server php-redis",
        files: &[],
        versions: &[("redis-server", &["--version"])],
    },
    socket: SOCKET,
    prepare: |site| {
        directory(site, "sql").map_err(|e| format!("{}: {e}", site.path("sql").display()))
    },
    start,
    fill,
    root: Root::Refuses,
};

/// Where it is asked, below the run directory.
const SOCKET: &str = "sql/socket";
/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(5);

fn start(site: &Site) -> Vec<String> {
    let path = |name: &str| site.path(name).display().to_string();
    let mut options = vec![format!("--maxmemory {}", memory(site))];
    options.push(format!("--unixsocket {}", path(SOCKET)));
    options.push(format!("--dir {}", path("sql")));
    let fixed = ["--port 0", "--unixsocketperm 777", "--appendonly no", "--maxclients 1100"];
    options.extend(fixed.map(str::to_owned));
    let words = options.iter().flat_map(|option| option.split(' ')).map(str::to_owned);
    words.chain(["--save".into(), String::new()]).collect()
}

/// Sets every string, by the commands of its protocol (RESP2, "array of bulk strings").
fn fill(site: &Site) -> Result<(), Why> {
    let fail = |e: std::io::Error| format!("filling it: {e}");
    let socket = UnixStream::connect(site.path(SOCKET)).map_err(fail)?;
    socket.set_read_timeout(Some(ANSWER)).map_err(fail)?;
    let mut answers = BufReader::new(&socket);
    for (row, file) in rows(site) {
        let body = std::fs::read(&file).map_err(|e| format!("{file}: {e}"))?;
        (&socket).write_all(&command(row, &body)).map_err(fail)?;
        let mut answer = String::new();
        answers.read_line(&mut answer).map_err(fail)?;
        if answer != "+OK\r\n" {
            return Err(format!("it does not take row {row}: {}", answer.trim_end()));
        }
    }
    Ok(())
}

fn command(row: u64, body: &[u8]) -> Vec<u8> {
    let key = format!("page:{row}");
    let head = format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n", key.len(), body.len());
    [head.as_bytes(), body, b"\r\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_serves_at_its_socket_alone_and_keeps_nothing() {
        let site = Site { directory: "/tmp/x".into(), ..Site::told(BTreeMap::new()) };
        let options = start(&site);
        let after = |name: &str| {
            let at = options.iter().position(|option| option == name).unwrap();
            options[at + 1].as_str()
        };
        assert_eq!((after("--port"), after("--save"), after("--dir")), ("0", "", "/tmp/x/sql"));
        assert_eq!((after("--maxmemory"), after("--appendonly")), ("134217728", "no"));
    }

    #[test]
    fn a_string_is_set_by_its_length() {
        assert_eq!(command(12, b"a\r\n"), b"*3\r\n$3\r\nSET\r\n$7\r\npage:12\r\n$3\r\na\r\n\r\n");
    }
}
