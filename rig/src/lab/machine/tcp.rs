//! Knows the transport between machines: TCP, both ends proved by a key, every frame by a tag.
//!
//! Each end sends 32 bytes of chance, then HMAC-SHA-256 (RFC 2104) of its role and both chances
//! under the key. Frames carry 16 bytes of HMAC over their number, head and body, under a key of
//! the connection and direction. Nothing is encrypted: whoever listens on the control network reads
//! the orders. Must not know what the frames say.

use super::transport::{self, Frame, KEEP_ALIVE, KeepAlive, Transport};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait for the other end to answer, to prove itself, and to send the rest of a frame.
const WHOLE: Duration = Duration::from_secs(5);
/// What each end says first; the digit is the version of the transport.
const MAGIC: &[u8; 8] = b"STENDMT1";
/// Bytes of a tag.
const TAG: usize = 16;

/// What both ends of a connection prove that they have.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Reads 64 hexadecimal digits from a file that nobody but its owner may read.
    ///
    /// # Errors
    /// When it cannot be read, others may read it, or it holds anything else.
    pub fn read(path: &Path) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::other(format!("key {}: {what}", path.display()));
        if fs::metadata(path)?.mode() & 0o077 != 0 {
            return Err(wrong("others may read it; chmod 600 it and make a new key"));
        }
        let text = fs::read_to_string(path)?;
        let digits = text.trim().as_bytes();
        let mut key = [0; 32];
        if digits.len() != 64 {
            return Err(wrong(
                "64 hexadecimal digits are wanted, as `openssl rand -hex 32` writes",
            ));
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong("it is no text"))?;
            *byte = u8::from_str_radix(pair, 16)
                .map_err(|_| wrong("64 hexadecimal digits are wanted"))?;
        }
        Ok(Self(key))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        keyed(&self.0, parts).finalize().into_bytes().into()
    }
}

/// Which end of a connection this is; each proves itself in its own words.
#[derive(Clone, Copy)]
enum Role {
    Conductor = 1,
    Agent = 2,
}

/// One end of a connection that both ends have proved.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    heard: Seal,
    out: Arc<Mutex<Out>>,
}

/// The sending half, which keep-alive frames share.
#[derive(Debug)]
struct Out {
    stream: TcpStream,
    seal: Seal,
}

/// The key of one direction, and how many frames it has sealed.
#[derive(Debug)]
struct Seal {
    key: Key,
    count: u64,
}

impl Seal {
    /// The tag of the next frame.
    fn next(&mut self, channel: u16, body: &[u8]) -> io::Result<Hmac<Sha256>> {
        let head = transport::head(channel, body)?;
        self.count += 1;
        Ok(keyed(&self.key.0, &[&self.count.to_le_bytes(), &head, body]))
    }
}

impl Out {
    fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()> {
        let tag = self.seal.next(channel, body)?.finalize().into_bytes();
        transport::write(&mut self.stream, channel, body, &tag[..TAG])
    }
}

impl Tcp {
    /// Connects to the agent of a machine.
    ///
    /// # Errors
    /// When nobody listens there, or the other end does not have the key.
    pub fn connect(address: SocketAddr, key: &Key) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, WHOLE)?;
        Self::prove(stream, key, Role::Conductor)
    }

    /// Takes the connection of a conductor.
    ///
    /// # Errors
    /// When the other end does not have the key.
    pub fn accept(stream: TcpStream, key: &Key) -> io::Result<Self> {
        Self::prove(stream, key, Role::Agent)
    }

    fn prove(mut stream: TcpStream, key: &Key, role: Role) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WHOLE))?;
        stream.set_write_timeout(Some(WHOLE))?;
        let mut mine = [0; 32];
        rustix::rand::getrandom(&mut mine, rustix::rand::GetRandomFlags::empty())?;
        stream.write_all(&[MAGIC.as_slice(), &mine].concat())?;
        let mut said = [0; 40];
        stream.read_exact(&mut said)?;
        let theirs = said.strip_prefix(MAGIC);
        let theirs = theirs.ok_or_else(|| refused("the other end is no stend of this version"))?;
        let (conductor, agent) = match role {
            Role::Conductor => (mine.as_slice(), theirs),
            Role::Agent => (theirs, mine.as_slice()),
        };
        let of = |word: &[u8], role: Role| key.mac(&[word, &[role as u8], conductor, agent]);
        let other = match role {
            Role::Conductor => Role::Agent,
            Role::Agent => Role::Conductor,
        };
        stream.write_all(&of(b"proof", role))?;
        let mut proof = [0; 32];
        stream.read_exact(&mut proof).map_err(|_| refused("the other end has another key"))?;
        let wanted = keyed(&key.0, &[b"proof", &[other as u8], conductor, agent]);
        wanted.verify_slice(&proof).map_err(|_| refused("the other end has another key"))?;
        let seal = |role| Seal { key: Key(of(b"frame", role)), count: 0 };
        let out = Out { stream: stream.try_clone()?, seal: seal(role) };
        Ok(Self { stream, heard: seal(other), out: Arc::new(Mutex::new(out)) })
    }
}

impl Transport for Tcp {
    fn send(&mut self, channel: u16, body: &[u8]) -> io::Result<()> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).send(channel, body)
    }

    fn receive(&mut self) -> io::Result<Frame> {
        let frame = transport::read(&mut self.stream)?;
        let mut tag = [0; TAG];
        self.stream.read_exact(&mut tag)?;
        let wanted = self.heard.next(frame.channel, &frame.body)?;
        wanted
            .verify_truncated_left(&tag)
            .map_err(|_| refused("a frame was changed on its way"))?;
        Ok(frame)
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn shares_clock(&self) -> bool {
        false
    }

    fn keep_alive(&self) -> Option<KeepAlive> {
        let out = Arc::clone(&self.out);
        Some(Box::new(move || {
            out.lock().unwrap_or_else(PoisonError::into_inner).send(KEEP_ALIVE, &[])
        }))
    }
}

fn keyed(key: &[u8; 32], parts: &[&[u8]]) -> Hmac<Sha256> {
    // RFC 2104: a key shorter than the hash's block is padded with zeros.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    parts.iter().for_each(|part| mac.update(part));
    mac
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;
    use std::thread;

    type Ends = (io::Result<Tcp>, io::Result<Tcp>);

    fn joined(conductor: u8, agent: u8) -> Ends {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let other =
            thread::spawn(move || Tcp::accept(listener.accept().unwrap().0, &Key([agent; 32])));
        (Tcp::connect(address, &Key([conductor; 32])), other.join().unwrap())
    }

    #[test]
    fn frames_cross_in_both_directions_with_keep_alives_between() {
        let (conductor, agent) = joined(7, 7);
        let (mut conductor, mut agent) = (conductor.unwrap(), agent.unwrap());
        let mut keep_alive = conductor.keep_alive().unwrap();
        conductor.send(3, b"one").unwrap();
        keep_alive().unwrap();
        conductor.send(4, b"two").unwrap();
        agent.send(0, b"three").unwrap();
        let frame = |channel, body: &[u8]| Frame { channel, body: body.to_vec() };
        assert_eq!(agent.receive().unwrap(), frame(3, b"one"));
        assert_eq!(agent.receive().unwrap(), frame(KEEP_ALIVE, b""));
        assert_eq!(agent.receive().unwrap(), frame(4, b"two"));
        assert_eq!(conductor.receive().unwrap(), frame(0, b"three"));
    }

    #[test]
    fn an_end_with_another_key_is_refused_by_both() {
        let (conductor, agent) = joined(7, 8);
        for said in [conductor.unwrap_err(), agent.unwrap_err()] {
            assert!(said.to_string().contains("another key"), "{said}");
        }
    }

    #[test]
    fn a_frame_that_is_changed_repeated_or_sent_back_is_refused() {
        // Bytes as they were on the wire, written past the seal.
        let sealed = |count: u64, body: &[u8], key: &Key| {
            let mut seal = Seal { key: key.clone(), count };
            let tag = seal.next(5, body).unwrap().finalize().into_bytes();
            let mut wire = Vec::new();
            transport::write(&mut wire, 5, body, &tag[..TAG]).unwrap();
            wire
        };
        for (case, good) in
            [("whole", true), ("changed", false), ("repeated", false), ("mine", false)]
        {
            let (conductor, agent) = joined(7, 7);
            let (conductor, mut agent) = (conductor.unwrap(), agent.unwrap());
            let mut out = conductor.out.lock().unwrap();
            let mut wire = match case {
                "repeated" => sealed(1, b"body", &out.seal.key),
                "mine" => sealed(0, b"body", &conductor.heard.key),
                _ => sealed(0, b"body", &out.seal.key),
            };
            wire[transport::HEAD] ^= u8::from(case == "changed");
            out.stream.write_all(&wire).unwrap();
            assert_eq!(agent.receive().is_ok(), good, "{case}");
        }
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused() {
        let path = std::env::temp_dir().join(format!("stend-key-{}", std::process::id()));
        let of = |text: &str, mode: u32| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Key::read(&path).map_err(|e| e.to_string())
        };
        let digits = "0f".repeat(32);
        let found =
            [of(&digits, 0o600), of(&digits, 0o640), of("0f", 0o600), of(&"zz".repeat(32), 0o600)];
        fs::remove_file(&path).unwrap();
        assert_eq!(found[0], Ok(Key([15; 32])));
        assert!(found[1].clone().unwrap_err().contains("chmod 600"), "{found:?}");
        assert!(found[2].clone().unwrap_err().contains("openssl rand -hex 32"), "{found:?}");
        assert!(found[3].clone().unwrap_err().contains("hexadecimal"), "{found:?}");
    }
}
