//! Knows how the management controller of a machine (BMC) is asked what power the machine takes:
//! Get Power Reading of DCMI 1.5 (section 6.6.1) by IPMI, over `/dev/ipmi0`.
//!
//! Most controllers measure at the input of the power supplies, some on the board; DCMI does not
//! say which, so it is told as `board`: all of the machine, fans and losses too. It is never added
//! to what packages took. Many controllers average over a second, some over a minute, and an answer
//! takes milliseconds: asked once a second at most, and the answer is fetched later. A controller
//! that refuses, that says it does not measure, or that says no power of a machine gives nothing.
//!
//! Must not know what the power was used for.

mod device;

use std::fmt::Debug;
use std::io;
use std::path::Path;

/// Network function and command: the group DCMI, Get Power Reading.
const NETWORK_FUNCTION: u8 = 0x2c;
const POWER_READING: u8 = 0x02;
/// The group, by which an answer begins behind its completion code too.
const DCMI: u8 = 0xdc;
/// What follows in a request: statistics of the whole machine, two bytes of 0.
const REQUEST: [u8; 4] = [DCMI, 0x01, 0x00, 0x00];
/// Completion code of what was done.
const DONE: u8 = 0x00;
/// Bytes of an answer.
const LENGTH: usize = 19;
/// The state of an answer has this bit while power is measured.
const MEASURES: u8 = 1 << 6;
/// More than this no machine takes, watts.
const MOST_WATTS: u16 = 10_000;

/// Whoever carries a request to the controller and its answer back.
pub(super) trait Controller: Debug + Send {
    /// Sends a request: network function, command, data.
    fn ask(&mut self, request: (u8, u8, &[u8])) -> io::Result<()>;
    /// The answer to the last request, completion code first; none as long as there is none.
    fn answer(&mut self) -> io::Result<Option<Vec<u8>>>;
}

/// What the controller says of the machine's power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Power {
    /// Now, or over the controller's own time, watts.
    current: u16,
    /// Over `period_ms`: least, most and mean, watts.
    least: u16,
    most: u16,
    mean: u16,
    period_ms: u32,
    /// Whether it is measured.
    measures: bool,
}

/// A meter that is asked now and then.
#[derive(Debug)]
pub(super) struct Meter {
    controller: Box<dyn Controller>,
    /// Whether an answer is owed.
    asked: bool,
}

impl Meter {
    /// That of the machine; none without the device or the right to open it.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let device = device::Device::open(&root.join("dev/ipmi0")).ok()?;
        Some(Self::by(Box::new(device)))
    }

    pub(super) fn by(controller: Box<dyn Controller>) -> Self {
        Self { controller, asked: false }
    }

    /// Asks, unless an answer is still owed.
    ///
    /// # Errors
    /// When the device is gone.
    pub(super) fn ask(&mut self) -> io::Result<()> {
        if !self.asked {
            self.controller.ask((NETWORK_FUNCTION, POWER_READING, &REQUEST))?;
            self.asked = true;
        }
        Ok(())
    }

    /// Watts, if the answer has come.
    ///
    /// # Errors
    /// When the device is gone, or the controller knows no power.
    pub(super) fn watts(&mut self) -> io::Result<Option<f64>> {
        if !self.asked {
            return Ok(None);
        }
        let Some(answer) = self.controller.answer()? else { return Ok(None) };
        self.asked = false;
        let power = parse(&answer)?;
        Ok(is_plausible(&power).then_some(power.current.into()))
    }
}

/// An answer: completion code, group, four powers, a time stamp, the period, the state; least byte
/// first.
fn parse(answer: &[u8]) -> io::Result<Power> {
    let refused = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    match answer {
        [DONE, DCMI, rest @ ..] if answer.len() >= LENGTH => {
            let word = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
            let period_ms = u32::from(word(12)) | (u32::from(word(14)) << 16);
            let (current, least, most, mean) = (word(0), word(2), word(4), word(6));
            let measures = rest[16] & MEASURES != 0;
            Ok(Power { current, least, most, mean, period_ms, measures })
        }
        [DONE, ..] => Err(refused(format!("no answer of DCMI: {answer:02x?}"))),
        [code, ..] => Err(refused(format!("the controller refused with {code:#04x}"))),
        [] => Err(refused("an empty answer".into())),
    }
}

/// Whether a machine can take this much. A controller that is not measuring says its last figure,
/// and one that knows nothing says 0 or a number of ones. Where it keeps statistics the figure has
/// to lie within them, one watt of rounding apart.
fn is_plausible(power: &Power) -> bool {
    let Power { current, least, most, mean, period_ms, measures } = *power;
    let kept = period_ms > 0 && most > 0 && (least..=most).contains(&mean);
    let within = !kept || (least.saturating_sub(1)..=most.saturating_add(1)).contains(&current);
    measures && (1..=MOST_WATTS).contains(&current) && within
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A controller that answers as told; none of them is an answer that has not come yet.
    #[derive(Debug)]
    pub struct Fixture {
        pub answers: VecDeque<io::Result<Option<Vec<u8>>>>,
        pub asked: usize,
    }

    impl Fixture {
        pub fn new(answers: Vec<io::Result<Option<Vec<u8>>>>) -> Self {
            Self { answers: answers.into(), asked: 0 }
        }
    }

    impl Controller for Fixture {
        fn ask(&mut self, (function, command, data): (u8, u8, &[u8])) -> io::Result<()> {
            assert_eq!((function, command, data), (0x2c, 0x02, &[0xdc, 0x01, 0, 0][..]));
            self.asked += 1;
            assert_eq!(self.asked, 1, "an answer is owed");
            Ok(())
        }

        fn answer(&mut self) -> io::Result<Option<Vec<u8>>> {
            let answer = self.answers.pop_front().unwrap_or(Ok(None));
            if let Ok(Some(_)) = answer {
                self.asked = 0;
            }
            answer
        }
    }

    /// An answer in the form that `ipmitool -vvv dcmi power reading` prints: 187 W, least 90, most
    /// 250, mean 180, at 0x5f5e1000, over 1,000 ms, measuring.
    pub const CAPTURED: [u8; 19] = [
        0x00, 0xdc, 0xbb, 0x00, 0x5a, 0x00, 0xfa, 0x00, 0xb4, 0x00, 0x00, 0x10, 0x5e, 0x5f, 0xe8,
        0x03, 0x00, 0x00, 0x40,
    ];

    fn with(change: impl Fn(&mut [u8; 19])) -> Vec<u8> {
        let mut answer = CAPTURED;
        change(&mut answer);
        answer.to_vec()
    }

    fn told(answer: Vec<u8>) -> Option<f64> {
        let mut meter = Meter::by(Box::new(Fixture::new(vec![Ok(Some(answer))])));
        meter.ask().unwrap();
        meter.watts().unwrap()
    }

    #[test]
    fn an_answer_is_read_byte_for_byte() {
        let power = Power {
            current: 187,
            least: 90,
            most: 250,
            mean: 180,
            period_ms: 1000,
            measures: true,
        };
        assert_eq!(parse(&CAPTURED).unwrap(), power);
        assert_eq!(told(CAPTURED.to_vec()), Some(187.0));
        let long = with(|a| (a[2], a[3], a[6], a[7]) = (0x10, 0x27, 0x10, 0x27));
        assert_eq!(told(long), Some(10_000.0));
    }

    #[test]
    fn completion_codes_and_short_answers_are_refusals() {
        for (answer, why) in [
            (vec![0xc1], "0xc1"),
            (vec![0xc9, 0xdc], "0xc9"),
            (vec![], "empty"),
            (CAPTURED[..18].to_vec(), "no answer of DCMI"),
            (with(|a| a[1] = 0xdd), "no answer of DCMI"),
        ] {
            let said = parse(&answer).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_power_that_no_machine_takes_or_that_is_not_measured_is_none() {
        assert_eq!(told(with(|a| (a[2], a[3]) = (0, 0))), None, "0 W");
        assert_eq!(told(with(|a| (a[2], a[3]) = (0xff, 0xff))), None, "65,535 W");
        assert_eq!(told(with(|a| a[18] = 0)), None, "it does not measure");
        assert_eq!(told(with(|a| (a[2], a[3]) = (0x2c, 0x01))), None, "300 W of at most 250");
        let no_statistics = with(|a| a[4..10].fill(0));
        assert_eq!(told(no_statistics), Some(187.0));
    }

    #[test]
    fn an_answer_may_come_late_and_is_asked_for_once() {
        let gone = || io::Error::from_raw_os_error(libc::ENODEV);
        let answers = vec![Ok(None), Ok(Some(CAPTURED.to_vec())), Err(gone())];
        let mut meter = Meter::by(Box::new(Fixture::new(answers)));
        assert_eq!(meter.watts().unwrap(), None, "nothing was asked");
        meter.ask().unwrap();
        assert_eq!(meter.watts().unwrap(), None);
        meter.ask().unwrap();
        assert_eq!(meter.watts().unwrap(), Some(187.0));
        meter.ask().unwrap();
        assert!(meter.watts().is_err(), "the device is gone");
        assert!(Meter::of(Path::new("/nonexistent")).is_none());
    }
}
