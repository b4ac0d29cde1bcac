//! Real shells on a pseudo-terminal: the test types, presses Tab and Enter, and a command runs.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harness::{Run, data};

use crate::setup::{Machine, installed};

/// Writes the script of a shell to a file.
fn script(machine: &Machine, shell: &str) -> PathBuf {
    let path = machine.bin.join(format!("completion.{shell}"));
    let output = Run::of(["completion", shell]).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{shell}");
    std::fs::write(&path, output.stdout).unwrap();
    path
}

/// Wraps the program: prints the command that is run, and forwards completion requests.
const SHOW_WHAT_IS_RUN: &str = r#"
kubectl-rollout2() {
    if [ "$1" = __complete ]; then command kubectl-rollout2 "$@"; else printf 'RAN'; printf '[%s]' "$@"; echo; fi
}
"#;

/// Returns what the terminal shows while a shell reads this input.
///
/// The whole input is sent at once; a shell reads its keys one by one, so the test need not wait.
fn typed(machine: &Machine, shell: &str, keys: &str) -> Option<String> {
    let Some(terminal) = installed("script") else {
        eprintln!("skipped: there is no script(1) to make a terminal");
        return None;
    };
    let mut child = Command::new(terminal)
        .args(["-qec", shell, "/dev/null"])
        .env_clear()
        .env("PATH", &machine.bin)
        .env("HOME", &machine.bin)
        .env("SHELL", "/bin/sh")
        .env("TERM", "dumb")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

#[test]
fn in_bash_a_line_is_completed_word_by_word() {
    let Some(machine) = Machine::with(&["bash"]) else { return };
    let start = format!("PS1='> '\n. {}\n{SHOW_WHAT_IS_RUN}", script(&machine, "bash").display());
    let rc = machine.bin.join("rc");
    std::fs::write(&rc, start).unwrap();
    std::fs::copy(data().join("shop/snapshot.json"), machine.bin.join("shop.json")).unwrap();
    let keys = "cd\n\
                kubectl-rollout2 hist\t--fr\tshop.j\tdeployment/w\t--revision=4\t\n\
                kubectl-rollout2 diff --from shop.json sts d\tprev\tli\t\n\
                kubectl-rollout2 history --from shop.json deploy/web --revision \t\t3\n\
                exit\n";
    let shell = format!("bash --noprofile --rcfile {} -i", rc.display());
    let Some(shown) = typed(&machine, &shell, keys) else { return };
    let first = "RAN[history][--from][shop.json][deployment/web][--revision=4]";
    assert!(shown.contains(first), "{shown}");
    assert!(shown.contains("RAN[diff][--from][shop.json][sts][db][previous][live]"), "{shown}");
    assert!(shown.contains("3  (image shop/web:1.1, +env CACHE)"), "{shown}");
}

#[test]
fn in_zsh_a_line_is_completed_word_by_word() {
    let Some(machine) = Machine::with(&["zsh"]) else { return };
    let script = script(&machine, "zsh");
    let start = format!(
        "PS1='> '\ncd\nautoload -Uz compinit\ncompinit -u -D\n. {}\n{SHOW_WHAT_IS_RUN}",
        script.display()
    );
    std::fs::write(machine.bin.join(".zshrc"), start).unwrap();
    std::fs::copy(data().join("shop/snapshot.json"), machine.bin.join("shop.json")).unwrap();
    let keys = "kubectl-rollout2 hist\t--from shop.json deployment/w\t--revision=4\t\n\
                kubectl-rollout2 diff --from shop.json sts d\tprev\tli\t\n\
                exit\n";
    let Some(shown) = typed(&machine, "zsh -d -i", keys) else { return };
    let first = "RAN[history][--from][shop.json][deployment/web][--revision=4]";
    assert!(shown.contains(first), "{shown}");
    assert!(shown.contains("RAN[diff][--from][shop.json][sts][db][previous][live]"), "{shown}");
}

#[test]
fn fish_offers_the_candidates() {
    let Some(machine) = Machine::with(&["fish"]) else { return };
    let snapshot = data().join("shop/snapshot.json");
    let line = format!("kubectl-rollout2 history --from {} deployment/web --revision ", snapshot.display());
    let asks = format!(
        ". {}; complete -C '{line}'; complete -C 'kubectl-rollout2 hist'; complete -C 'kubectl-rollout2 status --watch='",
        script(&machine, "fish").display()
    );
    let output = machine.command("fish").args(["--no-config", "-c", &asks]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for offered in ["3\timage shop/web:1.1, +env CACHE\n", "history\tShow the rev", "--watch=true\n"] {
        assert!(shown.contains(offered), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_scripts_are_clean() {
    let Some(machine) = Machine::with(&["shellcheck"]) else { return };
    let files = [(script(&machine, "bash"), "bash"), (script(&machine, "kubectl"), "sh")];
    for (file, dialect) in files {
        let output = machine.command("shellcheck").args(["-s", dialect]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_script_for_kubectl_is_the_one_in_krew() {
    let committed = include_str!("../../krew/kubectl_complete-rollout2");
    assert_eq!(Run::of(["completion", "kubectl"]).run().stdout, committed);
}
