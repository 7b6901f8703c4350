//! Knows the packet filter of a host that routes or bridges: rules of nf_tables that no packet of
//! the lab matches, as one set or as a list, in a table that is the lab's; and how they are read
//! back.
//!
//! Must not know which level is wanted when, nor what is measured. The program `nft` speaks to the
//! kernel: its text is the form in which people write such rules.

use super::relay::Chance;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use thiserror::Error;

/// Rules of a filter at the most.
pub const RULES_MOST: u32 = 4000;
/// The seed of all rules: a level is the same rules in every run.
const SEED: u64 = 2544;
/// The program, and where it is beside `PATH`.
const PROGRAM: &str = "nft";
const PLACES: &str = "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin";
/// Addresses of every lab (RFC 2544, appendix C.2.2).
const LAB: &str = "198.18.0.0/15";
/// First and last destination port that a near miss may have. Loads of the lab use higher ones, and
/// find their way by datagrams to a lower one (discard, RFC 863).
const LOW_PORTS: [u32; 2] = [10, 4999];

/// Files in which bridges are told to show frames to the filter of IP, below `/proc/sys/net`.
pub const SHOWN: [&str; 2] = ["bridge/bridge-nf-call-iptables", "bridge/bridge-nf-call-ip6tables"];

/// How the kernel holds rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// Elements of one set of intervals, which one lookup finds: the best form.
    Set,
    /// One rule after the other, as simple scripts write them.
    List,
}

/// Where packets meet the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hook {
    /// Where the host routes them.
    Routed,
    /// Where the host bridges them.
    Bridged,
}

/// A filter of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// How it is held.
    pub form: Form,
    /// Where it is.
    pub hook: Hook,
}

/// Why a filter could not be set or read.
#[derive(Debug, Error)]
pub enum FilterError {
    /// The program is not there.
    #[error("no program {PROGRAM} on PATH or in {PLACES}; install the package nftables")]
    Absent,
    /// It did not run.
    #[error("{PROGRAM}: {0}")]
    Start(#[from] io::Error),
    /// It, or the kernel, refused.
    #[error("{PROGRAM} {asked}: {said}; is nf_tables in this kernel?")]
    Refused {
        /// What it was asked.
        asked: String,
        /// Its words.
        said: String,
    },
    /// The kernel holds something else.
    #[error("table {table} holds {found} rules, and not those of the lab; {REMEDY}")]
    Foreign {
        /// Which.
        table: &'static str,
        /// How many there are.
        found: usize,
    },
}

const REMEDY: &str = "end what else changes nf_tables on this machine";

/// Source and destination address, protocol, source and destination port.
type Rule = [String; 5];

impl Filter {
    const fn family(self) -> &'static str {
        match self.hook {
            Hook::Routed => "inet",
            Hook::Bridged => "bridge",
        }
    }

    const fn table(self) -> &'static str {
        match self.form {
            Form::Set => "stend_set",
            Form::List => "stend_list",
        }
    }

    /// Puts so many rules in place of those that are there; 0 removes the table.
    ///
    /// # Errors
    /// Where the program is absent, or it or the kernel refuses. Nothing has changed then.
    pub fn set(self, rules: u32) -> Result<(), FilterError> {
        // One transaction of the kernel: what is not there can be deleted once it is added.
        run(&["-f", "-"], &self.script(rules)).map(|_| ())
    }

    /// How many rules the kernel holds there.
    ///
    /// # Errors
    /// As [`Self::set`]; where they are not those of the lab.
    pub fn rules(self) -> Result<u32, FilterError> {
        let (family, table) = (self.family(), self.table());
        let all = run(&["-j", "list", "tables"], "")?;
        let is_it = |one: &Value| one["table"]["family"] == family && one["table"]["name"] == table;
        if !all["nftables"].as_array().is_some_and(|all| all.iter().any(is_it)) {
            return Ok(0);
        }
        self.read(&run(&["-j", "list", "table", family, table], "")?)
    }

    /// The rules in what the program tells of the table.
    fn read(self, told: &Value) -> Result<u32, FilterError> {
        let of = |kind: &'static str| {
            let all = told["nftables"].as_array().into_iter().flatten();
            all.filter_map(move |one| one.get(kind))
        };
        let mut found: Vec<Rule> = match self.form {
            Form::Set => {
                let elements = of("set").filter_map(|set| set["elem"].as_array()).flatten();
                elements.filter_map(|one| rule(one["concat"].as_array()?.iter())).collect()
            }
            Form::List => of("rule").filter_map(matched).collect(),
        };
        let hooked = of("chain").filter(|chain| chain["hook"] == "forward").count() == 1;
        let looked_up = self.form == Form::List || of("rule").count() == 1;
        let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let mut wanted = drawn(count.min(RULES_MOST));
        if self.form == Form::Set {
            // The kernel tells elements in another order.
            found.sort_unstable();
            wanted.sort_unstable();
        }
        match hooked && looked_up && found == wanted {
            true => Ok(count),
            false => Err(FilterError::Foreign { table: self.table(), found: found.len() }),
        }
    }

    /// As the program reads it.
    fn script(self, rules: u32) -> String {
        let at = format!("{} {}", self.family(), self.table());
        let mut text = format!("add table {at}\ndelete table {at}\n");
        if rules == 0 {
            return text;
        }
        text.push_str(&format!("table {at} {{\n"));
        let drawn = drawn(rules);
        if self.form == Form::Set {
            let elements: Vec<String> = drawn.iter().map(|rule| rule.join(" . ")).collect();
            text.push_str(&format!(
                "set rules {{ type ipv4_addr . ipv4_addr . inet_proto . inet_service . \
                 inet_service; flags interval; elements = {{ {} }} }}\n",
                elements.join(",\n")
            ));
        }
        text.push_str("chain forward { type filter hook forward priority 0; policy accept;\n");
        match self.form {
            Form::Set => text
                .push_str("ip saddr . ip daddr . ip protocol . th sport . th dport @rules drop\n"),
            Form::List => {
                for [from, to, protocol, source, target] in &drawn {
                    text.push_str(&format!(
                        "ip saddr {from} ip daddr {to} ip protocol {protocol} \
                         th sport {source} th dport {target} drop\n"
                    ));
                }
            }
        }
        text.push_str("}\n}\n");
        text
    }
}

/// Five-tuples with ranges of ports, none of which a packet of the lab matches and no two of which
/// overlap. Every second one is a near miss: all but the destination port fits frames of UDP.
fn drawn(rules: u32) -> Vec<Rule> {
    let mut chance = Chance::new(SEED);
    let [lowest, highest] = LOW_PORTS;
    let width = (highest - lowest + 1) / (rules / 2).max(1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below `most`")]
    let mut below = |most: u32| (chance.draw() * f64::from(most)) as u32;
    let mut draw = |at: u32| {
        if at % 2 == 1 {
            let first = lowest + at / 2 * width;
            let target = range(first, first + width - 1);
            return [LAB.into(), LAB.into(), "udp".into(), range(1024, 65535), target];
        }
        let protocol = if below(2) == 0 { "tcp" } else { "udp" };
        let mut ports = || {
            let first = 1 + below(60_000);
            range(first, first + below(4096))
        };
        let (source, target) = (ports(), ports());
        let from = format!("10.{}.{}.0/24", at >> 8, at & 255);
        [from, format!("10.{}.0.0/16", below(256)), protocol.into(), source, target]
    };
    (0..rules).map(&mut draw).collect()
}

fn range(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// What a rule of a list compares packets with, in the order of its comparisons.
fn matched(told: &Value) -> Option<Rule> {
    let all = told["expr"].as_array()?.iter();
    rule(all.filter_map(|one| one.get("match").map(|compared| &compared["right"])))
}

fn rule<'v>(parts: impl Iterator<Item = &'v Value>) -> Option<Rule> {
    parts.map(written).collect::<Option<Vec<String>>>()?.try_into().ok()
}

/// A part of a rule, as [`drawn`] writes it.
fn written(part: &Value) -> Option<String> {
    if let Some(prefix) = part.get("prefix") {
        return Some(format!("{}/{}", prefix["addr"].as_str()?, prefix["len"].as_u64()?));
    }
    if let Some(range) = part.get("range") {
        return Some(format!("{}-{}", range[0].as_u64()?, range[1].as_u64()?));
    }
    let number = || part.as_u64().map(|number| number.to_string());
    part.as_str().map(str::to_owned).or_else(number)
}

/// Where the program is.
///
/// # Errors
/// Where it is absent.
pub fn program() -> Result<PathBuf, FilterError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(std::env::split_paths(PLACES));
    let mut programs = places.map(|place| place.join(PROGRAM));
    programs.find(|program| program.is_file()).ok_or(FilterError::Absent)
}

/// What the program says, as JSON where it was asked for that.
fn run(asked: &[&str], text: &str) -> Result<Value, FilterError> {
    let mut command = Command::new(program()?);
    command.args(asked).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut to) = child.stdin.take() {
        // One that ends before it has read all says why.
        let _ = to.write_all(text.as_bytes());
    }
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        let said = said.lines().next().unwrap_or_default().trim().to_owned();
        return Err(FilterError::Refused { asked: asked.join(" "), said });
    }
    Ok(serde_json::from_slice(&stdout).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ALL: [(Form, Hook); 4] = [
        (Form::Set, Hook::Routed),
        (Form::List, Hook::Routed),
        (Form::Set, Hook::Bridged),
        (Form::List, Hook::Bridged),
    ];

    #[test]
    fn rules_are_the_same_each_time_and_half_of_them_miss_by_the_last_port_alone() {
        for count in [1, 2, 100, RULES_MOST] {
            let rules = drawn(count);
            assert_eq!(rules, drawn(count));
            assert_eq!(rules.iter().collect::<BTreeSet<_>>().len(), count as usize, "{count}");
            let near: Vec<&Rule> = rules.iter().filter(|rule| rule[0] == LAB).collect();
            assert_eq!(near.len(), count as usize / 2);
            let mut free = LOW_PORTS[0];
            for rule in near {
                let (first, last) = rule[4].split_once('-').unwrap_or((&rule[4], &rule[4]));
                let (first, last): (u32, u32) = (first.parse().unwrap(), last.parse().unwrap());
                assert!(free <= first && first <= last && last <= LOW_PORTS[1], "{rule:?}");
                free = last + 1;
            }
        }
    }

    /// As the kernel would tell of rules that it holds.
    fn told(form: Form, rules: &[Rule]) -> Value {
        let part = |text: &String| match text.split_once('/').or_else(|| text.split_once('-')) {
            Some((addr, len)) if text.contains('/') => {
                serde_json::json!({"prefix": {"addr": addr, "len": len.parse::<u32>().unwrap()}})
            }
            Some((a, b)) => {
                serde_json::json!({"range": [a.parse::<u32>().unwrap(), b.parse::<u32>().unwrap()]})
            }
            None => text.parse::<u32>().map_or_else(|_| text.as_str().into(), Value::from),
        };
        let chain = serde_json::json!({"chain": {"hook": "forward"}});
        let of_list = |rule: &Rule| {
            let all = rule.iter().map(|one| serde_json::json!({"match": {"right": part(one)}}));
            serde_json::json!({"rule": {"expr": all.collect::<Vec<_>>()}})
        };
        let of_set =
            |rule: &Rule| serde_json::json!({"concat": rule.iter().map(part).collect::<Vec<_>>()});
        let mut all = vec![chain];
        match form {
            Form::List => all.extend(rules.iter().map(of_list)),
            Form::Set => {
                let elements: Vec<Value> = rules.iter().rev().map(of_set).collect();
                all.push(serde_json::json!({"set": {"elem": elements}}));
                all.push(serde_json::json!({"rule": {"expr": []}}));
            }
        }
        serde_json::json!({ "nftables": all })
    }

    #[test]
    fn what_is_read_back_must_be_the_rules_of_the_lab() {
        for (form, hook) in ALL {
            let filter = Filter { form, hook };
            let rules = drawn(100);
            assert_eq!(filter.read(&told(form, &rules)).unwrap(), 100);
            let mut other = rules.clone();
            other[7][4] = "6000-6001".into();
            let fewer = &rules[..99];
            for wrong in [other.as_slice(), fewer] {
                let why = filter.read(&told(form, wrong)).unwrap_err().to_string();
                assert!(why.contains("not those") && why.contains(filter.table()), "{why}");
            }
            let mut unhooked = told(form, &rules);
            unhooked["nftables"][0] = serde_json::json!({"chain": {}});
            assert!(filter.read(&unhooked).is_err());
        }
    }
}
