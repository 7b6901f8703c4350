//! Knows an external box, which is no host of the lab, as data.
//!
//! Must not know how its counters are read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The port of an SNMP agent (RFC 3417, section 3.1).
const AGENT_PORT: u16 = 161;

/// An external box: no host of the lab, it stands on the cable of a link of adapters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoxPlan {
    /// Its name.
    pub name: String,
    /// The link on whose cable it stands.
    pub link: String,
    /// Address of its SNMP agent, IP or IP:PORT; none where nothing reads its counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snmp: Option<String>,
    /// Names (`ifName` or `ifDescr`) of the ports by which frames of the link pass it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
}

impl BoxPlan {
    /// The address of an agent as a plan writes it, by default at port 161.
    #[must_use]
    pub fn address(written: &str) -> Option<SocketAddr> {
        let with_port = || Some(SocketAddr::new(written.parse().ok()?, AGENT_PORT));
        written.parse().ok().or_else(with_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_at_port_161_unless_its_address_has_another() {
        let at = |written| BoxPlan::address(written).map(|address| address.to_string());
        assert_eq!(at("192.0.2.9").as_deref(), Some("192.0.2.9:161"));
        assert_eq!(at("192.0.2.9:1161").as_deref(), Some("192.0.2.9:1161"));
        assert_eq!(at("2001:db8::9").as_deref(), Some("[2001:db8::9]:161"));
        assert_eq!(at("firewall"), None);
    }
}
