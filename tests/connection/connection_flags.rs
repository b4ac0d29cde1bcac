//! The effect of every connection flag on the requests.

use harness::prelude::*;
use simcluster::{Protocols, RecordedRequest, ServerCertificate};

use harness::files::file;

/// Runs `history deployment/web` with these flags and returns the first request.
async fn first(server: &Cluster, flags: &[&str]) -> RecordedRequest {
    server.sim.forget_requests();
    let output = history(server, flags).await;
    let mut requests = server.sim.requests();
    assert!(!requests.is_empty(), "{flags:?}: {}", output.stderr);
    requests.remove(0)
}

async fn history(server: &Cluster, flags: &[&str]) -> Output {
    server.command(["history", "deployment/web"].iter().chain(flags).copied()).run_async().await
}

/// The kubeconfig without a field of its cluster or user.
fn without(server: &Cluster, pointer: &str) -> Value {
    let mut kubeconfig = server.kubeconfig();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    kubeconfig.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    kubeconfig
}

#[tokio::test]
async fn every_request_has_a_user_agent_and_accepts_compression() {
    let server = Cluster::recorded("shop").served();
    let request = first(&server, &[]).await;
    let agent = concat!("kubectl-rollout2/", env!("CARGO_PKG_VERSION"));
    assert_eq!(request.header("user-agent"), agent);
    assert_eq!(request.header("accept"), "application/json");
    assert_eq!(request.header("accept-encoding"), "gzip");
    assert_eq!(request.header("authorization"), "");
}

#[tokio::test]
async fn compression_can_be_disabled() {
    let server = Cluster::recorded("shop").served();
    assert_eq!(first(&server, &["--disable-compression"]).await.header("accept-encoding"), "");
    assert_eq!(first(&server, &["--disable-compression=false"]).await.header("accept-encoding"), "gzip");
}

#[tokio::test]
async fn namespaces_are_part_of_the_path() {
    let server = Cluster::recorded("shop").served();
    let path = |request: RecordedRequest| request.path;
    assert_eq!(path(first(&server, &[]).await), "/apis/apps/v1/namespaces/shop/deployments/web");
    assert_eq!(
        path(first(&server, &["-n", "other"]).await),
        "/apis/apps/v1/namespaces/other/deployments/web"
    );
    server.command(["history", "deployment", "-A"]).run_async().await.ends(0);
    assert!(server.lines().contains(&"GET /apis/apps/v1/deployments".to_owned()));
}

#[tokio::test]
async fn tokens_and_basic_credentials_are_sent() {
    let server = Cluster::recorded("shop").served();
    server.sim.users(|users| users.grant_token("sesame", "admin"));
    let authorization = |request: RecordedRequest| request.header("authorization").to_owned();
    assert_eq!(authorization(first(&server, &["--token", "sesame"]).await), "Bearer sesame");
    let basic = first(&server, &["--username", "gina", "--password", "p:w"]).await;
    assert_eq!(authorization(basic), "Basic Z2luYTpwOnc=");
}

#[tokio::test]
async fn impersonation_headers_are_sent() {
    let server = Cluster::recorded("shop").served();
    let flags = [
        "--as=gina",
        "--as-uid=7",
        "--as-group=dev",
        "--as-group=ops",
        "--as-user-extra=scopes/x=a",
        "--as-user-extra=scopes/x=b",
    ];
    let request = first(&server, &flags).await;
    assert_eq!(request.header("impersonate-user"), "gina");
    assert_eq!(request.header("impersonate-uid"), "7");
    let all = |name: &str| {
        request.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(all("impersonate-group"), ["dev", "ops"]);
    assert_eq!(all("impersonate-extra-scopes%2fx"), ["a", "b"]);
    let output = history(&server, &["--as-group=dev"]).await;
    assert_eq!((output.exit, output.stdout.as_str()), (2, ""), "{}", output.stderr);
}

#[tokio::test]
async fn server_ca_and_tls_name_flags_are_used() {
    let (server, other) = (Cluster::recorded("shop").served(), Cluster::recorded("shop").served());
    let authority = file("ca.crt", &other.server().authority_certificate());
    let flags = ["--server", &other.server().url(), "--certificate-authority", authority.to_str().unwrap()];
    history(&server, &flags).await;
    assert_eq!(server.sim.requests().len(), 0, "no request goes to the server of the kubeconfig");
    // The other server's authority did not sign our certificate, but the TLS handshake succeeds.
    let insecure = ["-s", &other.server().url(), "--insecure-skip-tls-verify"];
    let output = history(&server, &insecure).await;
    assert!(!output.stderr.contains("not trusted"), "{}", output.stderr);

    let untrusted = without(&server, "/clusters/0/cluster/certificate-authority-data");
    let output = Run::of(["history", "deployment/web"]).kubeconfig(&untrusted).run_async().await;
    output.reports("is not trusted");
    let authority = file("ca.crt", &server.server().authority_certificate());
    for flags in [
        vec!["--certificate-authority", authority.to_str().unwrap()],
        vec!["--insecure-skip-tls-verify"],
        vec!["--insecure-skip-tls-verify=true"],
        vec!["--insecure-skip-tls-verify=1"], // as Go's flags accept it
    ] {
        let run = Run::of(["history", "deployment/web"].iter().chain(&flags).copied()).kubeconfig(&untrusted);
        let output = run.run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{flags:?}");
    }
}

#[tokio::test]
async fn the_tls_server_name_can_be_set() {
    let server =
        Cluster::recorded("shop").served_with(ServerCertificate::ForAnotherName, Protocols::default());
    let output = history(&server, &[]).await;
    output.reports("the certificate is valid for elsewhere.example, not for 127.0.0.1");
    let output = history(&server, &["--tls-server-name", "elsewhere.example"]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn client_certificates_are_used() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["namespaces"])]);
    let server = Cluster::recorded("shop").user(gina).served();
    let (certificate, key) = server.server().client_certificate("gina").unwrap();
    let (certificate, key) = (file("gina.crt", &certificate), file("gina.key", &key));
    let flags =
        ["--client-certificate", certificate.to_str().unwrap(), "--client-key", key.to_str().unwrap()];
    let output = history(&server, &flags).await;
    output.reports("forbidden: User \"gina\" cannot get").ends(1);
}

#[tokio::test]
async fn context_cluster_user_and_kubeconfig_flags_are_used() {
    let (near, far) = (Cluster::recorded("shop").served(), Cluster::recorded("shop").served());
    far.sim.users(|users| users.grant_token("far-token", "admin"));
    let mut kubeconfig = near.kubeconfig();
    let other = far.server().kubeconfig_with_token("deputy", "far-token", "elsewhere");
    for list in ["clusters", "users", "contexts"] {
        let mut entry = other[list][0].clone();
        entry["name"] = json!(format!("far-{list}"));
        kubeconfig[list].as_array_mut().unwrap().push(entry);
    }
    kubeconfig["contexts"][1]["context"] =
        json!({"cluster": "far-clusters", "user": "far-users", "namespace": "elsewhere"});
    let path = file("both", &kubeconfig.to_string());
    let run = |flags: &[&str]| {
        let args = ["history", "deployment/web", "--kubeconfig", path.to_str().unwrap()];
        harness::Run::of(args.iter().chain(flags).copied()).run_async()
    };
    run(&[]).await;
    assert_eq!((near.lines().len(), far.lines().len()), (3, 0));
    run(&["--context", "far-contexts"]).await;
    let request = far.sim.requests().remove(0);
    assert_eq!(request.path, "/apis/apps/v1/namespaces/elsewhere/deployments/web");
    assert_eq!(request.header("authorization"), "Bearer far-token");
    far.sim.forget_requests();
    let output = run(&["--cluster", "far-clusters", "--user", "far-users"]).await;
    assert_eq!((output.exit, far.lines().len()), (0, 3), "{}", output.stderr);
}

#[tokio::test]
async fn requests_are_logged_from_v6_without_secrets() {
    let server = Cluster::recorded("shop").served();
    server.sim.users(|users| users.grant_token("sesame", "admin"));
    assert_eq!(history(&server, &["-v", "5", "--token", "sesame"]).await.stderr, "");
    for flags in [["-v", "6"], ["-v=6", "-A"], ["--v", "99"]] {
        let flags: Vec<_> =
            flags.into_iter().filter(|flag| *flag != "-A").chain(["--token", "sesame"]).collect();
        let output = history(&server, &flags).await;
        let lines: Vec<_> = output.stderr.lines().collect();
        assert_eq!(lines.len(), 3, "{}", output.stderr);
        let begin =
            format!("GET {}/apis/apps/v1/namespaces/shop/deployments/web 200 OK in ", server.server().url());
        assert!(lines[0].starts_with(&begin), "{}", lines[0]);
        assert!(lines.iter().all(|line| line.ends_with(" milliseconds")), "{}", output.stderr);
        assert!(!output.stderr.contains("sesame") && !output.stderr.contains("Bearer"), "{}", output.stderr);
    }
}

#[tokio::test]
async fn a_server_warning_is_printed_once_and_can_be_an_error() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::any(), FaultAction::Warn("this is old".into())));
    let output = history(&server, &[]).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("Warning: this is old\n", 0));
    let output = history(&server, &["--warnings-as-errors"]).await;
    assert_eq!(output.stderr, "Warning: this is old\nerror: 1 warning received\n");
    output.ends(1);
    assert!(output.stdout.starts_with("deployment.apps/web"), "the command still prints its result");
}

/// The documents have the exit code of the process.
#[tokio::test]
async fn a_server_warning_counts_in_the_summary() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::any(), FaultAction::Warn("this is old".into())));
    let args = ["status", "deployment/web", "-o", "json", "--warnings-as-errors"];
    let output = server.command(args).run_async().await;
    let mut documents = output.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let summary = documents.find(|document| document["event"] == "summary").unwrap();
    assert_eq!((&summary["exitCode"], output.exit), (&json!(1), 1), "{}", output.stdout);
}

#[tokio::test]
async fn an_empty_flag_is_ignored() {
    let server = Cluster::recorded("shop").served();
    for flag in [
        "--kubeconfig",
        "--kuberc",
        "--context",
        "--cluster",
        "--user",
        "--server",
        "--certificate-authority",
        "--tls-server-name",
        "--token",
        "--username",
        "--password",
        "--client-certificate",
        "--client-key",
        "--as",
        "--as-uid",
    ] {
        let output = history(&server, &[flag, ""]).await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{flag}");
    }
}

#[tokio::test]
async fn ignored_kubectl_flags_are_accepted() {
    let server = Cluster::recorded("shop").served();
    let flags = [
        "--cache-dir=/x",
        "--kuberc=off",
        "--log-flush-frequency=5s",
        "--match-server-version",
        "--profile=none",
        "--profile-output=p",
        "--vmodule=x=1",
    ];
    let output = history(&server, &flags).await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(server.lines().len(), 3);
}

#[tokio::test]
async fn a_silent_server_exceeds_the_request_timeout() {
    for protocols in Protocols::EACH {
        let server = Cluster::recorded("shop").served_with(ServerCertificate::Good, protocols);
        server.sim.fault(Fault::on(Requests::any(), FaultAction::Stall));
        let output = history(&server, &["--request-timeout", "200ms"]).await;
        assert!(
            output.stderr.contains("within 200ms") || output.stderr.contains("for 200ms"),
            "{}",
            output.stderr
        );
        output.ends(1);
        server.sim.clear_faults();
        server.sim.fault(Fault::on(Requests::any(), FaultAction::StallBody(40)));
        let output = history(&server, &["--request-timeout", "200ms"]).await;
        assert!(
            output.stderr.contains("200ms") && output.stderr.contains("--request-timeout"),
            "{}",
            output.stderr
        );
    }
    let server = Cluster::recorded("shop").served();
    let endless = format!("--request-timeout={}", u64::MAX);
    for (flags, exit) in [
        ([endless.as_str()], 0),
        (["--request-timeout=0"], 0),
        (["--request-timeout=x"], 2),
        (["--request-timeout=-1s"], 2),
    ] {
        let output = history(&server, &flags).await;
        assert_eq!(output.exit, exit, "{flags:?}: {}", output.stderr);
    }
}

#[tokio::test]
async fn ages_use_the_servers_clock() {
    let server = Cluster::recorded("shop").served();
    // The clock of the test is at the epoch, before any object was created.
    let output = history(&server, &[]).await;
    let ages = output.stdout.lines().skip(2).map(|line| line.split_whitespace().nth(1).unwrap().to_owned());
    assert!(ages.into_iter().all(|age| age != "0s" && age != "<invalid>"), "{}", output.stdout);
}
