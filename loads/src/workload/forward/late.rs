//! Knows what frames mean that were not sent at their moment: the trial is void, or they are lost.
//!
//! Must not know why they were late, nor what else is wrong with a trial.

use super::evidence::{Evidence, WINDOW, float};
use super::spec::LATE_FRAMES;
use desk::record::{Fault, Settings, Value};

/// Share of the scheduled frames that may be unsent in a paced trial.
const UNSENT: f64 = 1e-4;
/// A tester alone is at least so many times as fast as the load, where its late frames are lost:
/// what stands between then had half of the time or more.
const LEAST_TIMES: f64 = 2.0;

/// Whether a plan counts late frames as lost, as MLRsearch 1.2.1 does.
#[must_use]
pub fn are_lost(params: &Settings) -> bool {
    params.get(LATE_FRAMES.name).and_then(Value::word) == Some("lost")
}

/// Why a plan cannot count late frames as lost: only a schedule has late frames, and only a device
/// on the machine of the tester takes time from it.
#[must_use]
pub fn refusal(params: &Settings, is_paced: bool, is_shared: bool) -> Option<&'static str> {
    if !are_lost(params) {
        None
    } else if !is_paced {
        Some(
            "late_frames = \"lost\" needs a schedule; take a rate as offered_load and burst = \
             \"endless\", or late_frames = \"void\"",
        )
    } else if !is_shared {
        Some(
            "late_frames = \"lost\" needs a device that shares the machine of the tester; take \
             late_frames = \"void\"",
        )
    } else {
        None
    }
}

/// Why a stream was at its limit, by its sent and unsent frames of the window; none if it was not.
///
/// # Errors
/// A trial that was not driven.
pub fn limit(evidence: &Evidence, (sent, unsent): (u64, u64)) -> Result<Option<String>, Fault> {
    let told = sent + unsent;
    if !are_lost(&evidence.asked) {
        return Ok(is_too_late((sent, unsent)).then(|| {
            format!(
                "{unsent} of {told} frames of the window were not sent at their moment; lower \
                 offered_load"
            )
        }));
    }
    Ok(match times_the_load(evidence)? {
        None => Some("it is not known how fast the tester is alone".into()),
        Some(times) if times < LEAST_TIMES => Some(format!(
            "alone it is {times:.1} times as fast as the load, and late_frames = \"lost\" needs \
             {LEAST_TIMES} times; lower offered_load"
        )),
        Some(_) if sent == 0 => Some(format!("none of {told} frames of the window was sent")),
        Some(_) => None,
    })
}

/// Whether so many frames were late that those that came tell no latency.
///
/// # Errors
/// A trial that was not driven.
pub fn hides_latency(evidence: &Evidence) -> Result<bool, Fault> {
    Ok(are_lost(&evidence.asked) && is_too_late(window(evidence)?))
}

/// Whether a schedule with so many frames sent, and so many not, was not kept.
fn is_too_late((sent, unsent): (u64, u64)) -> bool {
    float(unsent) > float(sent + unsent) * UNSENT
}

/// The rate of the tester alone, over that of the schedule.
fn times_the_load(evidence: &Evidence) -> Result<Option<f64>, Fault> {
    let (sent, unsent) = window(evidence)?;
    let asked = float(sent + unsent) / evidence.frames_for()?;
    Ok(evidence.alone.filter(|_| asked > 0.0).map(|alone| alone.rate / asked))
}

/// Frames of the window that were sent, and that were not.
fn window(evidence: &Evidence) -> Result<(u64, u64), Fault> {
    let sent = evidence.sums()?.0;
    Ok((sent.sent[WINDOW], sent.unsent[WINDOW]))
}
