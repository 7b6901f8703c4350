//! Knows what the adapters of a lab mean for the loads of a plan: no line carries more than its
//! rate, and clients that carry less than the server measure themselves.
//!
//! Must not know how the rate of a line is read.

use super::bind::PATH;
use crate::record::{LinkPlan, ParamRole, Placement, Plan, Value, is_client};
use crate::unit::{Quantity, Unit};
use thiserror::Error;

/// What is offered in place of more than a line carries, a share of the slowest line.
const OFFERED: f64 = 0.6;
/// How much more than the server's line those of the clients carry together, so that the server's
/// is what was measured: published test 000 has 20 clients of 100 Mbit/s on a gigabit line.
const EXCEEDED: f64 = 1.2;

/// Clients that cannot load the server.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "the clients of link '{link}' carry {clients} together, and adapter {adapter} of the server \
     {server}: the clients would be measured, not the adapter; add machines to roles.clients"
)]
pub struct SlowLines {
    /// The link.
    link: String,
    /// Lines of all machines with clients.
    clients: Quantity,
    /// The server's adapter, with its machine.
    adapter: String,
    /// Its line.
    server: Quantity,
}

/// Fits the loads of a plan to the lines of its adapters: a load that offers more than the slowest
/// line of a server carries offers 60 % of it. `line` gives the rate of an adapter of a machine
/// where that is known. Says what was changed, and which clients do not exceed the server by a
/// fifth.
///
/// # Errors
/// Clients whose lines together carry less than the server's.
pub fn fit_lines(
    plan: &mut Plan,
    line: impl Fn(&str, &str) -> Option<Quantity>,
) -> Result<Vec<String>, SlowLines> {
    let (mut told, mut slowest) = (Vec::new(), None::<(f64, String)>);
    for link in plan.lab.links.iter().filter(|link| is_chosen(plan, link)) {
        let of = |at: &Placement| -> Option<(f64, String)> {
            let adapter = link.adapter_of(at)?;
            Some((line(&at.machine, adapter)?.value, format!("{}/{adapter}", at.machine)))
        };
        let clients = together(plan, link, &of);
        for at in plan.lab.machines.iter().filter(|at| !has_clients(at)) {
            let Some((server, adapter)) = of(at) else { continue };
            if let Some(clients) = clients.filter(|clients| *clients < EXCEEDED * server) {
                if clients < server {
                    let [clients, server] = [clients, server].map(rate);
                    let link = link.name.clone();
                    return Err(SlowLines { link, clients, adapter, server });
                }
                told.push(format!(
                    "link '{}': the clients carry {} together, {adapter} {}; where throughput \
                     reaches the line, either end may be the limit",
                    link.name,
                    rate(clients),
                    rate(server)
                ));
            }
            if slowest.as_ref().is_none_or(|(least, _)| server < *least) {
                slowest = Some((server, adapter));
            }
        }
    }
    if let Some((least, adapter)) = slowest {
        told.extend(offer_less(plan, least, &adapter));
    }
    Ok(told)
}

/// Whether a level of the plan chooses a link, or none has to.
fn is_chosen(plan: &Plan, link: &LinkPlan) -> bool {
    let levels = plan.factors.iter().flat_map(|factor| &factor.levels);
    let mut paths = levels.filter_map(|level| level.settings.get(PATH)?.word()).peekable();
    paths.peek().is_none() || paths.any(|path| path == link.name)
}

fn rate(value: f64) -> Quantity {
    Quantity::new(value, Unit::BitPerSecond)
}

/// Whether clients are on a machine.
fn has_clients(at: &Placement) -> bool {
    at.hosts.iter().any(|host| is_client(host))
}

/// What all machines with clients carry on a link; none where one of them does not say.
fn together(
    plan: &Plan,
    link: &LinkPlan,
    of: &dyn Fn(&Placement) -> Option<(f64, String)>,
) -> Option<f64> {
    let on_it = |at: &&Placement| has_clients(at) && link.adapter_of(at).is_some();
    let lines: Option<Vec<f64>> =
        plan.lab.machines.iter().filter(on_it).map(|at| Some(of(at)?.0)).collect();
    lines.filter(|lines| !lines.is_empty()).map(|lines| lines.iter().sum())
}

/// Takes what is offered in bit/s down to a share of the slowest line where it is more.
fn offer_less(plan: &mut Plan, line: f64, adapter: &str) -> Vec<String> {
    let less = rate(line * OFFERED);
    let mut told = Vec::new();
    for load in &mut plan.loads {
        let Some(name) = load.roles.get(&ParamRole::Offered).cloned() else { continue };
        let fixed = load.fixed.iter_mut().filter(|(key, _)| **key == name).map(|(_, v)| v);
        let swept = load.over.iter_mut().filter(|(key, _)| *key == name).flat_map(|(_, v)| v);
        for value in fixed.chain(swept) {
            let Some(offered) = value.quantity() else { continue };
            if offered.unit != Unit::BitPerSecond || offered.value <= line {
                continue;
            }
            *value = Value::Quantity(less);
            told.push(format!(
                "load '{}' offers {less} in place of {offered}: the line of {adapter} is {}",
                load.name,
                rate(line)
            ));
        }
        // Two rates above the line have become one.
        for (_, values) in load.over.iter_mut().filter(|(key, _)| *key == name) {
            let all = std::mem::take(values);
            for value in all {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::example::catalogue;
    use crate::plan::{LabFile, bind, read};

    const LAB: &str = r#"
        machines = { a = { address = "here" }, b = { address = "192.0.2.7:7711" },
            c = { address = "192.0.2.8:7711" } }
        roles = { sut = "a", clients = ["b", "c"] }
        links.wire = { a = "eth1", b = "eth2", c = "eth3" }"#;

    fn bound() -> Plan {
        let text = r#"title = "t"
            lab.links = { wire = {} }
            lab.clients = 4
            factors.mtu.levels = ["1500 B", "9000 B"]
            [load.full]
            workload = "tcp_stream"
            [load.paced]
            workload = "tcp_stream"
            [load.paced.over]
            offered_load = ["400 Mbit/s", "600 Mbit/s", "12 Gbit/s", "14 Gbit/s", "1 Gbit/s"]"#;
        let mut plan = read(text, &catalogue()).unwrap();
        bind(&mut plan, &LabFile::read(LAB).unwrap()).unwrap();
        plan
    }

    fn fit(server: Option<f64>, client: Option<f64>) -> (Plan, Result<Vec<String>, SlowLines>) {
        let mut plan = bound();
        let told = fit_lines(&mut plan, |machine, adapter| {
            assert!(adapter.starts_with("eth"), "{adapter}");
            let of = if machine == "a" { server } else { client };
            of.map(rate)
        });
        (plan, told)
    }

    #[test]
    fn a_load_above_the_line_offers_a_share_of_it() {
        let (plan, told) = fit(Some(1e9), Some(1e9));
        let told = told.unwrap();
        let (_, values) = &plan.load("paced").unwrap().over[0];
        let words: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["400 Mbit/s", "600 Mbit/s", "1 Gbit/s"]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("600 Mbit/s in place of 12 Gbit/s") && told[0].contains("a/eth1"));
    }

    #[test]
    fn slow_clients_are_refused_and_equal_ones_are_told() {
        let (_, refused) = fit(Some(1e10), Some(1e9));
        let words = refused.unwrap_err().to_string();
        assert!(words.contains("carry 2 Gbit/s together") && words.contains("a/eth1"), "{words}");
        let (_, told) = fit(Some(2e9), Some(1e9));
        assert!(told.unwrap()[0].contains("either end may be the limit"));
    }

    #[test]
    fn a_line_that_nobody_knows_changes_nothing() {
        for (server, client) in [(None, None), (None, Some(1e9)), (Some(2e10), None)] {
            let (plan, told) = fit(server, client);
            assert_eq!((plan, told), (bound(), Ok(Vec::new())));
        }
    }
}
