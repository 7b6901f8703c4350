//! Knows who belongs to a lab: its hosts, removed ones too, and its invitations.
//!
//! Must not know how it is kept, nor what a certificate is.

use super::{TrustError, fingerprint, hex};
use serde::{Deserialize, Serialize};

/// Version of the form in which it is kept.
const FORM: u32 = 1;

/// A machine that has joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// As it was invited.
    pub name: String,
    /// SHA-256 of its certificate, in hexadecimal digits.
    pub fingerprint: String,
    /// When it joined, seconds since 1970.
    pub joined_s: u64,
    /// When it was removed.
    pub removed_s: Option<u64>,
}

/// A code that was given out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Of the machine that it is for.
    pub name: String,
    /// SHA-256 of its secret, in hexadecimal digits.
    pub secret: String,
    /// From when on it counts no more, seconds since 1970.
    pub ends_s: u64,
    /// Whether it was used.
    pub used: bool,
}

/// What a certificate is to the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// That of a host.
    Member,
    /// That of a host that was removed.
    Removed,
    /// Signed by the lab, but in no list.
    Unlisted,
}

/// Who belongs to a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    form: u32,
    /// Its name.
    pub lab: String,
    /// In the order in which they joined.
    pub hosts: Vec<Host>,
    /// In the order in which they were made.
    pub invitations: Vec<Invitation>,
}

impl Register {
    pub(super) fn new(lab: String) -> Self {
        Self { form: FORM, lab, hosts: Vec::new(), invitations: Vec::new() }
    }

    /// As it was kept; nothing of another form is believed.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, String> {
        let register: Self = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        if register.form == FORM {
            return Ok(register);
        }
        Err(format!("it has form {}, and this stend reads form {FORM}", register.form))
    }

    /// What the certificate in these bytes is to the lab.
    pub(super) fn standing(&self, certificate: &[u8]) -> Standing {
        let fingerprint = hex(&fingerprint(certificate));
        let of = self.hosts.iter().filter(|host| host.fingerprint == fingerprint);
        // Removed once is removed.
        of.fold(Standing::Unlisted, |standing, host| match (standing, host.removed_s) {
            (Standing::Removed, _) | (_, Some(_)) => Standing::Removed,
            _ => Standing::Member,
        })
    }

    /// Writes an invitation down; those that have ended are forgotten after a day.
    pub(super) fn invite(
        &mut self,
        name: &str,
        secret: &[u8],
        ends_s: u64,
        now_s: u64,
    ) -> Result<(), TrustError> {
        let of_host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let short = (1..=63).contains(&name.len());
        if !short || !name.chars().all(of_host) || name.starts_with('-') {
            return Err(TrustError::Name(name.into()));
        }
        self.must_be_free(name)?;
        self.invitations.retain(|invitation| invitation.ends_s + 86_400 > now_s);
        let secret = hex(&fingerprint(secret));
        self.invitations.push(Invitation { name: name.into(), secret, ends_s, used: false });
        Ok(())
    }

    /// Uses the invitation of a host up.
    ///
    /// # Errors
    /// When the secret is that of no invitation, of one that was used or has ended, or of one for
    /// another host.
    pub(super) fn redeem(
        &mut self,
        name: &str,
        secret: &[u8],
        now_s: u64,
    ) -> Result<(), TrustError> {
        // Hashes are compared: how long that takes tells nothing of a secret.
        let secret = hex(&fingerprint(secret));
        let refuse = |what| Err(TrustError::Invitation(what));
        match self.invitations.iter_mut().find(|invitation| invitation.secret == secret) {
            None => refuse("the lab knows no such code"),
            Some(invitation) if invitation.used => refuse("the code was used before"),
            Some(invitation) if invitation.ends_s <= now_s => refuse("the code has ended"),
            Some(invitation) if invitation.name != name => {
                refuse("the code is for another machine than the one that is waited for")
            }
            Some(invitation) => {
                invitation.used = true;
                Ok(())
            }
        }
    }

    /// Takes in a host that has joined.
    pub(super) fn enter(
        &mut self,
        name: &str,
        certificate: &[u8],
        now_s: u64,
    ) -> Result<(), TrustError> {
        self.must_be_free(name)?;
        let fingerprint = hex(&fingerprint(certificate));
        self.hosts.push(Host { name: name.into(), fingerprint, joined_s: now_s, removed_s: None });
        Ok(())
    }

    /// Removes a host: its certificate counts no more.
    pub(super) fn remove(&mut self, name: &str, now_s: u64) -> Result<(), TrustError> {
        let mut present = self.hosts.iter_mut().filter(|host| host.removed_s.is_none());
        if let Some(host) = present.find(|host| host.name == name) {
            host.removed_s = Some(now_s);
            return Ok(());
        }
        let known: Vec<_> = self.present().map(|host| host.name.as_str()).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Err(TrustError::NoHost { name: name.into(), known })
    }

    fn present(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(|host| host.removed_s.is_none())
    }

    /// The same with no host but those of this name.
    pub(super) fn named(mut self, machine: &str) -> Self {
        self.hosts.retain(|host| host.name == machine);
        self
    }

    fn must_be_free(&self, name: &str) -> Result<(), TrustError> {
        if self.present().any(|host| host.name == name) {
            return Err(TrustError::HasHost(name.into()));
        }
        Ok(())
    }
}
