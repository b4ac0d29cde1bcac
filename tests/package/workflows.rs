//! The GitHub workflows: they parse, and every file that they refer to exists.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::package::root;

fn workflows() -> Vec<(String, String, Value)> {
    let directory = root().join(".github/workflows");
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let read = entries.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let workflow = serde_saphyr::from_str(&text).unwrap();
        (path.file_name().unwrap().to_string_lossy().into_owned(), text, workflow)
    });
    read.collect()
}

/// Collects every value of a key at any depth.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == key {
                    found.push(member);
                }
                all(member, key, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| all(item, key, found)),
        _ => {}
    }
}

fn texts(workflow: &Value, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    all(workflow, key, &mut found);
    found.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn every_script_in_a_workflow_exists_and_parses() {
    for (name, _, workflow) in workflows() {
        for script in texts(&workflow, "run") {
            for word in
                script.split_whitespace().filter(|word| word.starts_with("krew/") || word.starts_with(".ci/"))
            {
                assert!(root().join(word).is_file(), "{name}: {word} is not there");
            }
            // GitHub replaces the expressions before the shell runs, so any word can stand for them.
            let line = script.replace("${{ ", "$(").replace(" }}", ")");
            let mut shell = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
            shell.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
            assert!(shell.wait().unwrap().success(), "{name}: {script}");
        }
    }
}

#[test]
fn every_action_is_pinned_to_a_commit_with_its_version() {
    for (name, text, workflow) in workflows() {
        for action in texts(&workflow, "uses").iter().filter(|action| !action.starts_with("./")) {
            let (_, commit) = action.split_once('@').unwrap();
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit, "{name}: {action}");
            let lines: Vec<_> = text.lines().filter(|line| line.contains(commit)).collect();
            assert!(lines.iter().all(|line| line.contains(" # v")), "{name}: {lines:?}");
        }
        for file in texts(&workflow, "uses").iter().filter_map(|action| action.strip_prefix("./")) {
            assert!(root().join(file).is_file(), "{name}: {file}");
        }
        assert_eq!(workflow["permissions"]["contents"], "read", "{name} may do more than it must");
    }
}

/// A job lists its permissions, no checkout keeps its token, and every installed tool has a fixed version.
#[test]
fn no_job_has_more_permissions_than_it_needs() {
    for (name, text, workflow) in workflows() {
        for (job, steps) in workflow["jobs"].as_object().unwrap() {
            let permissions =
                steps["permissions"].as_object().unwrap_or_else(|| panic!("{name}: {job} has none"));
            let may_write = permissions.values().any(|access| access != "read");
            assert!(!may_write || job == "release", "{name}: {job} may {permissions:?}");
            for step in steps["steps"].as_array().into_iter().flatten() {
                if step["uses"].as_str().is_some_and(|action| action.starts_with("actions/checkout@")) {
                    assert_eq!(step["with"]["persist-credentials"], false, "{name}: {job}");
                }
            }
        }
        let run = std::fs::read_to_string(root().join(".ci/run")).unwrap();
        for line in text.lines().chain(run.lines()).filter(|line| line.contains("cargo install")) {
            let install = line.split("cargo install").nth(1).unwrap_or_default();
            let version = install.split("--version ").nth(1).and_then(|rest| rest.split(' ').next());
            let is_exact =
                version.is_some_and(|version| version.split('.').all(|part| part.parse::<u32>().is_ok()));
            assert!(is_exact || line.trim_start().starts_with("echo"), "{name}: {line}");
        }
    }
}

/// Code that others wrote, even if it only runs while building, cannot change a release or sign one.
#[test]
fn the_job_that_writes_a_release_is_protected_and_builds_nothing() {
    for (name, _, workflow) in workflows() {
        for (job, steps) in workflow["jobs"].as_object().unwrap() {
            let permissions = steps["permissions"].as_object().unwrap();
            if permissions.values().all(|access| access == "read") {
                continue;
            }
            assert_eq!(steps["environment"], "release", "{name}: {job} needs no approval");
            let scripts = texts(steps, "run");
            assert!(!scripts.iter().any(|script| script.contains("cargo ")), "{name}: {job} builds");
        }
    }
}

/// Every release can be built again with the same compiler, and a clone downloads none.
#[test]
fn a_release_names_its_rust_version() {
    let all = workflows();
    let (_, _, release) = all.iter().find(|(name, ..)| name == "release.yml").unwrap();
    let version = release["env"]["RUSTUP_TOOLCHAIN"].as_str().unwrap();
    let numbers: Vec<_> = version.split('.').map(|part| part.parse::<u32>().unwrap()).collect();
    assert_eq!(numbers.len(), 3, "{version}");
    for (job, steps) in release["jobs"].as_object().unwrap() {
        let scripts = texts(steps, "run");
        let builds = scripts.iter().any(|script| script.contains("cargo "));
        let installs =
            scripts.iter().any(|script| script.contains("toolchain install \"$RUSTUP_TOOLCHAIN\""));
        assert_eq!(builds, installs, "{job}");
    }
    assert!(!root().join("rust-toolchain.toml").exists());
}

#[test]
fn the_documentation_advises_only_pinned_actions() {
    let docs = std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = 0;
    for path in docs.chain([root().join("README.md")]).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.trim_start().starts_with("- uses: ")) {
            found += 1;
            let (_, commit) = line.split_once('@').unwrap();
            let (commit, version) = commit.split_once(" # v").unwrap_or((commit, ""));
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit && !version.is_empty(), "{}: {line}", path.display());
        }
    }
    assert!(found > 0);
}

/// Builds, tests and releases use only the versions in `Cargo.lock`.
#[test]
fn every_cargo_call_is_locked() {
    let files = [".ci/run", ".ci/regenerate", "krew/pack", "krew/render", "README.md", "CONTRIBUTING.md"];
    let texts = files.map(|file| (file.to_owned(), std::fs::read_to_string(root().join(file)).unwrap()));
    let workflows = workflows().into_iter().map(|(name, text, _)| (name, text));
    let resolves = ["test", "build", "run", "check", "clippy", "doc", "install", "tree", "metadata", "deny"];
    let is_no_call =
        |line: &str| ["#", "echo ", "["].iter().any(|start| line.trim_start().starts_with(start));
    let mut wrong = Vec::new();
    for (name, text) in texts.into_iter().chain(workflows) {
        for line in text.lines().filter(|line| !is_no_call(line)) {
            let calls = line.split("cargo ").skip(1).filter(|rest| {
                let verb = rest.split(' ').next().unwrap_or_default();
                resolves.contains(&verb) && !rest.contains("--version >")
            });
            wrong.extend(calls.filter(|rest| !rest.contains("--locked")).map(|_| format!("{name}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_release_platform_is_built_and_attested() {
    let all = workflows();
    let (_, _, release) = all.iter().find(|(name, ..)| name == "release.yml").unwrap();
    let systems = release["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().unwrap();
    let pack = std::fs::read_to_string(root().join("krew/pack")).unwrap();
    for system in systems {
        let (os, arch, triple) = (&system["os"], &system["arch"], &system["triple"]);
        let [os, arch, triple] = [os, arch, triple].map(|text| text.as_str().unwrap());
        let line = format!("{os}-{arch}) triple={triple} ;;");
        assert!(pack.contains(&line), "krew/pack has no platform {line}");
    }
    assert_eq!(systems.len(), pack.matches(" triple=").count());
    let attested =
        texts(release, "uses").iter().filter(|action| action.starts_with("actions/attest@")).count();
    assert_eq!(attested, 2, "where the archives come from, and what they contain");
    assert_eq!(texts(release, "sbom-path").len(), 1);
}
