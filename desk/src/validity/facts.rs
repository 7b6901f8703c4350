//! Knows what one record says of the load and of its hosts. Pure look-ups.
//!
//! Never: whether that is good or bad.

use crate::record::{Direction, HostName, ParamRole, Plan, Reading, TrialRecord, Value};
use crate::unit::Unit;

/// Host that the clients load.
const SERVER: &str = "sut";
/// Share of the offered load from which it counts as reached.
pub(super) const REACHED: f64 = 0.97;

/// The primary metric if it is a throughput, else the first one that is; bit/s.
pub(crate) fn throughput(plan: &Plan, record: &TrialRecord) -> Option<f64> {
    rate(plan, record, Unit::BitPerSecond)
}

/// The primary metric if it has this unit, else the first one that has.
fn rate(plan: &Plan, record: &TrialRecord, unit: Unit) -> Option<f64> {
    let samples = record.outcome.samples.iter().filter(|s| s.quantity.unit == unit);
    let first = samples.clone().next();
    let primary = samples.clone().find(|s| s.metric == plan.primary(&record.trial.point.load));
    primary.or(first).map(|s| s.quantity.value)
}

/// Busy share of all CPUs, 0-1.
pub(crate) fn busy(record: &TrialRecord) -> Option<f64> {
    reading(record, "cpu", "machine", "busy")
}

/// Value of a reading, in its base unit.
pub(crate) fn reading<H: ?Sized>(
    record: &TrialRecord,
    probe: &str,
    host: &H,
    key: &str,
) -> Option<f64>
where
    HostName: PartialEq<H>,
{
    record.reading(probe, host, key).map(|quantity| quantity.value)
}

/// Whether a host is on another machine than the system under test, whose CPUs were read for it.
pub(crate) fn has_own_machine<H: ?Sized>(record: &TrialRecord, host: &H) -> bool
where
    HostName: PartialEq<H>,
{
    reading(record, "cpu", host, "busy").is_some()
}

/// All readings of a probe with this key, one a host.
pub(crate) fn by_host<'r>(
    record: &'r TrialRecord,
    probe: &'r str,
    key: &'r str,
) -> impl Iterator<Item = &'r Reading> {
    record.readings.iter().filter(move |r| r.probe == probe && r.key == key)
}

/// Whether a host is the system under test.
pub(crate) fn is_server(host: &str) -> bool {
    host == SERVER
}

/// Whether a host is a client: `c01` to `c64`.
pub(crate) fn is_client(host: &str) -> bool {
    let number = host.strip_prefix('c').unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// Value of the parameter of a role at the point of a record; none where its load has none.
pub(crate) fn param<'r>(
    plan: &Plan,
    record: &'r TrialRecord,
    role: ParamRole,
) -> Option<&'r Value> {
    let point = &record.trial.point;
    plan.load(&point.load)?.param(role, &point.params)
}

/// Which way the load of a record goes; none where it has no direction.
pub(crate) fn direction(plan: &Plan, record: &TrialRecord) -> Option<Direction> {
    Direction::of(param(plan, record, ParamRole::Direction)?.word()?)
}

/// How many directions carry load at once.
pub(crate) fn directions(plan: &Plan, record: &TrialRecord) -> f64 {
    if direction(plan, record) == Some(Direction::Duplex) { 2.0 } else { 1.0 }
}

/// Share of the load offered that was carried, in all directions together; none if none was set.
pub(crate) fn offer_use(plan: &Plan, record: &TrialRecord) -> Option<f64> {
    let offered = param(plan, record, ParamRole::Offered)?.quantity()?;
    // A burst ends before its window, so that it offers less over it.
    if param(plan, record, ParamRole::Burst).is_some_and(|frames| frames.count().is_some()) {
        return None;
    }
    Some(rate(plan, record, offered.unit)? / (offered.value * directions(plan, record)))
}

/// Whether the load offered was set and the trial reached 97 % of it.
pub(crate) fn reached_offer(plan: &Plan, record: &TrialRecord) -> bool {
    offer_use(plan, record).is_some_and(|share| share >= REACHED)
}
