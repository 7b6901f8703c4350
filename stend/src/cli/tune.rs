//! Knows which settings of this machine are worth a try, and what each is tried against.
//!
//! A setting is tried where the machine has another level than the usual one, and where it can be
//! put back. Must not know what a setting turned out to be worth.

use super::error::CliError;
use super::{place, plans, progress, quoted};
use desk::plan::{AS_SET, Lasting, tune_facts};
use desk::record::{Adapter, Environment, Fact, LabKind, Plan};
use desk::unit;
use std::io::{IsTerminal as _, Write as _};

/// Below these a receive buffer is small, bytes: half of what Linux begins with, and of what it
/// grows to where there is memory (`tcp_rmem`, tcp(7)).
const SMALL_BUFFER: u64 = 65_536;
const SMALL_BUFFER_MAX: u64 = 3 << 20;

/// Drivers of which `powersave` is no lowest frequency: they choose by the load.
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

/// A setting: its name for a person, and what there is to try on this machine.
type Setting = (&'static str, fn(&Environment) -> Option<Proposal>);

const SETTINGS: [Setting; 8] = [
    ("congestion control", congestion),
    ("TCP receive buffers", buffers),
    ("segmentation offload", |m| {
        offload(m, ("tso", "Segmentation offload"), ("tx-tcp-segmentation", ""))
    }),
    ("generic segmentation offload", |m| {
        offload(m, ("gso", "Generic segmentation offload"), ("tx-generic-segmentation", ""))
    }),
    // Large segments arrive large over a virtual link, whatever merges them.
    ("receive offload", |m| offload(m, ("gro", "Receive offload"), ("rx-gro", ", tso = \"off\""))),
    ("shaper", rate),
    ("huge pages", huge_pages),
    ("frequency governor", governor),
];

/// What is worth a try on this machine in its lab; of a model nothing, which has no owner.
pub fn proposals(machine: &Environment) -> Vec<Proposal> {
    let kind = machine.lab.as_ref().map_or(LabKind::RootNamespaces, |(kind, _)| *kind);
    let all = SETTINGS.iter().filter_map(|(_, find)| find(machine));
    let linked = |proposal: &Proposal| {
        let plan = plans::parse("tune", &proposal.text);
        plan.is_ok_and(|plan| place::refuse_without_links(&plan, kind, "").is_ok())
    };
    all.filter(|proposal| !machine.is_simulated() && linked(proposal)).collect()
}

/// What the record of a part keeps of it: the settings with nothing to try, those with something,
/// and of a part that tries one how that lasts.
pub fn facts(machine: &Environment, proposal: Option<&Proposal>) -> Vec<Fact> {
    let names = |tried: bool| {
        let those = SETTINGS.iter().filter(|(_, find)| find(machine).is_some() == tried);
        those.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    tune_facts([&names(false), &names(true)], proposal.map(|proposal| &proposal.lasting))
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
pub fn agree(proposals: &[Proposal], machine: &Environment, yes: bool) -> Result<(), CliError> {
    for Proposal { title, now, then, .. } in proposals {
        progress::say(&format!("to try: {title}: {then} instead of {now}; it is put back"));
    }
    if let Some(quota) = machine.quota() {
        progress::say(&format!("stend is limited to {quota}, which is not switched"));
    }
    if yes || proposals.is_empty() {
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
        holds: "network".into(),
    }
}

/// What the command line of the kernel keeps.
fn booted(command: &str, line: &str, holds: &str) -> Lasting {
    let file = "the command line of the kernel".into();
    Lasting { command: command.into(), file, line: line.into(), holds: holds.into() }
}

/// One command after the other, for each of these adapters.
fn for_each(adapters: &[&Adapter], command: impl Fn(&str) -> String) -> String {
    adapters.iter().map(|a| command(&a.name)).collect::<Vec<_>>().join(" && ")
}

/// Cubic carries more than any that paces, where there is no round trip to speak of.
fn congestion(machine: &Environment) -> Option<Proposal> {
    let own = machine.fact("tcp.congestion_default").filter(|own| *own != "cubic")?;
    // In a namespace of our own we may take all that is available.
    let allowed = match machine.lab {
        Some((LabKind::Loopback, _)) => machine.fact("tcp.congestion_allowed")?,
        _ => machine.fact("tcp.congestion_available")?,
    };
    allowed.split_whitespace().find(|name| *name == "cubic")?;
    Some(proposal(
        plans::tune::NETWORK,
        ("Congestion control", "Does the congestion control of this machine suit a short path?"),
        ((own, &sets("congestion", own)), ("cubic", &sets("congestion", "cubic"))),
        sysctl("net.ipv4.tcp_congestion_control", "cubic"),
    ))
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
            holds: String::new(),
            ..sysctl("net.ipv4.tcp_rmem", &format!("{least} {} {}", usual.0, usual.1))
        },
    ))
}

/// An offload that adapters have and that is off; `kernel` is its name in the kernel, `beside` what
/// both levels set besides.
fn offload(
    machine: &Environment,
    (key, title): (&str, &str),
    (kernel, beside): (&str, &str),
) -> Option<Proposal> {
    let is_off = |a: &&Adapter| a.offloads.iter().any(|(of, state)| of == kernel && state == "off");
    let off: Vec<&Adapter> = machine.adapters.iter().filter(|a| a.carrier).filter(is_off).collect();
    let names: Vec<&str> = off.iter().map(|adapter| adapter.name.as_str()).collect();
    (!off.is_empty()).then(|| {
        proposal(
            plans::tune::NETWORK,
            (
                &format!("{title} of {}", names.join(", ")),
                "What does the offload that is off cost?",
            ),
            (("off", &(sets(key, "off") + beside)), ("on", &(sets(key, "on") + beside))),
            Lasting {
                command: for_each(&off, |name| format!("ethtool -K {} {key} on", quoted(name))),
                file: String::new(),
                line: String::new(),
                holds: "offload".into(),
            },
        )
    })
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
        Lasting {
            command: format!("tc qdisc del dev {} root", quoted(&adapter.name)),
            file: String::new(),
            line: String::new(),
            holds: "line".into(),
        },
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
            "memory",
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
            "work",
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use desk::plan::is_tuning;
    use desk::record::KeyClass;

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
            carrier: true,
            offloads: offloads.collect(),
            ..Adapter::default()
        };
        Environment { adapters: vec![adapter], facts: all, ..Environment::default() }
    }

    /// The commands of all that is proposed for a machine.
    fn commands(machine: &Environment) -> Vec<String> {
        let all = proposals(machine);
        let each = all.iter().map(|proposal| {
            let plan = plan(proposal, 7).unwrap();
            assert!(is_tuning(&plan), "{}", proposal.text);
            proposal.lasting.command.clone()
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
        let mut slow = machine(&[("cpu.frequency_driver", "acpi-cpufreq")], &[]);
        slow.cpu.governor = Some("powersave".into());
        let governor =
            "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        assert_eq!(commands(&slow), [governor]);
        let mut choosing = machine(&[("cpu.frequency_driver", "amd-pstate-epp")], &[]);
        choosing.cpu.governor = Some("powersave".into());
        assert_eq!(commands(&choosing), [""; 0]);
    }

    #[test]
    fn only_what_the_lab_can_set_is_tried_and_of_a_model_nothing() {
        let mut bad = machine(
            &[("tcp.congestion_default", "bbr"), ("tcp.rmem", "4096 8192 16384"), ("thp", "never")],
            &[("tx-tcp-segmentation", "off")],
        );
        let mut tried = |kind, allowed| {
            bad.facts.retain(|known| known.key != "tcp.congestion_allowed");
            bad.facts.push(fact("tcp.congestion_allowed", allowed));
            bad.lab = Some((kind, String::new()));
            proposals(&bad).into_iter().map(|p| p.title).collect::<Vec<_>>()
        };
        assert_eq!(tried(LabKind::RootNamespaces, "reno").len(), 4);
        let both = ["Congestion control", "Transparent huge pages"];
        assert_eq!(tried(LabKind::Loopback, "reno cubic"), both);
        assert_eq!(tried(LabKind::Loopback, "reno bbr"), both[1..]);
        assert_eq!(tried(LabKind::Simulated, "reno cubic"), [""; 0]);
    }

    #[test]
    fn nobody_is_taken_to_agree() {
        let bad = machine(&[("thp", "never")], &[]);
        let found = proposals(&bad);
        // Of a test there is no terminal to ask.
        if !std::io::stdin().is_terminal() {
            assert!(matches!(agree(&found, &bad, false), Err(CliError::NotAgreed { .. })));
        }
        assert!(agree(&found, &bad, true).is_ok() && agree(&[], &bad, false).is_ok());
    }
}
