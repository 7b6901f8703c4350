//! What a wrong clock makes of a record, and which of that the checks of the load find.

use super::{Case, case, close, rate, throughput};
use desk::record::Fault;

/// The clock of a host is so: the trial goes at 5 s, its window is 5.3 to 6.3 s.
fn with(host: &str, clock: &str) -> String {
    format!("[link]\nline_rate = \"1 Gbit/s\"\n[clocks.{host}]\n{clock}\n")
}

const TRUE: f64 = 1e9 * 1448.0 / 1538.0;

fn seen(host: &str, clock: &str) -> Result<f64, Fault> {
    case(&with(host, clock), &[], &[]).visit().map(|modelled| throughput(&modelled))
}

#[test]
fn a_quick_clock_of_the_receiver_shows_less_and_that_of_the_sender_nothing() {
    close(seen("c01", "rate = 1.02").unwrap(), TRUE / 1.02);
    close(seen("c01", "rate = 0.995").unwrap(), TRUE / 0.995);
    close(seen("sut", "rate = 1.02").unwrap(), TRUE);
    close(seen("c02", "rate = 1.02").unwrap(), TRUE);
}

#[test]
fn a_small_step_within_the_window_shortens_or_lengthens_it_unseen() {
    close(seen("c01", "step = \"20 ms\"\nat = \"6 s\"").unwrap(), TRUE * 0.98);
    close(seen("c01", "step = \"-5 ms\"\nat = \"6 s\"").unwrap(), TRUE * 1.005);
}

#[test]
fn a_step_outside_of_the_window_changes_nothing() {
    for at in ["4 s", "6.4 s", "50 s"] {
        let clock = format!("step = \"80 ms\"\nat = \"{at}\"");
        close(seen("c01", &clock).unwrap(), TRUE);
    }
    // Between go and the opening it moves both edges alike.
    close(seen("c01", "step = \"80 ms\"\nat = \"5.1 s\"").unwrap(), TRUE);
}

#[test]
fn a_step_over_an_edge_is_found_from_a_twentieth_of_the_window_on() {
    for (at, edge) in [("5.29 s", "opening"), ("6.29 s", "closing")] {
        let found = seen("c01", &format!("step = \"100 ms\"\nat = \"{at}\"")).unwrap_err();
        let Fault::Disturbed { host, what } = &found else { panic!("{edge}: {found:?}") };
        assert!(host == "c01" && what.contains("90 ms"), "{edge}: {what}");
    }
    assert!(seen("c01", "step = \"40 ms\"\nat = \"6.29 s\"").is_ok());
}

#[test]
fn a_host_that_reads_after_the_stop_sees_all_bytes_in_a_window_that_seems_as_long_as_ever() {
    // Its clock shows the end of the window 150 ms after it; the streams stop 10 ms after it.
    let late = seen("c01", "step = \"-150 ms\"\nat = \"6 s\"").unwrap();
    close(late, TRUE * 1.01);
}

#[test]
fn a_load_that_was_carried_looks_as_if_it_was_not() {
    let physics = with("c01", "rate = 1.05");
    let offered = [("offered_load", rate(5e8))];
    let paced = Case { params: &offered, ..case(&physics, &[], &[]) };
    close(paced.throughput(), 5e8 / 1.05);
}
