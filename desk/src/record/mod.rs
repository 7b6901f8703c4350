//! The vocabulary that rig and desk share; everything stored is made of these types.
//!
//! Knows: plan, spec, treatment, load point, trial, environment, sample, reading, outcome, run,
//! published claim, and which keys describe how a run was made.
//! Never: how any of it is measured, judged or shown.
//! Start reading at `trial.rs`.

mod boxes;
mod claim;
mod counted;
mod derive;
mod digest;
mod distribution;
mod environment;
mod fact;
pub mod flow;
mod grain;
mod host;
mod keys;
mod kind;
mod outcome;
mod plan;
mod reference;
mod run;
mod search;
mod spec;
mod throttle;
mod topology;
mod trial;

pub use boxes::BoxPlan;
pub use claim::{Claim, claim_sources, claims};
pub use counted::{Counted, ENOUGH};
pub use derive::{Derivation, Derive, DeriveSpec};
pub use digest::{DIGEST, digest};
pub use distribution::{Distribution, DistributionError};
pub use environment::{Adapter, Cache, Cpu, Environment, Fact, KeyClass, LabKind};
pub use fact::{LevelName, ManualFact, PartPlan};
pub use flow::{Flow, FlowColumn, Flows};
pub use grain::{Apart, Grain};
pub use host::{HostName, LOCAL};
pub use keys::{EnvKey, LEVELS, class_of, known_key};
pub use kind::{MOST_CPUS, ParamKind, Range, Words, address_of_page};
pub use outcome::{Fault, Outcome, ProgramLog, Reading, Sample, Series, Track, Window, Work};
pub use plan::{
    FactorPlan, LabPlan, Level, LinkPlan, LoadPlan, Method, Placement, Plan, PrimaryComparison,
    Replicate, SteadyRule, longest_sweep,
};
pub use reference::{RecordKind, ReferenceRecord, reference_records};
pub use run::{Added, Completeness, RUN_SCHEMA, Run, Sitting, TrialRecord};
pub use search::{SearchGoal, SearchKind, SearchLimit, SearchPlan};
pub use spec::{
    Better, Direction, FactorSpec, Metric, MetricRole, MetricSpec, ParamRole, ParamSpec, Place,
    Quantile, QuantileSpec, Scope, WorkloadSpec,
};
pub use throttle::{Fixed, Throttle, Throttling};
pub use topology::{CLIENTS, HostPlan, LinkKind, Role, SUT, Way, is_client};
pub use trial::{LoadPoint, SearchStep, Settings, Treatment, Trial, TrialKind, Value};
