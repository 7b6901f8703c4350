//! Knows how a person is kept informed on standard error: a status block on a terminal that is
//! overwritten, else a line a step.
//!
//! Never: speaks while a window is open. It is told of a visit after its record was kept and before
//! the next begins, and it takes less than a thousandth of the time.

use super::terminal::{self, Manner, manner};
use desk::record::{Fault, Plan, Replicate, Run, Trial, TrialRecord};
use desk::unit::show_range;
use desk::verdict::{SoFar, so_far};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rig::run::{Progress, Tally};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Pause between two lines where the line cannot be overwritten.
const EVERY: Duration = Duration::from_secs(10);
/// Least pause between two drawings of the block.
const PAUSE: Duration = Duration::from_millis(200);
/// A drawing is followed by a pause of so many times what it took: it is 0.05 % of the time.
const SHARE: u32 = 2000;
/// Cells of the gauge.
const GAUGE: usize = 20;

/// What is told while measuring.
#[derive(Debug)]
pub struct Meter {
    manner: Manner,
    overwrites: bool,
    begun: Instant,
    expected: Duration,
    /// One run is all there is, so that its pace tells the time that is left.
    single: bool,
    shown: Option<Instant>,
    pause: Duration,
    block: Option<ProgressBar>,
    faults: usize,
    fault: Option<Fault>,
}

impl Meter {
    /// A meter for work that should take `expected`.
    #[must_use]
    pub fn new(expected: Duration, single: bool) -> Self {
        Self {
            manner: manner(),
            overwrites: terminal::overwrites(),
            begun: Instant::now(),
            expected,
            single,
            shown: None,
            pause: Duration::ZERO,
            block: None,
            faults: 0,
            fault: None,
        }
    }

    /// Seconds since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Says a whole line, unless the person wants it quiet.
    pub fn say(&self, line: &str) {
        if !self.manner.quiet {
            self.warn(line);
        }
    }

    /// Says a whole line that nobody may miss.
    pub fn warn(&self, line: &str) {
        // Progress that nobody reads must not end a measurement.
        let write = || drop(writeln!(std::io::stderr(), "{line}"));
        match &self.block {
            Some(block) => block.suspend(write),
            None => write(),
        }
    }

    /// Shows where a run is, of which `run` holds what was kept so far.
    pub fn show(&mut self, progress: &Progress<'_>, run: &Run) {
        let fault = progress.last.outcome.fault.as_ref();
        // What this machine cannot do is no fault of a visit.
        if let Some(fault) = fault.filter(|f| !matches!(f, Fault::NotAvailable { .. })) {
            self.faults += 1;
            self.fault = Some(fault.clone());
        }
        if self.manner.quiet {
            return;
        }
        if self.manner.verbose {
            self.say(&visit(run, progress.last));
        }
        let next_block = progress.next.map(|next| next.block);
        let ended = !progress.waits && next_block != Some(progress.last.trial.block);
        let waited = self.shown.is_none_or(|shown| shown.elapsed() >= self.pause);
        if !(waited || ended && !self.overwrites) {
            return;
        }
        let began = Instant::now();
        let lines = self.lines(progress, run);
        if self.overwrites {
            self.draw(&lines);
            self.pause = PAUSE.max(began.elapsed() * SHARE);
        } else {
            let whole: Vec<&str> = lines.iter().map(|(_, words)| words.as_str()).collect();
            self.say(&whole.join("; "));
            self.pause = EVERY;
        }
        self.shown = Some(Instant::now());
    }

    /// Takes the block away: what comes next is for reading.
    pub fn rest(&mut self) {
        if let Some(block) = self.block.take() {
            block.finish_and_clear();
        }
        (self.faults, self.fault, self.shown) = (0, None, None);
    }

    /// Label and words of every line; the first has no label.
    fn lines(&self, progress: &Progress<'_>, run: &Run) -> Vec<(&'static str, String)> {
        let Progress { dry, counted, .. } = *progress;
        let (done, planned) = (dry.done + counted.done, dry.planned + counted.planned);
        let title = &run.plan.title;
        let left = self.left(done, planned);
        let visited = visited(dry, counted);
        let gauge =
            if self.overwrites { format!("{}  ", gauge(done, planned)) } else { String::new() };
        let mut lines = vec![("", format!("{gauge}{visited}, {left} left: {title}"))];
        if progress.waits {
            lines.push(("now", "disturbed: waits for calm, then goes on".into()));
        }
        if let Some(next) = progress.next {
            lines.push(("now", place(&run.plan, next)));
        }
        if let Some(so_far) = so_far(run) {
            lines.push(("so far", standing(&so_far)));
        }
        if let Some(fault) = &self.fault {
            lines.push(("faults", invalid(self.faults, &fault.to_string())));
        }
        lines
    }

    /// What was promised, unless the pace so far says longer.
    #[expect(clippy::cast_precision_loss, reason = "trials are far below 2^53")]
    fn left(&self, done: usize, planned: usize) -> String {
        let elapsed = self.begun.elapsed();
        let pace = elapsed.mul_f64(planned as f64 / done.max(1) as f64);
        // A few visits tell no pace: the lab was built in that time too.
        let paced = self.single && done >= 10;
        let whole = if paced { self.expected.max(pace) } else { self.expected };
        let seconds = whole.saturating_sub(elapsed).as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }

    fn draw(&mut self, lines: &[(&'static str, String)]) {
        let columns = usize::from(terminal::error_columns()).saturating_sub(1);
        let colours = terminal::colours();
        let set: Vec<String> = lines.iter().map(|line| styled(line, columns, colours)).collect();
        let block = self.block.get_or_insert_with(|| {
            let target = ProgressDrawTarget::stderr();
            let style = ProgressStyle::with_template("{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        block.set_message(set.join("\n"));
        block.tick();
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.rest();
    }
}

/// `3/8 dry visits, 0/40 trials`; without the first once they are over.
fn visited(dry: Tally, counted: Tally) -> String {
    let trials = format!("{}/{} trials", counted.done, counted.planned);
    match dry.done < dry.planned {
        true => format!("{}/{} dry attempts, {trials}", dry.done, dry.planned),
        false => trials,
    }
}

/// How many visits were invalid, with the fault of the last.
fn invalid(visits: usize, last: &str) -> String {
    match visits {
        1 => format!("1 attempt invalid: {last}"),
        several => format!("{several} attempts invalid, the last: {last}"),
    }
}

/// A line of the block, no wider than `columns`; its label is dim, that of faults yellow.
fn styled((label, words): &(&'static str, String), columns: usize, colours: bool) -> String {
    let head = if label.is_empty() { String::new() } else { format!("{label:<8}") };
    let words = cut(words, columns.saturating_sub(head.len()));
    match (colours, *label) {
        (false, _) | (true, "") => format!("{head}{words}"),
        (true, "faults") => format!("\x1b[33m{head}\x1b[0m{words}"),
        (true, _) => format!("\x1b[2m{head}\x1b[0m{words}"),
    }
}

/// A text of at most so many letters.
pub fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn gauge(done: usize, planned: usize) -> String {
    let full = (GAUGE * done / planned.max(1)).min(GAUGE);
    format!("[{}{}]", "#".repeat(full), "-".repeat(GAUGE - full))
}

/// Boot, block, swept and sought parameters and levels of a trial.
fn place(plan: &Plan, trial: &Trial) -> String {
    let load = plan.load(&trial.point.load);
    let swept = load.into_iter().flat_map(|load| &load.over).map(|(name, _)| name);
    let sought = load.and_then(|load| load.search.as_ref()).map(|search| &search.over);
    let params = swept.chain(sought).filter_map(|name| trial.point.params.get(name));
    let params: Vec<String> = params.map(ToString::to_string).collect();
    let levels = trial.treatment.levels.iter();
    let levels: Vec<String> = levels.map(|(name, level)| format!("{name} {level}")).collect();
    let block = if trial.block == 0 { "dry".into() } else { format!("block {}", trial.block) };
    let when = if trial.boot == 0 { block } else { format!("boot {}, {block}", trial.boot) };
    let point = [trial.point.load.clone(), params.join(" "), levels.join(", ")];
    let point: Vec<&str> = point.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
    format!("{when}: {}", point.join(", "))
}

/// The ratio of the first comparison, or that there is too little for one.
fn standing(so_far: &SoFar) -> String {
    let SoFar { base, other, besides, replicate, ratio } = so_far;
    let repeats = match replicate {
        Replicate::Block => "blocks",
        Replicate::Boot => "boots",
    };
    let more = match besides {
        0 => String::new(),
        1 => "; 1 more comparison".into(),
        several => format!("; {several} more comparisons"),
    };
    match ratio {
        Some(r) => {
            let range = show_range(r.low, r.high);
            format!("{other}/{base} {} ({range}) of {} {repeats}{more}", r.centre, r.n)
        }
        None => format!("{other}/{base}: too few {repeats}{more}"),
    }
}

/// One visit and what came of it.
fn visit(run: &Run, record: &TrialRecord) -> String {
    let what = match (&record.outcome.fault, run.figure(record)) {
        (Some(fault @ Fault::NotAvailable { .. }), _) => fault.to_string(),
        (Some(fault), _) => format!("fault: {fault}"),
        (None, Some(quantity)) => quantity.to_string(),
        (None, None) => "no figure".into(),
    };
    format!("{}: {what}", place(&run.plan, &record.trial))
}

/// Says a line to whoever watches; that nobody does is no error.
pub fn say(line: &str) {
    if !manner().quiet {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::stats::Estimate;
    use desk::unit::{Quantity, Unit};

    #[test]
    fn a_line_of_the_block_is_never_wider_than_the_terminal() {
        let line = ("so far", "б".repeat(200));
        assert_eq!(styled(&line, 79, false).chars().count(), 79);
        let coloured = styled(&line, 79, true);
        assert_eq!(coloured.replace("\x1b[2m", "").replace("\x1b[0m", "").chars().count(), 79);
        assert!(styled(&("faults", "1".into()), 79, true).contains("\x1b[33m"));
        assert!(!styled(&("faults", "1".into()), 79, false).contains('\x1b'));
    }

    #[test]
    fn the_gauge_is_empty_at_the_beginning_and_full_at_the_end() {
        assert_eq!(gauge(0, 10), format!("[{}]", "-".repeat(GAUGE)));
        assert_eq!(gauge(5, 10).matches('#').count(), GAUGE / 2);
        assert_eq!(gauge(12, 10), format!("[{}]", "#".repeat(GAUGE)));
        assert_eq!(gauge(0, 0).len(), GAUGE + 2);
    }

    #[test]
    fn dry_visits_are_no_trials_and_one_is_no_plural() {
        let tally = |done, planned| Tally { done, planned };
        assert_eq!(visited(tally(3, 8), tally(0, 40)), "3/8 dry attempts, 0/40 trials");
        assert_eq!(visited(tally(8, 8), tally(12, 40)), "12/40 trials");
        assert_eq!(visited(tally(0, 0), tally(1, 40)), "1/40 trials");
        assert_eq!(invalid(1, "c01 went away"), "1 attempt invalid: c01 went away");
        assert_eq!(invalid(2, "steal"), "2 attempts invalid, the last: steal");
    }

    #[test]
    fn a_ratio_stands_with_its_interval_and_too_few_blocks_without() {
        let ratio = |value| Quantity::new(value, Unit::Ratio);
        let (base, other) = ("a".into(), "b".into());
        let mut now = SoFar { base, other, besides: 2, replicate: Replicate::Block, ratio: None };
        assert_eq!(standing(&now), "b/a: too few blocks; 2 more comparisons");
        now.besides = 1;
        assert_eq!(standing(&now), "b/a: too few blocks; 1 more comparison");
        let (low, high) = (ratio(1.1), ratio(1.3));
        now.ratio = Some(Estimate { low, high, n: 5, ..Estimate::exact(ratio(1.2)) });
        let said = standing(&now);
        assert!(said.starts_with("b/a 1.2") && said.contains("1.1") && said.contains("5 blocks"));
        now.replicate = Replicate::Boot;
        assert!(standing(&now).contains("of 5 boots"));
    }
}
