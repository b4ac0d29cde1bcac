//! What a pipeline installs: the action, the component of GitLab, and the directory that an image is built from.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::package::archive::{can_pack, host, pack};
use crate::package::{directory, has, root, run};

const ACTION: &str = ".github/actions/rollout2";

/// Writes an executable script.
fn script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a program that prints each of its arguments in a line, and returns the PATH that finds it first.
fn echoing(directory: &Path, name: &str) -> String {
    script(&directory.join(name), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    format!("{}:{}", directory.display(), std::env::var("PATH").unwrap())
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// Runs a step of the action in an environment of its own.
fn step(name: &str, path: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(root().join(ACTION).join(name));
    command.env_clear().env("PATH", path).envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn the_action_installs_an_archive_whose_sum_is_right() {
    if !can_pack() || !has("curl", "curl") {
        return;
    }
    let here = directory("action");
    let release = here.join("releases/v0.9.0");
    std::fs::create_dir_all(&release).unwrap();
    let binary = here.join("binary");
    script(&binary, "#!/bin/sh\necho started\n");
    let archive = pack(&binary, &release);
    let sums = std::fs::read_to_string(format!("{}.sha256", archive.display())).unwrap();
    std::fs::write(release.join("SHA256SUMS"), &sums).unwrap();
    let right = sums.split_whitespace().next().unwrap();
    let wrong = "0".repeat(64);

    let (path, download) =
        (std::env::var("PATH").unwrap(), format!("file://{}", here.join("releases").display()));
    let (temporary, github_path) = (here.display().to_string(), here.join("path"));
    let github_path = github_path.display().to_string();
    let install = |version: &str, sum: &str| {
        step(
            "install",
            &path,
            &[
                ("DOWNLOAD", &download),
                ("VERSION", version),
                ("SHA256", sum),
                ("RUNNER_TEMP", &temporary),
                ("GITHUB_PATH", &github_path),
            ],
        )
    };
    for sum in [right, ""] {
        let output = install("v0.9.0", sum);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let installed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(run(&mut Command::new(installed.trim())), "started\n");
        let directory = Path::new(installed.trim()).parent().unwrap();
        assert_eq!(std::fs::read_to_string(&github_path).unwrap(), format!("{}\n", directory.display()));
        std::fs::remove_file(&github_path).unwrap();
        std::fs::remove_dir_all(directory).unwrap();
    }

    let (os, arch) = host();
    let name = format!("kubectl-rollout2-v0.9.0-{os}-{arch}.tar.gz");
    let failures = [
        ("v0.9.0", wrong.as_str(), format!("the sum of {name} is {right}, not {wrong}")),
        ("main", right, "the version is \"main\"; name a release, such as v0.1.0".to_owned()),
        ("v0.8.0", right, format!("cannot download kubectl-rollout2-v0.8.0-{os}-{arch}.tar.gz of v0.8.0")),
    ];
    for (version, sum, message) in failures {
        let output = install(version, sum);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{version}");
        assert_eq!(errors.lines().last(), Some(format!("rollout2: {message}").as_str()));
        assert!(!Path::new(&github_path).exists(), "{version}");
    }
    std::fs::write(release.join("SHA256SUMS"), "").unwrap();
    let output = install("v0.9.0", "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        format!("rollout2: SHA256SUMS of v0.9.0 has no {name}\n"),
    );
}

#[test]
fn the_action_passes_its_inputs_as_arguments() {
    let here = directory("follow");
    let path = echoing(&here, "kubectl-rollout2");
    let follow = |variables: &[(&str, &str)]| {
        let output = step("follow", &path, variables);
        (output.status.code(), String::from_utf8(output.stdout).unwrap().replace('\n', " "))
    };
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[("TARGETS", "deployment/web")], "status deployment/web --timeout 10m --fail-fast "),
        (
            &[
                ("TARGETS", "deployment/web\n  statefulset/db\n"),
                ("NAMESPACE", "shop"),
                ("UNDO", "true"),
                ("TIMEOUT", "5m"),
            ],
            "status deployment/web statefulset/db --namespace shop --timeout 5m --undo-on-failure ",
        ),
        (
            &[
                ("TARGETS", "-f shop.yaml"),
                ("UNDO", "all"),
                ("IMAGE", "app=shop/web:2.1"),
                ("ARGUMENTS", "--stable 30s"),
            ],
            "status -f shop.yaml --timeout 10m --undo-on-failure=all --image app=shop/web:2.1 --stable 30s ",
        ),
        // A shell runs nothing of an input, and expands no pattern.
        (
            &[("TARGETS", "$(touch${IFS}ran) /*"), ("NAMESPACE", "a b")],
            "status $(touch${IFS}ran) /* --namespace a b --timeout 10m --fail-fast ",
        ),
    ];
    for (variables, arguments) in cases {
        assert_eq!(follow(variables), (Some(0), arguments.to_owned()));
    }
    assert_eq!(follow(&[("TARGETS", " \n")]).0, Some(2));
    assert_eq!(follow(&[("TARGETS", "deployment/web"), ("UNDO", "yes")]).0, Some(2));
}

/// Every input is used, and what is used is an input.
#[test]
fn the_action_uses_each_of_its_inputs() {
    let text = std::fs::read_to_string(root().join(ACTION).join("action.yml")).unwrap();
    let action = yaml(&text);
    for name in action["inputs"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("${{{{ inputs.{name} }}}}")), "{name}");
    }
    for used in text.split("${{ inputs.").skip(1) {
        let name = used.split(" }}").next().unwrap();
        assert!(action["inputs"].get(name).is_some(), "{name}");
    }
    for step in action["runs"]["steps"].as_array().unwrap() {
        let program = step["run"].as_str().unwrap().trim_matches('"').replace("$GITHUB_ACTION_PATH/", "");
        assert!(root().join(ACTION).join(&program).is_file(), "{program}");
        let script = std::fs::read_to_string(root().join(ACTION).join(&program)).unwrap();
        for variable in step["env"].as_object().unwrap().keys() {
            assert!(script.contains(variable.as_str()), "{program} does not read {variable}");
        }
    }
}

#[test]
fn the_component_of_gitlab_passes_its_inputs_as_arguments() {
    let text = std::fs::read_to_string(root().join("templates/rollout2.yml")).unwrap();
    let (header, job) = text.split_once("\n---\n").unwrap();
    let inputs = yaml(header)["spec"]["inputs"].clone();
    let here = directory("component");
    let path = echoing(&here, "kubectl");
    let run_with = |values: &[(&str, &str)]| {
        let mut job = job.to_owned();
        for (name, input) in inputs.as_object().unwrap() {
            let value = values.iter().find(|(given, _)| given == name).map(|(_, value)| *value);
            let value = value.or_else(|| input["default"].as_str());
            let value = value.unwrap_or_else(|| panic!("{name} has neither a value nor a default"));
            job = job.replace(&format!("$[[ inputs.{name} ]]"), value);
        }
        assert!(!job.contains("$[["), "{job}");
        let job = yaml(&job)["rollout"].clone();
        let variables = job["variables"].as_object().unwrap().clone();
        let values = variables.iter().map(|(name, value)| (name, value.as_str().unwrap_or_default()));
        let script = job["script"][0].as_str().unwrap();
        run(Command::new("sh").args(["-e", "-c", script]).env_clear().env("PATH", &path).envs(values))
            .replace('\n', " ")
    };
    assert_eq!(
        run_with(&[("targets", "deployment/web statefulset/db"), ("image", "tools")]),
        "rollout2 status deployment/web statefulset/db --timeout 10m --fail-fast ",
    );
    assert_eq!(
        run_with(&[
            ("targets", "-f shop.yaml /*"),
            ("image", "tools"),
            ("namespace", "shop"),
            ("undo", "all"),
            ("expected_image", "app=shop/web:2.1"),
            ("arguments", "--stable 30s"),
        ]),
        "rollout2 status -f shop.yaml /* --timeout 10m --namespace shop --undo-on-failure=all \
         --image app=shop/web:2.1 --stable 30s ",
    );
}

#[test]
fn the_directory_of_an_image_has_all_that_is_copied() {
    if !can_pack() {
        return;
    }
    let here = directory("image");
    let (archives, kubectl) = (here.join("archives"), here.join("kubectl"));
    let binary = here.join("binary");
    script(&binary, "#!/bin/sh\necho started\n");
    let (_, arch) = host();
    let archive = pack(&binary, &archives);
    for other in ["amd64", "arm64"] {
        let name = format!("kubectl-rollout2-v0.9.0-linux-{other}.tar.gz");
        if other != arch || !archives.join(&name).exists() {
            std::fs::copy(&archive, archives.join(name)).unwrap();
        }
        std::fs::create_dir_all(kubectl.join(format!("linux-{other}"))).unwrap();
        script(&kubectl.join(format!("linux-{other}/kubectl")), "#!/bin/sh\necho kubectl\n");
    }
    let certificates = here.join("bundle.crt");
    std::fs::write(&certificates, "certificates").unwrap();
    let out = here.join("out");
    let image = || {
        let mut command = Command::new(root().join("krew/image"));
        command.arg("--archives").arg(&archives).arg("--kubectl").arg(&kubectl);
        command.arg("--certificates").arg(&certificates).arg("--out").arg(&out);
        command.env("SOURCE_DATE_EPOCH", "1700000000");
        command
    };
    run(&mut image());

    let containerfile = std::fs::read_to_string(out.join("Containerfile")).unwrap();
    for line in containerfile.lines().filter(|line| line.starts_with("COPY")) {
        let words: Vec<_> = line.split_whitespace().skip(1).filter(|word| !word.starts_with("--")).collect();
        let (_, sources) = words.split_last().unwrap();
        for source in sources {
            for arch in ["amd64", "arm64"] {
                let path = out.join(source.replace("${TARGETARCH}", arch));
                assert!(path.is_file(), "{} is not there", path.display());
            }
        }
    }
    assert!(containerfile.contains("\nUSER 65532:65532\n"), "it does not run as root");
    assert_eq!(run(&mut Command::new(out.join("linux-arm64/kubectl-rollout2"))), "started\n");
    // A second run does not mix with what is there.
    assert_eq!(image().output().unwrap().status.code(), Some(2));
}
