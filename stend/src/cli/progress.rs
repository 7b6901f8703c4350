//! Knows how a person is kept informed on standard error: one status line on a terminal, else a
//! line a step.

use desk::record::TrialRecord;
use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// What is told while measuring.
#[derive(Debug)]
pub struct Meter {
    terminal: bool,
    begun: Instant,
    expected: Duration,
    last_shown: Option<Instant>,
}

impl Meter {
    /// A meter for work that should take `expected`.
    #[must_use]
    pub fn new(expected: Duration) -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            begun: Instant::now(),
            expected,
            last_shown: None,
        }
    }

    /// Seconds since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Says a whole line.
    pub fn say(&mut self, line: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        // Progress that nobody reads must not end a measurement.
        let _ = writeln!(std::io::stderr(), "{clear}{line}");
    }

    /// Shows what is going on; on a terminal the line is overwritten.
    pub fn show(&mut self, what: &str, done: usize, planned: usize, last: &TrialRecord) {
        if !self.terminal {
            return;
        }
        let now = Instant::now();
        if self.last_shown.is_some_and(|t| now - t < Duration::from_millis(100)) {
            return;
        }
        self.last_shown = Some(now);
        let left = self.expected.saturating_sub(self.begun.elapsed());
        let figure = match (&last.outcome.fault, last.outcome.samples.first()) {
            (Some(_), _) => "fault".to_owned(),
            (None, Some(sample)) => sample.quantity.to_string(),
            (None, None) => String::new(),
        };
        let left = format!("{}:{:02}", left.as_secs() / 60, left.as_secs() % 60);
        let line = format!("{what}  {done}/{planned}  {figure}  {left} left");
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        let _ = std::io::stderr().flush();
    }
}
