//! Knows how the speed of a line is set: by advertised modes under autonegotiation, else by force.
//!
//! Must not know which speed is wanted.

use super::attribute::{find, find_u32, put, put_nested};
use super::number::Asks;
use super::{Ethtool, EthtoolError, LINKMODES_DUPLEX, LINKMODES_GET, LINKMODES_OURS};
use super::{LINKMODES_SPEED, bitset, header, line_rate, mode_speed, optional, plausible};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

/// `ETHTOOL_MSG_LINKMODES_SET`, and whether both ends negotiate.
const LINKMODES_SET: u8 = 5;
const AUTONEG: u16 = 2;

/// Looks for a line that negotiates, and the time between two: 6 s in all, twice what 1000BASE-T
/// takes.
const LOOKS: u32 = 120;
const PAUSE: Duration = Duration::from_millis(50);

/// All that decides at which speed a line runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Whether both ends negotiate the speed.
    pub negotiates: bool,
    /// Mbit/s; none while the link is down.
    pub mbit_per_s: Option<u32>,
    /// Whether both directions carry at once.
    pub full: bool,
    /// Every mode that the adapter supports, and whether it is advertised.
    pub modes: Vec<(String, bool)>,
}

impl Line {
    /// Speeds at which it can run, Mbit/s, both directions at once.
    #[must_use]
    pub fn speeds(&self) -> BTreeSet<u32> {
        self.modes.iter().filter_map(|(mode, _)| full_speed(mode)).collect()
    }

    /// The same line at one speed, Mbit/s, both directions at once.
    #[must_use]
    pub fn at(&self, mbit_per_s: u32) -> Self {
        let own = |mode: &String| (mode.clone(), full_speed(mode) == Some(mbit_per_s));
        let modes = self.modes.iter().map(|(mode, _)| own(mode)).collect();
        Self { mbit_per_s: Some(mbit_per_s), full: true, modes, ..*self }
    }
}

/// The speed of a mode that carries both directions at once, Mbit/s.
fn full_speed(mode: &str) -> Option<u32> {
    mode_speed(mode).filter(|_| !mode.ends_with("/Half"))
}

impl Ethtool {
    /// How a line runs; `None` where the adapter has no modes to choose from.
    ///
    /// # Errors
    /// An unknown link, or another refusal of the kernel.
    pub fn line(&mut self, name: &str) -> Result<Option<Line>, EthtoolError> {
        read(&mut self.connection, name)
    }

    /// Sets how a line runs and waits a while until it has that speed: compare before believing.
    ///
    /// # Errors
    /// What the driver refuses, in its words; missing permission; an unknown link.
    pub fn set_line(&mut self, name: &str, line: &Line) -> Result<(), EthtoolError> {
        write(&mut self.connection, name, line)?;
        await_speed(&mut self.connection, name, (line, PAUSE))
    }
}

/// Looks until the line has its speed, or has had time enough. One that was down is not waited for.
fn await_speed(
    from: &mut impl Asks,
    name: &str,
    (line, pause): (&Line, Duration),
) -> Result<(), EthtoolError> {
    for _ in 0..LOOKS {
        let now = read(from, name)?.and_then(|now| now.mbit_per_s);
        if line.mbit_per_s.is_none() || now == line.mbit_per_s {
            break;
        }
        std::thread::sleep(pause);
    }
    Ok(())
}

fn read(from: &mut impl Asks, name: &str) -> Result<Option<Line>, EthtoolError> {
    plausible(name)?;
    let reply = from.request(LINKMODES_GET, &header(name));
    let reply = reply.map_err(|r| EthtoolError::of(r, "read the speed of the line", name));
    let Some(reply) = optional(reply)? else { return Ok(None) };
    // Every bit of the mask is supported; its value says whether it is advertised.
    let mut modes = bitset::read(find(&reply, LINKMODES_OURS).unwrap_or_default());
    modes.retain(|(mode, _)| mode_speed(mode).is_some());
    let known = |mbit: &u32| line_rate(*mbit).is_some();
    Ok((!modes.is_empty()).then(|| Line {
        negotiates: find(&reply, AUTONEG) == Some(&[1]),
        mbit_per_s: find_u32(&reply, LINKMODES_SPEED).filter(known),
        full: find(&reply, LINKMODES_DUPLEX) != Some(&[0]),
        modes,
    }))
}

fn write(to: &mut impl Asks, name: &str, line: &Line) -> Result<(), EthtoolError> {
    plausible(name)?;
    let mut body = header(name);
    put(&mut body, AUTONEG, &[u8::from(line.negotiates)]);
    match (line.negotiates, line.mbit_per_s) {
        (true, _) => put_nested(&mut body, LINKMODES_OURS, &bitset::write(&line.modes)),
        (false, Some(mbit)) => {
            put(&mut body, LINKMODES_SPEED, &mbit.to_ne_bytes());
            put(&mut body, LINKMODES_DUPLEX, &[u8::from(line.full)]);
        }
        (false, None) => {}
    }
    let sent = to.request(LINKMODES_SET, &body).map(|_| ());
    sent.map_err(|r| EthtoolError::of(r, "set the speed of the line", name))
}

#[cfg(test)]
mod tests {
    use super::super::netlink::Refusal;
    use super::*;

    /// A 1000BASE-T adapter whose partner can do all: the line is down for some looks after it was
    /// set. Pause is a bit of the same set, and not ours.
    struct Simulated {
        negotiates: bool,
        modes: Vec<(String, bool)>,
        forced: (u32, u8),
        down_looks: u32,
        set: bool,
    }

    const MODES: [&str; 5] =
        ["10baseT/Full", "100baseT/Half", "100baseT/Full", "1000baseT/Full", "Pause"];

    impl Simulated {
        fn new(negotiates: bool) -> Self {
            let modes = MODES.map(|mode| (mode.to_owned(), true)).to_vec();
            Self { negotiates, modes, forced: (1000, 1), down_looks: 0, set: true }
        }

        fn reply(&mut self) -> Vec<u8> {
            let fastest =
                self.modes.iter().filter(|(_, on)| *on).filter_map(|(m, _)| mode_speed(m));
            let (mut speed, duplex) = self.forced;
            if self.negotiates {
                speed = fastest.max().unwrap_or(u32::MAX);
            }
            if self.down_looks > 0 {
                self.down_looks -= 1;
                speed = u32::MAX;
            }
            let mut reply = Vec::new();
            put_nested(&mut reply, 1, &[]);
            put(&mut reply, 2, &[u8::from(self.negotiates)]);
            put_nested(&mut reply, 3, &bitset::write(&self.modes));
            put(&mut reply, 5, &speed.to_ne_bytes());
            put(&mut reply, 6, &[duplex]);
            reply
        }
    }

    impl Asks for Simulated {
        fn request(&mut self, command: u8, body: &[u8]) -> Result<Vec<u8>, Refusal> {
            match command {
                4 => return Ok(self.reply()),
                5 if self.set => {}
                _ => {
                    let words = "link settings unsupported".to_owned();
                    return Err(Refusal::Kernel { errno: libc::EOPNOTSUPP, words });
                }
            }
            self.negotiates = find(body, 2) == Some(&[1]);
            for (mode, on) in bitset::read(find(body, 3).unwrap_or_default()) {
                self.modes.iter_mut().find(|(own, _)| *own == mode).unwrap().1 = on;
            }
            if let (Some(speed), Some([duplex])) = (find_u32(body, 5), find(body, 6)) {
                self.forced = (speed, *duplex);
            }
            self.down_looks = 3;
            Ok(Vec::new())
        }
    }

    fn set(adapter: &mut Simulated, line: &Line) -> Line {
        write(adapter, "eth7", line).unwrap();
        await_speed(adapter, "eth7", (line, Duration::ZERO)).unwrap();
        read(adapter, "eth7").unwrap().unwrap()
    }

    #[test]
    fn a_negotiated_speed_is_advertised_alone_and_all_is_advertised_again_after() {
        let mut adapter = Simulated::new(true);
        let before = read(&mut adapter, "eth7").unwrap().unwrap();
        assert_eq!(before.mbit_per_s, Some(1000));
        assert_eq!(before.speeds().into_iter().collect::<Vec<_>>(), [10, 100, 1000]);
        let slow = set(&mut adapter, &before.at(100));
        assert_eq!((slow.mbit_per_s, slow.negotiates, slow.full), (Some(100), true, true));
        let on: Vec<&str> =
            adapter.modes.iter().filter(|(_, on)| *on).map(|(mode, _)| mode.as_str()).collect();
        assert_eq!(on, ["100baseT/Full", "Pause"], "no half duplex, and pause stays");
        assert_eq!(set(&mut adapter, &before), before);
    }

    #[test]
    fn a_forced_speed_is_forced_and_comes_back_as_it_was() {
        let mut adapter = Simulated::new(false);
        adapter.forced = (100, 0);
        let before = read(&mut adapter, "eth7").unwrap().unwrap();
        let fast = set(&mut adapter, &before.at(1000));
        assert_eq!((fast.mbit_per_s, fast.negotiates, fast.full), (Some(1000), false, true));
        assert_eq!(set(&mut adapter, &before), before);
        assert_eq!(adapter.forced, (100, 0));
    }

    #[test]
    fn an_adapter_without_modes_has_no_line_and_a_refusal_is_told() {
        let mut virtual_one = Simulated::new(false);
        virtual_one.modes.clear();
        assert_eq!(read(&mut virtual_one, "eth7").unwrap(), None);
        let mut adapter = Simulated::new(true);
        adapter.set = false;
        let line = read(&mut adapter, "eth7").unwrap().unwrap().at(100);
        let words = write(&mut adapter, "eth7", &line).unwrap_err().to_string();
        assert!(words.contains("does not support this: set the speed of the line"), "{words}");
    }
}
