//! The certificates of one cluster. They are created when it is served, and written only into its kubeconfig.

use std::{collections::BTreeMap, error::Error, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::WebPkiClientVerifier,
};

use super::ServerCertificate;
use crate::users::User;

/// A result, or why a certificate could not be created or used.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A certificate and its key, in PEM.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// The authority that signs the server's certificate and those of users.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The user of each client certificate, by the bytes of the certificate.
    issued: BTreeMap<Vec<u8>, String>,
}

impl Authority {
    pub(super) fn new() -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "simcluster-ca");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self { issuer, issued: BTreeMap::new() })
    }

    /// The certificate of the authority, in PEM.
    pub(super) fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// Creates a client certificate for a user: the common name is the user name, the organizations are the groups.
    pub(super) fn issue(&mut self, user: &User) -> Result<Pair> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user.name());
        if let Some(group) = user.groups().first() {
            params.distinguished_name.push(DnType::OrganizationName, group.as_str());
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        self.issued.insert(certificate.der().to_vec(), user.name().to_owned());
        Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
    }

    /// Returns the user of a client certificate.
    pub(super) fn holder(&self, certificate: &[u8]) -> Option<String> {
        self.issued.get(certificate).cloned()
    }

    /// Returns the TLS configuration of the server, and its certificate in PEM. Client certificates of this authority are
    /// accepted and not required.
    pub(super) fn server_config(&self, kind: ServerCertificate) -> Result<(ServerConfig, String)> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone())?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()?;
        let key = KeyPair::generate()?;
        let certificate = match kind {
            ServerCertificate::SelfSigned => server_params(kind)?.self_signed(&key)?,
            _ => server_params(kind)?.signed_by(&key, &self.issuer)?,
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.der().clone()], key)?;
        Ok((config, certificate.pem()))
    }
}

fn server_params(kind: ServerCertificate) -> Result<CertificateParams> {
    let names = match kind {
        ServerCertificate::ForAnotherName => vec!["elsewhere.example".to_owned()],
        _ => vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "kubernetes".to_owned()],
    };
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "simcluster");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    if kind == ServerCertificate::SelfSigned {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    if kind == ServerCertificate::Expired {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 2);
    }
    Ok(params)
}
