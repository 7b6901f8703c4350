//! Knows which pairs of CPUs are measured where there are too many for all. Must not know how.

use std::collections::BTreeSet;

/// All pairs of CPUs, or `most` of them drawn from a seed; the lower number first, sorted.
///
/// Of a draw the first are a matching in which every CPU stands once, as far as `most` goes: a CPU
/// that is slow to reach is not missed while others are measured twice.
#[must_use]
pub fn choose(cpus: &[u32], most: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    let sorted = |a: u32, b: u32| (a.min(b), a.max(b));
    let count = cpus.len() * cpus.len().saturating_sub(1) / 2;
    if count <= most {
        for (index, first) in cpus.iter().enumerate() {
            pairs.extend(cpus[index + 1..].iter().map(|second| sorted(*first, *second)));
        }
        return pairs.into_iter().collect();
    }
    let mut draw = Draw(seed);
    let mut deck = cpus.to_vec();
    for last in (1..deck.len()).rev() {
        deck.swap(last, draw.below(last + 1));
    }
    for two in deck.chunks_exact(2).take(most) {
        pairs.insert(sorted(two[0], two[1]));
    }
    while pairs.len() < most {
        let (first, second) = (draw.below(cpus.len()), draw.below(cpus.len()));
        if first != second {
            pairs.insert(sorted(cpus[first], cpus[second]));
        }
    }
    pairs.into_iter().collect()
}

/// splitmix64 (Steele, Lea and Flood 2014).
struct Draw(u64);

impl Draw {
    /// A number below `bound`; its bias is below bound / 2^64.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        let scaled = (u128::from(word) * bound as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cpus_give_all_pairs() {
        assert_eq!(choose(&[0, 1], 28, 1), [(0, 1)]);
        assert_eq!(choose(&[4, 0, 2], 28, 1), [(0, 2), (0, 4), (2, 4)]);
        assert_eq!(choose(&(0..8).collect::<Vec<_>>(), 28, 1).len(), 28);
        assert_eq!(choose(&[3], 28, 1), []);
    }

    #[test]
    fn of_many_every_cpu_is_in_a_pair_and_the_seed_decides() {
        let cpus: Vec<u32> = (0..576).collect();
        let pairs = choose(&cpus, 400, 9);
        assert_eq!(pairs.len(), 400);
        let met: BTreeSet<u32> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        assert_eq!(met.len(), 576);
        assert!(pairs.iter().all(|(a, b)| a < b));
        assert_eq!(pairs, choose(&cpus, 400, 9));
        assert_ne!(pairs, choose(&cpus, 400, 10));
        assert_eq!(choose(&cpus, 28, 9).len(), 28);
    }
}
