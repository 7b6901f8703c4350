//! Knows how it is said in what a plan departs from the standard of its loads.
//!
//! Must not know what departs; the desk says that.

use super::{Said, Writer};
use crate::report::document::{Column, Prose, Table};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::Run;
use desk::unit::Quantity;
use desk::verdict::rfc2544::{self, Departures, RfcTest, STANDARD, departures};

/// A row a section that the plan departs from; nothing where no load is held against the standard.
pub(super) fn table(writer: &mut Writer, run: &Run) -> Result<Option<Table>, ReportError> {
    let Some(found) = departures(&run.plan) else { return Ok(None) };
    let name = || Args::new().name("standard", STANDARD);
    let columns = ["standard-section", "standard-asked", "standard-has"].map(|key| {
        Ok::<_, ReportError>(Column { title: writer.say(key, name())?, numeric: false })
    });
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut rows = Vec::new();
    for section in &found.sections {
        rows.push(vec![
            Prose::verbatim(section.section()),
            writer.pick("standard-asks-*", section, asked())?,
            writer.pick("standard-here-*", section, here(writer, &found)?)?,
        ]);
    }
    let caption = writer.say("standard-caption", name())?;
    writer.table(&caption, columns, rows).map(Some)
}

fn asked() -> Args {
    let [last, next] = rfc2544::PAUSES.map(Quantity::seconds);
    let (burst, bursts) = rfc2544::BURST;
    Args::new()
        .count("networks", rfc2544::NETWORKS)
        .quantity("last", last)
        .quantity("next", next)
        .quantity("stream", Quantity::seconds(rfc2544::STREAM))
        .quantity("trial", Quantity::seconds(rfc2544::TRIAL))
        .count("latencies", rfc2544::LATENCIES)
        .quantity("burst", Quantity::seconds(burst))
        .count("bursts", bursts)
}

fn here(writer: &Writer, found: &Departures) -> Result<Args, ReportError> {
    let sizes: Vec<Prose> = found.sizes.iter().map(|size| Prose::quantity(*size)).collect();
    let test = |test: &RfcTest| -> Said {
        writer.pick("standard-test-*", test, Args::new().name("section", test.section()))
    };
    let tests = found.tests.iter().map(test).collect::<Result<Vec<_>, _>>()?;
    let [ports, search] = rfc2544::BESIDE;
    Ok(Args::new()
        .prose("sizes", &Prose::join_with(&sizes, ", "))
        .prose("tests", &Prose::join_with(&tests, ", "))
        .name("ports", ports)
        .name("search", search)
        .count("targets", found.targets)
        .quantity("window", found.window)
        .count("blocks", found.blocks))
}
