//! Knows which faults are the moment's, of a machine that others use too, and not the product's.

use desk::record::Fault;

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
