//! Sources of text other than objects: warnings, error responses, proxy pages, logs, kubeconfigs, manifests,
//! credential plugins and file names. Each test checks that the text is printed and escaped.

use harness::prelude::*;
use rollout2::model::api::object::Object;
use rollout2::model::kind::Workload;

use crate::security::commands::Origin;
use crate::security::commands::{OutputFormat, StreamKind};
use crate::security::escape_detector::{self, MARK};
use crate::security::setup::{cluster, shop, trouble};
use harness::files::file;

/// A text with a mark and terminal controls.
fn hostile() -> String {
    format!("{MARK}{}", escape_detector::text())
}

/// Returns faults whose responses contain the hostile text.
fn hostile_responses() -> Vec<(&'static str, Fault)> {
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

const COMMAND_LINES: [&str; 7] = [
    "history deployment/web",
    "diff deployment/web",
    "status deployment/web --watch=false",
    "undo deployment/web --dry-run=server",
    "restart deployment/web --dry-run=server",
    "pause statefulset/db --dry-run=server",
    "history all -v 8",
];

fn assert_safe(what: &str, format: OutputFormat, output: &Output) {
    if let Some(wrong) = format.unsafe_text(output) {
        panic!("{what}: {wrong}\n{:?}", output.transcript);
    }
}

#[tokio::test(start_paused = true)]
async fn server_messages_are_escaped_in_every_verb() {
    for (what, fault) in hostile_responses() {
        let cluster = cluster(&shop(), "out of luck");
        cluster.fault(fault);
        let origin = Origin::Cluster(cluster);
        let mut printed = false;
        for args in COMMAND_LINES {
            for to in [StreamKind::Pipe, StreamKind::Terminal] {
                let output = origin.run(args, to).await.unwrap();
                assert_safe(&format!("{what}: {args}"), OutputFormat::Text, &output);
                printed |= output.transcript.contains(MARK);
            }
        }
        assert!(printed, "{what} is not printed anywhere");
    }
}

#[tokio::test(start_paused = true)]
async fn container_logs_are_escaped() {
    let origin = Origin::Cluster(cluster(&trouble(), &hostile()));
    for (args, to) in [
        ("status deployment/crash --timeout 2s", StreamKind::Pipe),
        ("status deployment/crash --timeout 2s", StreamKind::Terminal),
    ] {
        let output = origin.run(args, to).await.unwrap();
        assert_safe(args, OutputFormat::Text, &output);
        assert!(output.transcript.contains(MARK), "{args}: {}", output.transcript);
    }
}

/// Returns kubeconfigs whose values appear in error messages.
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
            "a missing file",
            kubeconfig("https://127.0.0.1:1", &json!({"client-certificate": hostile, "client-key": hostile}))
                .to_string(),
        ),
        ("no kubeconfig", json!([hostile]).to_string()),
        ("no YAML", format!("a: [{hostile}")),
        ("a plugin that is not there", exec(json!({"command": hostile, "installHint": hostile}))),
        (
            "the stderr of a plugin",
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
        let run = Run::of(["history", "deploy/web", "--request-timeout", "2s", "-v", "8"]);
        let output = run.env("KUBECONFIG", &path).env("PATH", "/usr/bin:/bin").run_async().await;
        assert_ne!(output.exit, 0, "{what}");
        assert_eq!(escape_detector::control_in(&output.transcript), None, "{what}: {:?}", output.transcript);
        // Each line of a plugin's stderr is printed as one line.
        let forged = escape_detector::forged_in(&output.transcript);
        let forged = forged.filter(|_| what != "the stderr of a plugin");
        assert_eq!(forged, None, "{what}: {:?}", output.transcript);
        for args in [&["history", "--context", ""][..], &["history", "--cluster", ""]] {
            let offered =
                Run::of(["__complete"].iter().chain(args)).env("KUBECONFIG", &path).run_async().await;
            assert_safe(what, OutputFormat::Columns, &offered);
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
            let output = Run::of(args)
                .args(if verb == "undo" { &["--dry-run=client"][..] } else { &[] })
                .stdin(manifest.clone())
                .run();
            assert_safe(&manifest, OutputFormat::Text, &output);
            printed += u32::from(output.transcript.contains(MARK));
            let output = Run::of([verb, "all", "--from", "-"]).stdin(manifest.clone()).run();
            assert_safe(&manifest, OutputFormat::Text, &output);
        }
    }
    assert!(printed >= 6, "{printed}");
}

/// The user types the arguments, but may paste untrusted text.
#[test]
fn arguments_are_escaped() {
    let hostile = hostile().replace('\0', "");
    let from = file("shop.json", &shop().to_string());
    for args in [
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
        let mut args: Vec<&str> = args.to_vec();
        if !["--from", "--context", "--server"].iter().any(|flag| args.contains(flag)) {
            args.extend(["--from", from.to_str().unwrap()]);
        }
        if args.contains(&"--server") {
            args.extend(["--request-timeout", "100ms"]);
        }
        assert_safe(&format!("{:?}", args.first()), OutputFormat::Text, &Run::of(args).run());
    }
}

/// Returns as much of the hostile text as a member of the annotation can have (`plan::validation`).
fn hostile_within_bounds() -> String {
    let mut text = hostile();
    while text.len() > 253 {
        text.pop();
    }
    text
}

/// Returns the shop with a StatefulSet whose lock has a hostile holder name.
fn stepped() -> Value {
    let mut shop = shop();
    let items = shop["items"].as_array_mut().unwrap();
    let db = items.iter_mut().find(|item| item["kind"] == "StatefulSet").unwrap();
    let template = Workload::of(Object::read(db.clone()).unwrap()).unwrap().template().digest().hex();
    let held = json!({
        "version": 1, "by": hostile_within_bounds(), "since": hostile_within_bounds(), "set": db["spec"]["updateStrategy"],
        "lock": {"holder": hostile_within_bounds(), "by": hostile_within_bounds(), "written": hostile_within_bounds()},
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
    for (args, is_printed) in [
        ("history statefulset/db", true),
        ("status statefulset/db --watch=false", false), // its pods are as expected
        ("pause statefulset/db --dry-run=server", false),
        ("resume statefulset/db --dry-run=server", false),
        ("undo statefulset/db --dry-run=server", false),
        ("step statefulset/db --dry-run", false),
        ("step statefulset/db --timeout 1s", true),
        ("step statefulset/db --take-over --timeout 1s", true),
    ] {
        for to in [StreamKind::Pipe, StreamKind::Terminal] {
            let origin = Origin::Cluster(cluster(&stepped(), "out of luck"));
            let output = origin.run(args, to).await.unwrap();
            assert_safe(args, OutputFormat::Text, &output);
            assert!(!is_printed || output.transcript.contains(MARK), "{args}: {}", output.transcript);
        }
    }
}

/// The check of the user may print untrusted text.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn check_output_is_escaped() {
    let cluster = harness::cluster::Cluster::simulated().start();
    let db = cluster.stateful_set(2, &json!({}));
    cluster.advance(60).await;
    cluster.run("pause statefulset/db").await;
    cluster.editor().set_image(&db, "app:2.0");
    cluster.advance(5).await;
    let text = file("said", &format!("{}\n", hostile()));
    let check = format!("cat {}", text.display());
    let run = cluster.command(["step", "statefulset/db", "--plain", "--check", &check]).terminal(100, 40);
    let path = std::env::var("PATH").unwrap_or_default();
    let output = run.env("PATH", path).run_async().await;
    output.reports(MARK);
    assert_safe("a check", OutputFormat::Text, &output);
}

/// The objects that `preview` reads, which another program made.
#[tokio::test(start_paused = true)]
async fn applied_objects_are_escaped() {
    let applied = std::fs::read_to_string(harness::data().join("preview/shop.json")).unwrap();
    let mut applied: Value = serde_json::from_str(&applied).unwrap();
    for item in applied["items"].as_array_mut().unwrap() {
        item["metadata"]["labels"] = json!({hostile(): hostile()});
        item["metadata"]["annotations"] = json!({hostile(): hostile()});
        if item["kind"] == "Service" {
            item["kind"] = hostile().into();
            continue;
        }
        let container = &mut item["spec"]["template"]["spec"]["containers"][0];
        container["image"] = hostile().into();
        container["env"] = json!([{"name": hostile(), "value": hostile()}]);
    }
    let path = file("applied.json", &applied.to_string());
    let origin = Origin::Cluster(cluster(&shop(), "out of luck"));
    for to in [StreamKind::Pipe, StreamKind::Terminal] {
        for (more, form) in
            [("", OutputFormat::Text), (" --diff", OutputFormat::Text), (" -o yaml", OutputFormat::Exact)]
        {
            let words = format!("preview -f {}{more}", path.display());
            let ended = origin.run(&words, to).await.unwrap();
            if to == StreamKind::Terminal || form == OutputFormat::Text {
                assert_safe(&words, form, &ended);
            }
            assert!(ended.transcript.contains(MARK), "{words}");
        }
    }
}

/// The messages of kubectl, and its reason for a refusal.
#[cfg(unix)]
#[tokio::test]
async fn messages_of_kubectl_are_escaped() {
    let message = file("message", &hostile());
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": hostile(), "namespace": hostile()}});
    let manifest = file("manifest.json", &manifest.to_string());
    for script in
        ["cat MESSAGE >&2; exit 1", "case $1 in create) cat MANIFEST;; *) cat MESSAGE >&2; exit 1;; esac"]
    {
        let script = script
            .replace("MESSAGE", &message.display().to_string())
            .replace("MANIFEST", &manifest.display().to_string());
        let program = message.with_file_name("kubectl");
        harness::write_script(&program, &script);
        let cluster = cluster(&shop(), "out of luck");
        for to in [StreamKind::Pipe, StreamKind::Terminal] {
            let run = Run::of(["preview", "-f", "Cargo.toml"])
                .env("KUBECTL", &program)
                .env("PATH", "/usr/bin:/bin");
            let run =
                if to == StreamKind::Terminal { run.env("TERM", "xterm").terminal(100, 40) } else { run };
            let ended = run.in_process(cluster.service(), "shop").run_async().await;
            assert_safe(&script, OutputFormat::Text, &ended);
            assert!(ended.transcript.contains(MARK) && ended.exit == 1, "{}", ended.transcript);
        }
    }
}
