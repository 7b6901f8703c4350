//! Knows how samples at any moments become the means of equal steps of the window.
//!
//! A course is kept as what it has added up to: of a count what was counted, of a rate or a state
//! its integral over time. Between two samples, and beyond the first and the last, that grows
//! evenly; the mean of a step is what it grew by over its length. Of more samples than fit every
//! second is let go, which takes nothing off what was added up. Must not know what is sampled.

use desk::unit::{Quantity, Unit};

/// Most samples of a course, so that a long window takes no more room than a short one.
pub(super) const MOST: usize = 256;
/// Digits that a value of a step is written with.
const DIGITS: i32 = 4;

/// Name and unit of a course, and what it has added up to at each sample of its feed.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) probe: &'static str,
    pub(super) key: String,
    pub(super) unit: Unit,
    sums: Vec<f64>,
    /// The sum at the last sample, which may have been let go, and the state then.
    sum: f64,
    last: f64,
}

/// The moments of samples, nanoseconds, and the courses that were sampled then.
#[derive(Clone, Debug)]
pub(super) struct Courses {
    at_ns: Vec<u64>,
    /// The last sample, which may have been let go.
    last_ns: Option<u64>,
    pub(super) all: Vec<Course>,
}

impl Course {
    pub(super) fn new(probe: &'static str, key: &str, unit: Unit) -> Self {
        let sums = Vec::with_capacity(MOST + 1);
        Self { probe, key: key.into(), unit, sums, sum: 0.0, last: 0.0 }
    }

    /// Adds what was counted since the last sample.
    pub(super) fn count(&mut self, gained: f64) {
        self.sum += if self.sums.is_empty() { 0.0 } else { gained };
        self.sums.push(self.sum);
    }

    /// Adds a mean since the last sample, so many seconds ago.
    pub(super) fn mean(&mut self, mean: f64, seconds: f64) {
        self.count(mean * seconds);
    }

    /// Adds the state at this moment, so many seconds after the last; in between it lay in the
    /// middle (trapezoid).
    pub(super) fn state(&mut self, state: f64, seconds: f64) {
        let before = std::mem::replace(&mut self.last, state);
        self.mean(before.midpoint(state), seconds);
    }
}

impl Courses {
    pub(super) fn new(all: Vec<Course>) -> Self {
        Self { at_ns: Vec::with_capacity(MOST + 1), last_ns: None, all }
    }

    /// Whether nothing was sampled yet.
    pub(super) fn is_empty(&self) -> bool {
        self.at_ns.is_empty()
    }

    /// Notes the moment of a sample; gives the seconds since the last, 0 at the first. Every course
    /// has to be given its value before the next.
    pub(super) fn at(&mut self, at_ns: u64) -> f64 {
        let last_ns = self.last_ns.replace(at_ns);
        let seconds = last_ns.map_or(0.0, |last_ns| seconds(at_ns.saturating_sub(last_ns)));
        self.at_ns.push(at_ns);
        seconds
    }

    /// Lets every second sample go if there is no room for a further one; whether it did.
    pub(super) fn thin(&mut self) -> bool {
        let full = self.at_ns.len() >= MOST;
        if full {
            keep_even(&mut self.at_ns);
            self.all.iter_mut().for_each(|course| keep_even(&mut course.sums));
        }
        full
    }

    /// What a course grew by over a stretch of time; none without two samples.
    pub(super) fn over(&self, course: &Course, (from_ns, to_ns): (u64, u64)) -> Option<f64> {
        let enough = self.at_ns.len() >= 2 && course.sums.len() == self.at_ns.len();
        let at = |ns| at(&self.at_ns, &course.sums, ns);
        enough.then(|| at(to_ns) - at(from_ns))
    }

    /// The means of a course over the steps of a window; empty without two samples, and where it
    /// never grew.
    pub(super) fn steps(
        &self,
        course: &Course,
        (opened_ns, closed_ns): (u64, u64),
        step_ns: u64,
    ) -> Vec<f64> {
        let mean = |from_ns: u64| {
            let to_ns = (from_ns + step_ns).min(closed_ns);
            let grew = self.over(course, (from_ns, to_ns))?;
            Some(rounded(grew / seconds(to_ns - from_ns)))
        };
        let starts = (opened_ns..closed_ns).step_by(usize::try_from(step_ns.max(1)).unwrap_or(1));
        let means = starts.map(mean).collect::<Option<Vec<f64>>>().unwrap_or_default();
        if means.iter().all(|mean| *mean == 0.0) { Vec::new() } else { means }
    }
}

/// What was added up at a moment, on the straight line through the two samples next to it.
#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn at(at_ns: &[u64], sums: &[f64], ns: u64) -> f64 {
    let right = at_ns.partition_point(|at| *at < ns).clamp(1, at_ns.len() - 1);
    let (a, b) = (at_ns[right - 1], at_ns[right]);
    let along = (ns as f64 - a as f64) / (b.saturating_sub(a).max(1)) as f64;
    along.mul_add(sums[right] - sums[right - 1], sums[right - 1])
}

fn keep_even<T>(all: &mut Vec<T>) {
    let mut at = 0_usize;
    all.retain(|_| {
        at += 1;
        at % 2 == 1
    });
}

/// To so many digits as a shape needs.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "exponents of f64 are below 2^10")]
    let above = value.abs().log10().floor() as i32;
    let scale = 10_f64.powi((DIGITS - 1 - above).clamp(-300, 300));
    (value * scale).round() / scale
}

#[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53 ns")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Length of a step.
pub(super) fn quantity(step_ns: u64) -> Quantity {
    Quantity::seconds(seconds(step_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn courses(samples: &[(u64, f64)], add: fn(&mut Course, f64, f64)) -> Courses {
        let mut courses = Courses::new(vec![Course::new("p", "k", Unit::Count)]);
        for (at_ns, value) in samples {
            let seconds = courses.at(*at_ns);
            add(&mut courses.all[0], *value, seconds);
            courses.thin();
        }
        courses
    }

    fn steps(courses: &Courses, window: (u64, u64), step_ns: u64) -> Vec<f64> {
        courses.steps(&courses.all[0], window, step_ns)
    }

    #[test]
    fn counts_of_late_samples_fall_to_the_steps_that_they_are_of() {
        // 10 in each second up to 2 s, then 40 in each; sampled at odd moments, the window from 1
        // to 4.5 s.
        let samples = [(S, 0.0), (2 * S, 10.0), (7 * S / 2, 60.0), (9 * S / 2, 40.0)];
        let counted = courses(&samples, |course, value, _| course.count(value));
        assert_eq!(steps(&counted, (S, 9 * S / 2), S), [10.0, 40.0, 40.0, 40.0]);
        let wider = steps(&counted, (S / 2, 5 * S), 3 * S / 2);
        assert_eq!(wider, [10.0, 40.0, 40.0], "beyond the first and last it grows as beside them");
    }

    #[test]
    fn a_state_is_integrated_by_trapezoids() {
        let samples = [(0, 100.0), (S, 200.0), (3 * S, 200.0)];
        let state = courses(&samples, Course::state);
        assert_eq!(state.over(&state.all[0], (0, 3 * S)), Some(550.0));
        assert_eq!(steps(&state, (0, 3 * S), S), [150.0, 200.0, 200.0]);
        assert_eq!(state.over(&state.all[0], (S, 3 * S)), Some(400.0));
    }

    #[test]
    fn one_sample_is_no_course_and_nothing_but_zeros_is_left_out() {
        let one = courses(&[(S, 5.0)], Course::state);
        assert_eq!(steps(&one, (S, 2 * S), S), Vec::<f64>::new());
        let still = courses(&[(S, 0.0), (2 * S, 0.0)], |course, value, _| course.count(value));
        assert_eq!(steps(&still, (S, 2 * S), S), Vec::<f64>::new());
    }

    #[test]
    fn a_long_window_keeps_its_sum_and_takes_no_more_room() {
        let samples: Vec<(u64, f64)> = (0..5000).map(|at| (at * S / 10, 1.0)).collect();
        let long = courses(&samples, |course, value, _| course.count(value));
        assert!(long.at_ns.len() <= MOST && long.at_ns.capacity() <= MOST + 1);
        assert_eq!(long.at_ns.len(), long.all[0].sums.len());
        let means = steps(&long, (0, 400 * S), 100 * S);
        assert_eq!(means, [10.0; 4], "ten a second");
        let all = long.over(&long.all[0], (0, 400 * S)).unwrap();
        assert!((all - 4000.0).abs() < 1e-6, "{all}");
    }

    #[test]
    fn values_have_four_digits() {
        let told = [123_456.7, 0.000_123_456, -1.0, 0.0, 99_999.0].map(rounded);
        assert_eq!(told, [123_500.0, 0.000_123_5, -1.0, 0.0, 100_000.0]);
    }
}
