//! Knows a machine as the conductor does: what it may be asked, by which transport, and its clock.
//!
//! Gives: [`Machine`], [`Order`], [`Reply`], [`Examined`], [`Transport`] with [`Pair`] and `Tls`,
//! [`Offset`].
//! Never: how an order is carried out; the agent of the machine does that.
//! Start reading at `order.rs`.

mod door;
mod examined;
mod lease;
mod offset;
mod order;
mod pair;
#[cfg(feature = "machines")]
mod tls;
mod transport;

pub use door::{Heard, Machine};
pub use examined::{Examined, NamedAdapter};
pub use lease::LEASE;
pub use offset::{Exchange, Offset};
pub use order::{Numbered, Order, Raise, Refusal, Reply, Said};
pub use pair::Pair;
#[cfg(feature = "machines")]
pub use tls::Tls;
pub use transport::{Frame, KEEP_ALIVE, KeepAlive, Transport, read_frame};

/// The channel of a machine's own orders and answers.
pub const OWN: u16 = 0;
