//! Knows which resources can be taken down in a lab, by which setting, and which cannot, and why.
//!
//! Must not know what that costs, nor what is concluded from it.

use crate::factor::{self, Mechanism};
use crate::lab::sim::{Physics, Resource, throttle};
use desk::record::{Fixed, LoadPlan, ParamRole, Plan, Settings, Throttle, Throttling, Value};
use desk::unit::{Quantity, Unit};
use std::path::Path;

/// What a plan whose factors are all held at one level can take down by `step` (a share above 0
/// and below 1), on the machine below `root`, or in a simulated lab of this physics.
#[must_use]
pub fn throttles(plan: &Plan, step: f64, root: &Path, physics: Option<&Physics>) -> Throttling {
    let mut found = Found { set: in_force(plan), left: 1.0 - step, ..Found::default() };
    match physics {
        Some(physics) => found.simulated(physics),
        None => {
            found.cpus(root);
            found.link();
        }
    }
    found.load(plan);
    let step = Quantity::new(step, Unit::Share);
    Throttling { step, throttles: found.throttles, fixed: found.fixed }
}

/// Everything that is set while the plan runs.
fn in_force(plan: &Plan) -> Settings {
    let mut all = plan.lab.settings.clone();
    let levels = || plan.factors.iter().filter_map(|factor| factor.levels.first());
    let path = levels().find_map(|level| level.settings.get("path")?.word());
    let used = plan.lab.links.iter().find(|link| Some(link.name.as_str()) == path);
    let link = used.or(plan.lab.links.first());
    all.extend(link.map(|link| link.settings.clone()).unwrap_or_default());
    levels().for_each(|level| all.extend(level.settings.clone()));
    all
}

#[derive(Default)]
struct Found {
    set: Settings,
    left: f64,
    throttles: Vec<Throttle>,
    fixed: Vec<Fixed>,
}

impl Found {
    fn down(&mut self, resource: &str, key: &str, full: Quantity) {
        let down = full.value * self.left;
        // A factor takes whole steps: bytes, kilohertz.
        let range = factor::spec(key).and_then(|spec| spec.kind.range);
        let down =
            range.map_or(Value::Quantity(Quantity::new(down, full.unit)), |r| r.nearest(down));
        let (resource, key, full) = (resource.into(), key.into(), Value::Quantity(full));
        self.throttles.push(Throttle { resource, key, full, down });
    }

    fn not(&mut self, resource: &str, why: impl Into<String>) {
        self.fixed.push(Fixed { resource: resource.into(), why: why.into() });
    }

    fn quantity(&self, key: &str) -> Option<Quantity> {
        self.set.get(key).and_then(Value::quantity)
    }

    /// The speed of all CPUs where it can be set, else the CPUs of each side; a quota that the plan
    /// has is taken down in any case.
    fn cpus(&mut self, root: &Path) {
        let speed = self.speed(root);
        for (resource, key) in [("server CPU", "server_quota"), ("client CPU", "client_quota")] {
            let Some(Mechanism::Quota(row)) = factor::mechanism(key) else { continue };
            let own = self.quantity(key);
            match (row.try_out(root), own) {
                (Err(e), _) => self.not(resource, e.to_string()),
                (Ok(_), Some(full)) => self.down(resource, key, full),
                (Ok(_), None) if speed => {}
                (Ok(_), None) => {
                    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
                    let cpus = f64::from(u32::try_from(cpus).unwrap_or(u32::MAX));
                    self.down(resource, key, Quantity::new(cpus, Unit::Cpu));
                }
            }
        }
    }

    /// Takes the highest frequency down, if that can be.
    fn speed(&mut self, root: &Path) -> bool {
        const RESOURCE: &str = "CPU speed";
        const KEY: &str = "max_frequency";
        let Some(Mechanism::Machine(row)) = factor::mechanism(KEY) else { return false };
        let found = row.observe(root).and_then(|now| row.refuse(root, &now).map(|()| now));
        let full = match found {
            Ok(Value::Quantity(full)) => full,
            Ok(other) => {
                self.not(RESOURCE, format!("its highest frequency is {other}, which is no number"));
                return false;
            }
            Err(e) => {
                self.not(RESOURCE, e.to_string());
                return false;
            }
        };
        self.down(RESOURCE, KEY, self.quantity(KEY).unwrap_or(full));
        true
    }

    fn link(&mut self) {
        match self.quantity("rate") {
            Some(rate) => self.down("link", "rate", rate),
            None => self.not(
                "link",
                "no rate is set on it, and a virtual link has none of its own; \
                 set rate in [lab.links.NAME] to know its share",
            ),
        }
    }

    /// The load, where the clients offer a set one. To hold a load at saturation below what it
    /// reached would lower it by as much, whatever the cause is.
    fn load<'p>(&mut self, plan: &'p Plan) {
        let mut offered: Vec<Option<Quantity>> = plan.loads.iter().flat_map(offered).collect();
        offered.dedup();
        let name = |load: &'p LoadPlan| load.roles.get(&ParamRole::Offered);
        let mut names: Vec<&'p String> = plan.loads.iter().filter_map(name).collect();
        names.dedup();
        match offered.as_slice() {
            [None] => {
                self.not("client rate", "the clients send as fast as they can, at no set rate");
            }
            [Some(one)] if names.len() == 1 => self.down("client rate", names[0], *one),
            _ => self.not(
                "client rate",
                "its loads offer different ones, and a level would set one for all",
            ),
        }
    }

    /// Every resource that a physics has.
    fn simulated(&mut self, physics: &Physics) {
        for (word, resource) in Resource::ALL {
            if !physics.has(resource) {
                continue;
            }
            let (name, key) = match resource {
                Resource::Cpu => ("CPU", "cpu_speed".to_owned()),
                Resource::Pcie => ("bus", throttle(word)),
                _ => (word, throttle(word)),
            };
            self.down(name, &key, Quantity::new(1.0, Unit::Share));
        }
        if let Some(buffer) = physics.sockets.receive_buffer {
            let made = Quantity::new(buffer, Unit::Byte);
            let set = self.quantity("receive_buffer").unwrap_or(made);
            self.down("receive buffer", "receive_buffer", set);
        }
    }
}

/// What a load offers, at each value that the plan gives it; none where it is as much as it can.
fn offered(load: &LoadPlan) -> Vec<Option<Quantity>> {
    let all: Vec<_> = load.values(ParamRole::Offered).map(Value::quantity).collect();
    if all.is_empty() { vec![None] } else { all }
}
