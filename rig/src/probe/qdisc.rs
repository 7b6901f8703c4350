//! Knows the queueing discipline on each end of a link: the rate of a token bucket as the kernel
//! tells it, and what each one let pass, dropped and held back between staging and the end.
//!
//! The hosts ask by netlink in their own network namespaces. That takes milliseconds, so it is done
//! before go and after the stop and never in the window, as with carriers: the rate is the same in
//! between, and counts are of all of it. What waits is told as it is at the stop, when senders have
//! just filled it. An end without a queue gives no reading. An end of the switch towards another
//! member than the first is named `switch.MEMBER`. Must not know who set it, nor what rate was
//! wanted.

use super::reading;
use crate::lab::link::Shaper;
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{EndRole, Lab, LabError};
use desk::record::Reading;
use desk::unit::Unit;

/// Kind of the token bucket, the only one whose rate is read.
const TBF: &str = "tbf";
/// Kind of an end that hands each frame on at once.
const NO_QUEUE: &str = "noqueue";

/// The disciplines of a link at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapers {
    /// Name of the end, and the discipline.
    ends: Vec<(String, Shaper)>,
}

impl Shapers {
    /// Reads the adapters of all members, named as these, the port towards the first, named as the
    /// switch, and those towards the others; nothing where there are no links.
    ///
    /// # Errors
    /// When a host is gone or does not answer.
    pub fn read(lab: &mut Lab, link: &str) -> Result<Self, LabError> {
        let ends: Vec<_> =
            lab.ends(link).into_iter().filter(|end| end.role != EndRole::Bridge).collect();
        let ask = |name: &String| vec![LinkRequest::Shaper(name.clone())];
        let work = ends.iter().map(|end| (end.host, ask(&end.name))).collect();
        let mut read = Self::default();
        // The port of the switch stands after the adapter that it leads to.
        let mut leads_to = String::new();
        for (end, answers) in ends.iter().zip(lab.ask_links(work)?) {
            let host = lab.name(end.host).to_owned();
            let name = match end.role {
                EndRole::Port if !end.narrow => format!("{host}.{leads_to}"),
                EndRole::Adapter if lab.is_switch(end.host) => format!("{host}.{}", end.name),
                _ => host,
            };
            if end.role == EndRole::Adapter {
                leads_to.clone_from(&name);
            }
            for answer in answers {
                let LinkAnswer::Shaper(Some(shaper)) = answer else { continue };
                if shaper.kind != NO_QUEUE {
                    read.ends.push((name.clone(), shaper));
                }
            }
        }
        Ok(read)
    }

    /// The disciplines as they are now, with what they counted since `before`. One that was not
    /// there, or was of another kind, counts from its beginning. Keys of any but a token bucket end
    /// in its kind, as in `drops.htb`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates stay below 2^53 bit/s")]
    pub fn since(&self, before: &Self) -> Vec<Reading> {
        let mut rows = Vec::new();
        for (host, now) in &self.ends {
            let same = |(h, then): &&(String, Shaper)| h == host && then.kind == now.kind;
            let then = before.ends.iter().find(same).map(|(_, shaper)| shaper);
            let gained =
                |of: fn(&Shaper) -> u32| f64::from(of(now).wrapping_sub(then.map_or(0, of)));
            let key = |word: &str| match now.kind.as_str() {
                TBF => word.to_owned(),
                kind => format!("{word}.{kind}"),
            };
            let mut row = |word: &str, value, unit| {
                rows.push(reading("qdisc", host, &key(word), value, unit))
            };
            if let Some(tbf) = &now.tbf {
                row("rate", tbf.rate_bits_per_s as f64, Unit::BitPerSecond);
            }
            row("packets", gained(|s| s.packets), Unit::Count);
            row("drops", gained(|s| s.drops), Unit::Count);
            row("overlimits", gained(|s| s.overlimits), Unit::Count);
            row("backlog", f64::from(now.backlog_bytes), Unit::Byte);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::link::Tbf;

    fn shapers(ends: &[(&str, &str, u32)]) -> Shapers {
        let tbf = Tbf { rate_bits_per_s: 1_000_000_000, burst_bytes: 9000, limit_bytes: 90_000 };
        let end = |(host, kind, count): &(&str, &str, u32)| {
            let (drops, overlimits) = (*count, count.wrapping_mul(10));
            let (kind, packets) = ((*kind).to_owned(), count.wrapping_mul(100));
            let tbf = (kind == TBF).then_some(tbf);
            let shaper = Shaper { kind, tbf, packets, backlog_bytes: 7, drops, overlimits };
            ((*host).to_owned(), shaper)
        };
        Shapers { ends: ends.iter().map(end).collect() }
    }

    #[test]
    fn each_end_tells_its_rate_and_what_it_counted_since() {
        let before =
            shapers(&[("sut", TBF, u32::MAX), ("c01", "htb", 5), ("switch.c01", "pfifo", 9)]);
        let now = [("sut", TBF, 1), ("c01", "htb", 8), ("switch.c01", TBF, 3)];
        let rows = shapers(&now).since(&before);
        let told: Vec<(&str, &str, f64)> =
            rows.iter().map(|r| (r.host.name(), r.key.as_str(), r.quantity.value)).collect();
        assert_eq!(
            told,
            [
                ("sut", "rate", 1e9),
                ("sut", "packets", 200.0),
                ("sut", "drops", 2.0),
                ("sut", "overlimits", 20.0),
                ("sut", "backlog", 7.0),
                ("c01", "packets.htb", 300.0),
                ("c01", "drops.htb", 3.0),
                ("c01", "overlimits.htb", 30.0),
                ("c01", "backlog.htb", 7.0),
                ("switch.c01", "rate", 1e9),
                ("switch.c01", "packets", 300.0),
                ("switch.c01", "drops", 3.0),
                ("switch.c01", "overlimits", 30.0),
                ("switch.c01", "backlog", 7.0),
            ]
        );
    }
}
