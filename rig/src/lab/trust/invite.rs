//! Knows how a machine is let into a lab: a code that is used once, and words that a person
//! compares before anything is signed.
//!
//! Must not know how the person is asked.

use super::authority::{Authority, Role};
use super::code::Code;
use super::enrol::{Answer, Channel, PROMPT, Request};
use super::member::Conductor;
use super::refusal::Peer;
use super::settings::inviter_settings;
use super::words::words;
use super::{TrustError, chance, fingerprint, now_s, unhex};
use crate::lab::version::same_version;
use rustix::event::{PollFd, PollFlags};
use rustix::time::Timespec;
use rustls::{ServerConfig, ServerConnection};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where an invitation is waited for, unless the person says.
const PORT: u16 = 7711;

/// The address of this machine on the way to other networks, with the port of invitations.
///
/// # Errors
/// When there is no such way.
pub fn own_address() -> Result<SocketAddr, TrustError> {
    // Of the range of RFC 5737: a socket of UDP that is connected has sent nothing.
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 9));
    let socket = UdpSocket::bind("0.0.0.0:0");
    let own = socket.and_then(|socket| socket.connect(elsewhere).and(socket.local_addr()));
    let own = own.map_err(|source| net(elsewhere, source))?;
    Ok(SocketAddr::new(own.ip(), PORT))
}

fn net(address: SocketAddr, source: io::Error) -> TrustError {
    let remedy = "name an address at which the other machine reaches this one with --address \
                  IP:PORT";
    TrustError::Net { address, source, remedy }
}

/// An invitation that is waited for.
pub struct Invite {
    conductor: Conductor,
    name: String,
    listener: TcpListener,
    code: Code,
    authority: Authority,
    root: Vec<u8>,
    settings: Arc<ServerConfig>,
    ends: Instant,
}

/// What a machine that has the code asks to have signed.
struct Asked {
    key: Vec<u8>,
    secret: Vec<u8>,
}

impl fmt::Debug for Invite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invite").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Invite {
    /// Invites a machine under a name, for some time.
    ///
    /// # Errors
    /// When the name is none or another's, nothing can listen at the address, or the directory
    /// cannot be read.
    pub fn open(
        conductor: &Conductor,
        name: &str,
        address: SocketAddr,
        within: Duration,
    ) -> Result<Self, TrustError> {
        if address.ip().is_unspecified() {
            return Err(net(address, io::ErrorKind::InvalidInput.into()));
        }
        let listen = || {
            let listener = TcpListener::bind(address)?;
            // Whoever connects and goes away again holds nobody up.
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = listen().map_err(|source| net(address, source))?;
        let (authority, root) = (conductor.authority()?, conductor.root()?);
        let identity = authority.identify(Role::Inviter, "invite")?;
        let settings = inviter_settings(&identity, root.clone())?;
        let code = Code { address, root: fingerprint(&root), secret: chance()? };
        let now_s = now_s();
        let ends_s = now_s.saturating_add(within.as_secs());
        conductor.change(|register| register.invite(name, &code.secret, ends_s, now_s))?;
        let ends = Instant::now() + within;
        let (conductor, name) = (conductor.clone(), name.to_owned());
        Ok(Self { conductor, name, listener, code, authority, root, settings, ends })
    }

    /// The code to give to the machine.
    #[must_use]
    pub fn code(&self) -> String {
        self.code.to_string()
    }

    /// The code for a machine that reaches this one at another address, by the same port.
    #[must_use]
    pub fn code_by(&self, ip: IpAddr) -> String {
        let address = SocketAddr::new(ip, self.code.address.port());
        Code { address, ..self.code.clone() }.to_string()
    }

    /// Waits until the code is used, and signs what was asked if `agree` says so to the words.
    /// `told` hears of every connection that was refused.
    ///
    /// # Errors
    /// When nobody came in time, the person does not agree, or the machine broke off.
    pub fn wait(
        &self,
        agree: &mut dyn FnMut(&str) -> bool,
        told: &mut dyn FnMut(&str),
    ) -> Result<(), TrustError> {
        loop {
            let (stream, from) = self.accept()?;
            match self.hear(stream) {
                Ok((channel, asked)) => return self.answer(channel, &asked, agree),
                Err(e) => told(&format!("{from}: {e}")),
            }
        }
    }

    fn accept(&self) -> Result<(TcpStream, SocketAddr), TrustError> {
        loop {
            let left = self.ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TrustError::Ended);
            }
            let wait = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut polled = [PollFd::new(&self.listener, PollFlags::IN)];
            match rustix::event::poll(&mut polled, Some(&wait)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                other => other.map_err(io::Error::from)?,
            };
            match self.listener.accept() {
                Ok((stream, from)) => {
                    stream.set_nonblocking(false)?;
                    return Ok((stream, from));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Hears a machine until it has proved that it has the code, which is then used up.
    fn hear(&self, stream: TcpStream) -> Result<(Channel, Asked), TrustError> {
        let tls = ServerConnection::new(Arc::clone(&self.settings))?;
        let mut channel = Channel::shake(stream, tls.into(), Peer::Invited)?;
        let request: Request = channel.hear(PROMPT)?;
        match self.redeem(&request) {
            Ok(asked) => Ok((channel, asked)),
            Err(e) => {
                // Whoever has no code need not hear it.
                let _ = channel.say(&Answer::Refused(e.to_string()));
                channel.part();
                Err(e)
            }
        }
    }

    fn redeem(&self, request: &Request) -> Result<Asked, TrustError> {
        same_version(&request.version).map_err(|e| TrustError::Channel(io::Error::other(e)))?;
        let wrong = || TrustError::Certificate("the request holds no key".into());
        let key = unhex(&request.key).filter(|key| key.len() == super::authority::PUBLIC_KEY);
        let (key, secret) = (key.ok_or_else(wrong)?, unhex(&request.secret).unwrap_or_default());
        self.conductor.change(|register| register.redeem(&self.name, &secret, now_s()))?;
        Ok(Asked { key, secret })
    }

    fn answer(
        &self,
        mut channel: Channel,
        asked: &Asked,
        agree: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(), TrustError> {
        let signed = if agree(&words(&self.root, &asked.key, &asked.secret)) {
            self.sign(&mut channel, &asked.key)
        } else {
            Err(TrustError::Declined)
        };
        if let Err(e) = &signed {
            let _ = channel.say(&Answer::Refused(e.to_string()));
        }
        channel.part();
        signed
    }

    fn sign(&self, channel: &mut Channel, key: &[u8]) -> Result<(), TrustError> {
        let certificate = self.authority.sign(Role::Agent, &self.name, key)?;
        // It is in the list before anybody has it.
        self.conductor.change(|register| register.enter(&self.name, &certificate, now_s()))?;
        let signed = Answer::Signed {
            lab: self.conductor.register()?.lab,
            name: self.name.clone(),
            certificate: super::hex(&certificate),
        };
        channel.say(&signed).map_err(|e| {
            // The machine went away: what it did not get counts for nothing.
            let _ = self.conductor.remove(&self.name);
            TrustError::Channel(e)
        })
    }
}
