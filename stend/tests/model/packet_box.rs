//! Knows that searches of plans find what a box in a simulated lab is planted with: the capacity of
//! its core, its buffer, the rate and depth of its policer, the weights of its queues.
#![expect(clippy::expect_used, reason = "helpers of tests stand outside test functions")]

use super::simulated;

use desk::record::Run;
use desk::verdict::{Verdict, analyse, headrooms, line_shares, own_counts};
use press::report;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use simulated::{physics, run};

/// Boxes of the everyday test, and of `./test full`.
const FEW: u64 = 2;
const ALL: u64 = 50;
/// Bits of a frame of 64 B on a line, with preamble and gap.
const BITS: f64 = 84.0 * 8.0;
/// Bits of one as a device sees it, without the check sequence.
const INSIDE: f64 = 60.0 * 8.0;
/// The same of a frame in the mean of 12 in a mix: 7 of 64 B, 4 of 594 B, 1 of 1518 B.
const MIXED_BITS: f64 = (4342.0 / 12.0 + 20.0) * 8.0;
/// Frames a second of a client that sends as fast as it can, and of one among several.
const TESTER: f64 = 1e6;
const SLOW: f64 = 2000.0;

/// A run of these loads through a box that has this planted.
fn through((clients, tester): (usize, f64), loads: &str, planted: &str) -> Run {
    let window = if clients > 1 { 30 } else { 1 };
    let plan = simulated::plan(&format!(
        "title = \"t\"\n[lab]\nclients = {clients}\n{loads}[method]\nblocks = 3\ndry = false\n\
         settle = \"5 s\"\nsettle_max = \"6 s\"\nwindow = \"{window} s\"\nseed = 7\n"
    ));
    let still = "[noise]\nsd = \"0 %\"\n[link]\nline_rate = \"100 Gbit/s\"\n";
    run(&plan, &physics(&format!("{still}[device]\ntester = {tester:.1}\n{planted}")))
}

/// The load `name`, searched for the largest value of `over` at which no frame is lost.
fn lossless(name: &str, over: &str, [from, to]: [&str; 2]) -> String {
    format!(
        "[load.{name}]\nworkload = \"forward\"\n[load.{name}.search]\nkind = \"bisect\"\n\
         over = \"{over}\"\nmetric = \"loss\"\nlimit = \"0 %\"\nfrom = {from}\nto = {to}\n\
         resolution = \"0.1 %\"\n"
    )
}

/// The search of RFC 9971 for a goal.
const MLR: &str = "[load.several]\nworkload = \"forward\"\n[load.several.search]\n\
                   kind = \"mlr\"\nover = \"offered_load\"\nmetric = \"loss\"\n\
                   from = \"1 Mbit/s\"\nto = \"20 Mbit/s\"\n\
                   goals = [{ loss = \"0 %\", sum = \"3 s\", width = \"0.2 %\" }]\n";
const RATES: [&str; 2] = ["\"1 Mbit/s\"", "\"20 Mbit/s\""];
const BURSTS: [&str; 2] = ["1", "4096"];

/// A whole number drawn from `least` to `most`.
fn between(rng: &mut ChaCha8Rng, least: u32, most: u32) -> f64 {
    f64::from(least + rng.next_u32() % (most - least + 1))
}

fn figure(run: &Run, name: &str) -> f64 {
    let found = analyse(run);
    let figure = found.measured.iter().find_map(|one| one.figure(name));
    figure.expect("a figure").estimate.centre.value
}

/// What holds so many frames, of which the longest burst at one rate is lossless, while another
/// rate drains it (the corrected buffer of RFC 9004, for whole frames).
fn depth(burst: f64, [drain, offered]: [f64; 2]) -> f64 {
    burst - ((burst - 1.0) * drain / offered).floor()
}

fn within(found: f64, planted: f64, share: f64, what: &str) {
    assert!((found / planted - 1.0).abs() <= share, "{what}: {found}, planted {planted}");
}

/// A box with nothing but a core and a buffer before it.
fn core_and_buffer(seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let capacity = between(&mut rng, 2_000_000, 8_000_000) / 1000.0;
    let buffer = between(&mut rng, 1, 40);
    let planted = format!("capacity = {capacity:.4}\nbuffer = {buffer}\n");
    let rate = lossless("rate", "offered_load", RATES);
    let burst = lossless("burst", "burst", BURSTS);
    let run = through((1, TESTER), &format!("{rate}{burst}{MLR}"), &planted);
    let found = figure(&run, "rate_largest") / BITS;
    within(found, capacity, 0.005, &format!("{seed}, bisect"));
    within(figure(&run, "several_goal1") / BITS, capacity, 0.005, &format!("{seed}, mlr"));
    let found = depth(figure(&run, "burst_largest"), [found, TESTER]);
    assert!((found - buffer).abs() <= 1.0, "{seed}: {found}, planted {buffer}");
}

/// A box that polices, and does nothing else that can be seen.
fn policer(seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(!seed);
    let rate = between(&mut rng, 2_000_000, 8_000_000) / 1000.0;
    let burst = between(&mut rng, 1, 10);
    let planted = format!(
        "capacity = 10000000.0\nbuffer = 4096\npolice_rate = \"{:.3} bit/s\"\n\
         police_burst = \"{} B\"\n",
        rate * INSIDE,
        burst * 60.0 + between(&mut rng, 0, 59)
    );
    let loads = lossless("rate", "offered_load", RATES) + &lossless("burst", "burst", BURSTS);
    let run = through((1, TESTER), &loads, &planted);
    let found = figure(&run, "rate_largest") / BITS;
    within(found, rate, 0.002, &format!("{seed}, policer"));
    let found = depth(figure(&run, "burst_largest"), [found, TESTER]);
    assert!((found - burst).abs() <= 1.0, "{seed}: {found}, planted {burst}");
}

/// A box whose queues share a line that all clients together overload.
fn queues(seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed << 32);
    let count = between(&mut rng, 2, 4) as u32;
    let weights: Vec<f64> = (0..count).map(|_| between(&mut rng, 1, 6)).collect();
    let all: f64 = weights.iter().sum();
    // Lines of 1,500 frames a second, of which each client sends more.
    let whole: Vec<u32> = weights.iter().map(|weight| *weight as u32).collect();
    let load = "[load.all]\nworkload = \"forward\"\nframe_size = \"1518 B\"\n";
    let planted = format!("capacity = 1000000.0\nline = \"18504000 bit/s\"\nqueues = {whole:?}\n");
    let run = through((weights.len(), SLOW), load, &planted);
    let record = run.records.first().expect("a trial");
    let told = |client: usize| record.outcome.flows.rows[client].figures[2].expect("a count");
    let came: Vec<f64> = (0..weights.len()).map(told).collect();
    let sum: f64 = came.iter().sum();
    for (came, weight) in came.iter().zip(&weights) {
        let share = weight / all;
        within(came / sum, share, 0.01, &format!("{seed}, {weights:?}"));
    }
}

#[test]
fn searches_find_the_core_and_the_buffer_of_planted_boxes() {
    (0..FEW).for_each(core_and_buffer);
}

/// A box counts frames, whose sizes the offered load has in the mean, and a line counts bits.
#[test]
fn a_mix_finds_the_same_core_and_its_bits_are_those_that_came() {
    let mixed =
        |load: String| load.replace("\"forward\"\n", "\"forward\"\nframe_size = \"imix\"\n");
    let rate = mixed(lossless("rate", "offered_load", ["\"4 Mbit/s\"", "\"9 Mbit/s\""]));
    let run = through((1, TESTER), &rate, "capacity = 2000.0\nbuffer = 8\n");
    within(figure(&run, "rate_largest") / MIXED_BITS, 2000.0, 0.005, "a core");
    // A line that carries the mix in the mean, and one that carries half of its bits; the sizes of
    // each client are in turn.
    for (clients, line, share) in
        [(1, "5 Mbit/s", 1.0), (1, "2.291 Mbit/s", 0.5), (3, "5 Mbit/s", 1.0)]
    {
        let load = "[load.it]\nworkload = \"forward\"\noffered_load = \"4.582 Mbit/s\"\n";
        let planted = format!("capacity = 1000000.0\nline = \"{line}\"\nqueues = [1]\n");
        let run = through((clients, TESTER), &mixed(load.into()), &planted);
        let outcome = &run.records[0].outcome;
        let of = |name| outcome.metric(name).expect("a figure").value;
        within(of("throughput"), share * 4.582e6, 0.01, line);
        if share > 0.9 {
            within(of("frames"), 1500.0, 0.002, line);
        }
    }
}

#[test]
fn searches_find_the_rate_and_the_depth_of_planted_policers() {
    (0..FEW).for_each(policer);
}

#[test]
fn both_counts_of_a_box_and_its_share_of_a_line_have_a_table() {
    let load = "[load.all]\nworkload = \"forward\"\ndeclared_rate = \"10 Mbit/s\"\n\
                offered_load = \"2 Mbit/s\"\n";
    let run = through((1, TESTER), load, "capacity = 5000.0\nbuffer = 32\n");
    assert_eq!([own_counts(&run).len(), line_shares(&run).len()], [1, 1]);
}

#[test]
fn an_article_says_which_counter_has_the_frames_that_are_missing() {
    let load = "[load.all]\nworkload = \"forward\"\noffered_load = \"10 Mbit/s\"\n";
    let run = through((1, TESTER), load, "capacity = 5000.0\nbuffer = 32\n");
    let said = report::text(&report::compose(&run, &analyse(&run)).expect("words"), 200, true);
    assert!(said.contains("frames device dropped buffer_full"), "{said}");
}

#[test]
fn shares_of_copies_and_of_frames_out_of_order_are_those_of_the_window() {
    let load = "[load.all]\nworkload = \"forward\"\noffered_load = \"20 Mbit/s\"\n";
    let planted = "capacity = 50000.0\nbuffer = 32\nreorder = \"4 %\"\nduplicate = \"5 %\"\n";
    let run = through((1, TESTER), load, planted);
    let outcome = &run.records[0].outcome;
    for (name, share) in [("reordered", 0.04), ("duplicates", 0.05)] {
        within(outcome.metric(name).expect("a share").value, share, 0.15, name);
    }
}

#[test]
fn a_tester_without_headroom_has_no_verdict_and_an_article_says_why_and_where_it_departs() {
    let loads = "[factors.fast_path]\nlevels = [\"off\", \"xdp\"]\n[load.all]\n\
                 workload = \"forward\"\nframe_size = \"imix\"\n";
    let planted = "capacity = 5000.0\nbuffer = 32\n";
    for (tester, short) in [(24_500.0, true), (25_500.0, false)] {
        let run = through((1, tester), loads, planted);
        let found = analyse(&run);
        let verdict = found.comparisons[0].verdict;
        assert_eq!(verdict == Verdict::NoHeadroom, short, "{verdict:?}");
        assert_eq!(headrooms(&run).len(), 1);
        let said = report::text(&report::compose(&run, &found).expect("words"), 200, true);
        assert_eq!(said.contains("less than 5 times a figure"), short, "{said}");
        for words in
            ["Headroom of the load generator", "departs from RFC 2544", "none for throughput"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}

#[test]
fn every_plan_in_the_page_of_the_workload_is_read() {
    let page = include_str!("../../../loads/src/workload/forward/README.md");
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let plans: Vec<_> = blocks.filter(|block| block.starts_with("title")).collect();
    assert_eq!(plans.len(), 3);
    plans.into_iter().for_each(|text| drop(simulated::plan(text)));
}

#[test]
fn counts_of_clients_show_the_weights_of_planted_queues() {
    (0..FEW).for_each(queues);
}

#[test]
#[ignore = "minutes in a debug build; ./test full runs it"]
fn searches_find_the_cores_and_buffers_of_fifty_boxes() {
    (0..ALL).for_each(core_and_buffer);
}

#[test]
#[ignore = "minutes in a debug build; ./test full runs it"]
fn searches_find_fifty_policers_and_counts_the_weights_of_fifty_boxes() {
    (0..ALL).for_each(policer);
    (0..ALL).for_each(queues);
}
