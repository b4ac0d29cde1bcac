//! Which certificates of a server are trusted: those that kubectl trusts, as far as the TLS library can.

use harness::files::file;
use harness::prelude::*;
use simcluster::{Protocols, ServerCertificate};

use crate::connection::failures::fails;

/// Serves the shop with this certificate. The kubeconfig has the certificate in the place of an authority.
fn pinned(kind: ServerCertificate) -> (Cluster, Value) {
    let server = Cluster::recorded("shop").served_with(kind, Protocols::default());
    let mut kubeconfig = server.kubeconfig();
    let authority = file("server.crt", server.server().server_certificate());
    kubeconfig["clusters"][0]["cluster"] =
        json!({"server": server.server().url(), "certificate-authority": authority});
    (server, kubeconfig)
}

/// Go's `x509.Certificate.Verify` accepts a certificate that is among the roots.
#[tokio::test]
async fn the_certificate_of_the_server_may_stand_in_place_of_its_authority() {
    for kind in [ServerCertificate::Good, ServerCertificate::SelfSigned] {
        let (_server, kubeconfig) = pinned(kind);
        let output = Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{kind:?}");
    }
}

#[tokio::test]
async fn a_pinned_certificate_is_checked_for_its_time_and_its_names() {
    let (_server, kubeconfig) = pinned(ServerCertificate::Expired);
    fails(&kubeconfig, "certificate expired at 2020-01-02T00:00:00Z", "clock").await;
    let (_server, mut kubeconfig) = pinned(ServerCertificate::ForAnotherName);
    fails(&kubeconfig, "certificate is valid for elsewhere.example, not for 127.0.0.1", "--tls-server-name")
        .await;
    kubeconfig["clusters"][0]["cluster"]["tls-server-name"] = json!("elsewhere.example");
    Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig).run_async().await.ends(0);
}

/// A certificate that another authority issued is refused, even if one of the server's kind is pinned.
#[tokio::test]
async fn another_certificate_than_the_pinned_one_is_refused() {
    let (_other, mut kubeconfig) = pinned(ServerCertificate::SelfSigned);
    let server = Cluster::recorded("shop").served_with(ServerCertificate::SelfSigned, Protocols::default());
    kubeconfig["clusters"][0]["cluster"]["server"] = json!(server.server().url());
    fails(&kubeconfig, "is not trusted: ", "").await;
}

/// The TLS library has no P-521.
#[tokio::test]
async fn a_client_certificate_with_a_p521_key_has_its_own_message() {
    let server = Cluster::recorded("shop").served();
    let (_, key) = server.server().client_certificate("admin").unwrap();
    let mut kubeconfig = server.kubeconfig();
    let certificate = file("p521.crt", include_str!("p521.crt"));
    kubeconfig["users"][0]["user"] =
        json!({"client-certificate": certificate, "client-key": file("p521.key", &key)});
    fails(&kubeconfig, "the client certificate has a P-521 key, which kubectl accepts", "P-256").await;
}
