//! Knows what `udp_stream` promises.
