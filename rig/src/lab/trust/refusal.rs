//! Knows in which words a failure of TLS is said, so that they name what to do.
//!
//! Must not know how it came about.

use rustls::{AlertDescription as Alert, CertificateError as Wrong, Error};
use std::io;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The agent of a machine.
    Agent,
    /// The conductor of a lab, or whoever says to be one.
    Conductor,
    /// The conductor that invites.
    Inviter,
    /// A machine that was invited, or whoever says to be one.
    Invited,
}

const OTHER_LAB: &str = "it is of another lab; `stend lab invite NAME` on the conductor lets the \
                         machine join this one";
const NOT_AGENT: &str = "its certificate is not that of an agent; start `stend agent listen` there \
                         with the directory of `stend agent join`";
const NOT_CONDUCTOR: &str = "its certificate is not that of a conductor; a run takes the directory \
                             of `stend lab init`";
const NO_CERTIFICATE: &str = "it shows no certificate; only the conductor of the lab may connect, \
                              with the directory of `stend lab init`";
const REMOVED: &str = "the machine was removed from the lab; `stend lab invite NAME` on the \
                       conductor lets it join anew";
const UNLISTED: &str = "the lab does not list the machine under this name (`stend lab hosts`); \
                        `stend lab invite NAME` on the conductor lets it join anew";
const OTHER_PROTOCOL: &str = "it speaks another protocol; both ends must be the same stend version \
                              (a code is for `stend agent join` alone)";
const CHANGED: &str = "a frame was changed on its way; what stands between the machines?";
const OTHER_AUTHORITY: &str = "whoever answers there is not the lab of the code; paste the command \
                               of `stend lab invite` again";

/// The failure as an error of the connection: `Unsupported` where the other end speaks another
/// protocol, else `PermissionDenied` where either end does not belong to the lab.
#[must_use]
pub fn sentence(e: &Error, peer: Peer) -> io::Error {
    let what = match (e, peer) {
        (Error::DecryptError, _) => CHANGED,
        (Error::NoApplicationProtocol, _)
        | (Error::AlertReceived(Alert::NoApplicationProtocol), _) => OTHER_PROTOCOL,
        (Error::NoCertificatesPresented, _)
        | (Error::AlertReceived(Alert::CertificateRequired), _) => NO_CERTIFICATE,
        (Error::InvalidCertificate(wrong), peer) => of_certificate(wrong, peer),
        // What the other end finds wrong is ours.
        (Error::AlertReceived(Alert::CertificateRevoked), _) => REMOVED,
        (Error::AlertReceived(Alert::AccessDenied), _) => UNLISTED,
        (Error::AlertReceived(Alert::UnsupportedCertificate), Peer::Agent) => NOT_CONDUCTOR,
        (Error::AlertReceived(Alert::UnsupportedCertificate | Alert::BadCertificate), _) => {
            NOT_AGENT
        }
        (Error::AlertReceived(Alert::UnknownCA), Peer::Invited) => OTHER_AUTHORITY,
        (Error::AlertReceived(Alert::UnknownCA), _) => OTHER_LAB,
        _ => {
            let what =
                format!("no TLS of stend at the other end: {e}; take the same version there");
            return io::Error::new(io::ErrorKind::InvalidData, what);
        }
    };
    let kind = match what {
        OTHER_PROTOCOL => io::ErrorKind::Unsupported,
        _ => io::ErrorKind::PermissionDenied,
    };
    io::Error::new(kind, what)
}

fn of_certificate(wrong: &Wrong, peer: Peer) -> &'static str {
    match (wrong, peer) {
        (_, Peer::Inviter | Peer::Invited) => OTHER_AUTHORITY,
        (Wrong::Revoked, _) => REMOVED,
        (Wrong::ApplicationVerificationFailure, _) => UNLISTED,
        (Wrong::InvalidPurpose | Wrong::InvalidPurposeContext { .. }, Peer::Agent)
        | (Wrong::NotValidForName | Wrong::NotValidForNameContext { .. }, Peer::Agent) => NOT_AGENT,
        (Wrong::InvalidPurpose | Wrong::InvalidPurposeContext { .. }, Peer::Conductor) => {
            NOT_CONDUCTOR
        }
        _ => OTHER_LAB,
    }
}
