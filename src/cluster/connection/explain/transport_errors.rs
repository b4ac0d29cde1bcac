//! Explains transport errors: DNS, TCP, proxies, TLS and certificates.

use k8s_openapi::jiff::Timestamp;

use super::{ApiServer, unreachable};
use crate::cluster::connection::transport_error::TransportError;
use crate::error::Error;

impl ApiServer {
    pub(super) fn explain_transport_error(&self, error: TransportError) -> Error {
        let server = self.address();
        match error {
            TransportError::ConnectionRefused => unreachable(format!("{server} refuses connections"))
                .hint(format!("is the API server running? {}", self.where_from())),
            TransportError::UnknownHost => unreachable(format!("there is no host named {:?}", self.host()))
                .hint(format!("is the VPN up? {}", self.where_from())),
            TransportError::ConnectTimeout => unreachable(format!("{server} does not answer"))
                .hint(format!("is the VPN up? {}", self.where_from())),
            TransportError::Unroutable(why) => unreachable(format!("{server} cannot be reached"))
                .hint(format!("is the network up? {}", self.where_from()))
                .caused_by(why),
            TransportError::Proxy(why) => self.explain_proxy(&why),
            TransportError::ClientCertificateRejected(alert) => {
                unreachable(format!("{server} rejected the client certificate"))
                    .hint(format!(
                        "it may have expired or belong to another cluster; it comes from {}",
                        self.source
                    ))
                    .caused_by(alert)
            }
            TransportError::NotTls => unreachable(format!("{server} does not speak TLS"))
                .hint("if that is intended, write the server as http://HOST:PORT"),
            TransportError::Tls(why) => {
                unreachable(format!("the TLS handshake with {server} failed")).caused_by(why)
            }
            TransportError::ConnectionBroken(why) => unreachable(format!(
                "the connection to {server} was lost"
            ))
            .hint(
                "try again; if it happens again, check the proxies and load balancers before the API server",
            )
            .caused_by(why),
            certificate => self.explain_certificate(certificate),
        }
    }

    fn explain_certificate(&self, error: TransportError) -> Error {
        let server = self.address();
        let certificate = |what: String| unreachable(format!("the certificate of {server} {what}"));
        match error {
            TransportError::CertificateExpired(end) => certificate(format!("has expired{}", at(end)))
                .hint("check this machine's clock; if it is right, the cluster's administrator must renew the certificate"),
            TransportError::CertificateNotYetValid(begin) => {
                certificate(format!("is not valid yet{}", at(begin)))
                    .hint("check this machine's clock")
            }
            TransportError::HostnameMismatch { expected, names } => {
                certificate(format!("is not valid for {expected}, only for {}", names.join(", ")))
                    .hint("set the name to check with --tls-server-name NAME")
            }
            TransportError::InvalidCertificate(why) => certificate("cannot be used".to_owned())
                .hint("the cluster's administrator must renew it")
                .caused_by(why),
            _ => certificate("is not trusted: its issuer is unknown".to_owned())
                .hint(format!(
                    "set the cluster's certificate authority in {}, or with --certificate-authority FILE",
                    self.source
                )),
        }
    }

    fn explain_proxy(&self, why: &str) -> Error {
        let proxy = self.proxy.as_deref().unwrap_or_default();
        unreachable(format!("the proxy {proxy} refused the connection to {}", self.address()))
            .caused_by(why)
            .hint(
                "it is set with the kubeconfig's proxy-url or HTTPS_PROXY; NO_PROXY lists servers to reach directly",
            )
    }

    fn where_from(&self) -> String {
        if self.is_server_from_flag {
            return "the server comes from --server".to_owned();
        }
        format!("the server comes from {}; choose another with --context or --server", self.source)
    }
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| format!(" ({time})"))
}
