//! What holds of every text as a plan: it is read or refused with its line, never a panic, and what
//! is read can be laid out and survives being written.

use super::read;
use crate::plan::example::catalogue;
use crate::plan::expand;
use crate::record::Plan;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Lines of plans, right and wrong.
const LINES: [&str; 44] = [
    "title = \"t\"",
    "question = \"q\"",
    "[lab]",
    "clients = 4",
    "clients = 0",
    "[lab.links.one]",
    "[lab.links.two]",
    "mtu = \"1500 B\"",
    "mtu = \"9000 B\"",
    "mtu = 1500",
    "[factors.path]",
    "[factors.tso]",
    "[factors.streams]",
    "levels = [\"one\", \"two\"]",
    "levels = [\"on\", \"off\"]",
    "levels = [1, 2, 4]",
    "levels = []",
    "levels = \"one\"",
    "manual = true",
    "reboot = true",
    "[load.stream]",
    "[load.other]",
    "workload = \"tcp_stream\"",
    "workload = \"no_such\"",
    "request_size = \"64 KiB\"",
    "over = { request_size = \"64..256 B *2\" }",
    "over = { request_size = \"64 B..1 MiB +1 B\" }",
    "offered_load = \"1 Gbit/s\"",
    "streams = 99999999999",
    "[method]",
    "blocks = 5",
    "blocks = -1",
    "looks = [5, 10, 20]",
    "window = \"300 ms\"",
    "window = \"inf s\"",
    "margin = \"2 %\"",
    "compare = \"path\"",
    "[environment]",
    "[[fact]]",
    "[[part]]",
    "levels = [\"path=one\", \"two\"]",
    "price = \"185 EUR\"",
    "search = { kind = \"states\" }",
    "seed = 18446744073709551615",
];

/// The plan that is spoilt.
const SMALL: &str = "title = \"t\"\n[lab]\nclients = 4\n[lab.links.one]\nmtu = \"1500 B\"\n\
     [lab.links.two]\nmtu = \"9000 B\"\n[factors.path]\nlevels = [\"one\", \"two\"]\n\
     [load.stream]\nworkload = \"tcp_stream\"\nover = { request_size = \"64..256 B *2\" }\n\
     [method]\nblocks = 5\n";

/// A plan of which lines were put in, taken away and changed by a character.
fn spoilt() -> impl Strategy<Value = String> {
    let edit = (any::<Index>(), 0..4_u8, select(&LINES[..]), any::<char>());
    proptest::collection::vec(edit, 0..6).prop_map(|edits| {
        let mut lines: Vec<String> = SMALL.lines().map(str::to_owned).collect();
        for (at, what, line, letter) in edits {
            let at = at.index(lines.len());
            match what {
                0 => lines.insert(at, line.into()),
                1 => lines[at] = line.into(),
                2 if lines.len() > 1 => drop(lines.remove(at)),
                _ => {
                    let middle = lines[at].chars().count() / 2;
                    let split = lines[at].char_indices().nth(middle).map_or(0, |(at, _)| at);
                    lines[at].insert(split, letter);
                }
            }
        }
        lines.join("\n")
    })
}

fn lines() -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&LINES[..]), 0..20).prop_map(|lines| lines.join("\n"))
}

fn holds(text: &str) -> Result<bool, TestCaseError> {
    let plan = match read(text, &catalogue()) {
        Ok(plan) => plan,
        Err(refusal) => {
            let said = refusal.to_string();
            prop_assert!(!said.is_empty() && !said.contains('\n'), "{text}\n{said}");
            return Ok(false);
        }
    };
    let written = serde_json::to_string(&plan).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let back: Plan =
        serde_json::from_str(&written).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(&back, &plan, "{}", text);
    let (points, treatments) = expand(&plan);
    let each = points.len() * treatments.len();
    prop_assert!(each > 0 && each <= 100_000, "{text}: {each} cells");
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn no_text_is_a_panic(text in any::<String>()) {
        holds(&text)?;
    }

    #[test]
    fn no_order_of_lines_is_a_panic(text in lines()) {
        holds(&text)?;
    }

    #[test]
    fn a_plan_that_is_read_survives_being_written_however_it_was_changed(text in spoilt()) {
        holds(&text)?;
    }

    #[test]
    fn a_plan_of_right_lines_is_read(
        clients in 1..=16_u32,
        blocks in 3..=40_u32,
        (low, high) in (1..=64_u32, 64..=4096_u32),
        margin in 1..=20_u32,
    ) {
        let text = SMALL
            .replace("clients = 4", &format!("clients = {clients}"))
            .replace("64..256 B *2", &format!("{low} B..{high} B *4"))
            .replace("blocks = 5", &format!("blocks = {blocks}\nmargin = \"{margin} %\""));
        prop_assert!(holds(&text)?, "{text}");
    }
}
