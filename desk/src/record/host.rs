//! Knows the name of a host and of the machine that it is on.
//!
//! Never: what the host does there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The machine of the conductor, which is the only one of a lab with one machine.
pub const LOCAL: &str = "local";

/// A host by its name, and the machine that it is on. The machine itself is the host `machine`. A
/// bare name, also in JSON, is a host of the machine [`LOCAL`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct HostName {
    /// None is [`LOCAL`].
    machine: Option<String>,
    name: String,
}

/// As a record keeps it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    /// A host of the machine `local`.
    Here(String),
    /// A host of another machine.
    There {
        /// The machine.
        machine: String,
        /// The host.
        name: String,
    },
}

impl HostName {
    /// A host on a machine.
    #[must_use]
    pub fn on(machine: &str, name: &str) -> Self {
        let machine = (machine != LOCAL).then(|| machine.into());
        Self { machine, name: name.into() }
    }

    /// The machine that it is on.
    #[must_use]
    pub fn machine(&self) -> &str {
        self.machine.as_deref().unwrap_or(LOCAL)
    }

    /// Its name, unique on its machine.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl From<&str> for HostName {
    fn from(name: &str) -> Self {
        Self { machine: None, name: name.into() }
    }
}

impl From<String> for HostName {
    fn from(name: String) -> Self {
        Self { machine: None, name }
    }
}

impl PartialEq<str> for HostName {
    fn eq(&self, name: &str) -> bool {
        self.machine.is_none() && self.name == name
    }
}

impl PartialEq<&str> for HostName {
    fn eq(&self, name: &&str) -> bool {
        self == *name
    }
}

impl PartialEq<String> for HostName {
    fn eq(&self, name: &String) -> bool {
        self == name.as_str()
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.machine {
            Some(machine) => write!(f, " on {machine}"),
            None => Ok(()),
        }
    }
}

impl From<Written> for HostName {
    fn from(written: Written) -> Self {
        match written {
            Written::Here(name) => name.into(),
            Written::There { machine, name } => Self::on(&machine, &name),
        }
    }
}

impl From<HostName> for Written {
    fn from(HostName { machine, name }: HostName) -> Self {
        match machine {
            Some(machine) => Self::There { machine, name },
            None => Self::Here(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_the_only_machine_is_a_bare_name_and_another_says_where_it_is() {
        for (host, text, said) in [
            (HostName::on(LOCAL, "c01"), r#""c01""#, "c01"),
            (HostName::on("m2", "c01"), r#"{"machine":"m2","name":"c01"}"#, "c01 on m2"),
        ] {
            assert_eq!(serde_json::to_string(&host).unwrap(), text);
            assert_eq!(serde_json::from_str::<HostName>(text).unwrap(), host);
            assert_eq!(host.to_string(), said);
            assert_eq!((host == "c01", host.name()), (host.machine() == LOCAL, "c01"));
        }
        let spelt = r#"{"machine":"local","name":"sut"}"#;
        assert_eq!(serde_json::from_str::<HostName>(spelt).unwrap(), HostName::from("sut"));
    }
}
