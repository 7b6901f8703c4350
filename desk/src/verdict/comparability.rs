//! Knows whether two runs, or two sittings of one run, may be compared: what differs besides that
//! which was declared to differ.
//!
//! Never: by how much their figures differ.

use crate::record::{Apart, EnvKey, Grain, KeyClass, LEVELS, Plan, Run, class_of, known_key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Keys of the environment whose class was declared: `kernel.release` to info.
pub type Declared = BTreeMap<String, KeyClass>;

/// A key in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Dotted: `kernel.release`.
    pub key: String,
    /// What the first has; none if it was not recorded or is not there.
    pub a: Option<String>,
    /// What the second has.
    pub b: Option<String>,
    /// What the difference means, as declared if it was.
    pub class: KeyClass,
    /// How much of the value counts.
    pub grain: Grain,
}

/// In what two runs differ, sorted by what it means and then by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparability {
    /// Undeclared differences in identity and critical keys: with one of them there is no verdict.
    pub confounders: Vec<Difference>,
    /// Differences below the grain of their key: a patch release.
    pub warnings: Vec<Difference>,
    /// Differences that were declared: what is compared.
    pub factors: Vec<Difference>,
    /// Differences that change no figure.
    pub info: Vec<Difference>,
}

impl Comparability {
    /// Whether a verdict may rest on the two.
    #[must_use]
    pub const fn comparable(&self) -> bool {
        self.confounders.is_empty()
    }

    fn of(a: Vec<EnvKey>, b: Vec<EnvKey>, declared: &Declared) -> Self {
        let mut sides: BTreeMap<String, [Option<EnvKey>; 2]> = BTreeMap::new();
        for (side, keys) in [a, b].into_iter().enumerate() {
            for key in keys {
                let entry = sides.entry(key.key.clone()).or_default();
                entry[side] = Some(key);
            }
        }
        let lonely = lonely_adapters(&sides);
        let mut found = Self::default();
        for (key, [a, b]) in sides {
            // That there are more adapters is said once, by their number.
            if !lonely.iter().any(|adapter| key.starts_with(adapter.as_str())) {
                found.place(key, [a, b], declared);
            }
        }
        found
    }

    fn place(&mut self, key: String, [a, b]: [Option<EnvKey>; 2], declared: &Declared) {
        let Some(either) = a.as_ref().or(b.as_ref()) else { return };
        let (grain, usual) = (either.grain, either.class);
        let alone = a.is_none() || b.is_none();
        // A kernel lists more weaknesses with every patch; one that the machine has not is none.
        let harmless = alone && key.starts_with("mitigation.") && either.value == "Not affected";
        // Drives are told of only where a program that may be absent was allowed to ask them.
        let untold = alone && key.starts_with("drive.");
        let apart = match (&a, &b) {
            (Some(a), Some(b)) => grain.compare(&a.value, &b.value),
            _ => Apart::Different,
        };
        // A level that only one run has makes its trials without a partner, and nothing else.
        let level = alone && key.starts_with(LEVELS);
        let class = match declared.get(&key) {
            _ if level => KeyClass::Factor,
            _ if harmless || untold => KeyClass::Info,
            Some(class) if usual != KeyClass::Identity => *class,
            _ => usual,
        };
        let value = |side: Option<EnvKey>| side.map(|k| k.value);
        let difference = Difference { key, a: value(a), b: value(b), class, grain };
        match (class, apart) {
            (_, Apart::Same) => {}
            (KeyClass::Identity | KeyClass::Critical, Apart::Different) => {
                self.confounders.push(difference);
            }
            (KeyClass::Identity | KeyClass::Critical, Apart::Little) if grain != Grain::Near => {
                self.warnings.push(difference);
            }
            (KeyClass::Factor, _) => self.factors.push(difference),
            _ => self.info.push(difference),
        }
    }
}

/// Adapters that one side has not, as the beginning of their keys.
fn lonely_adapters(sides: &BTreeMap<String, [Option<EnvKey>; 2]>) -> BTreeSet<String> {
    let name = |key: &String| {
        Some(format!("{}.", key.strip_suffix(".name")?)).filter(|k| k.starts_with("adapter."))
    };
    let alone = sides.iter().filter(|(_, [a, b])| a.is_none() || b.is_none());
    alone.filter_map(|(key, _)| name(key)).collect()
}

/// Compares how two runs were made: machine, plan, version, workloads.
#[must_use]
pub fn compare_environments(a: &Run, b: &Run, declared: &Declared) -> Comparability {
    let mut found = Comparability::of(a.keys(), b.keys(), declared);
    found.confounders.sort_by_key(|d| d.class);
    found
}

/// What the plans of two runs declare together. Where one of them is silent the other's word holds;
/// where both speak, the stricter.
#[must_use]
pub fn declared(a: &Plan, b: &Plan) -> Declared {
    let mut all = a.reclass.clone();
    for (key, class) in &b.reclass {
        let known = all.entry(key.clone()).or_insert(*class);
        if strictness(*class) > strictness(*known) {
            *known = *class;
        }
    }
    all
}

const fn strictness(class: KeyClass) -> u8 {
    match class {
        KeyClass::Info => 0,
        KeyClass::Factor => 1,
        KeyClass::Critical => 2,
        KeyClass::Identity => 3,
    }
}

/// A key whose class a plan changes, and what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclassed<'p> {
    /// The key.
    pub key: &'p str,
    /// As the plan has it.
    pub class: KeyClass,
    /// As it would be without the plan.
    pub usual: KeyClass,
    /// Whether the key is one that stend knows of; a mistyped one changes nothing.
    pub known: bool,
}

/// Every key whose class a plan changes.
#[must_use]
pub fn reclassed(plan: &Plan) -> Vec<Reclassed<'_>> {
    plan.reclass
        .iter()
        .map(|(key, class)| Reclassed {
            key,
            class: *class,
            usual: class_of(key),
            known: known_key(key).is_some(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::simulated::Simulated;
    use super::*;
    use crate::record::{Adapter, Environment, Fact, KeyClass::*, LabKind, Value};
    use crate::unit::Quantity;

    fn fact(key: &str, value: &str) -> Fact {
        Fact { key: key.into(), value: value.into(), class: class_of(key), source: String::new() }
    }

    /// A run on a machine with everything that these tests change.
    fn run() -> Run {
        let mut run = Simulated::default().run();
        *run.environment_mut() = Environment {
            memory: Some(Quantity::bytes(25_231_781_888)),
            adapters: vec![Adapter { name: "eth0".into(), mtu: 1500, ..Adapter::default() }],
            facts: vec![
                fact("kernel.release", "6.18.3"),
                fact("lib.openssl", "3.0.11"),
                fact("system.serial", "abc"),
            ],
            lab: Some((LabKind::RootNamespaces, String::new())),
            ..Environment::default()
        };
        run
    }

    fn with(key: &str, value: &str) -> Run {
        let mut run = run();
        run.environment_mut().facts.retain(|f| f.key != key);
        run.environment_mut().facts.push(fact(key, value));
        run
    }

    fn keys(differences: &[Difference]) -> Vec<&str> {
        differences.iter().map(|d| d.key.as_str()).collect()
    }

    fn apart(b: &Run) -> Comparability {
        compare_environments(&run(), b, &Declared::new())
    }

    #[test]
    fn a_run_is_comparable_with_itself() {
        assert_eq!(apart(&run()), Comparability::default());
    }

    #[test]
    fn a_minor_kernel_an_mtu_and_a_library_are_confounders_by_name() {
        let mut jumbo = run();
        jumbo.environment_mut().adapters[0].mtu = 9000;
        let cases = [
            (with("kernel.release", "6.19.0"), "kernel.release", ["6.18.3", "6.19.0"]),
            (with("lib.openssl", "3.1.4"), "lib.openssl", ["3.0.11", "3.1.4"]),
            (jumbo, "adapter.0.mtu", ["1500 B", "9000 B"]),
        ];
        for (other, key, values) in cases {
            let found = apart(&other);
            assert_eq!(keys(&found.confounders), [key]);
            let only = &found.confounders[0];
            assert_eq!([&only.a, &only.b], values.map(|v| Some(v.to_owned())).each_ref());
            assert!(!found.comparable() && only.class == Critical);
            assert_eq!(found.warnings.len() + found.info.len() + found.factors.len(), 0);
        }
    }

    #[test]
    fn a_patch_release_warns_and_a_serial_number_informs() {
        let found = apart(&with("kernel.release", "6.18.5"));
        assert!(found.comparable());
        assert_eq!(keys(&found.warnings), ["kernel.release"]);
        let found = apart(&with("system.serial", "xyz"));
        assert!(found.comparable() && found.warnings.is_empty());
        assert_eq!(keys(&found.info), ["system.serial"]);
        let mut other = run();
        other.environment_mut().memory = Some(Quantity::bytes(25_000_000_000));
        assert_eq!(keys(&apart(&other).info), ["memory"], "the kernel keeps what it likes");
    }

    #[test]
    fn firmware_of_a_drive_counts_where_both_runs_know_it() {
        let key = "drive.EXAMPLE.1.firmware";
        let found = apart(&with(key, "A1"));
        assert!(found.comparable() && keys(&found.info) == [key]);
        let found = compare_environments(&with(key, "A0"), &with(key, "A1"), &Declared::new());
        assert_eq!(keys(&found.confounders), [key]);
        let wear = "drive.EXAMPLE.1.wear";
        let found = compare_environments(&with(wear, "1 %"), &with(wear, "2 %"), &Declared::new());
        assert!(found.comparable() && keys(&found.info) == [wear]);
    }

    #[test]
    fn an_unknown_or_missing_key_is_a_confounder() {
        let found = apart(&with("phase.of.the.moon", "full"));
        assert_eq!(keys(&found.confounders), ["phase.of.the.moon"]);
        assert_eq!(found.confounders[0].a, None);
    }

    #[test]
    fn a_weakness_that_only_a_newer_kernel_lists_is_one_only_if_the_machine_has_it() {
        let found = apart(&with("mitigation.new", "Not affected"));
        assert!(found.comparable() && keys(&found.info) == ["mitigation.new"]);
        let found = apart(&with("mitigation.new", "Mitigation: barriers"));
        assert_eq!(keys(&found.confounders), ["mitigation.new"]);
    }

    #[test]
    fn a_further_adapter_is_said_once() {
        let mut other = run();
        other.environment_mut().adapters.push(Adapter { name: "zz".into(), ..Adapter::default() });
        assert_eq!(keys(&apart(&other).confounders), ["adapters"]);
    }

    #[test]
    fn a_plan_may_reclass_a_key_but_not_what_must_match() {
        let mut other = with("kernel.release", "6.19.0");
        other.version = "1.0".into();
        let words = |class| Declared::from([("kernel.release".to_owned(), class)]);
        for (class, place) in [(Info, 0), (Factor, 1), (Critical, 2)] {
            let found = compare_environments(&run(), &other, &words(class));
            let places = [&found.info, &found.factors, &found.confounders];
            assert!(keys(places[place]).contains(&"kernel.release"), "{class:?}: {found:?}");
            assert_eq!(places.iter().filter(|p| keys(p).contains(&"kernel.release")).count(), 1);
        }
        let all = Declared::from([("stend.version".to_owned(), Info)]);
        let found = compare_environments(&run(), &other, &all);
        assert_eq!(keys(&found.confounders), ["stend.version", "kernel.release"]);
        assert_eq!(found.confounders[0].class, Identity);
    }

    #[test]
    fn of_two_plans_that_declare_a_key_the_stricter_holds() {
        let (mut a, mut b) = (run().plan, run().plan);
        a.reclass = [("os".to_owned(), Info), ("microcode".to_owned(), Factor)].into();
        b.reclass = [("os".to_owned(), Critical), ("thp".to_owned(), Info)].into();
        for all in [declared(&a, &b), declared(&b, &a)] {
            let classes: Vec<KeyClass> = all.values().copied().collect();
            assert_eq!(classes, [Factor, Critical, Info], "{all:?}");
        }
    }

    #[test]
    fn another_window_load_or_parameter_is_another_test() {
        let mut other = run();
        other.plan.method.window = Quantity::seconds(2.0);
        other.plan.loads[0].fixed.insert("streams".into(), Value::Count(4));
        other.plan.method.seed = 7;
        let found = apart(&other);
        assert_eq!(keys(&found.confounders), ["plan.load.net.streams", "plan.window"]);
        assert!(found.confounders.iter().all(|d| d.class == Identity));
        assert_eq!(keys(&found.info), ["plan.seed"]);
    }

    #[test]
    fn a_level_of_one_run_only_is_a_factor_and_one_that_sets_another_thing_is_not() {
        let mut other = run();
        other.plan.factors[0].levels.pop();
        let found = apart(&other);
        assert_eq!(keys(&found.factors), ["plan.factor.path.pro1000"]);
        assert!(found.comparable());
        let mut other = run();
        other.plan.factors[0].levels[1].settings.insert("mtu".into(), Value::Count(1));
        assert_eq!(keys(&apart(&other).confounders), ["plan.factor.path.pro1000"]);
    }

    #[test]
    fn what_a_plan_reclasses_is_told_with_what_it_was() {
        let mut plan = run().plan;
        plan.reclass = [("kernel.release".to_owned(), Info), ("kernal".to_owned(), Info)].into();
        let said = reclassed(&plan);
        assert_eq!((said[0].key, said[0].known), ("kernal", false));
        assert_eq!((said[1].usual, said[1].class, said[1].known), (Critical, Info, true));
    }
}
