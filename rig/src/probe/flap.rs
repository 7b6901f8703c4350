//! Knows how often the carrier of each end of a link came or went between staging and the end.
//!
//! The kernel counts the changes (`IFLA_CARRIER_CHANGES`); the hosts read them in their own network
//! namespaces. That takes milliseconds, so it is done before go and after the stop and never in the
//! window: a flap just beside the window is counted with it, for its rate was not that of the link
//! either. Must not know what a flap means.

use super::reading;
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{Lab, LabError, LinkEnd, by_host};
use desk::record::Reading;
use desk::unit::Unit;

/// Changes of carrier so far, of every end of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carriers {
    /// Host, interface, changes.
    ends: Vec<(String, String, u32)>,
}

impl Carriers {
    /// Reads every end of a link; nothing where there are no links.
    ///
    /// # Errors
    /// When a host is gone or does not answer.
    pub fn read(lab: &mut Lab, link: &str) -> Result<Self, LabError> {
        let ask = |end: LinkEnd| (end.host, vec![LinkRequest::Info(end.name)]);
        let work = by_host(lab.ends(link).into_iter().map(ask));
        let hosts: Vec<usize> = work.iter().map(|(host, _)| *host).collect();
        let mut read = Self::default();
        for (host, answers) in hosts.into_iter().zip(lab.ask_links(work)?) {
            for answer in answers {
                let LinkAnswer::Info(info) = answer else { continue };
                read.ends.push((lab.name(host).to_owned(), info.name, info.carrier_changes));
            }
        }
        Ok(read)
    }

    /// What changed since `before`: a count an end, named by host and interface. An end that is not
    /// in both gives no reading.
    #[must_use]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let row = |(host, name, now): &(String, String, u32)| {
            let then = before.ends.iter().find(|(h, n, _)| h == host && n == name)?;
            let changes = f64::from(now.wrapping_sub(then.2));
            Some(reading("flap", host, name, changes, Unit::Count))
        };
        self.ends.iter().filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carriers(ends: &[(&str, &str, u32)]) -> Carriers {
        let end = |(host, name, count): &(&str, &str, u32)| {
            ((*host).to_owned(), (*name).to_owned(), *count)
        };
        Carriers { ends: ends.iter().map(end).collect() }
    }

    #[test]
    fn each_end_tells_its_own_changes() {
        let before = carriers(&[("sut", "lan", 2), ("c01", "lan", u32::MAX), ("c02", "lan", 5)]);
        let after = carriers(&[("sut", "lan", 4), ("c01", "lan", 0), ("c03", "lan", 9)]);
        let rows = after.since(&before);
        let told: Vec<(&str, &str, f64)> =
            rows.iter().map(|r| (r.host.name(), r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(told, [("sut", "lan", 2.0), ("c01", "lan", 1.0)]);
    }
}
