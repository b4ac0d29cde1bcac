//! Sources of text other than objects: warnings, error responses, proxy pages, logs, kubeconfigs, manifests,
//! credential plugins and file names. Each is printed by some run, and is safe there.

use harness::{Ended, Run};
use rollout2::model::api::object::Object;
use rollout2::model::workload::Workload;
use serde_json::{Value, json};
use simcluster::fault::{Fault, FaultAction, Requests};
use simcluster::{Refusal, Verb};

use crate::commands::Origin;
use crate::commands::{Form, To};
use crate::escape_detector::{self, MARK};
use crate::files::file;
use crate::setup::{cluster, shop, trouble};

/// A text with a mark and terminal controls.
fn hostile() -> String {
    format!("{MARK}{}", escape_detector::text())
}

/// Every response of a server that is not an object.
fn acts() -> Vec<(&'static str, Fault)> {
    let refuse = |code: u16| FaultAction::Refuse(Refusal::with_status(code, hostile()));
    let reads = || Requests::verb(Verb::Get);
    let writes = || Requests::verb(Verb::Patch);
    vec![
        ("a warning", Fault::on(Requests::any(), FaultAction::Warn(header(&hostile())))),
        ("a 403", Fault::on(reads(), refuse(403))),
        ("a 400", Fault::on(reads(), refuse(400))),
        ("a 404", Fault::on(Requests::any(), refuse(404))),
        ("a 422", Fault::on(writes(), refuse(422))),
        ("a 403 of lists", Fault::on(Requests::verb(Verb::List), refuse(403))),
    ]
}

/// Returns the characters of a text that a header can contain.
fn header(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_control()).collect()
}

const WORDS: [&str; 7] = [
    "history deployment/web",
    "diff deployment/web",
    "status deployment/web --watch=false",
    "undo deployment/web --dry-run=server",
    "restart deployment/web --dry-run=server",
    "pause statefulset/db --dry-run=server",
    "history all -v 8",
];

fn assert_safe(what: &str, form: Form, ended: &Ended) {
    if let Some(wrong) = form.wrong_with(ended) {
        panic!("{what}: {wrong}\n{:?}", ended.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn server_messages_are_escaped_in_every_verb() {
    for (what, fault) in acts() {
        let cluster = cluster(&shop(), "out of luck");
        cluster.fault(fault);
        let origin = Origin::Cluster(cluster);
        let mut printed = false;
        for words in WORDS {
            for to in [To::Pipe, To::Terminal] {
                let ended = origin.run(words, to).await.unwrap();
                assert_safe(&format!("{what}: {words}"), Form::Text, &ended);
                let compat = origin.run(&format!("{words} --compat"), to).await.unwrap();
                assert!(
                    to == To::Pipe
                        || escape_detector::obeyed_in(&compat.transcript.replace('\t', " ")).is_none(),
                    "{what}: {words} --compat"
                );
                let compat = compat.stderr.replace('\t', " ");
                assert_eq!(escape_detector::obeyed_in(&compat), None, "{what}: {words} --compat");
                printed |= ended.transcript.contains(MARK);
            }
        }
        assert!(printed, "{what} is not printed anywhere");
    }
}

#[tokio::test(start_paused = true)]
async fn container_logs_are_escaped() {
    let origin = Origin::Cluster(cluster(&trouble(), &hostile()));
    for (words, to) in [
        ("status deployment/crash --timeout 2s", To::Pipe),
        ("status deployment/crash --timeout 2s", To::Terminal),
    ] {
        let ended = origin.run(words, to).await.unwrap();
        assert_safe(words, Form::Text, &ended);
        assert!(ended.transcript.contains(MARK), "{words}: {}", ended.transcript);
    }
}

/// Kubeconfigs, which errors quote in part.
fn kubeconfigs() -> Vec<(&'static str, String)> {
    let hostile = hostile();
    let exec = |exec: Value| {
        let mut user =
            json!({"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "IfAvailable"});
        user.as_object_mut().unwrap().extend(exec.as_object().unwrap().clone());
        kubeconfig("https://127.0.0.1:1", &json!({"exec": user})).to_string()
    };
    let says = file("says", &hostile);
    vec![
        ("its current context", json!({"current-context": hostile}).to_string()),
        (
            "the cluster of its context",
            json!({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": hostile}}]})
                .to_string(),
        ),
        ("a server", kubeconfig(&format!("https://{hostile}"), &json!({})).to_string()),
        (
            "a context's name",
            kubeconfig("https://127.0.0.1:1", &json!({}))
                .to_string()
                .replace("\"here\"", &json!(hostile).to_string()),
        ),
        (
            "a file that is not there",
            kubeconfig("https://127.0.0.1:1", &json!({"client-certificate": hostile, "client-key": hostile}))
                .to_string(),
        ),
        ("no kubeconfig", json!([hostile]).to_string()),
        ("no YAML", format!("a: [{hostile}")),
        ("a plugin that is not there", exec(json!({"command": hostile, "installHint": hostile}))),
        (
            "a plugin's words",
            exec(
                json!({"command": "/bin/sh", "args": ["-c", format!("cat {} >&2; exit 3", says.display())]}),
            ),
        ),
        ("a plugin's version", exec(json!({"command": "/bin/sh", "apiVersion": hostile}))),
    ]
}

fn kubeconfig(server: &str, user: &Value) -> Value {
    json!({"current-context": "here", "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}], "users": [{"name": "u", "user": user}]})
}

#[tokio::test]
async fn kubeconfig_values_are_escaped() {
    for (what, text) in kubeconfigs() {
        let path = file("kubeconfig", &text);
        for compat in [&[][..], &["--compat"]] {
            let run = Run::of(["history", "deploy/web", "--request-timeout", "2s", "-v", "8"]).args(compat);
            let ended = run.env("KUBECONFIG", &path).env("PATH", "/usr/bin:/bin").run_here().await;
            assert_ne!(ended.exit, 0, "{what}");
            assert_eq!(escape_detector::obeyed_in(&ended.transcript), None, "{what}: {:?}", ended.transcript);
            // Each line of a plugin's stderr is printed as one line.
            let forged = escape_detector::forged_in(&ended.transcript);
            let forged = forged.filter(|_| compat.is_empty() && what != "a plugin's words");
            assert_eq!(forged, None, "{what}: {:?}", ended.transcript);
        }
        for words in [&["history", "--context", ""][..], &["history", "--cluster", ""]] {
            let offered =
                Run::of(["__complete"].iter().chain(words)).env("KUBECONFIG", &path).run_here().await;
            assert_safe(what, Form::Columns, &offered);
        }
    }
}

#[test]
fn file_contents_are_escaped() {
    let hostile = hostile();
    let of = |kind: &str, version: &str, name: &str, namespace: &str| {
        json!({"kind": kind, "apiVersion": version, "metadata": {"name": name, "namespace": namespace}})
            .to_string()
    };
    let shop = shop().to_string();
    let from = file("shop.json", &shop);
    let mut printed = 0;
    for manifest in [
        of(&hostile, "apps/v1", "web", "shop"),
        of("Deployment", &hostile, "web", "shop"),
        of("Deployment", "apps/v1", &hostile, "shop"),
        of("Deployment", "apps/v1", "web", &hostile),
        format!("a: [{hostile}"),
        format!("{{\"a\": \"{hostile}"),
        hostile.clone(),
    ] {
        for verb in ["history", "status", "undo"] {
            let args = [verb, "-f", "-", "--from", from.to_str().unwrap()];
            let ended = Run::of(args)
                .args(if verb == "undo" { &["--dry-run=client"][..] } else { &[] })
                .stdin(manifest.clone())
                .run();
            assert_safe(&manifest, Form::Text, &ended);
            printed += u32::from(ended.transcript.contains(MARK));
            let ended = Run::of([verb, "all", "--from", "-"]).stdin(manifest.clone()).run();
            assert_safe(&manifest, Form::Text, &ended);
        }
    }
    assert!(printed >= 6, "{printed}");
}

/// The user types these arguments, but may paste text from others.
#[test]
fn arguments_are_escaped() {
    let hostile = hostile().replace('\0', "");
    let from = file("shop.json", &shop().to_string());
    for words in [
        &["history", &hostile][..],
        &["history", "deployment", &hostile],
        &["history", &format!("deployment/{hostile}")],
        &["history", "deployment/web", "--revision", &hostile],
        &["history", "deployment/web", "-n", &hostile],
        &["history", "deployment/web", "-o", &hostile],
        &["history", "all", "-l", &hostile],
        &["history", "-f", &hostile],
        &["history", "all", "--from", &hostile],
        &["diff", "deployment/web", &hostile],
        &["status", "all", "--timeout", &hostile],
        &["status", "all", "--fail-on", &hostile],
        &["undo", "deployment/web", "--dry-run", &hostile],
        &[&hostile],
        &[&format!("--{hostile}")],
        &["history", "all", "--context", &hostile],
        &["history", "all", "--server", "https://127.0.0.1:1", "--as", &hostile],
        &["history", "all", "--server", "https://127.0.0.1:1", "--as", "a", "--as-group", &hostile],
        &["history", "all", "--server", "https://127.0.0.1:1", "--token", &hostile],
        &["history", "all", "--server", &hostile],
        &["history", "all", "--server", "https://127.0.0.1:1", "--tls-server-name", &hostile],
    ] {
        let mut args: Vec<&str> = words.to_vec();
        if !["--from", "--context", "--server"].iter().any(|flag| words.contains(flag)) {
            args.extend(["--from", from.to_str().unwrap()]);
        }
        assert_safe(&format!("{:?}", words.first()), Form::Text, &Run::of(args).run());
    }
}

/// Returns as much of the hostile text as a member of the annotation can have (`hold::validation`).
fn hostile_within_bounds() -> String {
    let mut text = hostile();
    while text.len() > 253 {
        text.pop();
    }
    text
}

/// Returns the shop with a StatefulSet whose lease has a hostile holder name.
fn stepped() -> Value {
    let mut shop = shop();
    let items = shop["items"].as_array_mut().unwrap();
    let db = items.iter_mut().find(|item| item["kind"] == "StatefulSet").unwrap();
    let template = Workload::of(Object::read(db.clone()).unwrap()).unwrap().template().digest().hex();
    let held = json!({
        "reason": "plan", "by": hostile_within_bounds(), "since": hostile_within_bounds(), "set": db["spec"]["updateStrategy"],
        "lease": {"holder": hostile_within_bounds(), "by": hostile_within_bounds(), "since": hostile_within_bounds(), "turn": 1},
        "plan": {
            "template": template, "from": hostile_within_bounds(), "batch": {"number": 1, "slots": [hostile_within_bounds()]},
            "pace": {"by": "1", "canary": true, "soak": "10s", "finalSoak": "0s", "batchTimeout": "10m0s", "onFailure": "hold"},
        },
    });
    db["metadata"]["annotations"]["kubectl-rollout2/held"] = held.to_string().into();
    shop
}

#[tokio::test(start_paused = true)]
async fn plan_members_are_escaped_in_every_verb() {
    for (words, is_told) in [
        ("history statefulset/db", true),
        ("status statefulset/db --watch=false", false), // its pods are as they are to be
        ("pause statefulset/db --dry-run=server", false),
        ("resume statefulset/db --dry-run=server", false),
        ("undo statefulset/db --dry-run=server", false),
        ("step statefulset/db --dry-run", false),
        ("step statefulset/db --timeout 1s", true),
        ("step statefulset/db --take-over --timeout 1s", true),
    ] {
        for to in [To::Pipe, To::Terminal] {
            let origin = Origin::Cluster(cluster(&stepped(), "out of luck"));
            let ended = origin.run(words, to).await.unwrap();
            assert_safe(words, Form::Text, &ended);
            assert!(!is_told || ended.transcript.contains(MARK), "{words}: {}", ended.transcript);
        }
    }
}

/// The user's check may print text from other sources.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn check_output_is_escaped() {
    let lab = harness::lab::Lab::new();
    let db = lab.stateful_set(2, &json!({}));
    lab.pass(60).await;
    lab.run("pause statefulset/db").await;
    lab.hands().image(&db, "app:2.0");
    lab.pass(5).await;
    let text = file("said", &format!("{}\n", hostile()));
    let check = format!("cat {}", text.display());
    let run = Run::of(["step", "statefulset/db", "--plain", "--check", &check]).terminal(100, 40);
    let path = std::env::var("PATH").unwrap_or_default();
    let client = kube::Client::new(lab.cluster.service(), "default");
    let ended = run.env("PATH", path).at(harness::lab::START.parse().unwrap()).run_through(client).await;
    assert!(ended.stderr.contains(MARK), "{}", ended.transcript);
    assert_safe("a check", Form::Text, &ended);
}
