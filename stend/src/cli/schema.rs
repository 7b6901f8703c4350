//! Knows `stend schema`: the JSON Schema of a plan for editors, and of every output.
//!
//! Never: a key of its own; they come from the catalogue and from the types that are written.

use super::error::CliError;
use super::{OK, doctor, outputs, terminal};
use clap::ValueEnum;
use desk::plan::{self, Catalogue};
use desk::record::{Run, WorkloadSpec};
use rig::factor;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::io::Write as _;

/// What there is a schema of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// A plan, as TOML
    Plan,
    /// records.json: a run with all its records
    Run,
    /// run --json, aa --json, resume --json, report --json
    Result,
    /// --json without a verb
    Survey,
    /// report.json
    Report,
    /// list --json
    List,
    /// compare --json, comparison.json
    Compare,
    /// gate --json
    Gate,
    /// elasticity --json
    Elasticity,
    /// doctor --json
    Doctor,
    /// lab doctor --json
    #[cfg(feature = "machines")]
    LabDoctor,
}

/// Prints a schema.
///
/// # Errors
/// When standard output is closed.
pub fn print(what: What) -> Result<u8, CliError> {
    let schema = match what {
        What::Plan => plan_schema(),
        What::Run => output::<Run>()?,
        What::Result => output::<outputs::Result<'_>>()?,
        What::Survey => output::<outputs::Survey<'_>>()?,
        What::Report => output::<outputs::Report>()?,
        What::List => output::<Vec<outputs::ListedRun>>()?,
        What::Compare => output::<outputs::Compare<'_>>()?,
        What::Gate => output::<outputs::Gate<'_>>()?,
        What::Elasticity => output::<outputs::Elasticity<'_>>()?,
        What::Doctor => output::<doctor::Doctor<'_>>()?,
        #[cfg(feature = "machines")]
        What::LabDoctor => output::<super::lab_doctor::LabDoctor<'_>>()?,
    };
    writeln!(terminal::out(), "{}", serde_json::to_string_pretty(&schema)?)?;
    Ok(OK)
}

fn plan_schema() -> Value {
    let workloads: Vec<&WorkloadSpec> = loads::ALL.iter().map(|entry| entry.spec).collect();
    plan::schema(&Catalogue { workloads: &workloads, factors: factor::ALL })
}

/// The schema of what is written, not of what would also be read.
fn output<T: JsonSchema>() -> Result<Value, CliError> {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    Ok(serde_json::to_value(generator.into_root_schema_for::<T>())?)
}
