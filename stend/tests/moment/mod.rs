//! Knows which faults are the moment's, of a machine that others use too, and not the product's.

#![allow(dead_code, reason = "each test takes what it needs of it")]

use desk::record::Fault;
use std::process::Output;

/// Of how many visits tests make one, by `STEND_VISITS`; none where it is not set.
pub fn visits() -> Option<usize> {
    std::env::var("STEND_VISITS").ok().and_then(|text| text.parse().ok())
}

/// Whether these are the full tests.
pub fn full() -> bool {
    visits() == Some(1)
}

/// How often a run is taken at most.
const TAKEN_MOST: usize = 3;

/// What a run says that gave up after faults.
pub const GAVE_UP: &str = "the run is partial: ";

/// What a run says that came to its end with too few valid trials.
const INCOMPLETE: &str = "the run is incomplete: ";

/// What a run says all of whose trials lost time to the hypervisor.
pub const STOLEN: &str = "no trial gave a figure: the hypervisor took ";

fn says(output: &Output, status: i32, words: &str) -> bool {
    output.status.code() == Some(status) && String::from_utf8_lossy(&output.stderr).contains(words)
}

/// The run, which came to its end. It is taken again if it gave up: too many of its visits were
/// disturbed. Disturbed visits may leave it incomplete, with status 7; a test looks at its faults.
pub fn taken(take: impl Fn() -> Output) -> Output {
    let output = again(take);
    assert!(has_ended(&output), "{:?}: {}", output.status.code(), stderr(&output));
    output
}

/// The same of a run whose figures a test does not look at: it may have none.
pub fn visited(take: impl Fn() -> Output) -> Output {
    let output = again(take);
    let ended = has_ended(&output) || says(&output, 6, STOLEN);
    assert!(ended, "{:?}: {}", output.status.code(), stderr(&output));
    output
}

/// The run, taken again while nothing but this moment of the machine ended it.
pub fn again(take: impl Fn() -> Output) -> Output {
    let mut output = take();
    for _ in 1..TAKEN_MOST {
        if says(&output, 1, GAVE_UP) || says(&output, 6, STOLEN) {
            output = take();
        }
    }
    output
}

fn has_ended(output: &Output) -> bool {
    output.status.code() == Some(0) || says(output, 7, INCOMPLETE)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
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
