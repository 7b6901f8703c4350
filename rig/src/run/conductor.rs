//! Knows what comes next: events in, commands out. No clock, no machine, no I/O.

use desk::record::{Completeness, Fault, Trial, TrialKind};
use std::collections::VecDeque;

/// What the hands report.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The lab stands; also after it was built anew.
    Ready,
    /// The visit is over, with or without a fault.
    Visited(Option<Fault>),
    /// The lab cannot be built (again).
    LabLost(String),
}

/// What the hands shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Visit this trial.
    Visit(Box<Trial>),
    /// Take the lab down and build it anew.
    Rebuild,
    /// The run is over: undo, take down.
    Finish(Completeness),
}

/// How often one trial is visited at most.
const ATTEMPTS: u32 = 3;
/// After so many faults in a row the run is given up.
const FAULTS_IN_A_ROW: u32 = 6;

/// The state of a run: what is left, and how it has gone.
#[derive(Clone, Debug)]
pub struct Conductor {
    left: VecDeque<(Trial, u32)>,
    current: Option<(Trial, u32)>,
    faults_in_a_row: u32,
}

impl Conductor {
    /// A run over these trials in this order.
    #[must_use]
    pub fn new(trials: Vec<Trial>) -> Self {
        let left = trials.into_iter().map(|trial| (trial, 1)).collect();
        Self { left, current: None, faults_in_a_row: 0 }
    }

    /// Takes an event and says what to do next.
    #[must_use]
    pub fn next(&mut self, event: Event) -> Command {
        match event {
            Event::Ready => self.visit(),
            Event::LabLost(why) => Command::Finish(Completeness::Partial { why }),
            Event::Visited(None) => {
                self.faults_in_a_row = 0;
                self.visit()
            }
            Event::Visited(Some(Fault::Cancelled)) => {
                let why = "stopped on request".into();
                Command::Finish(Completeness::Partial { why })
            }
            Event::Visited(Some(fault)) => self.after_fault(&fault),
        }
    }

    fn visit(&mut self) -> Command {
        self.current = self.left.pop_front();
        match &self.current {
            Some((trial, _)) => Command::Visit(Box::new(trial.clone())),
            None => Command::Finish(Completeness::Complete),
        }
    }

    /// A faulty trial is visited again after the other treatments of its point in this block, so
    /// that its pair stays near it. A set-up that a dry visit finds impossible ends the run.
    fn after_fault(&mut self, fault: &Fault) -> Command {
        self.faults_in_a_row += 1;
        if self.faults_in_a_row >= FAULTS_IN_A_ROW {
            let why = format!("{FAULTS_IN_A_ROW} faults in a row, the last: {fault}");
            return Command::Finish(Completeness::Partial { why });
        }
        let Some((trial, attempt)) = self.current.take() else { return self.visit() };
        let impossible = matches!(fault, Fault::Factor { .. } | Fault::Failed { .. });
        if trial.kind == TrialKind::Dry && impossible {
            let why = format!("a set-up of the plan is impossible here: {fault}");
            return Command::Finish(Completeness::Partial { why });
        }
        if attempt < ATTEMPTS && trial.kind == TrialKind::Counted {
            let visit = |t: &Trial| (t.block, t.point_index);
            let at = self.left.iter().position(|(t, _)| visit(t) != visit(&trial));
            self.left.insert(at.unwrap_or(self.left.len()), (trial, attempt + 1));
        }
        // After a fault hosts may hold answers that nobody waits for.
        Command::Rebuild
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::record::{LoadPoint, Settings, Treatment};
    use std::collections::BTreeMap;

    fn trial(id: u32, block: u32) -> Trial {
        Trial {
            id,
            block,
            point_index: 0,
            point: LoadPoint { load: "l".into(), workload: "w".into(), params: Settings::new() },
            treatment: Treatment { levels: BTreeMap::new() },
            settings: Settings::new(),
            seed: 1,
            kind: if block == 0 { TrialKind::Dry } else { TrialKind::Counted },
        }
    }

    fn visited(command: &Command) -> Option<u32> {
        if let Command::Visit(trial) = command { Some(trial.id) } else { None }
    }

    #[test]
    fn a_faulty_trial_is_visited_again_after_its_pair() {
        let mut run = Conductor::new(vec![trial(0, 1), trial(1, 1), trial(2, 2)]);
        assert_eq!(visited(&run.next(Event::Ready)), Some(0));
        let dead = Fault::DeadHost { host: "c01".into() };
        assert_eq!(run.next(Event::Visited(Some(dead))), Command::Rebuild);
        assert_eq!(visited(&run.next(Event::Ready)), Some(1));
        assert_eq!(visited(&run.next(Event::Visited(None))), Some(0));
        assert_eq!(visited(&run.next(Event::Visited(None))), Some(2));
        assert_eq!(run.next(Event::Visited(None)), Command::Finish(Completeness::Complete));
    }

    #[test]
    fn a_dry_visit_is_not_repeated_and_a_stop_ends_the_run() {
        let mut run = Conductor::new(vec![trial(0, 0), trial(1, 1)]);
        let _ = run.next(Event::Ready);
        let fault = Fault::WrongWork { what: "x".into() };
        assert_eq!(run.next(Event::Visited(Some(fault))), Command::Rebuild);
        assert_eq!(visited(&run.next(Event::Ready)), Some(1));
        let end = run.next(Event::Visited(Some(Fault::Cancelled)));
        assert!(matches!(end, Command::Finish(Completeness::Partial { .. })));
    }

    #[test]
    fn a_set_up_that_a_dry_visit_finds_impossible_ends_the_run() {
        let mut run = Conductor::new(vec![trial(0, 0), trial(1, 1)]);
        let _ = run.next(Event::Ready);
        let fault = Fault::Factor { what: "congestion 'vegas'".into() };
        match run.next(Event::Visited(Some(fault))) {
            Command::Finish(Completeness::Partial { why }) => assert!(why.contains("vegas")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lab_that_only_faults_is_given_up() {
        let mut run = Conductor::new((0..20).map(|id| trial(id, 1)).collect());
        let mut command = run.next(Event::Ready);
        for visits in 1.. {
            assert!(visits < 20, "never gave up");
            command = match command {
                Command::Visit(_) => {
                    run.next(Event::Visited(Some(Fault::WrongWork { what: "x".into() })))
                }
                Command::Rebuild => run.next(Event::Ready),
                Command::Finish(Completeness::Partial { .. }) => break,
                Command::Finish(Completeness::Complete) => panic!("it is not complete"),
            };
        }
    }
}
