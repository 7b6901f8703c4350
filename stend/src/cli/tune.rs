//! Knows which settings of this machine are worth a try, and what each is tried against.
//!
//! A setting is tried where the machine has another level than the usual one, and where it can be
//! put back. Must not know what a setting turned out to be worth.

use super::error::CliError;
use super::{place, plans, progress, quoted};
use desk::plan::{AS_SET, Barred, Holds, Lasting, Looked, tune_facts};
use desk::record::{Adapter, Environment, Fact, LabKind, Plan};
use desk::unit;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};

/// Below these a receive buffer is small, bytes: half of what Linux begins with, and of what it
/// grows to where there is memory (`tcp_rmem`, tcp(7)).
const SMALL_BUFFER: u64 = 65_536;
const SMALL_BUFFER_MAX: u64 = 3 << 20;

/// Drivers of which the governor `powersave` is no lowest frequency: they choose by the load, as
/// far as their energy preference lets them (kernel documentation, `intel_pstate` and `amd-pstate`,
/// active mode).
const CHOOSING: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

/// One setting to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What it is called: the title of its part.
    pub title: String,
    /// The level that the machine has.
    pub now: String,
    /// The level to try.
    pub then: String,
    /// The plan.
    pub text: String,
    /// How the level is made to last.
    pub lasting: Lasting,
}

/// What there is to do about a setting of a machine.
enum Found {
    /// Nothing: the machine has the usual level, or what was read of it does not tell.
    Nothing,
    /// Something that this user may not do in this lab.
    Barred(Barred),
    /// To try these.
    Try(Vec<Proposal>),
}

impl Found {
    fn of(proposal: Option<Proposal>) -> Self {
        proposal.map_or(Self::Nothing, |one| Self::Try(vec![one]))
    }
}

/// A setting: its name for a person, and what there is to do on this machine.
type Setting = (&'static str, fn(&Environment) -> Found);

const SETTINGS: [Setting; 6] = [
    ("congestion control", congestion),
    ("TCP receive buffers", |machine| Found::of(buffers(machine))),
    ("offloads", offloads),
    ("shaper", |machine| Found::of(rate(machine))),
    ("huge pages", |machine| Found::of(huge_pages(machine))),
    ("frequency governor", |machine| Found::of(governor(machine))),
];

/// What is worth a try on a machine in its lab, and what came of the look at each setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// To try.
    pub proposals: Vec<Proposal>,
    /// Every setting, by what came of it.
    pub looked: Looked,
}

/// Why the machine does not let a plan switch what it names, in words.
pub type Refuses<'r> = &'r dyn Fn(&Plan) -> Option<String>;

/// Looks at every setting of a machine in its lab; of a model nothing is tried, as it has no owner.
pub fn look(machine: &Environment, refuses: Refuses<'_>) -> Look {
    let mut look = Look::default();
    for (name, find) in SETTINGS {
        let found = match find(machine) {
            Found::Try(all) => possible(machine, all, refuses),
            other => other,
        };
        match found {
            Found::Nothing => look.looked.usual.push(name.into()),
            Found::Barred(why) => look.looked.barred.push((name.into(), why)),
            Found::Try(all) => {
                look.looked.proposed.push(name.into());
                look.proposals.extend(all);
            }
        }
    }
    look
}

/// The proposals, if the lab and the machine let all of them be tried.
fn possible(machine: &Environment, all: Vec<Proposal>, refuses: Refuses<'_>) -> Found {
    let kind = machine.lab.as_ref().map_or(LabKind::RootNamespaces, |(kind, _)| *kind);
    if machine.is_simulated() {
        return Found::Barred(Barred::Model);
    }
    for proposal in &all {
        let Ok(plan) = plan(proposal, 0) else { return Found::Nothing };
        if place::refuse_without_links(&plan, kind, "").is_err() {
            return Found::Barred(Barred::NoLinks);
        }
        if refuses(&plan).is_some() {
            return Found::Barred(Barred::Refused);
        }
    }
    Found::Try(all)
}

impl Look {
    /// What the record of a part keeps of it; of a part that tries a setting also how that lasts.
    pub fn facts(&self, proposal: Option<&Proposal>) -> Vec<Fact> {
        tune_facts(&self.looked, proposal.map(|proposal| &proposal.lasting))
    }
}

/// The plan of a proposal.
///
/// # Errors
/// When it is refused, which a test excludes.
pub fn plan(proposal: &Proposal, seed: u64) -> Result<Plan, CliError> {
    plans::parse_seeded("tune", &proposal.text, seed)
}

/// Says what will be switched, and asks whether to go on.
///
/// # Errors
/// [`CliError::NotAgreed`] where the person does not agree, or cannot be asked.
pub fn agree(look: &Look, machine: &Environment, yes: bool) -> Result<(), CliError> {
    for Proposal { title, now, then, .. } in &look.proposals {
        progress::say(&format!("to try: {title}: {then} instead of {now}; it is put back"));
    }
    if let Some(quota) = machine.quota() {
        progress::say(&format!("stend is limited to {quota}, which is not switched"));
    }
    if yes || look.proposals.is_empty() {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(CliError::NotAgreed { why: "nobody can be asked here; add --yes".into() });
    }
    let mut out = std::io::stderr();
    write!(out, "Switch these for seconds at a time? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CliError::NotAgreed { why: "nothing was switched".into() }),
    }
}

/// What a proposal is called, and asks.
type Title<'t> = (&'t str, &'t str);
/// Name and settings of a level, as a plan has them.
type Of<'t> = (&'t str, &'t str);

/// A proposal whose two levels set the same key or keys.
fn proposal(
    template: &str,
    (title, question): Title<'_>,
    (now, then): (Of<'_>, Of<'_>),
    lasting: Lasting,
) -> Proposal {
    let levels = format!(
        "key = \"profile\"\nlevels.\"{}{AS_SET}\" = {{ {} }}\nlevels.\"{}\" = {{ {} }}",
        now.0, now.1, then.0, then.1
    );
    let text = template.replace("LEVELS, TITLE and QUESTION", "levels, title and question");
    let text = text.replace("\nLEVELS\n", &format!("\n{levels}\n"));
    let text = text.replace("\"TITLE\"", &format!("\"{title}\""));
    Proposal {
        title: title.into(),
        now: now.0.into(),
        then: then.0.into(),
        text: text.replace("\"QUESTION\"", &format!("\"{question}\"")),
        lasting,
    }
}

/// A word as a plan sets it.
fn sets(key: &str, value: &str) -> String {
    format!("{key} = \"{value}\"")
}

fn sysctl(key: &str, value: &str) -> Lasting {
    Lasting {
        command: format!("sysctl -w {key}={}", quoted(value)),
        file: "/etc/sysctl.d/99-zz-stend.conf".into(),
        line: format!("{key} = {value}"),
        holds: Holds::ShortPath,
    }
}

/// What has only to be left out of the configuration of the network.
fn left_out(command: String, holds: Holds) -> Lasting {
    Lasting { command, file: String::new(), line: String::new(), holds }
}

/// What the command line of the kernel keeps.
fn booted(command: &str, line: &str, holds: Holds) -> Lasting {
    let file = "the command line of the kernel".into();
    Lasting { command: command.into(), file, line: line.into(), holds }
}

/// Cubic carries more than any that paces, where there is no round trip to speak of.
fn congestion(machine: &Environment) -> Found {
    let usual = |own: &str| own == "cubic";
    let Some(own) = machine.fact("tcp.congestion_default").filter(|own| !usual(own)) else {
        return Found::Nothing;
    };
    let lists = |key| machine.fact(key).is_some_and(|all| all.split_whitespace().any(usual));
    if !lists("tcp.congestion_available") {
        return Found::Nothing;
    }
    // In a namespace of our own we may take all that is available.
    let loopback = matches!(machine.lab, Some((LabKind::Loopback, _)));
    if loopback && !lists("tcp.congestion_allowed") {
        return Found::Barred(Barred::NotAllowed);
    }
    Found::of(Some(proposal(
        plans::tune::NETWORK,
        ("Congestion control", "Does the congestion control of this machine suit a short path?"),
        ((own, &sets("congestion", own)), ("cubic", &sets("congestion", "cubic"))),
        sysctl("net.ipv4.tcp_congestion_control", "cubic"),
    )))
}

fn buffers(machine: &Environment) -> Option<Proposal> {
    let fields = machine.fact("tcp.rmem")?.split_whitespace();
    let fields: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
    let [least, first, most] = fields.as_slice() else { return None };
    if *first >= SMALL_BUFFER && *most >= SMALL_BUFFER_MAX {
        return None;
    }
    // What is large enough stays; a plan knows no buffer above a gibibyte.
    let usual = ((*first).max(131_072), (*most).max(6 << 20));
    let both = |(first, most): (u64, u64)| {
        let most = most.min(1 << 30);
        format!("receive_buffer = \"{first} B\", receive_buffer_max = \"{most} B\"")
    };
    let words = |(first, most): (u64, u64)| format!("{first} to {most} bytes");
    let now = (*first, *most);
    Some(proposal(
        plans::tune::NETWORK,
        ("TCP receive buffers", "Do the receive buffers of this machine hold TCP down?"),
        ((&words(now), &both(now)), (&words(usual), &both(usual))),
        Lasting {
            holds: Holds::Everywhere,
            ..sysctl("net.ipv4.tcp_rmem", &format!("{least} {} {}", usual.0, usual.1))
        },
    ))
}

/// Offloads by their name in the kernel and that of ethtool, in the order in which they are told.
const OFFLOADS: [(&str, &str); 3] =
    [("tx-tcp-segmentation", "tso"), ("tx-generic-segmentation", "gso"), ("rx-gro", "gro")];

/// Offloads that adapters have and that are off, all of an adapter at once: one may need another.
fn offloads(machine: &Environment) -> Found {
    let off = |adapter: &Adapter| -> Vec<&'static str> {
        let is_off = |kernel: &str| {
            let state = adapter.offloads.iter().find(|(name, _)| name == kernel);
            // Of a virtual adapter it is usual that nothing merges what arrives.
            let usual = kernel == "rx-gro" && !adapter.physical;
            state.is_some_and(|(_, state)| state == "off") && !usual
        };
        OFFLOADS.iter().filter(|(kernel, _)| is_off(kernel)).map(|(_, key)| *key).collect()
    };
    let mut sets: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for adapter in machine.adapters.iter().filter(|adapter| adapter.has_carrier()) {
        sets.entry(off(adapter)).or_default().push(&adapter.name);
    }
    sets.remove(&Vec::new());
    match sets.is_empty() {
        true => Found::Nothing,
        false => Found::Try(sets.iter().map(|(keys, of)| offload(keys, of)).collect()),
    }
}

/// The same offloads of some adapters, off against on.
fn offload(keys: &[&str], adapters: &[&str]) -> Proposal {
    // Large segments arrive large over a virtual link, whatever merges them.
    let beside = match keys.contains(&"gro") && !keys.contains(&"tso") {
        true => ", tso = \"off\"",
        false => "",
    };
    let all = |state: &str| {
        let each: Vec<String> = keys.iter().map(|key| sets(key, state)).collect();
        each.join(", ") + beside
    };
    let words = keys.iter().map(|key| format!(" {key} on")).collect::<String>();
    let each = adapters.iter().map(|name| format!("ethtool -K {}{words}", quoted(name)));
    let title = format!("Offloads {} of {}", keys.join(", "), adapters.join(", "));
    proposal(
        plans::tune::NETWORK,
        (&title, "What do the offloads that are off cost?"),
        (("off", &all("off")), ("on", &all("on"))),
        left_out(each.collect::<Vec<_>>().join(" && "), Holds::VirtualLink),
    )
}

/// A token bucket that was left behind: what the path carries with it and with none to speak of.
fn rate(machine: &Environment) -> Option<Proposal> {
    let shaped = |a: &Adapter| machine.fact(&format!("adapter.{}.shaper", a.name));
    let (adapter, rate) = machine.adapters.iter().find_map(|a| Some((a, shaped(a)?)))?;
    let rate = rate.strip_prefix("tbf ")?;
    let line = adapter.speed_now;
    let held = unit::parse(rate, unit::Kind::Rate).ok()?;
    if line.is_some_and(|line| held.value >= line.value) {
        return None;
    }
    let free = line.map_or_else(|| "1000 Gbit/s".into(), |line| line.exact());
    Some(proposal(
        plans::tune::NETWORK,
        (
            &format!("Shaper of {}", adapter.name),
            "What does the token bucket on the adapter hold back?",
        ),
        ((&held.to_string(), &sets("rate", rate)), ("no shaper", &sets("rate", &free))),
        left_out(
            format!("tc qdisc del dev {} root", quoted(&adapter.name)),
            if line.is_some() { Holds::UpToLine } else { Holds::LineUnknown },
        ),
    ))
}

fn huge_pages(machine: &Environment) -> Option<Proposal> {
    machine.fact("thp").filter(|now| *now == "never")?;
    Some(proposal(
        plans::tune::MEMORY,
        ("Transparent huge pages", "What do programs with much memory lose without huge pages?"),
        (("never", &sets("thp", "never")), ("always", &sets("thp", "always"))),
        booted(
            "echo always | tee /sys/kernel/mm/transparent_hugepage/enabled",
            "transparent_hugepage=always",
            Holds::RandomMemory,
        ),
    ))
}

fn governor(machine: &Environment) -> Option<Proposal> {
    let now = machine.cpu.governor.as_deref().filter(|now| *now == "powersave")?;
    machine.fact("cpu.frequency_driver").filter(|driver| !CHOOSING.contains(driver))?;
    Some(proposal(
        plans::tune::CPU,
        ("Frequency governor", "Does the governor of this machine keep its frequency down?"),
        ((now, &sets("governor", now)), ("performance", &sets("governor", "performance"))),
        booted(
            "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            "cpufreq.default_governor=performance",
            Holds::CpuWork,
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::plan::is_tuning;
    use desk::record::{KeyClass, Settings};
    use rig::factor::{self, Mechanism, OnLink};
    use std::process::Command;

    fn fact(key: &str, value: &str) -> Fact {
        Fact { key: key.into(), value: value.into(), class: KeyClass::Info, source: String::new() }
    }

    /// A machine with nothing to try, and then these facts, and an adapter with these offloads.
    fn machine(facts: &[(&str, &str)], offloads: &[(&str, &str)]) -> Environment {
        let mut all = vec![
            fact("tcp.congestion_available", "reno cubic bbr"),
            fact("tcp.congestion_default", "cubic"),
            fact("tcp.rmem", "4096 131072 33554432"),
            fact("thp", "madvise"),
        ];
        for (key, value) in facts {
            all.retain(|known| known.key != *key);
            all.push(fact(key, value));
        }
        let offloads = offloads.iter().map(|(name, state)| ((*name).into(), (*state).into()));
        let adapter = Adapter {
            name: "eth7".into(),
            carrier: Some(true),
            physical: true,
            offloads: offloads.collect(),
            ..Adapter::default()
        };
        Environment { adapters: vec![adapter], facts: all, ..Environment::default() }
    }

    fn found(machine: &Environment) -> Look {
        look(machine, &|_| None)
    }

    /// The commands of all that is proposed for a machine.
    fn commands(machine: &Environment) -> Vec<String> {
        let each = found(machine).proposals.into_iter().map(|proposal| {
            let plan = plan(&proposal, 7).unwrap();
            assert!(is_tuning(&plan), "{}", proposal.text);
            proposal.lasting.command
        });
        each.collect()
    }

    #[test]
    fn a_machine_with_usual_settings_is_left_alone() {
        assert_eq!(commands(&machine(&[], &[("tx-tcp-segmentation", "on")])), [""; 0]);
        // What a driver does not let be switched is no setting.
        assert_eq!(commands(&machine(&[], &[("tx-tcp-segmentation", "off [fixed]")])), [""; 0]);
        assert_eq!(commands(&Environment::default()), [""; 0]);
    }

    #[test]
    fn every_bad_setting_is_tried_and_has_its_command() {
        let of_facts = [
            (("tcp.congestion_default", "bbr"), "sysctl -w net.ipv4.tcp_congestion_control=cubic"),
            (("tcp.rmem", "4096 8192 16384"), "sysctl -w net.ipv4.tcp_rmem='4096 131072 6291456'"),
            // What is large enough stays.
            (
                ("tcp.rmem", "4096 16384 16777216"),
                "sysctl -w net.ipv4.tcp_rmem='4096 131072 16777216'",
            ),
            (("thp", "never"), "echo always | tee /sys/kernel/mm/transparent_hugepage/enabled"),
            (("adapter.eth7.shaper", "tbf 1000000000 bit/s"), "tc qdisc del dev eth7 root"),
        ];
        for (fact, command) in of_facts {
            assert_eq!(commands(&machine(&[fact], &[])), [command]);
        }
        for (name, key) in
            [("tx-tcp-segmentation", "tso"), ("tx-generic-segmentation", "gso"), ("rx-gro", "gro")]
        {
            let found = commands(&machine(&[], &[(name, "off")]));
            assert_eq!(found, [format!("ethtool -K eth7 {key} on")]);
        }
    }

    #[test]
    fn offloads_that_are_off_together_are_one_setting() {
        let tso = ("tx-tcp-segmentation", "off");
        let bad = machine(&[], &[tso, ("rx-gro", "off"), ("tx-generic-segmentation", "off")]);
        assert_eq!(commands(&bad), ["ethtool -K eth7 tso on gso on gro on"]);
        // One of each set; of a virtual adapter nothing merges what arrives, which is usual.
        let mut three = machine(&[], &[tso]);
        three.adapters.push(Adapter { name: "eth8".into(), ..three.adapters[0].clone() });
        three.adapters.push(Adapter {
            name: "veth0".into(),
            physical: false,
            offloads: vec![("rx-gro".into(), "off".into())],
            ..three.adapters[0].clone()
        });
        assert_eq!(commands(&three), ["ethtool -K eth7 tso on && ethtool -K eth8 tso on"]);
        three.adapters[1].offloads = vec![("rx-gro".into(), "off".into())];
        assert_eq!(commands(&three), ["ethtool -K eth8 gro on", "ethtool -K eth7 tso on"]);
        assert_eq!(found(&three).looked.proposed, ["offloads"]);
    }

    #[test]
    fn a_governor_is_tried_only_where_its_name_is_a_frequency() {
        let of = |driver, preference| {
            let known = [("cpu.frequency_driver", driver), ("cpu.energy_preference", preference)];
            let mut slow = machine(&known, &[]);
            slow.cpu.governor = Some("powersave".into());
            commands(&slow)
        };
        let command =
            "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        // Passive mode has an energy preference, too, but its governor is a frequency.
        for driver in ["acpi-cpufreq", "intel_cpufreq", "amd-pstate", "cppc_cpufreq"] {
            assert_eq!(of(driver, "balance_performance"), [command], "{driver}");
        }
        for driver in ["intel_pstate", "amd-pstate-epp"] {
            assert_eq!(of(driver, "power"), [""; 0], "{driver}");
        }
        let mut unknown = machine(&[], &[]);
        unknown.cpu.governor = Some("powersave".into());
        assert_eq!(commands(&unknown), [""; 0]);
    }

    #[test]
    fn a_shaper_is_tried_up_to_the_line_where_that_is_known() {
        let mut shaped = machine(&[("adapter.eth7.shaper", "tbf 100000000 bit/s")], &[]);
        let tried = |machine: &Environment| {
            let proposal = found(machine).proposals.remove(0);
            let then = plan(&proposal, 7).unwrap().factors[0].levels[1].settings.clone();
            (then["rate"].to_string(), proposal.lasting.holds)
        };
        assert_eq!(tried(&shaped), ("1 Tbit/s".to_owned(), Holds::LineUnknown));
        let rate = |value| desk::unit::Quantity::new(value, desk::unit::Unit::BitPerSecond);
        shaped.adapters[0].speed_now = Some(rate(1e9));
        assert_eq!(tried(&shaped), ("1 Gbit/s".to_owned(), Holds::UpToLine));
        shaped.adapters[0].speed_now = Some(rate(1e8));
        assert_eq!(commands(&shaped), [""; 0]);
    }

    #[test]
    fn only_what_the_lab_can_set_is_tried_and_of_a_model_nothing() {
        let mut bad = machine(
            &[("tcp.congestion_default", "bbr"), ("tcp.rmem", "4096 8192 16384"), ("thp", "never")],
            &[("tx-tcp-segmentation", "off")],
        );
        let mut tried = |kind, allowed: &str| {
            bad.facts.retain(|known| known.key != "tcp.congestion_allowed");
            bad.facts.push(fact("tcp.congestion_allowed", allowed));
            bad.lab = Some((kind, String::new()));
            let look = found(&bad);
            let mut barred: Vec<Barred> = look.looked.barred.iter().map(|(_, why)| *why).collect();
            barred.dedup();
            (look.looked.proposed, barred)
        };
        let (four, none) = tried(LabKind::RootNamespaces, "reno");
        assert_eq!((four.len(), none), (4, vec![]));
        let both = ["congestion control", "huge pages"].map(str::to_owned).to_vec();
        let no_links = vec![Barred::NoLinks];
        assert_eq!(tried(LabKind::Loopback, "reno cubic"), (both.clone(), no_links));
        let barred = vec![Barred::NotAllowed, Barred::NoLinks];
        assert_eq!(tried(LabKind::Loopback, "reno bbr"), (both[1..].to_vec(), barred));
        assert_eq!(tried(LabKind::Simulated, "reno cubic"), (vec![], vec![Barred::Model]));
    }

    #[test]
    fn what_the_machine_refuses_is_told_and_not_tried() {
        let bad = machine(&[("thp", "never"), ("tcp.congestion_default", "bbr")], &[]);
        let refuses = |plan: &Plan| {
            let huge = plan.factors[0].levels[1].settings.contains_key("thp");
            huge.then(|| "read-only".to_owned())
        };
        let look = look(&bad, &refuses);
        assert_eq!(look.looked.proposed, ["congestion control"]);
        assert_eq!(look.looked.barred, [("huge pages".to_owned(), Barred::Refused)]);
        assert!(!look.looked.usual.contains(&"huge pages".to_owned()));
    }

    /// What a shell hands over to the program of a command, word by word.
    fn handed_over(command: &str) -> Vec<Vec<String>> {
        let print = "() { printf '%s\\0' \"$0\" \"$@\"; printf '\\n'; }";
        let programs = ["sysctl", "ethtool", "tc"]
            .map(|name| format!("{name}{}\n", print.replace("\"$0\"", name)));
        let script = format!("{}{command}", programs.concat());
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let words = |line: &str| line.split_terminator('\0').map(str::to_owned).collect();
        said.lines().map(words).collect()
    }

    /// Proposal, the settings of the level to try, and what its command hands over.
    fn tried(machine: &Environment) -> (Proposal, Settings, Vec<Vec<String>>) {
        let proposal = found(machine).proposals.remove(0);
        let settings = plan(&proposal, 7).unwrap().factors[0].levels[1].settings.clone();
        let words = handed_over(&proposal.lasting.command);
        (proposal, settings, words)
    }

    #[test]
    fn a_sysctl_sets_the_level_that_was_tried() {
        let small = machine(&[("tcp.rmem", "4096 8192 16384")], &[]);
        let (proposal, settings, words) = tried(&small);
        assert_eq!(words[0][..2], ["sysctl", "-w"]);
        let (key, value) = words[0][2].split_once('=').unwrap();
        assert_eq!(proposal.lasting.line, format!("{key} = {value}"));
        let fields: Vec<&str> = value.split(' ').collect();
        assert_eq!(fields[0], "4096", "the least of all is left as it was");
        for (name, level) in &settings {
            let Some(Mechanism::Link(row)) = factor::mechanism(name) else { panic!("{name}") };
            let OnLink::Field(file, at) = row.on else { panic!("{name}") };
            assert_eq!(key, format!("net.{}", file.replace('/', ".")), "{name}");
            let bytes: f64 = fields[at].parse().unwrap();
            assert_eq!(level.quantity().unwrap().value.to_bits(), bytes.to_bits(), "{name}");
        }
        assert_eq!(settings.len(), 2);
        let (_, settings, words) = tried(&machine(&[("tcp.congestion_default", "bbr")], &[]));
        let level = settings["congestion"].to_string();
        let Some(Mechanism::Link(row)) = factor::mechanism("tcp_congestion") else { panic!() };
        let OnLink::Field(file, 0) = row.on else { panic!() };
        let setting = format!("net.{}={level}", file.replace('/', "."));
        assert_eq!(words, [["sysctl".to_owned(), "-w".into(), setting]]);
    }

    #[test]
    fn ethtool_and_tc_set_the_level_that_was_tried_on_every_adapter() {
        let all = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro"];
        let mut off = machine(&[], &all.map(|name| (name, "off")));
        off.adapters.push(Adapter { name: "odd name".into(), ..off.adapters[0].clone() });
        let (_, settings, words) = tried(&off);
        for (line, adapter) in words.iter().zip(["eth7", "odd name"]) {
            assert_eq!(line[..3], ["ethtool", "-K", adapter]);
            let set = line[3..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()));
            let levels = settings.iter().map(|(key, level)| (key.clone(), level.to_string()));
            assert_eq!(set.collect::<BTreeMap<_, _>>(), levels.collect());
        }
        assert_eq!(words.len(), 2);
        // The bucket is read at the root of the adapter: `rig` knows no other.
        let (.., words) = tried(&machine(&[("adapter.eth7.shaper", "tbf 1000000 bit/s")], &[]));
        assert_eq!(words, [["tc", "qdisc", "del", "dev", "eth7", "root"]]);
    }

    #[test]
    fn an_echo_sets_the_level_that_was_tried() {
        let root = std::env::temp_dir().join(format!("stend-tune-{}", std::process::id()));
        let put = |file: &str, text: &str| {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
        for cpu in 0..2 {
            put(
                &format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
                "powersave\n",
            );
        }
        let mut slow = machine(&[("cpu.frequency_driver", "acpi-cpufreq")], &[]);
        slow.cpu.governor = Some("powersave".into());
        for bad in [machine(&[("thp", "never")], &[]), slow] {
            let proposal = found(&bad).proposals.remove(0);
            let settings = plan(&proposal, 7).unwrap().factors[0].levels[1].settings.clone();
            let (name, level) = settings.first_key_value().unwrap();
            let Some(Mechanism::Machine(row)) = factor::mechanism(name) else { panic!("{name}") };
            assert_ne!(row.observe(&root).unwrap(), *level);
            let below = format!("{}/sys/", root.display());
            let command = proposal.lasting.command.replace("/sys/", &below);
            assert!(Command::new("sh").args(["-c", &command]).output().unwrap().status.success());
            assert_eq!(row.observe(&root).unwrap(), *level, "{command}");
            let word = level.to_string();
            assert!(proposal.lasting.line.ends_with(&format!("={word}")), "{name}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn nobody_is_taken_to_agree() {
        let bad = machine(&[("thp", "never")], &[]);
        let look = found(&bad);
        // Of a test there is no terminal to ask.
        if !std::io::stdin().is_terminal() {
            assert!(matches!(agree(&look, &bad, false), Err(CliError::NotAgreed { .. })));
        }
        assert!(agree(&look, &bad, true).is_ok());
        assert!(agree(&Look::default(), &bad, false).is_ok());
    }
}
