//! Knows the course of a trial between hosts: stage, go, warm up, both edges of the window, stop.
//!
//! The conductor's side is [`Course`], a host's side whatever implements [`End`]. Must not know
//! what travels; it announces the edges of the window and no more.

use desk::record::{Fault, Reading, Series};
use desk::search::{Reached, steady};
use desk::unit::{Quantity, Unit};
use rig::lab::agent::Part;
use rig::lab::wire::{Answer, Request};
use rig::lab::{Lab, LabError, SUT, Urgent, clock};
use rig::metal::Span;
use rig::workload::{Edge, Edges, Job};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How far ahead a start or an edge is announced, so that every host hears of it in time.
const AHEAD_NS: u64 = 6_000_000;
/// The same for every host that has to be told, nanoseconds.
const AHEAD_EACH_NS: u64 = 300_000;
/// How long receivers may read on after the window.
const DRAIN: Duration = Duration::from_millis(200);
/// Pause between two looks at the rate while warming up.
const LOOK: Duration = Duration::from_millis(25);
/// How far apart a host looks at its work within the window, nanoseconds.
const STEP_NS: u64 = 100_000_000;
/// How far from an edge counters may be read in any case, nanoseconds; beyond, 5 % of the window.
const LATE_NS: u64 = 50_000_000;
/// Longest wait for an answer that is due at once.
const SOON: Duration = Duration::from_secs(10);

/// A host's side of a load; one value serves one trial after another.
pub trait End: Default + 'static {
    /// What it is told while the trial is staged, and what it answers.
    type Stage: Serialize + DeserializeOwned;
    /// The answer to that.
    type Staged: Serialize + DeserializeOwned;
    /// What it reads at an edge of the window.
    type Mark: Serialize + DeserializeOwned + At;
    /// What it tells at the end.
    type Ended: Serialize + DeserializeOwned;

    /// Prepares.
    ///
    /// # Errors
    /// What could not be had, for the person.
    fn stage(&mut self, order: Self::Stage) -> Result<Self::Staged, String>;
    /// Begins.
    fn go(&mut self);
    /// Work done so far, in any unit that does not change.
    fn done(&self) -> u64;
    /// Waits for a moment, an edge of this window, and reads everything there.
    ///
    /// # Errors
    /// What cannot be read.
    fn mark(&mut self, at_ns: u64, window: Span) -> Result<Self::Mark, String>;
    /// Stops, and reads on for so long at the most.
    ///
    /// # Errors
    /// What cannot be read.
    fn stop(&mut self, drain: Duration) -> Result<Self::Ended, String>;
}

/// What was read at a moment.
pub trait At {
    /// The moment, nanoseconds.
    fn at_ns(&mut self) -> &mut u64;
}

#[derive(Serialize, Deserialize)]
enum Ask<S> {
    Stage(S),
    /// Go at this moment of the host's clock, nanoseconds.
    Go(u64),
    Sample,
    Opens(Span),
    Closes(Span),
    Stop,
}

#[derive(Serialize, Deserialize)]
enum Told<A, M, E> {
    Staged(A),
    /// It went at this moment.
    Going(u64),
    Sampled(u64, u64),
    /// What was read, and the work done in steps: at the opening, or from there to the close.
    Marked(M, Vec<u64>),
    Stopped(E),
}

/// What each of some hosts is asked.
type Asks<E> = [(usize, Ask<<E as End>::Stage>)];

/// What a host read at an edge, and its work in steps up to there.
type Read<E> = (<E as End>::Mark, Vec<u64>);

type Answered<E> = Told<<E as End>::Staged, <E as End>::Mark, <E as End>::Ended>;

/// The part of a load on a host.
#[must_use]
pub fn make_part<E: End>() -> Part {
    let mut end = E::default();
    // From go to stop a host hears and reads before its own generators run.
    let mut urgent: Option<Urgent> = None;
    Box::new(move |body| {
        let ask = serde_json::from_value(body).map_err(|e| e.to_string())?;
        match ask {
            Ask::Go(_) => {
                urgent.get_or_insert_with(Urgent::begin);
            }
            Ask::Stage(_) | Ask::Stop => drop(urgent.take()),
            Ask::Sample | Ask::Opens(_) | Ask::Closes(_) => {}
        }
        let told = answer(&mut end, ask)?;
        serde_json::to_value(told).map_err(|e| e.to_string())
    })
}

fn answer<E: End>(end: &mut E, ask: Ask<E::Stage>) -> Result<Answered<E>, String> {
    match ask {
        Ask::Stage(order) => end.stage(order).map(Told::Staged),
        Ask::Go(at_ns) => {
            clock::sleep_until(at_ns);
            let went_ns = clock::now_ns();
            end.go();
            Ok(Told::Going(went_ns))
        }
        Ask::Sample => Ok(Told::Sampled(clock::now_ns(), end.done())),
        Ask::Opens(window) => {
            let mark = end.mark(window.opens_ns, window)?;
            Ok(Told::Marked(mark, vec![end.done()]))
        }
        Ask::Closes(window) => {
            let mut course = course(end, window);
            let mark = end.mark(window.closes_ns, window)?;
            course.push(end.done());
            Ok(Told::Marked(mark, course))
        }
        Ask::Stop => end.stop(DRAIN).map(Told::Stopped),
    }
}

/// Work done so far at every step of the window, its edges left out.
fn course<E: End>(end: &E, window: Span) -> Vec<u64> {
    let steps = (1..).map(|step| window.opens_ns + step * STEP_NS);
    let look = |at_ns| {
        clock::sleep_until(at_ns);
        end.done()
    };
    steps.take_while(|at| *at < window.closes_ns).map(look).collect()
}

/// The conductor's side.
#[derive(Clone, Debug, Default)]
pub struct Course {
    workload: &'static str,
    /// Hosts that take part, the system under test first.
    pub hosts: Vec<usize>,
    settle: Duration,
    settle_max: Duration,
    window: Duration,
}

/// What the hosts told in a trial, each list in the order of the hosts.
#[derive(Clone, Debug)]
pub struct Life<M, E> {
    /// Whether the rate was level when the window opened.
    pub steady: bool,
    /// Time from go to the opening, nanoseconds.
    pub settle_ns: u64,
    /// How long after the announced moment every host went, nanoseconds.
    pub late_ns: Vec<u64>,
    /// Announced edges, nanoseconds.
    pub window_ns: (u64, u64),
    /// Every host when the window opened.
    pub opened: Vec<M>,
    /// Every host when it closed.
    pub closed: Vec<M>,
    /// Work done by every host, in steps from the opening to the close.
    pub course: Vec<Vec<u64>>,
    /// Every host at its end.
    pub ended: Vec<E>,
}

impl Course {
    /// That of a job of a workload, with all hosts.
    #[must_use]
    pub fn new(workload: &'static str, lab: &Lab, job: &Job) -> Self {
        let hosts = std::iter::once(SUT).chain(lab.client_indexes()).collect();
        let Job { settle, settle_max, window, .. } = *job;
        Self { workload, hosts, settle, settle_max, window }
    }

    /// For a load that begins with the window: the settle time ends without a level rate.
    pub const fn begin_with_window(&mut self) {
        self.settle_max = self.settle;
    }

    /// Tells hosts what to prepare and waits for all of them; so many connections open meanwhile.
    ///
    /// # Errors
    /// A host that is gone, refuses or does not answer in time.
    pub fn stage<E: End>(
        &self,
        lab: &mut Lab,
        orders: Vec<(usize, E::Stage)>,
        longest: Duration,
    ) -> Result<Vec<E::Staged>, LabError> {
        let asks: Vec<_> = orders.into_iter().map(|(at, order)| (at, Ask::Stage(order))).collect();
        let within = SOON + longest;
        self.ask_within::<E, _>(lab, (&asks, within), |told| match told {
            Told::Staged(answer) => Some(answer),
            _ => None,
        })
    }

    /// Runs the load from go to stop.
    ///
    /// # Errors
    /// A host that is gone, refuses or does not answer in time; a stop by the person.
    pub fn run<E: End>(
        &self,
        lab: &mut Lab,
        edges: &mut Edges<'_>,
    ) -> Result<Life<E::Mark, E::Ended>, LabError> {
        let go_ns = self.soon_ns();
        let late_ns = self.go::<E>(lab, go_ns)?;
        let steady = self.warm_up::<E>(lab, go_ns)?;
        lab.find_clocks_beside_load()?;
        let opens_ns = self.soon_ns();
        let closes_ns = opens_ns + u64::try_from(self.window.as_nanos()).unwrap_or(u64::MAX);
        let window = Span { opens_ns, closes_ns };
        let (opened, first): (Vec<_>, Vec<_>) =
            self.mark::<E>(lab, (Edge::Opens(opens_ns), window), edges)?.into_iter().unzip();
        let (closed, rest): (Vec<_>, Vec<_>) =
            self.mark::<E>(lab, (Edge::Closes(closes_ns), window), edges)?.into_iter().unzip();
        let course = first.into_iter().zip(rest).map(|(first, rest)| [first, rest].concat());
        let ended = self.ask::<E, _>(lab, &self.all(|| Ask::Stop), |told| match told {
            Told::Stopped(ended) => Some(ended),
            _ => None,
        })?;
        let (settle_ns, window_ns) = (opens_ns - go_ns, (opens_ns, closes_ns));
        let course = course.collect();
        Ok(Life { steady, settle_ns, late_ns, window_ns, opened, closed, course, ended })
    }

    /// A moment of which every host hears in time.
    fn soon_ns(&self) -> u64 {
        clock::now_ns() + AHEAD_NS + AHEAD_EACH_NS * self.hosts.len() as u64
    }

    /// Has all hosts go at a moment; how long after it each of them went, nanoseconds.
    fn go<E: End>(&self, lab: &mut Lab, go_ns: u64) -> Result<Vec<u64>, LabError> {
        let ask = |at: &usize| (*at, Ask::Go(lab.on_clock_of(*at, go_ns)));
        let asks: Vec<_> = self.hosts.iter().map(ask).collect();
        let went = self.ask::<E, _>(lab, &asks, |told| match told {
            Told::Going(at_ns) => Some(at_ns),
            _ => None,
        })?;
        let late =
            |(at, went_ns): (&usize, u64)| lab.from_clock_of(*at, went_ns).saturating_sub(go_ns);
        Ok(self.hosts.iter().zip(went).map(late).collect())
    }

    /// Waits until the rate is level; says whether it was when the waiting ended.
    fn warm_up<E: End>(&self, lab: &mut Lab, go_ns: u64) -> Result<bool, LabError> {
        let mut history = Vec::new();
        loop {
            clock::sleep_until(clock::now_ns() + u64::try_from(LOOK.as_nanos()).unwrap_or(0));
            let samples = self.ask::<E, _>(lab, &self.all(|| Ask::Sample), |told| match told {
                Told::Sampled(at_ns, done) => Some((at_ns, done)),
                _ => None,
            })?;
            let ours =
                |(at, (at_ns, done)): (&usize, (u64, u64))| (lab.from_clock_of(*at, at_ns), done);
            let samples: Vec<_> = self.hosts.iter().zip(samples).map(ours).collect();
            history.push(reached(&samples, go_ns));
            let waited = Duration::from_nanos(clock::now_ns() - go_ns);
            // The first third of the settle time is the ramp; the test looks at what follows.
            let level = steady(&history, self.settle.as_secs_f64() * 2.0 / 3.0) == Some(true);
            if (level && waited >= self.settle) || waited >= self.settle_max {
                return Ok(level);
            }
        }
    }

    /// Reads every host at an edge of the window.
    fn mark<E: End>(
        &self,
        lab: &mut Lab,
        (edge, window): (Edge, Span),
        edges: &mut Edges<'_>,
    ) -> Result<Vec<Read<E>>, LabError> {
        let ask = |at: &usize| {
            let theirs = |ours_ns| lab.on_clock_of(*at, ours_ns);
            let (opens_ns, closes_ns) = (theirs(window.opens_ns), theirs(window.closes_ns));
            let theirs = Span { opens_ns, closes_ns };
            let ask = match edge {
                Edge::Opens(_) => Ask::Opens(theirs),
                Edge::Closes(_) => Ask::Closes(theirs),
            };
            (*at, ask)
        };
        let asks: Vec<_> = self.hosts.iter().map(ask).collect();
        let wrapped = self.wrap::<E>(&asks)?;
        lab.send(&wrapped)?;
        edges(lab, edge)?;
        let answers = lab.receive(&wrapped, SOON)?;
        let mut read = self.told::<E, _>(lab, &asks, answers, |told| match told {
            Told::Marked(mark, course) => Some((mark, course)),
            _ => None,
        })?;
        for (at, (mark, _)) in self.hosts.iter().zip(&mut read) {
            let at_ns = mark.at_ns();
            *at_ns = lab.from_clock_of(*at, *at_ns);
        }
        Ok(read)
    }

    fn all<T>(&self, ask: impl Fn() -> T) -> Vec<(usize, T)> {
        self.hosts.iter().map(|at| (*at, ask())).collect()
    }

    /// Asks parts and waits for all of them; `pick` takes what each answer must be.
    fn ask<E: End, T>(
        &self,
        lab: &mut Lab,
        asks: &[(usize, Ask<E::Stage>)],
        pick: impl Fn(Answered<E>) -> Option<T>,
    ) -> Result<Vec<T>, LabError> {
        self.ask_within::<E, T>(lab, (asks, SOON), pick)
    }

    fn ask_within<E: End, T>(
        &self,
        lab: &mut Lab,
        (asks, within): (&Asks<E>, Duration),
        pick: impl Fn(Answered<E>) -> Option<T>,
    ) -> Result<Vec<T>, LabError> {
        let wrapped = self.wrap::<E>(asks)?;
        let answers = lab.ask(&wrapped, within)?;
        self.told::<E, _>(lab, asks, answers, pick)
    }

    fn wrap<E: End>(
        &self,
        asks: &[(usize, Ask<E::Stage>)],
    ) -> Result<Vec<(usize, Request)>, LabError> {
        let wrapped = asks.iter().map(|(at, ask)| {
            let body = serde_json::to_value(ask)
                .map_err(|e| LabError::Wire { host: "conductor".into(), source: e.into() })?;
            Ok((*at, Request::Work { workload: self.workload.into(), body }))
        });
        wrapped.collect()
    }

    fn told<E: End, T>(
        &self,
        lab: &Lab,
        asks: &[(usize, Ask<E::Stage>)],
        answers: Vec<Answer>,
        pick: impl Fn(Answered<E>) -> Option<T>,
    ) -> Result<Vec<T>, LabError> {
        let mut picked = Vec::new();
        for ((at, _), answer) in asks.iter().zip(answers) {
            let told = match answer {
                Answer::Work(body) => serde_json::from_value(body).ok().and_then(&pick),
                _ => None,
            };
            picked.push(told.ok_or_else(|| LabError::OutOfTurn {
                host: lab.name(*at).into(),
                what: format!("not an answer of {}", self.workload),
            })?);
        }
        Ok(picked)
    }
}

/// All hosts together, at the mean of the moments at which they were read.
#[expect(clippy::cast_precision_loss, reason = "times and work of a warm-up are below 2^53")]
fn reached(samples: &[(u64, u64)], go_ns: u64) -> Reached {
    let since_go: f64 = samples.iter().map(|(at, _)| at.saturating_sub(go_ns) as f64 / 1e9).sum();
    let done: u64 = samples.iter().map(|(_, done)| done).sum();
    Reached { at_s: since_go / samples.len().max(1) as f64, done: done as f64 }
}

/// How long after the moment that was announced every host went, as readings.
pub fn starts(hosts: &[String], late_ns: &[u64]) -> impl Iterator<Item = Reading> {
    hosts.iter().zip(late_ns).map(|(host, late_ns)| Reading {
        probe: "start".into(),
        host: host.as_str().into(),
        key: "late".into(),
        quantity: Quantity::seconds(super::seconds(*late_ns)),
    })
}

/// Every host must have read its counters near the announced edges, or there is no common window.
/// Of each edge the hosts' moments and how long each read, nanoseconds.
///
/// # Errors
/// A host that did not read, or was off by more than 50 ms and 5 % of the window.
pub fn check_moments(
    hosts: &[String],
    read: &[Vec<(u64, u64)>; 2],
    (opens, closes): (u64, u64),
) -> Result<(), Fault> {
    let allowed = (closes.saturating_sub(opens) / 20).max(LATE_NS);
    for (edge, read) in [opens, closes].into_iter().zip(read) {
        if read.len() != hosts.len() {
            return Err(Fault::WrongWork { what: "not every host read its counters".into() });
        }
        for (host, (at_ns, took_ns)) in hosts.iter().zip(read) {
            let off_ns = at_ns.abs_diff(edge).max((at_ns + took_ns).abs_diff(edge));
            if off_ns > allowed {
                let what = format!("read its counters {} ms off the edge", off_ns / 1_000_000);
                return Err(Fault::Disturbed { host: host.as_str().into(), what });
            }
        }
    }
    Ok(())
}

/// A rate in steps of the window, from the work that every host had done at the end of each step.
/// `each` is how much of the unit a piece of work is. Empty where a host has no steps.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "work of a window is below 2^53")]
pub fn series(
    course: &[Vec<u64>],
    (opens, closes): (u64, u64),
    (metric, unit, each): (&str, Unit, f64),
) -> Vec<Series> {
    let count = course.iter().map(Vec::len).min().filter(|count| *count > 2);
    let Some(count) = count else { return Vec::new() };
    let done = |at: usize| course.iter().map(|host| host[at]).sum::<u64>();
    let moment = |at: usize| match at + 1 < count {
        true => opens + at as u64 * STEP_NS,
        false => closes,
    };
    let rate = |at: usize| {
        let length = moment(at + 1).saturating_sub(moment(at)).max(1);
        done(at + 1).saturating_sub(done(at)) as f64 * each / super::seconds(length)
    };
    let step = Quantity::seconds(super::seconds(STEP_NS));
    vec![Series { metric: metric.into(), unit, step, values: (0..count - 1).map(rate).collect() }]
}
