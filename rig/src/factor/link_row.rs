//! Knows how a setting is changed on all ends of a link: MTU, offload bits, numbers, files, speed
//! and RSS table of an adapter, a token bucket, a bond, a VLAN, and fields of kernel settings on
//! the hosts at its ends, or what protects the traffic between them.
//!
//! Must not know the list of factors.

use super::{FactorError, Undo, mechanism};
use crate::lab::adapter_file::AdapterFile;
use crate::lab::clock;
use crate::lab::cpus;
use crate::lab::ethtool::{Ethtool, Line, Number, rss};
use crate::lab::link::{
    Bonded, Bonding, Cipher, LinkError, Protection, SECRET, Tbf, cannot_protect, lacking,
    lacks_bonds,
};
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{EndRole, Lab, LabError, LinkEnd, by_host, second_cable};
use desk::record::{FactorSpec, Value, Words};
use desk::unit::{Quantity, Unit};
use rustix::rand::{GetRandomFlags, getrandom};
use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What is written to, and read back from, an interface.
#[derive(Debug)]
pub enum OnLink {
    /// The MTU by rtnetlink.
    Mtu,
    /// Offload bits by ethtool; the first decides what is read back.
    Feature(&'static [&'static str]),
    /// A number or a switch of the hosts' adapters by ethtool.
    Number(Number),
    /// A file of the hosts' adapters, or of each of their queues.
    File(AdapterFile),
    /// The speed of the line, with what is advertised of it.
    Line,
    /// Over how many queues RSS spreads.
    Rss,
    /// A `tbf` queueing discipline.
    TokenBucket,
    /// A bond of the two cables of each member, and one at the switch.
    Bonding,
    /// A VLAN link on each adapter, which has its addresses.
    Vlan,
    /// ESP between the addresses that meet on it.
    Ipsec,
    /// A field of a file below `/proc/sys/net`, on the hosts; fields count from 0.
    Field(&'static str, usize),
}

/// A link factor.
#[derive(Debug)]
pub struct LinkRow {
    /// As data.
    pub spec: &'static FactorSpec,
    /// How.
    pub on: OnLink,
}

impl LinkRow {
    /// Reads the level that is in force on every adapter of a link; `asked` where it is that.
    ///
    /// # Errors
    /// When the ends of the link disagree or cannot be read.
    pub fn observe(&self, lab: &mut Lab, link: &str, asked: &Value) -> Result<Value, FactorError> {
        let ends = self.ends(lab, link)?;
        let found = self.read(lab, link, &ends)?;
        self.must_be_there(lab, &ends, &found)?;
        let mut levels = ends.iter().zip(&found).filter(|(end, _)| self.must_take(end));
        let Some((_, first)) = levels.next() else {
            return Err(FactorError::NoLinks(self.spec.name));
        };
        for (end, state) in levels {
            if !same(&self.level(state), &self.level(first)) {
                return Err(self.not_taken(lab, end, &self.level(first), &self.level(state)));
            }
        }
        let found = self.level(first);
        Ok(if self.plain(lab, asked)? == found { asked.clone() } else { found })
    }

    /// Sets a level, reads it back, and returns how to undo it.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    pub fn apply(&self, lab: &mut Lab, link: &str, level: &Value) -> Result<Undo, FactorError> {
        if self.is_idle(lab, link) {
            return Ok(Undo::Links(Vec::new()));
        }
        let ends = self.ends(lab, link)?;
        let before = self.read(lab, link, &ends)?;
        self.must_be_there(lab, &ends, &before)?;
        self.must_have_effect(lab, level)?;
        let undo = self.undo(&ends, &before)?;
        let level = &self.plain(lab, level)?;
        let done = self.set_and_verify(lab, link, (&ends, &before), level);
        if let Err(e) = done {
            // The first of two errors says more.
            let _ = carry_out(lab, &undo);
            return Err(e);
        }
        Ok(Undo::Links(undo))
    }

    /// Says why no level can be set on an adapter of this machine, which `place` names in words.
    /// Nothing is changed.
    ///
    /// # Errors
    /// What its driver does not have or does not set, in the kernel's words.
    pub fn refuse(&self, adapter: &str, place: &str) -> Result<(), FactorError> {
        let OnLink::Number(number) = self.on else { return Ok(()) };
        let mut ethtool = Ethtool::open().map_err(LabError::from)?;
        let Err(e) = ethtool.try_number(adapter, number) else { return Ok(()) };
        let driver = ethtool.driver_info(adapter).ok().flatten();
        let driver = driver.map(|info| format!("{} ", info.driver)).unwrap_or_default();
        let words = e.kernels_words();
        let what = format!("the driver {driver}of {place} does not set it ({words})");
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    /// Whether frames have a tag at this level.
    #[must_use]
    pub const fn tags(&self, level: &Value) -> bool {
        matches!((&self.on, level), (OnLink::Vlan, Value::Count(_)))
    }

    /// Whether this level puts packets of IPv4, and none of IPv6, into something.
    #[must_use]
    pub fn wraps(&self, level: &Value) -> bool {
        matches!(self.on, OnLink::Vlan | OnLink::Ipsec | OnLink::Bonding)
            && level.word() != Some(OFF)
    }

    /// Whether a second cable carries frames at this level.
    #[must_use]
    pub fn bonds(&self, level: &Value) -> bool {
        matches!(self.on, OnLink::Bonding) && level.word() != Some(OFF)
    }

    /// Says why a level cannot be set on any link of this machine's kernel. Nothing stays changed.
    ///
    /// # Errors
    /// What the kernel lacks, with the modules that have it.
    pub fn refuse_here(&self, level: &Value) -> Result<(), FactorError> {
        let what = match (&self.on, level.word()) {
            (OnLink::Vlan, None) => match lacking(&["vlan"]) {
                Ok(absent) if !absent.is_empty() => {
                    "this kernel has no VLAN; load the module 8021q".to_owned()
                }
                // Who may not try here may do so in a namespace of the lab.
                _ => return Ok(()),
            },
            (OnLink::Bonding, Some(word)) if word != OFF => match lacks_bonds() {
                Ok(true) => "this kernel has no bonds; load the module bonding".to_owned(),
                _ => return Ok(()),
            },
            (OnLink::Ipsec, Some(word)) => match cipher(word).and_then(cannot_protect) {
                Some(LinkError::NotSupported { .. }) => {
                    "this kernel has no ESP with AES-GCM; load \
                     the modules esp4, gcm, seqiv and drbg"
                        .to_owned()
                }
                Some(why) => why.to_string(),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    /// The interfaces that the factor acts on, hosts' adapters before ports before the bridge.
    fn ends(&self, lab: &Lab, link: &str) -> Result<Vec<LinkEnd>, FactorError> {
        let mut ends = lab.ends(link);
        // What is set on a cable is set on both; addresses are on one.
        if !matches!(self.on, OnLink::Field(..) | OnLink::Vlan | OnLink::Ipsec | OnLink::Bonding) {
            ends.extend(lab.second_ends(link));
        }
        if matches!(self.on, OnLink::TokenBucket) {
            // The adapter of the first member, which is the system under test where it is on the
            // link, shapes what it sends; what faces it shapes what it receives.
            ends.retain(|end| end.narrow);
        }
        match self.on {
            OnLink::Mtu | OnLink::Feature(_) | OnLink::TokenBucket => {}
            // Of the members: an adapter that they share stands with the switch.
            OnLink::Field(..) => ends.retain(|e| {
                matches!(e.role, EndRole::Adapter | EndRole::Stacked) && !lab.is_switch(e.host)
            }),
            OnLink::Vlan => ends.retain(|e| {
                matches!(e.role, EndRole::Adapter | EndRole::Stacked) && !lab.joins(e.host)
            }),
            OnLink::Bonding => ends.retain(|e| !matches!(e.role, EndRole::Bridge)),
            OnLink::Ipsec => ends = lab.meeting(link).into_iter().map(|(end, _)| end).collect(),
            _ => ends.retain(|e| matches!(e.role, EndRole::Adapter)),
        }
        if ends.is_empty() {
            return Err(FactorError::NoLinks(self.spec.name));
        }
        Ok(ends)
    }

    /// Whether nobody meets on a link that leads on to others, so that there is nothing to protect.
    fn is_idle(&self, lab: &Lab, link: &str) -> bool {
        let alone = matches!(self.on, OnLink::Ipsec) && lab.meeting(link).len() < 2;
        alone && !lab.ends(link).is_empty()
    }

    /// Offloads of the bridge device concern frames of its own, which it has none of, and those of
    /// a macvlan follow its adapter's; they are set like the rest, but a kernel that keeps their
    /// bits does not spoil the trial.
    const fn must_take(&self, end: &LinkEnd) -> bool {
        !(matches!(end.role, EndRole::Bridge | EndRole::Stacked)
            && matches!(self.on, OnLink::Feature(_)))
    }

    fn read(
        &self,
        lab: &mut Lab,
        link: &str,
        ends: &[LinkEnd],
    ) -> Result<Vec<LinkAnswer>, LabError> {
        let meeting = lab.meeting(link);
        let ask = |end: &LinkEnd| match self.on {
            OnLink::Mtu => LinkRequest::Info(end.name.clone()),
            OnLink::Feature(_) => LinkRequest::Features(end.name.clone()),
            OnLink::Number(number) => LinkRequest::Number(end.name.clone(), number),
            OnLink::File(file) => LinkRequest::Files(end.name.clone(), file),
            OnLink::Line => LinkRequest::Line(end.name.clone()),
            OnLink::Rss => LinkRequest::RssTable(end.name.clone()),
            OnLink::TokenBucket => LinkRequest::Tbf(end.name.clone()),
            OnLink::Vlan => LinkRequest::Vlan(end.name.clone()),
            OnLink::Bonding => LinkRequest::Bonded(end.name.clone(), second_cable(&end.name)),
            OnLink::Ipsec => {
                let (own, others): (Vec<_>, Vec<_>) =
                    meeting.iter().partition(|(one, _)| one.host == end.host);
                let own = own.first().map_or(Ipv4Addr::UNSPECIFIED, |(_, address)| *address);
                LinkRequest::Protection(own, others.iter().map(|(_, other)| *other).collect())
            }
            OnLink::Field(path, _) => LinkRequest::Setting(path.into()),
        };
        on_ends(lab, ends, ends.iter().map(ask).collect())
    }

    /// What is read once every bond carries frames on both ports, or [`JOINED_MAX`] has passed: the
    /// partners of LACP need some seconds to find each other.
    fn read_settled(
        &self,
        lab: &mut Lab,
        link: &str,
        ends: &[LinkEnd],
    ) -> Result<Vec<LinkAnswer>, FactorError> {
        let deadline = Instant::now() + JOINED_MAX;
        loop {
            let found = self.read(lab, link, ends)?;
            let waits = |one: &LinkAnswer| matches!(one, LinkAnswer::Bonded(b) if !whole_bond(b));
            let Some(at) = found.iter().position(waits) else { return Ok(found) };
            if Instant::now() > deadline {
                let place = ends.get(at).map(|end| place(lab, end)).unwrap_or_default();
                let state = found.get(at).map(|answer| self.level(answer).to_string());
                let state = state.unwrap_or_default();
                let what = format!("{place} is {state} after {} s", JOINED_MAX.as_secs());
                return Err(FactorError::NotHere { factor: self.spec.name, what });
            }
            clock::sleep_until(clock::now_ns() + LOOK_NS);
        }
    }

    /// A level as what is read of it is written: of a list of CPUs all as the kernel lists them.
    fn plain(&self, lab: &mut Lab, level: &Value) -> Result<Value, FactorError> {
        Ok(match (self.spec.kind.words, level.word()) {
            (Words::CpusOr(_), Some("all")) => Value::Word(cpus::list(&lab.all_cpus()?)),
            (Words::CpusOr(words), Some(list)) if !words.contains(&list) => {
                Value::Word(cpus::list(&cpus::parse(list)))
            }
            _ => level.clone(),
        })
    }

    /// Flows of a queue are looked up in a table of the machine; without one none is steered.
    fn must_have_effect(&self, lab: &mut Lab, level: &Value) -> Result<(), FactorError> {
        let steers = level.count().is_some_and(|flows| flows > 0);
        if !steers || !matches!(self.on, OnLink::File(AdapterFile::RpsFlows)) {
            return Ok(());
        }
        if mechanism::level_of(lab, FLOW_ENTRIES)? != Value::Count(0) {
            return Ok(());
        }
        let what = format!(
            "{FLOW_ENTRIES} of the machine is 0, so that no flow is steered (set it in the same \
             plan)"
        );
        Err(FactorError::NotHere { factor: self.spec.name, what })
    }

    /// An adapter whose driver has no such number has none to set.
    fn must_be_there(
        &self,
        lab: &Lab,
        ends: &[LinkEnd],
        found: &[LinkAnswer],
    ) -> Result<(), FactorError> {
        let mut all = ends.iter().zip(found);
        use LinkAnswer::{Files, Line, Number, RssTable};
        let none = |state: &LinkAnswer| {
            matches!(state, Number(None) | Files(None) | Line(None) | RssTable(None))
        };
        let absent = all.find(|(_, state)| none(state));
        absent.map_or(Ok(()), |(end, _)| {
            let what = format!("the driver of {} does not have it", place(lab, end));
            Err(FactorError::NotHere { factor: self.spec.name, what })
        })
    }

    fn set_and_verify(
        &self,
        lab: &mut Lab,
        link: &str,
        (ends, before): (&[LinkEnd], &[LinkAnswer]),
        level: &Value,
    ) -> Result<(), FactorError> {
        let mut requests = Vec::new();
        for (end, state) in ends.iter().zip(before) {
            requests.push(self.request(end, state, level)?);
        }
        on_ends(lab, ends, requests)?;
        let found = self.read_settled(lab, link, ends)?;
        for (end, state) in ends.iter().zip(&found) {
            let is = self.level(state);
            if self.must_take(end) && !same(&is, level) {
                return Err(self.not_taken(lab, end, level, &is));
            }
        }
        Ok(())
    }

    fn request(
        &self,
        end: &LinkEnd,
        before: &LinkAnswer,
        level: &Value,
    ) -> Result<LinkRequest, FactorError> {
        let name = end.name.clone();
        let bad = |remedy| FactorError::BadLevel {
            factor: self.spec.name,
            level: level.to_string(),
            remedy,
        };
        match self.on {
            OnLink::Mtu => {
                let mtu = level.quantity().and_then(|q| whole(q.value));
                Ok(LinkRequest::SetMtu(name, mtu.ok_or_else(|| bad("write for instance 1500 B"))?))
            }
            OnLink::Feature(bits) => {
                let on = switched(level).ok_or_else(|| bad("write on or off"))?;
                let set = bits.iter().map(|bit| ((*bit).to_owned(), on)).collect();
                Ok(LinkRequest::SetFeatures(name, set))
            }
            OnLink::Number(number) => {
                let value = self.text(level).and_then(|text| text.parse().ok());
                let value = value.ok_or_else(|| bad("'stend factors list' says what it takes"))?;
                Ok(LinkRequest::SetNumber(name, number, value))
            }
            OnLink::File(file) => {
                let text = self.text(level);
                let text = text.ok_or_else(|| bad("'stend factors list' says what it takes"))?;
                Ok(LinkRequest::SetFiles(name, file, vec![text]))
            }
            OnLink::Line => {
                let LinkAnswer::Line(Some(line)) = before else { return Err(bad("no such line")) };
                Ok(LinkRequest::SetLine(name, line.at(self.speed(line, level)?)))
            }
            OnLink::Rss => {
                let LinkAnswer::RssTable(Some(table)) = before else {
                    return Err(bad("no such table"));
                };
                let queues = level.count().and_then(|count| u32::try_from(count).ok());
                let queues = queues.ok_or_else(|| bad("write a number of receive queues"))?;
                Ok(LinkRequest::SetRssTable(name, rss::spread(table.len(), queues)))
            }
            OnLink::TokenBucket => {
                let rate = level.quantity().ok_or_else(|| bad("write for instance 1 Gbit/s"))?;
                Ok(LinkRequest::SetTbf(name, token_bucket(rate.value)))
            }
            OnLink::Vlan | OnLink::Bonding | OnLink::Ipsec => {
                let asked = self.request_of_addresses(name, before, level)?;
                asked.ok_or_else(|| bad("'stend factors list' says what it takes"))
            }
            OnLink::Field(path, at) => {
                let text = self.text(level);
                let text = text.ok_or_else(|| bad("'stend factors list' says what it takes"))?;
                let LinkAnswer::Setting(before) = before else { return Err(bad("no such file")) };
                let mut fields: Vec<&str> = before.split_whitespace().collect();
                if let Some(field) = fields.get_mut(at) {
                    *field = &text;
                }
                Ok(LinkRequest::SetSetting(path.into(), fields.join(" ")))
            }
        }
    }

    /// What moves addresses of an end, or protects them; none of another level.
    fn request_of_addresses(
        &self,
        name: String,
        before: &LinkAnswer,
        level: &Value,
    ) -> Result<Option<LinkRequest>, FactorError> {
        Ok(match self.on {
            OnLink::Vlan => vlan(level).map(|vlan| LinkRequest::SetVlan(name, vlan)),
            OnLink::Bonding => {
                let second = second_cable(&name);
                bonding(level).map(|mode| LinkRequest::SetBonding(name, second, mode))
            }
            _ => match protection(level) {
                Some(wanted) => protect(before, wanted)?,
                None => None,
            },
        })
    }

    /// A level as a speed of a line, Mbit/s.
    fn speed(&self, line: &Line, level: &Value) -> Result<u32, FactorError> {
        let steps = self.spec.kind.range.and_then(|range| range.steps(level));
        let speed = steps.and_then(whole).filter(|mbit| line.speeds().contains(mbit));
        speed.ok_or_else(|| {
            let of = |mbit: &u32| Quantity::new(f64::from(*mbit) * 1e6, Unit::BitPerSecond);
            let menu: Vec<String> = line.speeds().iter().map(|m| of(m).to_string()).collect();
            let (level, place) = (level.to_string(), "the adapter of the link".into());
            FactorError::NotOnMenu { factor: self.spec.name, level, place, menu: menu.join(", ") }
        })
    }

    /// A level as it is written: a number in steps of its range, 1 or 0 for a switch, a word; a
    /// list of CPUs as a mask.
    fn text(&self, level: &Value) -> Option<String> {
        match (self.spec.kind.range, level) {
            (Some(range), _) => range.steps(level).and_then(whole).map(|steps| steps.to_string()),
            (None, Value::Word(word)) if matches!(self.spec.kind.words, Words::CpusOr(_)) => {
                Some(cpus::mask(&cpus::parse(word)))
            }
            (None, Value::Word(word)) => Some(match word.as_str() {
                "on" => "1".into(),
                "off" => "0".into(),
                other => other.into(),
            }),
            (None, _) => None,
        }
    }

    /// The level that such a text means.
    fn of_text(&self, text: &str) -> Value {
        let range = self.spec.kind.range.zip(text.parse().ok());
        let word = || match (self.spec.kind.words, text) {
            (Words::CpusOr(_), mask) => match cpus::of_mask(mask) {
                Some(none) if none.is_empty() => "none".to_owned(),
                Some(some) => cpus::list(&some),
                None => mask.to_owned(),
            },
            (Words::Of(_), "0") => "off".to_owned(),
            (Words::Of(_), "1") => "on".to_owned(),
            _ => text.to_owned(),
        };
        range.map_or_else(|| Value::Word(word()), |(range, steps)| range.at_step(steps))
    }

    fn level(&self, state: &LinkAnswer) -> Value {
        match (&self.on, state) {
            (OnLink::Mtu, LinkAnswer::Info(info)) => {
                Value::Quantity(Quantity::bytes(u64::from(info.mtu)))
            }
            (OnLink::Feature(bits), LinkAnswer::Features(features)) => {
                let on =
                    features.iter().any(|f| Some(&f.name.as_str()) == bits.first() && f.active);
                Value::Word(if on { "on" } else { "off" }.into())
            }
            #[expect(clippy::cast_precision_loss, reason = "rates stay below 2^53 bit/s")]
            (OnLink::TokenBucket, LinkAnswer::Tbf(Some(tbf))) => {
                Value::Quantity(Quantity::new(tbf.rate_bits_per_s as f64, Unit::BitPerSecond))
            }
            (OnLink::Field(_, at), LinkAnswer::Setting(text)) => {
                self.of_text(text.split_whitespace().nth(*at).unwrap_or("none"))
            }
            (OnLink::Number(_), LinkAnswer::Number(Some(value))) => {
                self.of_text(&value.to_string())
            }
            (OnLink::File(_), LinkAnswer::Files(Some(texts))) => {
                let mut unlike = texts.clone();
                unlike.dedup();
                match unlike.as_slice() {
                    [one] => self.of_text(one),
                    several => Value::Word(format!("unlike queues ({})", several.join(", "))),
                }
            }
            (OnLink::Line, LinkAnswer::Line(Some(line))) => {
                let speed = line.mbit_per_s.map(|mbit| f64::from(mbit) * 1e6);
                let speed = speed.map(|rate| Quantity::new(rate, Unit::BitPerSecond));
                speed.map_or_else(|| Value::Word("no link".into()), Value::Quantity)
            }
            (OnLink::Vlan, LinkAnswer::Vlan(vlan)) => {
                vlan.map_or_else(|| Value::Word(OFF.into()), |id| Value::Count(id.into()))
            }
            (OnLink::Bonding, LinkAnswer::Bonded(found)) => Value::Word(match found.mode {
                None => OFF.into(),
                Some(mode) if whole_bond(found) => mode.word().into(),
                Some(mode) => format!("{} with {} of 2 cables", mode.word(), found.ready),
            }),
            (OnLink::Ipsec, LinkAnswer::Protection(_, _, found)) => Value::Word(
                match found {
                    Protection::None => OFF,
                    Protection::Esp(cipher) => cipher.word(),
                    Protection::Partly => "on some paths",
                }
                .into(),
            ),
            (OnLink::Rss, LinkAnswer::RssTable(Some(table))) => {
                let even = rss::spread_over(table).map(|queues| Value::Count(queues.into()));
                even.unwrap_or_else(|| Value::Word("uneven".into()))
            }
            _ => Value::Word("none".into()),
        }
    }

    fn undo(&self, ends: &[LinkEnd], before: &[LinkAnswer]) -> Result<Steps, LabError> {
        let mut steps = Vec::new();
        for (end, state) in ends.iter().zip(before) {
            let name = end.name.clone();
            let back = match state {
                LinkAnswer::Info(info) => LinkRequest::SetMtu(name, info.mtu),
                // All that can change, not only our bits: one bit off can drag others off.
                LinkAnswer::Features(all) => {
                    let changeable = all.iter().filter(|f| f.changeable);
                    LinkRequest::SetFeatures(
                        name,
                        changeable.map(|f| (f.name.clone(), f.wanted)).collect(),
                    )
                }
                LinkAnswer::Number(value) => {
                    let (OnLink::Number(number), Some(value)) = (&self.on, value) else { continue };
                    LinkRequest::SetNumber(name, *number, *value)
                }
                LinkAnswer::Files(texts) => {
                    let (OnLink::File(file), Some(texts)) = (&self.on, texts) else { continue };
                    LinkRequest::SetFiles(name, *file, texts.clone())
                }
                LinkAnswer::Line(Some(line)) => LinkRequest::SetLine(name, line.clone()),
                LinkAnswer::RssTable(Some(table)) => LinkRequest::SetRssTable(name, table.clone()),
                LinkAnswer::Tbf(Some(tbf)) => LinkRequest::SetTbf(name, *tbf),
                LinkAnswer::Tbf(None) | LinkAnswer::Done => LinkRequest::ClearQdisc(name),
                LinkAnswer::Shaper(_) | LinkAnswer::Line(None) | LinkAnswer::RssTable(None) => {
                    continue;
                }
                LinkAnswer::Vlan(vlan) => LinkRequest::SetVlan(name, *vlan),
                LinkAnswer::Bonded(found) => {
                    let second = second_cable(&name);
                    LinkRequest::SetBonding(name, second, found.mode)
                }
                LinkAnswer::Protection(.., found) => {
                    let before = match found {
                        Protection::Esp(cipher) => Some(*cipher),
                        Protection::None | Protection::Partly => None,
                    };
                    let Some(back) = protect(state, before)? else { continue };
                    back
                }
                LinkAnswer::Received(_) | LinkAnswer::HasSixth(_) | LinkAnswer::Filter(_) => {
                    continue;
                }
                LinkAnswer::Setting(text) => {
                    let OnLink::Field(path, _) = self.on else { continue };
                    LinkRequest::SetSetting(path.into(), text.clone())
                }
            };
            steps.push((end.host, back));
        }
        Ok(by_host(steps.into_iter().map(|(host, step)| (host, vec![step]))))
    }

    fn not_taken(&self, lab: &Lab, end: &LinkEnd, asked: &Value, found: &Value) -> FactorError {
        FactorError::NotTaken {
            factor: self.spec.name,
            place: place(lab, end),
            asked: asked.to_string(),
            found: found.to_string(),
        }
    }
}

/// Longest wait until both cables of every bond carry frames, and the pause between two looks.
const JOINED_MAX: Duration = Duration::from_secs(15);
const LOOK_NS: u64 = 50_000_000;

/// The level at which there is no VLAN, no bond, or nothing protects.
const OFF: &str = "off";

fn cipher(word: &str) -> Option<Cipher> {
    Cipher::ALL.into_iter().find(|cipher| cipher.word() == word)
}

/// Whether a switch is on at a level; none where it is no level.
fn switched(level: &Value) -> Option<bool> {
    ["off", "on"].into_iter().position(|word| level.word() == Some(word)).map(|at| at == 1)
}

/// The VLAN of a level, of `off` none; none where it is no level.
fn vlan(level: &Value) -> Option<Option<u16>> {
    if level.word() == Some(OFF) {
        return Some(None);
    }
    level.count().and_then(|id| u16::try_from(id).ok()).map(Some)
}

/// The mode of a level, of `off` none; none where it is no level.
fn bonding(level: &Value) -> Option<Option<Bonding>> {
    match level.word()? {
        OFF => Some(None),
        word => Bonding::ALL.into_iter().find(|mode| mode.word() == word).map(Some),
    }
}

/// Whether both cables carry frames, where they shall.
const fn whole_bond(found: &Bonded) -> bool {
    found.mode.is_none() || found.ready == 2
}

/// The cipher of a level, of `off` none; none where it is no level.
fn protection(level: &Value) -> Option<Option<Cipher>> {
    match level.word()? {
        OFF => Some(None),
        word => cipher(word).map(Some),
    }
}

/// What protects the paths of an answer by a cipher, or no longer; none of another answer.
fn protect(found: &LinkAnswer, by: Option<Cipher>) -> Result<Option<LinkRequest>, LabError> {
    let LinkAnswer::Protection(own, others, _) = found else { return Ok(None) };
    let wanted = by.map(|cipher| Ok::<_, LabError>((cipher, secret()?))).transpose()?;
    Ok(Some(LinkRequest::Protect(*own, others.clone(), wanted)))
}

/// The secret of all paths that this process has protected, drawn once.
fn secret() -> Result<[u8; SECRET], LabError> {
    static DRAWN: OnceLock<[u8; SECRET]> = OnceLock::new();
    if let Some(drawn) = DRAWN.get() {
        return Ok(*drawn);
    }
    let mut bytes = [0; SECRET];
    // Up to 256 bytes come whole: getrandom(2).
    getrandom(&mut bytes, GetRandomFlags::empty())
        .map_err(|e| LabError::File { path: "getrandom(2)".into(), source: e.into() })?;
    Ok(*DRAWN.get_or_init(|| bytes))
}

/// The size of the table by which flows are steered, as the factor of the machine is named.
const FLOW_ENTRIES: &str = "net.core.rps_sock_flow_entries";

/// Link operations a host, in order.
type Steps = Vec<(usize, Vec<LinkRequest>)>;

/// Carries these out.
///
/// # Errors
/// When a host is gone; then its links are gone with it.
pub(super) fn carry_out(lab: &mut Lab, steps: &Steps) -> Result<(), LabError> {
    lab.ask_links(steps.clone()).map(|_| ())
}

/// Host and interface.
fn place(lab: &Lab, end: &LinkEnd) -> String {
    format!("{}:{}", lab.name(end.host), end.name)
}

/// Carries out one request an end, all hosts at once; answers come in the order of the ends.
fn on_ends(
    lab: &mut Lab,
    ends: &[LinkEnd],
    requests: Vec<LinkRequest>,
) -> Result<Vec<LinkAnswer>, LabError> {
    let steps: Vec<_> = ends.iter().map(|end| end.host).zip(requests).collect();
    let work = by_host(steps.into_iter().map(|(host, step)| (host, vec![step])));
    let hosts: Vec<usize> = work.iter().map(|(host, _)| *host).collect();
    let mut lists: Vec<_> = lab.ask_links(work)?.into_iter().map(Vec::into_iter).collect();
    let mut answers = Vec::new();
    for end in ends {
        let list = hosts.iter().position(|h| *h == end.host).and_then(|at| lists.get_mut(at));
        answers.extend(list.and_then(Iterator::next));
    }
    Ok(answers)
}

/// A bucket of 5 ms (at least 64 KiB, so that one segmentation-offload frame fits) and a queue of
/// 20 ms at this rate (at least 256 KiB).
fn token_bucket(rate_bits_per_s: f64) -> Tbf {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by spec")]
    let bytes_in = |seconds: f64| (rate_bits_per_s / 8.0 * seconds) as u64;
    let fit = |bytes: u64, least: u64| u32::try_from(bytes.max(least)).unwrap_or(u32::MAX);
    Tbf {
        rate_bits_per_s: bytes_in(1.0) * 8,
        burst_bytes: fit(bytes_in(0.005), 64 << 10),
        limit_bytes: fit(bytes_in(0.02), 256 << 10),
    }
}

/// Equal words or quantities; rates to one byte per second, in which the kernel keeps them.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a.quantity(), b.quantity()) {
        (Some(a), Some(b)) if a.unit == Unit::BitPerSecond => (a.value - b.value).abs() <= 8.0,
        _ => a == b,
    }
}

fn whole(value: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    (value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value)).then_some(value as u32)
}
