//! Knows the distribution of a quantity over the operations of a trial: an HdrHistogram as stored.
//!
//! Never: which quantile matters.

use crate::unit::Unit;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;
use thiserror::Error;

/// Significant decimal digits that a histogram keeps: values within 0.1 % are one.
pub const DIGITS: u8 = 3;
/// Largest count of steps that a histogram can hold: more than an hour in nanoseconds.
pub const MOST: u64 = 1 << 42;
/// Bytes of the header of the form V2, what it begins with, and where it has the length of its
/// counts, its digits, its smallest and its largest value (HdrHistogram, `V2 encoding`).
const HEADER: usize = 40;
const COOKIE: u64 = 0x1c84_9313;
const COOKIE_AT: Range<usize> = 0..4;
const LENGTH_AT: Range<usize> = 4..8;
const DIGITS_AT: Range<usize> = 12..16;
const LEAST_AT: Range<usize> = 16..24;
const MOST_AT: Range<usize> = 24..32;
/// A count that no histogram has, and at which the crate's reader overflows.
const OVERFLOWS: [u8; 9] = [0xff; 9];

/// Why a stored distribution cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DistributionError {
    /// Its text is not base64.
    #[error("a distribution is not base64; take the record from its store again")]
    NotBase64,
    /// Its bytes are no histogram of stend.
    #[error(
        "a distribution is no HdrHistogram V2 of 3 digits; take the record from its store again"
    )]
    NotHistogram,
    /// Two of different steps or units were to be merged.
    #[error("distributions of different units or steps cannot be merged; compare them apart")]
    Unlike,
}

/// The distribution of one quantity over the operations of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Its name in the workload's spec, for instance `response`.
    pub name: String,
    /// Unit of its values.
    pub unit: Unit,
    /// What one step of the histogram is, in this unit: 1e-9 where nanoseconds were counted.
    pub step: f64,
    /// How many values it holds.
    pub count: u64,
    /// The histogram: HdrHistogram V2, uncompressed, in base64.
    pub histogram: String,
    /// What was read of it.
    #[serde(skip)]
    found: Found,
}

/// Each value of a histogram with how many are at most that, rising; read once.
#[derive(Clone, Debug, Default)]
struct Found(OnceLock<Option<Vec<(u64, u64)>>>);

impl PartialEq for Found {
    /// It follows from the histogram.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Distribution {
    /// The same under another name.
    #[must_use]
    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: name.into(), ..self.clone() }
    }

    /// As a record keeps it; none of a histogram that could not be written.
    #[must_use]
    pub fn new(name: &str, (unit, step): (Unit, f64), histogram: &Histogram<u64>) -> Option<Self> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).ok()?;
        let (name, count) = (name.into(), histogram.len());
        let (histogram, found) = (STANDARD.encode(bytes), Found::default());
        Some(Self { name, unit, step, count, histogram, found })
    }

    /// An empty histogram such as a distribution is made of.
    #[must_use]
    pub fn empty() -> Option<Histogram<u64>> {
        Histogram::new_with_max(MOST, DIGITS).ok()
    }

    /// Its histogram.
    ///
    /// # Errors
    /// What is no histogram of stend, before memory is taken for it.
    pub fn read(&self) -> Result<Histogram<u64>, DistributionError> {
        let bytes = STANDARD.decode(&self.histogram).map_err(|_| DistributionError::NotBase64)?;
        if !(is_ours(&bytes) && self.step.is_finite() && self.step > 0.0) {
            return Err(DistributionError::NotHistogram);
        }
        let read = Deserializer::new().deserialize(&mut bytes.as_slice());
        let histogram: Histogram<u64> = read.map_err(|_| DistributionError::NotHistogram)?;
        let counted = histogram.len() == self.count;
        counted.then_some(histogram).ok_or(DistributionError::NotHistogram)
    }

    /// The value in its unit at or below which a share of all values lies, above 0, as
    /// [`Histogram::value_at_quantile`] has it; none where it is empty or cannot be read.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts and values stay far below 2^53")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 or more")]
    pub fn quantile(&self, at: f64) -> Option<f64> {
        let found = self.found.0.get_or_init(|| Some(rising(&self.read().ok()?))).as_ref()?;
        let place = (at.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let place = place.min(self.count);
        let (value, _) = found.get(found.partition_point(|(_, below)| *below < place))?;
        Some(*value as f64 * self.step)
    }

    /// All values of these distributions as one; none of none.
    ///
    /// # Errors
    /// Where one cannot be read, or they count different things.
    pub fn merged<'d>(
        all: impl IntoIterator<Item = &'d Self>,
    ) -> Result<Option<Histogram<u64>>, DistributionError> {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return Ok(None) };
        let mut sum = first.read()?;
        for other in all {
            if other.unit != first.unit || other.step.to_bits() != first.step.to_bits() {
                return Err(DistributionError::Unlike);
            }
            sum.add(other.read()?).map_err(|_| DistributionError::Unlike)?;
        }
        Ok(Some(sum))
    }
}

fn rising(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut below = 0_u64;
    let each = histogram.iter_recorded().map(|step| {
        below = step.count_at_value().saturating_add(below);
        (histogram.highest_equivalent(step.value_iterated_to()), below)
    });
    each.collect()
}

/// Whether the header is that of a histogram of stend, with all its counts behind it.
fn is_ours(bytes: &[u8]) -> bool {
    let (Some(header), Some(counts)) = (bytes.get(..HEADER), bytes.get(HEADER..)) else {
        return false;
    };
    let number = |at: Range<usize>| {
        header[at].iter().fold(0_u64, |so_far, byte| so_far << 8 | u64::from(*byte))
    };
    number(COOKIE_AT) == COOKIE
        && number(LENGTH_AT) == counts.len() as u64
        && number(DIGITS_AT) == u64::from(DIGITS)
        && number(LEAST_AT) == 1
        && number(MOST_AT) == MOST
        && !counts.windows(OVERFLOWS.len()).any(|nine| nine == OVERFLOWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIME: (Unit, f64) = (Unit::Second, 1e-9);

    fn of(values: &[u64]) -> Distribution {
        let mut histogram = Distribution::empty().unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        Distribution::new("response", TIME, &histogram).unwrap()
    }

    proptest! {
        /// Percentiles of merged trials are those of all their values, within the resolution.
        #[test]
        fn merged_percentiles_are_those_of_all_values(
            trials in prop::collection::vec(prop::collection::vec(1..MOST / 2, 1..40), 1..6),
        ) {
            let stored: Vec<Distribution> = trials.iter().map(|trial| of(trial)).collect();
            let merged = Distribution::merged(&stored).unwrap().unwrap();
            let mut all: Vec<u64> = trials.concat();
            all.sort_unstable();
            prop_assert_eq!(merged.len(), all.len() as u64);
            for share in [0.5, 0.9, 0.99, 0.999] {
                let place = (share * all.len() as f64).ceil() as usize;
                let exact = all[place.clamp(1, all.len()) - 1] as f64;
                let found = merged.value_at_quantile(share) as f64;
                prop_assert!((found / exact - 1.0).abs() <= 1e-3, "{share}: {found} and {exact}");
            }
            for (one, values) in stored.iter().zip(&trials) {
                let read = one.read().unwrap();
                for share in [0.07, 0.5, 0.99, 1.0] {
                    let wanted = read.value_at_quantile(share) as f64 * TIME.1;
                    prop_assert_eq!(one.quantile(share), Some(wanted), "{} of {:?}", share, values);
                }
            }
        }

        /// Neither a panic nor more memory than a histogram of stend takes.
        #[test]
        fn a_damaged_histogram_is_refused_or_is_another_one(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let one = of(&[1_000, 2_000_000, 3_000_000_000]);
            let mut bytes = STANDARD.decode(&one.histogram).unwrap();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let strange = |bytes: &[u8]| Distribution {
                histogram: STANDARD.encode(bytes),
                ..one.clone()
            };
            if let Ok(read) = strange(&bytes).read() {
                prop_assert_eq!((read.len(), read.high()), (one.count, MOST));
            }
            prop_assert!(strange(&bytes[..cut.index(bytes.len())]).read().is_err());
        }
    }

    /// 1 us three times and 1.501 us twice, written by another program; fuzzing begins with it.
    #[test]
    fn what_others_write_is_read() {
        let text = include_str!("../../../fuzz/seeds/distribution/five.json");
        let one: Distribution = serde_json::from_str(text).unwrap();
        assert_eq!(
            [0.6, 0.61].map(|at| one.quantile(at)),
            [1000.0, 1501.0].map(|ns| Some(ns * 1e-9))
        );
    }

    #[test]
    fn what_is_stored_comes_back_and_unlike_ones_are_not_merged() {
        let one = of(&[1_000, 2_000_000, 3_000_000_000]);
        assert_eq!(one.count, 3);
        let back = one.read().unwrap();
        assert_eq!(Distribution::new("response", TIME, &back).unwrap(), one);
        let wide = Distribution { step: 1e-6, ..one.clone() };
        assert_eq!(Distribution::merged([&one, &wide]), Err(DistributionError::Unlike));
        assert_eq!(Distribution::merged([]), Ok(None));
        let text = Distribution { histogram: "?".into(), ..one.clone() };
        assert_eq!(text.read(), Err(DistributionError::NotBase64));
        // A header that asks for more than a histogram of stend has, and counts that overflow.
        let bytes = STANDARD.decode(&one.histogram).unwrap();
        for at in [COOKIE_AT, LENGTH_AT, DIGITS_AT, LEAST_AT, MOST_AT] {
            let mut large = bytes.clone();
            large[at.start] = 0x7f;
            let large = Distribution { histogram: STANDARD.encode(large), ..one.clone() };
            assert_eq!(large.read(), Err(DistributionError::NotHistogram), "{at:?}");
        }
        let mut endless = bytes;
        endless.extend(OVERFLOWS);
        endless[LENGTH_AT.end - 1] += 9;
        let endless = Distribution { histogram: STANDARD.encode(endless), ..one.clone() };
        assert_eq!(endless.read(), Err(DistributionError::NotHistogram));
        let false_count = Distribution { count: 4, ..one };
        assert_eq!(false_count.read(), Err(DistributionError::NotHistogram));
        let unread = Distribution { found: Found::default(), ..false_count };
        assert_eq!((unread.quantile(0.5), of(&[]).quantile(0.5)), (None, None));
    }
}
