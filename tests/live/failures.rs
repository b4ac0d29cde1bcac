//! Connection errors: one line and a hint, in time, with exit code 1.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::{Rule, ServerCertificate, User};

use crate::setup::{Ground, run_with};

/// Runs `history deployment/web` twice and compares it with our message and the start of kubectl's.
pub(crate) async fn fails(kubeconfig: &Value, error: &str, hint: &str, compat: &str) {
    let args = ["history", "deployment/web", "--request-timeout", "5s"];
    let ended = run_with(kubeconfig, args).run_here().await;
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ended.stderr);
    assert!(lines[0].starts_with("error: ") && lines[0].contains(error), "{error:?} is not in {}", lines[0]);
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{hint:?} is not in {}", lines[1]);
    assert_eq!((ended.stdout.as_str(), ended.exit), ("", 1));
    let ended = run_with(kubeconfig, args.into_iter().chain(["--compat"])).run_here().await;
    assert!(ended.stderr.starts_with(compat), "{compat:?} is not the beginning of {}", ended.stderr);
    assert_eq!((ended.stdout.as_str(), ended.exit), ("", 1));
}

#[tokio::test]
async fn connection_refused() {
    let mut ground = Ground::of("shop");
    ground.served.stop().await;
    let address = ground.served.address();
    fails(
        &ground.kubeconfig(),
        &format!("{address} refuses connections"),
        "the server comes from context \"simcluster\"",
        &format!(
            "The connection to the server {address} was refused - did you specify the right host or port?\n"
        ),
    )
    .await;
}

#[tokio::test]
async fn unknown_host_name() {
    let ground = Ground::of("shop");
    let mut kubeconfig = ground.kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["server"] = json!("https://cluster.invalid:6443");
    fails(
        &kubeconfig,
        "there is no host named \"cluster.invalid\"",
        "VPN",
        "Unable to connect to the server: dial tcp: lookup cluster.invalid",
    )
    .await;
}

#[tokio::test]
async fn unknown_certificate_authority() {
    let ground = Ground::of("shop");
    let mut kubeconfig = ground.kubeconfig();
    let other = Ground::of("shop").kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"] =
        other["clusters"][0]["cluster"]["certificate-authority-data"].clone();
    // Both authorities have the same name, so the signature check fails.
    let compat = "Unable to connect to the server: tls: failed to verify certificate: x509: ";
    fails(&kubeconfig, &format!("the certificate of {}", ground.served.address()), "", compat).await;
    kubeconfig["clusters"][0]["cluster"].as_object_mut().unwrap().remove("certificate-authority-data");
    fails(&kubeconfig, "is not trusted", "--certificate-authority FILE", compat).await;
}

#[tokio::test]
async fn expired_or_mismatched_certificate() {
    let ground = Ground::with("shop", ServerCertificate::Expired, &[]);
    fails(
        &ground.kubeconfig(),
        "has expired (",
        "clock",
        "Unable to connect to the server: tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
    )
    .await;
    let ground = Ground::with("shop", ServerCertificate::ForAnotherName, &[]);
    fails(
        &ground.kubeconfig(),
        "is not valid for 127.0.0.1, only for elsewhere.example",
        "--tls-server-name",
        "Unable to connect to the server: tls: failed to verify certificate: x509: certificate is valid for ",
    )
    .await;
}

#[tokio::test]
async fn login_page_of_a_proxy() {
    let ground = Ground::of("shop");
    for status in [200, 403, 404] {
        ground.cluster.clear_faults();
        ground.cluster.fault(Fault::on(Requests::any(), FaultAction::Html(status)));
        fails(
            &ground.kubeconfig(),
            "does not respond like an API server",
            "a login proxy may be in between",
            "Unable to connect to the server: ",
        )
        .await;
    }
}

#[tokio::test]
async fn forbidden() {
    let gina = User::limited("gina", [Rule::allow(&["list"], &["deployments"])]);
    let ground = Ground::with("shop", ServerCertificate::Good, &[gina]);
    fails(
        &ground.served.kubeconfig("gina", "shop").unwrap(),
        "forbidden: User \"gina\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"shop\"",
        "to see what is allowed: kubectl auth can-i --list -n shop",
        "Error from server (Forbidden): deployments.apps \"web\" is forbidden: User \"gina\" cannot get",
    )
    .await;
}

#[tokio::test]
async fn forbidden_revisions_are_kubectls_error() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["*"])]);
    let ground = Ground::with("shop", ServerCertificate::Good, &[gina]);
    let kubeconfig = ground.served.kubeconfig("gina", "shop").unwrap();
    fails(
        &kubeconfig,
        "cannot read replicasets: forbidden: User \"gina\" cannot list",
        "to see what is allowed: kubectl auth can-i --list -n shop",
        "error: failed to retrieve replica sets from deployment web: replicasets.apps is forbidden: User \"gina\"",
    )
    .await;
    let ended = run_with(&kubeconfig, ["history", "sts/db", "--compat"]).run_here().await;
    let begin =
        "error: unable to find history controlled by StatefulSet db: controllerrevisions.apps is forbidden";
    assert!(ended.stderr.starts_with(begin), "{}", ended.stderr);
}

#[tokio::test]
async fn forbidden_pods_are_skipped_with_one_note() {
    let rules = [Rule::allow(&["get", "list"], &["deployments", "replicasets"])];
    let ground = Ground::with("shop", ServerCertificate::Good, &[User::limited("gina", rules)]);
    let kubeconfig = ground.served.kubeconfig("gina", "shop").unwrap();
    let ended = run_with(&kubeconfig, ["history", "deployment"]).run_here().await;
    let notes: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(notes.len(), 1, "{}", ended.stderr);
    assert!(
        notes[0].starts_with(
            "note: pods are not counted: cannot read pods: forbidden: User \"gina\" cannot list"
        ),
        "{}",
        notes[0]
    );
    assert_eq!(ended.exit, 0);
    let rows = ended.stdout.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    assert!(rows.map(|row| row.split_whitespace().nth(2)).all(|pods| pods == Some("-")), "{}", ended.stdout);
}

#[tokio::test]
async fn unauthorized() {
    let ground = Ground::of("shop");
    fails(
        &ground.served.kubeconfig_with_token("admin", "forged", "shop"),
        "does not accept the credentials",
        "log in again",
        "error: You must be logged in to the server (Unauthorized)",
    )
    .await;
}

#[tokio::test]
async fn an_x509_v1_certificate_has_its_own_message() {
    let ground = Ground::of("shop");
    let (_, key) = ground.served.client_certificate("admin").unwrap();
    let mut kubeconfig = ground.kubeconfig();
    let certificate = crate::setup::file("v1.crt", include_str!("x509-v1.crt"));
    let key = crate::setup::file("v1.key", &key);
    kubeconfig["users"][0]["user"] = json!({"client-certificate": certificate, "client-key": key});
    fails(&kubeconfig, "X.509 v1", "extendedKeyUsage=clientAuth", "error: ").await;
}

#[tokio::test]
async fn a_missing_client_certificate_is_named() {
    let ground = Ground::of("shop");
    let run = ground.run(["history", "deploy/web", "--client-certificate", "/no/cert"]);
    let ended = run.run_here().await;
    assert!(
        ended.stderr.starts_with("error: cannot read the client certificate /no/cert: "),
        "{}",
        ended.stderr
    );
    assert_eq!((ended.exit, ground.lines().len()), (2, 0));
}

#[tokio::test]
async fn no_configuration() {
    let ended = harness::Run::of(["history", "deployment/web"]).run_here().await;
    assert!(ended.stderr.starts_with("error: no cluster is configured"), "{}", ended.stderr);
    assert_eq!(ended.exit, 1);
    let ended = harness::Run::of(["history", "deployment/web", "--compat"]).run_here().await;
    assert_eq!(
        ended.stderr,
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n"
    );
}
