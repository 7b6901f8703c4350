//! Knows from where on a curve is flat; never what it is a curve of.

use crate::unit::{Quantity, Unit};

/// A curve is called flat from the first point within this share of its maximum.
pub const KNEE: Quantity = Quantity::new(0.05, Unit::Share);

/// Index of the first value that comes within [`KNEE`] of the largest; none for no values.
///
/// If it is that of the last value the curve was still rising where it was last looked at.
#[must_use]
pub fn knee(course: &[f64]) -> Option<usize> {
    let top = course.iter().copied().max_by(f64::total_cmp)?;
    course.iter().position(|value| *value >= top * (1.0 - KNEE.value))
}

/// Whether a curve rises to its knee and stays flat from there: no step before the knee falls by
/// more than [`KNEE`], no value after it is further than that below the largest, and the knee is
/// neither the first point nor the last.
pub(super) fn rises_then_flat(course: &[f64]) -> bool {
    let Some(at) = knee(course).filter(|at| *at > 0 && at + 1 < course.len()) else { return false };
    let (rise, flat) = course.split_at(at);
    let near = |value: f64, of: f64| value >= of * (1.0 - KNEE.value);
    let top = course.iter().copied().fold(0.0, f64::max);
    rise.windows(2).all(|pair| near(pair[1], pair[0])) && flat.iter().all(|v| near(*v, top))
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: the largest is 100, so flat begins at 95.
    #[test]
    fn the_knee_is_the_first_value_within_a_twentieth_of_the_largest() {
        assert_eq!(knee(&[10.0, 94.9, 95.0, 100.0]), Some(2));
        assert_eq!(knee(&[10.0, 20.0]), Some(1));
        assert_eq!(knee(&[]), None);
    }

    #[test]
    fn a_curve_that_falls_again_or_never_bends_has_another_shape() {
        assert!(rises_then_flat(&[10.0, 50.0, 98.0, 100.0, 97.0]));
        assert!(!rises_then_flat(&[10.0, 50.0, 98.0, 100.0, 90.0]), "falls");
        assert!(!rises_then_flat(&[10.0, 50.0, 100.0]), "still rising");
        assert!(!rises_then_flat(&[99.0, 100.0, 98.0]), "flat");
        assert!(!rises_then_flat(&[50.0, 10.0, 98.0, 100.0]), "a dip");
    }
}
