//! Knows a server that stend did not start: where it is, whether load may go there, how long a page
//! of it is.
//!
//! Must not know what clients ask of it.

use super::Why;
use super::site::get;
use crate::lab::own;
use desk::record::address_of_page;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::Duration;

/// Ports of HTTP and HTTPS.
const PORTS: [u16; 2] = [80, 443];
/// Longest wait for a page, longest page, and longest answer.
const WAIT: Duration = Duration::from_secs(5);
const PAGE_MAX: u64 = 64 << 20;
const ANSWER_MAX: u64 = 65 << 20;

/// A page of a server that is somebody's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// Where the server listens.
    pub address: SocketAddrV4,
    /// What is asked for, from its `/` on.
    pub path: String,
    /// Whether connections to it are encrypted.
    pub is_encrypted: bool,
}

impl fmt::Display for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.address, self.path)
    }
}

impl External {
    /// Reads `http://192.0.2.7:8080/page`, or the same with `https`; none of a word that names a
    /// server otherwise.
    ///
    /// # Errors
    /// When it is no such address, with the remedy.
    #[must_use]
    pub fn of(word: &str) -> Option<Result<Self, Why>> {
        let (rest, is_encrypted) = address_of_page(word)?;
        let port = PORTS[usize::from(is_encrypted)];
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let alone = || host.parse().map(|host: Ipv4Addr| SocketAddrV4::new(host, port));
        let address = host.parse().or_else(|_| alone());
        let wrong = || {
            format!(
                "'{word}' is no address of a page; write http:// or https://, the IPv4 address of \
                 the server, a port and a path, as in http://192.0.2.7:8080/page"
            )
        };
        let path = if path.is_empty() { "/" } else { path };
        let read = address.map(|address| Self { address, path: path.into(), is_encrypted });
        // A plan writes it in quotes, and a request in a line.
        let fits = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
        Some(if word.chars().all(fits) { read.map_err(|_| wrong()) } else { Err(wrong()) })
    }

    /// Refuses a server to which no load may go.
    ///
    /// # Errors
    /// When nobody has declared its address, with the remedy.
    pub fn refuse(&self) -> Result<(), Why> {
        let at = *self.address.ip();
        if own::is_owned(at.into()) {
            return Ok(());
        }
        Err(format!("load would go to {at}; if the server there is yours, add --i-own {at}"))
    }

    /// Bytes of the page, by one request through what a connection becomes.
    ///
    /// # Errors
    /// When no load may go there; when it does not answer, or otherwise than with 200 and the page
    /// that it announces.
    pub fn length<S: Read + Write>(
        &self,
        through: impl FnOnce(TcpStream) -> io::Result<S>,
    ) -> Result<u64, Why> {
        self.refuse()?;
        self.asked_length(through)
    }

    fn asked_length<S: Read + Write>(
        &self,
        through: impl FnOnce(TcpStream) -> io::Result<S>,
    ) -> Result<u64, Why> {
        let (head, body) = get(self.address.into(), &self.path, (ANSWER_MAX, WAIT), through)?;
        let announced = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_it = name.eq_ignore_ascii_case("content-length");
            is_it.then(|| value.trim().parse::<u64>().ok()).flatten()
        });
        let came = body.len() as u64;
        match announced.unwrap_or(came) == came && came > 0 && came <= PAGE_MAX {
            true => Ok(came),
            false => Err(format!("{} sends {came} B for {}, not a page", self.address, self.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_address_of_a_page_is_read_and_another_word_is_none() {
        let of = |word: &str| External::of(word).map(|read| read.map(|at| at.to_string()));
        assert_eq!(of("http://192.0.2.7"), Some(Ok("192.0.2.7:80/".into())));
        assert_eq!(of("http://192.0.2.7:81/a/b?c"), Some(Ok("192.0.2.7:81/a/b?c".into())));
        assert_eq!(of("https://192.0.2.7/a"), Some(Ok("192.0.2.7:443/a".into())));
        assert_eq!(of("nginx"), None);
        for wrong in ["http://", "http://name/", "http://192.0.2.7:x/", "http://192.0.2.7:99999/"] {
            let said = of(wrong).unwrap().unwrap_err();
            assert!(said.contains(wrong) && said.contains("192.0.2.7:8080/page"), "{said}");
        }
    }

    #[test]
    fn only_a_server_of_ones_own_is_asked_and_the_length_of_a_page_is_that_of_its_body() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let at = listener.local_addr().unwrap();
        let page = External::of(&format!("http://{at}/x")).unwrap().unwrap();
        let stranger = page.length(Ok).unwrap_err();
        assert!(stranger.contains("--i-own 127.0.0.1"), "{stranger}");
        let serve = std::thread::spawn(move || {
            let fine = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nfine";
            let cut = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfine";
            for said in [fine, "HTTP/1.1 404 No\r\n\r\n", cut, "HTTP/1.1 200 OK\r\n\r\n"] {
                // The stranger's connection would be the first.
                let (mut socket, _) = listener.accept().unwrap();
                let _ = socket.read(&mut [0; 512]);
                socket.write_all(said.as_bytes()).unwrap();
            }
        });
        assert_eq!(page.asked_length(Ok), Ok(4));
        assert!(page.asked_length(Ok).unwrap_err().contains("says HTTP/1.1 404 No for /x"));
        assert!(page.asked_length(Ok).unwrap_err().contains("sends 4 B for /x"));
        assert!(page.asked_length(Ok).unwrap_err().contains("sends 0 B for /x"));
        serve.join().unwrap();
        assert!(page.asked_length(Ok).is_err());
    }
}
