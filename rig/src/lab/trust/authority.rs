//! Knows how keys and certificates of a lab are made, and how a certificate names a role.
//!
//! A role is the extended key usage and the name of the certificate, both of which its other end
//! checks. Certificates do not end by time: machines of a lab need not agree on the date, and a
//! host goes out of the lab by the list of hosts. Must not know where keys are kept.

use super::{TrustError, chance, hex};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ED25519, PublicKeyData, SanType, SerialNumber,
    SignatureAlgorithm,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt;

/// Bytes of a public key: Ed25519 (RFC 8032).
pub(super) const PUBLIC_KEY: usize = 32;

/// What a certificate allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// To give orders to agents.
    Conductor,
    /// To serve the conductor.
    Agent,
    /// To answer whoever has the code of one invitation.
    Inviter,
}

impl Role {
    /// The name that its other end wants in the certificate.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Conductor => "conductor.stend",
            Self::Agent => "agent.stend",
            Self::Inviter => "invite.stend",
        }
    }

    const fn usage(self) -> ExtendedKeyUsagePurpose {
        match self {
            Self::Conductor => ExtendedKeyUsagePurpose::ClientAuth,
            Self::Agent | Self::Inviter => ExtendedKeyUsagePurpose::ServerAuth,
        }
    }
}

/// A certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// DER.
    pub(super) certificate: Vec<u8>,
    /// PKCS #8, DER.
    pub(super) key: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(..)")
    }
}

impl Identity {
    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone().into()
    }

    pub(super) fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.clone()).into()
    }
}

/// A new key.
pub(super) fn key() -> Result<KeyPair, TrustError> {
    Ok(KeyPair::generate_for(&PKCS_ED25519)?)
}

/// What signs the certificates of a lab.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Vec<u8>,
}

impl Authority {
    /// A new one for the lab of this name.
    pub(super) fn make(lab: &str) -> Result<Self, TrustError> {
        let (params, key) = (authority(lab), key()?);
        let certificate = params.self_signed(&key)?.der().to_vec();
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }

    /// That of an earlier time.
    pub(super) fn of(lab: &str, identity: &Identity) -> Result<Self, TrustError> {
        let key = PrivatePkcs8KeyDer::from(identity.key.as_slice());
        let key = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519)?;
        let issuer = Issuer::new(authority(lab), key);
        Ok(Self { issuer, certificate: identity.certificate.clone() })
    }

    /// As it is kept.
    pub(super) fn identity(&self) -> Identity {
        let key = self.issuer.key().serialize_der();
        Identity { certificate: self.certificate.clone(), key }
    }

    /// A new key with its certificate.
    pub(super) fn identify(&self, role: Role, name: &str) -> Result<Identity, TrustError> {
        let key = key()?;
        let certificate = self.sign(role, name, key.public_key_raw())?;
        Ok(Identity { certificate, key: key.serialize_der() })
    }

    /// The certificate of a key that is another's.
    pub(super) fn sign(&self, role: Role, name: &str, key: &[u8]) -> Result<Vec<u8>, TrustError> {
        let key = Public::of(key)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = named(name);
        params.subject_alt_names = vec![SanType::DnsName(role.name().try_into()?)];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![role.usage()];
        // No two certificates are alike, so that one which was removed is no other.
        let mut serial = chance::<16>()?;
        serial[0] = serial[0] & 0x7f | 0x40;
        params.serial_number = Some(SerialNumber::from(serial.to_vec()));
        Ok(params.signed_by(&key, &self.issuer)?.der().to_vec())
    }
}

/// A name for a new lab.
pub(super) fn lab_name() -> Result<String, TrustError> {
    Ok(hex(&chance::<8>()?))
}

fn authority(lab: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(&format!("stend lab {lab}"));
    // It signs certificates of ends, and none that sign.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn named(name: &str) -> DistinguishedName {
    let mut all = DistinguishedName::new();
    all.push(DnType::CommonName, name);
    all
}

/// A public key of Ed25519.
struct Public([u8; PUBLIC_KEY]);

impl Public {
    fn of(bytes: &[u8]) -> Result<Self, TrustError> {
        let wrong = |_| TrustError::Certificate(format!("a key of {} B", bytes.len()));
        Ok(Self(bytes.try_into().map_err(wrong)?))
    }
}

impl PublicKeyData for Public {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ED25519
    }
}
