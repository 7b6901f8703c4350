//! Knows the mean and the spread of a sample; knows nothing of intervals or tests.

/// Mean and spread of at least two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values, 2 or more.
    pub n: u32,
    /// Arithmetic mean, in the unit of the values.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1), in the unit of the values.
    pub sd: f64,
}

impl Summary {
    /// Summarises a sample, in two passes so that a small spread on a large mean survives.
    ///
    /// None for fewer than two values: one value has no spread.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = u32::try_from(values.len()).ok().filter(|n| *n >= 2)?;
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Some(Self { n, mean, sd: (squares / f64::from(n - 1)).sqrt() })
    }

    /// Standard error of the mean, sd / √n, in the unit of the values.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.sd / f64::from(self.n).sqrt()
    }

    /// Degrees of freedom of the spread, n - 1.
    #[must_use]
    pub fn freedom(&self) -> f64 {
        f64::from(self.n - 1)
    }
}
/// The middle value; of an even number the mean of the middle two; none of none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 { upper } else { f64::midpoint(sorted[half - 1], upper) })
}
