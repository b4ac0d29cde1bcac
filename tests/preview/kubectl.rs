//! How kubectl is run, and what happens when it fails, prints something else, or is stopped.

#![cfg(unix)]

use std::fs;

use harness::held_pipe::HeldPipe;
use harness::prelude::*;
use tokio::sync::watch;

use crate::preview::setup::{Directory, MANIFEST, changed, cluster, list, preview_with, run_on, shop};

#[tokio::test]
async fn kubectl_gets_the_manifests_the_flags_and_the_connection() {
    let directory = Directory::new();
    let program = directory.printing(&[changed("Deployment", "web", image_change("shop/web:9"))]);
    let spaced = directory.write("a b.yaml", "").display().to_string();
    let args = [
        "-f",
        spaced.as_str(),
        "-f",
        "src",
        "-R",
        "-l",
        "app=web",
        "--server-side",
        "--force-conflicts",
        "--field-manager",
        "ci",
        "--validate",
        "false",
        "--context",
        "prod",
        "-n",
        "shop",
        "--token",
        "t",
    ];
    let ended = run_on(&cluster(), preview_with(&program, &args)).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    let spaced_flag = format!("--filename={spaced}");
    let expected = [
        "apply",
        "--dry-run=server",
        "--output=json",
        "--server-side=true",
        "--force-conflicts=true",
        "--field-manager=ci",
        "--validate=false",
        spaced_flag.as_str(),
        "--filename=src",
        "--recursive=true",
        "--selector=app=web",
        "--namespace=shop",
    ];
    let (connection, args): (Vec<_>, Vec<_>) =
        directory.args().remove(0).into_iter().partition(|word| word.starts_with("--kubeconfig="));
    assert_eq!((connection.len(), args), (1, expected.map(str::to_owned).to_vec()));
    let directory = Directory::new();
    let program = directory.printing(&[changed("Deployment", "web", image_change("shop/web:9"))]);
    run_on(&cluster(), preview_with(&program, &["-k", "overlays/prod"])).await;
    assert_eq!(directory.args()[0][3], "--kustomize=overlays/prod");
}

#[tokio::test]
async fn standard_input_is_given_to_kubectl() {
    let directory = Directory::new();
    directory.write("objects.json", &list(&[changed("Deployment", "web", image_change("shop/web:9"))]));
    let program = directory.program("cat > input; cat objects.json");
    let run = preview_with(&program, &["-f", "-"]).stdin("kind: Deployment\n");
    let ended = run_on(&cluster(), run).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert_eq!(fs::read_to_string(directory.file("input")).unwrap(), "kind: Deployment\n");
}

#[tokio::test]
async fn a_missing_kubectl_is_an_error_that_says_so() {
    let hint = "hint: set KUBECTL to the path of kubectl\n";
    let run = preview_with("no-such-kubectl".as_ref(), &["-f", MANIFEST, "--exit-code"]);
    let ended = run_on(&cluster(), run).await;
    assert!(
        ended.stderr.starts_with("error: cannot run \"no-such-kubectl\": No such file"),
        "{}",
        ended.stderr
    );
    ended.reports_last(hint);
    assert_eq!((ended.stdout.as_str(), ended.exit), ("", 3));
    let run = Run::of(["preview", "-f", MANIFEST]).env("PATH", "/does/not/exist");
    let ended = run_on(&cluster(), run).await;
    assert!(ended.stderr.starts_with("error: cannot run \"kubectl\": "), "{}", ended.stderr);
    ended.ends(1);
}

#[tokio::test]
async fn messages_of_kubectl_are_passed_on_escaped_and_masked() {
    let directory = Directory::new();
    let program = directory.program(
        "printf 'error: \\033[31mno\\033[0m such file, DB_PASSWORD=hunter2\\n\\nsecond line\\n' >&2; exit 1",
    );
    let ended = run_on(&cluster(), preview_with(&program, &["-f", MANIFEST])).await;
    assert_eq!(ended.stdout, "");
    let expected = format!(
        "kubectl: error: ^[[31mno^[[0m such file, DB_PASSWORD=***\nkubectl: second line\n\
         error: {} apply --dry-run=server failed: exit code 1\n",
        program.display()
    );
    assert_eq!(ended.stderr, expected);
    ended.ends(1);
    // A warning is passed on beside the result.
    let directory = Directory::new();
    directory.write("objects.json", &list(&[changed("Deployment", "web", image_change("shop/web:9"))]));
    let program = directory.program("echo 'Warning: missing annotation' >&2; cat objects.json");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", MANIFEST])).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("kubectl: Warning: missing annotation\n", 0));
    ended.prints("new revision 6");
}

#[tokio::test]
async fn output_that_is_no_object_is_an_error() {
    for script in
        ["echo '{'", "echo 'deployment.apps/web configured'", "printf '\\377'", "true", "kill -9 $$"]
    {
        let directory = Directory::new();
        let program = directory.program(script);
        let ended = run_on(&cluster(), preview_with(&program, &["-f", MANIFEST])).await;
        assert_eq!((ended.stdout.as_str(), ended.exit), ("", 1), "{script}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: "), "{script}: {}", ended.stderr);
    }
}

/// A program that refuses objects as kubectl 1.36.2 does: it prints no object at all.
fn refusing(directory: &Directory) -> std::path::PathBuf {
    let stateful_set = changed("StatefulSet", "db", |object| object["spec"]["serviceName"] = "x".into());
    let service =
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"}});
    let deployment = changed("Deployment", "web", image_change("shop/web:9"));
    directory.write("all.json", &list(&[deployment.clone(), stateful_set, service]));
    directory.write("web.json", &deployment.to_string());
    directory.program(
        "case \"$*\" in\n\
         create*) cat all.json; exit;;\n\
         *--filename=-*) ;;\n\
         *) echo 'several errors with the whole patch' >&2; exit 1;;\n\
         esac\n\
         case $(cat) in\n\
         *'\"kind\":\"Deployment\"'*) cat web.json;;\n\
         *'\"kind\":\"Service\"'*) echo 'Error from server (Forbidden): services \"web\" is forbidden' >&2; exit 1;;\n\
         *) echo 'The StatefulSet \"db\" is invalid: spec: Forbidden: updates are forbidden' >&2; exit 1;;\n\
         esac",
    )
}

#[tokio::test]
async fn a_refused_object_is_reported_and_the_others_are_previewed() {
    let directory = Directory::new();
    let program = refusing(&directory);
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src", "-n", "shop"])).await;
    insta::assert_snapshot!(ended.transcript, @r#"
    deployment/web  revision 5 -> new revision 6
      container web   image   shop/web:1.1 -> shop/web:9
      replaces 4 of 4 pods
      at most 1 unavailable and 1 surge pod at a time
    statefulset/db  refused by the API server
    1 of 2 workloads rolls out
    error: statefulset/db: refused by the API server: spec: Forbidden: updates are forbidden
    error: service/web: refused by the API server: services "web" is forbidden
    "#);
    ended.ends(1);
    let args = directory.args();
    assert_eq!(args.len(), 5, "{args:?}");
    let listed = [
        "create",
        "--dry-run=client",
        "--output=json",
        "--validate=false",
        "--filename=src",
        "--namespace=shop",
    ];
    let mut second = args[1].clone();
    second.retain(|word| !word.starts_with("--kubeconfig="));
    assert_eq!(second, listed);
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src", "--exit-code", "-o", "json"])).await;
    ended.ends(3);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let error = document["items"].as_array().unwrap().last().unwrap();
    assert!(error["message"].as_str().unwrap().starts_with("service/web: "), "no other item has it: {error}");
    let refused = &document["items"][1];
    assert_eq!((&refused["outcome"], &refused["workload"]["name"]), (&json!("refused"), &json!("db")));
    assert_eq!(refused["message"], "spec: Forbidden: updates are forbidden");
}

/// It was called a refusal by the API server.
#[tokio::test]
async fn what_kubectl_itself_refuses_is_its_refusal() {
    let directory = Directory::new();
    let good = changed("Deployment", "web", image_change("shop/web:9"));
    let bad = changed("Deployment", "checkout", |object| object["spec"]["replica"] = 1.into());
    directory.write("all.json", &list(&[good.clone(), bad]));
    directory.write("web.json", &good.to_string());
    let program = directory.program(
        "case \"$*\" in\n\
         create*) cat all.json; exit;;\n\
         *--filename=-*) ;;\n\
         *) echo 'several errors' >&2; exit 1;;\n\
         esac\n\
         case $(cat) in\n\
         *'\"name\":\"web\"'*) cat web.json;;\n\
         *) echo 'error: error validating \"STDIN\": error validating data: unknown field \"replica\"' >&2; exit 1;;\n\
         esac",
    );
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src", "-n", "shop"])).await;
    ended.prints("deployment/checkout  refused by kubectl\n");
    let reason = "error validating \"STDIN\": error validating data: unknown field \"replica\"";
    ended.reports(&format!("error: deployment/checkout: refused by kubectl: {reason}\n"));
    ended.ends(1);
}

/// A program that cannot apply all objects at once, lists those of `all.json` with this message, and prints `web.json` for a
/// Deployment.
fn listing(directory: &Directory, objects: &[Value], stderr: &str, refusal: &str) -> std::path::PathBuf {
    directory.write("all.json", &list(objects));
    directory.write("web.json", &changed("Deployment", "web", image_change("shop/web:9")).to_string());
    directory.write("stderr", stderr);
    directory.write("refusal", refusal);
    directory.program(
        "case \"$*\" in\n\
         create*) cat all.json; cat stderr >&2; [ ! -s stderr ]; exit;;\n\
         *--filename=-*) ;;\n\
         *) echo 'error: the reason of kubectl' >&2; exit 1;;\n\
         esac\n\
         case $(cat) in\n\
         *'\"name\":\"web\"'*) [ -s refusal ] && { cat refusal >&2; exit 1; }; echo 'Warning: old field' >&2; cat web.json;;\n\
         *) echo '{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"new\"}}';;\n\
         esac",
    )
}

#[tokio::test]
async fn an_object_with_a_generated_name_is_an_error_as_for_kubectl() {
    let directory = Directory::new();
    let web = changed("Deployment", "web", image_change("shop/web:9"));
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "migrate-"}});
    let program = listing(&directory, &[job.clone(), web], "", "");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src"])).await;
    ended.ends(1).prints("deployment/web  revision 5 -> new revision 6\n");
    let error = "error: job/migrate-: refused by kubectl: apply needs metadata.name\n";
    ended.reports(error);
    let program = listing(&directory, &[job], "", "");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src"])).await;
    ended.ends(1).reports("kubectl: error: the reason of kubectl\n");
}

#[tokio::test]
async fn an_object_of_a_kind_that_is_not_installed_does_not_stop_the_others() {
    let directory = Directory::new();
    let stderr = "error: resource mapping not found for name: \"w\" namespace: \"\" from \"w.yaml\": no matches for kind \
                  \"Widget\" in version \"example.org/v1\"\nensure CRDs are installed first\n";
    let program =
        listing(&directory, &[changed("Deployment", "web", image_change("shop/web:9"))], stderr, "");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src"])).await;
    ended.ends(1).prints("deployment/web  revision 5 -> new revision 6\n");
    ended.reports(
        "error: refused by kubectl: resource mapping not found for name: \"w\" namespace: \"\" from \"w.yaml\": no matches \
         for kind \"Widget\" in version \"example.org/v1\" ensure CRDs are installed first\n",
    );
}

/// kubectl with the flag exits with 1 for objects that the API server accepts.
#[tokio::test]
async fn warnings_are_errors_and_no_refusals() {
    let directory = Directory::new();
    let program = directory.program("echo 'Warning: old field' >&2; cat objects.json");
    directory.write("objects.json", &list(&[changed("Deployment", "web", image_change("shop/web:9"))]));
    // Only a connection over a socket has the flags of the connection.
    let cluster = Cluster::recorded("shop").served();
    let run = |args: &[&str]| {
        let args = ["preview", "-f", MANIFEST].iter().chain(args).copied().map(str::to_owned);
        let run = cluster.command(args.collect::<Vec<_>>());
        run.env("KUBECTL", &program).env("PATH", "/usr/bin:/bin").run_async()
    };
    let ended = run(&["--warnings-as-errors"]).await;
    ended.ends(1).prints("deployment/web  revision 5 -> new revision 6\n");
    assert_eq!(ended.stderr, "kubectl: Warning: old field\nerror: 1 warning received\n");
    assert!(!directory.args()[0].iter().any(|word| word.contains("warnings")));
    run(&[]).await.ends(0);
}

#[tokio::test]
async fn a_workload_of_a_new_namespace_is_not_refused() {
    let directory = Directory::new();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}});
    let web = changed("Deployment", "web", |object| object["metadata"]["namespace"] = "new".into());
    let not_found =
        "Error from server (NotFound): error when creating \"STDIN\": namespaces \"new\" not found\n";
    let program = listing(&directory, &[namespace, web.clone()], "", not_found);
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src"])).await;
    ended.ends(1).prints("deployment/web  cannot be previewed\n");
    ended.reports("error: deployment/web: cannot be previewed: namespace \"new\" does not exist yet\n");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src", "-o", "json"])).await;
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["items"][0]["outcome"], "unknown");
    let program = listing(&directory, &[web], "", not_found);
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "src"])).await;
    ended.ends(1).prints("deployment/web  refused by the API server\n");
}

/// What kubectl 1.36.2 printed. It was one line of 700 characters.
#[tokio::test]
async fn a_conflict_of_a_server_side_apply_is_one_sentence_with_a_hint() {
    let directory = Directory::new();
    let web = changed("Deployment", "web", image_change("shop/web:9"));
    let advice = "Please review the fields above--they currently have other managers. Here\n\
        are the ways you can resolve this warning:\n\
        * If you intend to manage all of these fields, please re-run the apply\n  \
        command with the `--force-conflicts` flag.\n\
        * If you do not intend to manage all of the fields, please edit your\n  \
        manifest to remove references to the fields that should keep their\n  \
        current managers.\n\
        See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts\n";
    for (conflict, sentence) in [
        (
            "error: Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.replicas\n",
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using apps/v1: .spec.replicas",
        ),
        (
            "error: Apply failed with 2 conflicts: conflicts with \"helm\" using apps/v1:\n- .spec.replicas\n- .spec.minReadySeconds\n",
            "Apply failed with 2 conflicts: conflicts with \"helm\" using apps/v1: .spec.replicas, .spec.minReadySeconds",
        ),
    ] {
        let program = listing(&directory, std::slice::from_ref(&web), "", &format!("{conflict}{advice}"));
        let run = preview_with(&program, &["-f", "src", "--server-side", "-n", "shop"]);
        let ended = run_on(&cluster(), run).await;
        let reason = format!("error: deployment/web: refused by kubectl: {sentence}\n");
        ended.reports(&reason);
        ended.reports("hint: to take the fields over, repeat it with --force-conflicts\n");
        assert!(!ended.stderr.contains("Please review"), "{}", ended.stderr);
        ended.ends(1);
    }
}

#[tokio::test]
async fn a_signal_stops_kubectl_and_the_command() {
    tokio::join!(check_signal(2, 130), check_signal(15, 143), check_signal(1, 129));
}

async fn check_signal(signal: i32, exit: u8) {
    let mut held = HeldPipe::new();
    let program = Directory::new().program(&format!("{}; exec sleep 1000", held.script()));
    let (send, signals) = watch::channel(0);
    let run = preview_with(&program, &["-f", MANIFEST]).signals(signals);
    let cluster = cluster();
    let interrupt = async {
        held.is_opened().await;
        send.send(signal).unwrap();
    };
    let (ended, ()) = tokio::join!(run_on(&cluster, run), interrupt);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", "stopped; nothing was written\n"));
    ended.ends(exit);
    assert!(held.is_closed().await, "kubectl was not killed");
}

#[tokio::test]
async fn nothing_is_written() {
    let directory = Directory::new();
    let items = shop()["items"].as_array().unwrap().clone();
    let program = directory.printing(&items);
    let cluster = cluster();
    let ended = run_on(&cluster, preview_with(&program, &["-f", "src", "--diff"])).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    assert!(cluster.requests().iter().all(|request| request.line().starts_with("GET ")));
    assert!(directory.args().iter().all(|args| args[..2] == ["apply", "--dry-run=server"]));
}

#[tokio::test]
async fn a_manifest_that_does_not_exist_is_an_error_before_kubectl_runs() {
    let directory = Directory::new();
    let program = directory.program("touch ran");
    let ended = run_on(&cluster(), preview_with(&program, &["-f", "nofile.yaml", "--exit-code"])).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("error: the path \"nofile.yaml\" does not exist\n", 2));
    assert!(!directory.file("ran").exists());
}

/// kubectl 1.37 sets the variable for its plugins.
#[tokio::test]
async fn the_kubectl_that_runs_this_plugin_is_used() {
    let directory = Directory::new();
    let program = directory.printing(&[changed("Deployment", "web", image_change("shop/web:9"))]);
    let run = Run::of(["preview", "-f", MANIFEST]).env("KUBECTL_PATH", &program).env("PATH", "/usr/bin:/bin");
    let ended = run_on(&cluster(), run.clone()).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    let ended = run_on(&cluster(), run.env("KUBECTL", "no-such-kubectl")).await;
    ended.reports("error: cannot run \"no-such-kubectl\"").ends(1);
}

/// A file would stay after a SIGKILL, with its token.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn the_kubeconfig_of_kubectl_is_in_no_directory() {
    let directory = Directory::new();
    directory.write("objects.json", &list(&[changed("Deployment", "web", image_change("shop/web:9"))]));
    let place = harness::files::directory();
    let program = directory.program(
        "for word; do case $word in --kubeconfig=*) path=${word#*=};; esac; done\n\
         cat \"$path\" > first; cat \"$path\" > second; find \"$TMPDIR\" -type f > files; cat objects.json",
    );
    let run = preview_with(&program, &["-f", MANIFEST]).env("TMPDIR", &place);
    let ended = run_on(&cluster(), run).await;
    assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0));
    let read = |name: &str| fs::read_to_string(directory.file(name)).unwrap();
    let kubeconfig: Value = serde_json::from_str(&read("first")).unwrap();
    assert_eq!(kubeconfig["kind"], "Config");
    assert_eq!((read("second"), read("files")), (read("first"), String::new()));
    assert_eq!(fs::read_dir(place).unwrap().count(), 0);
}
