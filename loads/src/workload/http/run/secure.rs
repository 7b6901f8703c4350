//! Knows TLS 1.3 (RFC 8446) at both ends of `http`: a key that both derive from the trial, the
//! session of a client, what a server is given.
//!
//! All servers do the same work: AES-128-GCM, X25519, a signature by a key on P-256. One that stend
//! did not start signs with the key that it has; whose that is, its address says and no authority.
//! Must not know what is sent within a session.

use super::super::spec::TLS;
use super::{Came, external};
use crate::engine::exchange::Order;
use crate::engine::http::Wrong;
use desk::record::Value;
use p256::SecretKey;
use p256::pkcs8::EncodePrivateKey as _;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData as _};
use rustix::fd::OwnedFd;
use rustix::net::{RecvFlags, SendFlags};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::{self, Ticketer, cipher_suite, kx_group};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    Error, HandshakeKind, PeerIncompatible, ServerConfig, SignatureScheme, StreamOwned,
};
use sha2::{Digest as _, Sha256};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream as TcpSocket;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Names below the run directory of a service.
const CERTIFICATE: &str = "tls/certificate";
const KEY: &str = "tls/key";

/// Bytes of a socket that are read by one call; what they hold fits into a buffer of 64 KiB, with
/// what was kept of a record of 16 KiB.
const CIPHER: usize = 44 << 10;

/// Tickets that rustls keeps of a server.
const TICKETS: usize = 8;

fn is_asked(order: &Order) -> bool {
    how(order) != "off"
}

/// An address with `https` asks for it by itself.
fn how(order: &Order) -> &str {
    let asked = order.params.get(TLS.name).and_then(Value::word).unwrap_or("off");
    if asked == "off" && is_external(order) { "full" } else { asked }
}

/// Whether the server is one that stend did not start.
fn is_external(order: &Order) -> bool {
    external(order).and_then(Result::ok).is_some_and(|page| page.is_encrypted)
}

/// The key of the servers of a run, which its clients know.
fn key(order: &Order) -> Result<KeyPair, String> {
    let secret = Sha256::digest([&b"stend http"[..], &order.data_seed.to_le_bytes()].concat());
    let secret = SecretKey::from_slice(&secret).map_err(|e| e.to_string())?;
    let der = secret.to_pkcs8_der().map_err(|e| e.to_string())?;
    let der = PrivatePkcs8KeyDer::from(der.as_bytes());
    KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ECDSA_P256_SHA256).map_err(|e| e.to_string())
}

fn certificate(key: &KeyPair) -> Result<rcgen::Certificate, String> {
    let params = CertificateParams::new(vec!["stend".to_owned()]).map_err(|e| e.to_string())?;
    params.self_signed(key).map_err(|e| e.to_string())
}

fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![kx_group::X25519],
        ..aws_lc_rs::default_provider()
    }
}

/// The same with the curve that every server has (RFC 8446, 9.1).
fn provider_for_any() -> CryptoProvider {
    let kx_groups = vec![kx_group::X25519, kx_group::SECP256R1];
    CryptoProvider { kx_groups, ..provider() }
}

/// The files of a service whose connections are encrypted; none where they are not.
pub fn files(order: &Order) -> Result<Vec<(String, Vec<u8>)>, String> {
    if !is_asked(order) {
        return Ok(Vec::new());
    }
    let key = key(order)?;
    let certificate = certificate(&key)?.pem();
    Ok(vec![
        (CERTIFICATE.to_owned(), certificate.into_bytes()),
        (KEY.to_owned(), key.serialize_pem().into_bytes()),
    ])
}

/// What makes sessions of a server of our own.
#[derive(Clone)]
pub struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// That of a trial; none where connections are not encrypted.
    pub fn of(order: &Order) -> Result<Option<Self>, String> {
        if !is_asked(order) {
            return Ok(None);
        }
        let key = key(order)?;
        let certificate = certificate(&key)?.der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let settings = served(vec![certificate], key).map_err(|e| e.to_string())?;
        Ok(Some(Self(TlsAcceptor::from(Arc::new(settings)))))
    }

    /// A session with whoever is at the other end.
    pub async fn accept(&self, socket: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(socket).await
    }
}

/// Settings of a server, which gives tickets and keeps no sessions.
fn served(
    certificate: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    let settings = ServerConfig::builder_with_provider(Arc::new(provider()));
    let settings = settings.with_protocol_versions(&[&TLS13])?.with_no_client_auth();
    let mut settings = settings.with_single_cert(certificate, key)?;
    settings.ticketer = Ticketer::new()?;
    Ok(settings)
}

/// Settings of a client, which knows its server by this key or takes any.
fn greets(key: Option<Vec<u8>>, provider: CryptoProvider) -> Result<ClientConfig, Error> {
    let provider = Arc::new(provider);
    let known = Known { key, provider: Arc::clone(&provider) };
    let settings = ClientConfig::builder_with_provider(provider);
    let settings = settings.with_protocol_versions(&[&TLS13])?;
    let settings = settings.dangerous().with_custom_certificate_verifier(Arc::new(known));
    let mut settings = settings.with_no_client_auth();
    // A name is that of a slot, by which its tickets are kept, and says nothing to a server.
    settings.enable_sni = false;
    Ok(settings)
}

/// A session with a server that stend did not start, for one question.
///
/// # Errors
/// When the server does not greet, with the remedy where it lacks TLS 1.3.
pub fn session(mut socket: TcpSocket) -> io::Result<StreamOwned<ClientConnection, TcpSocket>> {
    let settings = greets(None, provider_for_any()).map_err(io::Error::other)?;
    let name = ServerName::from(socket.peer_addr()?.ip());
    let mut session = ClientConnection::new(Arc::new(settings), name).map_err(io::Error::other)?;
    session.complete_io(&mut socket).map_err(|e| {
        let inner = e.get_ref().and_then(|inner| inner.downcast_ref());
        let is_old = matches!(inner, Some(Error::AlertReceived(AlertDescription::ProtocolVersion)));
        if is_old {
            io::Error::other("it lacks TLS 1.3; allow it there, or write http://")
        } else {
            e
        }
    })?;
    Ok(StreamOwned::new(session, socket))
}

/// TLS settings of a thread of clients.
pub struct Greeting {
    settings: Arc<ClientConfig>,
    resumes: bool,
    cipher: Vec<u8>,
}

impl Greeting {
    /// That of a trial; none where connections are not encrypted.
    pub fn of(order: &Order, slots: usize) -> Result<Option<Self>, String> {
        if !is_asked(order) {
            return Ok(None);
        }
        let settings = match is_external(order) {
            true => greets(None, provider_for_any()),
            false => greets(Some(key(order)?.subject_public_key_info()), provider()),
        };
        let mut settings = settings.map_err(|e| e.to_string())?;
        let resumes = how(order) == "resumed";
        settings.resumption = match resumes {
            true => Resumption::in_memory_sessions(TICKETS * slots),
            false => Resumption::disabled(),
        };
        Ok(Some(Self { settings: Arc::new(settings), resumes, cipher: vec![0; CIPHER] }))
    }

    /// A new session of a slot, each of which has tickets of its own. One that is not the first has
    /// to be resumed, where that is asked for.
    pub fn session(&self, slot: usize, is_first: bool) -> io::Result<Session> {
        let name = ServerName::try_from(format!("s{slot}.stend")).map_err(io::Error::other)?;
        let connection = ClientConnection::new(Arc::clone(&self.settings), name);
        let mut connection = connection.map_err(io::Error::other)?;
        // Requests of any length wait for the end of a handshake.
        connection.set_buffer_limit(None);
        Ok(Session { connection, must_resume: self.resumes && !is_first })
    }

    /// Reads from a socket once, and gives what a session finds in it.
    pub fn read(
        &mut self,
        session: &mut Session,
        socket: &OwnedFd,
        plain: &mut [u8],
    ) -> io::Result<Came> {
        session.flush(socket)?;
        let (n, _) = rustix::net::recv(socket, &mut self.cipher[..], RecvFlags::empty())?;
        if n == 0 {
            return Ok(Came::Ended);
        }
        let came = session.take(&self.cipher[..n], plain);
        // An alert is sent, too.
        session.flush(socket)?;
        Ok(match came? {
            (0, true) => Came::Ended,
            (bytes, ended) => Came::Bytes(bytes, ended || n == CIPHER),
        })
    }
}

/// A session of a client.
pub struct Session {
    connection: ClientConnection,
    must_resume: bool,
}

impl Session {
    /// Sends the parts of a request, which wait for the end of the handshake.
    pub fn send(&mut self, socket: &OwnedFd, parts: [&[u8]; 2]) -> io::Result<()> {
        parts.into_iter().try_for_each(|part| self.connection.writer().write_all(part))?;
        self.flush(socket)
    }

    /// Sends what there is to send; what finds no room goes with the next read.
    fn flush(&mut self, socket: &OwnedFd) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Writes(socket)) {
                Ok(_) => {}
                Err(e) if is_early(&e) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Takes what a socket gave; how many bytes of content, and whether its end is among them.
    fn take(&mut self, mut cipher: &[u8], plain: &mut [u8]) -> io::Result<(usize, bool)> {
        let (mut filled, mut ended) = (0, false);
        while !cipher.is_empty() && !ended {
            self.connection.read_tls(&mut cipher)?;
            self.connection.process_new_packets().map_err(|_| Wrong("tls"))?;
            while filled < plain.len() {
                match self.connection.reader().read(&mut plain[filled..]) {
                    Ok(0) => {
                        ended = true;
                        break;
                    }
                    Ok(n) => filled += n,
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(e) => return Err(e),
                }
            }
        }
        let is_full = matches!(
            self.connection.handshake_kind(),
            Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest)
        );
        if self.must_resume && is_full {
            return Err(Wrong("not_resumed").into());
        }
        Ok((filled, ended))
    }
}

/// Whether a socket is not connected yet, or has no room.
fn is_early(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}

struct Writes<'s>(&'s OwnedFd);

impl io::Write for Writes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Knows the server of a trial by its key, or takes any.
#[derive(Debug)]
struct Known {
    /// SubjectPublicKeyInfo, DER.
    key: Option<Vec<u8>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = ParsedCertificate::try_from(end_entity)?.subject_public_key_info();
        match self.key.as_ref().is_none_or(|key| *shown == key[..]) {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Only TLS 1.3 is offered.
        Err(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self.key {
            Some(_) => vec![SignatureScheme::ECDSA_NISTP256_SHA256],
            None => self.provider.signature_verification_algorithms.supported_schemes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::spec::SERVER;
    use super::*;
    use desk::record::Settings;
    use rustls::server::NoServerSessionStorage;
    use rustls::{ServerConnection, Stream};
    use std::os::unix::net::UnixStream;
    use std::thread;
    use std::time::Duration;

    fn order(seed: u64, how: &str) -> Order {
        let tls = (TLS.name.to_owned(), Value::Word(how.to_owned()));
        let order =
            crate::engine::exchange::trial::order(((1, 1), Settings::from([tls])), Duration::ZERO);
        Order { seed, data_seed: seed, ..order }
    }

    fn server(seed: u64) -> ServerConfig {
        let key = key(&order(seed, "full")).unwrap();
        let certificate = certificate(&key).unwrap().der().clone();
        served(vec![certificate], PrivatePkcs8KeyDer::from(key.serialize_der()).into()).unwrap()
    }

    /// Asks a server for as many bytes of content over a new connection; how the handshake was.
    fn ask(
        greeting: &mut Greeting,
        server: &Arc<ServerConfig>,
        (bytes, is_first): (usize, bool),
    ) -> io::Result<HandshakeKind> {
        let (ours, mut theirs) = UnixStream::pair()?;
        let settings = Arc::clone(server);
        let serves = thread::spawn(move || {
            let mut connection = ServerConnection::new(settings).unwrap();
            let mut stream = Stream::new(&mut connection, &mut theirs);
            // One that is refused is told so by its client.
            if stream.read_exact(&mut [0; 4]).is_ok() {
                let _ = stream.write_all(&vec![7; bytes]);
                connection.send_close_notify();
                let _ = connection.write_tls(&mut theirs);
            }
        });
        let socket = OwnedFd::from(ours);
        let mut session = greeting.session(1, is_first)?;
        session.send(&socket, [b"as", b"k!"])?;
        let mut plain = vec![0; 64 << 10];
        let mut got = 0;
        let ended = loop {
            match greeting.read(&mut session, &socket, &mut plain) {
                Ok(Came::Bytes(n, _)) => {
                    assert!(plain[..n].iter().all(|byte| *byte == 7));
                    got += n;
                }
                Ok(_) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        drop(socket);
        serves.join().unwrap();
        ended?;
        assert_eq!(got, bytes);
        session.connection.handshake_kind().ok_or_else(|| io::Error::other("no handshake"))
    }

    #[test]
    fn content_comes_whole_and_a_session_is_resumed_only_where_that_is_asked_for() {
        let server = Arc::new(server(1));
        for (how, then) in [("full", HandshakeKind::Full), ("resumed", HandshakeKind::Resumed)] {
            let mut greeting = Greeting::of(&order(1, how), 1).unwrap().unwrap();
            let first = ask(&mut greeting, &server, (1, true)).unwrap();
            assert_eq!(first, HandshakeKind::Full);
            for bytes in [1, 16 << 10, 3 << 20] {
                assert_eq!(ask(&mut greeting, &server, (bytes, false)).unwrap(), then, "{how}");
            }
        }
        assert!(Greeting::of(&order(1, "off"), 1).unwrap().is_none());
    }

    #[test]
    fn a_server_from_outside_is_taken_with_any_key() {
        let mut from_outside = order(1, "off");
        let address = Value::Word("https://127.0.0.1/".into());
        from_outside.params.insert(SERVER.name.into(), address);
        let mut greeting = Greeting::of(&from_outside, 1).unwrap().unwrap();
        let server = Arc::new(server(2));
        for _ in 0..2 {
            let went = ask(&mut greeting, &server, (3000, false)).unwrap();
            assert_eq!(went, HandshakeKind::Full);
        }
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let at = listener.local_addr().unwrap();
        let serves = thread::spawn(move || {
            let mut connection = ServerConnection::new(server).unwrap();
            let (mut socket, _) = listener.accept().unwrap();
            let mut stream = Stream::new(&mut connection, &mut socket);
            stream.read_exact(&mut [0; 3]).unwrap();
            stream.write_all(b"fine").unwrap();
        });
        let mut session = super::session(TcpSocket::connect(at).unwrap()).unwrap();
        session.write_all(b"so?").unwrap();
        let mut said = [0; 4];
        session.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"fine");
        serves.join().unwrap();
    }

    #[test]
    fn a_server_that_resumes_nothing_and_one_of_another_trial_are_errors_of_their_class() {
        let class = |e: io::Error| e.get_ref().and_then(|e| e.downcast_ref::<Wrong>()).copied();
        let mut greeting = Greeting::of(&order(1, "resumed"), 1).unwrap().unwrap();
        let mut forgets = server(1);
        forgets.send_tls13_tickets = 0;
        forgets.session_storage = Arc::new(NoServerSessionStorage {});
        let forgets = Arc::new(forgets);
        ask(&mut greeting, &forgets, (1, true)).unwrap();
        let refused = ask(&mut greeting, &forgets, (1, false)).unwrap_err();
        assert_eq!(class(refused), Some(Wrong("not_resumed")));
        let other = ask(&mut greeting, &Arc::new(server(2)), (1, true)).unwrap_err();
        assert_eq!(class(other), Some(Wrong("tls")));
    }
}
