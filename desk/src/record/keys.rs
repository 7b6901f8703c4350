//! Knows every key of an environment, what a difference in it means and how coarsely it is looked
//! at; an environment, a plan and a run as a flat list of such keys.
//!
//! Never: whether two of them may be compared; that is a verdict.

use super::boxes::BoxPlan;
use super::environment::{Adapter, Environment, KeyClass, LabKind};
use super::grain::Grain;
use super::host::LOCAL;
use super::plan::{LinkPlan, LoadPlan, Plan, SteadyRule};
use super::run::Run;
use super::topology::{HostPlan, LinkKind};
use super::trial::{Settings, Value};
use crate::unit::{Kind, Quantity, Unit, parse};
use Grain::{Minor, Near, Whole};
use KeyClass::{Critical, Factor, Identity, Info};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing that describes how a run was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvKey {
    /// Dotted: `kernel.release`, `adapter.0.mtu`.
    pub key: String,
    /// As recorded.
    pub value: String,
    /// What a difference means.
    pub class: KeyClass,
    /// How much of the value counts.
    pub grain: Grain,
}

/// What stands for one part of a key in the table, or at its end for all that follow.
const ANY: &str = "*";

/// Every key that is known; the first row that fits holds. What fits none is critical and whole.
const KEYS: [(&str, KeyClass, Grain); 67] = [
    ("adapter.*.bus", Info, Whole),
    ("adapter.*.carrier", Info, Whole),
    ("adapter.*.driver_version", Critical, Minor),
    ("adapter.*.name", Info, Whole),
    ("adapter.*", Critical, Whole),
    ("adapters", Critical, Whole),
    ("bios.version", Critical, Whole),
    ("bios.*", Info, Whole),
    ("board.name", Critical, Whole),
    ("board.*", Info, Whole),
    ("cache.*", Critical, Whole),
    ("cgroup.*", Critical, Whole),
    ("clocksource", Critical, Whole),
    ("container", Critical, Whole),
    ("cpu.*", Critical, Whole),
    ("drive.*.*.firmware", Critical, Whole),
    ("drive.*", Info, Whole),
    ("hugepages", Critical, Whole),
    ("kernel.cmdline", Info, Whole),
    ("kernel.cmdline.rest", Info, Whole),
    ("kernel.cmdline.*", Critical, Whole),
    ("kernel.cpu_accounting", Info, Whole),
    ("kernel.preemption", Critical, Whole),
    ("kernel.release", Critical, Minor),
    ("kernel.security", Critical, Whole),
    ("lab.control_groups", Info, Whole),
    ("lab.kind", Critical, Whole),
    ("lab.reason", Info, Whole),
    ("lib.*", Critical, Minor),
    ("machine.*", Info, Whole),
    ("manual.*", Factor, Whole),
    ("max_user_namespaces", Info, Whole),
    ("memory", Critical, Near),
    ("memory.copy", Info, Whole),
    ("microcode", Critical, Whole),
    ("mitigation.*", Critical, Whole),
    ("net.*", Critical, Whole),
    ("numa_balancing", Critical, Whole),
    ("os", Critical, Minor),
    ("plan.blocks", Info, Whole),
    ("plan.boots", Info, Whole),
    ("plan.box.*", Factor, Whole),
    ("plan.compare", Info, Whole),
    ("plan.curve", Info, Whole),
    ("plan.dry", Info, Whole),
    ("plan.looks", Info, Whole),
    ("plan.margin", Info, Whole),
    ("plan.primary", Info, Whole),
    ("plan.reboot", Critical, Whole),
    ("plan.seed", Info, Whole),
    ("plan.steady", Critical, Whole),
    ("plan.load.*.primary", Info, Whole),
    ("plan.lab.clients", Identity, Whole),
    ("plan.lab.client_rate", Identity, Whole),
    ("plan.lab.*", Critical, Whole),
    ("plan.link.*", Critical, Whole),
    ("plan.*", Identity, Whole),
    ("stend.version", Identity, Minor),
    ("system.product", Critical, Whole),
    ("system.*", Info, Whole),
    ("tcp.congestion_allowed", Info, Whole),
    ("tcp.congestion_available", Info, Whole),
    ("tcp.*", Critical, Whole),
    ("thp", Critical, Whole),
    ("thp.*", Critical, Whole),
    ("tune.*", Info, Whole),
    ("workload.*", Identity, Whole),
];

/// What a difference in a key means and how much of its value counts; none for an unknown key,
/// which is to be taken for critical and whole.
#[must_use]
pub fn known_key(key: &str) -> Option<(KeyClass, Grain)> {
    KEYS.iter().find(|(row, ..)| fits(row, key)).map(|(_, class, grain)| (*class, *grain))
}

/// What a difference in a key means.
#[must_use]
pub fn class_of(key: &str) -> KeyClass {
    known_key(key).map_or(Critical, |(class, _)| class)
}

/// `*` stands for one part; as the last part it stands for all that follow.
fn fits(row: &str, key: &str) -> bool {
    let mut parts = key.split('.');
    let mut wanted = row.split('.').peekable();
    while let Some(word) = wanted.next() {
        match parts.next() {
            None => return false,
            Some(_) if word == ANY && wanted.peek().is_none() => return true,
            Some(part) if word != ANY && part != word => return false,
            Some(_) => {}
        }
    }
    parts.next().is_none()
}

/// A flat list in the making.
#[derive(Default)]
struct Keys(Vec<EnvKey>);

impl Keys {
    fn add(&mut self, key: &str, value: impl ToString) {
        let (class, grain) = known_key(key).unwrap_or((Critical, Whole));
        self.0.push(EnvKey { key: key.into(), value: value.to_string(), class, grain });
    }

    fn maybe(&mut self, key: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    fn sorted(mut self) -> Vec<EnvKey> {
        self.0.sort_by(|a, b| a.key.cmp(&b.key));
        self.0
    }
}

impl Environment {
    /// Everything in it as keys, sorted. An adapter is a number, not a name: `eth0` of one machine
    /// may be `ens1` of another.
    #[must_use]
    pub fn keys(&self) -> Vec<EnvKey> {
        let mut keys = Keys::default();
        self.processor(&mut keys);
        let mut caches: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for cache in &self.caches {
            let key = format!("cache.l{}.{}", cache.level, cache.kind.to_lowercase());
            let value = format!("{}, shared by {}", cache.size, cache.shared_by);
            caches.entry(key).or_default().push(value);
        }
        for (key, values) in caches {
            keys.add(&key, values.join("; "));
        }
        keys.maybe("memory", self.memory);
        keys.add("adapters", self.adapters.len());
        let order = self.ordered();
        for (number, adapter) in order.iter().enumerate() {
            describe(adapter, &format!("adapter.{number}"), &mut keys);
        }
        for fact in &self.facts {
            keys.add(&nameless(&fact.key, &order), &fact.value);
        }
        if let Some((kind, reason)) = &self.lab {
            keys.add("lab.kind", kind_word(*kind));
            keys.add("lab.reason", reason);
        }
        keys.sorted()
    }

    fn processor(&self, keys: &mut Keys) {
        let cpu = &self.cpu;
        keys.add("cpu.model", &cpu.model);
        keys.add("cpu.sockets", cpu.sockets);
        keys.add("cpu.cores", cpu.cores);
        keys.add("cpu.logical", cpu.logical);
        keys.add("cpu.numa_nodes", cpu.numa_nodes);
        keys.maybe("cpu.smt", cpu.smt.as_ref());
        keys.maybe("cpu.frequency_max", cpu.frequency_max);
        keys.maybe("cpu.governor", cpu.governor.as_ref());
        keys.maybe("cpu.hypervisor", cpu.hypervisor.as_ref());
    }

    /// Adapters by what they are; where two are alike, by their place on the bus and their name.
    fn ordered(&self) -> Vec<&Adapter> {
        let mut order: Vec<&Adapter> = self.adapters.iter().collect();
        let place = |a: &Adapter| {
            (!a.physical, a.device_id.clone(), a.driver.clone(), a.bus.clone(), a.name.clone())
        };
        order.sort_by_key(|a| place(a));
        order
    }
}

fn describe(adapter: &Adapter, at: &str, keys: &mut Keys) {
    let key = |part: &str| format!("{at}.{part}");
    // Which bridge narrows the way is a matter of the slot; how much is not.
    let width = |text: &Option<String>| {
        text.as_ref().map(|t| t.split(" (").next().unwrap_or_default().to_owned())
    };
    keys.add(&key("name"), &adapter.name);
    keys.maybe(&key("driver"), adapter.driver.as_ref());
    keys.maybe(&key("driver_version"), adapter.driver_version.as_ref());
    keys.maybe(&key("firmware"), adapter.firmware.as_ref());
    keys.maybe(&key("bus"), adapter.bus.as_ref());
    keys.maybe(&key("device"), adapter.device_id.as_ref());
    keys.maybe(&key("pcie_now"), width(&adapter.pcie_now));
    keys.maybe(&key("pcie_best"), width(&adapter.pcie_best));
    keys.maybe(&key("speed_now"), adapter.speed_now);
    keys.maybe(&key("speed_best"), adapter.speed_best);
    keys.maybe(&key("carrier"), adapter.carrier.map(|has| if has { "yes" } else { "no" }));
    // Not as a quantity: 9000 B would be shown as a rounded number of KiB.
    keys.add(&key("mtu"), format!("{} B", adapter.mtu));
    keys.add(&key("tx_queues"), adapter.tx_queues);
    keys.add(&key("rx_queues"), adapter.rx_queues);
    keys.maybe(&key("tx_ring"), adapter.tx_ring);
    keys.maybe(&key("rx_ring"), adapter.rx_ring);
    keys.maybe(&key("numa_node"), adapter.numa_node);
    keys.add(&key("physical"), if adapter.physical { "yes" } else { "no" });
    for (name, state) in &adapter.offloads {
        keys.add(&key(&format!("offload.{name}")), state);
    }
}

/// `adapter.eth0.duplex` with the number of the adapter in place of its name.
fn nameless(key: &str, order: &[&Adapter]) -> String {
    let numbered = |(number, adapter): (usize, &&Adapter)| {
        let rest = key.strip_prefix("adapter.")?.strip_prefix(adapter.name.as_str())?;
        Some(format!("adapter.{number}.{}", rest.strip_prefix('.')?))
    };
    order.iter().enumerate().find_map(numbered).unwrap_or_else(|| key.to_owned())
}

const fn kind_word(kind: LabKind) -> &'static str {
    match kind {
        LabKind::RootNamespaces => "namespaces made as root",
        LabKind::UserNamespaces => "namespaces of an ordinary user",
        LabKind::Loopback => "loopback",
        LabKind::Simulated => "simulated",
    }
}

impl Plan {
    /// What of it decides how the figures of a trial come about, as keys, sorted: loads, links,
    /// times, what each level sets.
    #[must_use]
    pub fn keys(&self) -> Vec<EnvKey> {
        let mut keys = Keys::default();
        let method = &self.method;
        keys.add("plan.blocks", method.blocks);
        if method.boots > 0 {
            let names: Vec<&str> = self.rebooted().map(|f| f.name.as_str()).collect();
            keys.add("plan.boots", method.boots);
            keys.add("plan.reboot", names.join(", "));
        }
        keys.add("plan.dry", method.dry);
        keys.add("plan.seed", method.seed);
        keys.add("plan.primary", &method.primary);
        keys.add("plan.compare", &method.compare);
        keys.add("plan.margin", method.margin);
        keys.maybe("plan.curve", method.curve.as_ref());
        if !method.looks.is_empty() {
            let looks: Vec<String> = method.looks.iter().map(ToString::to_string).collect();
            keys.add("plan.looks", looks.join(", "));
        }
        keys.add("plan.settle", exact(method.settle));
        keys.add("plan.settle_max", exact(method.settle_max));
        keys.add("plan.window", exact(method.window));
        keys.add("plan.displaced_work", method.displaced_work);
        keys.add(
            "plan.steady",
            match method.steady {
                SteadyRule::Required => "required",
                SteadyRule::Noted => "noted",
            },
        );
        keys.add("plan.lab.clients", self.lab.clients);
        keys.maybe("plan.lab.client_rate", self.lab.client_rate.map(exact));
        keys.maybe("plan.lab.machine", self.lab.machine.as_ref());
        settings("plan.lab", &self.lab.settings, &mut keys);
        self.lab.links.iter().for_each(|link| of_link(link, &mut keys));
        self.lab.hosts.iter().for_each(|host| of_host(host, &mut keys));
        self.lab.boxes.iter().for_each(|of| of_box(of, &mut keys));
        self.loads.iter().for_each(|load| of_load(load, &mut keys));
        for (factor, level) in
            self.factors.iter().flat_map(|f| f.levels.iter().map(move |l| (f, l)))
        {
            let set =
                level.settings.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            let set: Vec<String> = set.collect();
            keys.add(&format!("{LEVELS}{}.{}", factor.name, level.name), set.join(", "));
        }
        keys.sorted()
    }
}

/// Where the keys begin that say what a level of a factor sets.
pub const LEVELS: &str = "plan.factor.";

fn settings(at: &str, set: &Settings, keys: &mut Keys) {
    for (key, value) in set {
        keys.add(&format!("{at}.{key}"), written(value));
    }
}

fn written(value: &Value) -> String {
    value.quantity().map_or_else(|| value.to_string(), exact)
}

/// As it is shown where that is all of it, `64 KiB`; else in its base unit, `65537 B`.
fn exact(quantity: Quantity) -> String {
    let shown = quantity.to_string();
    let kind = match quantity.unit {
        Unit::Byte => Some(Kind::Size),
        Unit::BitPerSecond => Some(Kind::Rate),
        Unit::OperationPerSecond => Some(Kind::Operations),
        Unit::Second => Some(Kind::Duration),
        Unit::Share => Some(Kind::Share),
        _ => None,
    };
    let whole = kind.is_some_and(|kind| parse(&shown, kind) == Ok(quantity));
    if whole { shown } else { format!("{} {}", quantity.value, quantity.unit.symbol()) }
}

fn of_link(link: &LinkPlan, keys: &mut Keys) {
    let at = format!("plan.link.{}", link.name);
    if link.settings.is_empty() {
        keys.add(&at, "kernel defaults");
    }
    settings(&at, &link.settings, keys);
    keys.maybe(&format!("{at}.kind"), link.kind.map(LinkKind::word));
    if !link.members.is_empty() {
        keys.add(&format!("{at}.members"), link.members.join(", "));
    }
    for (member, adapter) in &link.adapters {
        keys.add(&format!("{at}.adapter.{member}"), adapter);
    }
}

fn of_host(host: &HostPlan, keys: &mut Keys) {
    keys.add(&format!("plan.host.{}", host.name), host.role.word());
}

/// Its address and ports do not change what passes it.
fn of_box(of: &BoxPlan, keys: &mut Keys) {
    keys.add(&format!("plan.box.{}", of.name), format!("on link {}", of.link));
}

fn of_load(load: &LoadPlan, keys: &mut Keys) {
    let at = format!("plan.load.{}", load.name);
    keys.add(&format!("{at}.workload"), &load.workload);
    keys.maybe(&format!("{at}.primary"), load.primary.as_ref());
    settings(&at, &load.fixed, keys);
    for (name, values) in &load.over {
        let values: Vec<String> = values.iter().map(written).collect();
        keys.add(&format!("{at}.over.{name}"), values.join(", "));
    }
    if let Some(search) = &load.search {
        let bounds = format!("{} to {}", written(&search.from), written(&search.to));
        let (kind, over, metric) = (search.kind.word(), &search.over, &search.metric);
        keys.add(&format!("{at}.search"), format!("{kind} of {metric} over {over}, {bounds}"));
        for (n, goal) in (1..).zip(&search.goals) {
            let (loss, exceed, sum) = (exact(goal.loss), exact(goal.exceed), exact(goal.sum));
            let (full, width) = (exact(goal.full), exact(goal.width));
            let told = format!("{loss}, exceed {exceed}, {sum} of {full}, width {width}");
            keys.add(&format!("{at}.search.goal{n}"), told);
        }
        if let Some(limit) = &search.limit {
            keys.add(&format!("{at}.search.limit"), exact(limit.at));
            keys.add(&format!("{at}.search.resolution"), exact(limit.resolution));
        }
    }
}

impl Run {
    /// Environment, plan, version of stend and revisions of the workloads as keys, sorted.
    #[must_use]
    pub fn keys(&self) -> Vec<EnvKey> {
        let mut keys = Keys(self.environment().keys());
        for (machine, other) in self.environments.iter().filter(|(machine, _)| *machine != LOCAL) {
            let here = |one: EnvKey| EnvKey { key: format!("{machine}:{}", one.key), ..one };
            keys.0.extend(other.keys().into_iter().map(here));
        }
        keys.0.extend(self.plan.keys());
        keys.add("stend.version", &self.version);
        for (workload, revision) in &self.workloads {
            keys.add(&format!("workload.{workload}.revision"), revision);
        }
        keys.sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::Fact;
    use super::*;

    #[test]
    fn what_differs_by_a_byte_is_written_differently() {
        let size = |bytes| written(&Value::Quantity(Quantity::bytes(bytes)));
        assert_eq!([size(65_536), size(65_537), size(1500)], ["64 KiB", "65537 B", "1500 B"]);
        assert_eq!(exact(Quantity::seconds(0.3)), "300 ms");
    }

    #[test]
    fn every_row_of_the_table_can_be_reached() {
        for (at, (row, ..)) in KEYS.iter().enumerate() {
            let key = row.replace(ANY, "anything");
            let first = KEYS.iter().position(|(row, ..)| fits(row, &key));
            assert_eq!(first, Some(at), "{row}");
        }
    }

    #[test]
    fn an_unknown_key_is_critical() {
        assert_eq!(class_of("phase.of.the.moon"), Critical);
        assert_eq!(known_key("phase.of.the.moon"), None);
        assert_eq!(class_of("kernel"), Critical, "a part of a key is another key");
        assert_eq!(known_key("adapter.0.offload.rx-gro"), Some((Critical, Whole)));
        assert_eq!(known_key("lib.openssl"), Some((Critical, Minor)));
    }

    #[test]
    fn an_adapter_is_known_by_what_it_is_and_not_by_its_name() {
        let adapter = |name: &str, device: &str| Adapter {
            name: name.into(),
            device_id: Some(device.into()),
            mtu: 9000,
            pcie_now: Some("x4 at 8.0 GT/s (narrowest link, of bridge 0000:01:00.0)".into()),
            physical: true,
            ..Adapter::default()
        };
        let duplex = |name: &str| Fact {
            key: format!("adapter.{name}.duplex"),
            value: "full".into(),
            class: Critical,
            source: String::new(),
        };
        let machine = |a: &str, b: &str| Environment {
            adapters: vec![adapter(a, "8086:1572"), adapter(b, "14e4:16d7")],
            facts: vec![duplex(a)],
            ..Environment::default()
        };
        let nameless = |env: &Environment| -> Vec<EnvKey> {
            env.keys().into_iter().filter(|k| !k.key.ends_with(".name")).collect()
        };
        let keys = nameless(&machine("eth0", "eth1"));
        assert_eq!(keys, nameless(&machine("ens7", "ens1")));
        let value = |key: &str| keys.iter().find(|k| k.key == key).map(|k| k.value.as_str());
        assert_eq!(value("adapter.0.device"), Some("14e4:16d7"));
        assert_eq!(value("adapter.1.duplex"), Some("full"));
        assert_eq!(value("adapter.1.mtu"), Some("9000 B"));
        assert_eq!(value("adapter.1.pcie_now"), Some("x4 at 8.0 GT/s"));
    }
}
