//! Knows that what is planted in the simulated lab is said by the article: a crossing along a
//! curve, and costs of a server whose clients have machines of their own.

use super::simulated;

use desk::verdict::{Agreement, Basis, Verdict, Withheld, analyse};
use press::report;
use simulated::{physics, plan, run};

/// Two links along the size of a request.
const LINKS: &str = "title = \"crossing\"\n[lab]\nclients = 2\n[lab.links.wide]\n\
    [lab.links.quick]\ngro = \"on\"\n[factors.path]\nlevels = [\"wide\", \"quick\"]\n[load.it]\n\
    workload = \"tcp_stream\"\ncongestion = \"cubic\"\nover = { request_size = \"64..256K *4\" }\n\
    [method]\nblocks = 10\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n\
    curve = \"request_size\"\n";

/// The quick link carries all that the CPUs let through 1.3 times as fast, and its line ends 9 %
/// below that of the wide one.
fn crossing(noise: &str) -> String {
    format!(
        "[machine]\ncores = 4\n[link]\nline_rate = \"20 Gbit/s\"\n\
         [links.quick]\nline_rate = \"14 Gbit/s\"\n\
         [effects.path]\nquick = 1.3\n[noise]\nsd = \"{noise}\"\nar = 0.0\n"
    )
}

#[test]
fn a_crossing_is_told_by_the_mean_and_by_the_regions_and_that_they_disagree() {
    let truth = run(&plan(LINKS), &physics(&crossing("0 %")));
    let truth: Vec<bool> =
        analyse(&truth).comparisons[0].points.iter().map(|p| p.ratio.centre.value > 1.0).collect();
    let behind = truth.iter().filter(|ahead| !**ahead).count();
    assert!((1..truth.len()).contains(&behind) && !truth[truth.len() - 1], "it crosses: {truth:?}");
    let run = run(&plan(LINKS), &physics(&crossing("1 %")));
    let found = analyse(&run);
    let [curve] = &found.curves[..] else { panic!("{:?}", found.curves) };
    assert_eq!((curve.verdict, curve.agreement), (Verdict::Better, Agreement::Opposed));
    assert_eq!((curve.ahead as usize, curve.behind as usize), (truth.len() - behind, behind));
    let [against] = &curve.against[..] else { panic!("{curve:?}") };
    let points = &found.comparisons[0].points;
    assert_eq!(Some(&against.from), points[truth.len() - behind].at.as_ref());
    assert_eq!(Some(&against.to), points[truth.len() - 1].at.as_ref());
    let said = report::text(&report::compose(&run, &found).expect("words"), 20_000, true);
    let said = said.replace('\u{a0}', " ");
    let place = match behind {
        1 => format!("behind at {}", against.from),
        _ => format!("behind from {} to {}", against.from, against.to),
    };
    for words in [
        format!("quick is better than wide overall, but {place}."),
        "Mean and regions disagree: quick is ahead of wide on average, +".into(),
        format!("and {place}."),
        "all of 64 B–".into(),
    ] {
        assert!(said.contains(&words), "{words} is not in\n{said}");
    }
}

#[test]
fn the_index_of_a_server_is_not_withheld_for_the_cpus_of_clients_elsewhere() {
    let text = "title = \"own\"\n[lab]\nclients = 2\n[factors.tso]\nlevels = [\"off\", \"on\"]\n\
        [load.it]\nworkload = \"tcp_stream\"\ncongestion = \"cubic\"\noffered_load = \"4 Gbit/s\"\n\
        request_size = \"2 KiB\"\n\
        [method]\nblocks = 5\nsettle = \"0.3 s\"\nsettle_max = \"1 s\"\nwindow = \"0.8 s\"\n";
    let told = |clients: &str| {
        let physics = physics(&format!("[clients]\nmachine = \"{clients}\"\nspeed = 2.0\n"));
        let found = analyse(&run(&plan(text), &physics));
        assert_eq!(found.costs.len(), 1, "{found:?}");
        found.costs.into_iter().next().expect("a cost")
    };
    let (own, shared) = (told("own"), told("shared"));
    assert_eq!((own.basis, shared.basis), (Basis::Server, Basis::Pair));
    assert_eq!((own.withheld_overall, shared.withheld_overall), (None::<Withheld>, None));
    for parts in &own.parts {
        assert!(parts.clients.centre.value.abs() < 1e-12, "{parts:?}");
        assert!(parts.unattributed.centre.value.abs() < 0.01, "{parts:?}");
        assert!(parts.server.centre.value > 0.0);
    }
    assert!(shared.parts.iter().all(|parts| parts.clients.centre.value > 0.0));
}
