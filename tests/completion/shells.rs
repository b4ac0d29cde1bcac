//! Real shells on a pseudo-terminal: the test types, presses Tab and Enter, and a command runs.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harness::{Run, data};

use crate::completion::setup::{Installation, installed};

/// Writes the script of a shell to a file.
fn script(installation: &Installation, shell: &str) -> PathBuf {
    let path = installation.bin.join(format!("completion.{shell}"));
    let output = Run::of(["completion", shell]).run();
    assert_eq!((output.stderr.as_str(), output.exit), ("", 0), "{shell}");
    std::fs::write(&path, output.stdout).unwrap();
    path
}

/// A shell function that prints the command lines, and forwards completion requests to the program.
const PRINT_COMMANDS: &str = r#"
kubectl-rollout2() {
    if [ "$1" = __complete ]; then command kubectl-rollout2 "$@"; else printf 'RAN'; printf '[%s]' "$@"; echo; fi
}
"#;

/// Returns the content of the terminal after a shell has read this input.
///
/// The test sends the input at once. The shell reads one key after the other.
fn typed(installation: &Installation, shell: &str, keys: &str) -> Option<String> {
    let Some(terminal) = installed("script") else {
        eprintln!("skipped: there is no script(1) to make a terminal");
        return None;
    };
    let mut child = Command::new(terminal)
        .args(["-qec", shell, "/dev/null"])
        .env_clear()
        .env("PATH", &installation.bin)
        .env("HOME", &installation.bin)
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
    let Some(installation) = Installation::with(&["bash"]) else { return };
    let start = format!("PS1='> '\n. {}\n{PRINT_COMMANDS}", script(&installation, "bash").display());
    let rc = installation.bin.join("rc");
    std::fs::write(&rc, start).unwrap();
    std::fs::copy(data().join("shop/snapshot.json"), installation.bin.join("shop.json")).unwrap();
    let keys = "cd\n\
                kubectl-rollout2 hist\t--fr\tshop.j\tdeployment/w\t--revision=4\t\n\
                kubectl-rollout2 diff --from shop.json sts d\tprev\tli\t\n\
                kubectl-rollout2 history --from shop.json deploy/web --revision \t\t3\n\
                exit\n";
    let shell = format!("bash --noprofile --rcfile {} -i", rc.display());
    let Some(shown) = typed(&installation, &shell, keys) else { return };
    let first = "RAN[history][--from][shop.json][deployment/web][--revision=4]";
    assert!(shown.contains(first), "{shown}");
    assert!(shown.contains("RAN[diff][--from][shop.json][sts][db][previous][live]"), "{shown}");
    assert!(shown.contains("3  (+env CACHE)"), "{shown}");
}

#[test]
fn in_zsh_a_line_is_completed_word_by_word() {
    let Some(installation) = Installation::with(&["zsh"]) else { return };
    let script = script(&installation, "zsh");
    let start = format!(
        "PS1='> '\ncd\nautoload -Uz compinit\ncompinit -u -D\n. {}\n{PRINT_COMMANDS}",
        script.display()
    );
    std::fs::write(installation.bin.join(".zshrc"), start).unwrap();
    std::fs::copy(data().join("shop/snapshot.json"), installation.bin.join("shop.json")).unwrap();
    let keys = "kubectl-rollout2 hist\t--from shop.json deployment/w\t--revision=4\t\n\
                kubectl-rollout2 diff --from shop.json sts d\tprev\tli\t\n\
                exit\n";
    let Some(shown) = typed(&installation, "zsh -d -i", keys) else { return };
    let first = "RAN[history][--from][shop.json][deployment/web][--revision=4]";
    assert!(shown.contains(first), "{shown}");
    assert!(shown.contains("RAN[diff][--from][shop.json][sts][db][previous][live]"), "{shown}");
}

#[test]
fn fish_offers_the_candidates() {
    let Some(installation) = Installation::with(&["fish"]) else { return };
    let snapshot = data().join("shop/snapshot.json");
    let line = format!("kubectl-rollout2 history --from {} deployment/web --revision ", snapshot.display());
    let asks = format!(
        ". {}; complete -C '{line}'; complete -C 'kubectl-rollout2 hist'; complete -C 'kubectl-rollout2 status --watch='",
        script(&installation, "fish").display()
    );
    let output = installation.command("fish").args(["--no-config", "-c", &asks]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for offered in ["3\t+env CACHE\n", "history\tShow rev", "--watch=true\n"] {
        assert!(shown.contains(offered), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_scripts_pass_shellcheck() {
    let Some(installation) = Installation::with(&["shellcheck"]) else { return };
    let files = [(script(&installation, "bash"), "bash"), (script(&installation, "kubectl"), "sh")];
    for (file, dialect) in files {
        let output = installation.command("shellcheck").args(["-s", dialect]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn the_script_for_kubectl_is_the_one_in_krew() {
    let committed = include_str!("../../krew/kubectl_complete-rollout2");
    assert_eq!(Run::of(["completion", "kubectl"]).run().stdout, committed);
}
