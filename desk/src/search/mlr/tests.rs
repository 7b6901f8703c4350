//! Knows what a search of simulated devices comes to.

use super::*;

/// Trials and bounds of one search.
pub(super) fn search(number: usize, seed: u64, rule: &MlrRule) -> (Vec<MlrTrial>, Vec<MlrBounds>) {
    let mut device = Device::new(number, seed);
    let mut trials = Vec::new();
    loop {
        match mlr(&trials, rule) {
            MlrNext::Try { load, duration_s } => {
                let [sent, lost] = device.trial(load, duration_s);
                trials.push(MlrTrial { load, duration_s, loss: lost / sent });
                assert!(trials.len() < 2000, "{number} {seed}");
            }
            MlrNext::Enough(bounds) => return (trials, bounds),
        }
    }
}

pub(super) fn seconds(trials: &[MlrTrial]) -> f64 {
    trials.iter().map(|trial| trial.duration_s).sum()
}

#[test]
fn the_planted_capacity_of_a_hard_device_lies_between_the_bounds() {
    for seed in 0..20 {
        let (trials, bounds) = search(0, seed, &usual());
        let [sent, lost] = Device::new(0, seed).trial(WITHIN[1], 10.0);
        let capacity = (sent - lost) / 10.0;
        let (lower, upper) = (bounds[0].lower.unwrap(), bounds[0].upper.unwrap());
        assert!((lower..upper).contains(&capacity), "{seed}: {bounds:?} {capacity}");
        assert_eq!(bounds[0].throughput, Some(lower));
        assert!(trials.len() < 40, "{}", trials.len());
    }
}

#[test]
fn a_device_that_takes_all_or_nothing_has_one_bound() {
    let with = |loss: f64| {
        let mut trials: Vec<MlrTrial> = Vec::new();
        loop {
            match mlr(&trials, &usual()) {
                MlrNext::Try { load, duration_s } => {
                    trials.push(MlrTrial { load, duration_s, loss });
                    assert!(trials.len() < 200);
                }
                MlrNext::Enough(bounds) => return bounds[0],
            }
        }
    };
    let all = with(0.0);
    assert_eq!((all.lower, all.upper, all.throughput), (Some(WITHIN[1]), None, Some(WITHIN[1])));
    let nothing = with(1.0);
    assert_eq!((nothing.lower, nothing.upper, nothing.throughput), (None, Some(WITHIN[0]), None));
    assert_eq!(with(f64::NAN).lower, None, "no number is a loss of all");
}

#[test]
fn one_long_trial_without_loss_is_a_goal_too() {
    let goal = MlrGoal { exceed: 0.0, final_s: 60.0, sum_s: 60.0, ..usual().goals[0] };
    let rule = MlrRule { goals: vec![goal], ..usual() };
    let (trials, bounds) = search(0, 3, &rule);
    assert!(bounds[0].lower.is_some() && bounds[0].upper.is_some());
    assert!(trials.iter().any(|trial| trial.duration_s >= 60.0));
    assert!(trials.iter().filter(|trial| trial.duration_s < 60.0).count() > 0, "{trials:?}");
}
