//! `KUBECTL_EXTERNAL_DIFF` runs as in `kubectl diff`.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use harness::prelude::*;

use crate::diff::{diff, diff_of, web};

/// A diff program that is a shell script, alone in a directory.
///
/// The directory is also the one for temporary files: the commands of several tests have one process, and with it
/// one name, so that in a common directory one command could create again what another removed.
struct DiffProgram(PathBuf);

impl DiffProgram {
    fn new(name: &str, script: &str) -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("diff-{name}"));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(name);
        harness::write_script(&path, script);
        Self(path)
    }

    fn directory(&self) -> &Path {
        self.0.parent().unwrap()
    }

    fn run(&self, run: Run, parameters: &str) -> Output {
        let command = format!("{}{parameters}", self.0.display());
        run.env("KUBECTL_EXTERNAL_DIFF", command)
            .env("TMPDIR", self.directory().as_os_str())
            .env("PATH", "/usr/bin:/bin")
            .run()
    }
}

fn image(image: &str) -> Value {
    web(&json!({"image": image}))
}

#[test]
fn the_program_gets_two_directories_its_parameters_and_our_environment() {
    let tool = DiffProgram::new(
        "prints.sh",
        "echo ${1##*/} ${2##*/} $3 $4; ls $1 $2 | grep apps; cat $1/*; env | grep -c '^KUBECTL\\|^TMP'; exit 1",
    );
    let output = tool.run(diff_of(&[image("web:1"), image("web:2")], &[]), "  -u --color=always");
    insta::assert_snapshot!(output.stdout, @"
    deployment/a  revision 1 -> 2
      container web   image   web:1 -> web:2
    FROM-1 TO-2 -u --color=always
    apps.v1.Deployment.n.a
    apps.v1.Deployment.n.a
    metadata:
      labels:
        app: a
    spec:
      containers:
      - image: web:1
        name: web
    2
    ");
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0));
}

#[test]
fn a_parameter_that_kubectl_ignores_is_ignored_with_a_note() {
    let tool = DiffProgram::new("counts.sh", "echo $#");
    let output = tool.run(diff_of(&[image("web:1"), image("web:2")], &["--exit-code"]), " -u a;b");
    assert!(output.stdout.ends_with("\n3\n"), "{}", output.stdout);
    assert_eq!(output.stderr, "note: KUBECTL_EXTERNAL_DIFF: ignored parameter \"a;b\", as kubectl does\n");
    assert_eq!(output.exit, 1, "the exit code does not depend on the diff program");
}

#[test]
fn a_failure_of_the_program_is_reported() {
    let templates = [image("web:1"), image("web:2")];
    let hint = "hint: to use the built-in diff: unset KUBECTL_EXTERNAL_DIFF\n";
    for (name, script, cause) in
        [("fails.sh", "exit 2", "exit code 2"), ("dies.sh", "kill -9 $$", "killed by a signal")]
    {
        let tool = DiffProgram::new(name, script);
        for (args, exit) in [(&[][..], 1), (&["--exit-code"], 3)] {
            let output = tool.run(diff_of(&templates, args), "");
            assert_eq!(
                output.stderr,
                format!("error: failed to run {:?}: {cause}\n{hint}", tool.0.display().to_string())
            );
            output.ends(exit);
        }
    }
    let output = diff_of(&templates, &[]).env("KUBECTL_EXTERNAL_DIFF", "no-such-program").run();
    assert!(
        output.stderr.starts_with("error: failed to run \"no-such-program\": No such file"),
        "{}",
        output.stderr
    );
}

#[test]
fn secrets_are_masked_for_the_program() {
    let tool = DiffProgram::new("shows.sh", "cat $1/* $2/*");
    let with = |value: &str| web(&json!({"env": [{"name": "TOKEN", "value": value}]}));
    let templates = [with("hunter1"), with("hunter2")];
    let masked = tool.run(diff_of(&templates, &[]), "").stdout;
    assert!(
        !masked.contains("hunter")
            && masked.contains("value: '***'\n")
            && masked.contains("value: '*** (changed)'\n"),
        "{masked}"
    );
    assert!(tool.run(diff_of(&templates, &["--show-values"]), "").stdout.contains("value: hunter2\n"));
}

#[test]
fn the_program_runs_only_for_the_unified_diff() {
    let tool = DiffProgram::new("never.sh", "echo never");
    for args in [&["deploy/web", "--stat"][..], &["deploy/web", "-o", "json"], &["deploy/web", "5", "live"]] {
        assert!(!tool.run(diff("shop", args), "").stdout.contains("never"), "{args:?}");
    }
}

#[test]
fn temporary_files_are_removed_and_have_safe_names() {
    let tool = DiffProgram::new("where.sh", "echo $1/*");
    let object = |kind: &str, name: &str, more: Value| {
        let mut object = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "../../n",
            "uid": name, "labels": {"app": "a"}}, "spec": more});
        object["metadata"]["ownerReferences"] =
            json!([{"controller": true, "kind": "Deployment", "name": "a", "uid": "a"}]);
        object
    };
    let deployment = object(
        "Deployment",
        "a",
        json!({"selector": {"matchLabels": {"app": "a"}}, "template": image("web:2")}),
    );
    let replica_set = object("ReplicaSet", "../$(x)", json!({"template": image("web:1")}));
    let snapshot = json!({"kind": "List", "items": [deployment, replica_set]}).to_string();
    let run = Run::of(["diff", "deploy/a", "current", "live", "--from", "-"]).stdin(snapshot);
    let output = tool.run(run, "");
    let path = PathBuf::from(output.stdout.lines().last().unwrap());
    assert!(path.ends_with("FROM-..___x_/apps.v1.Deployment..._.._n.a"), "{}", output.stdout);
    assert!(
        path.starts_with(tool.directory())
            && !path.exists()
            && !path.parent().unwrap().parent().unwrap().exists()
    );
}
