//! Credentials: tokens, passwords, keys, certificates, plugin output and proxy passwords. No `-v` level prints
//! one, on success or on failure.

use std::path::Path;

use harness::files::file;
use harness::prelude::*;

/// The secret in every credential.
const SECRET: &str = "s3same";
/// The secret in base64, as in `-data` fields.
const ENCODED: &str = "czNzYW1l";

fn served() -> Cluster {
    let cluster = Cluster::recorded("shop").served();
    cluster.sim.users(|users| users.grant_token(SECRET, "admin"));
    cluster
}

fn exec(script: &str) -> Value {
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable",
        "command": "/bin/sh", "args": ["-c", script], "env": [{"name": "LOGIN_SECRET", "value": SECRET}]}})
}

fn plugin_that_prints(status: &Value) -> Value {
    let credential =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status});
    exec(&format!("cat <<'END'\n{credential}\nEND\n"))
}

/// Every kind of credential, each with the secret in it.
fn users() -> Vec<(&'static str, Value)> {
    let token = file("token", SECRET);
    let broken =
        file("key.pem", &format!("-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n"));
    let jwt = format!("e30.{ENCODED}.{SECRET}");
    vec![
        ("a token", json!({"token": SECRET})),
        ("a token that is no header", json!({"token": format!("{SECRET}\n{SECRET}")})),
        ("a token file", json!({"tokenFile": token})),
        ("a password", json!({"username": "u", "password": SECRET})),
        ("certificate and key data", json!({"client-certificate-data": ENCODED, "client-key-data": ENCODED})),
        (
            "data that is not base64",
            json!({"client-certificate-data": format!("?{SECRET}"), "client-key-data": format!("?{SECRET}")}),
        ),
        ("a key in a file", json!({"client-certificate": broken, "client-key": broken})),
        ("a plugin's token", plugin_that_prints(&json!({"token": SECRET}))),
        (
            "a plugin's key",
            plugin_that_prints(&json!({"clientCertificateData": SECRET, "clientKeyData": SECRET})),
        ),
        ("a plugin's rubbish", exec(&format!("echo {SECRET}"))),
        (
            "a truncated plugin response",
            exec(&format!("echo '{{\"kind\": \"ExecCredential\", \"token\": \"{SECRET}\"'")),
        ),
        ("a plugin's wrong types", plugin_that_prints(&json!({"token": [SECRET]}))),
        (
            "a plugin that prints a credential and fails",
            exec(&format!("echo {SECRET}; echo 'token: {SECRET}' >&2; exit 3")),
        ),
        (
            "a provider's tokens",
            json!({"auth-provider": {"name": "oidc", "config": {"id-token": jwt, "refresh-token": SECRET, "client-secret": SECRET, "idp-issuer-url": "https://127.0.0.1:1"}}}),
        ),
        (
            "an unknown provider",
            json!({"auth-provider": {"name": "azure", "config": {"access-token": SECRET}}}),
        ),
        ("a user that is a text", json!(SECRET)),
        ("a token that is a list", json!({"token": [SECRET]})),
        ("a password that is an object", json!({"password": {SECRET: SECRET}})),
    ]
}

fn with_user(kubeconfig: &Value, user: &Value) -> Value {
    let mut kubeconfig = kubeconfig.clone();
    kubeconfig["users"][0]["user"] = user.clone();
    kubeconfig
}

/// A connection that is refused is tried again until this limit.
const NOWHERE_LIMIT: &str = "100ms";

async fn assert_prints_no_secret(what: &str, run: Run) {
    let output = run.env("PATH", "/usr/bin:/bin").run_async().await;
    for secret in [SECRET, ENCODED, "Bearer ", "Basic "] {
        assert!(!output.transcript.contains(secret), "{what}: {}", output.transcript);
    }
}

#[tokio::test]
async fn no_credential_is_printed_at_any_verbosity() {
    let cluster = served();
    let kubeconfig = cluster.kubeconfig();
    for (what, user) in users() {
        let good = with_user(&kubeconfig, &user).to_string();
        let mut nowhere: Value = serde_json::from_str(&good).unwrap();
        nowhere["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1".into();
        let (good, nowhere) = (file("good", &good), file("nowhere", &nowhere.to_string()));
        for verbosity in 0..=10 {
            let run = |limit: &str, kubeconfig: &Path| {
                let run = Run::of(["history", "deployment/web", "--request-timeout", limit, "-v"]);
                run.arg(verbosity.to_string()).env("KUBECONFIG", kubeconfig)
            };
            assert_prints_no_secret(what, run("1s", &good)).await;
            if verbosity % 5 == 0 {
                assert_prints_no_secret(what, run(NOWHERE_LIMIT, &nowhere)).await;
                cluster.sim.fault(Fault::on(Requests::any(), FaultAction::Refuse(Refusal::unauthorized())));
                assert_prints_no_secret(what, run("1s", &good)).await;
                cluster.sim.clear_faults();
            }
        }
    }
}

#[tokio::test]
async fn no_credential_from_flags_environment_or_addresses_is_printed() {
    let cluster = served();
    let kubeconfig = cluster.kubeconfig();
    let path = file("kubeconfig", &kubeconfig.to_string());
    let proxy = format!("http://user:{SECRET}@127.0.0.1:1");
    let address = format!("https://user:{SECRET}@127.0.0.1:1");
    for verbosity in ["0", "6", "10"] {
        let run = |limit: &str, args: &[&str]| {
            let run = Run::of(["history", "deployment/web", "--request-timeout", limit, "-v", verbosity]);
            run.args(args).env("KUBECONFIG", &path)
        };
        for (limit, args) in [
            ("1s", &["--token", SECRET][..]),
            ("1s", &["--token", &format!("{SECRET}\n")]),
            ("1s", &["--username", "u", "--password", SECRET]),
            (NOWHERE_LIMIT, &["--server", &address]),
            ("1s", &["--server", &format!("nonsense://{SECRET}@")]),
            ("1s", &["--token", SECRET, "--no-such-flag"]),
        ] {
            assert_prints_no_secret(&format!("{args:?}"), run(limit, args)).await;
        }
        // A loopback address would bypass the proxy.
        let far = ["--server", "https://far.invalid"];
        for variable in ["HTTPS_PROXY", "https_proxy"] {
            for proxy in [&proxy, &format!("ftp://user:{SECRET}@x")] {
                assert_prints_no_secret(variable, run(NOWHERE_LIMIT, &far).env(variable, proxy)).await;
            }
        }
        let mut proxied = kubeconfig.clone();
        for url in [&proxy, &proxy.replace("http://", "socks5://"), &format!("::{SECRET}")] {
            proxied["clusters"][0]["cluster"]["proxy-url"] = url.as_str().into();
            let path = file("proxied", &proxied.to_string());
            assert_prints_no_secret(url, run(NOWHERE_LIMIT, &[]).env("KUBECONFIG", &path)).await;
        }
        let mut addressed = kubeconfig.clone();
        addressed["clusters"][0]["cluster"]["server"] = address.as_str().into();
        let addressed = file("addressed", &addressed.to_string());
        for flag in ["--user", "--cluster", "--context"] {
            let offered = Run::of(["__complete", "history", flag, ""]).env("KUBECONFIG", &addressed);
            assert_prints_no_secret(flag, offered).await;
        }
    }
}
