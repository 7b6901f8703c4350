//! Knows how pinned threads run hot loops side by side and sample them within one window.
//!
//! Must not know what a loop does, nor what its figure means.

use super::cpus::pin;
use super::guard::{Guard, Taint};
use super::stored::Stored;
use crate::lab::{agent, clock};
use desk::record::Distribution;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Shortest sample, nanoseconds: what reading the clock and the guard cost is nothing beside it.
const SAMPLE_NS: u64 = 3_000_000;
/// Passes are chosen for samples a little longer, so that few fall short.
const AIM: f64 = 1.15;

/// So long a pass is not begun if it would end after the window opens, nanoseconds.
const LONG_NS: u64 = 50_000_000;
/// After the window opens whoever opened it reads what it watches, which takes CPU: so long no
/// sample begins, nanoseconds, but for no more than a sixth of the window.
const EDGE_NS: u64 = 10_000_000;
/// Shortest turn of loops that take turns: a warm-up and three samples.
const TURN_NS: u64 = 16_000_000;

/// Said where a thread panicked.
const GONE: &str = "a thread of the load ended";

/// One hot loop of one pinned thread.
pub trait Hot {
    /// Does so many passes; the work done, in the unit of its workload: bytes, loads, hand-overs.
    fn pass(&mut self, passes: u64) -> u64;
    /// Looks whether what was done is right: the number of places that it looked at.
    ///
    /// # Errors
    /// What is wrong, with both values.
    fn verify(&mut self) -> Result<u64, String>;
    /// A [digest](crate::metal::digest) of what the loop works on: the same for the same seed, and
    /// never of results that depend on time.
    fn digest(&self) -> u64;
    /// Makes one result wrong, so that [`Hot::verify`] must refuse it. Only debug builds ask for
    /// it, where a test planted it (`agent::plants_wrong_data`).
    fn spoil(&mut self);
    /// Numbers of further threads, or processes of one thread, whose disturbances are this loop's
    /// too.
    fn watched(&self) -> Vec<i32> {
        Vec::new()
    }
    /// Further CPUs of which steal is this loop's too.
    fn watched_cpus(&self) -> Vec<u32> {
        Vec::new()
    }
    /// Nanoseconds of the last pass by the clock of another program, where that program did it and
    /// what it takes to ask it shall not count.
    fn own_ns(&self) -> Option<u64> {
        None
    }
    /// Whether loops of this kind take turns instead of running side by side: each then has a part
    /// of the window to itself.
    fn in_turn(&self) -> bool {
        false
    }
    /// Shortest sample, nanoseconds. Longer where operations are under way between two samples:
    /// those that end there count in the next.
    fn sample_ns(&self) -> u64 {
        SAMPLE_NS
    }
    /// Whether the loop sleeps while it works: each time it wakes it waits for its CPU, and that is
    /// part of what is measured and no disturbance.
    fn sleeps(&self) -> bool {
        false
    }
    /// The window begins: from now on the loop records the times of its operations.
    fn opens(&mut self, _window: Span) {}
    /// What became of the operations that were due in the window, where a pace was set; asked for
    /// after [`Self::verify`].
    fn paced(&self) -> Option<Paced> {
        None
    }
    /// Bytes of a unit of its work, on average over the window, where units differ in size; asked
    /// for after [`Self::verify`].
    fn unit_bytes(&self) -> Option<f64> {
        None
    }
    /// The times that it recorded in the window; asked for after [`Self::verify`].
    fn distributions(&mut self) -> Vec<Distribution> {
        Vec::new()
    }
}

/// Why a loop cannot be had, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Unready {
    /// The machine lacks something for good: an instruction set, a library, huge pages.
    #[error("{0}")]
    NotAvailable(String),
    /// The machine is in no state for it at this moment; later it may be.
    #[error("{0}")]
    Disturbed(String),
    /// It did not work this time.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for Unready {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// A loop as it was made on its thread.
pub type Made = Result<Box<dyn Hot>, Unready>;

/// A thread of a gang before it runs.
pub struct Member {
    /// CPU that it is pinned to, if it is.
    pub cpu: Option<u32>,
    /// Makes its loop; runs on the pinned thread, so that memory is touched there.
    pub make: Box<dyn FnOnce() -> Made + Send>,
}

/// A window on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it opens, nanoseconds.
    pub opens_ns: u64,
    /// When it closes, nanoseconds.
    pub closes_ns: u64,
}

impl Span {
    /// From when on nobody is expected to disturb it, nanoseconds.
    fn calm_ns(self) -> u64 {
        let length_ns = self.closes_ns.saturating_sub(self.opens_ns);
        self.opens_ns + EDGE_NS.min(length_ns / 6)
    }
}

/// One sample: so much work in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// In the unit of the loop.
    pub work: u64,
    /// Nanoseconds.
    pub ns: u64,
    /// What disturbed it, if anything did.
    pub taint: Option<Taint>,
}

impl Sampled {
    /// Work in a second.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "work and time of a sample are below 2^53")]
    pub fn rate(&self) -> f64 {
        self.work as f64 * 1e9 / self.ns.max(1) as f64
    }
}

/// What became of the operations of one thread that were due in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paced {
    /// Those that were begun.
    pub due: u64,
    /// Of these, those that the thread itself began too late.
    pub late: u64,
    /// Those that were never begun.
    pub unsent: u64,
}

/// What one thread did in the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// CPU that it was pinned to.
    pub cpu: Option<u32>,
    /// In the order in which they were taken.
    pub samples: Vec<Sampled>,
    /// Work of the whole life of the loop, warm-up and all.
    pub work: u64,
    /// Places at which the work was found right; what was wrong otherwise.
    pub verified: Result<u64, String>,
    /// What [`Hot::digest`] gives; none in a simulated lab.
    pub digest: Option<u64>,
    /// What [`Hot::paced`] gives.
    pub paced: Option<Paced>,
    /// What [`Hot::unit_bytes`] gives.
    pub unit_bytes: Option<f64>,
    /// What [`Hot::distributions`] gives.
    pub distributions: Vec<Distribution>,
}

/// What all threads did in the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// One of each thread, in the order of the members.
    pub series: Vec<Series>,
    /// CPU time of the process in the window, nanoseconds.
    pub cpu_ns: u64,
    /// What the process moved to and from block devices in the window; none where that is unknown.
    pub stored: Option<Stored>,
}

/// A thread's word.
enum Word {
    /// Its loop is made; whether such loops take turns.
    Made(bool),
    /// What it did.
    Done(Series),
}

type Answer = Result<Word, Unready>;

/// What a thread is asked: the window, and which of how many threads it is.
struct Call {
    span: Span,
    at: u64,
    of: u64,
    /// Held by the thread whose turn it is.
    turn: Arc<Mutex<()>>,
}

impl Call {
    /// Length of one turn.
    fn length_ns(&self) -> u64 {
        (self.span.closes_ns.saturating_sub(self.span.opens_ns) / self.of).max(TURN_NS)
    }

    /// Waits for this thread's turn, which ends with what is returned.
    fn wait(&self) -> MutexGuard<'_, ()> {
        if self.at > 0 {
            clock::sleep_until(self.span.opens_ns + self.at * self.length_ns());
        }
        // A thread that panicked has told of it by its silence.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part of the window that is this thread's, from now at the earliest; a fifth to warm up.
    fn part(&self) -> Span {
        let length_ns = self.length_ns();
        let begins_ns = (self.span.opens_ns + self.at * length_ns).max(clock::now_ns());
        Span { opens_ns: begins_ns + length_ns / 5, closes_ns: begins_ns + length_ns }
    }
}

/// Threads that stand ready. They end with this value.
pub struct Gang {
    calls: Vec<Sender<Call>>,
    answers: Vec<Receiver<Answer>>,
    threads: Vec<JoinHandle<()>>,
    /// How many of them take turns.
    in_turn: u64,
}

impl Gang {
    /// Starts all threads and waits until every loop is made.
    ///
    /// # Errors
    /// The first that could not be made, in words for the person.
    pub fn start(members: Vec<Member>) -> Result<Self, Unready> {
        let mut gang =
            Self { calls: Vec::new(), answers: Vec::new(), threads: Vec::new(), in_turn: 0 };
        for member in members {
            gang.add(member).map_err(|e| format!("no thread can be started: {e}"))?;
        }
        for answer in &gang.answers {
            let made = answer.recv().map_err(|_| GONE.to_owned())??;
            gang.in_turn += u64::from(matches!(made, Word::Made(true)));
        }
        Ok(gang)
    }

    fn add(&mut self, member: Member) -> io::Result<()> {
        let (call, calls) = channel();
        let (answer, answers) = channel();
        let thread = thread::Builder::new().name("hot".into()).spawn(move || {
            // Whoever asked is gone where this cannot be told.
            let _ = live(member, &calls, &answer);
        })?;
        self.calls.push(call);
        self.answers.push(answers);
        self.threads.push(thread);
        Ok(())
    }

    /// The shortest window in which each of loops that take turns has its turn, nanoseconds.
    #[must_use]
    pub fn least_ns(&self) -> u64 {
        if self.in_turn > 1 { self.in_turn * TURN_NS } else { 0 }
    }

    /// Runs all loops from now on, samples them within the window, and looks whether they were
    /// right; returns after the last sample.
    ///
    /// # Errors
    /// When a thread has ended, in words for the person.
    pub fn measure(&self, span: Span) -> Result<Together, String> {
        let (turn, of) = (Arc::new(Mutex::new(())), self.calls.len() as u64);
        for (at, call) in self.calls.iter().enumerate() {
            let turn = Arc::clone(&turn);
            call.send(Call { span, at: at as u64, of, turn }).map_err(|_| GONE)?;
        }
        clock::sleep_until(span.opens_ns);
        let (opened_ns, before) = (clock::process_cpu_ns(), Stored::now());
        clock::sleep_until(span.closes_ns);
        let cpu_ns = clock::process_cpu_ns() - opened_ns;
        let stored = Stored::now().zip(before).map(|(after, before)| after.since(before));
        let mut series = Vec::new();
        for answer in &self.answers {
            let told = answer.recv().map_err(|_| GONE)?.map_err(|why| why.to_string())?;
            match told {
                Word::Done(one) => series.push(one),
                Word::Made(_) => return Err(GONE.into()),
            }
        }
        Ok(Together { series, cpu_ns, stored })
    }
}

impl Drop for Gang {
    fn drop(&mut self) {
        self.calls.clear();
        for thread in self.threads.drain(..) {
            // A loop that panicked has told of it by its silence.
            let _ = thread.join();
        }
    }
}

/// The life of a thread: make the loop, then measure as often as it is asked.
fn live(member: Member, calls: &Receiver<Call>, answer: &Sender<Answer>) -> Option<()> {
    let cpu = member.cpu;
    // What it starts stands where stend was started, too.
    let _ = agent::take_started_nice();
    let made = cpu.map_or(Ok(()), pin).map_err(Unready::Failed).and_then(|()| (member.make)());
    let mut hot = match made {
        Ok(hot) => hot,
        Err(why) => return answer.send(Err(why)).ok(),
    };
    answer.send(Ok(Word::Made(hot.in_turn()))).ok()?;
    let cpus: Vec<u32> = cpu.into_iter().chain(hot.watched_cpus()).collect();
    let mut guard = Guard::of(&hot.watched(), &cpus);
    let mut pace = Pace { passes: 1, work: 0 };
    while let Ok(call) = calls.recv() {
        let turn = (hot.in_turn() && call.of > 1).then(|| call.wait());
        let span = if turn.is_some() { call.part() } else { call.span };
        pace.warm(hot.as_mut(), span.calm_ns());
        hot.opens(span);
        let samples = pace.sample(hot.as_mut(), &mut guard, span);
        // What the kernel counts of a loop that sleeps, it counts until the window closes.
        if (call.of > 1 || hot.sleeps()) && turn.is_none() {
            pace.run_on(hot.as_mut(), span.closes_ns);
        }
        if agent::plants_wrong_data() {
            hot.spoil();
        }
        let (verified, digest) = (hot.verify(), Some(hot.digest()));
        // What was under way at the close is complete now.
        let (unit_bytes, distributions) = (hot.unit_bytes(), hot.distributions());
        let (paced, work) = (hot.paced(), pace.work);
        drop(turn);
        let series =
            Series { cpu, samples, work, verified, digest, paced, unit_bytes, distributions };
        answer.send(Ok(Word::Done(series))).ok()?;
    }
    Some(())
}

/// How many passes make a sample, and the work done so far.
struct Pace {
    passes: u64,
    work: u64,
}

impl Pace {
    /// Runs until the window opens, and at least until a sample is long enough.
    fn warm(&mut self, hot: &mut dyn Hot, opens_ns: u64) {
        loop {
            let ns = self.time(hot).1;
            let now_ns = clock::now_ns();
            if ns < hot.sample_ns() {
                self.lengthen(ns, hot.sample_ns());
            } else if now_ns >= opens_ns {
                return;
            } else if ns >= LONG_NS && now_ns + ns > opens_ns {
                // One more would run far into the window.
                clock::sleep_until(opens_ns);
                return;
            }
        }
    }

    /// Passes for a sample of the right length, by one that took so long; both in nanoseconds.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "passes of some milliseconds, each of a nanosecond or more"
    )]
    fn lengthen(&mut self, ns: u64, sample_ns: u64) {
        let factor = AIM * sample_ns as f64 / ns.max(1) as f64;
        // A first pass is cold: it tells little of the second.
        self.passes = (self.passes as f64 * factor.clamp(1.5, 1000.0)).ceil() as u64;
    }

    /// Work and nanoseconds of one sample.
    fn time(&mut self, hot: &mut dyn Hot) -> (u64, u64) {
        let began_ns = clock::now_ns();
        let work = hot.pass(self.passes);
        let ns = clock::now_ns() - began_ns;
        self.work += work;
        (work, hot.own_ns().unwrap_or(ns))
    }

    /// Goes on until the window closes, for whoever still samples beside this one, and for what is
    /// counted until then; but not with loops whose shortest pass may be far longer than a sample.
    fn run_on(&mut self, hot: &mut dyn Hot, closes_ns: u64) {
        while clock::now_ns() < closes_ns && self.time(hot).1 < LONG_NS {}
    }

    /// Samples that begin in the window; after the first only those that end there, too.
    fn sample(&mut self, hot: &mut dyn Hot, guard: &mut Guard, span: Span) -> Vec<Sampled> {
        let mut samples = Vec::new();
        let (mut last_ns, mut since_ns) = (0, clock::now_ns());
        guard.begin();
        loop {
            let began_ns = clock::now_ns();
            // The others may have stopped by then, and whoever closes the window reads again.
            if began_ns + last_ns >= span.closes_ns && !samples.is_empty() {
                return samples;
            }
            let (work, ns) = self.time(hot);
            let ended_ns = clock::now_ns();
            // Whoever is asked waits while this thread reads what the kernel counts, too.
            let whole_ns = ended_ns - since_ns;
            let own_ns = if hot.sleeps() { 0 } else { hot.own_ns().unwrap_or(whole_ns) };
            let outside_ns = whole_ns.saturating_sub(own_ns);
            since_ns = ended_ns;
            let taint = guard.end(began_ns, ended_ns, outside_ns);
            last_ns = ended_ns - began_ns;
            // Of a loop that sleeps, a stall at the end of the window is part of the result.
            if ended_ns > span.closes_ns && samples.len() >= 3 && !hot.sleeps() {
                return samples;
            }
            samples.push(Sampled { work, ns, taint });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metal::DIGEST;
    use std::time::Duration;

    /// Sleeps so long a pass, and is right for so many calls.
    struct Sleeper(Duration, u64);

    impl Hot for Sleeper {
        fn pass(&mut self, passes: u64) -> u64 {
            for _ in 0..passes {
                thread::sleep(self.0);
            }
            passes
        }

        fn verify(&mut self) -> Result<u64, String> {
            self.1.checked_sub(1).map(|_| 1).ok_or_else(|| "0 and not 1".into())
        }

        fn digest(&self) -> u64 {
            DIGEST
        }

        fn spoil(&mut self) {
            self.1 = 0;
        }
    }

    fn sleeper(us: u64, right: u64) -> Member {
        let make = move || {
            let hot: Box<dyn Hot> = Box::new(Sleeper(Duration::from_micros(us), right));
            Ok(hot)
        };
        Member { cpu: None, make: Box::new(make) }
    }

    fn span(ms: u64) -> Span {
        let opens_ns = clock::now_ns() + 10_000_000;
        Span { opens_ns, closes_ns: opens_ns + ms * 1_000_000 }
    }

    #[test]
    fn samples_are_long_enough_and_begin_in_the_window() {
        let gang = Gang::start(vec![sleeper(500, 1), sleeper(700, 1)]).unwrap();
        let span = span(60);
        let all = gang.measure(span).unwrap().series;
        assert_eq!(all.len(), 2);
        for series in &all {
            assert!(!series.samples.is_empty() && series.verified == Ok(1));
            assert!(series.samples.iter().all(|s| s.ns >= SAMPLE_NS && s.work >= 1));
            let sum: u64 = series.samples.iter().map(|s| s.ns).sum();
            assert!(series.samples.len() < 4 || sum <= span.closes_ns - span.opens_ns);
            assert!(series.work > series.samples.iter().map(|s| s.work).sum());
        }
    }

    #[test]
    fn a_pass_longer_than_the_window_is_one_sample_all_the_same() {
        let gang = Gang::start(vec![sleeper(30_000, 1)]).unwrap();
        let all = gang.measure(span(5)).unwrap().series;
        assert_eq!((all[0].samples.len(), all[0].samples[0].work), (1, 1));
        // And a gang can be asked again.
        assert_eq!(gang.measure(span(5)).unwrap().series[0].samples.len(), 1);
    }

    /// Says which of its kind works.
    struct Lone(Arc<Mutex<Vec<u32>>>, u32);

    impl Hot for Lone {
        fn pass(&mut self, passes: u64) -> u64 {
            self.0.lock().unwrap().push(self.1);
            thread::sleep(Duration::from_micros(500 * passes.min(100)));
            assert_eq!(self.0.lock().unwrap().last(), Some(&self.1), "nobody else meanwhile");
            passes
        }

        fn verify(&mut self) -> Result<u64, String> {
            Ok(1)
        }

        fn digest(&self) -> u64 {
            DIGEST
        }

        fn spoil(&mut self) {}

        fn in_turn(&self) -> bool {
            true
        }
    }

    #[test]
    fn loops_that_take_turns_work_one_after_the_other() {
        let worked = Arc::new(Mutex::new(Vec::new()));
        let lone = |name| {
            let worked = Arc::clone(&worked);
            let make = move || {
                let hot: Box<dyn Hot> = Box::new(Lone(worked, name));
                Ok(hot)
            };
            Member { cpu: None, make: Box::new(make) }
        };
        let gang = Gang::start((0..3).map(lone).collect()).unwrap();
        let all = gang.measure(span(60)).unwrap().series;
        assert!(all.iter().all(|series| !series.samples.is_empty()));
        let mut worked = worked.lock().unwrap().clone();
        worked.dedup();
        assert_eq!(worked, [0, 1, 2]);
    }

    /// Waits for 20 ms a pass, and keeps when the last one ended.
    struct Waiter(Arc<Mutex<u64>>);

    impl Hot for Waiter {
        fn pass(&mut self, passes: u64) -> u64 {
            thread::sleep(Duration::from_millis(20));
            *self.0.lock().unwrap() = clock::now_ns();
            passes
        }

        fn verify(&mut self) -> Result<u64, String> {
            Ok(1)
        }

        fn digest(&self) -> u64 {
            DIGEST
        }

        fn spoil(&mut self) {}

        fn sleeps(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_loop_that_sleeps_works_until_the_window_closes_though_it_is_alone() {
        let ended = Arc::new(Mutex::new(0));
        let hot = Waiter(Arc::clone(&ended));
        let make = move || {
            let hot: Box<dyn Hot> = Box::new(hot);
            Ok(hot)
        };
        let gang = Gang::start(vec![Member { cpu: None, make: Box::new(make) }]).unwrap();
        // Four samples would end behind it.
        let span = span(70);
        let series = gang.measure(span).unwrap().series.remove(0);
        assert!(*ended.lock().unwrap() >= span.closes_ns, "{:?}", series.samples);
    }

    /// A program of another process, which says itself how long it took.
    struct Elsewhere;

    impl Hot for Elsewhere {
        fn pass(&mut self, passes: u64) -> u64 {
            7 * passes
        }

        fn verify(&mut self) -> Result<u64, String> {
            Ok(1)
        }

        fn digest(&self) -> u64 {
            DIGEST
        }

        fn spoil(&mut self) {}

        fn own_ns(&self) -> Option<u64> {
            Some(1_000_000_000)
        }
    }

    #[test]
    fn a_pass_of_another_program_has_the_time_that_it_tells_and_waits_for_the_window() {
        let make = || {
            let hot: Box<dyn Hot> = Box::new(Elsewhere);
            Ok(hot)
        };
        let gang = Gang::start(vec![Member { cpu: None, make: Box::new(make) }]).unwrap();
        let span = span(1);
        let series = gang.measure(span).unwrap().series.remove(0);
        assert!(clock::now_ns() >= span.closes_ns);
        assert_eq!((series.samples[0].work, series.samples[0].ns), (7, 1_000_000_000));
        // It was asked once before the window and not again and again; the last pass may have ended
        // behind it.
        let passes = series.work / 7 - series.samples.len() as u64;
        assert!((1..=2).contains(&passes), "{passes}");
    }

    #[test]
    fn what_is_wrong_or_cannot_be_made_is_told() {
        let gang = Gang::start(vec![sleeper(4_000, 0)]).unwrap();
        assert_eq!(gang.measure(span(5)).unwrap().series[0].verified, Err("0 and not 1".into()));
        let make = Box::new(|| Err("no memory".to_owned().into()));
        let broken = Gang::start(vec![sleeper(1, 1), Member { cpu: None, make }]);
        assert_eq!(broken.err(), Some(Unready::Failed("no memory".into())));
    }
}
