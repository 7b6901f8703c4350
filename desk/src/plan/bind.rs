//! Knows how the roles of a plan are given to the machines and adapters of a lab file.
//!
//! Must not know how a machine is reached, nor whether it has what the file says.

use super::read::LabFile;
use crate::record::{
    FactorPlan, Level, LinkKind, LinkPlan, ManualFact, Placement, Plan, SUT, Settings, Value,
    is_client,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// The factor whose levels are links; that whose levels are machines has the name of their role.
pub(super) const PATH: &str = "path";

/// Why a plan does not fit a lab file, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are what the message of their variant shows")]
pub enum BindError {
    /// The plan has more links than the lab.
    #[error(
        "the plan has the links {plan}, the lab file {lab}; add a table [links.NAME] for each, \
         or give a plan with as many"
    )]
    Links { plan: String, lab: String },
    /// A host of a link is on a machine that has no adapter there.
    #[error(
        "machine '{machine}' has no adapter on link '{link}'; add {machine} = \"eth1\" to \
         [links.{link}]"
    )]
    NoAdapter { machine: String, link: String },
    /// Two links of one machine have the same adapter.
    #[error(
        "adapter {adapter} of machine '{machine}' is on links '{one}' and '{other}'; name one \
         adapter a link"
    )]
    OneAdapter { adapter: String, machine: String, one: String, other: String },
    /// Server and client behind one adapter: nothing would cross a cable.
    #[error(
        "sut and {client} share adapter {adapter} on link '{link}'; name a machine for the \
         clients: [roles] clients = \"client\""
    )]
    SharedAdapter { client: String, adapter: String, link: String },
    /// Hosts on several machines, and no link between them.
    #[error(
        "hosts are on the machines {machines}, and the lab file has no links; add a table \
         [links.NAME] with an adapter of each"
    )]
    Apart { machines: String },
    /// Several machines under test, and no factor for them.
    #[error(
        "the lab file names the machines {sut} as sut; add [factors.sut] with levels = [...] to \
         the plan, or name one"
    )]
    ManySuts { sut: String },
    /// A level that is no machine under test.
    #[error(
        "level '{level}' of factor 'sut' is no machine of roles.sut, which are {sut}; add it there"
    )]
    NotASut { level: String, sut: String },
    /// `sut` without a lab file.
    #[error("a plan with the factor 'sut' needs a lab file: --machines FILE")]
    NoFile,
    /// What several machines cannot be told together.
    #[error("{what} is of one machine, and the hosts of this lab are on several; leave it out")]
    OneMachine { what: String },
    /// An external box on a link that the lab makes.
    #[error(
        "external box {name} stands on link '{link}', which is virtual; give the link \
         kind = \"adapter\" and adapters, or a lab file with its adapters: --machines FILE"
    )]
    VirtualBox { name: String, link: String },
}

/// Gives the roles of a plan to machines, and its links to adapters. A link of the plan takes the
/// place of the lab's link of the same name; where a name is missing there, all take the places of
/// the lab's links in order, with their names, and without what the plan sets on them: that makes
/// virtual links differ. Says what was left out, in words for the person.
///
/// # Errors
/// What of the plan does not fit, with the remedy.
pub fn bind(plan: &mut Plan, lab: &LabFile) -> Result<Vec<String>, BindError> {
    let suts = suts(plan, lab)?;
    let placed = placements(plan, lab, &suts);
    let told = bind_links(plan, lab, placed)?;
    let facts: Vec<ManualFact> = lab.facts.iter().map(|fact| told_of(plan, fact)).collect();
    plan.facts.extend(facts);
    Ok(told)
}

/// A fact of the lab file as one of the plan: of a level where the machine is one, else of a link,
/// else of the test bed with the machine's name before it.
fn told_of(plan: &Plan, fact: &ManualFact) -> ManualFact {
    let Some(of) = &fact.of else { return fact.clone() };
    if plan.lab.links.iter().any(|link| link.name == *of) {
        return fact.clone();
    }
    let is_it = |level: &Level| level.settings.get(SUT).and_then(Value::word) == Some(of);
    let with_it = |factor: &FactorPlan| {
        factor.levels.iter().find(|l| is_it(l)).map(|l| (factor.name.clone(), l.name.clone()))
    };
    // What a plan says of the parts of a level is not said twice.
    let has_parts = |of: &(String, String)| {
        let mut parts = plan.parts.iter().flat_map(|part| &part.levels);
        parts.any(|part| part.factor == of.0 && part.level == of.1)
    };
    match plan.factors.iter().find_map(with_it).filter(|of| !has_parts(of)) {
        Some((factor, level)) => {
            ManualFact { factor: Some(factor), of: Some(level), ..fact.clone() }
        }
        None => ManualFact {
            of: None,
            what: format!("{} of {of}", fact.what),
            value: Value::Word(fact.value.to_string()),
            ..fact.clone()
        },
    }
}

/// Gives links to adapters, and hosts to machines.
fn bind_links(
    plan: &mut Plan,
    lab: &LabFile,
    placed: Vec<Placement>,
) -> Result<Vec<String>, BindError> {
    let several = placed.len() > 1;
    // Hosts of one machine have virtual links, and a load of the machine itself needs none.
    if plan.lab.links.is_empty() || !several && lab.links.is_empty() {
        plan.lab.machines = placed;
        return refuse_virtual_boxes(plan).map(|()| Vec::new());
    }
    if lab.links.is_empty() {
        let machines = placed.iter().map(|at| at.machine.as_str()).collect::<Vec<_>>().join(", ");
        return Err(BindError::Apart { machines });
    }
    refuse_shared(plan, several)?;
    let told = take_links(plan, lab)?;
    plan.lab.machines = placed;
    for at in 0..plan.lab.links.len() {
        plan.lab.links[at].adapters = adapters(plan, lab, &plan.lab.links[at])?;
        plan.lab.links[at].kind = Some(LinkKind::Adapter);
    }
    one_link_each(&plan.lab.links)?;
    plan.lab.links.iter().try_for_each(two_ends)?;
    Ok(told)
}

/// Refuses what no lab file is there for.
///
/// # Errors
/// [`BindError::NoFile`] where the system under test is a factor, [`BindError::VirtualBox`] where
/// a box stands on a link without adapters.
pub fn refuse_unbound(plan: &Plan) -> Result<(), BindError> {
    let unbound = plan.lab.machines.is_empty() && !sut_levels(plan).is_empty();
    if unbound { Err(BindError::NoFile) } else { refuse_virtual_boxes(plan) }
}

fn refuse_virtual_boxes(plan: &Plan) -> Result<(), BindError> {
    let is_real = |name: &str| plan.lab.links.iter().any(|l| l.name == name && l.is_real());
    match plan.lab.boxes.iter().find(|of| !is_real(&of.link)) {
        Some(of) => Err(BindError::VirtualBox { name: of.name.clone(), link: of.link.clone() }),
        None => Ok(()),
    }
}

/// Levels of a factor that chooses the machine under test.
fn sut_levels(plan: &Plan) -> Vec<&str> {
    let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
    levels.filter_map(|level| level.settings.get(SUT).and_then(Value::word)).collect()
}

/// The machines under test that the plan has, the baseline first.
fn suts(plan: &Plan, lab: &LabFile) -> Result<Vec<String>, BindError> {
    let levels = sut_levels(plan);
    let all = || lab.sut.join(", ");
    if let Some(level) = levels.iter().find(|level| !lab.sut.iter().any(|sut| sut == *level)) {
        return Err(BindError::NotASut { level: (*level).into(), sut: all() });
    }
    match (levels.as_slice(), lab.sut.as_slice()) {
        ([], [one]) => Ok(vec![one.clone()]),
        ([], _) => Err(BindError::ManySuts { sut: all() }),
        (levels, _) => Ok(levels.iter().map(|level| (*level).to_owned()).collect()),
    }
}

/// Which hosts each machine has, the machines under test first.
fn placements(plan: &Plan, lab: &LabFile, suts: &[String]) -> Vec<Placement> {
    let mut placed: Vec<Placement> = Vec::new();
    let mut put = |machine: &str, host: &str| {
        let at = placed.iter().position(|one| one.machine == machine).unwrap_or_else(|| {
            placed.push(Placement { machine: machine.into(), hosts: Vec::new() });
            placed.len() - 1
        });
        if !placed[at].hosts.iter().any(|known| known == host) {
            placed[at].hosts.push(host.into());
        }
    };
    suts.iter().for_each(|machine| put(machine, SUT));
    if plan.lab.links.is_empty() {
        return placed;
    }
    let mut turns = lab.clients.iter().cycle();
    for host in plan.lab.host_names().iter().filter(|host| *host != SUT) {
        let named = lab.hosts.get(host.as_str());
        let machine = match named {
            None if is_client(host) => turns.next(),
            named => named,
        };
        put(machine.unwrap_or(&suts[0]), host);
    }
    placed
}

/// Refuses what is set or named for one machine alone.
fn refuse_shared(plan: &Plan, several: bool) -> Result<(), BindError> {
    let levels = plan.factors.iter().flat_map(|f| &f.levels).map(|level| &level.settings);
    let mut all = levels.chain([&plan.lab.settings]).flat_map(Settings::keys);
    let shared = all.find(|key| *key == "client_quota").cloned();
    let machine = plan.lab.machine.as_ref().map(|name| format!("machine = \"{name}\""));
    match shared.or(machine).filter(|_| several) {
        Some(what) => Err(BindError::OneMachine { what }),
        None => Ok(()),
    }
}

/// Gives the links of the plan the names of those of the lab.
fn take_links(plan: &mut Plan, lab: &LabFile) -> Result<Vec<String>, BindError> {
    let names: Vec<&str> = lab.links.iter().map(|(name, _)| name.as_str()).collect();
    if plan.lab.links.iter().all(|link| names.contains(&link.name.as_str())) {
        return Ok(Vec::new());
    }
    if plan.lab.links.len() > names.len() {
        let of_plan: Vec<&str> = plan.lab.links.iter().map(|link| link.name.as_str()).collect();
        let (plan, lab) = (of_plan.join(", "), names.join(", "));
        return Err(BindError::Links { plan, lab });
    }
    let mut told = Vec::new();
    let mut new = BTreeMap::new();
    for (link, name) in plan.lab.links.iter_mut().zip(names) {
        for (key, value) in std::mem::take(&mut link.settings) {
            told.push(format!("{key} = {value} of the plan's link {} is left out", link.name));
        }
        new.insert(std::mem::replace(&mut link.name, name.to_owned()), name.to_owned());
    }
    for of in &mut plan.lab.boxes {
        of.link = new.get(&of.link).unwrap_or(&of.link).clone();
    }
    for level in plan.factors.iter_mut().flat_map(|factor| &mut factor.levels) {
        let Some(Value::Word(link)) = level.settings.get_mut(PATH) else { continue };
        if let Some(name) = new.get(link.as_str()) {
            if level.name == *link {
                level.name.clone_from(name);
            }
            link.clone_from(name);
        }
    }
    Ok(told)
}

/// Member to adapter of a link, each adapter with its machine.
fn adapters(
    plan: &Plan,
    lab: &LabFile,
    link: &LinkPlan,
) -> Result<BTreeMap<String, String>, BindError> {
    let ends = lab.links.iter().find(|(name, _)| *name == link.name).map(|(_, ends)| ends);
    let names = plan.lab.host_names();
    let mut adapters = BTreeMap::new();
    for member in plan.lab.members(link).into_iter().map(|at| &names[at]) {
        let machines: Vec<&str> = plan.lab.machines_of(member).collect();
        for machine in &machines {
            let none =
                || BindError::NoAdapter { machine: (*machine).into(), link: link.name.clone() };
            let adapter = ends.and_then(|ends| ends.get(*machine)).ok_or_else(none)?;
            let key = match machines.len() {
                1 => member.clone(),
                _ => format!("{member}@{machine}"),
            };
            adapters.insert(key, format!("{machine}/{adapter}"));
        }
    }
    Ok(adapters)
}

/// Refuses an adapter on two links.
fn one_link_each(links: &[LinkPlan]) -> Result<(), BindError> {
    for (at, link) in links.iter().enumerate() {
        for other in &links[at + 1..] {
            let both =
                link.adapters.values().find(|own| other.adapters.values().any(|o| o == *own));
            if let Some((machine, adapter)) = both.and_then(|own| own.split_once('/')) {
                return Err(BindError::OneAdapter {
                    adapter: adapter.into(),
                    machine: machine.into(),
                    one: link.name.clone(),
                    other: other.name.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Refuses a link whose client has the adapter of a system under test.
fn two_ends(link: &LinkPlan) -> Result<(), BindError> {
    let is_sut = |member: &str| member.split('@').next() == Some(SUT);
    let of_suts = || link.adapters.iter().filter(|(member, _)| is_sut(member));
    let shared = |(member, own): &(&String, &String)| {
        is_client(member) && of_suts().any(|(_, adapter)| adapter == *own)
    };
    match link.adapters.iter().find(shared) {
        Some((client, adapter)) => Err(BindError::SharedAdapter {
            client: client.clone(),
            adapter: adapter.clone(),
            link: link.name.clone(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::catalogue;
    use super::super::{read, recheck};
    use super::*;

    const TWO: &str = "[machines.a]\naddress = \"192.0.2.1:7000\"\n[machines.b]\n\
                       address = \"192.0.2.2:7000\"\n[machines.c]\naddress = \"here\"\n";

    fn lab(rest: &str) -> LabFile {
        LabFile::read(&format!("{TWO}{rest}")).unwrap()
    }

    /// A plan of three clients over two virtual links, with these factors.
    fn plan(factors: &str) -> Plan {
        let text = format!(
            "title = \"t\"\n[lab]\nclients = 3\n[lab.links.one]\ntso = \"off\"\n[lab.links.two]\n\
             {factors}\n[load.net]\nworkload = \"tcp_stream\"\n"
        );
        read(&text, &catalogue()).unwrap()
    }

    const PATHS: &str = "[factors.path]\nlevels = [\"one\", \"two\"]\n";

    #[test]
    fn what_a_person_says_of_the_lab_is_of_its_level_its_link_or_the_test_bed() {
        let facts = ["a", "card"].map(|of| {
            format!(
                "[[fact]]\nof = \"{of}\"\nwhat = \"mass\"\nvalue = \"310 g\"\n\
                 source = \"scales\"\ndate = \"2026-11-26\"\n"
            )
        });
        let lab = |suts: &str| {
            lab(&format!(
                "[roles]\nsut = {suts}\nclients = \"c\"\n[links.onboard]\na = \"eth1\"\n\
                 b = \"eth1\"\nc = \"eth1\"\n[links.card]\na = \"eth2\"\nb = \"eth2\"\n\
                 c = \"eth2\"\n{}",
                facts.concat()
            ))
        };
        let of = |factors: &str, suts: &str| {
            let mut plan = plan(factors);
            bind(&mut plan, &lab(suts)).unwrap();
            assert_eq!(recheck(&plan, &catalogue()), Ok(()), "it comes back from a record");
            let of = plan.facts.iter().map(|f| (f.of.clone().unwrap_or_default(), f.what.clone()));
            of.map(|(of, what)| format!("{of}: {what}")).collect::<Vec<_>>()
        };
        assert_eq!(of(PATHS, "\"a\""), [": mass of a", "card: mass"]);
        let servers = "[factors.sut]\nlevels = [\"a\", \"b\"]\n";
        assert_eq!(of(servers, "[\"a\", \"b\"]"), ["a: mass", "card: mass"]);
    }

    #[test]
    fn a_built_in_plan_takes_the_links_and_the_names_of_the_lab() {
        let lab =
            lab("[roles]\nsut = \"a\"\nclients = [\"b\", \"c\"]\n[links.onboard]\na = \"eth1\"\n\
             b = \"eth1\"\nc = \"eth1\"\n[links.card]\na = \"0000:03:00.0\"\n\
             b = \"eth2\"\nc = \"eth2\"\n");
        let mut plan = plan(PATHS);
        let told = bind(&mut plan, &lab).unwrap();
        assert_eq!(told, ["tso = off of the plan's link one is left out"]);
        let levels: Vec<&str> = plan.factors[0].levels.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(levels, ["onboard", "card"]);
        let hosts = |at: usize| plan.lab.machines[at].hosts.join(" ");
        assert_eq!([hosts(0), hosts(1), hosts(2)], ["sut", "c01 c03", "c02"]);
        assert_eq!(recheck(&plan, &catalogue()), Ok(()), "it comes back from a record");
        let card = &plan.lab.links[1];
        assert_eq!((card.name.as_str(), card.kind), ("card", Some(LinkKind::Adapter)));
        assert_eq!(card.adapter_on("sut", "a"), Some("0000:03:00.0"));
        assert_eq!(card.adapter_on("c02", "c"), Some("eth2"));
        assert_eq!(card.adapter_on("c02", "b"), None, "it is on another machine");
    }

    #[test]
    fn a_box_goes_with_its_link_and_needs_a_cable() {
        let boxed = || plan("[lab.boxes.firewall]\nlink = \"two\"\n");
        let mut bound = boxed();
        let said = refuse_unbound(&bound).unwrap_err().to_string();
        assert!(said.contains("firewall stands on link 'two', which is virtual"), "{said}");
        let of = |links: &str| lab(&format!("[roles]\nsut = \"a\"\nclients = \"b\"\n{links}"));
        let links =
            "[links.x]\na = \"eth1\"\nb = \"eth1\"\n[links.y]\na = \"eth2\"\nb = \"eth2\"\n";
        bind(&mut bound, &of(links)).unwrap();
        assert_eq!(bound.lab.boxes[0].link, "y");
        assert_eq!(recheck(&bound, &catalogue()), Ok(()), "it comes back from a record");
        let alone = LabFile { links: Vec::new(), clients: vec!["a".into()], ..of("") };
        assert!(matches!(bind(&mut boxed(), &alone), Err(BindError::VirtualBox { .. })));
    }

    #[test]
    fn machines_under_test_are_levels() {
        let lab =
            lab("[roles]\nsut = [\"a\", \"b\"]\nclients = \"c\"\n[links.one]\na = \"eth1\"\n\
             b = \"eth5\"\nc = \"eth1\"\n[links.two]\na = \"eth2\"\nb = \"eth6\"\nc = \"eth2\"\n");
        let mut bound = plan("[factors.sut]\nlevels = [\"b\", \"a\"]\n");
        assert_eq!(bind(&mut bound, &lab).unwrap(), Vec::<String>::new(), "names are the lab's");
        assert_eq!(bound.lab.machines_of(SUT).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(bound.lab.links[0].adapter_on(SUT, "b"), Some("eth5"));
        assert_eq!(bound.lab.links[0].settings.len(), 1, "its settings stay");
        assert_eq!(recheck(&bound, &catalogue()), Ok(()), "it comes back from a record");
        let many = bind(&mut plan(PATHS), &lab).unwrap_err().to_string();
        assert!(many.contains("a, b") && many.contains("[factors.sut]"), "{many}");
        let other = bind(&mut plan("[factors.sut]\nlevels = [\"a\", \"c\"]\n"), &lab).unwrap_err();
        assert_eq!(other, BindError::NotASut { level: "c".into(), sut: "a, b".into() });
        let alone = plan("[factors.sut]\nlevels = [\"a\", \"b\"]\n");
        assert_eq!(refuse_unbound(&alone), Err(BindError::NoFile));
        assert_eq!(refuse_unbound(&bound), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_remedy() {
        let refused = |rest: &str| bind(&mut plan(PATHS), &lab(rest)).unwrap_err().to_string();
        let roles = "[roles]\nsut = \"a\"\nclients = \"b\"\n";
        for (rest, wanted) in [
            ("[links.x]\na = \"eth1\"\nb = \"eth1\"\n", "the plan has the links one, two, the lab"),
            (
                "[links.x]\na = \"eth1\"\n[links.y]\na = \"eth2\"\n",
                "'b' has no adapter on link 'x'",
            ),
            ("", "machines a, b, and the lab file has no links"),
            (
                "[links.x]\na = \"eth1\"\nb = \"eth1\"\n[links.y]\na = \"eth1\"\nb = \"eth2\"\n",
                "eth1 of machine 'a' is on links 'x' and 'y'",
            ),
        ] {
            let said = refused(&format!("{roles}{rest}"));
            assert!(said.contains(wanted), "{said}");
        }
        let alone = "[roles]\nsut = \"a\"\n[links.x]\na = \"eth1\"\n[links.y]\na = \"eth2\"\n";
        let said = refused(alone);
        assert!(said.contains("sut and c01 share adapter a/eth1 on link 'x'"), "{said}");
        // All hosts on one machine have virtual links.
        let mut alone = plan(PATHS);
        bind(&mut alone, &lab("[roles]\nsut = \"b\"\n")).unwrap();
        assert_eq!(alone.lab.machines.len(), 1);
        assert_eq!(alone.lab.links, plan(PATHS).lab.links);
    }

    #[test]
    fn a_lab_file_that_cannot_be_is_refused_with_line_and_remedy() {
        let refused = |text: &str| LabFile::read(text).unwrap_err().to_string();
        for (text, wanted) in [
            ("", "line 1: 'machines' is missing"),
            ("[machines.a]\n", "line 1: 'address' is missing"),
            ("[machines.a]\naddress = \"x\"\n", "line 2: 'address' cannot be 'x'"),
            ("[machines.local]\naddress = \"here\"\n", "other than local"),
            (TWO, "'sut' is missing"),
        ] {
            let said = refused(text);
            assert!(said.contains(wanted), "{said}");
        }
        for (rest, wanted) in [
            ("[roles]\nsut = \"aa\"\n", "did you mean 'a'?"),
            ("[roles]\nsut = [\"a\", \"a\"]\n", "holds 'a' twice"),
            ("[roles]\nsut = \"a\"\nbox = [\"a\", \"b\"]\n", "one machine in quotes"),
            ("[roles]\nsut = \"a\"\n[links.x]\na = \"no/t\"\n", "name or bus address"),
            ("[roles]\nsut = \"a\"\n[links.x]\nd = \"eth1\"\n", "no machine 'd'"),
        ] {
            let said = refused(&format!("{TWO}{rest}"));
            assert!(said.contains(wanted), "{said}");
        }
    }
}
