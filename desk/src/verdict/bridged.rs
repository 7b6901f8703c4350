//! Knows when bridges of a load showed every frame to the filter of IP at all levels: the form in
//! which bridges ship, in which one is slower than a router.
//!
//! Never: how fast a bridge is.

use super::caveat::valid;
use super::finding::Caveat;
use crate::record::{Run, TrialRecord};
use std::collections::BTreeSet;

/// Key of the reading that says so of a host.
const SHOWN: &str = "bridge_nf_call";

/// The hosts whose bridges did so in every valid trial of some load, if there are any. A plan that
/// compares both forms has none.
pub(super) fn shipped_bridge(run: &Run) -> Option<Caveat> {
    let hosts: BTreeSet<&str> =
        run.plan.loads.iter().flat_map(|load| in_all_trials(run, &load.name)).collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    (!hosts.is_empty()).then(|| Caveat::ShippedBridge { hosts: hosts.join(", ") })
}

fn in_all_trials<'r>(run: &'r Run, load: &str) -> BTreeSet<&'r str> {
    let all = valid(run).filter(|record| record.trial.point.load == load).map(shown);
    all.reduce(|a, b| &a & &b).unwrap_or_default()
}

fn shown(record: &TrialRecord) -> BTreeSet<&str> {
    record.readings.iter().filter(|r| r.key == SHOWN).map(|r| r.host.name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Reading;
    use crate::unit::Quantity;
    use crate::verdict::simulated::Simulated;

    /// A run in which the bridge of these trials showed its frames to the filter.
    fn run(which: impl Fn(&TrialRecord) -> bool) -> Run {
        let mut run = Simulated::default().run();
        for record in run.records.iter_mut().filter(|r| which(r)) {
            let [probe, key] = ["frames", SHOWN].map(String::from);
            record.readings.push(Reading {
                probe,
                host: "box".into(),
                key,
                quantity: Quantity::count(1),
            });
        }
        run
    }

    #[test]
    fn a_bridge_as_it_ships_is_no_baseline() {
        let Some(Caveat::ShippedBridge { hosts }) = shipped_bridge(&run(|_| true)) else {
            panic!("1.37 million frames a second were published once as what a bridge forwards");
        };
        assert_eq!(hosts, "box");
    }

    #[test]
    fn one_that_is_compared_with_its_best_form_is_not_doubted() {
        let baseline = run(|_| false).records[0].trial.treatment.clone();
        assert_eq!(shipped_bridge(&run(|r| r.trial.treatment != baseline)), None);
        assert_eq!(shipped_bridge(&run(|_| false)), None);
    }
}
