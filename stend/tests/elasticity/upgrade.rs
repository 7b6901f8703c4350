//! Knows that the sentence on an upgrade that brings nothing is right where the truth is planted: a
//! faster line, under a quota of CPU time and under a profile.

use super::simulated;
use desk::record::Run;
use desk::verdict::{Condition, Dependence, LimitKind, analyse};
use std::collections::BTreeMap;

/// What a system plants beside its costs, and the limit of a level that gains nothing.
const HELD: [(&str, LimitKind); 2] = [
    ("", LimitKind::ServerQuota),
    ("[limits]\nthrough = \"disk\"\n[disk]\nrate = \"4 MiB/s\"\n", LimitKind::Disk),
];

/// Quotas of the low level: under both profiles too little for the slow line, or under one of them.
const QUOTAS: [&str; 4] = ["0.01 CPU", "0.012 CPU", "0.017 CPU", "0.02 CPU"];

/// A run over 2 x 2 x 2 levels with noise of so many per cent.
fn run(number: usize, noise: &str) -> Run {
    let quota = QUOTAS[number % QUOTAS.len()];
    let held = HELD[usize::from(number % 5 == 4)].0;
    let plan = simulated::plan(&format!(
        "title = \"a faster line\"\n[lab]\nclients = 1\n\
         [factors.rate]\nlevels = [\"100 Mbit/s\", \"1 Gbit/s\"]\n\
         [factors.server_quota]\nlevels = [\"{quota}\", \"off\"]\n\
         [factors.profile]\nlevels.plain = {{ tso = \"off\", gso = \"off\" }}\n\
         levels.tuned = {{ tso = \"on\", gso = \"on\" }}\n\
         [load.it]\nworkload = \"tcp_stream\"\n[method]\nblocks = 5\ncompare = \"rate\"\n"
    ));
    let physics = simulated::physics(&format!(
        "seed = {number}\n{held}[cost]\ncall = \"1 us\"\npacket = \"1 us\"\nbyte = \"1 ns\"\n\
         [noise]\nsd = \"{noise}\"\n"
    ));
    simulated::run(&plan, &physics)
}

/// Whether the faster line gains under each stratum, by a run without noise.
fn truth(number: usize) -> BTreeMap<Vec<String>, bool> {
    let all = analyse(&run(number, "0 %")).comparisons;
    all.iter()
        .map(|c| (c.stratum.values().cloned().collect(), c.overall.centre.value > 1.02))
        .collect()
}

/// What a sentence says of each stratum; none where it leaves it open. One that no condition meets,
/// or two contrary ones, is wrong.
fn said(
    one: &Dependence,
    strata: &BTreeMap<Vec<String>, bool>,
) -> BTreeMap<Vec<String>, Option<bool>> {
    let of = |stratum: &Vec<String>| {
        let holds = |condition: &Condition| condition.values().all(|level| stratum.contains(level));
        let gains = one.gains.iter().any(|gain| holds(&gain.condition));
        let nothing = one.nothing.iter().any(|idle| holds(&idle.condition));
        let open = one.open.iter().any(holds);
        let told = [gains, nothing, open].into_iter().filter(|told| *told).count();
        assert_eq!(told, 1, "{stratum:?} in {one:?}");
        (stratum.clone(), (!open).then_some(gains))
    };
    strata.keys().map(of).collect()
}

#[test]
fn the_sentence_on_a_faster_line_is_right_in_twenty_planted_systems() {
    let (mut shapes, mut open) = ([0; 3], 0);
    for number in 0..20 {
        let strata = truth(number);
        let gaining = strata.values().filter(|gains| **gains).count();
        let found = analyse(&run(number, "0.5 %")).dependences;
        if gaining == 0 || gaining == strata.len() {
            assert!(found.is_empty(), "{number}: {found:?}");
            shapes[0] += 1;
            continue;
        }
        let [one] = &found[..] else { panic!("{number}: {strata:?} {found:?}") };
        for (stratum, gains) in said(one, &strata) {
            open += usize::from(gains.is_none());
            assert!(gains.is_none_or(|gains| gains == strata[&stratum]), "{number} {stratum:?}");
        }
        let (_, limit) = HELD[usize::from(number % 5 == 4)];
        for idle in &one.nothing {
            assert_eq!(idle.limits, [limit], "{number}: {one:?}");
        }
        shapes[one.nothing[0].condition.len()] += 1;
    }
    assert!(
        shapes.iter().all(|systems| *systems >= 3),
        "{shapes:?}: none, one factor, two factors"
    );
    assert!(open <= 4, "{open} of 80 places are open");
}
