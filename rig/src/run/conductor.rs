//! Knows what comes next: events in, commands out. No clock, no machine, no I/O.

use super::attrition::Attrition;
use desk::plan::{Next, attempts};
use desk::record::{Completeness, Fault, Trial, TrialKind};
use std::collections::VecDeque;

/// What the hands report.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The lab stands; also after it was built anew.
    Ready,
    /// The visit is over and its record kept, with or without a fault.
    Visited(Option<Fault>),
    /// The visit went well, and this step of its search follows.
    Stepped(Box<Trial>),
    /// The record of the visit could not be kept, and why.
    NotKept(String),
    /// Whether enough is known.
    Looked(bool),
    /// The lab cannot be built (again).
    LabLost(String),
    /// Whether calm came; the fault, if the wait was broken off.
    Waited(Result<bool, Fault>),
}

/// What the hands shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Visit this trial; the number says which visit to it this is, from 1.
    Visit(Box<Trial>, u32),
    /// Say whether enough is known after so many blocks.
    Look(u32),
    /// Take the lab down and build it anew.
    Rebuild,
    /// Wait until others leave the machine to the load, but not for ever.
    Wait,
    /// The run is over: undo, take down.
    Finish(Completeness),
}

/// After so many faults in a row the run is given up.
const FAULTS_IN_A_ROW: u32 = 6;

/// The state of a run: what is left, and how it has gone.
#[derive(Clone, Debug)]
pub struct Conductor {
    left: VecDeque<Next>,
    current: Option<Next>,
    faults_in_a_row: u32,
    /// The loads that had them; a forgiven fault stays.
    in_a_row: Vec<String>,
    /// The last fault is no fault in a row if calm comes.
    stolen: bool,
    /// Before the next visit calm is waited for.
    wait_is_due: bool,
    /// Looks that are still to come, rising.
    looks: VecDeque<u32>,
    /// How the trials of every load end.
    attrition: Attrition,
}

impl Conductor {
    /// A run over these trials in this order, with looks after so many blocks.
    #[must_use]
    pub fn new(trials: Vec<Next>, looks: Vec<u32>) -> Self {
        let (left, looks) = (trials.into(), looks.into());
        let (stolen, wait_is_due) = (false, false);
        let (faults_in_a_row, attrition) = (0, Attrition::default());
        let (current, in_a_row) = (None, Vec::new());
        Self { left, current, faults_in_a_row, in_a_row, stolen, wait_is_due, looks, attrition }
    }

    /// Takes an event and says what to do next.
    #[must_use]
    pub fn next(&mut self, event: Event) -> Command {
        match event {
            Event::Ready => self.go_on(),
            Event::LabLost(why) => self.partial(why),
            Event::NotKept(why) => self.partial(format!("a record could not be kept: {why}")),
            Event::Looked(true) => self.finish(),
            Event::Looked(false) => self.go_on(),
            Event::Visited(None) => {
                self.begin_row();
                self.ended(None);
                self.go_on()
            }
            Event::Stepped(step) => {
                self.left.push_front((*step, 1));
                self.next(Event::Visited(None))
            }
            Event::Visited(Some(Fault::Cancelled)) | Event::Waited(Err(Fault::Cancelled)) => {
                self.partial("stopped on request".into())
            }
            Event::Visited(Some(fault)) => self.after_fault(&fault),
            // A host went away meanwhile.
            Event::Waited(Err(_)) => Command::Rebuild,
            Event::Waited(Ok(calm)) => {
                let forgiven = u32::from(calm && std::mem::take(&mut self.stolen));
                self.faults_in_a_row = self.faults_in_a_row.saturating_sub(forgiven);
                self.go_on()
            }
        }
    }

    /// A look if one is due, then a wait, else the next trial.
    fn go_on(&mut self) -> Command {
        let Some((next, _)) = self.left.front() else {
            return self.finish();
        };
        if let Some(look) = self.looks.pop_front_if(|look| *look < next.block) {
            return Command::Look(look);
        }
        if std::mem::take(&mut self.wait_is_due) {
            return Command::Wait;
        }
        self.current = self.left.pop_front();
        match &self.current {
            Some((trial, attempt)) => Command::Visit(Box::new(trial.clone()), *attempt),
            None => self.finish(),
        }
    }

    /// The run is over: complete, unless a load was given up.
    fn finish(&self) -> Command {
        Command::Finish(match self.attrition.words() {
            None => Completeness::Complete,
            Some(why) => Completeness::Partial { why },
        })
    }

    /// The run ends early, for this reason and those of loads that were given up before.
    fn partial(&self, why: String) -> Command {
        let why =
            self.attrition.words().into_iter().fold(why, |why, more| format!("{why}; {more}"));
        Command::Finish(Completeness::Partial { why })
    }

    /// The current trial is not visited again. A load that has lost too many of its trials is left
    /// out from here on.
    fn ended(&mut self, fault: Option<&Fault>) {
        let Some((trial, _)) = &self.current else { return };
        let load = &trial.point.load;
        if trial.kind == TrialKind::Counted && self.attrition.ended(load, fault) {
            self.left.retain(|(other, _)| other.point.load != *load);
        }
    }

    /// After too many faults in a row: gives up the load that alone had them, if another is left;
    /// else ends the run.
    fn after_too_many(&mut self, fault: &Fault) -> Command {
        let why = format!("{FAULTS_IN_A_ROW} faults in a row, the last: {fault}");
        let Some(load) = self.only_load() else { return self.partial(why) };
        self.attrition.give_up(&load, format!("had {why}"));
        self.left.retain(|(other, _)| other.point.load != load);
        self.begin_row();
        if from_outside(fault) { self.go_on() } else { Command::Rebuild }
    }

    /// The load that had all faults in a row, if others are left.
    fn only_load(&self) -> Option<String> {
        let load = match self.in_a_row.as_slice() {
            [first, rest @ ..] if rest.iter().all(|load| load == first) => first,
            _ => return None,
        };
        self.left.iter().any(|(trial, _)| trial.point.load != *load).then(|| load.clone())
    }

    /// Forgets the faults in a row.
    fn begin_row(&mut self) {
        self.faults_in_a_row = 0;
        self.in_a_row.clear();
    }

    /// A faulty trial is visited again after the other treatments of its point in this block, so
    /// that its pair stays near it. A set-up that a dry visit finds impossible ends the run.
    fn after_fault(&mut self, fault: &Fault) -> Command {
        // Clients at their limit, what this machine lacks, or others on it say nothing of the lab:
        // the rest of the plan may be carried well.
        let of_the_lab = !matches!(
            fault,
            Fault::GeneratorLimit { .. } | Fault::NotAvailable { .. } | Fault::Disturbed { .. }
        );
        if of_the_lab {
            self.faults_in_a_row += 1;
            self.in_a_row.extend(self.current.iter().map(|(trial, _)| trial.point.load.clone()));
        }
        self.stolen = matches!(fault, Fault::Steal { .. });
        self.wait_is_due = self.stolen || matches!(fault, Fault::Disturbed { .. });
        if self.faults_in_a_row >= FAULTS_IN_A_ROW {
            return self.after_too_many(fault);
        }
        let Some((trial, attempt)) = self.current.clone() else { return self.go_on() };
        let impossible = matches!(fault, Fault::Factor { .. } | Fault::Failed { .. });
        if trial.kind == TrialKind::Dry && impossible {
            let why = format!("a set-up of the plan is impossible here: {fault}");
            return self.partial(why);
        }
        if attempt < attempts(fault) && trial.kind == TrialKind::Counted {
            let visit = |t: &Trial| (t.block, t.point_index);
            let at = self.left.iter().position(|(t, _)| visit(t) != visit(&trial));
            self.left.insert(at.unwrap_or(self.left.len()), (trial, attempt + 1));
        } else {
            self.ended(Some(fault));
        }
        if from_outside(fault) { self.go_on() } else { Command::Rebuild }
    }
}

/// Whether hosts and links are sound after a fault. After any other, hosts may hold answers that
/// nobody waits for.
const fn from_outside(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Steal { .. }
            | Fault::Disturbed { .. }
            | Fault::Throttled { .. }
            | Fault::LinkFlap { .. }
            | Fault::GeneratorLimit { .. }
            | Fault::NotSteady { .. }
            | Fault::NotAvailable { .. }
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use desk::record::{LoadPoint, Settings, Treatment};
    use desk::unit::{Quantity, Unit};
    use std::collections::BTreeMap;

    pub fn trial(id: u32, block: u32) -> Trial {
        Trial {
            id,
            block,
            boot: 0,
            round: 0,
            point_index: 0,
            point: LoadPoint { load: "l".into(), workload: "w".into(), params: Settings::new() },
            treatment: Treatment { levels: BTreeMap::new() },
            settings: Settings::new(),
            seed: 1,
            kind: if block == 0 { TrialKind::Dry } else { TrialKind::Counted },
            search: None,
        }
    }

    fn all(trials: Vec<Trial>) -> Vec<Next> {
        trials.into_iter().map(|trial| (trial, 1)).collect()
    }

    fn visited(command: &Command) -> Option<u32> {
        if let Command::Visit(trial, _) = command { Some(trial.id) } else { None }
    }

    #[test]
    fn a_faulty_trial_is_visited_again_after_its_pair() {
        let mut run = Conductor::new(all(vec![trial(0, 1), trial(1, 1), trial(2, 2)]), Vec::new());
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
        let mut run = Conductor::new(all(vec![trial(0, 0), trial(1, 1)]), Vec::new());
        let _ = run.next(Event::Ready);
        let fault = Fault::WrongWork { what: "x".into() };
        assert_eq!(run.next(Event::Visited(Some(fault))), Command::Rebuild);
        assert_eq!(visited(&run.next(Event::Ready)), Some(1));
        let end = run.next(Event::Visited(Some(Fault::Cancelled)));
        assert!(matches!(end, Command::Finish(Completeness::Partial { .. })));
    }

    #[test]
    fn a_set_up_that_a_dry_visit_finds_impossible_ends_the_run() {
        let mut run = Conductor::new(all(vec![trial(0, 0), trial(1, 1)]), Vec::new());
        let _ = run.next(Event::Ready);
        let fault = Fault::Factor { what: "congestion 'vegas'".into() };
        match run.next(Event::Visited(Some(fault))) {
            Command::Finish(Completeness::Partial { why }) => assert!(why.contains("vegas")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lab_that_only_faults_is_given_up() {
        let mut run = Conductor::new(all((0..20).map(|id| trial(id, 1)).collect()), Vec::new());
        let mut command = run.next(Event::Ready);
        for visits in 1.. {
            assert!(visits < 20, "never gave up");
            command = match command {
                Command::Visit(..) => {
                    run.next(Event::Visited(Some(Fault::WrongWork { what: "x".into() })))
                }
                Command::Rebuild => run.next(Event::Ready),
                Command::Finish(Completeness::Partial { .. }) => break,
                other => panic!("{other:?}"),
            };
        }
    }

    #[test]
    fn a_load_that_loses_half_of_its_trials_is_left_out_and_the_others_go_on() {
        let of = |id: u32, load: &str| {
            let mut trial = trial(id, id / 2 + 1);
            (trial.point.load, trial.point_index) = (load.into(), id % 2);
            trial
        };
        let trials = (0..40).map(|id| of(id, if id % 2 == 0 { "bad" } else { "good" }));
        let mut run = Conductor::new(all(trials.collect()), Vec::new());
        let (mut command, mut met) = (run.next(Event::Ready), BTreeMap::new());
        let why = loop {
            command = match command {
                Command::Visit(trial, _) => {
                    let visits = met.entry(trial.point.load.clone()).or_insert(0);
                    *visits += 1;
                    // Every second trial of the bad load never comes off.
                    let lost = trial.point.load == "bad" && trial.block % 2 == 0;
                    let fault = Fault::Throttled { host: "machine".into(), what: "hot".into() };
                    run.next(Event::Visited(lost.then_some(fault)))
                }
                Command::Wait => run.next(Event::Waited(Ok(true))),
                Command::Finish(Completeness::Partial { why }) => break why,
                other => panic!("{other:?}"),
            };
        };
        assert_eq!(met["good"], 20, "the other load is whole");
        assert_eq!(met["bad"], 3 + 3 * 3, "six trials, three of them visited thrice");
        assert!(why.contains("load 'bad' lost 3 of 6 trials") && why.contains("hot"), "{why}");
    }

    #[test]
    fn a_load_whose_every_visit_fails_is_given_up_and_the_other_is_whole() {
        // Two treatments a point, so that six faults come in a row within a block.
        let trials = (0..40).map(|id: u32| {
            let mut trial = trial(id, id / 4 + 1);
            let bad = id % 4 < 2;
            trial.point.load = if bad { "bad" } else { "good" }.into();
            trial.point_index = u32::from(!bad);
            trial
        });
        let mut run = Conductor::new(all(trials.collect()), Vec::new());
        let (mut command, mut good) = (run.next(Event::Ready), 0);
        let why = loop {
            command = match command {
                Command::Visit(trial, _) => {
                    let bad = trial.point.load == "bad";
                    good += u32::from(!bad);
                    let fault = Fault::DeadHost { host: "c01".into() };
                    run.next(Event::Visited(bad.then_some(fault)))
                }
                Command::Rebuild => run.next(Event::Ready),
                Command::Finish(Completeness::Partial { why }) => break why,
                other => panic!("{other:?}"),
            };
        };
        assert_eq!(good, 20, "{why}");
        assert!(why.starts_with("load 'bad' had 6 faults in a row"), "{why}");
    }

    #[test]
    fn clients_at_their_limit_are_tried_twice_and_never_end_the_run() {
        let mut run = Conductor::new(all((0..9).map(|id| trial(id, id + 1)).collect()), Vec::new());
        let mut command = run.next(Event::Ready);
        let mut visits = 0;
        while let Command::Visit(_, attempt) = command {
            assert!(attempt <= 2);
            visits += 1;
            let limit = Fault::GeneratorLimit { host: "c01".into(), what: "x".into() };
            command = run.next(Event::Visited(Some(limit)));
        }
        assert_eq!((command, visits), (Command::Finish(Completeness::Complete), 18));
    }

    #[test]
    fn a_disturbed_trial_is_visited_again_in_the_same_lab() {
        let mut run = Conductor::new(all(vec![trial(0, 1), trial(1, 2)]), Vec::new());
        let _ = run.next(Event::Ready);
        let flap = Fault::LinkFlap { host: "sut".into(), what: "x".into() };
        match run.next(Event::Visited(Some(flap))) {
            Command::Visit(again, attempt) => assert_eq!((again.id, attempt), (0, 2)),
            other => panic!("{other:?}"),
        }
    }

    fn steal() -> Fault {
        Fault::Steal { share: Quantity::new(0.3, Unit::Share) }
    }

    fn disturbed() -> Fault {
        Fault::Disturbed { host: "sut".into(), what: "x".into() }
    }

    /// How a run of nine trials ends, and after how many visits and waits, if every visit has this
    /// fault; `calm` says whether it comes in a wait.
    fn ends(fault: &Fault, calm: impl Fn(u32) -> bool) -> (Command, u32, u32) {
        let mut run = Conductor::new(all((0..9).map(|id| trial(id, id + 1)).collect()), Vec::new());
        let (mut command, mut visits, mut waits) = (run.next(Event::Ready), 0, 0);
        loop {
            command = match command {
                Command::Visit(..) => {
                    visits += 1;
                    run.next(Event::Visited(Some(fault.clone())))
                }
                Command::Wait => {
                    waits += 1;
                    run.next(Event::Waited(Ok(calm(waits))))
                }
                end => return (end, visits, waits),
            };
        }
    }

    #[test]
    fn a_machine_that_others_had_is_waited_for_until_its_load_is_given_up() {
        // Six trials, each three times; after the last visit there is nothing to wait for. What is
        // not seen to be the hypervisor's may be of one load only.
        for (fault, calm) in [(steal(), true), (disturbed(), true), (disturbed(), false)] {
            let (end, visits, waits) = ends(&fault, |_| calm);
            assert_eq!((visits, waits), (18, 17), "{fault}");
            match end {
                Command::Finish(Completeness::Partial { why }) => {
                    assert!(why.contains("load 'l' lost 6 of 6 trials"), "{why}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_machine_that_others_keep_is_given_up() {
        for (calm_until, visits) in [(0, 6), (4, 10)] {
            let (end, made, waits) = ends(&steal(), |wait| wait <= calm_until);
            assert_eq!((made, waits), (visits, visits - 1));
            match end {
                Command::Finish(Completeness::Partial { why }) => assert!(why.contains("30 %")),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_look_that_is_due_comes_before_a_wait_and_can_spare_it() {
        let stolen = |enough| {
            let mut run = Conductor::new(all(vec![trial(0, 1), trial(1, 2)]), vec![1]);
            let _ = run.next(Event::Ready);
            for _ in 0..2 {
                assert_eq!(run.next(Event::Visited(Some(steal()))), Command::Wait);
                assert_eq!(visited(&run.next(Event::Waited(Ok(true)))), Some(0));
            }
            assert_eq!(run.next(Event::Visited(Some(steal()))), Command::Look(1));
            run.next(Event::Looked(enough))
        };
        assert_eq!(stolen(true), Command::Finish(Completeness::Complete));
        assert_eq!(stolen(false), Command::Wait);
    }

    #[test]
    fn a_wait_is_broken_off_by_a_stop_and_by_a_host_that_goes_away() {
        let broken = |fault| {
            let mut run = Conductor::new(all(vec![trial(0, 0), trial(1, 1)]), Vec::new());
            let _ = run.next(Event::Ready);
            assert_eq!(run.next(Event::Visited(Some(disturbed()))), Command::Wait);
            (run.next(Event::Waited(Err(fault))), run)
        };
        let (end, _) = broken(Fault::Cancelled);
        assert!(matches!(end, Command::Finish(Completeness::Partial { .. })));
        let (command, mut run) = broken(Fault::DeadHost { host: "c01".into() });
        assert_eq!(command, Command::Rebuild);
        assert_eq!(visited(&run.next(Event::Ready)), Some(1));
    }

    #[test]
    fn a_look_comes_between_its_blocks_and_can_end_the_run() {
        let blocks = |enough| {
            let mut run =
                Conductor::new(all(vec![trial(0, 1), trial(1, 2), trial(2, 3)]), vec![2, 3]);
            assert_eq!(visited(&run.next(Event::Ready)), Some(0));
            assert_eq!(visited(&run.next(Event::Visited(None))), Some(1));
            assert_eq!(run.next(Event::Visited(None)), Command::Look(2));
            run.next(Event::Looked(enough))
        };
        assert_eq!(blocks(true), Command::Finish(Completeness::Complete));
        assert_eq!(visited(&blocks(false)), Some(2));
    }

    #[test]
    fn a_record_that_cannot_be_kept_ends_the_run() {
        let mut run = Conductor::new(all(vec![trial(0, 1), trial(1, 1)]), Vec::new());
        let _ = run.next(Event::Ready);
        match run.next(Event::NotKept("the disk is full".into())) {
            Command::Finish(Completeness::Partial { why }) => assert!(why.contains("full")),
            other => panic!("{other:?}"),
        }
    }
}
