//! Knows when a load has lost so many of its trials that it is given up.
//!
//! A sitting that goes on with a run counts anew: the cause may have been removed.

use desk::record::Fault;
use std::collections::BTreeMap;

/// Fewest ended trials before a load can be given up: of fewer, three chance faults are half.
const FEWEST: u32 = 6;

/// How the counted trials of every load have ended so far.
#[derive(Clone, Debug, Default)]
pub struct Attrition(BTreeMap<String, Load>);

#[derive(Clone, Debug, Default)]
struct Load {
    ended: u32,
    /// The last fault of every trial that was lost, the first of its kind in words, and how often.
    lost: Vec<(Fault, u32)>,
    /// Why it was given up, in words.
    given_up: Option<String>,
}

impl Load {
    fn lost(&self) -> u32 {
        self.lost.iter().map(|(_, times)| times).sum()
    }

    /// The most frequent fault, of equals the first.
    fn most(&self) -> Option<&Fault> {
        let most = self.lost.iter().rev().max_by_key(|(_, times)| *times);
        most.map(|(fault, _)| fault)
    }
}

impl Attrition {
    /// Notes that a counted trial of a load has ended, without a valid record if there is a fault
    /// and no visit left; says whether the load is given up by it. What this machine lacks and
    /// clients at their limit belong to a place of the load and not to all of it.
    pub fn ended(&mut self, load: &str, fault: Option<&Fault>) -> bool {
        if matches!(fault, Some(Fault::NotAvailable { .. } | Fault::GeneratorLimit { .. })) {
            return false;
        }
        let of = self.0.entry(load.to_owned()).or_default();
        of.ended += 1;
        if let Some(fault) = fault {
            let kind = std::mem::discriminant(fault);
            match of.lost.iter_mut().find(|(known, _)| std::mem::discriminant(known) == kind) {
                Some((_, times)) => *times += 1,
                None => of.lost.push((fault.clone(), 1)),
            }
        }
        let (lost, ended) = (of.lost(), of.ended);
        let now = of.given_up.is_none() && ended >= FEWEST && 2 * lost >= ended;
        if now {
            let most = of.most().map(ToString::to_string).unwrap_or_default();
            of.given_up = Some(format!("lost {lost} of {ended} trials, most often to: {most}"));
        }
        now
    }

    /// Gives up a load for another reason, in words.
    pub fn give_up(&mut self, load: &str, why: String) {
        self.0.entry(load.to_owned()).or_default().given_up.get_or_insert(why);
    }

    /// Which loads were given up and why, in words; none where every load went on.
    pub fn words(&self) -> Option<String> {
        let of = |(name, load): (&String, &Load)| {
            load.given_up.as_ref().map(|why| format!("load '{name}' {why}"))
        };
        let words: Vec<String> = self.0.iter().filter_map(of).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(what: &str) -> Fault {
        Fault::WrongWork { what: what.into() }
    }

    #[test]
    fn half_of_six_is_given_up_once_and_told_with_its_most_frequent_fault() {
        let mut all = Attrition::default();
        let dead = Fault::DeadHost { host: "c01".into() };
        let ends = [Some(dead), None, None, Some(wrong("first")), None, Some(wrong("second"))];
        let given_up: Vec<bool> = ends.iter().map(|end| all.ended("a", end.as_ref())).collect();
        assert_eq!(given_up, [false, false, false, false, false, true]);
        assert!(!all.ended("a", Some(&wrong("third"))), "only once");
        assert!(!all.ended("b", Some(&wrong("other"))));
        let words = all.words().unwrap();
        assert!(words.contains("load 'a' lost 3 of 6 trials, most often to"), "{words}");
        assert!(words.contains("first") && !words.contains("'b'"), "{words}");
    }

    #[test]
    fn fewer_than_half_five_trials_and_faults_of_a_place_go_on() {
        let mut all = Attrition::default();
        assert!((0..5).all(|_| !all.ended("few", Some(&wrong("x")))));
        let third = |n: u32| n.is_multiple_of(3).then(|| wrong("x"));
        assert!((1..100).all(|n| !all.ended("third", third(n).as_ref())));
        let limit = Fault::GeneratorLimit { host: "c01".into(), what: "x".into() };
        assert!((0..20).all(|_| !all.ended("limit", Some(&limit))));
        assert_eq!(all.words(), None);
    }
}
