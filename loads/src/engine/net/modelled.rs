//! Knows how a test asks the model of a load between hosts: one trial of a simulated lab that is at
//! rest, 5 s into a run of 100 s.
//!
//! Must not know which load it is.

use desk::record::{
    Fault, LabPlan, LinkPlan, LoadPoint, Settings, Treatment, Trial, TrialKind, Value,
};
use rig::lab::sim::{self, Hold, LinkNow, Physics, Scene};
use rig::workload::{Job, Modelled};
use std::collections::BTreeMap;
use std::time::Duration;

/// The model of a workload.
type Model = fn(&Scene<'_>, &Job<'_>) -> Result<Modelled, Fault>;

/// Parameters or settings as a map.
pub(crate) fn settings(rows: &[(&str, Value)]) -> Settings {
    rows.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

/// What a model gives under a physics, with these parameters, settings of the link and clients.
pub(crate) fn modelled(
    (workload, model): (&str, Model),
    physics: &str,
    params: Settings,
    (settings, clients): (&Settings, u32),
) -> Result<Modelled, Fault> {
    let physics = Physics::read(physics).unwrap();
    let lab = LabPlan { clients, links: vec![LinkPlan::of_all("lan")], ..LabPlan::default() };
    let trial = Trial {
        id: 0,
        block: 1,
        boot: 0,
        round: 0,
        point_index: 0,
        point: LoadPoint { load: "l".into(), workload: workload.into(), params },
        treatment: Treatment { levels: BTreeMap::new() },
        settings: settings.clone(),
        seed: 1,
        kind: TrialKind::Counted,
        search: None,
    };
    let job = Job {
        data_seed: 1,
        trial: &trial,
        link: "lan",
        settings: &Settings::new(),
        settle: Duration::from_millis(300),
        settle_max: Duration::from_secs(1),
        window: Duration::from_secs(1),
    };
    let scene = Scene {
        link: LinkNow::of(&physics, &lab, settings),
        hold: Hold::of(&physics, &lab, settings, 1.0),
        clocks: sim::clocks(&physics, 5.0, (0.0, 100.0)),
        physics: &physics,
        clients,
        pace: 1.0,
        cpu: 1.0,
        clients_cpu: physics.clients.cpu,
        steady: true,
        spoilt: None,
        go_ns: 5_000_000_000,
    };
    model(&scene, &job)
}
