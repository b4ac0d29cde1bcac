//! Which kubeconfig files are read, and their format.

use harness::prelude::*;

use harness::files::{directory, file};

const HISTORY: [&str; 2] = ["history", "deployment/web"];

#[tokio::test]
async fn missing_files_of_the_list_are_skipped_and_the_first_value_wins() {
    let (first, second) = (Cluster::recorded("shop").served(), Cluster::recorded("shop").served());
    let [one, two] = [&first, &second].map(|server| file("config", &server.kubeconfig().to_string()));
    let list = format!("/does/not/exist:{}:{}:", one.display(), two.display());
    let output = Run::of(HISTORY).env("KUBECONFIG", list).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!((first.lines().len(), second.lines().len()), (3, 0));
}

#[tokio::test]
async fn the_default_kubeconfig_is_read_unless_the_variable_is_set() {
    let server = Cluster::recorded("shop").served();
    let home = directory();
    std::fs::create_dir(home.join(".kube")).unwrap();
    std::fs::write(home.join(".kube/config"), server.kubeconfig().to_string()).unwrap();
    Run::of(HISTORY).env("HOME", &home).run_async().await.ends(0);
    assert_eq!(server.lines().len(), 3);
    let output = Run::of(HISTORY).env("HOME", &home).env("KUBECONFIG", "/does/not/exist").run_async().await;
    let why = "no cluster is configured: the file /does/not/exist in $KUBECONFIG does not exist";
    output.reports(why).ends(2);
    let line = ["list", "--server", "https://127.0.0.1:1", "--request-timeout", "100ms"];
    let output = Run::of(line).env("HOME", &home).run_async().await;
    output.reports_last("the server comes from --server\n");
}

#[tokio::test]
async fn paths_in_a_kubeconfig_are_relative_to_it() {
    let server = Cluster::recorded("shop").served();
    let home = directory();
    let (certificate, key) = server.server().client_certificate("admin").unwrap();
    for (name, text) in
        [("ca.crt", server.server().authority_certificate()), ("me.crt", certificate), ("me.key", key)]
    {
        std::fs::write(home.join(name), text).unwrap();
    }
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["clusters"][0]["cluster"] = json!({"server": server.server().url(), "certificate-authority": "ca.crt", "certificate-authority-data": ""});
    kubeconfig["users"][0]["user"] =
        json!({"client-certificate": "me.crt", "client-key": "./me.key", "token": ""});
    std::fs::write(home.join("config"), kubeconfig.to_string()).unwrap();
    let output = Run::of(HISTORY).env("KUBECONFIG", home.join("config")).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn the_newline_of_a_token_file_is_removed() {
    let server = Cluster::recorded("shop").served();
    let token = file("token", "first\n");
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["users"][0]["user"] = json!({"tokenFile": token});
    server.sim.users(|users| users.grant_token("first", "admin"));
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(server.sim.requests()[0].header("authorization"), "Bearer first");

    server.sim.forget_requests();
    kubeconfig["users"][0]["user"]["token"] = json!("stale");
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "`tokenFile` has precedence over `token`");
    assert_eq!(server.sim.requests()[0].header("authorization"), "Bearer first");

    std::fs::remove_file(token).unwrap();
    kubeconfig["users"][0]["user"]["token"] = json!("first");
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert_eq!(
        (output.stderr.as_str(), output.exit),
        ("", 0),
        "`token` is used if `tokenFile` does not exist"
    );

    kubeconfig["users"][0]["user"].as_object_mut().unwrap().remove("token");
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert!(output.stderr.starts_with("error: cannot read the token file"), "{}", output.stderr);
    output.ends(1);
}

/// Refuses the first request with 401, and does something just before.
fn refuse_first(server: &Cluster, act: impl Fn() + Send + Sync + 'static) {
    let before = FaultAction::write_before(move |_| act());
    for action in [before, FaultAction::Refuse(Refusal::unauthorized())] {
        server.sim.fault(Fault::on(Requests::any(), action).once());
    }
}

#[tokio::test]
async fn client_certificates_are_read_again_after_a_401() {
    let gina = User::limited("gina", [Rule::allow(&["get"], &["namespaces"])]);
    let server = Cluster::recorded("shop").user(gina).served();
    let (old, new) = (
        server.server().client_certificate("gina").unwrap(),
        server.server().client_certificate("admin").unwrap(),
    );
    let (certificate, key) = (file("me.crt", &old.0), file("me.key", &old.1));
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["users"][0]["user"] = json!({"client-certificate": certificate, "client-key": key});
    refuse_first(&server, move || {
        std::fs::write(&certificate, &new.0).unwrap();
        std::fs::write(&key, &new.1).unwrap();
    });
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

/// A kubelet or a sync job may replace a file at any moment.
#[tokio::test]
async fn a_token_file_that_is_unreadable_for_a_moment_keeps_its_token() {
    let server = Cluster::recorded("shop").served();
    let mut kubeconfig = server.kubeconfig();
    let token = file("token", " \n");
    kubeconfig["users"][0]["user"] = json!({"tokenFile": token});
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    output.ends(1).reports("error: cannot read the token file").reports(": it is empty\n");
    assert_eq!(server.sim.requests().len(), 0);

    for is_removed in [false, true] {
        let token = file("token", "first");
        kubeconfig["users"][0]["user"] = json!({"tokenFile": token});
        refuse_first(&server, move || {
            if is_removed {
                std::fs::remove_file(&token).unwrap();
            } else {
                std::fs::write(&token, "").unwrap();
            }
        });
        let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
        output.ends(1).reports("does not accept the credentials");
    }
    let tokens =
        server.sim.requests().iter().map(|one| one.header("authorization").to_owned()).collect::<Vec<_>>();
    assert_eq!(tokens, ["Bearer first"; 2]);
}

/// The exit code of a file error would say that nothing was written.
#[tokio::test]
async fn a_file_that_is_gone_at_a_renewal_is_no_wrong_argument() {
    let server = Cluster::recorded("shop").served();
    let authority = file("ca.crt", &server.server().authority_certificate());
    let token = file("token", "first");
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["clusters"][0]["cluster"] =
        json!({"server": server.server().url(), "certificate-authority": authority});
    kubeconfig["users"][0]["user"] = json!({"tokenFile": token});
    refuse_first(&server, move || {
        std::fs::write(&token, "second").unwrap();
        std::fs::remove_file(&authority).unwrap();
    });
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    output.ends(1);
    output.reports("error: the credentials cannot be renewed: cannot read the certificate authority ");
}

#[tokio::test]
async fn an_invalid_kubeconfig_is_a_one_line_file_error() {
    for text in ["{", "clusters: 7", "- a\n- b", "\u{0}"] {
        let output = Run::of(HISTORY).env("KUBECONFIG", file("config", text)).run_async().await;
        assert_eq!((output.stdout.as_str(), output.exit), ("", 2), "{text}: {}", output.stderr);
        assert_eq!(output.stderr.lines().count(), 1, "{text}: {}", output.stderr);
    }
    for (flag, hint) in
        [("--context", "get-contexts"), ("--cluster", "get-clusters"), ("--user", "get-users")]
    {
        let output =
            Cluster::recorded("shop").served().command(HISTORY).arg(flag).arg("nope").run_async().await;
        assert!(output.stderr.contains("\"nope\"") && output.stderr.contains(hint), "{}", output.stderr);
        output.ends(2);
    }
    let output = Run::of(HISTORY).arg("--kubeconfig").arg("/does/not/exist").run_async().await;
    output.reports("/does/not/exist does not exist").ends(2);
}

/// The printed commands have a namespace, and would reach the current context as its user.
#[tokio::test]
async fn each_printed_command_repeats_the_flags_that_chose_the_cluster_and_the_user() {
    for (has_file, more) in
        [(true, "--context CONTEXT"), (false, "--context CONTEXT --as admin --as-group ops"), (false, "")]
    {
        let server = Cluster::recorded("broken").served();
        let kubeconfig = server.kubeconfig();
        let path = file("my config", &kubeconfig.to_string());
        let context = kubeconfig["contexts"][0]["name"].as_str().unwrap();
        let more = more.replace("CONTEXT", context);
        let run = |words: &[&str]| {
            let run = Run::of(words).kubeconfig(&kubeconfig).args(more.split_whitespace());
            if has_file { run.arg("--kubeconfig").arg(&path) } else { run }
        };
        let flags =
            if has_file { format!(" --kubeconfig '{}' {more}", path.display()) } else { format!(" {more}") };
        let flags = flags.trim_end();
        let output = run(&["restart", "deployment/badimage", "-n", "broken"]).run_async().await;
        output
            .reports(&format!(
                "to take this back: kubectl rollout2 undo{flags} deployment/badimage -n broken --to "
            ))
            .ends(0);
        let output = run(&[
            "list",
            "deploy",
            "-n",
            "broken",
            "-o",
            "json",
            "--state",
            "progressing,stuck,failed,held",
        ])
        .run_async()
        .await;
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let hints: Vec<_> =
            document["items"].as_array().unwrap().iter().filter_map(|item| item["hint"].as_str()).collect();
        let own = hints.iter().filter(|hint| hint.contains("kubectl rollout2 "));
        assert!(own.clone().count() > 0, "{}", output.stdout);
        for hint in own {
            assert!(
                ["undo", "resume"]
                    .iter()
                    .any(|verb| hint.contains(&format!("kubectl rollout2 {verb}{flags} "))),
                "{hint}"
            );
        }
        assert!(
            !output.stderr.contains(" below need "),
            "without a command in a result: {}",
            output.transcript
        );
    }
}

/// A log line and an object of Kubernetes are no commands of this program.
#[tokio::test]
async fn the_flags_change_no_text_of_the_cluster() {
    let server = Cluster::recorded("shop").served();
    let kubeconfig = server.kubeconfig();
    let context = kubeconfig["contexts"][0]["name"].as_str().unwrap();
    let cause = "kubectl rollout2 undo web";
    let run = Run::of([
        "restart",
        "deployment/web",
        "-n",
        "shop",
        "--cause",
        cause,
        "-o",
        "json",
        "--context",
        context,
    ]);
    let output = run.kubeconfig(&kubeconfig).run_async().await;
    let object: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(object["metadata"]["annotations"]["kubernetes.io/change-cause"], cause);
}

/// The row of a paused workload has the command that resumes it.
#[tokio::test]
async fn the_note_is_printed_before_a_command_in_a_result_too() {
    let server = Cluster::recorded("shop").served();
    server.command(["pause", "deployment/web"]).run_async().await.ends(0);
    crate::writes::observe(&server.sim, &crate::writes::web());
    let kubeconfig = server.kubeconfig();
    let context = kubeconfig["contexts"][0]["name"].as_str().unwrap();
    for terminal in [false, true] {
        let list = Run::of(["list", "deploy", "-n", "shop", "--context", context]).kubeconfig(&kubeconfig);
        let list = if terminal { list.terminal(120, 40) } else { list };
        let output = list.run_async().await;
        let (_, after) = output.transcript.split_once("below need --context").unwrap_or_default();
        assert!(after.contains("kubectl rollout2 resume deployment/web"), "{}", output.transcript);
    }
}

#[tokio::test]
async fn removed_auth_providers_are_refused_with_a_hint() {
    let server = Cluster::recorded("shop").served();
    for (provider, hint) in
        [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin"), ("magic", "users[].user.exec")]
    {
        let mut kubeconfig = server.kubeconfig();
        kubeconfig["users"][0]["user"] = json!({"auth-provider": {"name": provider}});
        let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
        output.reports(hint).ends(1);
    }
}

#[tokio::test]
async fn an_oidc_token_is_sent() {
    let server = Cluster::recorded("shop").served();
    // {"alg":"none"} . {"exp":4102444800} . nothing
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.";
    server.sim.users(|users| users.grant_token(token, "admin"));
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["users"][0]["user"] =
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}});
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(server.sim.requests()[0].header("authorization"), format!("Bearer {token}"));
}

/// Nothing is sent, so that a write is certainly not made.
#[tokio::test]
async fn an_oidc_token_that_cannot_be_renewed_is_an_error() {
    let server = Cluster::recorded("shop").served();
    // {"alg":"none"} . {"exp":1} . nothing
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjF9.";
    let mut kubeconfig = server.kubeconfig();
    kubeconfig["users"][0]["user"] =
        json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}});
    let output = Run::of(HISTORY).kubeconfig(&kubeconfig).run_async().await;
    let error = "error: the OpenID Connect token cannot be renewed: missing field idp-issuer-url\n\
                 hint: log in again; the token comes from context ";
    assert!(output.stderr.starts_with(error), "{}", output.stderr);
    assert_eq!((output.exit, server.sim.requests().len()), (1, 0));
}

/// Windows PowerShell 5 writes such files with `>`.
#[tokio::test]
async fn files_in_utf16_are_read() {
    let encoded = |text: &str, is_big_endian: bool| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes = |unit: u16| if is_big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        units.flat_map(bytes).collect::<Vec<u8>>()
    };
    let server = Cluster::recorded("shop").served();
    let directory = directory();
    let written = |name: &str, bytes: Vec<u8>| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for is_big_endian in [false, true] {
        let kubeconfig = written("config", encoded(&server.kubeconfig().to_string(), is_big_endian));
        let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
        let manifest = written("web.yaml", encoded(manifest, is_big_endian));
        let run = Run::of(["history", "-f"]).arg(&manifest).env("KUBECONFIG", kubeconfig);
        let output = run.run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{}", output.transcript);
    }
    let shop = encoded(&harness::snapshot("shop").to_string(), false);
    let snapshot = written("shop.json", shop.clone());
    Run::of(["list", "--from"]).arg(&snapshot).run_async().await.prints("deployment/web").ends(0);
    Run::of(["list", "--from", "-"]).stdin(shop).run_async().await.prints("deployment/web").ends(0);
    let odd = written("odd.yaml", b"\xff\xfek\x00i".to_vec());
    Run::of(["list", "--from"]).arg(&odd).run_async().await.reports("odd.yaml is not UTF-8 text").ends(2);
}

/// kubectl takes a null for an absent value, and the last of two equal keys.
#[tokio::test]
async fn nulls_and_repeated_keys_mean_what_they_mean_to_kubectl() {
    let server = Cluster::recorded("shop").served();
    server.sim.users(|users| users.grant_token("brought", "admin"));
    let mut kubeconfig = server.kubeconfig();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "brought"}});
    let script = format!("[ \"${{A-unset}}\" = '' ] && echo '{credential}'");
    kubeconfig["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script],
        "env": [{"name": "A", "value": null}], "interactiveMode": "Never", "provideClusterInfo": null,
        "installHint": null,
    }});
    kubeconfig["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = Value::Null;
    kubeconfig["contexts"][0]["context"]["extensions"] = Value::Null;
    kubeconfig["preferences"] = Value::Null;
    let text = kubeconfig.to_string();
    let repeated = text.replacen('{', "{\"users\": [], \"current-context\": \"gone\", ", 1);
    for text in [text, repeated] {
        let output = Run::of(HISTORY).env("KUBECONFIG", file("config", &text)).run_async().await;
        assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{text}");
    }
}
