//! Knows the factor `ip_version`: over which version of IP loads go.
//!
//! Must not know how a lab lays addresses, nor how packets are counted.

use super::FactorError;
use crate::lab::{IpVersion, Lab, LabError};
use desk::record::{FactorSpec, LabKind, ParamKind, Scope, Value};
use std::path::Path;

pub(super) const IP_VERSION: FactorSpec = FactorSpec {
    name: IpVersion::SETTING,
    about: "IPv4 or IPv6: the addresses that loads go to; packets are counted in each trial",
    scope: Scope::Network,
    kind: ParamKind::count(4, 6).by(2.0),
};

/// The factor that chooses the version of IP.
#[derive(Debug)]
pub struct VersionRow {
    /// As data.
    pub spec: &'static FactorSpec,
}

static ROW: VersionRow = VersionRow { spec: &IP_VERSION };

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static VersionRow> {
    (name == IP_VERSION.name).then_some(&ROW)
}

const fn level(version: IpVersion) -> Value {
    match version {
        IpVersion::Four => Value::Count(4),
        IpVersion::Six => Value::Count(6),
    }
}

impl VersionRow {
    /// Says before anything is measured why a level cannot be had on the machine below `root`.
    ///
    /// # Errors
    /// Where its kernel has no IPv6.
    pub fn refuse(&self, root: &Path, level: &Value) -> Result<(), FactorError> {
        let lacks = IpVersion::of(level) == Some(IpVersion::Six)
            && !root.join("proc/self/net/if_inet6").exists();
        match lacks {
            true => Err(self.not_here(
                "the kernel has no IPv6 (no /proc/net/if_inet6); boot without ipv6.disable=1, or \
                 load the module ipv6"
                    .into(),
            )),
            false => Ok(()),
        }
    }

    fn not_here(&self, what: String) -> FactorError {
        FactorError::NotHere { factor: self.spec.name, what }
    }

    /// Has loads go over a version, and looks whether all hosts have addresses of it.
    ///
    /// # Errors
    /// Where a host has none, or the lab is gone.
    pub fn apply(&self, lab: &mut Lab, level: &Value) -> Result<(), FactorError> {
        let Some(version) = IpVersion::of(level) else {
            let (factor, level) = (self.spec.name, level.to_string());
            return Err(FactorError::BadLevel { factor, level, remedy: "write 4 or 6" });
        };
        lab.take_ip_version(version).map_err(|e| match e {
            LabError::Refused { host, what } => self.not_here(format!("host '{host}': {what}")),
            other => other.into(),
        })?;
        if version == IpVersion::Four {
            return Ok(());
        }
        match (lab.without_sixth()?, lab.kind) {
            (None, _) => Ok(()),
            (Some(_), LabKind::Loopback) => Err(self.not_here(
                "the loopback interface has no address ::1; as root write sysctl -w \
                 net.ipv6.conf.lo.disable_ipv6=0"
                    .into(),
            )),
            (Some(host), _) => Err(self.not_here(format!(
                "host '{host}' has lost its addresses of IPv6; look for who takes them away"
            ))),
        }
    }

    /// Has loads go over another version again.
    ///
    /// # Errors
    /// When the lab is gone.
    pub fn bring_back(&self, lab: &mut Lab, before: IpVersion) -> Result<(), FactorError> {
        Ok(lab.take_ip_version(before)?)
    }

    /// The version that loads go over: 6 only where every host has addresses of it.
    ///
    /// # Errors
    /// When a host is gone.
    pub fn observe(&self, lab: &mut Lab) -> Result<Value, FactorError> {
        let version = lab.ip_version();
        let lacks = version == IpVersion::Six && lab.without_sixth()?.is_some();
        Ok(level(if lacks { IpVersion::Four } else { version }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_ipv6_takes_only_the_other_level() {
        let root = std::env::temp_dir().join(format!("stend-version-row-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proc/self/net")).unwrap();
        let said = |count| ROW.refuse(&root, &Value::Count(count)).map_err(|e| e.to_string());
        let (fourth, sixth) = (said(4), said(6));
        std::fs::write(root.join("proc/self/net/if_inet6"), "").unwrap();
        let with = said(6);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!((fourth, with), (Ok(()), Ok(())));
        let sixth = sixth.unwrap_err();
        assert!(sixth.contains("the kernel has no IPv6") && sixth.contains("ipv6.disable=1"));
    }

    #[test]
    fn a_plan_takes_four_and_six_and_nothing_between() {
        let takes = |count| IP_VERSION.kind.takes(&Value::Count(count));
        assert_eq!([3, 4, 5, 6, 7].map(takes), [false, true, false, true, false]);
        for version in [IpVersion::Four, IpVersion::Six] {
            assert_eq!(IpVersion::of(&level(version)), Some(version));
        }
        assert_eq!(IpVersion::of(&Value::Word("6".into())), None);
    }
}
