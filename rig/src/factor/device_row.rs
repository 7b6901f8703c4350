//! Knows what is set on the hosts of a lab that route or bridge, and the factors that do it: rules
//! that every packet is held against, and whether a bridge shows its packets to the filter of IP.
//!
//! Must not know how rules look, nor how fast anything forwards.

use super::{FactorError, Undo, link_row};
use crate::lab::filter::{self, Filter, Form, Hook, RULES_MOST, SHOWN};
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{Lab, LabError};
use desk::record::{FactorSpec, LabPlan, LinkPlan, ParamKind, Role, Scope, Value};
use std::path::Path;

const fn host(name: &'static str, about: &'static str, kind: ParamKind) -> FactorSpec {
    FactorSpec { name, about, scope: Scope::Host, kind }
}

pub(super) const BRIDGE_NETFILTER: FactorSpec = host(
    "bridge_netfilter",
    "bridges of the lab show every packet to the filter of IP; on as shipped, off in a lab",
    ParamKind::choice(&["off", "on"]),
);
pub(super) const FILTER_LIST: FactorSpec = host(
    "filter_list",
    "rules of nf_tables, one after the other, on hosts that route or bridge; no packet matches",
    ParamKind::count(0, RULES_MOST as u64),
);
pub(super) const FILTER_SET: FactorSpec = host(
    "filter_set",
    "rules of nf_tables, as one set of intervals, on hosts that route or bridge; no packet matches",
    ParamKind::count(0, RULES_MOST as u64),
);

/// What is set there.
#[derive(Clone, Copy, Debug)]
enum OnDevice {
    /// The rules of a filter.
    Rules(Form),
    /// Whether bridges show packets to the filter of IP.
    Shown,
}

/// A factor of hosts that route or bridge.
#[derive(Debug)]
pub struct DeviceRow {
    /// As data.
    pub spec: &'static FactorSpec,
    on: OnDevice,
}

static ROWS: [DeviceRow; 3] = [
    DeviceRow { spec: &BRIDGE_NETFILTER, on: OnDevice::Shown },
    DeviceRow { spec: &FILTER_LIST, on: OnDevice::Rules(Form::List) },
    DeviceRow { spec: &FILTER_SET, on: OnDevice::Rules(Form::Set) },
];

/// The row of a name; none for other factors.
pub(super) fn row_of(name: &str) -> Option<&'static DeviceRow> {
    ROWS.iter().find(|row| row.spec.name == name)
}

impl DeviceRow {
    /// Says before anything is measured why no level can be set on the machine below `root`.
    ///
    /// # Errors
    /// Where the program that speaks to the kernel, or the kernel's own switch, is absent.
    pub fn refuse(&self, root: &Path) -> Result<(), FactorError> {
        match self.on {
            OnDevice::Rules(_) => {
                filter::program().map(|_| ()).map_err(|e| self.not_here(e.to_string()))
            }
            OnDevice::Shown => match root.join("proc/sys/net").join(SHOWN[0]).exists() {
                true => Ok(()),
                false => Err(self.not_here(
                    "no bridge of this kernel shows packets to the filter of IP; load the module \
                     br_netfilter"
                        .into(),
                )),
            },
        }
    }

    /// Says why a lab of this plan has no place for it.
    ///
    /// # Errors
    /// Where nothing in it routes or bridges.
    pub fn refuse_lab(&self, plan: &LabPlan) -> Result<(), FactorError> {
        let is = |role: Role| plan.hosts.iter().any(|host| host.role == role);
        let bridges = is(Role::Switch) || plan.links.iter().any(LinkPlan::is_bridge);
        match self.on {
            _ if bridges => Ok(()),
            OnDevice::Rules(_) if is(Role::Device) => Ok(()),
            OnDevice::Rules(_) => Err(self.not_here(
                "no host of this lab routes or bridges; write role = \"device\" in \
                 [lab.hosts.NAME]"
                    .into(),
            )),
            OnDevice::Shown => Err(self.not_here(
                "no host of this lab bridges; write role = \"switch\" in [lab.hosts.NAME]".into(),
            )),
        }
    }

    fn not_here(&self, what: String) -> FactorError {
        FactorError::NotHere { factor: self.spec.name, what }
    }

    /// Sets a level on all of them and reads it back.
    ///
    /// # Errors
    /// Where the kernel refuses or does not take it; what was changed until then is undone.
    pub fn apply(&self, lab: &mut Lab, level: &Value) -> Result<Undo, FactorError> {
        let places = self.places(lab)?;
        let before = self.tell(lab, &places)?;
        let undo: Vec<(usize, Vec<LinkRequest>)> =
            places.iter().zip(&before).map(|(at, was)| (at.0, self.set(*at, was))).collect();
        let done = self.set_all(lab, &places, level);
        if let Err(e) = done {
            // The first of two errors says more.
            let _ = link_row::carry_out(lab, &undo);
            return Err(e);
        }
        Ok(Undo::Links(undo))
    }

    fn set_all(
        &self,
        lab: &mut Lab,
        places: &[(usize, Hook)],
        level: &Value,
    ) -> Result<(), FactorError> {
        let work = places.iter().map(|at| (at.0, self.set(*at, level))).collect();
        lab.ask_links(work).map_err(|e| self.refused(e))?;
        for ((at, _), found) in places.iter().zip(self.tell(lab, places)?) {
            if found != *level {
                return Err(FactorError::NotTaken {
                    factor: self.spec.name,
                    place: lab.name(*at).into(),
                    asked: level.to_string(),
                    found: found.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The level in force.
    ///
    /// # Errors
    /// Where it cannot be read, the hosts disagree, or the kernel holds other rules.
    pub fn observe(&self, lab: &mut Lab) -> Result<Value, FactorError> {
        let places = self.places(lab)?;
        let found = self.tell(lab, &places)?;
        let first = found.first().cloned().ok_or(FactorError::NoLinks(self.spec.name))?;
        match found.iter().zip(&places).find(|(level, _)| **level != first) {
            None => Ok(first),
            Some((other, (at, _))) => Err(FactorError::NotTaken {
                factor: self.spec.name,
                place: lab.name(*at).into(),
                asked: first.to_string(),
                found: other.to_string(),
            }),
        }
    }

    /// The hosts, and where packets meet a filter on each.
    fn places(&self, lab: &Lab) -> Result<Vec<(usize, Hook)>, FactorError> {
        let mut places = lab.forwarders();
        if matches!(self.on, OnDevice::Shown) {
            places.retain(|(_, hook)| *hook == Hook::Bridged);
        }
        if places.is_empty() { Err(FactorError::NoLinks(self.spec.name)) } else { Ok(places) }
    }

    fn set(&self, (_, hook): (usize, Hook), level: &Value) -> Vec<LinkRequest> {
        match self.on {
            OnDevice::Rules(form) => {
                let rules = level.count().and_then(|rules| u32::try_from(rules).ok());
                vec![LinkRequest::SetFilter(Filter { form, hook }, rules.unwrap_or_default())]
            }
            OnDevice::Shown => {
                let bit = if level.word() == Some("on") { "1" } else { "0" };
                SHOWN.map(|path| LinkRequest::SetSetting(path.into(), bit.into())).into()
            }
        }
    }

    /// The level on each of them.
    fn tell(&self, lab: &mut Lab, places: &[(usize, Hook)]) -> Result<Vec<Value>, FactorError> {
        let ask = |(at, hook): &(usize, Hook)| match self.on {
            OnDevice::Rules(form) => (*at, vec![LinkRequest::Filter(Filter { form, hook: *hook })]),
            OnDevice::Shown => (*at, SHOWN.map(|path| LinkRequest::Setting(path.into())).into()),
        };
        let told = lab.ask_links(places.iter().map(ask).collect());
        let told = told.map_err(|e| self.refused(e))?;
        Ok(told.iter().map(|answers| level(answers)).collect())
    }

    /// What a host refuses, this machine does not have.
    fn refused(&self, e: LabError) -> FactorError {
        match e {
            LabError::Refused { host, what } => self.not_here(format!("host '{host}': {what}")),
            other => other.into(),
        }
    }
}

/// What a host told; of two files that differ it is neither on nor off.
fn level(answers: &[LinkAnswer]) -> Value {
    let text = |answer: &LinkAnswer| match answer {
        LinkAnswer::Setting(text) => text.trim().to_owned(),
        other => format!("{other:?}"),
    };
    match answers {
        [LinkAnswer::Filter(rules)] => Value::Count(u64::from(*rules)),
        [one, other] if text(one) == "1" && text(other) == "1" => Value::Word("on".into()),
        [one, other] if text(one) == "0" && text(other) == "0" => Value::Word("off".into()),
        _ => Value::Word(answers.iter().map(text).collect::<Vec<_>>().join(" and ")),
    }
}
