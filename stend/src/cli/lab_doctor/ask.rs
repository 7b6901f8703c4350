//! Knows how all machines of a lab file are asked at once, each within its time.
//!
//! Must not know what follows from an answer.

use super::{Silence, State, links};
use crate::cli::error::CliError;
use crate::cli::machine;
use desk::plan::{HERE, LabFile};
use rig::lab::machine::{Examined, Machine};
use rig::lab::trust::Conductor;
use rig::lab::{LabError, clock};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Nobody stops the doctor but with a signal.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Longest wait for a connection, and again for the proof of the other end.
const CONNECT: Duration = Duration::from_secs(3);
/// Longest wait for all answers; an agent in emulation takes seconds to try its places.
const ANSWERS: Duration = Duration::from_secs(60);

/// What a machine told.
#[derive(Debug)]
pub struct Answer {
    /// By its agent.
    pub examined: Examined,
    /// Its clock less ours and the bound of that, nanoseconds; none on this machine.
    pub clock_ns: Option<(i64, u64)>,
}

/// Asks all machines, in the order of the file.
///
/// # Errors
/// When this program does not know its own path, or no thread can be had.
pub fn all(file: &LabFile, lab: &Conductor) -> Result<Vec<Result<Answer, Silence>>, CliError> {
    let (tells, told) = mpsc::channel();
    for (at, (name, address)) in file.machines.iter().enumerate() {
        let question = Question {
            name: name.clone(),
            address: address.clone(),
            adapters: links(file, name).into_iter().map(|(_, adapter)| adapter).collect(),
            control: if address == HERE { ways_out(file) } else { Vec::new() },
            lab: lab.clone(),
            binary: std::env::current_exe()?,
        };
        let tells = tells.clone();
        // One that never answers is left behind, and one that is late tells nobody.
        let ask = move || drop(tells.send((at, question.ask())));
        std::thread::Builder::new().spawn(ask)?;
    }
    let mut answers: Vec<Option<Result<Answer, Silence>>> =
        file.machines.iter().map(|_| None).collect();
    let deadline = Instant::now() + ANSWERS;
    while answers.iter().any(Option::is_none) {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok((at, answer)) = told.recv_timeout(left) else { break };
        if let Some(place) = answers.get_mut(at) {
            *place = Some(answer);
        }
    }
    let late = || {
        let why = format!("it did not answer within {} s", ANSWERS.as_secs());
        Err(Silence { state: State::Silent, why })
    };
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(late)).collect())
}

/// Our addresses towards the other machines of the file, by the routes of this one.
fn ways_out(file: &LabFile) -> Vec<IpAddr> {
    let way = |to: SocketAddr| -> io::Result<IpAddr> {
        let any: IpAddr = if to.is_ipv4() { [0; 4].into() } else { [0_u8; 16].into() };
        // It sends nothing: the kernel looks up the route.
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(to)?;
        Ok(socket.local_addr()?.ip())
    };
    let others = file.machines.iter().filter_map(|(_, address)| address.parse().ok());
    others.filter_map(|to| way(to).ok()).collect()
}

/// What one machine is asked.
struct Question {
    name: String,
    address: String,
    adapters: Vec<String>,
    control: Vec<IpAddr>,
    lab: Conductor,
    binary: PathBuf,
}

impl Question {
    fn ask(self) -> Result<Answer, Silence> {
        let mut machine = self.greet().map_err(|e| not_greeted(&e))?;
        let examined = machine.examine(self.adapters, self.control).map_err(|e| failed(&e))?;
        // Places were tried meanwhile; the clock is told as it is now.
        machine.find_clock().map_err(|e| failed(&e))?;
        let offset = machine.offset();
        let clock_ns =
            (!machine.is_here()).then(|| (offset.ns(), offset.bound_ns(clock::now_ns())));
        Ok(Answer { examined, clock_ns })
    }

    fn greet(&self) -> Result<Machine, LabError> {
        if self.address == HERE {
            return rig::keeper::here(&self.binary, &NEVER);
        }
        machine::greet((&self.name, &self.address), (&self.lab, CONNECT), &NEVER)
    }
}

/// Why a machine could not be greeted.
fn not_greeted(e: &LabError) -> Silence {
    let LabError::Connect { source, .. } = e else {
        let state = match e {
            // The words of an agent that refuses the greeting, or cannot read it.
            LabError::Machine(_) | LabError::OutOfTurn { .. } => State::OtherVersion,
            LabError::Silent { .. } => State::Silent,
            _ => State::Failed,
        };
        return Silence { state, why: e.to_string() };
    };
    let state = match source.kind() {
        io::ErrorKind::ConnectionRefused => State::Refused,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => State::NoRoute,
        io::ErrorKind::TimedOut => State::Silent,
        io::ErrorKind::PermissionDenied => State::NotTrusted,
        io::ErrorKind::Unsupported => State::OtherVersion,
        _ => State::Failed,
    };
    Silence { state, why: source.to_string() }
}

/// Why a machine that was greeted told nothing.
fn failed(e: &LabError) -> Silence {
    let state = if matches!(e, LabError::Silent { .. }) { State::Silent } else { State::Failed };
    let why = match e {
        // An agent that does not know an order ends the connection.
        LabError::Lost(_) => format!("{e}; is its stend older than this one?"),
        _ => e.to_string(),
    };
    Silence { state, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_silence_is_told_by_its_kind() {
        let connect = |kind| {
            let source = io::Error::new(kind, "words");
            not_greeted(&LabError::Connect { address: "m".into(), source })
        };
        use io::ErrorKind as Kind;
        for (kind, state) in [
            (Kind::ConnectionRefused, State::Refused),
            (Kind::HostUnreachable, State::NoRoute),
            (Kind::NetworkUnreachable, State::NoRoute),
            (Kind::TimedOut, State::Silent),
            (Kind::PermissionDenied, State::NotTrusted),
            (Kind::Unsupported, State::OtherVersion),
            (Kind::UnexpectedEof, State::Failed),
        ] {
            assert_eq!(connect(kind), Silence { state, why: "words".into() });
        }
        let other = not_greeted(&LabError::Machine("this is stend 9".into()));
        assert_eq!(other, Silence { state: State::OtherVersion, why: "this is stend 9".into() });
        let older = failed(&LabError::Lost("m".into()));
        assert_eq!(older.state, State::Failed);
        assert!(older.why.ends_with("is its stend older than this one?"), "{}", older.why);
    }

    #[test]
    fn the_way_to_another_machine_is_by_our_address_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!(
            "machines = {{ a = {{ address = \"here\" }}, b = {{ address = \"127.0.0.1:{port}\" }} \
             }}\nroles.sut = \"a\"\n"
        );
        let file = LabFile::read(&text).unwrap();
        assert_eq!(ways_out(&file), [IpAddr::from([127, 0, 0, 1])]);
    }
}
