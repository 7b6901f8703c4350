//! Knows whether the hypervisor leaves the CPUs to a load, and waits until it does.
//!
//! Must not know which trial was disturbed, nor what follows from a wait in vain.

use crate::lab::machine::{Order, Reply};
use crate::lab::{Lab, LabError, clock};
use desk::plan::shortest;
use desk::record::Plan;
use desk::validity::STEAL_MOST;
use std::time::{Duration, Instant};

/// Length of a look.
const LOOK: Duration = Duration::from_millis(250);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);
/// One wait is no longer than this.
const LONGEST: Duration = Duration::from_secs(10);
/// All waits of a run together take no more than this share of the shortest time of its plan: a
/// short run stays one.
const SHARE: f64 = 0.5;

/// For how long a run may still wait.
#[derive(Debug, Default)]
pub struct Calm {
    left: Duration,
}

impl Calm {
    /// What the plan grants.
    pub fn within(plan: &Plan) -> Self {
        Self { left: Duration::from_secs_f64((shortest(plan).value * SHARE).max(0.0)) }
    }

    /// Waits until less is stolen than makes a trial invalid; false if that did not come in time.
    ///
    /// Where no look can be had none came; where nobody counts steal it is calm.
    ///
    /// # Errors
    /// When the run is stopped or a host is gone.
    pub fn wait(&mut self, lab: &mut Lab) -> Result<bool, LabError> {
        let began = Instant::now();
        let came = comes(LONGEST.min(self.left), |pause| {
            lab.wait_until(clock::now_ns() + nanoseconds(pause))?;
            look(lab)
        });
        self.left = self.left.saturating_sub(began.elapsed());
        // An agent that cannot look sees no calm.
        if matches!(came, Err(LabError::Machine(_))) { Ok(false) } else { came }
    }
}

/// Whether calm comes within this time; `look` is told how long to pause first.
fn comes<E>(
    patience: Duration,
    mut look: impl FnMut(Duration) -> Result<Option<f64>, E>,
) -> Result<bool, E> {
    let (began, mut pause) = (Instant::now(), Duration::ZERO);
    while began.elapsed() + pause + LOOK <= patience {
        if look(pause)?.is_none_or(|share| share <= STEAL_MOST) {
            return Ok(true);
        }
        pause = PAUSE;
    }
    Ok(false)
}

/// Share of all CPUs' time that the hypervisor took while they worked, of the machine that lost
/// most.
fn look(lab: &mut Lab) -> Result<Option<f64>, LabError> {
    let mut most = None;
    for at in lab.in_use() {
        match lab.machine_at(at).order(&Order::Stolen)? {
            Reply::Stolen(Some(share)) => most = Some(share.max(most.unwrap_or(share))),
            Reply::Stolen(None) => {}
            other => return Err(lab.machine_at(at).out_of_turn(&format!("{other:?}"))),
        }
    }
    Ok(most)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::thread;

    /// Whether calm comes where looks find this, the last one again and again; and how many looks.
    fn after(patience: Duration, found: &[Option<f64>]) -> (bool, usize) {
        let mut looks = 0;
        let calm = comes(patience, |pause| {
            assert_eq!(pause == PAUSE, looks > 0);
            looks += 1;
            thread::sleep(Duration::from_millis(10));
            Ok::<_, Infallible>(found[(looks - 1).min(found.len() - 1)])
        });
        (calm.unwrap(), looks)
    }

    #[test]
    fn a_storm_is_waited_for_until_it_is_over() {
        let long = Duration::from_secs(60);
        assert_eq!(after(long, &[Some(0.3), Some(0.06), Some(STEAL_MOST)]), (true, 3));
        assert_eq!(after(long, &[Some(0.0)]), (true, 1));
        assert_eq!(after(long, &[None]), (true, 1), "where nobody counts it, it is calm");
    }

    #[test]
    fn a_storm_without_end_is_not_and_no_look_begins_that_would_end_too_late() {
        assert_eq!(after(LOOK + PAUSE, &[Some(0.3)]), (false, 1));
        assert_eq!(after(LOOK - Duration::from_millis(1), &[Some(0.0)]), (false, 0));
        let (calm, looks) = after(LOOK + PAUSE + LOOK, &[Some(0.3)]);
        assert!(!calm && looks > 1);
    }
}
