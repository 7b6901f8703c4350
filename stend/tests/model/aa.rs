//! Asks of two hundred reports on two levels that do the same whether a winner is in the headline.
//!
//! The levels differ in a setting (`tso`) that changes nothing here, as the line is the limit, so
//! that stend does not know that they are alike. Seeds are 1 to 200, none left out.

#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::{Plan, Run};
use desk::verdict::analyse;
use press::report::{Node, Tone, compose};
use rig::lab::sim::Physics;

/// Reports.
const REPORTS: u64 = 400;
/// Headlines with a winner that are let pass: 5 %.
const MOST: usize = 32;

/// What two equal levels are compared under.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One load.
    One,
    /// Two loads under two levels of another factor: four comparisons.
    Four,
    /// The same, of which the plan names one as its primary comparison.
    Named,
}

fn plan(seed: u64, shape: Shape) -> Plan {
    let load =
        |name: &str, rest: &str| format!("[load.{name}]\nworkload = \"tcp_stream\"\n{rest}\n");
    let (loads, method) = match shape {
        Shape::One => {
            let over = "over = { request_size = \"16K..64K *4\" }";
            let it = load("it", &format!("congestion = \"cubic\"\n{over}"));
            (it, "curve = \"request_size\"")
        }
        // Without a curve, as two hundred reports of four curves take minutes.
        Shape::Four | Shape::Named => {
            let other = "[factors.congestion]\nlevels = [\"cubic\", \"bbr\"]\n";
            let of = |name, way| {
                load(name, &format!("direction = \"{way}\"\nrequest_size = \"64 KiB\""))
            };
            let (send, take) = (of("send", "transmit"), of("take", "receive"));
            let named = "compare = \"tso\"\n\
                         primary_comparison = { load = \"take\", congestion = \"cubic\" }";
            let method = if matches!(shape, Shape::Named) { named } else { "compare = \"tso\"" };
            (format!("{other}{send}{take}"), method)
        }
    };
    let text = format!(
        "title = \"alike\"\n[lab]\nclients = 2\n[factors.tso]\nlevels = [\"off\", \"on\"]\n\
         {loads}[method]\nblocks = 5\nseed = {seed}\n\
         settle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n{method}\n"
    );
    simulated::plan(&text)
}

/// A machine with CPUs to spare behind a slow line; its trials scatter by `sd`.
fn physics(seed: u64, sd: &str) -> Physics {
    let text = format!(
        "seed = {seed}\n[link]\nline_rate = \"1 Gbit/s\"\n[machine]\ncores = 8\n\
         [noise]\nsd = \"{sd}\"\n"
    );
    simulated::physics(&text)
}

fn run(seed: u64, sd: &str, shape: Shape) -> Run {
    simulated::run(&plan(seed, shape), &physics(seed, sd))
}

/// The headline, and whether it names a winner: as a whole, under a condition, or somewhere along
/// a curve.
fn headline(run: &Run, comparisons: usize) -> (String, bool) {
    let analysis = analyse(run);
    assert_eq!(analysis.comparisons.len(), comparisons, "nothing was compared");
    let knows = analysis.comparisons.iter().any(|c| c.aa);
    assert!(!knows, "stend is not to know");
    let document = compose(run, &analysis).expect("an article");
    let Some(Node::VerdictBox { headline, tone, .. }) = document.body.first() else {
        return (String::new(), true);
    };
    let said = headline.text().replace('\u{a0}', " ");
    let words = ["better", "worse", "ahead", "behind"].iter().any(|word| said.contains(word));
    let splits = said.contains(" against ") && sides(&said).any(is_claim);
    (said, words || splits || matches!(tone, Tone::Good | Tone::Bad))
}

/// The parts of a headline that says an effect for each condition; a condition holds a comma.
fn sides(said: &str) -> impl Iterator<Item = &str> {
    said.trim_end_matches('.').split(" %").skip(1)
}

/// `... with send, congestion cubic`, and nothing behind it that takes the effect back.
fn is_claim(side: &str) -> bool {
    side.contains(" with ") && !side.contains("(undecided)") && !side.contains("(inside")
}

/// A true rate of 5 % gives 20 of 400, and more than 32 in 0.4 % of such tests by chance alone; one
/// of 10 % gives more than 32 in 91 %.
fn winners(shape: Shape, comparisons: usize) -> Vec<String> {
    let mut winners = Vec::new();
    for seed in 1..=REPORTS {
        // Half of them quiet, half of them as noisy as a shared machine.
        let sd = if seed % 2 == 0 { "1 %" } else { "3 %" };
        let (said, wins) = headline(&run(seed, sd, shape), comparisons);
        if wins {
            winners.push(format!("seed {seed}, noise {sd}: {said}"));
        }
    }
    winners
}

#[test]
fn four_hundred_reports_of_equal_levels_name_a_winner_in_eight_per_cent_at_most() {
    let winners = winners(Shape::One, 1);
    println!("{} of {REPORTS} headlines name a winner", winners.len());
    assert!(winners.len() <= MOST, "{}: {winners:#?}", winners.len());
}

#[test]
fn with_four_comparisons_a_report_they_name_one_no_more_often() {
    let winners = winners(Shape::Four, 4);
    println!("{} of {REPORTS} headlines name a winner", winners.len());
    assert!(winners.len() <= MOST, "{}: {winners:#?}", winners.len());
}

#[test]
fn with_a_primary_comparison_named_it_is_found_different_no_more_often() {
    let winners = winners(Shape::Named, 4);
    println!("{} of {REPORTS} headlines name a winner", winners.len());
    assert!(winners.len() <= MOST, "{}: {winners:#?}", winners.len());
}

#[test]
fn an_effect_that_nothing_takes_back_is_a_claim() {
    let open = "tso on against tso off: throughput −2.2 % with send, congestion cubic (undecided), \
                +0.8 % with take, congestion bbr (inside the margin).";
    assert!(!sides(open).any(is_claim));
    assert!(sides(&open.replace(" (undecided)", "")).any(is_claim));
    assert!(sides(&open.replace(" (inside the margin)", "")).any(is_claim));
}
