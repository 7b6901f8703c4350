//! Knows what a trial's settings leave of the machine's resources.
//!
//! Must not know the load, nor how the resources join.

use super::physics::Physics;
use super::resource::Resource;
use super::scene::in_force;
use desk::record::{LabPlan, Settings, Value};
use std::collections::BTreeMap;

/// The CPUs of the system under test, as they are switched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cpus {
    /// Cores.
    pub cores: f64,
    /// CPUs that are online: cores, times threads where these are on.
    pub logical: f64,
    /// What a core does with all its threads busy; 1 with one.
    pub smt_yield: f64,
}

impl Cpus {
    /// The CPUs of a physics, with or without simultaneous multithreading.
    #[must_use]
    pub fn of(physics: &Physics, smt: bool) -> Self {
        let machine = &physics.machine;
        let (cores, threads) = (f64::from(machine.cores), f64::from(machine.threads));
        let logical = if smt { cores * threads } else { cores };
        Self { cores, logical, smt_yield: machine.smt_yield }
    }

    /// Work that so many busy CPUs do, in CPUs that have a core to themselves.
    ///
    /// CPUs fill one a core first; from there to all of them the work rises evenly to
    /// cores x yield.
    #[must_use]
    pub fn work(&self, busy: f64) -> f64 {
        if busy <= self.cores {
            return busy;
        }
        let second = (busy.min(self.logical) - self.cores) / (self.logical - self.cores);
        self.cores + second * self.cores * (self.smt_yield - 1.0)
    }
}

/// The setting that leaves a share of a resource, by its word in a physics; that of the CPUs is
/// `cpu_speed`, which real machines have too.
#[must_use]
pub fn throttle(word: &str) -> String {
    format!("sim_{word}")
}

/// What is left of the resources.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The CPUs.
    pub cpus: Cpus,
    /// Speed of a CPU; 1 is that of the physics.
    pub speed: f64,
    /// CPUs that the system under test may use; none for no quota.
    pub server_quota: Option<f64>,
    /// CPUs that all clients may use together; none for no quota.
    pub client_quota: Option<f64>,
    /// Bits per second on the wire of each client.
    pub client_rate: f64,
    /// Bytes of a receive buffer, where that can be the limit.
    pub receive_buffer: f64,
    /// What planted capacities leave of each resource but the CPUs, 1 where none is planted.
    capacities: BTreeMap<Resource, f64>,
}

impl Hold {
    /// Everything as the physics has it.
    #[must_use]
    pub fn untouched(physics: &Physics) -> Self {
        Self {
            cpus: Cpus::of(physics, true),
            speed: 1.0,
            server_quota: None,
            client_quota: None,
            client_rate: physics.clients.rate.unwrap_or(f64::INFINITY),
            receive_buffer: physics.sockets.receive_buffer.unwrap_or(f64::INFINITY),
            capacities: BTreeMap::new(),
        }
    }

    /// What the settings in force in a trial leave, on CPUs that run at this speed.
    #[must_use]
    pub fn of(physics: &Physics, lab: &LabPlan, settings: &Settings, speed: f64) -> Self {
        let (_, all) = in_force(lab, settings);
        let mut hold = Self::untouched(physics);
        let smt = all.get("smt").and_then(Value::word) != Some("off");
        hold.cpus = Cpus::of(physics, smt);
        let quantity = |key: &str| all.get(key).and_then(Value::quantity);
        hold.server_quota = quantity("server_quota").map(|quota| quota.value);
        hold.client_quota = quantity("client_quota").map(|quota| quota.value);
        let rate = quantity("client_rate").map_or(f64::INFINITY, |rate| rate.value);
        hold.client_rate = hold.client_rate.min(rate);
        if let (true, Some(buffer)) = (hold.receive_buffer.is_finite(), quantity("receive_buffer"))
        {
            hold.receive_buffer = buffer.value;
        }
        for (word, resource) in Resource::ALL {
            let left = if resource == Resource::Cpu { "cpu_speed".into() } else { throttle(word) };
            if let Some(share) = quantity(&left) {
                *hold.capacities.entry(resource).or_insert(1.0) *= share.value;
            }
        }
        for (key, value) in &all {
            let levels = physics.capacities.get(key);
            for (resource, by) in
                levels.and_then(|l| l.get(&value.to_string())).into_iter().flatten()
            {
                *hold.capacities.entry(*resource).or_insert(1.0) *= by;
            }
        }
        hold.speed = speed * hold.capacities.remove(&Resource::Cpu).unwrap_or(1.0);
        hold
    }

    /// What is left of a resource but the CPUs, of 1.
    #[must_use]
    pub fn left(&self, resource: Resource) -> f64 {
        self.capacities.get(&resource).copied().unwrap_or(1.0)
    }
}
