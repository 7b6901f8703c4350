//! Knows how the same frames are sent by a socket of AF_XDP: they are written into memory that the
//! kernel shares, and rings tell which of them shall be sent and which were.
//!
//! A driver that can sends them from there (zero copy); for all others the kernel copies each.
//! Must not know what becomes of the frames. Ancestor: the kernel's `networking/af_xdp.rst`.

use super::maker::{BATCH, Maker, Mark};
use super::rings::{Mapped, OF_FRAMES, OF_PLACES, PLACE, Ring, bound, kick, socket};
use rustix::net::sockopt;
use rustix::net::xdp::{XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING};
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Places, and entries of each ring: a power of two.
const PLACES: u32 = 512;
/// Longest wait for frames that the kernel has and has not sent.
const LONGEST: Duration = Duration::from_millis(500);

/// A socket of AF_XDP at the first queue of an adapter.
#[derive(Debug)]
pub struct Xsk {
    socket: OwnedFd,
    places: Mapped,
    to_send: Ring,
    sent: Ring,
    free: Vec<u32>,
}

impl Xsk {
    /// Of the adapter of this index, for frames as long as this one.
    ///
    /// # Errors
    /// What the kernel says: `EAFNOSUPPORT` where it has no such sockets, `EPERM` without
    /// `CAP_NET_RAW`, `EBUSY` where another program has the queue.
    pub fn open(adapter: u32, template: &[u8]) -> io::Result<Self> {
        let socket = socket()?;
        let mut places = Mapped::places(PLACES)?;
        for number in 0..PLACES {
            places.from(u64::from(number * PLACE))[..template.len()].copy_from_slice(template);
        }
        sockopt::set_xdp_umem_reg(&socket, places.told())?;
        // A socket that receives nothing needs the ring of free places, too.
        sockopt::set_xdp_umem_fill_ring_size(&socket, PLACES)?;
        sockopt::set_xdp_umem_completion_ring_size(&socket, PLACES)?;
        sockopt::set_xdp_tx_ring_size(&socket, PLACES)?;
        let at = sockopt::xdp_mmap_offsets(&socket)?;
        let to_send = Ring::of(&socket, (XDP_PGOFF_TX_RING, at.tx), (PLACES, OF_FRAMES))?;
        let sent = Ring::of(&socket, (XDP_UMEM_PGOFF_COMPLETION_RING, at.cr), (PLACES, OF_PLACES))?;
        bound(&socket, adapter, None)?;
        Ok(Self { socket, places, to_send, sent, free: (0..PLACES).rev().collect() })
    }

    /// Writes the next frames, one for each of at most [`BATCH`] marks, and hands them to the
    /// kernel; gives how many had a place.
    ///
    /// # Errors
    /// What the kernel says, other than that there is no room for now.
    pub fn send(&mut self, maker: &mut Maker, marks: &[Mark]) -> io::Result<usize> {
        self.reap();
        let count = marks.len().min(BATCH).min(self.free.len());
        for (number, mark) in self.free.split_off(self.free.len() - count).into_iter().zip(marks) {
            let address = u64::from(number * PLACE);
            let length = maker.write(self.places.from(address), *mark);
            self.to_send.push_frame(address, length);
        }
        self.to_send.publish(0);
        kick(&self.socket, &self.to_send)?;
        Ok(count)
    }

    /// Waits until the adapter has sent all that it was given.
    ///
    /// # Errors
    /// What the kernel says; frames that stay with it.
    pub fn finish(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        while self.free.len() < PLACES as usize {
            if begun.elapsed() > LONGEST {
                let left = PLACES as usize - self.free.len();
                let what = format!("the kernel did not send {left} frames that AF_XDP gave it");
                return Err(io::Error::other(what));
            }
            kick(&self.socket, &self.to_send)?;
            self.reap();
        }
        Ok(())
    }

    fn reap(&mut self) {
        while let Some(address) = self.sent.pop_place() {
            self.free.push(u32::try_from(address / u64::from(PLACE)).unwrap_or(0));
        }
        self.sent.publish(1);
    }
}
