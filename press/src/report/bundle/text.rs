//! Knows the canonical text of a bundle: JSON, keys in a fixed order, the shortest floats.

use super::error::{BundleError, quoted};
use super::records::{Budget, Packed, put_together, take_apart};
use super::{Asked, Bundle, FORMAT, Judged, PartBundle};
use crate::report::compose::Role;
use crate::report::error::ReportError;
use desk::record::Run;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Most values of a bundle before its records are put together: they are in memory at once.
const VALUES_MAX: usize = 16_000_000;
/// Most runs of a bundle.
const PARTS_MAX: usize = 256;

/// As it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    compare: Option<Asked>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gate: Option<Judged>,
    parts: Vec<WrittenPart>,
}

#[derive(Serialize, Deserialize)]
struct WrittenPart {
    role: Option<Role>,
    /// The run without its records.
    run: Value,
    records: Packed,
}

/// What tells the kinds of JSON apart, and what a run says of its writer.
#[derive(Deserialize)]
struct Look {
    format: Option<u32>,
    parts: Option<IgnoredAny>,
    run: Option<Writer>,
    records: Option<IgnoredAny>,
    schema: Option<u64>,
    version: Option<String>,
}

/// Who wrote a run.
#[derive(Deserialize)]
struct Writer {
    schema: Option<u64>,
    version: Option<String>,
}

impl Writer {
    /// Refuses a run of another schema.
    fn known(&self) -> Result<(), BundleError> {
        let version = self.version.as_deref().unwrap_or("unknown");
        super::file::known(self.schema.ok_or(BundleError::NoBundle)?, version)
    }
}

/// A row of the records of a survey, or what `--json` prints.
#[derive(Deserialize)]
struct Row<R> {
    run: R,
}

impl Bundle<'_> {
    /// The canonical text: the same runs give the same bytes.
    ///
    /// # Errors
    /// A record that cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, ReportError> {
        let all = || -> Result<String, serde_json::Error> {
            let mut parts = Vec::new();
            for part in &self.parts {
                let run = serde_json::to_value(bare(&part.run))?;
                let records = take_apart(&part.run.records)?;
                parts.push(WrittenPart { role: part.role, run, records });
            }
            let (compare, gate) = (self.compare.clone(), self.gate.clone());
            serde_json::to_string(&Written { format: self.format, compare, gate, parts })
        };
        all().map_err(|e| ReportError::Bundle(e.to_string()))
    }
}

/// The run without its records. Field by field: a copy of the records would be the larger part.
pub(super) fn bare(run: &Run) -> Run {
    Run {
        schema: run.schema,
        id: run.id.clone(),
        started: run.started.clone(),
        version: run.version.clone(),
        command: run.command.clone(),
        plan: run.plan.clone(),
        plan_text: run.plan_text.clone(),
        metrics: run.metrics.clone(),
        workloads: run.workloads.clone(),
        environments: run.environments.clone(),
        records: Vec::new(),
        completeness: run.completeness.clone(),
        sittings: run.sittings.clone(),
        digits: run.digits,
    }
}

impl Bundle<'static> {
    /// Reads the JSON of a bundle, of a run, of the records of a survey, or what `--json` printed.
    ///
    /// # Errors
    /// Text that is none of these, a format or a run from the future, or runs that no stend makes.
    pub fn from_json(text: &str) -> Result<Self, BundleError> {
        let runs = if text.trim_start().starts_with('[') {
            let writers: Vec<Row<Writer>> = parse(text)?;
            writers.iter().try_for_each(|row| row.run.known())?;
            let rows: Vec<Row<Run>> = parse(text)?;
            rows.into_iter().map(|row| row.run).collect()
        } else {
            let look: Look = parse(text)?;
            match (look.format, look.parts, look.run, look.records) {
                (Some(found), ..) if found > FORMAT => {
                    return Err(BundleError::NewerFormat { found, known: FORMAT });
                }
                (Some(found), ..) if found < FORMAT => return Err(BundleError::Older),
                (Some(_), Some(_), ..) => {
                    // Before they are made: every value follows one of these signs.
                    let signs = |byte: &u8| matches!(byte, b',' | b'[' | b'{' | b':');
                    if text.bytes().filter(signs).count() > VALUES_MAX {
                        let most = format!("more than {VALUES_MAX} values");
                        return Err(BundleError::Impossible(most));
                    }
                    return bundle(parse(text)?);
                }
                (_, _, Some(writer), _) => {
                    writer.known()?;
                    vec![parse::<Row<Run>>(text)?.run]
                }
                (.., Some(_)) => {
                    Writer { schema: look.schema, version: look.version }.known()?;
                    vec![parse(text)?]
                }
                _ => return Err(BundleError::NoBundle),
            }
        };
        let one = runs.len() == 1;
        let part = |run: Run| -> Result<PartBundle<'static>, BundleError> {
            super::file::refuse(&run)?;
            let role = (!one).then(|| Role::of(&run));
            Ok(PartBundle { role, run: Cow::Owned(run) })
        };
        let parts = runs.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() {
            return Err(BundleError::NoBundle);
        }
        Ok(Self { format: FORMAT, parts, compare: None, gate: None })
    }
}

fn bundle(written: Written) -> Result<Bundle<'static>, BundleError> {
    let sides = written.parts.len();
    if sides > PARTS_MAX {
        return Err(BundleError::Impossible(format!("an article on {sides} runs")));
    }
    let mut parts = Vec::new();
    let mut budget = Budget::full();
    for part in written.parts {
        let schema = part.run.get("schema").and_then(Value::as_u64);
        let version = part.run.get("version").and_then(Value::as_str).map(Into::into);
        Writer { schema, version }.known()?;
        let mut run: Run =
            serde_json::from_value(part.run).map_err(|e| BundleError::Impossible(quoted(&e)))?;
        run.records = put_together(part.records, &mut budget)?;
        super::file::refuse(&run)?;
        parts.push(PartBundle { role: part.role, run: Cow::Owned(run) });
    }
    let compared = written.compare.as_ref().and_then(|asked| asked.metric.as_deref());
    let judged = written.gate.as_ref().and_then(|gate| gate.metric.as_deref());
    if !compared.into_iter().chain(judged).all(super::file::is_plain) {
        return Err(BundleError::Impossible("a metric of that name".into()));
    }
    match (&written.compare, &written.gate, sides) {
        (_, _, 0) => Err(BundleError::NoBundle),
        (Some(asked), ..) if !asked.fits(sides) => {
            Err(BundleError::Impossible(format!("a comparison of {sides} runs")))
        }
        (Some(_), Some(_), _) | (_, Some(_), 2..) => {
            Err(BundleError::Impossible("a gate over several runs".into()))
        }
        _ => Ok(Bundle { format: FORMAT, parts, compare: written.compare, gate: written.gate }),
    }
}

/// A run from the future, its version without what a terminal would obey.
pub(super) fn newer(schema: u64, version: &str) -> BundleError {
    let version: String = version.chars().filter(|c| c.is_ascii_graphic()).take(24).collect();
    BundleError::NewerRun { found: u32::try_from(schema).unwrap_or(u32::MAX), version }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, BundleError> {
    serde_json::from_str(text).map_err(|e| {
        if e.is_syntax() || e.is_eof() {
            BundleError::NoBundle
        } else {
            BundleError::Impossible(quoted(&e))
        }
    })
}
