//! Knows HTTP/1.1 (RFC 9112) as bytes: where a response ends, and what it says of itself.
//!
//! Gives: [`Heads`], which finds heads; [`Body`], how what follows is framed; [`Chunks`], which
//! takes chunks apart; [`Wrong`], why something is no response.
//! Never: sockets, or what a body must hold.
//! Start reading at `head.rs`.

mod chunks;
mod head;

pub use chunks::Chunks;
pub use head::{Body, HEAD_MAX, Head, Heads};

/// Why bytes are not a response that can be counted, as a class of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub &'static str);

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Wrong {}
