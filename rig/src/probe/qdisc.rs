//! Knows the token bucket on each end of a link: its rate as the kernel tells it, and what it held
//! back between staging and the end.
//!
//! The hosts ask by netlink in their own network namespaces. That takes milliseconds, so it is done
//! before go and after the stop and never in the window, as with carriers: the rate is the same in
//! between, and counts are of all of it. What waits is told as it is at the stop, when senders have
//! just filled it. An end without a token bucket gives no reading. Must not know who set it, nor
//! what rate was wanted.

use super::reading;
use crate::lab::link::Shaper;
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{EndRole, Lab, LabError};
use desk::record::Reading;
use desk::unit::Unit;

/// The token buckets of a link at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapers {
    /// Whose link it shapes, and the bucket.
    ends: Vec<(String, Shaper)>,
}

impl Shapers {
    /// Reads the adapters of all hosts, named as these, and the port towards the system under test,
    /// named as the switch; nothing where there are no links.
    ///
    /// # Errors
    /// When a host is gone or does not answer.
    pub fn read(lab: &mut Lab, link: &str) -> Result<Self, LabError> {
        let wanted = |role| matches!(role, EndRole::Adapter | EndRole::PortToSut);
        let ends: Vec<_> = lab.ends(link).into_iter().filter(|end| wanted(end.role)).collect();
        let ask = |name: &String| vec![LinkRequest::Shaper(name.clone())];
        let work = ends.iter().map(|end| (end.host, ask(&end.name))).collect();
        let mut read = Self::default();
        for (end, answers) in ends.iter().zip(lab.ask_links(work)?) {
            for answer in answers {
                let LinkAnswer::Shaper(Some(shaper)) = answer else { continue };
                read.ends.push((lab.name(end.host).to_owned(), shaper));
            }
        }
        Ok(read)
    }

    /// The buckets as they are now, with what they counted since `before`. One that was not there
    /// counts from its beginning.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates stay below 2^53 bit/s")]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let mut rows = Vec::new();
        for (host, now) in &self.ends {
            let then = before.ends.iter().find(|(h, _)| h == host).map(|(_, shaper)| shaper);
            let gained =
                |of: fn(&Shaper) -> u32| f64::from(of(now).wrapping_sub(then.map_or(0, of)));
            let rate = now.tbf.rate_bits_per_s as f64;
            let backlog = f64::from(now.backlog_bytes);
            rows.push(reading("qdisc", host, "rate", rate, Unit::BitPerSecond));
            rows.push(reading("qdisc", host, "drops", gained(|s| s.drops), Unit::Count));
            rows.push(reading("qdisc", host, "overlimits", gained(|s| s.overlimits), Unit::Count));
            rows.push(reading("qdisc", host, "backlog", backlog, Unit::Byte));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::link::Tbf;

    fn shapers(ends: &[(&str, u32)]) -> Shapers {
        let tbf = Tbf { rate_bits_per_s: 1_000_000_000, burst_bytes: 9000, limit_bytes: 90_000 };
        let end = |(host, count): &(&str, u32)| {
            let (drops, overlimits) = (*count, count.wrapping_mul(10));
            ((*host).to_owned(), Shaper { tbf, backlog_bytes: 7, drops, overlimits })
        };
        Shapers { ends: ends.iter().map(end).collect() }
    }

    #[test]
    fn each_end_tells_its_rate_and_what_it_counted_since() {
        let before = shapers(&[("sut", u32::MAX), ("c01", 5)]);
        let rows = shapers(&[("sut", 1), ("switch", 3)]).since(&before);
        let told: Vec<(&str, &str, f64)> =
            rows.iter().map(|r| (r.host.as_str(), r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(
            told,
            [
                ("sut", "rate", 1e9),
                ("sut", "drops", 2.0),
                ("sut", "overlimits", 20.0),
                ("sut", "backlog", 7.0),
                ("switch", "rate", 1e9),
                ("switch", "drops", 3.0),
                ("switch", "overlimits", 30.0),
                ("switch", "backlog", 7.0),
            ]
        );
    }
}
