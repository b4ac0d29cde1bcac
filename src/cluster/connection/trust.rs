//! Which certificate of a server is trusted, and the words for one that is not.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

/// The object identifier of the curve P-521 in DER.
const P521: [u8; 7] = [0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23];

/// Whether the key of a certificate is on the curve P-521, which `ring` lacks.
pub(super) fn has_p521_key(certificate: &[u8]) -> bool {
    certificate.windows(P521.len()).any(|bytes| bytes == P521)
}

/// Verifies a server as kubectl does: an authority of the cluster issued its certificate, or the certificate itself is among
/// those of the authorities (Go's `x509.Certificate.Verify`). rustls alone accepts no authority as a server.
#[derive(Debug)]
pub(super) struct ServerVerifier {
    authorities: Vec<CertificateDer<'static>>,
    issued: Arc<WebPkiServerVerifier>,
}

impl ServerVerifier {
    /// Replaces the verifier of a configuration.
    ///
    /// # Errors
    /// When an authority is not a certificate.
    pub(super) fn install(authorities: &[Vec<u8>], config: &mut ClientConfig) -> Result<(), TlsError> {
        let authorities: Vec<_> = authorities.iter().cloned().map(CertificateDer::from).collect();
        let mut roots = RootCertStore::empty();
        authorities.iter().try_for_each(|authority| roots.add(authority.clone()))?;
        let provider = Arc::clone(config.crypto_provider());
        let issued = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let issued = issued.map_err(|error| TlsError::General(error.to_string()))?;
        config.dangerous().set_certificate_verifier(Arc::new(Self { authorities, issued }));
        Ok(())
    }
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verified =
            self.issued.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The time is checked before the issuer, and the name after it.
            Err(TlsError::InvalidCertificate(error))
                if !is_about_time(&error) && self.authorities.iter().any(|pinned| pinned == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.issued.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.issued.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}

fn is_about_time(error: &CertificateError) -> bool {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    matches!(error, Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. })
}

/// Whether the TLS library lacks an algorithm of the certificate.
pub(super) fn is_unsupported(error: &CertificateError) -> bool {
    #[expect(deprecated, reason = "rustls still returns it where it has no context")]
    let without_context = matches!(error, CertificateError::UnsupportedSignatureAlgorithm);
    without_context
        || matches!(
            error,
            CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
        )
}

/// Returns why a certificate is not trusted, as a clause.
pub(super) fn why_not_trusted(error: &CertificateError) -> String {
    let at = |time: &UnixTime| {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
    };
    match error {
        CertificateError::UnknownIssuer => "an unknown authority issued it".to_owned(),
        CertificateError::BadSignature => "the authority of the same name did not sign it".to_owned(),
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the certificate expired at {}", at(not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("the certificate is not valid before {}", at(not_before))
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().map(|name| name_in(name)).collect();
            let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            format!("the certificate is valid for {names}, not for {}", expected.to_str())
        }
        error if is_unsupported(error) => {
            "its authority uses an algorithm that kubectl accepts and this program's TLS library does not, \
             such as P-521"
                .to_owned()
        }
        CertificateError::Other(error) => in_words(&error.to_string()),
        error => in_words(&error.to_string()),
    }
}

/// Returns the name in rustls' debug text of it, such as `DnsName("elsewhere.example")`.
fn name_in(presented: &str) -> &str {
    let inside = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(presented).trim_matches('"')
}

/// Returns a text of rustls with its names of Rust as words: `received fatal alert: CertificateRequired` ends with
/// `certificate required`.
pub(super) fn in_words(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let is_name = word.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.contains(|letter: char| letter.is_ascii_lowercase());
        if is_name { spaced(word) } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the words of a name in camel case: `BadCertificate` is `bad certificate`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rust_are_words() {
        for (text, words) in [
            ("received fatal alert: CertificateRequired", "received fatal alert: certificate required"),
            (
                "peer is incompatible: NoCipherSuitesInCommon",
                "peer is incompatible: no cipher suites in common",
            ),
            ("UnsupportedCertVersion", "unsupported cert version"),
            ("TLS failed", "TLS failed"),
        ] {
            assert_eq!(in_words(text), words);
        }
    }

    #[test]
    fn every_reason_has_words() {
        let unsupported = CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id: vec![1],
            public_key_algorithm_id: vec![2],
        };
        for (error, words) in [
            (CertificateError::UnknownIssuer, "an unknown authority issued it"),
            (CertificateError::Revoked, "revoked"),
            (
                unsupported,
                "its authority uses an algorithm that kubectl accepts and this program's TLS library does not, \
                 such as P-521",
            ),
        ] {
            assert_eq!(why_not_trusted(&error), words);
        }
        assert_eq!(name_in("IpAddress(10.0.0.1)"), "10.0.0.1");
    }
}
