//! Knows the relay as the conductor has it: where it stands, and what is asked of it.
//!
//! Must not know how it carries.

use super::{Distance, RelayRequest, Told};
use crate::lab::error::LabError;
use crate::lab::topology::{EndRole, Lab};
use crate::lab::wire::{Answer, LinkAnswer, LinkRequest, Request};
use desk::record::LabKind;
use std::time::{Duration, Instant};

/// Longest wait for an answer of the relay.
const WITHIN: Duration = Duration::from_secs(5);
/// Pause between two looks at the thread, which takes a change up within 0.1 s.
const LOOK: Duration = Duration::from_millis(20);

/// Offloads by which an interface hands over more than one packet as one, or a packet whose
/// checksum is still to be made. The relay counts, loses and delays packets as they are on a wire.
const OFFLOADS: [&str; 9] = [
    "tx-tcp-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
    "tx-generic-segmentation",
    "rx-gro",
    "rx-gro-list",
    "tx-checksum-ip-generic",
];

impl Lab {
    /// Name of the host that carries frames between two links; none where no host does.
    #[must_use]
    pub fn relay_name(&self) -> Option<&str> {
        self.relay().map(|at| self.name(at))
    }

    fn relay(&self) -> Option<usize> {
        self.plan.relay().filter(|_| self.kind != LabKind::Loopback)
    }

    /// Takes the offloads away from every link that leads through the relay, and has it carry.
    ///
    /// # Errors
    /// When a host is gone, or the kernel gives the relay no sockets.
    pub(in crate::lab) fn begin_relay(&mut self) -> Result<(), LabError> {
        let Some(relay) = self.relay() else { return Ok(()) };
        let networks = self.plan.networks();
        let links = 0..self.plan.links.len();
        let own: Vec<usize> = links.clone().filter(|l| self.members(*l).contains(&relay)).collect();
        let through = |link: &usize| own.first().is_some_and(|o| networks[*o] == networks[*link]);
        for link in links.filter(through) {
            self.take_offloads_away(&self.plan.links[link].name.clone())?;
        }
        let names: Vec<String> =
            own.iter().map(|link| self.interface(relay, &self.plan.links[*link].name)).collect();
        let [one, other] = names.as_slice() else {
            return Err(LabError::Relayed(format!("it is on {} links, not two", names.len())));
        };
        self.ask_relay(RelayRequest::Begin([one.clone(), other.clone()])).map(|_| ())
    }

    fn take_offloads_away(&mut self, link: &str) -> Result<(), LabError> {
        let mut ends = self.ends(link);
        ends.retain(|end| end.role != EndRole::Bridge);
        for end in ends {
            let ask = vec![LinkRequest::Features(end.name.clone())];
            let found = self.links_on(end.host, ask)?;
            let Some(LinkAnswer::Features(all)) = found.into_iter().next() else { continue };
            let on = |f: &&crate::lab::ethtool::Feature| {
                f.changeable && OFFLOADS.contains(&f.name.as_str())
            };
            let off = all.iter().filter(on).map(|f| (f.name.clone(), false)).collect();
            self.links_on(end.host, vec![LinkRequest::SetFeatures(end.name, off)])?;
        }
        Ok(())
    }

    /// Has the relay do or tell something; gives what it tells then.
    ///
    /// # Errors
    /// When there is none, it is gone, or it carries no more.
    pub fn ask_relay(&mut self, request: RelayRequest) -> Result<Told, LabError> {
        let Some(relay) = self.relay() else {
            return Err(LabError::Relayed("the lab has none".into()));
        };
        let answers = self.ask(&[(relay, Request::Relay(request))], WITHIN)?;
        match answers.into_iter().next() {
            Some(Answer::Relay(told)) if told.ended.is_empty() => Ok(*told),
            Some(Answer::Relay(told)) => {
                Err(LabError::Relayed(format!("it carries no more: {}", told.ended)))
            }
            other => Err(LabError::OutOfTurn {
                host: self.name(relay).into(),
                what: format!("{other:?}"),
            }),
        }
    }

    /// Has the relay, if there is one, run before ordinary threads, or as one of them.
    ///
    /// # Errors
    /// As [`Self::ask_relay`], and when its thread does not change.
    pub(in crate::lab) fn relay_goes_first(&mut self, first: bool) -> Result<(), LabError> {
        if self.relay().is_none() {
            return Ok(());
        }
        let begun = Instant::now();
        let mut told = self.ask_relay(RelayRequest::First(first))?;
        while told.ordinary == first {
            if begun.elapsed() > WITHIN {
                let what = format!("its thread was not rescheduled within {WITHIN:?}");
                return Err(LabError::Relayed(what));
            }
            std::thread::sleep(LOOK);
            told = self.ask_relay(RelayRequest::Tell)?;
        }
        Ok(())
    }

    /// The distance that the relay keeps now.
    ///
    /// # Errors
    /// As [`Self::ask_relay`].
    pub fn distance(&mut self) -> Result<Distance, LabError> {
        Ok(self.ask_relay(RelayRequest::Tell)?.distance)
    }
}
