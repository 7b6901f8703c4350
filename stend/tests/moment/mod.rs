//! Knows which faults are the moment's, of a machine that others use too, and not the product's.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use desk::record::Fault;
use std::process::Output;

/// How often a run is taken at most.
const TAKEN_MOST: usize = 3;

/// What a run says that gave up after faults.
const GAVE_UP: &str = "the run is partial: ";

/// Takes a run, and takes it again if it gave up: too many of its visits were disturbed.
pub fn taken(take: impl Fn() -> Output) -> Output {
    let gave_up = |output: &Output| {
        let said = String::from_utf8_lossy(&output.stderr);
        output.status.code() == Some(1) && said.contains(GAVE_UP)
    };
    let mut output = take();
    for _ in 1..TAKEN_MOST {
        if gave_up(&output) {
            output = take();
        }
    }
    output
}

/// Whether a fault is an event of the machine at that moment: the trial is visited again for it.
pub fn of_the_machine(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Steal { .. }
            | Fault::Disturbed { .. }
            | Fault::Throttled { .. }
            | Fault::NotSteady { .. }
            | Fault::GeneratorLimit { .. }
    )
}

/// Whether a visit is valid, or was disturbed by the machine alone.
pub fn good_or_disturbed(fault: Option<&Fault>) -> bool {
    fault.is_none_or(of_the_machine)
}
