//! Knows what TLS has to check at each end: TLS 1.3 alone, the authority of the lab, the role in
//! the certificate, and at the conductor the list of hosts. No session is resumed, so that every
//! connection is checked in full.
//!
//! Must not know what travels over a connection.

use super::authority::{Identity, Role};
use super::member::{Agent, Conductor};
use super::register::{Register, Standing};
use super::{TrustError, fingerprint};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature,
    verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore,
    ServerConfig, SignatureScheme, WantsVerifier,
};
use std::sync::Arc;

/// What conductor and agent speak; the digit is the version of the transport.
pub const MACHINE_PROTOCOL: &[u8] = b"stend-machine/1";
/// What a machine and who invites it speak.
pub(super) const JOIN_PROTOCOL: &[u8] = b"stend-join/1";

/// The TLS of a conductor that wants this machine of its lab at the other end.
///
/// # Errors
/// When its directory cannot be read or holds no certificates.
pub fn conductor_settings(
    conductor: &Conductor,
    machine: &str,
) -> Result<(Arc<ClientConfig>, ServerName<'static>), TrustError> {
    let hosts =
        Believed::Hosts(verifier(&conductor.root()?)?, conductor.register()?.named(machine));
    let identity = conductor.identity()?;
    let settings = client()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(hosts))
        .with_client_auth_cert(vec![identity.certificate()], identity.key())?;
    Ok((speaking(settings, MACHINE_PROTOCOL), name(Role::Agent)?))
}

/// The TLS of an agent.
///
/// # Errors
/// When its certificates are none.
pub fn agent_settings(agent: &Agent) -> Result<Arc<ServerConfig>, TrustError> {
    let conductors =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots(&agent.root)?), provider());
    let conductors = conductors.build().map_err(|e| TrustError::Certificate(e.to_string()))?;
    let identity = &agent.identity;
    let settings = server()?
        .with_client_cert_verifier(conductors)
        .with_single_cert(vec![identity.certificate()], identity.key())?;
    Ok(served(settings, MACHINE_PROTOCOL))
}

/// The TLS of who invites: it proves the authority of the lab, and asks for no certificate.
pub(super) fn inviter_settings(
    identity: &Identity,
    root: Vec<u8>,
) -> Result<Arc<ServerConfig>, TrustError> {
    let chain = vec![identity.certificate(), root.into()];
    let settings = server()?.with_no_client_auth().with_single_cert(chain, identity.key())?;
    Ok(served(settings, JOIN_PROTOCOL))
}

/// The TLS of a machine that is invited: it believes the authority with this SHA-256 alone.
pub(super) fn invited_settings(
    root: [u8; 32],
) -> Result<(Arc<ClientConfig>, ServerName<'static>), TrustError> {
    let settings = client()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Believed::Root(root)))
        .with_no_client_auth();
    Ok((speaking(settings, JOIN_PROTOCOL), name(Role::Inviter)?))
}

/// Refuses a certificate that an authority did not sign for an agent with this key.
pub(super) fn must_be_agent(agent: &Agent) -> Result<(), TrustError> {
    agent_settings(agent)?;
    let certificate = agent.identity.certificate();
    let verifier = verifier(&agent.root)?;
    verifier.verify_server_cert(&certificate, &[], &name(Role::Agent)?, &[], UnixTime::now())?;
    Ok(())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn algorithms() -> WebPkiSupportedAlgorithms {
    aws_lc_rs::default_provider().signature_verification_algorithms
}

fn client() -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, Error> {
    ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13])
}

fn server() -> Result<ConfigBuilder<ServerConfig, WantsVerifier>, Error> {
    ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13])
}

fn speaking(mut settings: ClientConfig, protocol: &[u8]) -> Arc<ClientConfig> {
    settings.alpn_protocols = vec![protocol.to_vec()];
    settings.resumption = Resumption::disabled();
    Arc::new(settings)
}

fn served(mut settings: ServerConfig, protocol: &[u8]) -> Arc<ServerConfig> {
    settings.alpn_protocols = vec![protocol.to_vec()];
    settings.session_storage = Arc::new(NoServerSessionStorage {});
    settings.send_tls13_tickets = 0;
    Arc::new(settings)
}

fn roots(root: &[u8]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(root))?;
    Ok(roots)
}

fn verifier(root: &[u8]) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let roots = Arc::new(roots(root)?);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
    verifier.map_err(|e| Error::General(e.to_string()))
}

fn name(role: Role) -> Result<ServerName<'static>, TrustError> {
    ServerName::try_from(role.name()).map_err(|e| TrustError::Certificate(e.to_string()))
}

/// Whom an end that connects believes.
#[derive(Debug)]
enum Believed {
    /// Agents that the authority signed and that the lab lists: a conductor.
    Hosts(Arc<WebPkiServerVerifier>, Register),
    /// Who shows the authority with this SHA-256 as the last certificate, and was signed by it: a
    /// machine that is invited.
    Root([u8; 32]),
}

impl ServerCertVerifier for Believed {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let register = match (self, between) {
            (Self::Hosts(inner, register), _) => {
                inner.verify_server_cert(end, between, name, ocsp, now)?;
                register
            }
            (Self::Root(known), [root]) if fingerprint(root) == *known => {
                return verifier(root)?.verify_server_cert(end, &[], name, ocsp, now);
            }
            (Self::Root(_), _) => return Err(CertificateError::UnknownIssuer.into()),
        };
        match register.standing(end) {
            Standing::Member => Ok(ServerCertVerified::assertion()),
            Standing::Removed => Err(CertificateError::Revoked.into()),
            Standing::Unlisted => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        end: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, end, signature, &algorithms())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        end: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, end, signature, &algorithms())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        algorithms().supported_schemes()
    }
}
