//! Why no answer came, in words.

use std::net::IpAddr;

use k8s_openapi::jiff::Timestamp;

use super::{Peer, unable, unreachable};
use crate::cluster::connection::fault::Fault;
use crate::error::Error;

impl Peer {
    pub(super) fn explain_fault(&self, fault: Fault) -> Error {
        let server = self.address();
        match fault {
            Fault::Refused => unreachable(format!("{server} refuses connections"))
                .hint(format!("is the API server running? {}", self.who_chose()))
                .in_compat(format!(
                    "The connection to the server {server} was refused - did you specify the right host or port?"
                )),
            Fault::Unresolved => unreachable(format!("there is no host named {:?}", self.host()))
                .hint(format!("is the VPN up? {}", self.who_chose()))
                .in_compat(unable(format_args!("dial tcp: lookup {}: no such host", self.host()))),
            Fault::ConnectTimeout => unreachable(format!("{server} does not answer"))
                .hint(format!("is the VPN up? {}", self.who_chose()))
                .in_compat(unable(format_args!("dial tcp {server}: i/o timeout"))),
            Fault::Unroutable(why) => unreachable(format!("{server} cannot be reached"))
                .hint(format!("is the network up? {}", self.who_chose()))
                .in_compat(unable(format_args!("dial tcp {server}: {why}")))
                .caused_by(why),
            Fault::Proxy(why) => self.explain_proxy(&why),
            Fault::OurCertificate(alert) => {
                unreachable(format!("{server} does not accept our client certificate"))
                    .hint(format!("it may have expired, or be for another cluster; {} names it", self.source))
                    .in_compat(unable(format_args!("remote error: tls: {alert}")))
                    .caused_by(alert)
            }
            Fault::NotTls => unreachable(format!("{server} does not speak TLS"))
                .hint("if it is meant not to, write the server as http://HOST:PORT")
                .in_compat(unable("http: server gave HTTP response to HTTPS client")),
            Fault::Tls(why) => unreachable(format!("no secure connection to {server} came about"))
                .in_compat(unable(format_args!("remote error: {why}")))
                .caused_by(why),
            Fault::Broken(why) => unreachable(format!("the connection to {server} broke"))
                .hint("try again; if it stays so, look at what stands between us and the API server")
                .in_compat(unable(&why))
                .caused_by(why),
            certificate => self.explain_certificate(certificate),
        }
    }

    fn explain_certificate(&self, fault: Fault) -> Error {
        let server = self.address();
        let certificate = |what: String| unreachable(format!("the certificate of {server} {what}"));
        match fault {
            Fault::Expired(end) => certificate(format!("has expired{}", at(end)))
                .hint("is this machine's clock right? if it is, whoever runs the cluster has to renew it")
                .in_compat(unverified("certificate has expired or is not yet valid")),
            Fault::NotValidYet(begin) => certificate(format!("is not valid yet{}", at(begin)))
                .hint("is this machine's clock right?")
                .in_compat(unverified("certificate has expired or is not yet valid")),
            Fault::WrongName { asked, names } => {
                // Go lists only the addresses when asked for one, and only the names otherwise.
                let is_address = |name: &str| name.parse::<IpAddr>().is_ok();
                let alike = names.iter().filter(|name| is_address(name) == is_address(&asked));
                let alike = alike.cloned().collect::<Vec<_>>().join(", ");
                certificate(format!("is not for {asked}, only for {}", names.join(", ")))
                    .hint("say which name it is for with --tls-server-name NAME")
                    .in_compat(unverified(&format!("certificate is valid for {alike}, not {asked}")))
            }
            Fault::BadCertificate(why) => certificate("cannot be used".to_owned())
                .hint("whoever runs the cluster has to renew it")
                .in_compat(unverified(&why))
                .caused_by(why),
            _ => certificate("is not trusted: nobody knows its issuer".to_owned())
                .hint(format!(
                    "{} should name the cluster's authority; name it with --certificate-authority FILE",
                    self.source
                ))
                .in_compat(unverified("certificate signed by unknown authority")),
        }
    }

    fn explain_proxy(&self, why: &str) -> Error {
        let proxy = self.proxy.as_deref().unwrap_or_default();
        unreachable(format!("the proxy {proxy} did not let us through to {}", self.address()))
            .caused_by(why)
            .hint(
                "the kubeconfig's proxy-url names it, or HTTPS_PROXY does; NO_PROXY lists servers to reach without it",
            )
            .in_compat(unable(format_args!("proxyconnect tcp: {why}")))
    }

    fn who_chose(&self) -> String {
        format!("{} names this server; choose another with --context or --server", self.source)
    }
}

fn unverified(why: &str) -> String {
    unable(format_args!("tls: failed to verify certificate: x509: {why}"))
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| format!(" ({time})"))
}
