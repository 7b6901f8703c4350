//! Knows what there is to ask a server for: one page or many, the size, content and popularity of
//! each.
//!
//! Must not know which server has them, nor how they are asked for.

use super::list::List;
use super::spec::{PAGES, POPULARITY, SIZES, URLS};
use crate::engine::exchange::Order;
use crate::engine::net::content::PERIOD;
use desk::record::Value;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rig::metal::digest;

/// Most pages: the content of each begins at another byte of the period.
pub const PAGES_MAX: u64 = PERIOD as u64;
/// Most bytes of all pages, which a run directory holds in memory beside the service.
const ALL_MAX: u64 = 256 << 20;
/// Odd, so that the content of any two pages begins at different bytes (2^32 over the golden
/// ratio).
const STRIDE: u64 = 2_654_435_769;

/// Pages of a directory of SPECweb96 ("The Workload for the SPECweb96 Benchmark", tables 1 and 2):
/// four classes of nine sizes.
const CLASS: usize = 9;
pub const DIRECTORY: u64 = 36;
/// Size of the k-th page of a class as a multiple of k, bytes, and the share of its requests.
const CLASSES: [(f64, f64); 4] =
    [(102.4, 0.35), (1024.0, 0.50), (10_240.0, 0.14), (102_400.0, 0.01)];
/// Mean of the Poisson distribution by which requests choose among the sizes of a class.
const MIDDLE: f64 = 5.0;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Bytes of its body; 0 where they are unknown.
    pub length: u64,
    /// Where in the content of the trial its body begins.
    pub from: u64,
}

/// All pages of a trial.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pages: Vec<Page>,
    /// For each page the share of requests that ask for it or one before it.
    upto: Vec<f64>,
    /// Their paths and the order of requests, where they come from a list.
    list: Option<List>,
}

impl Catalogue {
    /// That of a trial.
    ///
    /// # Errors
    /// Numbers of pages that cannot be, with the remedy.
    pub fn of(order: &Order) -> Result<Self, String> {
        let param = |name: &str| order.params.get(name);
        let word = |name: &str| param(name).and_then(Value::word).unwrap_or_default();
        if let Some(file) = param(URLS.name).and_then(Value::word).filter(|file| *file != "none") {
            return List::read(file).map(Self::listed);
        }
        let count = param(PAGES.name).and_then(Value::count).unwrap_or(1);
        let is_zipf = word(POPULARITY.name) == "zipf";
        // Zipf's law with the exponent 1; the first is the most popular.
        #[expect(clippy::cast_precision_loss, reason = "at most 4096")]
        let rank = |rank: u64| if is_zipf { 1.0 / (rank + 1) as f64 } else { 1.0 };
        let drawn: Vec<(u64, f64)> = match word(SIZES.name) {
            "specweb96" if !count.is_multiple_of(DIRECTORY) => {
                let (pages, sizes) = (PAGES.name, SIZES.name);
                let near = count.next_multiple_of(DIRECTORY).min(PAGES_MAX / DIRECTORY * DIRECTORY);
                return Err(format!(
                    "{pages} = {count}, and {sizes} = specweb96 has directories of {DIRECTORY}; \
                     write {near}"
                ));
            }
            "specweb96" => (0..count / DIRECTORY)
                .flat_map(|at| directory().map(move |(length, share)| (length, share * rank(at))))
                .collect(),
            _ => (0..count).map(|at| (order.response as u64, rank(at))).collect(),
        };
        let all: u64 = drawn.iter().map(|(length, _)| length).sum();
        if count > 1 && all > ALL_MAX {
            let (most, pages, mib) = (ALL_MAX >> 20, PAGES.name, all >> 20);
            let fit = ALL_MAX / (all / count);
            return Err(format!(
                "{pages} = {count} are {mib} MiB, and {most} MiB fit; write at most {fit}"
            ));
        }
        let weight: f64 = drawn.iter().map(|(_, share)| share).sum();
        let upto = drawn.iter().scan(0.0, |sum, (_, share)| {
            *sum += share / weight;
            Some(*sum)
        });
        let page = |(at, (length, _)): (usize, &(u64, f64))| {
            let from = (at as u64).wrapping_mul(STRIDE) % PERIOD as u64;
            Page { length: *length, from }
        };
        let (upto, pages) = (upto.collect(), drawn.iter().enumerate().map(page).collect());
        Ok(Self { pages, upto, list: None })
    }

    /// Pages of these paths, of which nothing else is known.
    fn listed(list: List) -> Self {
        let pages = vec![Page { length: 0, from: 0 }; list.paths.len()];
        Self { pages, upto: Vec::new(), list: Some(list) }
    }

    /// Whether pages come from a list of paths.
    pub const fn is_listed(&self) -> bool {
        self.list.is_some()
    }

    /// Continues a digest over the paths and the order of a list.
    pub fn digest(&self, sum: u64) -> u64 {
        let list = self.list.iter();
        list.fold(sum, |sum, list| {
            let sum = list.paths.iter().fold(sum, |sum, path| digest(sum, path.as_bytes()));
            list.order.iter().fold(sum, |sum, place| digest(sum, &place.to_le_bytes()))
        })
    }

    /// The path of a page that has a name.
    #[inline]
    pub fn path(&self, number: u32) -> Option<&str> {
        self.list.as_ref().map(|list| list.paths[number as usize].as_str())
    }

    /// All pages, in the order of their numbers.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// A page by its number.
    #[inline]
    pub fn page(&self, number: u32) -> Page {
        self.pages[number as usize]
    }
}

/// Size and share of requests of each page of a directory.
fn directory() -> impl Iterator<Item = (u64, f64)> {
    let mut poisson = [0.0; CLASS];
    let mut term = 1.0;
    for (k, share) in (1_u32..).zip(&mut poisson) {
        term *= MIDDLE / f64::from(k);
        *share = term;
    }
    let all: f64 = poisson.iter().sum();
    CLASSES.into_iter().flat_map(move |(bytes, of_class)| {
        (1_u32..).zip(poisson).map(move |(k, share)| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
            let length = (f64::from(k) * bytes).floor() as u64;
            (length, of_class * share / all)
        })
    })
}

/// Which page is asked for next: by chance, or in the order of a list.
#[derive(Debug)]
pub struct Draws {
    chance: ChaCha8Rng,
    turn: usize,
}

impl Draws {
    /// Those of a thread of a trial; each begins anywhere in a list.
    pub fn of(all: &Catalogue, seed: u64, thread: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed ^ (thread + 1).wrapping_mul(STRIDE));
        let length = all.list.as_ref().map_or(1, |list| list.order.len());
        #[expect(clippy::cast_possible_truncation, reason = "below the length")]
        let turn = (chance.next_u64() % length as u64) as usize;
        Self { chance, turn }
    }

    /// The number of the next page.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "53 bits of chance")]
    pub fn next(&mut self, of: &Catalogue) -> u32 {
        if let Some(list) = &of.list {
            self.turn = (self.turn + 1) % list.order.len();
            return list.order[self.turn];
        }
        let unit = (self.chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let at = of.upto.partition_point(|upto| *upto <= unit).min(of.pages.len() - 1);
        u32::try_from(at).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::order;
    use super::*;
    use std::collections::BTreeSet;

    fn catalogue(pages: u64, sizes: &str, popularity: &str) -> Result<Catalogue, String> {
        let mut order = order(100);
        let word = |word: &str| Value::Word(word.into());
        order.params.insert(PAGES.name.into(), Value::Count(pages));
        order.params.insert(SIZES.name.into(), word(sizes));
        order.params.insert(POPULARITY.name.into(), word(popularity));
        Catalogue::of(&order)
    }

    #[test]
    fn every_page_has_content_of_its_own() {
        let all = catalogue(PAGES_MAX, "same", "uniform").unwrap();
        let begins: BTreeSet<u64> = all.pages.iter().map(|page| page.from).collect();
        assert_eq!((begins.len() as u64, all.pages[0].from), (PAGES_MAX, 0));
        assert!(all.pages.iter().all(|page| page.length == 100));
    }

    // By hand: of the sizes k of a class a share of 5^k / k! over the sum for k of 1 to 9, which is
    // 142.69: 0.175 at k = 5.
    #[test]
    fn a_directory_has_the_sizes_and_shares_of_specweb96() {
        let all = catalogue(72, "specweb96", "zipf").unwrap();
        let sizes = [0, 8, 9, 18, 27, 35].map(|at| all.pages[at].length);
        assert_eq!(sizes, [102, 921, 1024, 10_240, 102_400, 921_600]);
        let share = |at: usize| all.upto[at] - if at == 0 { 0.0 } else { all.upto[at - 1] };
        let classes = [0, 9, 18, 27].map(|at| (at..at + 9).map(share).sum::<f64>());
        for (share, right) in classes.into_iter().zip([0.35, 0.5, 0.14, 0.01]) {
            assert!((share * 1.5 - right).abs() < 1e-9, "{share} {right}: two thirds");
        }
        assert!((share(13) * 1.5 - 0.5 * (3125.0 / 120.0) / 142.69).abs() < 1e-4, "{}", share(13));
        assert!((share(13) / share(13 + 36) - 2.0).abs() < 1e-9, "Zipf over directories");
    }

    #[test]
    fn draws_follow_the_shares_and_the_seed() {
        let all = catalogue(100, "same", "zipf").unwrap();
        let draw = |thread| {
            let mut draws = Draws::of(&all, 7, thread);
            (0..20_000).map(|_| draws.next(&all)).collect::<Vec<u32>>()
        };
        let drawn = draw(0);
        assert_eq!(drawn, draw(0));
        assert_ne!(drawn, draw(1));
        let of = |number: u32| drawn.iter().filter(|n| **n == number).count() as f64 / 20_000.0;
        // By hand: the sum of 1 / r over 100 ranks is 5.187.
        assert!((of(0) - 1.0 / 5.187).abs() < 0.01, "{}", of(0));
        assert!((of(9) - 0.1 / 5.187).abs() < 0.004, "{}", of(9));
    }

    #[test]
    fn a_list_is_asked_for_in_its_order_from_another_place_in_each_thread() {
        let paths = ["/a", "/b", "/c"].map(str::to_owned).to_vec();
        let all = Catalogue::listed(List { paths, order: vec![0, 1, 2, 1] });
        let draw = |thread| {
            let mut draws = Draws::of(&all, 7, thread);
            (0..8).map(|_| all.path(draws.next(&all)).unwrap()).collect::<String>()
        };
        let drawn: Vec<String> = (0..8).map(draw).collect();
        let whole = "/a/b/c/b".repeat(3);
        assert!(drawn.iter().all(|one| whole.contains(one)), "{drawn:?}");
        assert!(drawn.iter().any(|one| *one != drawn[0]), "{drawn:?}");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let why = |pages, sizes: &str| catalogue(pages, sizes, "uniform").unwrap_err();
        assert!(why(40, "specweb96").ends_with("write 72"), "{}", why(40, "specweb96"));
        assert!(why(4096, "specweb96").ends_with("write 4068"));
        assert!(why(4068, "specweb96").contains("256 MiB fit; write at most 18"));
        assert!(catalogue(36, "specweb96", "uniform").is_ok());
    }
}
