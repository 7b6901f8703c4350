//! Knows how a proxy between two ends harms what goes through it, for the tests of who notices.
//!
//! Must not know what goes through.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;

/// Bytes that are doubled or left out.
const PIECE: usize = 700;

/// What happens to a stream at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// A bit is flipped.
    Flip,
    /// Some bytes are left out.
    LeaveOut,
    /// Some bytes come twice.
    Double,
    /// The stream ends.
    Cut,
}

impl Harm {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Flip, Self::LeaveOut, Self::Double, Self::Cut];

    /// A chunk that begins with byte `from` of the stream, harmed where it holds byte `at`.
    fn on(self, mut chunk: Vec<u8>, from: u64, at: u64) -> (Vec<u8>, bool) {
        let place = at.checked_sub(from).and_then(|place| usize::try_from(place).ok());
        let Some(place) = place.filter(|place| *place < chunk.len()) else { return (chunk, false) };
        let piece = place..chunk.len().min(place + PIECE);
        match self {
            Self::Flip => chunk[place] ^= 1 << (at % 8),
            Self::LeaveOut => drop(chunk.drain(piece)),
            Self::Double => {
                let again = chunk[piece.clone()].to_vec();
                let _ = chunk.splice(piece.end..piece.end, again);
            }
            Self::Cut => chunk.truncate(place),
        }
        (chunk, self == Self::Cut)
    }
}

/// A port on loopback that leads to this one. On every connection byte `at` of what the client
/// sends, or of what comes back, is harmed.
pub fn before(port: u16, harm: Harm, (comes_back, at): (bool, u64)) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let own = listener.local_addr().expect("a port").port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return };
            for (from, to, harmed) in
                [(&client, &server, !comes_back), (&server, &client, comes_back)]
            {
                let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
                thread::spawn(move || carry(&from, &to, harmed.then_some((harm, at))));
            }
        }
    });
    own
}

fn carry(mut from: &TcpStream, mut to: &TcpStream, harm: Option<(Harm, u64)>) {
    let (mut buffer, mut carried) = (vec![0; 1 << 16], 0);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let chunk = buffer[..count].to_vec();
        let (chunk, ends) =
            harm.map_or((chunk.clone(), false), |(harm, at)| harm.on(chunk, carried, at));
        carried += count as u64;
        if to.write_all(&chunk).is_err() || ends {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
