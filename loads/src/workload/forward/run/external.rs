//! Knows the external box between the ends: when it is read, and what its ports counted.
//!
//! Must not know how a box is asked; rig does. `forward/external.rs` says what the counts mean.

use crate::workload::forward::external::BoxCount;
use desk::record::Fault;
use rig::lab::external_box::{BoxError, ExternalBox, PortCount};
use rig::lab::{Lab, LabError, clock};

/// Between two readings of a box whose counts are not yet those of the end.
const LOOK_NS: u64 = 1_000_000_000;
/// How old the counts of a box may be: twice the 15 s after which net-snmp reads its ports again.
const OLDEST_NS: u64 = 30_000_000_000;

/// The external box of a trial.
#[derive(Debug)]
pub struct External {
    name: String,
    /// Who tells its counters, and what they were before the trial.
    agent: Option<(ExternalBox, Vec<PortCount>)>,
}

impl External {
    /// The box on the cable of a link, read for the first time; none where none is there.
    ///
    /// # Errors
    /// A box that does not tell what the plan wants.
    pub fn find(lab: &Lab, link: &str, is_dry: bool) -> Result<Option<Self>, Fault> {
        let Some(plan) = lab.external_box(link) else { return Ok(None) };
        let agent = ExternalBox::find(plan).and_then(|agent| {
            agent.map(|agent| agent.read().map(|before| (agent, before))).transpose()
        });
        match agent {
            Ok(agent) => Ok(Some(Self { name: plan.name.clone(), agent })),
            // In a counted visit it has answered before, or another visit may find it.
            Err(BoxError::Silent(what)) if !is_dry => Err(disturbed(&plan.name, what)),
            Err(e) => Err(Fault::NotAvailable { what: e.to_string() }),
        }
    }

    /// What it counted since then, as soon as it tells of all frames that were sent and came, or
    /// when its counts cannot be older than the end of the trial.
    ///
    /// # Errors
    /// A box that does not tell, or that has restarted; a run that is stopped.
    pub fn gained(&self, lab: &mut Lab, (sent, came): (u64, u64)) -> Result<BoxCount, Fault> {
        let ends_ns = clock::now_ns() + OLDEST_NS;
        let mut count = self.now()?;
        while self.agent.is_some() && !count.tells((sent, came)) && clock::now_ns() < ends_ns {
            lab.wait_until(clock::now_ns() + LOOK_NS).map_err(LabError::into_fault)?;
            count = self.now()?;
        }
        Ok(count)
    }

    /// Waits after a trial that failed until its frames are counted, so that the next reading has
    /// them; no longer than until the run is stopped.
    pub fn outlast(&self, lab: &mut Lab) {
        let ends_ns = clock::now_ns() + OLDEST_NS;
        while self.agent.is_some() && clock::now_ns() < ends_ns {
            let waited = lab.wait_until(ends_ns);
            match waited {
                Err(LabError::Cancelled) => return,
                // A host is gone.
                Err(_) => clock::sleep_until(clock::now_ns() + LOOK_NS / 20),
                Ok(()) => {}
            }
        }
    }

    fn now(&self) -> Result<BoxCount, Fault> {
        let name = self.name.clone();
        let Some((agent, before)) = &self.agent else {
            return Ok(BoxCount { name, ports: Vec::new() });
        };
        let now = agent.read().map_err(|e| disturbed(&name, e.to_string()))?;
        let gained = |(now, before): (&PortCount, &PortCount)| {
            now.since(before).ok_or_else(|| {
                let what = format!(
                    "its port {} counts less than before the trial: it has restarted, or its \
                     counters were cleared",
                    now.port
                );
                disturbed(&name, what)
            })
        };
        let ports = now.iter().zip(before).map(gained).collect::<Result<_, _>>()?;
        Ok(BoxCount { name, ports })
    }
}

fn disturbed(name: &str, what: String) -> Fault {
    Fault::Disturbed { host: name.into(), what }
}
