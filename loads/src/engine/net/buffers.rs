//! Knows how large the buffers of a host's TCP sockets are, and how large they may grow.
//!
//! Must not know which size is too small.

use rustix::net::sockopt::{socket_recv_buffer_size, socket_send_buffer_size};
use serde::{Deserialize, Serialize};
use std::net::TcpStream;

/// Keys of the sizes in a record, and settings of the network namespace whose last field is the
/// most (tcp(7)).
const KEYS: [(&str, &str, &str); 2] = [
    ("receive_buffer", "receive_buffer_max", "tcp_rmem"),
    ("send_buffer", "send_buffer_max", "tcp_wmem"),
];

/// Receive and send buffers of a host, bytes; 0 where no socket uses one or the kernel does not
/// tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// The smallest in force.
    pub smallest: [u64; 2],
    /// What they may grow to.
    pub most: [u64; 2],
}

impl Buffers {
    /// Of these sockets, each with whether it receives and sends.
    pub fn of<'s>(sockets: impl Iterator<Item = (&'s TcpStream, [bool; 2])>) -> Self {
        let mut all = Self { smallest: [0; 2], most: KEYS.map(|(_, _, setting)| most(setting)) };
        for (socket, uses) in sockets {
            let sizes = [socket_recv_buffer_size(socket), socket_send_buffer_size(socket)];
            let used = all.smallest.iter_mut().zip(sizes).zip(uses).filter(|(_, used)| *used);
            for ((smallest, size), _) in used {
                let size = size.map_or(0, |bytes| bytes as u64);
                *smallest = [*smallest, size].into_iter().filter(|n| *n > 0).min().unwrap_or(0);
            }
        }
        all
    }

    /// What is known, by key.
    #[expect(clippy::cast_precision_loss, reason = "a size of a buffer is below 2^53")]
    pub fn rows(self) -> impl Iterator<Item = (&'static str, f64)> {
        let known = self.smallest.into_iter().zip(self.most).zip(KEYS);
        let known = known.filter(|((smallest, _), _)| *smallest > 0);
        let rows =
            known.flat_map(|((smallest, most), (key, limit, _))| [(key, smallest), (limit, most)]);
        rows.filter(|(_, size)| *size > 0).map(|(key, size)| (key, size as f64))
    }
}

/// The last of the three fields of a setting of this host's network namespace (tcp(7)).
fn most(setting: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{setting}"));
    let last = |text: String| text.split_ascii_whitespace().last()?.parse().ok();
    text.ok().and_then(last).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn the_smallest_buffer_in_use_is_told_with_what_it_may_grow_to() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let made = || TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (small, large) = (made(), made());
        rustix::net::sockopt::set_socket_send_buffer_size(&small, 20_000).unwrap();
        let in_force = socket_send_buffer_size(&small).unwrap() as u64;
        let buffers = Buffers::of([(&small, [false, true]), (&large, [false, true])].into_iter());
        assert_eq!(buffers.smallest, [0, in_force]);
        let most = [most("tcp_rmem"), most("tcp_wmem")];
        assert!(most.iter().all(|size| *size > 4096), "{most:?}");
        let keys: Vec<&str> = buffers.rows().map(|(key, _)| key).collect();
        assert_eq!(keys, ["send_buffer", "send_buffer_max"], "nothing receives");
        let both = Buffers::of([(&large, [true, true])].into_iter());
        assert_eq!(both.rows().count(), 4);
    }
}
