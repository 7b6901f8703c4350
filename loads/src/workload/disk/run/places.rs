//! Knows where operations at random go: anywhere alike, by Zipf's law, or mostly to the first
//! places.
//!
//! Must not know files, nor what is done at a place.

use super::super::spec::{HOT, HOT_PLACES, HOT_SHARE, LOCALITY, SKEW, ZIPF};
use super::steps::{Plan, Step};
use crate::engine::alone::Order;
use crate::engine::net::content::{GOLDEN, mix};
use rand_chacha::rand_core::TryRng;
use rand_distr::{Distribution as _, Zipf};
use std::convert::Infallible;

/// Ranks that are drawn for an operation before the next free one is taken: of a few that are
/// nearly all operations' each draw would find one under way.
const DRAWS: usize = 8;
/// Rounds of the permutation of ranks.
const ROUNDS: usize = 3;

/// How the random places of operations are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// Each as likely as another.
    Uniform,
    /// The place of rank k is as likely as k to the power of minus so many hundredths.
    Zipf { skew: u64 },
    /// Of a hundred operations `share` go to places that begin in the first `places` percent.
    Hot { share: u64, places: u64 },
}

impl Locality {
    /// What a trial asks for.
    pub fn read(order: &Order) -> Self {
        match order.word(LOCALITY.name) {
            ZIPF => Self::Zipf { skew: order.count(SKEW.name) },
            HOT => Self::Hot {
                share: order.count(HOT_SHARE.name),
                places: order.count(HOT_PLACES.name),
            },
            _ => Self::Uniform,
        }
    }
}

/// Blocks, of so many, that lie in the first `percent`.
pub const fn first_of(count: usize, percent: u64) -> usize {
    // A file has at most 2^26 blocks.
    count * percent as usize / 100
}

/// Numbers that follow from a seed: the sequence of splitmix64.
#[derive(Clone, Debug)]
pub struct Chance(pub u64);

impl Chance {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, each as likely but for 2^-64 (Lemire 2019).
    pub fn draw(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }
}

impl TryRng for Chance {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.word() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.word())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for place in bytes.chunks_mut(8) {
            place.copy_from_slice(&self.word().to_le_bytes()[..place.len()]);
        }
        Ok(())
    }
}

/// The random places of one thread.
#[derive(Clone, Debug)]
pub struct Places {
    /// Blocks of the thread.
    count: usize,
    kind: Kind,
}

/// How they are drawn.
#[derive(Clone, Debug)]
enum Kind {
    Uniform,
    Zipf(Ranks),
    Hot { share: u64, blocks: usize },
}

impl Places {
    /// Of a thread with so many blocks.
    pub fn new(locality: Locality, plan: &Plan, count: usize, seed: u64) -> Self {
        let kind = match locality {
            Locality::Uniform => Kind::Uniform,
            Locality::Zipf { skew } => {
                Ranks::new(skew, plan, count, seed).map_or(Kind::Uniform, Kind::Zipf)
            }
            Locality::Hot { share, places } => Kind::Hot { share, blocks: first_of(count, places) },
        };
        Self { count, kind }
    }

    /// A free place for such an operation. Where less than half of the places that it may take are
    /// free, this takes long.
    pub fn pick(&self, step: Step, chance: &mut Chance, is_free: impl Fn(usize) -> bool) -> usize {
        let last = self.count.saturating_sub(step.blocks) / step.align;
        let range = match &self.kind {
            Kind::Uniform => 0..last + 1,
            Kind::Zipf(ranks) => return ranks.pick((step, last), chance, is_free),
            Kind::Hot { share, blocks } => {
                let hot = blocks.div_ceil(step.align).clamp(1, last.max(1));
                if chance.draw(100) < *share { 0..hot } else { hot..(last + 1).max(hot + 1) }
            }
        };
        loop {
            let at = range.start + chance.draw(range.len() as u64) as usize;
            let at = at.min(last) * step.align;
            if is_free(at) {
                return at;
            }
        }
    }
}

/// Places by Zipf's law.
#[derive(Clone, Debug)]
struct Ranks {
    law: Zipf<f64>,
    scatter: Scatter,
    /// Blocks from one ranked place to the next: what the places of every step are a multiple of.
    unit: usize,
}

impl Ranks {
    /// None where there is no such law.
    fn new(skew: u64, plan: &Plan, count: usize, seed: u64) -> Option<Self> {
        let (unit, least) = (plan.unit(), plan.fewest());
        let ranks = count.saturating_sub(least) / unit + 1;
        let law = Zipf::new(ranks as f64, skew as f64 / 100.0).ok()?;
        Some(Self { law, scatter: Scatter::new(ranks as u64, seed), unit })
    }

    /// A free place that is at most the `last`: of a rank that is drawn, or of the next one after
    /// the last of several draws.
    fn pick(
        &self,
        (step, last): (Step, usize),
        chance: &mut Chance,
        is_free: impl Fn(usize) -> bool,
    ) -> usize {
        let ranks = self.scatter.count;
        let free = |rank: u64| {
            let at = self.scatter.place(rank) as usize * self.unit / step.align;
            Some(at * step.align).filter(|place| at <= last && is_free(*place))
        };
        let mut rank = 0;
        for _ in 0..DRAWS {
            // The law begins at 1, and its number may be rounded up.
            rank = (self.law.sample(chance) as u64).clamp(1, ranks) - 1;
            if let Some(place) = free(rank) {
                return place;
            }
        }
        loop {
            rank = (rank + 1) % ranks;
            if let Some(place) = free(rank) {
                return place;
            }
        }
    }
}

/// A permutation of numbers below a count, which follows from a seed: the bits of a number are
/// multiplied and folded, again where the result is not below the count (cycle walking, Black and
/// Rogaway 2002).
#[derive(Clone, Debug)]
struct Scatter {
    count: u64,
    mask: u64,
    fold: u32,
    /// Of each round an odd factor, and a summand.
    rounds: [(u64, u64); ROUNDS],
}

impl Scatter {
    fn new(count: u64, seed: u64) -> Self {
        let mut chance = Chance(seed);
        let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).max(1);
        let rounds = [(); ROUNDS].map(|()| (chance.word() | 1, chance.word()));
        Self { count, mask: u64::MAX >> (u64::BITS - bits), fold: bits.div_ceil(2), rounds }
    }

    /// Where a number goes that is below the count.
    fn place(&self, number: u64) -> u64 {
        let mut at = number;
        loop {
            for (factor, summand) in self.rounds {
                at = at.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                at ^= at >> self.fold;
            }
            if at < self.count {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::steps::Writing;
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    const COUNT: usize = 1000;
    const OPERATIONS: usize = 100_000;

    fn plan(steps: &[(usize, usize)]) -> Plan {
        let step = |(blocks, align): &(usize, usize)| Step {
            share: 100 / steps.len() as u64,
            blocks: *blocks,
            align: *align,
            reads: 100,
            random: 100,
        };
        let steps = steps.iter().map(step).collect::<Arc<[Step]>>();
        Plan { steps, sync_every: 0, writing: Writing::Over }
    }

    /// How often each block is the first of an operation.
    fn drawn(locality: Locality, plan: &Plan, seed: u64) -> Vec<f64> {
        let (places, mut chance) = (Places::new(locality, plan, COUNT, seed), Chance(seed));
        let mut times = vec![0.0; COUNT];
        for at in 0..OPERATIONS {
            let step = plan.steps[at % plan.steps.len()];
            let place = places.pick(step, &mut chance, |_| true);
            assert!(place.is_multiple_of(step.align) && place + step.blocks <= COUNT);
            times[place] += 1.0;
        }
        times
    }

    /// Chi-square over its degrees of freedom, of cells with 10 operations or more each.
    fn unlike(times: &[f64], law: impl Fn(usize) -> f64) -> f64 {
        let cells = times.iter().enumerate().map(|(at, times)| (times, law(at)));
        let (mut squares, mut rest, mut count) = (0.0, (0.0, 0.0), 0.0);
        for (times, law) in cells {
            rest = (rest.0 + times, rest.1 + law);
            if rest.1 >= 10.0 {
                squares += (rest.0 - rest.1).powi(2) / rest.1;
                (rest, count) = ((0.0, 0.0), count + 1.0);
            }
        }
        squares / count
    }

    #[test]
    fn operations_have_the_shares_of_zipfs_law() {
        for skew in [50, 100, 120, 300] {
            let exponent = skew as f64 / 100.0;
            let all: f64 = (1..=COUNT).map(|rank| (rank as f64).powf(-exponent)).sum();
            let law = |at: usize| OPERATIONS as f64 * (at as f64 + 1.0).powf(-exponent) / all;
            let plan = plan(&[(1, 1)]);
            let times = drawn(Locality::Zipf { skew }, &plan, 7);
            let scatter = Ranks::new(skew, &plan, COUNT, 7).unwrap().scatter;
            let ranked: Vec<f64> =
                (0..COUNT as u64).map(|rank| times[scatter.place(rank) as usize]).collect();
            let chi = unlike(&ranked, law);
            assert!((0.6..1.6).contains(&chi), "{skew}: {chi}");
            assert!(unlike(&times, law) > 10.0, "ranks are scattered");
            let other = drawn(Locality::Zipf { skew }, &plan, 8);
            assert!(times != other && times == drawn(Locality::Zipf { skew }, &plan, 7));
        }
    }

    #[test]
    fn hot_places_have_their_share_and_each_is_as_likely_as_another() {
        for (share, places) in [(90, 10), (50, 50), (1, 99), (99, 1)] {
            let times = drawn(Locality::Hot { share, places }, &plan(&[(1, 1)]), 7);
            let hot = first_of(COUNT, places);
            let law = |at: usize| match at < hot {
                true => OPERATIONS as f64 * share as f64 / 100.0 / hot as f64,
                false => OPERATIONS as f64 * (100 - share) as f64 / 100.0 / (COUNT - hot) as f64,
            };
            let chi = unlike(&times, law);
            assert!((0.6..1.6).contains(&chi), "{share} {places}: {chi}");
        }
        let even = drawn(Locality::Uniform, &plan(&[(1, 1)]), 7);
        let chi = unlike(&even, |_| OPERATIONS as f64 / COUNT as f64);
        assert!((0.8..1.2).contains(&chi), "{chi}");
    }

    #[test]
    fn places_of_many_sizes_are_aligned_and_within_the_part() {
        let mixed = plan(&[(1, 1), (8, 1), (4, 4), (16, 8), (3, 2)]);
        let hot = Locality::Hot { share: 80, places: 20 };
        for locality in [Locality::Uniform, Locality::Zipf { skew: 120 }, hot] {
            let times = drawn(locality, &mixed, 7);
            let at_hot: f64 = times[..200].iter().sum::<f64>() / OPERATIONS as f64;
            assert_eq!((0.79..0.81).contains(&at_hot), locality == hot, "{locality:?}: {at_hot}");
        }
        // The law is that of places, of which each size has fewer than blocks.
        let wide = drawn(Locality::Zipf { skew: 120 }, &plan(&[(8, 8)]), 7);
        let all: f64 = (1..=COUNT / 8).map(|rank| (rank as f64).powf(-1.2)).sum();
        let most = wide.iter().fold(0.0, |most: f64, times| most.max(*times));
        assert!((most / OPERATIONS as f64 * all - 1.0).abs() < 0.03, "{most}");
    }

    #[test]
    fn what_is_under_way_is_not_taken_however_likely_it_is() {
        // Nearly all operations are of the first rank.
        let plan = plan(&[(1, 1)]);
        let places = Places::new(Locality::Zipf { skew: 400 }, &plan, COUNT, 7);
        let (mut chance, mut under_way) = (Chance(7), BTreeSet::new());
        for _ in 0..COUNT {
            let place = places.pick(plan.steps[0], &mut chance, |at| !under_way.contains(&at));
            assert!(under_way.insert(place));
        }
    }

    #[test]
    fn ranks_are_permuted_and_those_side_by_side_are_not_neighbours() {
        for count in (1..130).chain([1000, 4096, 4097]) {
            for seed in 0..4 {
                let scatter = Scatter::new(count, seed);
                let all: BTreeSet<u64> = (0..count).map(|rank| scatter.place(rank)).collect();
                assert_eq!((all.len() as u64, all.last()), (count, Some(&(count - 1))));
            }
        }
        for seed in 0..50 {
            let scatter = Scatter::new(1 << 20, seed);
            let hot: BTreeSet<u64> = (0..1000).map(|rank| scatter.place(rank)).collect();
            let beside = hot.iter().filter(|place| hot.contains(&(**place + 1))).count();
            // By chance one.
            assert!(beside < 12, "{seed}: {beside} of 1000 lie side by side");
            let first = hot.iter().filter(|place| **place < 1 << 19).count();
            assert!((350..650).contains(&first), "{seed}: {first} in the first half");
        }
    }
}
