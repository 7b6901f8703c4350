//! Knows what a search with several goals comes to in a plan, step by step, and what it refuses.

use super::tests_search::gave;
use crate::plan::example::catalogue;
use crate::plan::{Catalogue, budget, read, recheck, remaining};
use crate::record::{
    Better, MetricRole, MetricSpec, ParamKind, ParamRole, ParamSpec, Place, Plan, SearchKind,
    Trial, TrialRecord, WorkloadSpec,
};
use crate::search::{found, metrics, step};
use crate::unit::{Kind, Quantity, Unit};

static LOSSY: WorkloadSpec = WorkloadSpec {
    name: "frames",
    question: "How many frames get through?",
    place: Place::Path,
    revision: 1,
    params: &[ParamSpec {
        name: "offered_load",
        about: "",
        role: Some(ParamRole::Offered),
        kind: ParamKind::within(Kind::Rate, 1e4, 1e12).or(&["full"]),
        default: "full",
    }],
    metrics: &[
        MetricSpec {
            name: "throughput",
            title: "throughput",
            role: MetricRole::Rate,
            unit: Unit::BitPerSecond,
            better: Better::Higher,
            limit: "",
        },
        MetricSpec {
            name: "loss",
            title: "loss",
            role: MetricRole::Count,
            unit: Unit::Share,
            better: Better::Lower,
            limit: "",
        },
    ],
    quantiles: &[],
    derives: &[],
};

static WORKLOADS: &[&WorkloadSpec] = &[&LOSSY];

fn lossy() -> Catalogue<'static> {
    Catalogue { workloads: WORKLOADS, ..catalogue() }
}

const GOALS: &str = "goals = [{ loss = \"0 %\" }, { loss = \"0.5 %\", sum = \"3 s\" }]\n";

fn plan(goals: &str) -> Result<Plan, String> {
    by("loss", goals)
}

fn by(metric: &str, goals: &str) -> Result<Plan, String> {
    let text = format!(
        "title = \"t\"\n[method]\nblocks = 3\ndry = false\n[load.net]\nworkload = \"frames\"\n\
         [load.net.search]\nkind = \"mlr\"\nover = \"offered_load\"\nmetric = \"{metric}\"\n\
         from = \"1 Mbit/s\"\nto = \"10 Gbit/s\"\n{goals}"
    );
    read(&text, &lossy()).map_err(|e| e.to_string())
}

#[test]
fn goals_have_their_defaults_written_out_and_survive_the_record() {
    let mut plan = plan(GOALS).unwrap();
    let search = plan.loads[0].search.clone().unwrap();
    assert_eq!((search.kind, search.steps, search.goals.len()), (SearchKind::Mlr, 200, 2));
    let told = search.goals.iter().map(|goal| [goal.loss, goal.exceed, goal.sum]);
    let told: Vec<_> = told.map(|all| all.map(|one| one.to_string())).collect();
    assert_eq!(told, [["0 %", "50 %", "21 s"], ["0.500 %", "50 %", "3 s"]]);
    assert_eq!(plan.primary("net"), "net_goal1");
    let known: Vec<_> = LOSSY.described().collect();
    let names: Vec<_> = metrics(&plan, &known).into_iter().map(|m| (m.name, m.unit)).collect();
    let of = |name: &str| (name.to_owned(), Unit::BitPerSecond);
    assert_eq!(names, [of("net_goal1"), of("net_goal2")]);
    recheck(&plan, &lossy()).unwrap();
    let stored = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
    plan.loads[0].search.as_mut().unwrap().goals.clear();
    assert!(recheck(&plan, &lossy()).is_err());
}

#[test]
fn goals_that_cannot_be_are_refused_with_their_remedy() {
    let refused = [
        ("", "'goals' is missing; write goals = [{ loss = \"0 %\" }]"),
        ("goals = []\n", "a list of 1 to 8 tables"),
        ("goals = [{ loss = \"100 %\" }]\n", "a share from 0 to 0.99"),
        ("goals = [{ final = \"2 s\", initial = \"3 s\" }]\n", "a duration from 3 s"),
        ("goals = [{ sum = \"1 s\", final = \"2 s\" }]\n", "a duration from 2 s"),
        ("goals = [{ limit = \"1 %\" }]\n", "unknown key 'limit'"),
        ("limit = \"1 %\"\n", "unknown key 'limit'"),
    ];
    for (goals, words) in refused {
        let said = plan(goals).unwrap_err();
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let said = by("throughput", GOALS).unwrap_err();
    assert!(said.contains("there is no share of loss among the metrics 'throughput'"), "{said}");
}

/// What a link of this capacity gives.
fn carried(trial: &Trial, capacity: f64) -> TrialRecord {
    let load = trial.point.params["offered_load"].number().unwrap();
    let lost = (1.0 - capacity / load).max(0.0);
    gave(trial, "loss", Quantity::new(lost, Unit::Share))
}

#[test]
fn each_step_has_its_window_and_a_stopped_search_goes_on_at_the_same_step() {
    let plan = plan(GOALS).unwrap();
    let first = remaining(&plan, &[])[0].0.id;
    let mut records: Vec<TrialRecord> = Vec::new();
    let mut steps = Vec::new();
    loop {
        let (next, _) = remaining(&plan, &records)[0].clone();
        let at = next.search.unwrap();
        if at.id != first {
            break;
        }
        let window = plan.window(&next).value;
        assert!((1.0..=1.51).contains(&window), "{window}");
        assert_eq!(at.window.map(|window| window.value), Some(window));
        // What a store gives back is what was given to it.
        let record = carried(&next, 1e9);
        let text = serde_json::to_string(&record).unwrap();
        let record: TrialRecord = serde_json::from_str(&text).unwrap();
        steps.extend(step(&plan.loads[0], &record));
        records.push(record);
    }
    assert!(records.len() < 40, "{}", records.len());
    let search = plan.loads[0].search.as_ref().unwrap();
    let end = found(search, &steps).unwrap();
    assert!(end.results.len() == 2 && end.results[0] <= 1e9 && end.results[0] > 0.99e9);
    assert!(end.results[1] >= end.results[0] && end.results[1] <= 1.006e9, "{end:?}");
    assert!(steps.iter().any(|step| Some(step.load) == end.load));
    assert!(found(search, &steps[..steps.len() - 1]).is_none());
    assert!(budget(&plan).longest.value > 3.0 * 200.0);
}
