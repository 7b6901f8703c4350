//! Knows the counters of an external box, as its SNMP agent tells them: SNMPv2c (RFC 3416), and
//! ports as in RFC 2863.
//!
//! Must not know which frames pass the box, nor when it is read.

use desk::record::BoxPlan;
use snmp2::{Oid, Pdu, SyncSession, Value};
use std::net::SocketAddr;
use std::time::Duration;
use thiserror::Error;

/// The variable that has the community; an agent that has another does not answer.
pub const COMMUNITY: &str = "STEND_SNMP_COMMUNITY";
/// The community where the variable is not set.
const PUBLIC: &str = "public";
/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(1);
/// Questions without an answer until an agent counts as silent.
const TRIES: i32 = 3;
/// Rows of a table in an answer.
const ROWS: u32 = 24;
/// Ports of a box at the most.
const PORTS_MOST: usize = 4096;
/// Names that a message lists at the most.
const LISTED: usize = 16;

/// Columns with names of ports: `ifName` and `ifDescr`.
const NAMES: [&[u64]; 2] = [&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1], &[1, 3, 6, 1, 2, 1, 2, 2, 1, 2]];
/// `ifHCInUcastPkts` and `ifHCOutUcastPkts`: by RFC 2863 without multicast and broadcast, as of
/// LLDP and STP.
const FRAMES: [&[u64]; 2] =
    [&[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 7], &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 11]];
/// Columns with drops, each a Counter32; the first two are of frames that came in.
const DROPS: [(&str, &[u64]); 4] = [
    ("ifInDiscards", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 13]),
    ("ifInErrors", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 14]),
    ("ifOutDiscards", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 19]),
    ("ifOutErrors", &[1, 3, 6, 1, 2, 1, 2, 2, 1, 20]),
];

/// Why a box cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BoxError {
    /// It does not have what the plan wants.
    #[error("{0}")]
    Lacks(String),
    /// Its agent does not answer.
    #[error("{0}")]
    Silent(String),
}

/// An external box whose agent answers.
#[derive(Clone, Debug)]
pub struct ExternalBox {
    name: String,
    agent: SocketAddr,
    community: String,
    /// Name and number (`ifIndex`) of each port that counts.
    ports: Vec<(String, u64)>,
}

/// What a port has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCount {
    /// Its name, as the plan writes it.
    pub port: String,
    /// Unicast frames received (`ifHCInUcastPkts`).
    pub received: u64,
    /// Unicast frames sent (`ifHCOutUcastPkts`).
    pub sent: u64,
    /// Drops by the counters that the box has.
    pub drops: Vec<(&'static str, u32)>,
}

impl PortCount {
    /// What was counted since an earlier reading; none where a count went back. A count of 32 bits
    /// passes its end, too, but not by half of its range.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let gained = |(name, count): &(&'static str, u32)| {
            let (_, before) = earlier.drops.iter().find(|(known, _)| known == name)?;
            Some((*name, count.wrapping_sub(*before)))
        };
        let drops: Vec<_> = self.drops.iter().filter_map(gained).collect();
        let went_back = drops.iter().any(|(_, count)| *count > u32::MAX / 2);
        if went_back {
            return None;
        }
        Some(Self {
            port: self.port.clone(),
            received: self.received.checked_sub(earlier.received)?,
            sent: self.sent.checked_sub(earlier.sent)?,
            drops,
        })
    }

    /// Frames that reached the port. Some boxes count those that it dropped at once as received
    /// too, so that this is the most that it can be.
    #[must_use]
    pub fn reached(&self) -> u64 {
        let of_input = |name: &str| DROPS[..2].iter().any(|(known, _)| *known == name);
        let dropped = self.drops.iter().filter(|(name, _)| of_input(name));
        self.received + dropped.map(|(_, count)| u64::from(*count)).sum::<u64>()
    }
}

impl ExternalBox {
    /// Finds the ports of a box that the plan names; none where it names no agent.
    ///
    /// # Errors
    /// An agent that does not answer, or a port that the box does not have.
    pub fn find(plan: &BoxPlan) -> Result<Option<Self>, BoxError> {
        let Some(agent) = plan.snmp.as_deref().and_then(BoxPlan::address) else { return Ok(None) };
        let community = std::env::var(COMMUNITY).unwrap_or_else(|_| PUBLIC.into());
        let mut found = Self { name: plan.name.clone(), agent, community, ports: Vec::new() };
        let mut known: Vec<(String, u64)> = Vec::new();
        for column in NAMES {
            let is_known = |port: &String| known.iter().any(|(name, _)| name == port);
            if !plan.ports.iter().all(is_known) {
                known.extend(found.names(column)?);
            }
        }
        for port in &plan.ports {
            let number = found.number(port, &known)?;
            found.ports.push((port.clone(), number));
        }
        Ok(Some(found))
    }

    fn number(&self, port: &str, known: &[(String, u64)]) -> Result<u64, BoxError> {
        let lacks = |what: String| BoxError::Lacks(format!("box {}: {what}", self.name));
        let Some((_, number)) = known.iter().find(|(name, _)| name == port) else {
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let listed = &names[..names.len().min(LISTED)];
            return Err(lacks(format!("no port '{port}'; {}", desk::plan::remedy(port, listed))));
        };
        match self.ports.iter().find(|(_, taken)| taken == number) {
            Some((other, _)) => {
                Err(lacks(format!("'{other}' and '{port}' are one port; take one")))
            }
            None => Ok(*number),
        }
    }

    /// What its ports have counted so far. Agents tell counts that are some seconds old.
    ///
    /// # Errors
    /// An agent that does not answer, or a port without counters of 64 bits.
    pub fn read(&self) -> Result<Vec<PortCount>, BoxError> {
        self.ports.iter().map(|(port, number)| self.count(port, *number)).collect()
    }

    fn count(&self, port: &str, number: u64) -> Result<PortCount, BoxError> {
        let columns = FRAMES.into_iter().chain(DROPS.map(|(_, column)| column));
        let asked: Vec<Oid<'_>> = columns.filter_map(|column| oid(column, &[number])).collect();
        let told = self.ask(|session| {
            let asked: Vec<&Oid<'_>> = asked.iter().collect();
            let answer = well(session.get_many(&asked))?;
            Ok(answer.varbinds.map(|(_, value)| count_of(&value)).collect::<Vec<_>>())
        })?;
        let [Some(received), Some(sent), drops @ ..] = told.as_slice() else {
            return Err(BoxError::Lacks(format!(
                "port {port} of box {} has no counters of 64 bits (ifHCInUcastPkts, RFC 2863); \
                 leave snmp and ports out of the plan",
                self.name
            )));
        };
        let drops = DROPS
            .iter()
            .zip(drops)
            .filter_map(|((name, _), count)| Some((*name, u32::try_from((*count)?).ok()?)));
        let (port, drops) = (port.to_owned(), drops.collect());
        Ok(PortCount { port, received: *received, sent: *sent, drops })
    }

    /// Names of all ports in a column, and their numbers.
    fn names(&self, column: &[u64]) -> Result<Vec<(String, u64)>, BoxError> {
        let (Some(root), mut at) = (oid(column, &[]), oid(column, &[])) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        while let Some(from) = at.take().filter(|_| all.len() < PORTS_MOST) {
            let rows = self.ask(|session| {
                let answer = well(session.getbulk(&[&from], 0, ROWS))?;
                let below = answer.varbinds.take_while(|(name, _)| name.starts_with(&root));
                Ok(below.filter_map(|(name, value)| row(&name, &value)).collect::<Vec<_>>())
            })?;
            at = rows.last().and_then(|(_, last)| oid(column, &[*last]));
            all.extend(rows);
        }
        Ok(all)
    }

    /// Asks in a session of its own each time: a late answer goes to a closed socket.
    fn ask<T>(
        &self,
        question: impl Fn(&mut SyncSession) -> Result<T, String>,
    ) -> Result<T, BoxError> {
        let Self { name, agent, community, .. } = self;
        let mut why = String::new();
        for first in 1..=TRIES {
            let told = SyncSession::new_v2c(agent, community.as_bytes(), Some(ANSWER), first)
                .map_err(|e| e.to_string())
                .and_then(|mut session| question(&mut session));
            match told {
                Ok(told) => return Ok(told),
                Err(e) => why = e,
            }
        }
        Err(BoxError::Silent(format!(
            "box {name}: its agent at {agent} does not answer by SNMPv2c ({why}); check that this \
             machine may ask it, and that {COMMUNITY} is its community ({PUBLIC} by default)"
        )))
    }
}

/// An answer without an error.
fn well(answer: Result<Pdu<'_>, snmp2::Error>) -> Result<Pdu<'_>, String> {
    match answer {
        Ok(answer) if answer.error_status == 0 => Ok(answer),
        Ok(answer) => Err(format!("error-status {} of RFC 3416", answer.error_status)),
        Err(e) => Err(e.to_string()),
    }
}

/// A port of a column of names.
fn row(name: &Oid<'_>, value: &Value<'_>) -> Option<(String, u64)> {
    let Value::OctetString(text) = value else { return None };
    Some((String::from_utf8_lossy(text).into_owned(), name.iter()?.last()?))
}

fn oid(column: &[u64], rest: &[u64]) -> Option<Oid<'static>> {
    Oid::from(&[column, rest].concat()).ok()
}

fn count_of(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Counter64(count) => Some(*count),
        Value::Counter32(count) => Some(u64::from(*count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_wrap_at_32_bits_and_frames_never_go_back() {
        let at = |received, drops| PortCount {
            port: "lan1".into(),
            received,
            sent: 2 * received,
            drops: vec![("ifInDiscards", drops), ("ifOutDiscards", 5)],
        };
        let gained = at(150, 3).since(&at(100, u32::MAX - 1)).unwrap();
        assert_eq!((gained.received, gained.sent), (50, 100));
        assert_eq!(gained.drops, [("ifInDiscards", 5), ("ifOutDiscards", 0)]);
        assert_eq!(gained.reached(), 55, "what was dropped on the way in came, too");
        assert_eq!(at(99, 3).since(&at(100, 3)), None, "the box has restarted");
        assert_eq!(at(150, 2).since(&at(100, 3)), None, "so it has, by a count of drops");
        let earlier = PortCount { drops: Vec::new(), ..at(100, 0) };
        assert!(at(150, 7).since(&earlier).unwrap().drops.is_empty(), "nobody knows since when");
    }

    #[test]
    fn a_box_without_an_agent_is_not_asked_and_a_silent_one_is_named() {
        let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let plan = |snmp: Option<String>| BoxPlan {
            name: "firewall".into(),
            link: "wire".into(),
            snmp,
            ports: vec!["lan1".into()],
        };
        assert!(ExternalBox::find(&plan(None)).unwrap().is_none());
        let at = silent.local_addr().unwrap().to_string();
        let why = ExternalBox::find(&plan(Some(at))).unwrap_err();
        let named = why.to_string().contains("box firewall: its agent at 127.0.0.1");
        assert!(named && matches!(why, BoxError::Silent(_)), "{why}");
    }

    #[test]
    fn a_port_is_found_by_its_name_once() {
        let mut found = ExternalBox {
            name: "firewall".into(),
            agent: "127.0.0.1:161".parse().unwrap(),
            community: PUBLIC.into(),
            ports: Vec::new(),
        };
        let known = [("lan1", 7), ("lan2", 8), ("Intel I210", 7)];
        let known = known.map(|(name, number)| (name.to_owned(), number));
        assert_eq!(found.number("lan2", &known), Ok(8));
        let why = found.number("lan3", &known).unwrap_err().to_string();
        assert!(why.contains("no port 'lan3'; did you mean 'lan"), "{why}");
        found.ports.push(("lan1".into(), 7));
        let why = found.number("Intel I210", &known).unwrap_err().to_string();
        assert!(why.contains("'lan1' and 'Intel I210' are one port"), "{why}");
    }
}
