//! Knows in what machines that are levels of a factor differ: all of it together is what is
//! compared.
//!
//! Never: which of the differences made the figures differ.

use super::caveat::Caveat;
use crate::record::{Environment, KeyClass, Run, SUT};
use crate::unit::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// Most differences that are named.
const NAMED: usize = 6;

/// That whole machines were compared, with what differs between any two of them; none where one
/// machine was under test, or nothing recorded differs.
pub(super) fn compound(run: &Run) -> Option<Caveat> {
    let machines: Vec<&str> = run.plan.lab.machines_of(SUT).collect();
    let (first, others) = machines.split_first()?;
    let base = facts(run.environment_of(first)?);
    let mut keys = BTreeSet::new();
    for other in others {
        let other = facts(run.environment_of(other)?);
        let all: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
        keys.extend(all.into_iter().filter(|key| base.get(*key) != other.get(*key)).cloned());
    }
    let named: Vec<&str> = keys.iter().take(NAMED).map(String::as_str).collect();
    (!keys.is_empty()).then(|| Caveat::Compound {
        machines: machines.join(", "),
        differences: Quantity::count(keys.len() as u64),
        named: named.join(", "),
    })
}

/// What must not differ undeclared.
fn facts(environment: &Environment) -> BTreeMap<String, String> {
    let keys = environment.keys().into_iter();
    let counts = keys.filter(|one| matches!(one.class, KeyClass::Critical | KeyClass::Identity));
    counts.map(|one| (one.key, one.value)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::Placement;

    #[test]
    fn machines_that_are_levels_are_told_with_their_differences() {
        let mut run = Simulated::default().run();
        assert_eq!(compound(&run), None, "one machine");
        let place = |machine: &str| Placement { machine: machine.into(), hosts: vec![SUT.into()] };
        run.plan.lab.machines = vec![place("a"), place("b")];
        let mut other = run.environment().clone();
        run.environments.insert("b".into(), other.clone());
        assert_eq!(compound(&run), None, "machines alike");
        other.cpu.model = "another".into();
        other.memory = Some(Quantity::bytes(1 << 30));
        run.environments.insert("b".into(), other);
        let Some(Caveat::Compound { machines, differences, named }) = compound(&run) else {
            panic!("two machines")
        };
        assert_eq!((machines.as_str(), differences.value), ("a, b", 2.0));
        assert_eq!(named, "cpu.model, memory");
    }
}
