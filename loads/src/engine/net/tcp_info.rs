//! Knows what the kernel's TCP tells of a socket; the structure is that of `linux/tcp.h`.

use serde::{Deserialize, Serialize};
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

/// The fields that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpFacts {
    /// Maximum segment size for sending, bytes.
    pub send_mss: u32,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Least round-trip time of late, microseconds: that of the path without a queue
    /// (`tcp_min_rtt_wlen` says how late); 0 where nobody tells.
    #[serde(default)]
    pub min_rtt_us: u32,
    /// Congestion window, segments.
    pub congestion_window: u32,
    /// Segments sent again since the connection was made.
    pub retransmitted: u32,
    /// Segments sent and not acknowledged.
    pub unacknowledged: u32,
    /// Whether every segment carries the timestamps option, 12 bytes (RFC 7323).
    pub timestamps: bool,
    /// Most that the receiver offers to take at once, bytes.
    pub receive_window: u32,
    /// Bytes received in order, an end of stream counting as one.
    pub bytes_received: u64,
    /// Data segments received.
    pub data_segments_in: u32,
    /// Data segments sent.
    pub data_segments_out: u32,
    /// Time with data in flight, microseconds.
    pub busy_us: u64,
    /// Share of it limited by the peer's receive window, microseconds.
    pub receive_window_limited_us: u64,
    /// Share of it limited by the send buffer, microseconds.
    pub send_buffer_limited_us: u64,
}

/// Place of `tcpi_options` among the first bytes, and its bit for timestamps.
const OPTIONS: usize = 5;
const TIMESTAMPS: u8 = 1;

/// `struct tcp_info` of Linux 4.10 and later, up to the last field that is kept.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Raw {
    states: [u8; 8],
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    counts: [u32; 5],
    moments: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
}

/// Reads `TCP_INFO`; fields that an older kernel lacks are zero.
///
/// # Errors
/// When the kernel refuses, for instance because the socket is closed.
pub fn read(socket: &TcpStream) -> io::Result<TcpFacts> {
    let mut raw = Raw::default();
    let mut length = libc::socklen_t::try_from(size_of::<Raw>()).unwrap_or(0);
    // SAFETY: `raw` is plain integers and `length` its size; the kernel writes at most that much.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut raw).cast(),
            &raw mut length,
        )
    } != 0;
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok(TcpFacts {
        send_mss: raw.snd_mss,
        rtt_us: raw.rtt,
        min_rtt_us: raw.min_rtt,
        congestion_window: raw.snd_cwnd,
        retransmitted: raw.total_retrans,
        unacknowledged: raw.counts[0],
        timestamps: raw.states[OPTIONS] & TIMESTAMPS != 0,
        receive_window: raw.rcv_ssthresh,
        bytes_received: raw.bytes_received,
        data_segments_in: raw.data_segs_in,
        data_segments_out: raw.data_segs_out,
        busy_us: raw.busy_time,
        receive_window_limited_us: raw.rwnd_limited,
        send_buffer_limited_us: raw.sndbuf_limited,
    })
}
