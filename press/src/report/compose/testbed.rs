//! Knows how the machine, its adapters and the lab on it are described.

use super::doubts::UNNAMED;
use super::machine::runs_alone;
use super::machines;
use super::names::{key_words, setting};
use super::ruling::count;
use super::{Nodes, Part, Said, Writer, entered};
use crate::report::document::{Column, Node, Prose, Table, unbroken};
use crate::report::error::ReportError;
use crate::report::words::Args;
use desk::record::{
    Adapter, Cache, Environment, KeyClass, LabKind, LabPlan, ParamRole, Plan, Settings,
};
use desk::unit::Quantity;
use desk::verdict::{self, Caveat};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that read better under another name; the kernel's word on the first is kept a stream.
const CONGESTION: &str = "congestion";
const STREAMS: &str = "streams_total";

/// The chapter: machine, adapters, lab, what was read back.
pub(super) fn chapter(writer: &mut Writer, parts: &[Part<'_>]) -> Result<Node, ReportError> {
    let mut body = Vec::new();
    if let Some(part) = parts.first() {
        body.push(Node::Facts(machine(writer, part.run.environment())?));
        body.push(Node::Paragraph(match runs_alone(parts) {
            true => alone(writer, part.run.environment())?,
            false => lab(writer, part.run.environment())?,
        }));
    }
    let mut told: Vec<&LabPlan> = Vec::new();
    for part in parts {
        if !told.contains(&&part.run.plan.lab) {
            told.push(&part.run.plan.lab);
            body.extend(match part.run.plan.is_alone() {
                true => settings(writer, part)?,
                false => topology(writer, part)?,
            });
        }
    }
    if parts.iter().any(|part| is_virtual(part) && cuts_segments(&part.run.plan)) {
        body.push(Node::Paragraph(writer.label("testbed-segments")?));
    }
    body.extend(made_with(writer, parts)?);
    if let Some(part) = parts.first().filter(|_| !runs_alone(parts)) {
        body.extend(adapters(writer, part)?);
    }
    body.extend(entered::table(writer, parts)?);
    let mut said = Vec::new();
    for part in parts {
        for sentence in reclassed(writer, &part.run.plan)? {
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
    }
    if !said.is_empty() {
        body.push(Node::List(said));
    }
    writer.section("testbed", "testbed-title", body)
}

/// Settings that hand segments larger than the link's to an adapter, or join those that came.
const SEGMENTS: [&str; 4] = ["tso", "gso", "gro", "lro"];

fn is_virtual(part: &Part<'_>) -> bool {
    part.analysis.caveats.contains(&Caveat::VirtualLinks)
}

/// Whether a plan switches anything that works on large segments.
fn cuts_segments(plan: &Plan) -> bool {
    let links = plan.lab.links.iter().map(|link| &link.settings);
    let levels = plan.factors.iter().flat_map(|f| &f.levels).map(|level| &level.settings);
    let mut all = links.chain(levels).chain([&plan.lab.settings]);
    all.any(|settings| SEGMENTS.iter().any(|key| settings.contains_key(*key)))
}

/// A class of keys in a word.
pub(super) fn class_word(writer: &Writer, class: KeyClass) -> Said {
    writer.pick("class-*", &class, Args::new())
}

/// Which keys of the environment a plan classes anew, a sentence each.
pub(super) fn reclassed(writer: &Writer, plan: &Plan) -> Result<Vec<Prose>, ReportError> {
    let mut said = Vec::new();
    for one in verdict::reclassed(plan) {
        let class = class_word(writer, one.class)?;
        let args = Args::new().name("key", one.key).prose("class", &class);
        said.push(match one.known {
            true => {
                let usual = class_word(writer, one.usual)?;
                writer.say("reclass-known", args.prose("usual", &usual))?
            }
            false => writer.say("reclass-unknown", args)?,
        });
    }
    Ok(said)
}

pub(super) fn machine(
    writer: &Writer,
    env: &Environment,
) -> Result<Vec<(Prose, Prose)>, ReportError> {
    let cpu = &env.cpu;
    let unsaid = writer.label("fact-not-said")?;
    let or_unsaid = |text: Option<&str>| text.map_or_else(|| unsaid.clone(), Prose::verbatim);
    let cores = Args::new()
        .count("sockets", cpu.sockets)
        .count("cores", cpu.cores)
        .count("logical", cpu.logical)
        .count("nodes", cpu.numa_nodes);
    let mut caches = Vec::new();
    for one in &env.caches {
        caches.push(cache(writer, one)?);
    }
    let caches = match caches.is_empty() {
        true => unsaid.clone(),
        false => Prose::join_with(&caches, ", "),
    };
    let hypervisor = match &cpu.hypervisor {
        Some(name) if name == UNNAMED => writer.label("fact-unnamed")?,
        Some(name) => Prose::verbatim(name),
        None => writer.label("fact-none")?,
    };
    let smt = match cpu.smt.as_deref() {
        Some("notsupported") => writer.label("fact-smt-unsupported")?,
        said => or_unsaid(said),
    };
    let quantity = |q: Option<Quantity>| q.map_or_else(|| unsaid.clone(), Prose::quantity);
    let facts = [
        ("fact-processor", Prose::verbatim(&cpu.model)),
        ("fact-processor-cores", writer.say("fact-cores", cores)?),
        ("fact-smt", smt),
        ("fact-frequency", quantity(cpu.frequency_max)),
        ("fact-governor", or_unsaid(cpu.governor.as_deref())),
        ("fact-hypervisor", hypervisor),
        ("fact-caches", caches),
        ("fact-memory", quantity(env.memory)),
        ("fact-kernel", or_unsaid(env.fact("kernel.release"))),
    ];
    facts.into_iter().map(|(key, value)| Ok((writer.label(key)?, value))).collect()
}

/// `L1 data 32 KiB`.
pub(super) fn cache(writer: &Writer, cache: &Cache) -> Said {
    let kind = cache.kind.to_lowercase();
    let args = Args::new().count("level", cache.level).choose("kind", &kind).name("name", &kind);
    writer.say("fact-cache", args.quantity("size", cache.size))
}

/// One column an adapter, so that many properties stay readable on a narrow page. Folded away
/// where the load went over virtual links and not over them.
fn adapters(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let adapters = machines::adapters(part.run);
    let several = part.run.plan.lab.machines.len() > 1;
    if adapters.is_empty() {
        // A machine says nothing of a virtual adapter.
        if several {
            return Ok(Vec::new());
        }
        return Ok(vec![Node::Paragraph(writer.label("adapters-none")?)]);
    }
    let mut columns = writer.headed(&["adapter-property"])?;
    let titles = adapters.iter().map(|(title, _)| Prose::verbatim(title));
    columns.extend(titles.map(|title| Column { title, numeric: false }));
    let mut rows: Vec<Vec<Prose>> = Vec::new();
    for (_, adapter) in adapters {
        for (at, (key, value)) in properties(writer, adapter)?.into_iter().enumerate() {
            if rows.len() == at {
                rows.push(vec![writer.label(key)?]);
            }
            rows[at].push(value);
        }
    }
    // A property that no adapter has says nothing.
    let unsaid = Prose::none();
    rows.retain(|row| row.iter().skip(1).any(|cell| *cell != unsaid));
    let folded = is_virtual(part);
    let caption = writer.label(match folded {
        _ if several => "adapters-caption-links",
        true => "adapters-caption-idle",
        false => "adapters-caption",
    })?;
    Ok(vec![Node::Table(Table { folded, ..writer.table(&caption, columns, rows)? })])
}

fn properties(
    writer: &Writer,
    adapter: &Adapter,
) -> Result<Vec<(&'static str, Prose)>, ReportError> {
    let word = |text: &Option<String>| Prose::verbatim(text.as_deref().unwrap_or("–"));
    let rate = |q: Option<Quantity>| q.map_or_else(Prose::none, Prose::quantity);
    let yes_no = |yes: bool| writer.label(if yes { "word-yes" } else { "word-no" });
    let on: Vec<&str> = adapter
        .offloads
        .iter()
        .filter(|(_, state)| state.starts_with("on"))
        .map(|(name, _)| name.as_str())
        .collect();
    let queues =
        Args::new().count("transmit", adapter.tx_queues).count("receive", adapter.rx_queues);
    let rings = match (adapter.tx_ring, adapter.rx_ring) {
        (Some(transmit), Some(receive)) => {
            let args = Args::new().count("transmit", transmit).count("receive", receive);
            writer.say("adapter-ring-pair", args)?
        }
        _ => Prose::none(),
    };
    let numa = adapter.numa_node.map_or_else(|| "–".into(), |node| node.to_string());
    let on = if on.is_empty() { "–".into() } else { on.join(", ") };
    Ok(vec![
        ("adapter-driver", word(&adapter.driver)),
        ("adapter-driver-version", word(&adapter.driver_version)),
        ("adapter-firmware", word(&adapter.firmware)),
        ("adapter-bus", word(&adapter.bus)),
        ("adapter-device", word(&adapter.device_id)),
        ("adapter-pcie", word(&adapter.pcie_now)),
        ("adapter-pcie-best", word(&adapter.pcie_best)),
        ("adapter-speed", rate(adapter.speed_now)),
        ("adapter-speed-best", rate(adapter.speed_best)),
        ("adapter-carrier", adapter.carrier.map_or_else(|| Ok(Prose::none()), yes_no)?),
        ("adapter-mtu", Prose::quantity(Quantity::bytes(adapter.mtu.into()))),
        ("adapter-queues", writer.say("adapter-queue-pair", queues)?),
        ("adapter-rings", rings),
        ("adapter-numa", Prose::verbatim(&numa)),
        ("adapter-offloads", Prose::verbatim(&on)),
        ("adapter-physical", yes_no(adapter.physical)?),
    ])
}

fn lab(writer: &Writer, env: &Environment) -> Said {
    let Some((kind, why)) = &env.lab else { return writer.label("lab-unknown") };
    let (plain, explained) = match kind {
        LabKind::RootNamespaces => ("lab-root-namespaces-plain", "lab-root-namespaces"),
        LabKind::UserNamespaces => ("lab-user-namespaces-plain", "lab-user-namespaces"),
        LabKind::Loopback => ("lab-loopback-plain", "lab-loopback"),
        LabKind::Simulated => ("lab-simulated-plain", "lab-simulated"),
    };
    if why.trim().is_empty() {
        return writer.label(plain);
    }
    writer.say(explained, Args::new().name("why", why.trim()))
}

/// Model, CPUs and memory of a machine.
pub fn machine_word(writer: &Writer, env: &Environment) -> Said {
    let args = Args::new().name("model", &env.cpu.model).count("logical", env.cpu.logical);
    let mut words = vec![writer.say("card-machine", args)?];
    words.extend(env.memory.map(Prose::quantity));
    Ok(Prose::join_with(&words, ", "))
}

/// Where the hosts lived, in a few words; a load that takes no other host lived on the machine.
pub fn lab_of(writer: &Writer, parts: &[Part<'_>]) -> Said {
    let env = parts[0].run.environment();
    if runs_alone(parts) && !env.is_simulated() {
        return writer.label("lab-short-alone");
    }
    match parts[0].run.plan.lab.machines.len() {
        0 | 1 => lab_word(writer, env),
        several => writer.say("lab-short-machines", Args::new().count("count", count(several))),
    }
}

/// The kind of lab in a few words.
pub fn lab_word(writer: &Writer, env: &Environment) -> Said {
    writer.label(match env.lab.as_ref().map(|(kind, _)| kind) {
        Some(LabKind::RootNamespaces) => "lab-short-root-namespaces",
        Some(LabKind::UserNamespaces) => "lab-short-user-namespaces",
        Some(LabKind::Loopback) => "lab-short-loopback",
        Some(LabKind::Simulated) => "lab-short-simulated",
        None => "lab-short-unknown",
    })
}

/// Where loads ran that take no host but the system under test.
fn alone(writer: &Writer, env: &Environment) -> Said {
    writer.label(if env.is_simulated() { "testbed-alone-simulated" } else { "testbed-alone" })
}

/// What a plan without clients set for the whole run; nothing where it set nothing.
fn settings(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let set = &part.run.plan.lab.settings;
    if set.is_empty() {
        return Ok(Vec::new());
    }
    let rows = set.iter().map(|(key, value)| {
        vec![Prose::verbatim(&key_words(key)), Prose::verbatim(&unbroken(&value.to_string()))]
    });
    let columns = writer.headed(&["made-setting", "made-value"])?;
    let caption = writer.label("testbed-alone-settings")?;
    Ok(vec![Node::Table(writer.table(&caption, columns, rows.collect())?)])
}

fn topology(writer: &mut Writer, part: &Part<'_>) -> Nodes {
    let lab = &part.run.plan.lab;
    let names: Vec<Prose> = lab.links.iter().map(|l| Prose::verbatim(&l.name)).collect();
    let machines = lab.machines.len();
    let args = Args::new()
        .choose("apart", if machines > 1 { "yes" } else { "no" })
        .count("machines", count(machines))
        .count("clients", lab.clients)
        .count("links", count(names.len()))
        .prose("names", &Prose::join_with(&names, ", "));
    let mut said = vec![writer.say("testbed-hosts", args)?];
    if let Some(rate) = lab.client_rate {
        said.push(writer.say("testbed-client-rate", Args::new().quantity("rate", rate))?);
    }
    let mut nodes = vec![Node::Paragraph(Prose::join(&said))];
    nodes.extend(machines::table(writer, part)?);
    let mut rows = Vec::new();
    if !lab.settings.is_empty() {
        rows.push(vec![writer.label("link-every-host")?, set_to(writer, &lab.settings)?]);
    }
    for link in &lab.links {
        rows.push(vec![Prose::verbatim(&link.name), set_to(writer, &link.settings)?]);
    }
    let columns = writer.headed(&["link-name", "link-settings"])?;
    let caption = writer.label("links-caption")?;
    let notes = match is_virtual(part) {
        true => vec![writer.label("links-note")?],
        false => Vec::new(),
    };
    let table = Table { notes, ..writer.table(&caption, columns, rows)? };
    nodes.push(Node::Table(table));
    Ok(nodes)
}

fn set_to(writer: &Writer, settings: &Settings) -> Said {
    let set: Vec<Prose> = settings.iter().map(|(k, v)| setting(k, &v.to_string())).collect();
    if set.is_empty() { writer.label("link-default") } else { Ok(Prose::join_with(&set, ", ")) }
}

/// A text in which a line ends only between its parts.
fn in_parts(text: &str) -> String {
    let marks = [", ", "; ", ": "];
    marks.into_iter().fold(unbroken(text), |text, mark| text.replace(&unbroken(mark), mark))
}

/// Every value that the engine, the placement and the congestion control were seen to have.
fn made_with(writer: &mut Writer, parts: &[Part<'_>]) -> Nodes {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for record in parts.iter().flat_map(|p| &p.run.records) {
        for (key, value) in record.outcome.made_with.iter().chain(&record.observed) {
            seen.entry(key).or_default().insert(value.to_string());
        }
        for (key, word) in record.outcome.flows.rows.iter().flat_map(|flow| &flow.words) {
            seen.entry(key).or_default().insert(word.clone());
        }
    }
    if seen.is_empty() {
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    let has = |role| {
        let loads = parts.iter().flat_map(|part| &part.run.plan.loads);
        loads.filter_map(|load| load.roles.get(&role)).any(|name| seen.contains_key(name.as_str()))
    };
    for (is_there, note) in [
        (has(ParamRole::Engine), "made-note-engine"),
        (has(ParamRole::Place), "made-note-placement"),
        (seen.contains_key(STREAMS), "made-note-streams"),
    ] {
        if is_there && !runs_alone(parts) {
            notes.push(writer.label(note)?);
        }
    }
    let notes = if notes.is_empty() { notes } else { vec![Prose::join(&notes)] };
    let mut rows = Vec::new();
    for (key, values) in seen {
        let key = match key {
            CONGESTION => writer.label("made-congestion")?,
            STREAMS => writer.label("made-streams")?,
            _ => Prose::verbatim(&key_words(key)),
        };
        // A text of several parts is told from the next one by another mark.
        let mark = if values.iter().any(|value| value.contains(", ")) { " / " } else { ", " };
        let values: Vec<Prose> = values.iter().map(|v| Prose::verbatim(&in_parts(v))).collect();
        rows.push(vec![key, Prose::join_with(&values, mark)]);
    }
    let columns = writer.headed(&["made-setting", "made-value"])?;
    let caption = writer.label("made-caption")?;
    Ok(vec![Node::Table(Table { notes, ..writer.table(&caption, columns, rows)? })])
}
