//! Knows how this machine becomes part of a lab by a code: its key is made here and never leaves.
//!
//! Must not know how the person is shown the words.

use super::authority;
use super::code::Code;
use super::enrol::{Answer, Channel, PROMPT, Request};
use super::member::Agent;
use super::refusal::Peer;
use super::settings::{invited_settings, must_be_agent};
use super::words::words;
use super::{TrustError, hex, unhex};
use crate::lab::version::VERSION;
use rustls::ClientConnection;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Longest wait for the person at the other machine.
const PERSON: Duration = Duration::from_secs(15 * 60);

/// Joins a lab by a code and keeps what it gives in a directory; `show` is given the words that
/// both machines show.
///
/// # Errors
/// When the code is not whole, nobody answers or another answers, the code counts no more, or the
/// directory cannot be used.
pub fn join(code: &str, path: &Path, show: &mut dyn FnMut(&str)) -> Result<Agent, TrustError> {
    let code: Code = code.parse()?;
    // The code is used once, so all that can fail here fails before.
    Agent::prepare(path)?;
    let key = authority::key()?;
    let mut channel = connect(&code)?;
    let request = Request {
        version: VERSION.into(),
        secret: hex(&code.secret),
        key: hex(key.public_key_raw()),
    };
    channel.say(&request)?;
    // Hashed in the handshake: the authority of the code.
    let root = channel.shown().pop().unwrap_or_default();
    show(&words(&root, key.public_key_raw(), &code.secret));
    let (lab, name, certificate) = match channel.hear(PERSON)? {
        Answer::Refused(why) => return Err(TrustError::Refused(why)),
        Answer::Signed { lab, name, certificate } => (lab, name, certificate),
    };
    channel.part();
    let wrong = || TrustError::Certificate("what came is none".into());
    let certificate = unhex(&certificate).ok_or_else(wrong)?;
    let identity = authority::Identity { certificate, key: key.serialize_der() };
    let agent = Agent { lab, name, root, identity };
    must_be_agent(&agent)?;
    agent.keep(path)?;
    Ok(agent)
}

fn connect(code: &Code) -> Result<Channel, TrustError> {
    let address = code.address;
    let stream = TcpStream::connect_timeout(&address, PROMPT);
    let stream = stream.map_err(|source| {
        let remedy = match source.kind() {
            io::ErrorKind::ConnectionRefused => {
                "the code was used or has ended, or `stend lab invite` was stopped; it makes a new \
                 one"
            }
            _ => {
                "`stend lab invite NAME --address IP:PORT` names the address at which this machine \
                 reaches it"
            }
        };
        TrustError::Net { address, source, remedy }
    })?;
    let (settings, name) = invited_settings(code.root)?;
    let tls = ClientConnection::new(settings, name)?;
    Ok(Channel::shake(stream, tls.into(), Peer::Inviter)?)
}
