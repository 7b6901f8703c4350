//! Knows how the same frames are sent by a socket of AF_XDP: they are written into memory that the
//! kernel shares, and rings tell which of them shall be sent and which were.
//!
//! A driver that can sends them from there (zero copy); for all others the kernel copies each.
//! Must not know what becomes of the frames. Ancestor: the kernel's `networking/af_xdp.rst`.

use super::maker::{BATCH, Maker, Mark};
use super::rings::{Mapped, PLACE, Port};
use std::io;
use std::time::{Duration, Instant};

/// Places, and entries of each ring: a power of two.
const PLACES: u32 = 512;
/// Longest wait for frames that the kernel has and has not sent.
const LONGEST: Duration = Duration::from_millis(500);

/// A socket of AF_XDP at the first queue of an adapter.
#[derive(Debug)]
pub struct Xsk {
    port: Port,
    places: Mapped,
    free: Vec<u32>,
}

impl Xsk {
    /// Of the adapter of this index, for frames as long as this one.
    ///
    /// # Errors
    /// As [`Port::open`].
    pub fn open(adapter: u32, template: &[u8]) -> io::Result<Self> {
        let mut places = Mapped::places(PLACES)?;
        for number in 0..PLACES {
            places.from(u64::from(number * PLACE))[..template.len()].copy_from_slice(template);
        }
        let port = Port::open((adapter, PLACES), &places, None)?;
        Ok(Self { port, places, free: (0..PLACES).rev().collect() })
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
            self.port.to_send.push_frame(address, length);
        }
        self.port.to_send.publish(0);
        self.port.kick()?;
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
            self.port.kick()?;
            self.reap();
        }
        Ok(())
    }

    fn reap(&mut self) {
        while let Some(address) = self.port.sent.pop_place() {
            self.free.push(u32::try_from(address / u64::from(PLACE)).unwrap_or(0));
        }
        self.port.sent.publish(1);
    }
}
