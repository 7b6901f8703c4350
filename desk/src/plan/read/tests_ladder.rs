//! Ladders: each rung has what went out before it, and nothing that the first does not say.

use super::read;
use crate::plan::example::catalogue;
use crate::plan::order;
use crate::record::Plan;
use std::collections::BTreeSet;

fn of(rungs: &str) -> Result<Plan, String> {
    let load = "[load.net]\nworkload = \"tcp_stream\"\n";
    let text = format!("title = \"t\"\n{load}[factors.part.ladder]\n{rungs}\n");
    read(&text, &catalogue()).map_err(|e| e.to_string())
}

const FIRST: &str = "\"as it is\" = { mtu = \"1500 B\", tso = \"off\", streams = 1 }\n";

#[test]
fn a_rung_keeps_what_went_out_before_it() {
    let plan = of(&format!(
        "{FIRST}frames = {{ mtu = \"9000 B\" }}\nboth = {{ tso = \"on\", streams = 2 }}"
    ));
    let plan = plan.unwrap();
    assert_eq!(plan.method.compare, "part");
    assert!(plan.factors[0].ladder);
    let told = |at: usize| {
        let level = &plan.factors[0].levels[at];
        let set: Vec<String> = level.settings.iter().map(|(k, v)| format!("{k} {v}")).collect();
        (level.name.as_str(), set.join(", "))
    };
    assert_eq!(told(0), ("as it is", "mtu 1500 B, streams 1, tso off".into()));
    assert_eq!(told(1), ("frames", "mtu 9000 B, streams 1, tso off".into()));
    assert_eq!(told(2), ("both", "mtu 9000 B, streams 2, tso on".into()));
    let visited: BTreeSet<String> =
        order(&plan).iter().map(|trial| trial.treatment.levels["part"].clone()).collect();
    assert_eq!(visited.len(), 3);
}

#[test]
fn a_rung_that_changes_nothing_or_what_the_first_leaves_open_is_refused() {
    let cases = [
        (
            format!("{FIRST}none = {{ tso = \"off\" }}"),
            "line 6: 'none' cannot be set here; it changes nothing that the rung before it \
             has left",
        ),
        (
            format!("{FIRST}new = {{ gro = \"on\" }}"),
            "line 6: 'gro' cannot be set here; the first rung does not say 'gro'; say there what \
             it is at first",
        ),
        (FIRST.into(), "line 4: factor 'part' has 1 level(s); a comparison needs two or more"),
        (
            format!("{FIRST}odd = {{ mtuu = \"9000 B\" }}"),
            "line 6: there is no factor 'mtuu'; did you mean 'mtu'?",
        ),
    ];
    for (rungs, words) in cases {
        assert_eq!(of(&rungs).unwrap_err(), words);
    }
    let named =
        "title = \"t\"\n[load.net]\nworkload = \"tcp_stream\"\n[factors.mtu.ladder]\na = {}\n";
    let words = read(named, &catalogue()).unwrap_err().to_string();
    assert!(words.ends_with("write [factors.mtu_ladder]"), "{words}");
}
