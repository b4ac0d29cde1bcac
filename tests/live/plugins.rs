//! Credential plugins: shell scripts that behave well or badly.

use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::refusal::Refusal;

use crate::failures::fails;
use crate::setup::{Ground, directory, file, run_with};

/// A kubeconfig whose user runs this script.
fn kubeconfig(ground: &Ground, script: &str) -> Value {
    with_exec(ground, &json!({"command": "/bin/sh", "args": ["-c", script]}))
}

fn with_exec(ground: &Ground, exec: &Value) -> Value {
    let mut kubeconfig = ground.kubeconfig();
    let mut user = json!({"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable"});
    user.as_object_mut().unwrap().extend(exec.as_object().unwrap().clone());
    kubeconfig["users"][0]["user"] = json!({"exec": user});
    kubeconfig
}

/// A script that prints a credential.
fn printing(status: &Value) -> String {
    let credential =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status});
    format!("cat <<'END'\n{credential}\nEND\n")
}

const CANNOT: &str = "Unable to connect to the server: getting credentials: ";

#[tokio::test]
async fn a_plugins_token_and_certificate_are_used() {
    let ground = Ground::of("shop");
    ground.cluster.users(|users| users.grant_token("brought", "admin", None));
    let with_token = kubeconfig(&ground, &printing(&json!({"token": "brought"})));
    let ended = run_with(&with_token, ["history", "deployment/web"]).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(ground.cluster.requests()[0].header("authorization"), "Bearer brought");

    let (certificate, key) = ground.served.client_certificate("admin").unwrap();
    let status = json!({"clientCertificateData": certificate, "clientKeyData": key});
    let ended =
        run_with(&kubeconfig(&ground, &printing(&status)), ["history", "deployment/web"]).run_here().await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
}

#[tokio::test]
async fn a_plugin_gets_our_environment_and_the_cluster() {
    let ground = Ground::of("shop");
    let printed = directory().join("told");
    let script = format!(
        "printf '%s|%s|%s' \"$MINE\" \"$HOME\" \"$KUBERNETES_EXEC_INFO\" > {}; exit 1",
        printed.display()
    );
    let mut kubeconfig = kubeconfig(&ground, &script);
    let exec = &mut kubeconfig["users"][0]["user"]["exec"];
    exec["env"] = json!([{"name": "MINE", "value": "7"}]);
    exec["provideClusterInfo"] = json!(true);
    run_with(&kubeconfig, ["history", "deployment/web"]).env("HOME", "/nowhere").run_here().await;
    let printed = std::fs::read_to_string(printed).unwrap();
    let [mine, home, info] = printed.splitn(3, '|').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((mine, home), ("7", "/nowhere"));
    let info: Value = serde_json::from_str(info).unwrap();
    assert_eq!(info["kind"], "ExecCredential");
    assert_eq!(info["apiVersion"], "client.authentication.k8s.io/v1");
    assert_eq!(info["spec"]["interactive"], false);
    assert_eq!(info["spec"]["cluster"]["server"], ground.served.url());
    assert!(info["spec"]["cluster"]["certificate-authority-data"].is_string());
}

#[tokio::test]
async fn a_plugin_runs_once_for_three_requests() {
    let ground = Ground::of("shop");
    ground.cluster.users(|users| users.grant_token("brought", "admin", None));
    let runs = directory().join("runs");
    let script = format!("echo run >> {}\n{}", runs.display(), printing(&json!({"token": "brought"})));
    let ended = run_with(&kubeconfig(&ground, &script), ["history", "deployment/web"])
        .env("PATH", "/usr/bin:/bin")
        .run_here()
        .await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(runs).unwrap(), "run\n");
}

#[tokio::test]
async fn a_plugin_runs_again_after_a_401_or_expiry() {
    let ground = Ground::of("shop");
    ground.cluster.users(|users| users.grant_token("t", "admin", None));
    let runs = directory().join("runs");
    // Each run prints another token; all but the first are valid.
    let script = |rest: &str| {
        format!(
            "echo run >> {runs}; N=$(wc -l < {runs}); test $N = 1 && T=stale || T=t\n\
             echo '{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"'$T'\"{rest}}}}}'",
            runs = runs.display()
        )
    };
    let ended = run_with(&kubeconfig(&ground, &script("")), ["history", "deployment/web"])
        .env("PATH", "/usr/bin:/bin")
        .run_here()
        .await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 2);
    assert_eq!(ground.lines().len(), 4, "one more than three: the refused one");

    // A credential that is expired by the server's clock is not sent.
    std::fs::write(&runs, "run\n").unwrap();
    ground.cluster.forget_requests();
    let ended_long_ago = script(", \"expirationTimestamp\": \"2001-01-01T00:00:00Z\"");
    let ended = run_with(&kubeconfig(&ground, &ended_long_ago), ["history", "deployment/web"])
        .env("PATH", "/usr/bin:/bin")
        .run_here()
        .await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 1 + 3, "one run a request");
    let connections: Vec<_> = ground.cluster.requests().iter().map(|request| request.connection).collect();
    assert!(connections.windows(2).all(|pair| pair[0] == pair[1]), "the same token keeps the connection");
}

#[tokio::test]
async fn a_401_with_a_new_credential_is_an_error() {
    let ground = Ground::of("shop");
    ground.cluster.fault(Fault::on(Requests::any(), FaultAction::Refuse(Refusal::unauthorized())));
    fails(
        &kubeconfig(&ground, &printing(&json!({"token": "t"}))),
        "does not accept the credentials",
        "log in again",
        "error: You must be logged in to the server (Unauthorized)",
    )
    .await;
}

#[tokio::test]
async fn a_missing_plugin_is_an_error() {
    let ground = Ground::of("shop");
    fails(
        &with_exec(&ground, &json!({"command": "no-such-plugin"})),
        "the credential plugin \"no-such-plugin\" is not installed",
        "install it",
        &format!("{CANNOT}exec: executable no-such-plugin not found\n\nIt looks like"),
    )
    .await;
    fails(
        &with_exec(&ground, &json!({"command": "no-such-plugin", "installHint": "brew install it"})),
        "is not installed",
        "brew install it",
        CANNOT,
    )
    .await;
    let not_executable = file("plugin", "");
    fails(&with_exec(&ground, &json!({"command": not_executable})), "cannot be run", "by hand", "error: ")
        .await;
}

#[tokio::test]
async fn a_failing_plugin_is_an_error() {
    let ground = Ground::of("shop");
    let script = "echo 'session expired' >&2; exit 3";
    let ended = run_with(&kubeconfig(&ground, script), ["history", "deployment/web"]).run_here().await;
    assert_eq!(
        ended.stderr,
        "session expired\n\
         error: the credential plugin \"/bin/sh\" failed with exit code 3: session expired\n\
         hint: you may have to log in again; to see what it needs, run it by hand: /bin/sh\n"
    );
    assert_eq!(ended.exit, 1);
    fails(
        &kubeconfig(&ground, "exit 3"),
        "failed with exit code 3",
        "by hand",
        &format!("{CANNOT}exec: executable /bin/sh failed with exit code 3\n"),
    )
    .await;
}

#[tokio::test]
async fn a_token_on_a_plugins_stderr_is_not_printed() {
    let ground = Ground::of("shop");
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJnaW5hIn0.c2lnbmF0dXJl";
    let script = format!("echo {token} >&2; echo 'got {token}' >&2; exit 3");
    for more in [&[][..], &["--compat"], &["-v", "10"]] {
        let run = run_with(&kubeconfig(&ground, &script), ["history", "deployment/web"]).args(more);
        let ended = run.run_here().await;
        assert!(!ended.transcript.contains("eyJ"), "{}", ended.transcript);
        assert!(ended.stderr.starts_with("***\ngot ***\n"), "{}", ended.stderr);
    }
}

#[test]
#[cfg(unix)]
fn no_core_dump_is_written() {
    let limit = directory().join("limit");
    let script = format!("ulimit -c > {}; exit 1", limit.display());
    let user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "/bin/sh", "args": ["-c", script]}});
    let kubeconfig = json!({
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    });
    let kubeconfig = file("kubeconfig", &kubeconfig.to_string());
    // The shell raises what it may, so that the program has something to lower.
    let script = "ulimit -S -c \"$(ulimit -H -c)\"; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_kubectl-rollout2"), "history", "deployment/web"]);
    command.env("KUBECONFIG", kubeconfig).output().unwrap();
    assert_eq!(std::fs::read_to_string(limit).unwrap(), "0\n");
}

#[tokio::test]
async fn a_hanging_plugin_times_out() {
    let ground = Ground::of("shop");
    // `read` from a pipe that stays open; a plugin without a terminal gets empty input.
    let fifo = directory().join("fifo");
    let script = format!("mkfifo {0}; exec cat {0}", fifo.display());
    let ended =
        run_with(&kubeconfig(&ground, &script), ["history", "deployment/web", "--request-timeout", "300ms"])
            .env("PATH", "/usr/bin:/bin")
            .run_here()
            .await;
    assert!(
        ended.stderr.starts_with("error: the credential plugin \"/bin/sh\" did not finish within 300ms"),
        "{}",
        ended.stderr
    );
    assert_eq!((ended.exit, ground.lines().len()), (1, 0));
}

#[tokio::test]
async fn invalid_plugin_output_is_not_printed() {
    let ground = Ground::of("shop");
    for (script, why) in [
        ("echo secret-rubbish", "it printed no JSON object"),
        ("true", "it printed no JSON object"),
        ("printf '\\377\\376'", "it printed no JSON object"),
        ("echo '{\"kind\": \"Secret\", \"token\": \"secret-rubbish\"}'", "not an ExecCredential"),
        (
            "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1beta1\"}'",
            "v1beta1",
        ),
        (
            "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {}}'",
            "neither a token nor a certificate",
        ),
    ] {
        let kubeconfig = kubeconfig(&ground, script);
        fails(&kubeconfig, why, "by hand", &format!("{CANNOT}decoding stdout: ")).await;
        let ended = run_with(&kubeconfig, ["history", "deployment/web"]).run_here().await;
        assert!(!ended.stderr.contains("secret-rubbish"), "{}", ended.stderr);
    }
}

#[tokio::test]
async fn background_processes_of_a_plugin_are_not_awaited() {
    let ground = Ground::of("shop");
    ground.cluster.users(|users| users.grant_token("brought", "admin", None));
    // The helper keeps its stderr open until the test ends.
    let fifo = directory().join("fifo");
    let script = format!(
        "mkfifo {0}; cat {0} >/dev/null &\n{1}",
        fifo.display(),
        printing(&json!({"token": "brought"}))
    );
    let args = ["history", "deployment/web", "--request-timeout", "5s"];
    let ended = run_with(&kubeconfig(&ground, &script), args).env("PATH", "/usr/bin:/bin").run_here().await;
    std::fs::OpenOptions::new().write(true).open(fifo).unwrap();
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
}

#[tokio::test]
async fn an_interactive_plugin_gets_the_terminal() {
    let ground = Ground::of("shop");
    let kubeconfig = with_exec(&ground, &json!({"command": "/bin/sh", "interactiveMode": "Always"}));
    fails(
        &kubeconfig,
        "standard input is not a terminal",
        "run this in a terminal",
        &format!("{CANNOT}exec plugin cannot support interactive mode: standard input is not a terminal\n"),
    )
    .await;
}
