//! Knows where a curve over sizes leaves a plateau: there a cache ends.
//!
//! Never: what the machine says of its caches.

/// A plateau holds figures up to this ratio to the best of it. The step from one level to the next
/// is 2 and more in time; pages and neighbours move a level by less than a third.
const WITHIN: f64 = 1.35;
/// Fewest sizes that make a plateau.
const FEWEST: usize = 2;

/// Places of the last point of every plateau that ends before the curve does, in the order of the
/// sizes. `times` are the times of one access (or what falls with them), sizes rising.
pub(super) fn ends(times: &[f64]) -> Vec<usize> {
    let (mut found, mut start) = (Vec::new(), 0);
    while start < times.len() {
        let mut least = times[start];
        let mut end = start;
        while let Some(next) = times.get(end + 1).filter(|next| **next <= least * WITHIN) {
            least = least.min(*next);
            end += 1;
        }
        if end + 1 - start >= FEWEST && end + 1 < times.len() {
            found.push(end);
        }
        start = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    // 1.5 ns in the first cache, 6.4 in the second, 30 on the way up, 100 beyond.
    #[test]
    fn a_cache_ends_where_the_time_leaves_its_plateau() {
        let times = [1.5, 1.5, 1.6, 6.2, 6.4, 6.9, 30.0, 100.0, 110.0];
        assert_eq!(ends(&times), [2, 5]);
        assert_eq!(ends(&[1.5, 1.5, 1.5]), Vec::<usize>::new(), "it never left");
        assert_eq!(ends(&[1.5, 6.0, 100.0, 101.0]), Vec::<usize>::new(), "one point is no level");
        assert_eq!(ends(&[]), Vec::<usize>::new());
    }
}
