//! Connection errors: one line and a hint, within the request timeout, with exit code 1.

use harness::prelude::*;
use simcluster::{Protocols, ServerCertificate};

/// Runs `history deployment/web` and compares its message and its hint.
pub(crate) async fn fails(kubeconfig: &Value, error: &str, hint: &str) {
    let args = ["history", "deployment/web"];
    let output = Run::of(args).kubeconfig(kubeconfig).run_async().await;
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", output.stderr);
    assert!(lines[0].starts_with("error: ") && lines[0].contains(error), "{error:?} is not in {}", lines[0]);
    assert!(lines[1].starts_with("hint: ") && lines[1].contains(hint), "{hint:?} is not in {}", lines[1]);
    assert_eq!((output.stdout.as_str(), output.exit), ("", 1));
}

#[tokio::test]
async fn a_refused_connection_is_an_error() {
    let mut server = Cluster::recorded("shop").served();
    server.server_mut().stop().await;
    let address = server.server().address();
    fails(
        &server.kubeconfig(),
        &format!("{address} refuses connections"),
        "the server comes from context \"simcluster\"; choose another with --context or --server, or add !NAME to --contexts",
    )
    .await;
}

/// A list reads six types.
#[tokio::test(start_paused = true)]
async fn one_silent_server_is_one_error_and_one_limit_for_a_list() {
    let cluster = Cluster::recorded("shop").start();
    cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
    let begun = tokio::time::Instant::now();
    let output = cluster.run("list").await;
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
    let errors: Vec<_> = output.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    let error = "error: in-process:80 did not send a complete response within 60s";
    assert_eq!((errors, output.exit), (vec![error], 1), "{}", output.stderr);
}

#[tokio::test]
async fn one_refused_connection_is_one_error_for_a_list() {
    let mut server = Cluster::recorded("shop").served();
    server.server_mut().stop().await;
    for args in [&["list"][..], &["list", "-A"], &["status", "deploy", "sts", "--watch=false"]] {
        let output = server.command(args.iter().copied()).run_async().await;
        assert_eq!((output.stderr.lines().count(), output.exit), (2, 1), "{}", output.stderr);
        output.reports("refuses connections");
    }
}

/// A webhook can send any text.
#[tokio::test]
async fn a_long_message_of_the_server_is_cut() {
    let server = Cluster::recorded("shop").served();
    let refusal = Refusal::with_status(500, "€".repeat(2_000_000));
    server.sim.fault(Fault::on(Requests::any(), FaultAction::Refuse(refusal)));
    let output = server.command(["history", "deployment/web"]).run_async().await;
    output.reports("€... (5995905 more bytes)\n");
    assert!(output.stderr.len() < 4_400, "{}", output.stderr.len());
}

#[tokio::test]
async fn an_unknown_host_name_is_an_error() {
    let server = Cluster::recorded("shop").served();
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["server"] = json!("https://cluster.invalid:6443");
    fails(&kubeconfig, "there is no host named \"cluster.invalid\"", "VPN").await;
}

#[tokio::test]
async fn an_unknown_certificate_authority_is_an_error() {
    let server = Cluster::recorded("shop").served();
    let mut kubeconfig = server.kubeconfig();
    let other = Cluster::recorded("shop").served().kubeconfig();
    kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"] =
        other["clusters"][0]["cluster"]["certificate-authority-data"].clone();
    // Both authorities have the same name, so the signature check fails.
    fails(&kubeconfig, &format!("the certificate of {}", server.server().address()), "").await;
    kubeconfig["clusters"][0]["cluster"].as_object_mut().unwrap().remove("certificate-authority-data");
    fails(&kubeconfig, "is not trusted: an unknown authority issued it", "--certificate-authority FILE")
        .await;
}

#[tokio::test]
async fn an_expired_or_mismatched_certificate_is_an_error() {
    let server = Cluster::recorded("shop").served_with(ServerCertificate::Expired, Protocols::default());
    fails(&server.kubeconfig(), "certificate expired at 2020-01-02T00:00:00Z", "clock").await;
    let server =
        Cluster::recorded("shop").served_with(ServerCertificate::ForAnotherName, Protocols::default());
    fails(
        &server.kubeconfig(),
        "is not trusted: the certificate is valid for elsewhere.example, not for 127.0.0.1",
        "--tls-server-name",
    )
    .await;
}

#[tokio::test]
async fn the_login_page_of_a_proxy_is_an_error() {
    let server = Cluster::recorded("shop").served();
    for status in [200, 403, 404] {
        server.sim.clear_faults();
        server.sim.fault(Fault::on(Requests::any(), FaultAction::Html(status)));
        fails(&server.kubeconfig(), "does not respond like an API server", "a login proxy may be in between")
            .await;
    }
}

#[tokio::test]
async fn a_forbidden_request_is_an_error() {
    let gina = User::limited("gina", [Rule::allow(&["list"], &["deployments"])]);
    let server = Cluster::recorded("shop").user(gina).served();
    fails(
        &server.kubeconfig_of("gina"),
        "forbidden: User \"gina\" cannot get resource \"deployments\" in API group \"apps\" in the namespace \"shop\"",
        "to see what is allowed: kubectl auth can-i --list -n shop")
    .await;
}

#[tokio::test]
async fn forbidden_revisions_are_an_error() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["*"])]);
    let server = Cluster::recorded("shop").user(gina).served();
    let kubeconfig = server.kubeconfig_of("gina");
    fails(
        &kubeconfig,
        "cannot read replicasets: forbidden: User \"gina\" cannot list",
        "to see what is allowed: kubectl auth can-i --list -n shop",
    )
    .await;
}

#[tokio::test]
async fn forbidden_pods_are_skipped_with_one_note() {
    let rules = [Rule::allow(&["get", "list"], &["deployments", "replicasets"])];
    let server = Cluster::recorded("shop").user(User::limited("gina", rules)).served();
    let kubeconfig = server.kubeconfig_of("gina");
    let output = Run::of(["history", "deployment"]).kubeconfig(&kubeconfig).run_async().await;
    let notes: Vec<_> = output.stderr.lines().collect();
    assert_eq!(notes.len(), 1, "{}", output.stderr);
    assert!(
        notes[0].starts_with(
            "note: pods are not counted: cannot read pods: forbidden: User \"gina\" cannot list"
        ),
        "{}",
        notes[0]
    );
    output.ends(0);
    let rows = output.stdout.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let rows = rows.map(|row| row.replace(" (was 2)", "").replace("at most ", ""));
    assert!(
        rows.map(|row| row.split_whitespace().nth(2).map(str::to_owned))
            .all(|pods| pods.as_deref() == Some("-")),
        "{}",
        output.stdout
    );
}

#[tokio::test]
async fn an_unauthorized_request_is_an_error() {
    let server = Cluster::recorded("shop").served();
    fails(
        &server.server().kubeconfig_with_token("admin", "forged", "shop"),
        "does not accept the credentials",
        "log in again",
    )
    .await;
}

#[tokio::test]
async fn an_x509_v1_certificate_has_its_own_message() {
    let server = Cluster::recorded("shop").served();
    let (_, key) = server.server().client_certificate("admin").unwrap();
    let mut kubeconfig = server.kubeconfig();
    let certificate = harness::files::file("v1.crt", include_str!("x509-v1.crt"));
    let key = harness::files::file("v1.key", &key);
    kubeconfig["users"][0]["user"] = json!({"client-certificate": certificate, "client-key": key});
    fails(&kubeconfig, "X.509 v1", "extendedKeyUsage=clientAuth").await;
}

#[tokio::test]
async fn the_error_contains_the_path_of_a_missing_client_certificate() {
    let server = Cluster::recorded("shop").served();
    let run = server.command(["history", "deploy/web", "--client-certificate", "/no/cert"]);
    let output = run.run_async().await;
    assert!(
        output.stderr.starts_with("error: cannot read the client certificate /no/cert: "),
        "{}",
        output.stderr
    );
    assert_eq!((output.exit, server.lines().len()), (2, 0));
}

#[tokio::test]
async fn without_a_kubeconfig_the_server_is_localhost() {
    let output = harness::Run::of(["history", "deployment/web"]).run_async().await;
    assert!(output.stderr.starts_with("error: no cluster is configured"), "{}", output.stderr);
    output.ends(1);
}
