//! Installs an archive as krew does, and runs it with the kubectl of this machine.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::write_script;

use crate::package::archive::{can_pack, host, pack};
use crate::package::manifest::{broken_rules, render};
use crate::package::{directory, has, root, run};

/// Writes a script that runs the program under test, which takes seconds to compress.
fn program(here: &Path) -> PathBuf {
    let script = here.join("program");
    write_script(&script, concat!("exec '", env!("CARGO_BIN_EXE_kubectl-rollout2"), "' \"$@\""));
    script
}

#[test]
fn krew_installs_the_archive_and_kubectl_runs_it() {
    if !can_pack() {
        return;
    }
    let here = directory("krew");
    let archive = pack(&program(&here), &here);
    let manifest = render(&[&archive]);
    assert_eq!(broken_rules(&manifest, &[&archive]), [""; 0], "{manifest:#}");
    let labels = &manifest["spec"]["platforms"][0]["selector"]["matchLabels"];
    assert_eq!((labels["os"].as_str(), labels["arch"].as_str()), (Some(host().0), Some(host().1)));

    // krew unpacks into store/NAME/VERSION, requires a licence there, and links bin/kubectl-NAME to `bin`.
    let store = here.join("store/rollout2").join(manifest["spec"]["version"].as_str().unwrap());
    std::fs::create_dir_all(&store).unwrap();
    run(Command::new("tar").args(["-xzf"]).arg(&archive).arg("-C").arg(&store));
    assert!(store.join("LICENSE").is_file());
    let bin = here.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let linked = store.join(manifest["spec"]["platforms"][0]["bin"].as_str().unwrap());
    symlink(linked, bin.join("kubectl-rollout2")).unwrap();

    let table = run(history(&mut Command::new(bin.join("kubectl-rollout2"))));
    assert!(table.starts_with("deployment.apps/web"), "{table}");
    let Some(kubectl) = kubectl() else { return };
    let through_kubectl = run(history(Command::new(kubectl).arg("rollout2").env_clear().env("PATH", &bin)));
    assert_eq!(through_kubectl, table);
    let plugins =
        run(Command::new(self::kubectl().unwrap()).args(["plugin", "list"]).env_clear().env("PATH", &bin));
    assert!(plugins.contains("kubectl-rollout2"), "{plugins}");
}

fn history(command: &mut Command) -> &mut Command {
    let snapshot = root().join("tests/data/shop/snapshot.json");
    command.args(["history", "deployment/web", "--from"]).arg(snapshot)
}

/// Returns the absolute path of kubectl, so that the test can set PATH to the directory of the installation.
fn kubectl() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&path).map(|directory| directory.join("kubectl")).find(|file| file.is_file());
    if found.is_none() {
        has("kubectl", "kubectl");
    }
    found
}
