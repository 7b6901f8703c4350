//! Knows the peers: how each is started, and what of its text is its figure.
//!
//! Must not know what they are held against.

use super::Failed;
use super::ours::{Figure, Load, Taken};
use super::watch::{Job, Ran, Timed};
use std::process::{Command, Stdio};

/// A run of likwid-bench takes about so long, seconds; before it, it waits for one.
const LIKWID_S: f64 = 0.25;
/// With which its speed is guessed before its first run, bytes a second.
const GUESS: f64 = 20e9;
/// Bytes that it really goes over differ from those asked for by no more than this share.
const SAME_BYTES: f64 = 0.01;

/// A large page, bytes.
const PAGE: u64 = 2 << 20;

/// Who runs beside ours.
pub enum Peer {
    /// likwid-bench: the tests that do the same, and bytes of all arrays together.
    Likwid {
        /// Names of tests.
        tests: &'static [&'static str],
        /// Bytes.
        bytes: u64,
    },
    /// `memcpy` of the libc, called by a load of ours.
    Libc {
        /// Lines of a plan.
        load: String,
        /// On all CPUs, or one.
        all: bool,
    },
    /// STREAM, built by whoever put it on PATH.
    Stream {
        /// Its name there.
        program: &'static str,
        /// On all CPUs, or one.
        all: bool,
    },
    /// multichase.
    Multichase {
        /// Bytes.
        bytes: u64,
    },
    /// core-to-core-latency.
    CoreToCore {
        /// Two CPUs, with a comma between.
        pair: String,
    },
}

/// A peer that stands ready.
pub struct Rival {
    peer: Peer,
    /// CPUs on which it runs.
    pub cpus: Vec<u32>,
    /// Test of likwid-bench, and how often it goes over its arrays.
    test: (&'static str, u64),
    libc: Option<Load>,
    /// Its name and version.
    pub name: String,
    /// Bytes of all arrays for each of its figures, where it chooses them itself.
    pub bytes: Vec<u64>,
}

/// One run of a peer.
pub struct Seen {
    /// Work a second, or seconds for one; in its own order.
    pub figures: Vec<f64>,
    /// Why it does not count, if it does not.
    pub disturbed: Option<String>,
}

impl Peer {
    /// The program that it needs; none where that is this one.
    pub fn program(&self) -> Option<&'static str> {
        match self {
            Self::Likwid { .. } => Some("likwid-bench"),
            Self::Libc { .. } => None,
            Self::Stream { program, .. } => Some(program),
            Self::Multichase { .. } => Some("multichase"),
            Self::CoreToCore { .. } => Some("core-to-core-latency"),
        }
    }

    /// Whether its program is there.
    pub fn is_here(&self) -> bool {
        let Some(program) = self.program() else { return true };
        let which = Command::new("which").arg(program).stdout(Stdio::null()).status();
        which.is_ok_and(|status| status.success())
    }

    /// Makes it ready on a CPU, or on all of these.
    pub fn ready(self, cpus: &[u32]) -> Result<Rival, Failed> {
        let cpus = match &self {
            Self::Stream { all: true, .. } | Self::Libc { all: true, .. } => cpus.to_vec(),
            Self::CoreToCore { pair } => pair.split(',').filter_map(|n| n.parse().ok()).collect(),
            _ => cpus.iter().copied().take(1).collect(),
        };
        let name = self.program().unwrap_or_default().to_owned();
        let mut rival =
            Rival { peer: self, cpus, test: ("", 1), libc: None, name, bytes: Vec::new() };
        match &rival.peer {
            Peer::Likwid { tests, bytes } => rival.scout(tests, *bytes)?,
            Peer::Libc { load, .. } => {
                let load = Load::stage(load)?;
                rival.name = format!("{} memcpy", load.word("libc"));
                rival.libc = Some(load);
            }
            Peer::Stream { .. } => {
                let text = rival.ran(Vec::new(), false)?.text;
                let elements: u64 = number(&text, "Array size = ")?;
                rival.bytes = [2, 2, 3, 3].map(|arrays| arrays * elements * 8).to_vec();
                rival.name = "STREAM 5.10, own pages".into();
            }
            Peer::Multichase { .. } => rival.name = "multichase -H".into(),
            Peer::CoreToCore { .. } => {
                let version = std::env::var("CORE_TO_CORE_VERSION").unwrap_or_default();
                rival.name = format!("core-to-core-latency {version}").trim_end().into();
            }
        }
        Ok(rival)
    }
}

impl Rival {
    /// Whether a compiler chose its instructions, stores and pages.
    pub fn is_plain(&self) -> bool {
        matches!(self.peer, Peer::Stream { .. })
    }

    /// Where a load of ours is the peer: in other memory.
    pub fn stage_anew(&mut self) -> Result<(), Failed> {
        if let Peer::Libc { load, .. } = &self.peer {
            self.libc = None;
            self.libc = Some(Load::stage(load)?);
        }
        Ok(())
    }

    /// One run of about `window_ms` where that can be chosen.
    pub fn run(&mut self, window_ms: u64) -> Result<Seen, Failed> {
        match &self.peer {
            Peer::Likwid { bytes, .. } => {
                let (test, times) = self.test;
                let ran = self.ran(likwid_words(test, *bytes, times), false)?;
                Ok(Seen { figures: vec![rate(&ran.text)?], disturbed: ran.disturbed })
            }
            Peer::Libc { .. } => {
                let load = self.libc.as_mut().ok_or("no load of the libc")?;
                let taken: Taken = load.measure(window_ms)?;
                let figures = vec![taken.figure(Figure::Best)];
                Ok(Seen { figures, disturbed: taken.disturbed })
            }
            Peer::Stream { .. } => {
                let ran = self.ran(Vec::new(), false)?;
                let of = |word: &&str| Ok(number::<f64>(&ran.text, word)? * 1e6);
                let words = ["Copy:", "Scale:", "Add:", "Triad:"];
                let figures = words.iter().map(of).collect::<Result<_, Failed>>()?;
                Ok(Seen { figures, disturbed: ran.disturbed })
            }
            Peer::Multichase { bytes } => {
                // Without -T it shuffles windows only; one sample of half a second is a mean. With
                // -H it gets large pages only if what it maps is made of whole ones.
                let offset = bytes.next_multiple_of(PAGE) - bytes;
                let words = format!("-H -m {bytes} -O {offset} -s 64 -T {bytes} -n 1 -F 0");
                let ran = self.ran(words.split(' ').map(str::to_owned).collect(), false)?;
                let ns: f64 = ran.text.trim().parse()?;
                Ok(Seen { figures: vec![ns * 1e-9], disturbed: ran.disturbed })
            }
            Peer::CoreToCore { pair } => {
                // So many samples take most of a second, in which it can be watched.
                let words = format!("5000 3000 --csv -c {pair}");
                let ran = self.ran(words.split(' ').map(str::to_owned).collect(), false)?;
                // The matrix stands first: nothing for the first CPU, one figure for the second.
                let found = ran.text.lines().nth(1).and_then(|line| line.split(',').next());
                let ns: f64 = found.ok_or("no figure of core-to-core-latency")?.trim().parse()?;
                Ok(Seen { figures: vec![ns * 1e-9], disturbed: ran.disturbed })
            }
        }
    }

    fn ran(&self, words: Vec<String>, look: bool) -> Result<Ran, Failed> {
        let program = self.peer.program().unwrap_or_default();
        let huge = matches!(self.peer, Peer::Likwid { .. } | Peer::Stream { .. });
        let timed = match &self.peer {
            Peer::Likwid { .. } => Timed::Last(|text| number(text, "Time:")),
            // Of its two samples it leaves out the first.
            Peer::Multichase { .. } => Timed::Last(|_| Ok(0.5)),
            Peer::Stream { .. } => Timed::Best,
            Peer::Libc { .. } | Peer::CoreToCore { .. } => Timed::Whole,
        };
        Job { program, words, cpus: &self.cpus, huge, look, timed }.run()
    }

    /// Finds the fastest of its tests and how often it is to be repeated.
    fn scout(&mut self, tests: &'static [&'static str], bytes: u64) -> Result<(), Failed> {
        let times = |rate: f64| times(rate, bytes);
        let mut best = 0.0;
        let mut huge = 0;
        for test in tests {
            let first = self.ran(likwid_words(test, bytes, times(GUESS)), true)?;
            let second = self.ran(likwid_words(test, bytes, times(rate(&first.text)?)), true)?;
            let got: u64 = number(&second.text, "Size (Byte):")?;
            #[expect(clippy::cast_precision_loss, reason = "bytes of memory are below 2^53")]
            if (got as f64 / bytes as f64 - 1.0).abs() > SAME_BYTES {
                return Err(format!("likwid-bench took {got} B and not {bytes} B").into());
            }
            let fastest = rate(&first.text)?.max(rate(&second.text)?);
            huge = second.huge_bytes.max(huge);
            if fastest > best {
                best = fastest;
                self.test = (test, times(rate(&second.text)?));
            }
        }
        let pages = if huge >= bytes / 10 * 9 { "2 MiB pages" } else { "own pages" };
        let version = first_line("likwid-bench", "-v");
        let version = version.rsplit(' ').next().unwrap_or_default();
        self.name = format!("likwid-bench {version} {}, {pages}", self.test.0);
        Ok(())
    }
}

/// How often it goes over its arrays at a speed, so that a run takes as long as it shall.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and below 2^53"
)]
fn times(rate: f64, bytes: u64) -> u64 {
    (rate * LIKWID_S / bytes as f64).ceil().max(3.0) as u64
}

/// Bytes as `B`: its `kB` and `MB` are decimal, and `KiB` it takes for bytes.
fn likwid_words(test: &str, bytes: u64, times: u64) -> Vec<String> {
    let place = format!("S0:{bytes}B:1");
    ["-t", test, "-w", &place, "-i", &times.to_string()].map(str::to_owned).to_vec()
}

/// Bytes a second that likwid-bench prints; its megabytes are 10^6, counted as STREAM counts.
fn rate(text: &str) -> Result<f64, Failed> {
    Ok(number::<f64>(text, "MByte/s:")? * 1e6)
}

/// The number that follows some words.
fn number<T: std::str::FromStr>(text: &str, after: &str) -> Result<T, Failed> {
    let found = text.split_once(after).and_then(|(_, rest)| rest.split_whitespace().next());
    let read = found.and_then(|word| word.parse().ok());
    read.ok_or_else(|| format!("no number after '{after}' in: {text}").into())
}

fn first_line(program: &str, word: &str) -> String {
    let output = Command::new(program).arg(word).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}
