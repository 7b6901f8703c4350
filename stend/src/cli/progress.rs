//! Knows how a person is kept informed on standard error: one status line on a terminal, else a
//! line a step.

use desk::record::TrialRecord;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Pause between two lines where the line cannot be overwritten.
const EVERY: Duration = Duration::from_secs(10);

/// What is told while measuring.
#[derive(Debug)]
pub struct Meter {
    terminal: bool,
    begun: Instant,
    expected: Duration,
    /// One run is all there is, so that its pace tells the time that is left.
    single: bool,
    last_shown: Instant,
}

impl Meter {
    /// A meter for work that should take `expected`.
    #[must_use]
    pub fn new(expected: Duration, single: bool) -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            begun: Instant::now(),
            expected,
            single,
            last_shown: Instant::now(),
        }
    }

    /// Seconds since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Says a whole line.
    pub fn say(&self, line: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        // Progress that nobody reads must not end a measurement.
        let _ = writeln!(std::io::stderr(), "{clear}{line}");
    }

    /// Shows what is going on; on a terminal the line is overwritten.
    #[expect(clippy::cast_precision_loss, reason = "trials are far below 2^53")]
    pub fn show(&mut self, what: &str, done: usize, planned: usize, last: &TrialRecord) {
        let now = Instant::now();
        let pause = if self.terminal { Duration::from_millis(100) } else { EVERY };
        if now - self.last_shown < pause {
            return;
        }
        self.last_shown = now;
        let elapsed = self.begun.elapsed();
        // What was promised, unless the pace so far says longer.
        let pace = elapsed.mul_f64(planned as f64 / done.max(1) as f64);
        let left = self.expected.max(if self.single { pace } else { self.expected });
        let left = left.saturating_sub(elapsed);
        let figure = match (&last.outcome.fault, last.outcome.samples.first()) {
            (Some(_), _) => "fault".to_owned(),
            (None, Some(sample)) => sample.quantity.to_string(),
            (None, None) => String::new(),
        };
        let left = format!("{}:{:02}", left.as_secs() / 60, left.as_secs() % 60);
        let line = format!("{what}  {done}/{planned}  {figure}  {left} left");
        if !self.terminal {
            return self.say(&line);
        }
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        let _ = std::io::stderr().flush();
    }
}

/// Says a line to whoever watches; that nobody does is no error.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
