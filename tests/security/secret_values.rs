//! Secret-looking values: no verb prints them in text, tables, diffs, previews, logs or our JSON. With
//! `ROLLOUT2_REDACT` nothing prints them.

use harness::prelude::*;
use rollout2::model::revision::template::secrets_in;
use rollout2::model::text::secret::without_secrets;

use crate::security::setup::{NAMESPACE, cluster, trouble, verbs};

/// The text in every secret value.
const SECRET: &str = "hunter2";

/// A crashing Deployment whose revisions have different secrets, which logs and events repeat.
fn objects() -> Value {
    let mut objects = trouble();
    let items = objects["items"].as_array_mut().unwrap();
    items.retain(|item| item["metadata"]["name"].as_str().unwrap().starts_with("crash"));
    for (index, item) in items.iter_mut().enumerate() {
        let is_workload = item["kind"] == "Deployment";
        // The live template is that of the newest revision.
        let index = if is_workload { usize::MAX } else { index };
        match item["kind"].as_str() {
            Some("Deployment" | "ReplicaSet") => add_secrets(item, index),
            Some("Pod") => {
                item["status"]["message"] = format!("token: {SECRET}").into();
                for status in item["status"]["containerStatuses"].as_array_mut().unwrap() {
                    let said = format!("DB_PASSWORD={SECRET}-0 is wrong");
                    for state in ["state", "lastState"] {
                        for (_, state) in status[state].as_object_mut().unwrap() {
                            state["message"] = said.clone().into();
                        }
                    }
                }
            }
            _ => item["message"] = format!("Authorization: Bearer {SECRET}").into(),
        }
    }
    let newest = newest_template(items);
    let workload = items.iter_mut().find(|item| item["kind"] == "Deployment").unwrap();
    workload["spec"]["template"]["spec"] = newest;
    let applied = workload.to_string();
    let annotations = &mut workload["metadata"]["annotations"];
    annotations["kubectl.kubernetes.io/last-applied-configuration"] = applied.into();
    objects
}

fn newest_template(items: &[Value]) -> Value {
    let number = |item: &&Value| -> i64 {
        item["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    };
    let newest = items.iter().filter(|item| item["kind"] == "ReplicaSet").max_by_key(number).unwrap();
    newest["spec"]["template"]["spec"].clone()
}

fn add_secrets(item: &mut Value, index: usize) {
    let annotations = &mut item["metadata"]["annotations"];
    annotations["kubernetes.io/change-cause"] =
        format!("kubectl set env deploy/crash DB_PASSWORD={SECRET}").into();
    let env = json!([
        {"name": "DB_PASSWORD", "value": format!("{SECRET}-{index}")},
        {"name": format!("api_key_{index}"), "value": format!("{SECRET}-key")},
        {"name": "DB_URL", "value": format!("postgres://app:{SECRET}-{index}@db/shop")},
        {"name": "SMTP_PASS", "value": format!("{SECRET}-{index}")},
        {"name": "DATABASE", "value": format!("app:{SECRET}-{index}@tcp(db:3306)/shop")},
        {"name": "CONF", "value": format!(r#"{{"password":"{SECRET}-{index}"}}"#)},
        {"name": "MODE", "value": format!("m{index}")},
    ]);
    let template = &mut item["spec"]["template"];
    template["metadata"]["annotations"] =
        json!({"example.org/token": SECRET, "note": format!("token: {SECRET}")});
    let container = &mut template["spec"]["containers"][0];
    container["env"] = env;
    container["command"] = json!(["sh", "-c", format!("PGPASSWORD={SECRET}-{index} psql")]);
    container["args"] =
        json!([format!("--db-password={SECRET}-{index}"), "--token", format!("{SECRET}-{index}")]);
    container["livenessProbe"] = json!({"httpGet": {"port": 80, "httpHeaders": [
        {"name": "Authorization", "value": format!("Bearer {SECRET}-{index}")},
        {"name": "Cookie", "value": format!("{SECRET}-{index}")},
    ]}});
}

fn cluster_with_secrets() -> SimCluster {
    cluster(&objects(), &format!("login with DB_PASSWORD={SECRET}-0 and {SECRET}-key failed"))
}

/// Command lines with our own output formats.
const OWN_FORMATS: [&str; 26] = [
    "history deployment/crash -o wide",
    "history --since 100000h -o wide",
    "history --since 100000h -o markdown",
    "history --since 100000h -o json",
    "history deployment/crash -o json",
    "diff deployment/crash",
    "diff deployment/crash --stat",
    "diff deployment/crash -o json",
    "diff deployment/crash previous live",
    "preview -f tests/data/preview/crash.json --diff",
    "preview -f tests/data/preview/crash.json -o json",
    "list -o wide",
    "list -o json",
    "status deployment/crash --watch=false",
    "status deployment/crash --watch=false -o json",
    "status deployment/crash --timeout 2s",
    "status deployment/crash --timeout 2s -o json",
    "undo deployment/crash --dry-run=client",
    "undo deployment/crash --dry-run=server --diff",
    "restart deployment/crash --dry-run=client",
    "pause deployment/crash --dry-run=server",
    "resume deployment/crash --dry-run=server",
    "step deployment/crash --dry-run",
    "__complete undo deployment/crash --to-revision=",
    "__complete history deployment/",
    "undo deployment/crash --to-revision 99 -v 10",
];

/// Command lines with kubectl's output formats.
const KUBECTL_FORMATS: [&str; 9] = [
    "history deployment/crash --revision current",
    "history deployment/crash --revision current -o yaml",
    "history deployment/crash --revision current -o json",
    "history deployment/crash -o yaml",
    "history deployment/crash --revision 1",
    "undo deployment/crash --dry-run=client -o json",
    "undo deployment/crash --dry-run=server -o yaml",
    "restart deployment/crash --dry-run=client -o yaml",
    "pause deployment/crash --dry-run=client -o json",
];

async fn printed(cluster: &SimCluster, args: &str, redact: Option<&str>, terminal: bool) -> String {
    let run = Run::of(args.split_whitespace()).env("TERM", "xterm").kubectl_applies();
    let run = redact.iter().fold(run, |run, value| run.env("ROLLOUT2_REDACT", value));
    let run = if terminal { run.terminal(120, 40) } else { run };
    run.in_process(cluster.service(), NAMESPACE).run_async().await.transcript
}

#[tokio::test(start_paused = true)]
async fn our_own_output_formats_contain_no_secret() {
    let cluster = cluster_with_secrets();
    for args in OWN_FORMATS {
        for terminal in [false, true] {
            let printed = printed(&cluster, args, None, terminal).await;
            assert!(!printed.contains(SECRET), "{args}: {printed}");
            assert!(args.contains("--to-revision") || printed.contains("crash"), "{args}: {printed}");
        }
    }
    let masked = printed(&cluster, "diff deployment/crash", None, false).await;
    assert!(masked.contains("*** (changed)"), "{masked}");
    let shown = printed(&cluster, "diff deployment/crash --show-values", Some("1"), false).await;
    assert!(shown.contains(SECRET), "--show-values prints it: {shown}");
}

#[tokio::test(start_paused = true)]
async fn the_output_formats_of_kubectl_contain_secrets_unless_redacted() {
    let cluster = cluster_with_secrets();
    for args in KUBECTL_FORMATS {
        for redact in ["1", "yes"] {
            let printed = printed(&cluster, args, Some(redact), false).await;
            assert!(!printed.contains(SECRET), "{args}: {printed}");
            assert!(printed.contains("crash"), "{args}: {printed}");
        }
    }
    for (args, redact) in [
        (KUBECTL_FORMATS[0], None),
        (KUBECTL_FORMATS[5], None),
        (KUBECTL_FORMATS[1], Some("0")),
        (KUBECTL_FORMATS[8], None),
    ] {
        let printed = printed(&cluster, args, redact, false).await;
        assert!(printed.contains(SECRET), "{args}: {printed}");
    }
    let patch = printed(&cluster, "undo deployment/crash --dry-run=client -o patch", Some("1"), false).await;
    assert!(
        patch.starts_with("error: cannot print the patch: with ROLLOUT2_REDACT it would write ***"),
        "{patch}"
    );
}

/// A server or an admission webhook may quote what it rejects.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_repeats_a_secret_is_masked() {
    let cluster = cluster_with_secrets();
    let said = format!("admission webhook denied it: env DB_PASSWORD={SECRET}-0 is not allowed");
    cluster.fault(Fault::on(
        Requests::verb(Verb::Patch),
        FaultAction::Refuse(Refusal::with_status(403, said.clone())),
    ));
    cluster.fault(Fault::on(Requests::any(), FaultAction::Warn(said)));
    for args in [
        "undo deployment/crash --dry-run=server",
        "restart deployment/crash",
        "status deployment/crash --watch=false",
    ] {
        let printed = printed(&cluster, args, None, false).await;
        assert!(printed.contains("DB_PASSWORD=***") && !printed.contains(SECRET), "{args}: {printed}");
    }
}

#[test]
fn every_verb_is_covered() {
    for verb in verbs() {
        assert!(
            OWN_FORMATS.iter().any(|args| args.starts_with(&verb)),
            "no command line tests whether {verb} prints secrets"
        );
    }
}

#[test]
fn secrets_are_read_from_the_env_of_init_containers_too() {
    let env = |value: &str| json!([{"name": "API_TOKEN", "value": value}]);
    let template = json!({"spec": {
        "initContainers": [{"name": "migrate", "env": env("from-init")}],
        "containers": [{"name": "app", "env": env("from-app")}],
    }});
    assert_eq!(secrets_in(&template), ["from-init", "from-app"]);
}

#[test]
fn short_values_and_single_words_are_masked_only_after_their_names() {
    for (value, is_masked) in [
        ("ab1", false),
        ("ab1d", true),
        ("true", false),
        ("login", false), // of `SMTP_AUTH`
        ("Plain", false),
        ("LOGIN", false),
        ("logIn", true),
        ("production", false),
        ("correcthorse", true),
        ("cram-md5", true),
        ("hunter2", true),
    ] {
        let env = json!([{"name": "SMTP_AUTH", "value": value}]);
        let secrets = secrets_in(&json!({"spec": {"containers": [{"name": "app", "env": env}]}}));
        assert_eq!(secrets == [value], is_masked, "{value}");
        assert_eq!(without_secrets(&format!("SMTP_AUTH={value} is wrong")), "SMTP_AUTH=*** is wrong");
    }
}

#[test]
fn secrets_are_read_from_the_headers_of_probes_and_hooks_too() {
    let action =
        |name: &str, value: &str| json!({"httpGet": {"httpHeaders": [{"name": name, "value": value}]}});
    let template = json!({"spec": {"containers": [{
        "livenessProbe": action("Authorization", "Bearer of-liveness"),
        "readinessProbe": action("X-Api-Key", "of-readiness"),
        "startupProbe": action("Host", "shop.example"),
        "lifecycle": {"preStop": action("X-Token", "of-pre-stop")},
    }]}});
    assert_eq!(secrets_in(&template), ["of-pre-stop", "of-liveness", "of-readiness"]);
}

/// The values look like ordinary text, so that only the header's name marks them as credentials.
#[test]
fn a_header_in_lower_case_is_masked() {
    for (text, masked) in [
        ("authorization: basic letmein", "authorization: basic ***"),
        ("AUTHORIZATION: Basic letmein", "AUTHORIZATION: Basic ***"),
        (r#"{"authorization":"bearer token"}"#, r#"{"authorization":"bearer ***"}"#),
    ] {
        assert_eq!(without_secrets(text), masked);
    }
}
