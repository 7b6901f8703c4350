//! Knows where a ceiling is that was full: the end of a link, the CPUs, the host and its setting.
//!
//! Never: whether it was the limit.

use super::ceiling::{TOKEN_BUCKET, dropped, held, rates, taken};
use super::finding::{LimitKind, LimitPlace};
use super::measure::{by_host, reading};
use crate::record::{HostName, Run, TrialRecord};
use crate::stats::mean;
use crate::unit::{Quantity, Unit};
use crate::validity::FULL;
use std::collections::BTreeMap;

/// The place in most of these trials, of equals the first by name, with the mean over them of what
/// it allows; none where no reading tells.
pub(super) fn place(run: &Run, trials: &[&TrialRecord], kind: LimitKind) -> Option<LimitPlace> {
    let mut seen: BTreeMap<(String, String), Vec<Option<Quantity>>> = BTreeMap::new();
    for place in trials.iter().filter_map(|record| of(run, record, kind)) {
        seen.entry((place.at, place.what)).or_default().push(place.most);
    }
    let ((at, what), all) = seen.into_iter().rev().max_by_key(|(_, all)| all.len())?;
    let values: Vec<f64> = all.iter().flatten().map(|most| most.value).collect();
    let unit = all.iter().flatten().map(|most| most.unit).next();
    Some(LimitPlace { at, what, most: unit.map(|unit| Quantity::new(mean(&values), unit)) })
}

fn of(run: &Run, record: &TrialRecord, kind: LimitKind) -> Option<LimitPlace> {
    use LimitKind as K;
    let plain = |at: &str, what: &str| LimitPlace { at: at.into(), what: what.into(), most: None };
    match kind {
        K::SetRate => {
            let fullest = rates(run, record).into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            fullest.map(|(at, _)| plain(&at, TOKEN_BUCKET))
        }
        K::Shaper => fullest(held(record)),
        K::QueueDrops => fullest(dropped(record)),
        K::OtherPrograms => {
            let mut cpus = taken(record);
            let most = cpus.iter().map(|c| c.1).fold(0.0, f64::max);
            cpus.retain(|cpu| cpu.1 > most / 2.0);
            if cpus.is_empty() {
                return None;
            }
            let cpus: Vec<String> = cpus.iter().map(|c| c.0.to_string()).collect();
            Some(plain(&cpus.join(", "), ""))
        }
        K::OneCpu => one_cpu(record),
        K::ReceiveWindow => small(record, "receive_buffer", "tcp_rmem"),
        K::SendBuffer => small(record, "send_buffer", "tcp_wmem"),
        _ => None,
    }
}

fn fullest<'r>(ends: impl Iterator<Item = ((&'r str, &'r str), f64)>) -> Option<LimitPlace> {
    let ((at, what), _) = ends.filter(|end| end.1 > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(LimitPlace { at: at.into(), what: what.into(), most: None })
}

/// The fullest CPU, and how busy the others were, a mean share.
fn one_cpu(record: &TrialRecord) -> Option<LimitPlace> {
    let rows = record.readings.iter().filter(|r| r.probe == "cpu" && r.host == "machine");
    let cpus = rows.filter_map(|r| Some((r.key.strip_prefix("busy.cpu")?, r.quantity.value)));
    let cpus: Vec<(&str, f64)> = cpus.collect();
    let (at, full) = *cpus.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let others = u32::try_from(cpus.len()).ok()?.checked_sub(1).filter(|count| *count > 0)?;
    if full < FULL {
        return None;
    }
    let rest = (cpus.iter().map(|cpu| cpu.1).sum::<f64>() - full) / f64::from(others);
    let most = Some(Quantity::new(rest.clamp(0.0, 1.0), Unit::Share));
    Some(LimitPlace { at: at.into(), what: String::new(), most })
}

/// The host whose kernel allows the smallest buffer of those in use.
fn small(record: &TrialRecord, key: &str, setting: &str) -> Option<LimitPlace> {
    let most = format!("{key}_max");
    let of = |host: &HostName| reading(record, "tcp", host, &most);
    let hosts = by_host(record, "tcp", key).filter_map(|r| Some((r.host.name(), of(&r.host)?)));
    let (at, most) = hosts.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = Some(Quantity::new(most, Unit::Byte));
    Some(LimitPlace { at: at.into(), what: setting.into(), most })
}
