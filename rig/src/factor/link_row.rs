//! Knows how a setting is changed on all ends of a link: MTU, offload bits, numbers of an adapter,
//! a token bucket, and fields of kernel settings on the hosts at its ends.
//!
//! Must not know the list of factors.

use super::{FactorError, Undo};
use crate::lab::ethtool::Number;
use crate::lab::link::Tbf;
use crate::lab::wire::{LinkAnswer, LinkRequest};
use crate::lab::{EndRole, Lab, LabError, LinkEnd, by_host};
use desk::record::{FactorSpec, Value, Words};
use desk::unit::{Quantity, Unit};

/// What is written to, and read back from, an interface.
#[derive(Debug)]
pub enum OnLink {
    /// The MTU by rtnetlink.
    Mtu,
    /// Offload bits by ethtool; the first decides what is read back.
    Feature(&'static [&'static str]),
    /// A number or a switch of the hosts' adapters by ethtool.
    Number(Number),
    /// A `tbf` queueing discipline.
    TokenBucket,
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
    /// Reads the level that is in force on every adapter of a link.
    ///
    /// # Errors
    /// When the ends of the link disagree or cannot be read.
    pub fn observe(&self, lab: &mut Lab, link: &str) -> Result<Value, FactorError> {
        let ends = self.ends(lab, link)?;
        let found = self.read(lab, &ends)?;
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
        Ok(self.level(first))
    }

    /// Sets a level, reads it back, and returns how to undo it.
    ///
    /// # Errors
    /// When the machine refuses or does not take it; what was changed until then is undone.
    pub fn apply(&self, lab: &mut Lab, link: &str, level: &Value) -> Result<Undo, FactorError> {
        let ends = self.ends(lab, link)?;
        let before = self.read(lab, &ends)?;
        self.must_be_there(lab, &ends, &before)?;
        let undo = self.undo(&ends, &before);
        let done = self.set_and_verify(lab, &ends, &before, level);
        if let Err(e) = done {
            // The first of two errors says more.
            let _ = carry_out(lab, &undo);
            return Err(e);
        }
        Ok(Undo::Links(undo))
    }

    /// The interfaces that the factor acts on, hosts' adapters before ports before the bridge.
    fn ends(&self, lab: &Lab, link: &str) -> Result<Vec<LinkEnd>, FactorError> {
        let mut ends = lab.ends(link);
        if matches!(self.on, OnLink::TokenBucket) {
            // The adapter of the first member, which is the system under test where it is on the
            // link, shapes what it sends; what faces it shapes what it receives.
            ends.retain(|end| end.narrow);
        }
        match self.on {
            OnLink::Number(_) => ends.retain(|e| matches!(e.role, EndRole::Adapter)),
            // Of the members: an adapter that they share stands with the switch.
            OnLink::Field(..) => ends.retain(|e| {
                matches!(e.role, EndRole::Adapter | EndRole::Stacked) && !lab.is_switch(e.host)
            }),
            _ => {}
        }
        if ends.is_empty() {
            return Err(FactorError::NoLinks(self.spec.name));
        }
        Ok(ends)
    }

    /// Offloads of the bridge device concern frames of its own, which it has none of, and those of
    /// a macvlan follow its adapter's; they are set like the rest, but a kernel that keeps their
    /// bits does not spoil the trial.
    const fn must_take(&self, end: &LinkEnd) -> bool {
        !(matches!(end.role, EndRole::Bridge | EndRole::Stacked)
            && matches!(self.on, OnLink::Feature(_)))
    }

    fn read(&self, lab: &mut Lab, ends: &[LinkEnd]) -> Result<Vec<LinkAnswer>, LabError> {
        let ask = |end: &LinkEnd| match self.on {
            OnLink::Mtu => LinkRequest::Info(end.name.clone()),
            OnLink::Feature(_) => LinkRequest::Features(end.name.clone()),
            OnLink::Number(number) => LinkRequest::Number(end.name.clone(), number),
            OnLink::TokenBucket => LinkRequest::Tbf(end.name.clone()),
            OnLink::Field(path, _) => LinkRequest::Setting(path.into()),
        };
        on_ends(lab, ends, ends.iter().map(ask).collect())
    }

    /// An adapter whose driver has no such number has none to set.
    fn must_be_there(
        &self,
        lab: &Lab,
        ends: &[LinkEnd],
        found: &[LinkAnswer],
    ) -> Result<(), FactorError> {
        let mut all = ends.iter().zip(found);
        let absent = all.find(|(_, state)| matches!(state, LinkAnswer::Number(None)));
        absent.map_or(Ok(()), |(end, _)| {
            let what = format!("the driver of {} does not have it", place(lab, end));
            Err(FactorError::NotHere { factor: self.spec.name, what })
        })
    }

    fn set_and_verify(
        &self,
        lab: &mut Lab,
        ends: &[LinkEnd],
        before: &[LinkAnswer],
        level: &Value,
    ) -> Result<(), FactorError> {
        let mut requests = Vec::new();
        for (end, state) in ends.iter().zip(before) {
            requests.push(self.request(end, state, level)?);
        }
        on_ends(lab, ends, requests)?;
        let found = self.read(lab, ends)?;
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
                let on = match level.word() {
                    Some("on") => true,
                    Some("off") => false,
                    _ => return Err(bad("write on or off")),
                };
                let set = bits.iter().map(|bit| ((*bit).to_owned(), on)).collect();
                Ok(LinkRequest::SetFeatures(name, set))
            }
            OnLink::Number(number) => {
                let value = self.text(level).and_then(|text| text.parse().ok());
                let value = value.ok_or_else(|| bad("'stend factors list' says what it takes"))?;
                Ok(LinkRequest::SetNumber(name, number, value))
            }
            OnLink::TokenBucket => {
                let rate = level.quantity().ok_or_else(|| bad("write for instance 1 Gbit/s"))?;
                Ok(LinkRequest::SetTbf(name, token_bucket(rate.value)))
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

    /// A level as it is written: a number in steps of its range, 1 or 0 for a switch, a word.
    fn text(&self, level: &Value) -> Option<String> {
        match (self.spec.kind.range, level) {
            (Some(range), _) => range.steps(level).and_then(whole).map(|steps| steps.to_string()),
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
            (Words::Of(_), "0") => "off",
            (Words::Of(_), "1") => "on",
            _ => text,
        };
        range.map_or_else(|| Value::Word(word().into()), |(range, steps)| range.at_step(steps))
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
            _ => Value::Word("none".into()),
        }
    }

    fn undo(&self, ends: &[LinkEnd], before: &[LinkAnswer]) -> Steps {
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
                LinkAnswer::Tbf(Some(tbf)) => LinkRequest::SetTbf(name, *tbf),
                LinkAnswer::Tbf(None) | LinkAnswer::Done => LinkRequest::ClearQdisc(name),
                LinkAnswer::Shaper(_) => continue,
                LinkAnswer::Setting(text) => {
                    let OnLink::Field(path, _) = self.on else { continue };
                    LinkRequest::SetSetting(path.into(), text.clone())
                }
            };
            steps.push((end.host, back));
        }
        by_host(steps.into_iter().map(|(host, step)| (host, vec![step])))
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
