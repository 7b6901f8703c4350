//! Knows how a driver tests the cable of its adapter: what each pair of wires is like, and how far
//! away a fault is (time domain reflectometry; ethtool(8), `--cable-test`).
//!
//! The link is down for the seconds of the test. Must not know whether that may be.

use super::attribute::{attributes, find, find_u32, text};
use super::netlink::{Connection, Refusal};
use super::number::Asks;
use super::{Ethtool, EthtoolError, HEADER, HEADER_DEV_NAME, header, plausible};
use std::io;
use std::time::{Duration, Instant};

/// Messages and attributes of `linux/ethtool_netlink.h`.
const TEST: u8 = 26;
const TOLD: u8 = 27;
const STATUS: u16 = 2;
const COMPLETED: &[u8] = &[2];
const RESULTS: u16 = 3;
const RESULT: u16 = 1;
const FAULT_LENGTH: u16 = 2;
/// Of a result its pair and what it is; of a length its pair and centimetres.
const PAIR: u16 = 1;
const VALUE: u16 = 2;
/// The group that is told.
const MONITOR: &str = "monitor";
/// No test takes longer: one of all pairs takes up to some ten seconds.
const LONGEST: Duration = Duration::from_secs(30);

/// What a pair of wires is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableState {
    /// Whole, with the other end's termination.
    Good,
    /// Cut, or nothing at the other end.
    Open,
    /// Its two wires touch.
    Short,
    /// It touches another pair.
    CrossShort,
    /// The driver does not say, or by a number that is unknown here.
    Unknown,
}

/// One pair of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strand {
    /// `A` to `D`.
    pub pair: char,
    /// What it is like.
    pub state: CableState,
    /// Centimetres to the fault, where the driver tells.
    pub fault_cm: Option<u32>,
}

/// Whoever hears what the kernel tells unasked, or what stands for it.
pub(super) trait Hears {
    /// The next message of a command; none when there was none by then.
    fn hear(&mut self, command: u8, until: Instant) -> Result<Option<Vec<u8>>, Refusal>;
}

impl Hears for Connection {
    fn hear(&mut self, command: u8, until: Instant) -> Result<Option<Vec<u8>>, Refusal> {
        Self::hear(self, command, until)
    }
}

impl Ethtool {
    /// Tests the cable of a link, which is down meanwhile; gives a row for each pair.
    ///
    /// # Errors
    /// What the kernel refuses, in its words, as of every virtual adapter; missing permission; an
    /// unknown link; no result in 30 s.
    pub fn test_cable(&mut self, name: &str) -> Result<Vec<Strand>, EthtoolError> {
        let refused = |refusal| EthtoolError::of(refusal, OP, name);
        let mut listener = Connection::open("ethtool").map_err(refused)?;
        listener.join(MONITOR).map_err(refused)?;
        test(&mut self.connection, &mut listener, name)
    }
}

/// What is done, in words.
const OP: &str = "test the cable";

fn test(
    asks: &mut impl Asks,
    hears: &mut impl Hears,
    name: &str,
) -> Result<Vec<Strand>, EthtoolError> {
    plausible(name)?;
    asks.request(TEST, &header(name)).map_err(|refusal| refusal_of(refusal, name))?;
    let until = Instant::now() + LONGEST;
    loop {
        let told = hears.hear(TOLD, until).map_err(|r| EthtoolError::of(r, OP, name))?;
        let Some(told) = told else {
            return Err(io::Error::from(io::ErrorKind::TimedOut).into());
        };
        let of = find(&told, HEADER).and_then(|header| find(header, HEADER_DEV_NAME)).map(text);
        if of.as_deref() == Some(name) && find(&told, STATUS) == Some(COMPLETED) {
            return Ok(strands(find(&told, RESULTS).unwrap_or_default()));
        }
    }
}

/// A driver that has no such test is told in the kernel's words.
fn refusal_of(refusal: Refusal, name: &str) -> EthtoolError {
    match refusal {
        Refusal::Kernel { errno: libc::EOPNOTSUPP, words } => {
            let source = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
            EthtoolError::Kernel { op: OP.into(), name: name.into(), words, source }
        }
        refusal => EthtoolError::of(refusal, OP, name),
    }
}

/// The pairs in their order; a length without a result is of an unknown state.
fn strands(results: &[u8]) -> Vec<Strand> {
    let mut all: Vec<Strand> = Vec::new();
    for (kind, nest) in attributes(results) {
        let Some([pair]) = find(nest, PAIR) else { continue };
        let pair = char::from(b'A'.saturating_add(*pair));
        let at = all.iter().position(|strand| strand.pair == pair).unwrap_or_else(|| {
            all.push(Strand { pair, state: CableState::Unknown, fault_cm: None });
            all.len() - 1
        });
        match kind {
            RESULT => all[at].state = state(find(nest, VALUE)),
            FAULT_LENGTH => all[at].fault_cm = find_u32(nest, VALUE),
            _ => {}
        }
    }
    all.sort_by_key(|strand| strand.pair);
    all
}

const fn state(code: Option<&[u8]>) -> CableState {
    match code {
        Some([1]) => CableState::Good,
        Some([2]) => CableState::Open,
        Some([3]) => CableState::Short,
        Some([4]) => CableState::CrossShort,
        _ => CableState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::attribute::{put, put_nested, put_text};
    use super::*;
    use std::collections::VecDeque;

    /// A kernel that starts a test of `eth7`, and what it tells later.
    struct Simulated {
        refuses: Option<(i32, &'static str)>,
        tells: VecDeque<Vec<u8>>,
    }

    impl Asks for Simulated {
        fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
            assert_eq!(command, 26);
            assert_eq!(find(body, 1).and_then(|h| find(h, 2)).map(text).as_deref(), Some("eth7"));
            self.refuses.map_or(Ok(Vec::new()), |(errno, words)| {
                Err(Refusal::Kernel { errno, words: words.into() })
            })
        }
    }

    impl Hears for VecDeque<Vec<u8>> {
        fn hear(&mut self, command: u8, _: Instant) -> Result<Option<Vec<u8>>, Refusal> {
            assert_eq!(command, 27);
            Ok(self.pop_front())
        }
    }

    /// A notification as `ethnl_cable_test_alloc` and its like build it.
    fn told(name: &str, status: u8, results: &[(u16, u8, &[u8])]) -> Vec<u8> {
        let (mut device, mut nests, mut body) = (Vec::new(), Vec::new(), Vec::new());
        put(&mut device, 1, &7_u32.to_ne_bytes());
        put_text(&mut device, 2, name);
        put_nested(&mut body, 1, &device);
        put(&mut body, 2, &[status]);
        for (kind, pair, value) in results {
            let mut nest = Vec::new();
            put(&mut nest, 1, &[*pair]);
            put(&mut nest, 2, value);
            put_nested(&mut nests, *kind, &nest);
        }
        put_nested(&mut body, 3, &nests);
        body
    }

    fn tested(kernel: Simulated) -> Result<Vec<Strand>, EthtoolError> {
        let mut tells = kernel.tells.clone();
        let mut kernel = kernel;
        test(&mut kernel, &mut tells, "eth7")
    }

    #[test]
    fn every_pair_is_told_when_the_test_of_this_link_is_complete() {
        let far = 1234_u32.to_ne_bytes();
        let results: [(u16, u8, &[u8]); 6] =
            [(1, 1, &[2]), (2, 1, &far), (1, 0, &[1]), (1, 2, &[3]), (1, 3, &[4]), (2, 4, &far)];
        let tells =
            [told("eth7", 1, &[]), told("eth8", 2, &[(1, 0, &[2])]), told("eth7", 2, &results)];
        let found = tested(Simulated { refuses: None, tells: tells.into() }).unwrap();
        let strand = |pair, state, fault_cm| Strand { pair, state, fault_cm };
        assert_eq!(
            found,
            [
                strand('A', CableState::Good, None),
                strand('B', CableState::Open, Some(1234)),
                strand('C', CableState::Short, None),
                strand('D', CableState::CrossShort, None),
                strand('E', CableState::Unknown, Some(1234)),
            ]
        );
    }

    #[test]
    fn a_refusal_has_the_words_of_the_kernel_and_silence_ends() {
        let refuses = |errno, words| Simulated { refuses: Some((errno, words)), tells: [].into() };
        let said = |kernel| tested(kernel).unwrap_err().to_string();
        let words = said(refuses(libc::EOPNOTSUPP, "no PHY"));
        assert!(words.contains("test the cable of eth7") && words.contains("(no PHY)"), "{words}");
        assert!(words.contains("Operation not supported"), "{words}");
        let words = said(refuses(libc::EPERM, ""));
        assert!(words.contains("no permission to test the cable of eth7"), "{words}");
        let silent = Simulated { refuses: None, tells: [told("eth7", 1, &[])].into() };
        assert!(said(silent).contains("timed out"));
    }
}
