//! Credential plugins: shell scripts with valid and invalid output, failures and timeouts.

use harness::prelude::*;

use crate::connection::failures::fails;
use harness::files::{directory, file, program};

/// Returns a kubeconfig whose user runs this script as a plugin.
fn kubeconfig(server: &Cluster, script: &str) -> Value {
    with_exec(server, &json!({"command": "/bin/sh", "args": ["-c", script]}))
}

fn with_exec(server: &Cluster, exec: &Value) -> Value {
    let mut kubeconfig = server.kubeconfig();
    let mut user = json!({"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable"});
    user.as_object_mut().unwrap().extend(exec.as_object().unwrap().clone());
    kubeconfig["users"][0]["user"] = json!({"exec": user});
    kubeconfig
}

/// Returns `history deployment/web` with this script as a plugin.
fn history_with_plugin(server: &Cluster, script: &str) -> Run {
    let run = Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig(server, script));
    run.env("PATH", "/usr/bin:/bin")
}

/// Serves the shop to the token of [`token_script`].
fn served_with_token() -> Cluster {
    let server = Cluster::recorded("shop").served();
    server.sim.users(|users| users.grant_token("brought", "admin"));
    server
}

/// Returns a script that prints the token `brought`.
fn token_script() -> String {
    script_that_prints(&json!({"token": "brought"}))
}

/// Returns a script that prints a credential.
fn script_that_prints(status: &Value) -> String {
    let credential =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status});
    format!("cat <<'END'\n{credential}\nEND\n")
}

#[tokio::test]
async fn a_plugins_token_and_certificate_are_used() {
    let server = served_with_token();
    let with_token = kubeconfig(&server, &token_script());
    let output = Run::of(["history", "deployment/web"]).kubeconfig(&with_token).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(server.sim.requests()[0].header("authorization"), "Bearer brought");

    let (certificate, key) = server.server().client_certificate("admin").unwrap();
    let status = json!({"clientCertificateData": certificate, "clientKeyData": key});
    let output = history_with_plugin(&server, &script_that_prints(&status)).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn a_plugin_gets_our_environment_and_the_cluster() {
    let server = Cluster::recorded("shop").served();
    let printed = directory().join("told");
    let script = format!(
        "printf '%s|%s|%s' \"$MINE\" \"$HOME\" \"$KUBERNETES_EXEC_INFO\" > {}; exit 1",
        printed.display()
    );
    let mut kubeconfig = kubeconfig(&server, &script);
    let exec = &mut kubeconfig["users"][0]["user"]["exec"];
    exec["env"] = json!([{"name": "MINE", "value": "7"}]);
    exec["provideClusterInfo"] = json!(true);
    Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig).env("HOME", "/nowhere").run_async().await;
    let printed = std::fs::read_to_string(printed).unwrap();
    let [mine, home, info] = printed.splitn(3, '|').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((mine, home), ("7", "/nowhere"));
    let info: Value = serde_json::from_str(info).unwrap();
    assert_eq!(info["kind"], "ExecCredential");
    assert_eq!(info["apiVersion"], "client.authentication.k8s.io/v1");
    assert_eq!(info["spec"]["interactive"], false);
    assert_eq!(info["spec"]["cluster"]["server"], server.server().url());
    assert!(info["spec"]["cluster"]["certificate-authority-data"].is_string());
}

#[tokio::test]
async fn a_plugin_runs_once_for_three_requests() {
    let server = served_with_token();
    let runs = directory().join("runs");
    let script = format!("echo run >> {}\n{}", runs.display(), token_script());
    let output = history_with_plugin(&server, &script).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(runs).unwrap(), "run\n");
}

#[tokio::test]
async fn a_plugin_runs_again_after_a_401_or_expiry() {
    let server = Cluster::recorded("shop").served();
    server.sim.users(|users| users.grant_token("t", "admin"));
    let runs = directory().join("runs");
    // Each run prints another token; all but the first are valid.
    let script = |rest: &str| {
        format!(
            "echo run >> {runs}; N=$(wc -l < {runs}); test $N = 1 && T=stale || T=t\n\
             echo '{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"'$T'\"{rest}}}}}'",
            runs = runs.display()
        )
    };
    let output = history_with_plugin(&server, &script("")).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 2);
    assert_eq!(server.lines().len(), 4, "three requests, and the one with the refused token");

    // Two requests that are refused at the same time share the new token.
    std::fs::remove_file(&runs).unwrap();
    let run = Run::of(["history", "deployment/web", "statefulset/db"]);
    let run = run.kubeconfig(&kubeconfig(&server, &script(""))).env("PATH", "/usr/bin:/bin");
    let output = run.run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 2);

    // A credential that is expired by the server's clock is not sent.
    std::fs::write(&runs, "run\n").unwrap();
    server.sim.forget_requests();
    let ended_long_ago = script(", \"expirationTimestamp\": \"2001-01-01T00:00:00Z\"");
    let output = history_with_plugin(&server, &ended_long_ago).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 1 + 3, "one run for each request");
    let connections: Vec<_> = server.sim.requests().iter().map(|request| request.connection).collect();
    assert!(connections.windows(2).all(|pair| pair[0] == pair[1]), "the same token keeps the connection");
}

#[tokio::test]
async fn a_401_with_a_new_credential_is_an_error() {
    let server = Cluster::recorded("shop").served();
    server.sim.fault(Fault::on(Requests::any(), FaultAction::Refuse(Refusal::unauthorized())));
    fails(
        &kubeconfig(&server, &script_that_prints(&json!({"token": "t"}))),
        "does not accept the credentials",
        "log in again",
    )
    .await;
}

/// Two requests are refused at the same time.
#[tokio::test]
async fn a_plugin_runs_once_for_several_401s() {
    let server = Cluster::recorded("shop").served();
    let runs = directory().join("runs");
    let script = format!("echo run >> {}\n{}", runs.display(), script_that_prints(&json!({"token": "t"})));
    let run = Run::of(["history", "deployment/web", "statefulset/db"]);
    let run = run.kubeconfig(&kubeconfig(&server, &script)).env("PATH", "/usr/bin:/bin");
    run.run_async().await.ends(1);
    assert_eq!(std::fs::read_to_string(&runs).unwrap().lines().count(), 2);
    assert_eq!(server.lines().len(), 2);
}

/// As in Go. The PATH in the kubeconfig is that of the plugin.
#[tokio::test]
async fn a_plugin_is_found_in_our_path() {
    let server = served_with_token();
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "brought"}});
    let plugin = program("log-in", &format!("echo '{credential}'"));
    let path = json!([{"name": "PATH", "value": "/nowhere"}]);
    let run = Run::of(["history", "deployment/web"])
        .kubeconfig(&with_exec(&server, &json!({"command": "log-in", "env": path})));
    let output = run.env("PATH", plugin.parent().unwrap()).run_async().await;
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn a_missing_plugin_is_an_error() {
    let server = Cluster::recorded("shop").served();
    let plugin = program("log-in", "exit 1");
    let path = json!([{"name": "PATH", "value": plugin.parent().unwrap()}]);
    let only_there = json!({"command": "log-in", "env": path});
    fails(
        &with_exec(&server, &only_there),
        "the credential plugin \"log-in\" is not installed",
        "install it",
    )
    .await;
    fails(
        &with_exec(&server, &json!({"command": "no-such-plugin"})),
        "the credential plugin \"no-such-plugin\" is not installed",
        "install it",
    )
    .await;
    fails(
        &with_exec(&server, &json!({"command": "no-such-plugin", "installHint": "brew install it"})),
        "is not installed",
        "brew install it",
    )
    .await;
    let not_executable = file("plugin", "");
    fails(&with_exec(&server, &json!({"command": not_executable})), "cannot be run", "by hand").await;
}

#[tokio::test]
async fn an_install_hint_keeps_its_lines() {
    let server = Cluster::recorded("shop").served();
    let hint = "Install it:\n\n  brew install log-in\r\nor see\thttps://log-in.example/\u{1b}[31m\n";
    let exec = json!({"command": "no-such-plugin", "installHint": hint});
    let output =
        Run::of(["history", "deployment/web"]).kubeconfig(&with_exec(&server, &exec)).run_async().await;
    let lines = "hint: Install it:\n  brew install log-in\n  or see\\thttps://log-in.example/^[[31m\n";
    output.reports_last(lines).ends(1);
}

#[tokio::test]
async fn a_failing_plugin_is_an_error() {
    let server = Cluster::recorded("shop").served();
    let script = "echo 'session expired' >&2; exit 3";
    let output = history_with_plugin(&server, script).run_async().await;
    assert_eq!(
        output.stderr,
        "session expired\n\
         error: the credential plugin \"/bin/sh\" failed with exit code 3: session expired\n\
         hint: you may have to log in again; to see what it needs, run it by hand: /bin/sh\n"
    );
    output.ends(1);
    fails(&kubeconfig(&server, "exit 3"), "failed with exit code 3", "by hand").await;
}

/// Its stderr is read to the end, as bytes. Otherwise SIGPIPE kills the plugin.
#[tokio::test]
async fn a_plugin_may_write_anything_to_stderr() {
    let server = served_with_token();
    let credential = token_script();
    let long = "yes 0123456789abcde | head -c 3000000 >&2";
    for stderr in ["printf 'caf\\351\\n' >&2; sleep 0.2; echo ready >&2", long, "printf '%02000000d' 1 >&2"] {
        let output = history_with_plugin(&server, &format!("{stderr}\n{credential}")).run_async().await;
        assert_eq!(output.exit, 0, "{stderr}: {}", output.stderr.lines().last().unwrap_or_default());
        assert!(output.stderr.len() < 3 << 19, "{stderr}: {}", output.stderr.len());
        assert_eq!(output.stderr.contains("caf\u{fffd}\nready\n"), stderr.contains("caf"));
    }
}

/// kubectl gets the credential that is already there in a private file: no argument has a secret, and the plugin does not
/// run again.
#[tokio::test]
async fn preview_gives_kubectl_the_credential_in_a_private_kubeconfig() {
    let server = served_with_token();
    let here = directory();
    let (runs, seen) = (here.join("runs"), here.join("seen"));
    let script = format!("echo run >> {}\n{}", runs.display(), token_script());
    let kubectl = program(
        "kubectl",
        &format!(
            "for word; do echo \"$word\" >> {0}.args; case $word in --kubeconfig=*) file=${{word#*=}};; esac; done\n\
             cat \"$file\" > {0}; ls -lL \"$file\" | cut -c 1-10 > {0}.mode; echo \"$file\" > {0}.path; exit 1",
            seen.display()
        ),
    );
    let args = ["preview", "-f", "Cargo.toml"];
    for (more, credential) in [(&[][..], "brought"), (&["--token", "flag"], "flag")] {
        let _ = std::fs::remove_file(&runs);
        let run = Run::of(args).kubeconfig(&kubeconfig(&server, &script)).args(more);
        run.env("KUBECTL", &kubectl).env("PATH", "/usr/bin:/bin").run_async().await.ends(1);
        let read = |suffix: &str| std::fs::read_to_string(format!("{}{suffix}", seen.display())).unwrap();
        let given: Value = serde_json::from_str(&read("")).unwrap();
        assert_eq!(given["users"][0]["user"]["token"], credential);
        assert!(given["users"][0]["user"]["exec"].is_null());
        assert_eq!(given["clusters"][0]["cluster"]["server"], server.server().url());
        assert_eq!(given["contexts"][0]["context"]["namespace"], "shop");
        assert!(!read(".args").contains(credential), "{}", read(".args"));
        assert_eq!(read(".mode").trim(), "-rw-------");
        let path = read(".path");
        let is_descriptor = path.starts_with("/proc/self/fd/");
        assert!(is_descriptor || !std::path::Path::new(path.trim()).exists(), "{path}");
        let count = std::fs::read_to_string(&runs).unwrap_or_default().lines().count();
        assert_eq!(count, usize::from(more.is_empty()));
    }
}

/// A list reads several types at once.
#[tokio::test]
async fn a_failing_plugin_runs_once_for_one_list() {
    let server = Cluster::recorded("shop").served();
    let runs = directory().join("runs");
    let kubeconfig = kubeconfig(&server, &format!("echo run >> {}; echo no >&2; exit 3", runs.display()));
    let output = Run::of(["list"]).kubeconfig(&kubeconfig).run_async().await;
    let error = "no\nerror: the credential plugin \"/bin/sh\" failed with exit code 3: no\nhint: ";
    assert!(output.stderr.starts_with(error), "{}", output.stderr);
    assert_eq!((output.stderr.lines().count(), output.exit), (3, 1), "{}", output.stderr);
    assert_eq!(std::fs::read_to_string(runs).unwrap(), "run\n");
}

/// A credential is renewed ten seconds ahead of its expiry. The old one is used if that fails.
#[tokio::test]
async fn a_failed_early_renewal_keeps_the_credential() {
    let server = served_with_token();
    let runs = directory().join("runs");
    let now: k8s_openapi::jiff::Timestamp = server.sim.store(|store| store.now());
    let script = |seconds: i64| {
        let expires = k8s_openapi::jiff::Timestamp::from_second(now.as_second() + seconds).unwrap();
        let status = json!({"token": "brought", "expirationTimestamp": expires.to_string()});
        format!("test -e {0} && exit 3\necho run >> {0}\n{1}", runs.display(), script_that_prints(&status))
    };
    for (seconds, exit) in [(9, 0), (-5, 1)] {
        let output = history_with_plugin(&server, &script(seconds)).run_async().await;
        assert_eq!(output.exit, exit, "{seconds}: {}", output.stderr);
        std::fs::remove_file(&runs).unwrap();
    }
}

#[tokio::test]
async fn a_token_on_a_plugins_stderr_is_not_printed() {
    let server = Cluster::recorded("shop").served();
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJnaW5hIn0.c2lnbmF0dXJl";
    let script = format!("echo {token} >&2; echo 'got {token}' >&2; exit 3");
    for more in [&[][..], &["-v", "10"]] {
        let run = history_with_plugin(&server, &script).args(more);
        let output = run.run_async().await;
        assert!(!output.transcript.contains("eyJ"), "{}", output.transcript);
        assert!(output.stderr.starts_with("***\ngot ***\n"), "{}", output.stderr);
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
    // The shell raises the limit of core dumps, so that the program has to lower it.
    let script = "ulimit -S -c \"$(ulimit -H -c)\"; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_kubectl-rollout2"), "history", "deployment/web"]);
    command.env("KUBECONFIG", kubeconfig).output().unwrap();
    assert_eq!(std::fs::read_to_string(limit).unwrap(), "0\n");
}

#[tokio::test(start_paused = true)]
async fn a_hanging_plugin_times_out() {
    let server = Cluster::recorded("shop").served();
    // `read` from a pipe that stays open; a plugin without a terminal gets empty input.
    let fifo = directory().join("fifo");
    let script = format!("mkfifo {0}; exec cat {0}", fifo.display());
    let output = Run::of(["history", "deployment/web", "--request-timeout", "5s"])
        .kubeconfig(&kubeconfig(&server, &script))
        .env("PATH", "/usr/bin:/bin")
        .run_async()
        .await;
    let note = "note: waiting up to 5s for the credential plugin /bin/sh\n";
    assert!(
        output
            .stderr
            .starts_with(&format!("{note}error: the credential plugin \"/bin/sh\" did not finish within 5s")),
        "{}",
        output.stderr
    );
    assert_eq!((output.exit, server.lines().len()), (1, 0));
}

#[tokio::test]
async fn invalid_plugin_output_is_not_printed() {
    let server = Cluster::recorded("shop").served();
    for (script, why) in [
        ("echo secret-rubbish", "it printed no JSON object"),
        ("true", "it printed no JSON object"),
        ("printf '\\377\\376'", "it printed no JSON object"),
        ("echo '{\"kind\": \"Secret\", \"token\": \"secret-rubbish\"}'", "not an ExecCredential"),
        (
            "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1beta1\"}'",
            "its version is not \"client.authentication.k8s.io/v1\"",
        ),
        (
            "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {}}'",
            "neither a token nor a certificate",
        ),
    ] {
        let kubeconfig = kubeconfig(&server, script);
        fails(&kubeconfig, why, "by hand").await;
        let output = Run::of(["history", "deployment/web"]).kubeconfig(&kubeconfig).run_async().await;
        assert!(!output.stderr.contains("secret-rubbish"), "{}", output.stderr);
    }
}

#[tokio::test]
async fn background_processes_of_a_plugin_are_not_awaited() {
    let server = served_with_token();
    // The helper keeps its stderr open until the test ends.
    let fifo = directory().join("fifo");
    let script = format!("mkfifo {0}; cat {0} >/dev/null &\n{1}", fifo.display(), token_script());
    let output = history_with_plugin(&server, &script).run_async().await;
    std::fs::OpenOptions::new().write(true).open(fifo).unwrap();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[tokio::test]
async fn an_interactive_plugin_gets_the_terminal() {
    let server = Cluster::recorded("shop").served();
    let kubeconfig = with_exec(&server, &json!({"command": "/bin/sh", "interactiveMode": "Always"}));
    fails(&kubeconfig, "standard input is not a terminal", "run this in a terminal").await;
}
