//! Prints what each probe, by its place in the list, costs at the opening and at the close of a
//! window: median and most, microseconds of CPU time; then all of them together.
//!
//! `cargo run --release -p rig --example probes`

use rig::lab::{Ours, clock};
use rig::probe::{Moment, all};
use std::io::{self, Write as _};
use std::time::Duration;

const WINDOWS: usize = 20;
const WINDOW: Duration = Duration::from_millis(300);

fn main() -> io::Result<()> {
    let ours = Ours::default();
    let moment = Moment { ours: &ours, soaker: &[] };
    let mut probes = all();
    let mut costs = vec![[const { Vec::new() }; 2]; probes.len() + 1];
    for _ in 0..WINDOWS {
        probes.iter_mut().for_each(|probe| probe.prepare(&ours));
        let mut all = [0, 0];
        for (probe, cost) in probes.iter_mut().zip(&mut costs) {
            let before_ns = clock::thread_cpu_ns();
            probe.begin(&moment);
            cost[0].push(clock::thread_cpu_ns() - before_ns);
            all[0] += cost[0].last().copied().unwrap_or(0);
        }
        std::thread::sleep(WINDOW);
        for (probe, cost) in probes.iter_mut().zip(&mut costs) {
            let before_ns = clock::thread_cpu_ns();
            let _ = probe.end(&moment);
            cost[1].push(clock::thread_cpu_ns() - before_ns);
            all[1] += cost[1].last().copied().unwrap_or(0);
        }
        let sums = costs.last_mut().into_iter().flatten();
        sums.zip(all).for_each(|(sum, all)| sum.push(all));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "probe  opens  most  closes  most")?;
    for (at, cost) in costs.iter_mut().enumerate() {
        let told = cost.each_mut().map(|all| {
            all.sort_unstable();
            [all[all.len() / 2] / 1000, all.last().copied().unwrap_or(0) / 1000]
        });
        let name = if at == probes.len() { "all".into() } else { at.to_string() };
        let [[opens, opens_most], [closes, closes_most]] = told;
        writeln!(out, "{name:>5}  {opens:>5}  {opens_most:>4}  {closes:>6}  {closes_most:>4}")?;
    }
    Ok(())
}
