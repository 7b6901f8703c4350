//! Knows how a request reaches the management controller through the kernel's driver
//! (`linux/ipmi.h`). Never: what a request means. Holds the room's only `unsafe`.

use super::Controller;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// `IPMICTL_SEND_COMMAND` and `IPMICTL_RECEIVE_MSG_TRUNC` where pointers have 64 bits.
const SEND: u32 = 0x8028_690d;
const RECEIVE: u32 = 0xc030_690b;
/// The controller itself, over its system interface.
const SYSTEM_INTERFACE: libc::c_int = 0x0c;
const CONTROLLER: libc::c_short = 0xf;
/// Longest message, and longest address.
const LONGEST: u16 = 272;
const ADDRESS: u32 = 40;

/// `struct ipmi_msg`.
#[repr(C)]
struct Message {
    function: u8,
    command: u8,
    length: u16,
    data: *mut u8,
}

/// `struct ipmi_req`.
#[repr(C)]
struct Request {
    address: *mut Address,
    address_length: u32,
    number: libc::c_long,
    message: Message,
}

/// `struct ipmi_recv`.
#[repr(C)]
struct Received {
    kind: libc::c_int,
    address: *mut u8,
    address_length: u32,
    number: libc::c_long,
    message: Message,
}

/// `struct ipmi_system_interface_addr`.
#[repr(C)]
struct Address {
    kind: libc::c_int,
    channel: libc::c_short,
    unit: u8,
}

const _: () = assert!(size_of::<Request>() == 40 && size_of::<Received>() == 48);

/// An open device, and the number of the last request.
#[derive(Debug)]
pub(super) struct Device {
    file: File,
    number: libc::c_long,
}

impl Device {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self { file, number: 0 })
    }
}

impl Controller for Device {
    fn ask(&mut self, (function, command, data): (u8, u8, &[u8])) -> io::Result<()> {
        self.number += 1;
        let mut data = data.to_vec();
        let mut address = Address { kind: SYSTEM_INTERFACE, channel: CONTROLLER, unit: 0 };
        let length = u16::try_from(data.len()).map_err(io::Error::other)?;
        let message = Message { function, command, length, data: data.as_mut_ptr() };
        let mut request = Request {
            address: &raw mut address,
            address_length: u32::try_from(size_of::<Address>()).map_err(io::Error::other)?,
            number: self.number,
            message,
        };
        // SAFETY: `request`, `address` and `data` outlive the call, have the layout of the kernel's
        // structures and the lengths beside them; the kernel only reads them.
        done(unsafe { libc::ioctl(self.file.as_raw_fd(), SEND as _, &raw mut request) })
    }

    fn answer(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut data = vec![0; usize::from(LONGEST)];
        let mut address = [0_u8; ADDRESS as usize];
        let message = Message { function: 0, command: 0, length: LONGEST, data: data.as_mut_ptr() };
        let mut received = Received {
            kind: 0,
            address: address.as_mut_ptr(),
            address_length: ADDRESS,
            number: 0,
            message,
        };
        // SAFETY: `received`, `address` and `data` outlive the call, have the layout of the
        // kernel's structures and the lengths beside them, within which the kernel writes.
        let status = unsafe { libc::ioctl(self.file.as_raw_fd(), RECEIVE as _, &raw mut received) };
        match done(status) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            other => other?,
        }
        if received.number != self.number {
            // The answer to a request that was given up.
            return Ok(None);
        }
        data.truncate(received.message.length.into());
        Ok(Some(data))
    }
}

fn done(status: libc::c_int) -> io::Result<()> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
