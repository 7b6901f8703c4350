//! Knows which room may use which: the one table of allowed edges.

use crate::source::{Lexeme, Source};

/// A room, and the rooms that it may use, each as `crate::room`; only code that ships is bound.
///
/// Read it as the order of the rooms. desk: unit, stats, record, {search, validity}, plan, verdict.
/// press: {figure, claim}, report. rig: block, lab, {workload, service, factor, probe, metal},
/// keeper, run; store beside. loads: engine, dataset, workload. The rig writes facts down and draws
/// no conclusions, so it sees no verdict; it is handed the workloads, so it sees no load. A new
/// edge is a new word here.
const EDGES: [(&str, &[&str]); 25] = [
    ("desk::unit", &[]),
    ("desk::record", &["desk::unit", "desk::stats"]),
    ("desk::plan", &["desk::unit", "desk::record", "desk::search", "desk::stats"]),
    ("desk::search", &["desk::unit", "desk::record", "desk::stats"]),
    ("desk::stats", &["desk::unit"]),
    ("desk::validity", &["desk::unit", "desk::record"]),
    (
        "desk::verdict",
        &[
            "desk::validity",
            "desk::unit",
            "desk::record",
            "desk::plan",
            "desk::search",
            "desk::stats",
        ],
    ),
    ("press::figure", &["desk::unit"]),
    ("press::claim", &["desk::unit", "desk::record", "desk::stats", "desk::verdict"]),
    (
        "press::report",
        &[
            "desk::unit",
            "desk::record",
            "desk::plan",
            "desk::stats",
            "desk::verdict",
            "press::claim",
            "press::figure",
        ],
    ),
    // Of plan, what a mistyped key was meant to be: a physics is read as a plan is.
    ("rig::block", &[]),
    // What may be overwritten is passed to the hosts that are started.
    ("rig::lab", &["desk::unit", "desk::record", "desk::plan", "rig::block"]),
    ("rig::workload", &["desk::record", "rig::lab"]),
    ("rig::service", &["desk::record", "rig::lab"]),
    ("rig::factor", &["desk::unit", "desk::record", "rig::lab"]),
    ("rig::probe", &["desk::unit", "desk::record", "rig::lab"]),
    // The machine as hot loops need it: CPUs, pages, kernels. It asks the lab for its clock, and
    // statistics for the median by which of two loops one is chosen.
    ("rig::metal", &["desk::unit", "desk::record", "desk::stats", "rig::lab"]),
    // The agent of a machine: what is done there by order.
    (
        "rig::keeper",
        &[
            "desk::unit",
            "desk::record",
            "desk::plan",
            "rig::lab",
            "rig::factor",
            "rig::probe",
            "rig::service",
        ],
    ),
    (
        "rig::run",
        &[
            "desk::unit",
            "desk::record",
            "desk::plan",
            "desk::validity",
            "rig::lab",
            "rig::factor",
            "rig::probe",
            "rig::keeper",
            "rig::workload",
        ],
    ),
    ("rig::store", &["desk::record", "desk::plan"]),
    (
        "loads::engine",
        &[
            "desk::unit",
            "desk::record",
            "desk::search",
            "desk::stats",
            // Whether a setting is of links.
            "rig::factor",
            "rig::lab",
            "rig::metal",
            // A counter of TCP of the host's own network namespace.
            "rig::probe",
            "rig::service",
            "rig::workload",
        ],
    ),
    ("loads::dataset", &["rig::metal", "loads::engine"]),
    (
        "loads::workload",
        &[
            "desk::unit",
            "desk::record",
            "desk::stats",
            "rig::block",
            "rig::lab",
            "rig::metal",
            "rig::service",
            "rig::workload",
            "loads::dataset",
            "loads::engine",
        ],
    ),
    ("stend::cli", &["desk::*", "press::*", "rig::*", "loads::*"]),
    ("stend::web", &[]),
];

/// Every use of a room by a room that the table does not allow.
///
/// `workloads` are the names of the folders of the room of workloads.
pub fn check(source: &Source, workloads: &[String]) -> Vec<String> {
    let refused = |(line, from, to): (usize, String, String)| {
        Some(format!("{}:{line}: {}", source.path, refuse(&from, &to)?))
    };
    let mut faults: Vec<String> = uses(source).into_iter().filter_map(refused).collect();
    faults.extend(neighbours(source, workloads));
    faults
}

/// Every edge of the table that no code takes.
pub fn unused(sources: &[Source]) -> Vec<String> {
    let taken: Vec<(usize, String, String)> = sources.iter().flat_map(uses).collect();
    let rows = EDGES.iter().flat_map(|(room, edges)| edges.iter().map(move |edge| (room, edge)));
    let idle = |(room, edge): &(&&str, &&str)| {
        !taken.iter().any(|(_, from, to)| from == *room && leads(edge, to))
    };
    let fault = |(room, edge)| {
        format!("{room} does not use {edge}; take it out of EDGES in stend/tests/tidy/edges.rs")
    };
    rows.filter(idle).map(fault).collect()
}

/// Every use of a room in code that ships: line, from where, of which.
fn uses(source: &Source) -> Vec<(usize, String, String)> {
    let Some((krate, room)) = home(&source.path) else { return Vec::new() };
    let from = format!("{krate}::{room}");
    let shipped = source.lexemes.iter().enumerate().filter(|(_, l)| !source.is_test(l.line));
    let of = |(index, lexeme): (usize, &Lexeme)| {
        let (line, from) = (lexeme.line, from.clone());
        targets(source, krate, index).into_iter().map(move |to| (line, from.clone(), to))
    };
    shipped.flat_map(of).collect()
}

/// Whether an edge of the table leads to a room.
fn leads(edge: &str, to: &str) -> bool {
    edge == to || edge.strip_suffix('*').is_some_and(|krate| to.starts_with(krate))
}

/// Crate and room of a file; none for `lib.rs` and `main.rs`, which join the rooms, and for tests.
fn home(path: &str) -> Option<(&str, &str)> {
    let mut parts = path.split('/');
    let (krate, src, room) = (parts.next()?, parts.next()?, parts.next()?);
    let room = room.strip_suffix(".rs").unwrap_or(room);
    (src == "src" && !matches!(room, "lib" | "main")).then_some((krate, room))
}

fn refuse(from: &str, to: &str) -> Option<String> {
    let Some((_, allowed)) = EDGES.iter().find(|(room, _)| *room == from) else {
        return Some(format!(
            "{from} has no row in EDGES of stend/tests/tidy/edges.rs; add one that says what it \
             may use"
        ));
    };
    if from == to || allowed.iter().any(|edge| leads(edge, to)) {
        return None;
    }
    Some(format!(
        "{from} uses {to}, which is not below it; pass the value in, or add the edge to EDGES in \
         stend/tests/tidy/edges.rs with a reason"
    ))
}

/// Rooms that the path beginning at `index` leads to.
fn targets(source: &Source, krate: &str, index: usize) -> Vec<String> {
    let word = source.word(index);
    let path_goes_on = |at: usize| source.word(at) == ":" && source.word(at + 1) == ":";
    // `a::crate_name` in the middle of a path is no path from a root.
    if !path_goes_on(index + 1) || index > 1 && path_goes_on(index - 2) {
        return Vec::new();
    }
    match word {
        "crate" => rooms(source, krate, index + 3),
        "desk" | "press" | "rig" | "loads" | "stend" => rooms(source, word, index + 3),
        "super" => {
            // Only a climb to the crate's root can reach a neighbour; a module's own child of the
            // same name as a room is told apart by the depth.
            let top = climb(source, index).filter(|(climbed, _)| *climbed >= depth(&source.path));
            let Some((_, end)) = top else { return Vec::new() };
            let known = |room: &String| EDGES.iter().any(|(name, _)| name == room);
            rooms(source, krate, end).into_iter().filter(known).collect()
        }
        _ => Vec::new(),
    }
}

/// How often `super` stands at `index`, and where the path goes on after the last; none for none.
fn climb(source: &Source, index: usize) -> Option<(usize, usize)> {
    let again = |at: &usize| source.word(*at) == "super" && source.word(at + 1) == ":";
    let steps: Vec<usize> = (index..).step_by(3).take_while(again).collect();
    let inside = index > 0 && source.word(index - 1) == ":";
    steps.last().filter(|_| !inside).map(|last| (steps.len(), last + 3))
}

/// How many `super` lead from a file to its crate's root.
fn depth(path: &str) -> usize {
    path.split('/').skip(2).filter(|part| *part != "mod.rs").count()
}

/// The names at `index`: one, or the first of every path of a braced list.
fn rooms(source: &Source, krate: &str, index: usize) -> Vec<String> {
    heads(source, index)
        .into_iter()
        .filter(|word| word.starts_with(|c: char| c.is_lowercase()))
        .map(|word| format!("{krate}::{word}"))
        .collect()
}

/// First words of the paths at `index`.
fn heads(source: &Source, index: usize) -> Vec<&str> {
    if source.word(index) != "{" {
        return vec![source.word(index)];
    }
    let mut found = vec![source.word(index + 1)];
    let mut depth = 1_usize;
    let mut at = index + 1;
    while depth > 0 && at < source.lexemes.len() {
        match source.word(at) {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => found.push(source.word(at + 1)),
            _ => {}
        }
        at += 1;
    }
    found
}

/// Uses of another workload's folder: what two need stands in the room of engines.
fn neighbours(source: &Source, workloads: &[String]) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix("loads/src/workload/") else { return Vec::new() };
    let Some((own, _)) = inside.split_once('/') else { return Vec::new() };
    let mut faults = Vec::new();
    for (index, lexeme) in source.lexemes.iter().enumerate() {
        let Some(room) = workload_room(source, index).filter(|_| !source.is_test(lexeme.line))
        else {
            continue;
        };
        let strange = |name: &&str| *name != own && workloads.iter().any(|w| w == name);
        for name in heads(source, room).into_iter().filter(strange) {
            faults.push(format!(
                "{}:{}: {own} uses {name}; a workload knows no other, so move what both need \
                 into loads/src/engine",
                source.path, lexeme.line
            ));
        }
    }
    faults
}

/// Where the path beginning at `index` goes on below `crate::workload`, if it leads there.
fn workload_room(source: &Source, index: usize) -> Option<usize> {
    let by_name = ["crate", ":", ":", "workload", ":", ":"];
    if by_name.iter().enumerate().all(|(offset, word)| source.word(index + offset) == *word) {
        return Some(index + by_name.len());
    }
    let (climbed, end) = climb(source, index)?;
    (climbed + 1 == depth(&source.path)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let workloads = ["tcp_rr".to_string(), "tcp_stream".to_string()];
        check(&Source::parse(path, text).unwrap(), &workloads)
    }

    #[test]
    fn an_edge_downwards_passes() {
        let text = "//! x\nuse crate::unit::Unit;\nuse crate::{record::Run, stats};\n";
        assert_eq!(faults("desk/src/verdict/winner.rs", text), Vec::<String>::new());
        let own = "//! x\nuse crate::verdict::Verdict;\nuse super::finding::Limit;\n";
        assert_eq!(faults("desk/src/verdict/winner.rs", own), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_no_code_takes_is_found() {
        let text = "//! x\nuse crate::unit::Unit;\n#[cfg(test)]\nmod tests {\n    \
                    use crate::stats::t;\n}\n";
        let found = unused(&[Source::parse("desk/src/plan/mod.rs", text).unwrap()]);
        let of_plan = found.iter().filter(|fault| fault.starts_with("desk::plan "));
        let idle: Vec<&str> = of_plan.filter_map(|fault| fault.split(' ').nth(4)).collect();
        assert_eq!(idle, ["desk::record;", "desk::search;", "desk::stats;"]);
    }

    #[test]
    fn an_edge_upwards_is_found_however_it_is_written() {
        let uses = [
            "use crate::verdict::Verdict;",
            "use crate::{unit::{Unit, Quantity}, verdict::Verdict};",
            "use super::super::verdict::Verdict;",
            "fn f() -> crate::verdict::Verdict { g() }",
        ];
        for text in uses {
            let found = faults("desk/src/stats/compare.rs", &format!("//! x\n{text}\n"));
            assert_eq!(found.len(), 1, "{text}: {found:#?}");
            assert!(found[0].contains("desk::stats uses desk::verdict"), "{found:#?}");
        }
    }

    #[test]
    fn test_code_may_look_anywhere() {
        let text = "//! x\n#[cfg(test)]\nmod tests {\n    use crate::verdict::Verdict;\n}\n";
        assert_eq!(faults("desk/src/stats/compare.rs", text), Vec::<String>::new());
    }

    #[test]
    fn the_rig_draws_no_conclusions_and_the_desk_has_no_hands() {
        let found = faults("rig/src/run/mod.rs", "//! x\nuse desk::verdict::Verdict;\n");
        assert!(found[0].contains("rig::run uses desk::verdict"), "{found:#?}");
        let found = faults("desk/src/plan/read.rs", "//! x\nuse rig::lab::Host;\n");
        assert!(found[0].contains("desk::plan uses rig::lab"), "{found:#?}");
        assert_eq!(faults("rig/src/run/mod.rs", "//! x\nuse desk::plan::x;\n").len(), 0);
        let found = faults("rig/src/run/mod.rs", "//! x\nuse loads::workload::ALL;\n");
        assert!(found[0].contains("rig::run uses loads::workload"), "{found:#?}");
    }

    #[test]
    fn only_main_uses_the_command_line() {
        let text = "//! x\nuse crate::cli::Verb;\n";
        assert!(faults("stend/src/web/mod.rs", text)[0].contains("stend::web uses stend::cli"));
        assert_eq!(faults("stend/src/main.rs", text).len(), 0);
        assert_eq!(faults("stend/src/cli/run.rs", "//! x\nuse rig::run::go;\n").len(), 0);
    }

    #[test]
    fn a_workload_knows_no_other_workload() {
        for path in ["crate::workload::{Workload, tcp_rr::spec}", "super::super::tcp_rr::spec"] {
            let text = format!("//! x\nuse {path};\n");
            let found = faults("loads/src/workload/tcp_stream/run.rs", &text);
            assert_eq!(found.len(), 1, "{path}: {found:#?}");
            assert!(found[0].contains("tcp_stream uses tcp_rr"), "{found:#?}");
            assert_eq!(faults("loads/src/workload/tcp_rr/run.rs", &text).len(), 0);
        }
        let door = "//! x\nuse rig::workload::Entry;\nuse super::spec;\n";
        assert_eq!(faults("loads/src/workload/tcp_stream/run.rs", door).len(), 0);
    }

    #[test]
    fn a_room_without_a_row_is_found() {
        let found = faults("rig/src/cellar/mod.rs", "//! x\nuse desk::unit::Unit;\n");
        assert!(found[0].contains("rig::cellar has no row"), "{found:#?}");
    }
}
