//! Searches the simulated devices by MLRsearch, or lets another program search them.
//!
//! `cargo run --release -p desk --features testing --example mlr -- serve` reads `device NUMBER
//! SEED` and `trial LOAD SECONDS`, and answers a trial with frames sent and lost. `search SEEDS`
//! prints number, seed and trial-seconds of each search of ours, `log SEEDS` each trial too.

use desk::search::mlr::{DEVICES, Device, MlrNext, MlrTrial, mlr, usual};
use std::io::{self, BufRead as _, Write as _};

#[expect(clippy::disallowed_methods, reason = "an example is a program and has arguments")]
fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (verb, seeds) = (words.next(), words.next().and_then(|word| word.parse().ok()));
    match (verb.as_deref(), seeds) {
        (Some("serve"), _) => serve(),
        (Some("search"), Some(seeds)) => search(seeds, false),
        (Some("log"), Some(seeds)) => search(seeds, true),
        _ => Err(io::Error::other("write serve, search SEEDS or log SEEDS")),
    }
}

fn serve() -> io::Result<()> {
    let mut device = Device::new(0, 0);
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let unclear = || io::Error::other(format!("unclear: {line}"));
        match words.as_slice() {
            ["device", number, seed] => {
                let number = number.parse().map_err(|_| unclear())?;
                device = Device::new(number, seed.parse().map_err(|_| unclear())?);
            }
            ["trial", load, seconds] => {
                let load = load.parse().map_err(|_| unclear())?;
                let [sent, lost] = device.trial(load, seconds.parse().map_err(|_| unclear())?);
                writeln!(out, "{sent} {lost}")?;
                out.flush()?;
            }
            _ => return Err(unclear()),
        }
    }
    Ok(())
}

fn search(seeds: u64, logs: bool) -> io::Result<()> {
    let (rule, mut out) = (usual(), io::stdout().lock());
    for number in 0..DEVICES.len() {
        for seed in 0..seeds {
            let mut device = Device::new(number, seed);
            let mut trials = Vec::new();
            while let MlrNext::Try { load, duration_s } = mlr(&trials, &rule) {
                let [sent, lost] = device.trial(load, duration_s);
                trials.push(MlrTrial { load, duration_s, loss: lost / sent });
                if logs {
                    writeln!(out, "trial {load} {duration_s} {sent} {lost}")?;
                }
            }
            let seconds: f64 = trials.iter().map(|trial| trial.duration_s).sum();
            writeln!(out, "search {number} {seed} {seconds}")?;
        }
    }
    Ok(())
}
