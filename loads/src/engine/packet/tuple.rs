//! Knows the five fields that packets of IPv4 are told apart by.
//!
//! Must not know how a frame carries them.

/// Source, destination, ports and protocol of a packet, in the byte order of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(C)]
pub struct Tuple {
    /// Address of the sender.
    pub src: u32,
    /// Address of the receiver.
    pub dst: u32,
    /// Port of the sender; 0 for protocols without ports.
    pub src_port: u16,
    /// Port of the receiver; 0 for protocols without ports.
    pub dst_port: u16,
    /// Protocol number of IPv4.
    pub protocol: u8,
}
