//! Knows `stend doctor`: what this machine lets us measure, tried and not guessed, and what killed
//! runs left.
//!
//! Gives: [`doctor`], [`Wanted`]. Never: carries out a command that it proposes.
//! Start reading at `forecast.rs`.

mod cable;
mod forecast;
mod ground;
mod items;
mod json;
mod left;
mod show;

pub use json::Doctor;
#[cfg(feature = "machines")]
pub use show::wrap;

use super::error::CliError;
use super::{CANNOT, OK, store, terminal};
use clap::Args;
use forecast::Test;
use items::Item;
use rig::lab::capability::{Noise, listen};
use rig::lab::undo;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long it is listened to the machine.
const LISTEN: Duration = Duration::from_secs(1);

/// The two columns of names and states leave too little room in fewer columns than these.
const NARROWEST: usize = 60;

/// What the doctor is asked.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Bring back and remove what killed runs left, and look at nothing else
    #[arg(long, conflicts_with_all = ["json", "no_noise", "store"])]
    clean: bool,
    /// Test the cable of an adapter, and look at nothing else: its link is down for some seconds
    #[arg(long, value_name = "IF", conflicts_with_all = ["clean", "json", "no_noise", "store"])]
    cable: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Do not keep every CPU busy for a second to hear who else uses it
    #[arg(long)]
    no_noise: bool,
    /// File in which runs would be kept [default: stend/lab.stend in the state directory]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// All that was found.
struct Findings {
    items: Vec<Item>,
    tests: Vec<Test>,
    left: Vec<String>,
}

impl Findings {
    /// Whether any place but the simulated one has a test that runs.
    fn can_measure(&self) -> bool {
        self.tests.iter().any(|test| test.lab != ground::SIMULATED && test.reason.is_none())
    }
}

/// Says what can be measured here, or with `clean` removes what killed runs left.
///
/// # Errors
/// When a built-in plan cannot be read, or standard output cannot be written.
pub fn doctor(wanted: &Wanted) -> Result<u8, CliError> {
    if wanted.clean {
        return left::clean();
    }
    if let Some(adapter) = &wanted.cable {
        return cable::cable(adapter);
    }
    let findings = examine(wanted)?;
    let columns = usize::from(terminal::columns()).max(NARROWEST);
    let mut out = terminal::out();
    if wanted.json {
        serde_json::to_writer_pretty(&mut out, &json::json(&findings))?;
        out.write_all(b"\n")?;
    } else {
        out.write_all(show::show(&findings, columns).as_bytes())?;
    }
    Ok(if findings.can_measure() { OK } else { CANNOT })
}

fn examine(wanted: &Wanted) -> Result<Findings, CliError> {
    // First: what is tried afterwards has agents and groups of its own.
    let left = undo::left();
    let store = store::path(wanted.store.as_deref());
    let tests = forecast::tests(&store)?;
    let noise: Option<std::io::Result<Noise>> =
        (!wanted.no_noise).then(|| listen(Path::new("/"), LISTEN));
    let items = items::items(&store, &tests, noise);
    Ok(Findings { items, tests, left })
}
