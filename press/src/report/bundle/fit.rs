//! Knows how a page that would be too large is made to fit, and that the article stays the same.

use super::{Bundle, PartBundle};
use crate::report::document::Document;
use crate::report::error::ReportError;
use crate::report::html::html;
use crate::report::text::text;
use desk::record::Run;
use std::borrow::Cow;

/// Largest page that is not made smaller, bytes: what a mail takes along.
pub const LARGEST: usize = 1_500_000;
/// Significant digits that readings are rounded to, until the page fits. No probe reads a share of
/// CPU time better than to a few parts in ten thousand.
const DIGITS: [u8; 3] = [7, 5, 4];

/// Columns of the texts that are compared; drawings in them are no finer than this.
const WIDE: u16 = 200;

/// The page of an article with the bundle that it was made from.
///
/// A page over [`LARGEST`] carries readings of probes rounded to few digits instead, and says so;
/// but never if that would change a word of the article. Samples are always as measured. A page
/// that stays too large is given all the same: see [`over`].
///
/// # Errors
/// Missing words, or a record that cannot be written.
pub fn page(document: &Document, bundle: &Bundle<'_>) -> Result<String, ReportError> {
    let mut page = html(document, bundle)?;
    for digits in DIGITS {
        if page.len() <= LARGEST {
            break;
        }
        let rounded = bundle.rounded(digits);
        // Made again from what it carries, as whoever imports it will; drawings move by less than
        // a pixel, words must not.
        let again = rounded.document()?;
        if text(&again, WIDE, true) != text(document, WIDE, true) {
            break;
        }
        page = html(&again, &rounded)?;
    }
    Ok(page)
}

/// What to tell whoever wrote a page that is over [`LARGEST`] all the same; none for one that fits.
#[must_use]
pub fn over(page: &str) -> Option<String> {
    let (size, most) = (mega(page.len()), mega(LARGEST));
    (page.len() > LARGEST).then(|| {
        format!(
            "report.html is {size} MB and mails may refuse it (above {most} MB); the records take \
             the room: plan fewer blocks or points, or send report.md and records.json"
        )
    })
}

/// Bytes in MB, to two digits.
fn mega(bytes: usize) -> String {
    format!("{}.{:02}", bytes / 1_000_000, bytes % 1_000_000 / 10_000)
}

impl Bundle<'_> {
    /// With all readings rounded, and a mark that they are.
    fn rounded(&self, digits: u8) -> Bundle<'static> {
        let parts = self.parts.iter();
        let parts = parts.map(|part| {
            let mut run: Run = part.run.clone().into_owned();
            let digits = run.digits.map_or(digits, |before| before.min(digits));
            for reading in run.records.iter_mut().flat_map(|record| &mut record.readings) {
                reading.quantity.value = round(reading.quantity.value, digits);
            }
            run.digits = Some(digits);
            PartBundle { role: part.role, run: Cow::Owned(run) }
        });
        let (compare, gate) = (self.compare.clone(), self.gate.clone());
        Bundle { format: self.format, parts: parts.collect(), compare, gate }
    }
}

/// A number with so many significant decimal digits, the nearest double to it.
fn round(value: f64, digits: u8) -> f64 {
    let after = usize::from(digits.saturating_sub(1));
    format!("{value:.after$e}").parse().unwrap_or(value)
}
