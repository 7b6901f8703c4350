//! Knows the settings of an adapter that are a number each: rings, queues, coalescing, flow
//! control, energy-efficient Ethernet.
//!
//! Must not know which value is better.

use super::attribute::{find, put};
use super::netlink::{Connection, Refusal};
use super::{CHANNELS_COMBINED, CHANNELS_GET, CHANNELS_RX, CHANNELS_TX};
use super::{Ethtool, EthtoolError, header, optional, plausible};
use serde::{Deserialize, Serialize};

/// A setting that is one number, or a switch that is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Number {
    /// Whether the driver chooses how receive interrupts are coalesced.
    AdaptiveRx,
    /// Whether it chooses for transmit interrupts.
    AdaptiveTx,
    /// Queues that receive and transmit.
    CombinedQueues,
    /// Energy-efficient Ethernet (IEEE 802.3az).
    Eee,
    /// Whether pause frames are obeyed (IEEE 802.3x).
    PauseRx,
    /// Whether pause frames are sent.
    PauseTx,
    /// Packets after which a receive interrupt comes.
    RxFrames,
    /// Queues that receive only.
    RxQueues,
    /// Descriptors of a receive ring.
    RxRing,
    /// Microseconds after which a receive interrupt comes.
    RxUsecs,
    /// Packets after which a transmit interrupt comes.
    TxFrames,
    /// Queues that transmit only.
    TxQueues,
    /// Descriptors of a transmit ring.
    TxRing,
    /// Microseconds after which a transmit interrupt comes.
    TxUsecs,
}

/// Where a number stands in `linux/ethtool_netlink.h`.
struct At {
    /// Messages that read and set it.
    get: u8,
    set: u8,
    attribute: u16,
    /// A switch is one byte.
    switch: bool,
    /// What it is of, in words.
    what: &'static str,
}

/// Messages that read; the one that sets follows each.
const RINGS: u8 = 15;
const COALESCE: u8 = 19;
const PAUSE: u8 = 21;
const EEE: u8 = 23;

impl Number {
    /// Every number.
    pub const ALL: [Self; 14] = [
        Self::AdaptiveRx,
        Self::AdaptiveTx,
        Self::CombinedQueues,
        Self::Eee,
        Self::PauseRx,
        Self::PauseTx,
        Self::RxFrames,
        Self::RxQueues,
        Self::RxRing,
        Self::RxUsecs,
        Self::TxFrames,
        Self::TxQueues,
        Self::TxRing,
        Self::TxUsecs,
    ];

    const fn at(self) -> At {
        let (get, attribute, switch, what) = match self {
            Self::RxRing => (RINGS, 6, false, "the receive ring"),
            Self::TxRing => (RINGS, 9, false, "the transmit ring"),
            Self::RxQueues => (CHANNELS_GET, CHANNELS_RX, false, "the receive queues"),
            Self::TxQueues => (CHANNELS_GET, CHANNELS_TX, false, "the transmit queues"),
            Self::CombinedQueues => (CHANNELS_GET, CHANNELS_COMBINED, false, "the combined queues"),
            Self::RxUsecs => (COALESCE, 2, false, "the delay of receive interrupts"),
            Self::RxFrames => (COALESCE, 3, false, "the packets of a receive interrupt"),
            Self::TxUsecs => (COALESCE, 6, false, "the delay of transmit interrupts"),
            Self::TxFrames => (COALESCE, 7, false, "the packets of a transmit interrupt"),
            Self::AdaptiveRx => (COALESCE, 11, true, "adaptive receive coalescing"),
            Self::AdaptiveTx => (COALESCE, 12, true, "adaptive transmit coalescing"),
            Self::PauseRx => (PAUSE, 3, true, "receive pause"),
            Self::PauseTx => (PAUSE, 4, true, "transmit pause"),
            Self::Eee => (EEE, 5, true, "energy-efficient Ethernet"),
        };
        At { get, set: get + 1, attribute, switch, what }
    }
}

/// Whoever carries a request to the kernel, or to what stands for it.
pub(super) trait Asks {
    /// Sends a command and gives the attributes of the reply; none where there is no reply.
    fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal>;
}

impl Asks for Connection {
    fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        Self::request(self, command, body)
    }
}

impl Ethtool {
    /// Reads a number; `None` where the driver does not have it.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn number(&mut self, name: &str, number: Number) -> Result<Option<u32>, EthtoolError> {
        read(&mut self.connection, name, number)
    }

    /// Sets a number. The driver may round it: compare before believing.
    ///
    /// # Errors
    /// What the driver refuses, in its words; missing permission; an unknown link.
    pub fn set_number(
        &mut self,
        name: &str,
        number: Number,
        value: u32,
    ) -> Result<(), EthtoolError> {
        write(&mut self.connection, name, (number, value))
    }

    /// Says whether a number can be set at all, and changes nothing: what it is now is set again,
    /// which no kernel hands on to the driver (`ethnl_set_*`: no attribute modified).
    ///
    /// # Errors
    /// What the driver refuses, in its words; missing permission; an unknown link.
    pub fn try_number(&mut self, name: &str, number: Number) -> Result<(), EthtoolError> {
        try_out(&mut self.connection, name, number)
    }
}

fn try_out(at: &mut impl Asks, name: &str, number: Number) -> Result<(), EthtoolError> {
    let (now, op) = ask(at, name, number)?;
    match now {
        Some(now) => write(at, name, (number, now)),
        None => Err(EthtoolError::NotSupported { op, name: name.into() }),
    }
}

fn read(from: &mut impl Asks, name: &str, number: Number) -> Result<Option<u32>, EthtoolError> {
    Ok(optional(ask(from, name, number))?.and_then(|(now, _)| now))
}

/// A number as the reply has it, and what was tried in words.
fn ask(
    from: &mut impl Asks,
    name: &str,
    number: Number,
) -> Result<(Option<u32>, String), EthtoolError> {
    plausible(name)?;
    let at = number.at();
    let op = format!("read {}", at.what);
    let reply = from.request(at.get, &header(name));
    let reply = reply.map_err(|r| EthtoolError::of(r, &op, name))?;
    let now = find(&reply, at.attribute).and_then(|value| match value {
        [one] if at.switch => Some(u32::from(*one)),
        four if !at.switch => Some(u32::from_ne_bytes(four.try_into().ok()?)),
        _ => None,
    });
    Ok((now, op))
}

fn write(
    to: &mut impl Asks,
    name: &str,
    (number, value): (Number, u32),
) -> Result<(), EthtoolError> {
    plausible(name)?;
    let at = number.at();
    let mut body = header(name);
    match at.switch {
        true => put(&mut body, at.attribute, &[u8::from(value != 0)]),
        false => put(&mut body, at.attribute, &value.to_ne_bytes()),
    }
    let op = format!("set {} to {value}", at.what);
    to.request(at.set, &body).map(|_| ()).map_err(|r| EthtoolError::of(r, &op, name))
}

#[cfg(test)]
mod tests {
    use super::super::attribute::{attributes, put_nested, text};
    use super::*;
    use std::collections::BTreeMap;

    /// An adapter as a kernel tells of it: attributes by the message that reads them.
    struct Simulated {
        has: BTreeMap<(u8, u16), Vec<u8>>,
        most: u32,
        /// Whether its driver sets anything.
        fixed: bool,
    }

    impl Simulated {
        fn new(numbers: &[(Number, u32)]) -> Self {
            let bytes = |number: Number, value: u32| match number.at().switch {
                true => vec![u8::from(value != 0)],
                false => value.to_ne_bytes().to_vec(),
            };
            let has = numbers.iter().map(|(number, value)| {
                let at = number.at();
                ((at.get, at.attribute), bytes(*number, *value))
            });
            Self { has: has.collect(), most: 4096, fixed: false }
        }
    }

    impl Asks for Simulated {
        fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
            let kernel = |errno, words: &str| Refusal::Kernel { errno, words: words.into() };
            let named = find(body, 1).and_then(|header| find(header, 2)).map(text);
            if named.as_deref() != Some("eth7") {
                return Err(kernel(libc::ENODEV, ""));
            }
            let group: Vec<_> =
                self.has.keys().filter(|(get, _)| [*get, get + 1].contains(&command)).collect();
            let Some((get, _)) = group.first().map(|key| **key) else {
                return Err(kernel(libc::EOPNOTSUPP, ""));
            };
            let mut reply = Vec::new();
            put_nested(&mut reply, 1, &[]);
            if command == get {
                for ((_, attribute), value) in self.has.iter().filter(|((of, _), _)| *of == get) {
                    put(&mut reply, *attribute, value);
                }
                return Ok(reply);
            }
            if self.fixed {
                return Err(kernel(libc::EOPNOTSUPP, ""));
            }
            for (attribute, value) in attributes(body).filter(|(kind, _)| *kind != 1) {
                let Some(known) = self.has.get_mut(&(get, attribute)) else {
                    return Err(kernel(libc::EINVAL, "attribute not supported"));
                };
                assert_eq!(known.len(), value.len(), "the width of attribute {attribute}");
                if value.len() == 4 && u32::from_ne_bytes(value.try_into().unwrap()) > self.most {
                    return Err(kernel(libc::EINVAL, "requested ring size exceeds maximum"));
                }
                *known = value.to_vec();
            }
            Ok(Vec::new())
        }
    }

    const ALL: [Number; 14] = [
        Number::AdaptiveRx,
        Number::AdaptiveTx,
        Number::CombinedQueues,
        Number::Eee,
        Number::PauseRx,
        Number::PauseTx,
        Number::RxFrames,
        Number::RxQueues,
        Number::RxRing,
        Number::RxUsecs,
        Number::TxFrames,
        Number::TxQueues,
        Number::TxRing,
        Number::TxUsecs,
    ];

    /// Of `linux/ethtool_netlink.h`: message that reads, attribute, bytes.
    #[test]
    fn messages_and_attributes_are_those_of_the_kernel() {
        let header = [
            (Number::AdaptiveRx, 19, 11, 1),
            (Number::AdaptiveTx, 19, 12, 1),
            (Number::CombinedQueues, 17, 9, 4),
            (Number::Eee, 23, 5, 1),
            (Number::PauseRx, 21, 3, 1),
            (Number::PauseTx, 21, 4, 1),
            (Number::RxFrames, 19, 3, 4),
            (Number::RxQueues, 17, 6, 4),
            (Number::RxRing, 15, 6, 4),
            (Number::RxUsecs, 19, 2, 4),
            (Number::TxFrames, 19, 7, 4),
            (Number::TxQueues, 17, 7, 4),
            (Number::TxRing, 15, 9, 4),
            (Number::TxUsecs, 19, 6, 4),
        ];
        for ((number, get, attribute, bytes), listed) in header.into_iter().zip(ALL) {
            let at = number.at();
            assert_eq!((at.get, at.set, at.attribute), (get, get + 1, attribute), "{number:?}");
            assert_eq!((at.switch, number), (bytes == 1, listed));
        }
    }

    #[test]
    fn every_number_is_read_set_and_read_back_and_no_other_moves() {
        for number in ALL {
            let mut adapter = Simulated::new(&ALL.map(|one| (one, 1)));
            assert_eq!(read(&mut adapter, "eth7", number).unwrap(), Some(1), "{number:?}");
            write(&mut adapter, "eth7", (number, 0)).unwrap();
            for other in ALL {
                let wanted = u32::from(other != number);
                assert_eq!(read(&mut adapter, "eth7", other).unwrap(), Some(wanted), "{other:?}");
            }
        }
    }

    #[test]
    fn what_an_adapter_lacks_is_absent_and_what_it_refuses_is_in_its_words() {
        let mut adapter = Simulated::new(&[(Number::RxRing, 512)]);
        assert_eq!(read(&mut adapter, "eth7", Number::TxRing).unwrap(), None);
        assert_eq!(read(&mut adapter, "eth7", Number::Eee).unwrap(), None);
        let said = |done: Result<(), EthtoolError>| done.unwrap_err().to_string();
        let words = said(write(&mut adapter, "eth7", (Number::RxRing, 9000)));
        assert!(words.contains("set the receive ring to 9000 of eth7"), "{words}");
        assert!(words.contains("requested ring size exceeds maximum"), "{words}");
        assert_eq!(read(&mut adapter, "eth7", Number::RxRing).unwrap(), Some(512));
        let words = said(write(&mut adapter, "eth7", (Number::Eee, 1)));
        assert!(words.contains("eth7 does not support this"), "{words}");
        let words = said(write(&mut adapter, "eth8", (Number::RxRing, 1)));
        assert!(words.contains("no link named 'eth8'"), "{words}");
    }

    #[test]
    fn what_could_not_be_set_is_known_before_and_nothing_moves() {
        let numbers = [(Number::RxRing, 512), (Number::TxRing, 256)];
        let mut adapter = Simulated::new(&numbers);
        try_out(&mut adapter, "eth7", Number::RxRing).unwrap();
        for (number, value) in numbers {
            assert_eq!(read(&mut adapter, "eth7", number).unwrap(), Some(value));
        }
        let mut said = |number| try_out(&mut adapter, "eth7", number).unwrap_err().to_string();
        let words = said(Number::RxUsecs);
        assert!(words.contains("eth7 does not support this: read the delay of receive"), "{words}");
        adapter.fixed = true;
        let words = try_out(&mut adapter, "eth7", Number::TxRing).unwrap_err().to_string();
        assert!(words.contains("eth7 does not support this: set the transmit ring"), "{words}");
    }
}
