//! The archives of `krew/pack`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::package::{directory, has, root, run};

/// The operating system and architecture of this machine, as in release names.
pub(crate) fn host() -> (&'static str, &'static str) {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    (os, arch)
}

/// Whether the programs that `krew/pack` needs are installed.
pub(crate) fn can_pack() -> bool {
    has("tar", "GNU tar") && has("bash", "GNU bash")
}

/// Packs a binary for this machine. It downloads nothing, since the build has downloaded the crates.
pub(crate) fn pack(binary: &Path, out: &Path) -> PathBuf {
    let (os, arch) = host();
    PathBuf::from(pack_for(os, arch, binary, out).trim())
}

fn pack_for(os: &str, arch: &str, binary: &Path, out: &Path) -> String {
    let mut command = Command::new(root().join("krew/pack"));
    command.arg("--binary").arg(binary).args(["--os", os, "--arch", arch, "--version", "v0.9.0"]);
    run(command.arg("--out").arg(out).env("CARGO_NET_OFFLINE", "true").env("SOURCE_DATE_EPOCH", "1700000000"))
}

/// Writes a small file in place of a binary. Packing does not depend on its content.
fn small_binary(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, "#!/bin/sh\necho started\n").unwrap();
    path
}

#[test]
fn packing_is_reproducible() {
    if !can_pack() {
        return;
    }
    let here = directory("twice");
    let (one, other) = (here.join("one"), here.join("other"));
    let first = pack(&small_binary(&here, "a"), &one);
    // Another file with another time and mode gives the same archive.
    let second = small_binary(&here, "b");
    run(Command::new("touch").args(["-d", "2001-01-01"]).arg(&second));
    run(Command::new("chmod").arg("600").arg(&second));
    let second = pack(&second, &other);
    assert_ne!(first, second);
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    let sums: Vec<_> = [&first, &second]
        .iter()
        .map(|path| std::fs::read(format!("{}.sha256", path.display())).unwrap())
        .collect();
    assert_eq!(sums[0], sums[1]);
    run(Command::new("sha256sum").arg("-c").arg(format!("{}.sha256", first.display())).current_dir(&one));
}

#[test]
fn an_archive_contains_its_files_and_no_path_of_the_builder() {
    if !can_pack() {
        return;
    }
    let here = directory("content");
    let archive = pack(&small_binary(&here, "a"), &here);
    let list = run(Command::new("tar")
        .args(["--list", "--verbose", "--numeric-owner", "--utc", "--file"])
        .arg(&archive));
    let names: Vec<_> = list.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    for name in ["kubectl-rollout2", "kubectl_complete-rollout2", "LICENSE", "README.md", "DEPENDENCIES"] {
        assert!(names.contains(&name), "no {name}: {names:?}");
    }
    let pages = std::fs::read_dir(root().join("man")).unwrap().count();
    assert_eq!(names.iter().filter(|name| name.ends_with(".1")).count(), pages);
    for line in list.lines() {
        assert!(line.contains(" 0/0 ") && line.contains(" 2023-11-14 22:13 "), "{line}");
    }
    let dependencies = run(Command::new("tar").args(["-xzOf"]).arg(&archive).arg("DEPENDENCIES"));
    let names_a_licence =
        |line: &str| line.split(' ').count() >= 3 && line.split(' ').nth(1).unwrap().starts_with('v');
    assert!(
        dependencies.lines().count() > 100 && dependencies.lines().all(names_a_licence),
        "{dependencies}"
    );
    assert!(dependencies.lines().any(|line| line.starts_with("kube v5")), "{dependencies}");
    assert!(
        !dependencies.contains(&root().display().to_string()),
        "the list contains a path of this machine"
    );
}

#[test]
fn invalid_input_is_not_packed() {
    let here = directory("refused");
    let binary = small_binary(&here, "a");
    let binary = binary.to_str().unwrap();
    for (args, why) in [
        (["--os", "linux", "--arch", "amd64", "--out", "x"].as_slice(), "--binary"),
        (
            &["--binary", "/does/not/exist", "--os", "linux", "--arch", "amd64", "--out", "x"],
            "there is no file",
        ),
        (&["--binary", binary, "--os", "plan9", "--arch", "amd64", "--out", "x"], "no releases are made"),
        (&["--binary", binary, "--os", "linux", "--arch", "amd64"], "which directory"),
        (&["--banana", "x"], "unknown flag"),
        (&["--binary"], "needs a value"),
    ] {
        let output = Command::new(root().join("krew/pack")).args(args).current_dir(&here).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(why), "{args:?}: {stderr}");
    }
}

#[test]
fn a_windows_archive_is_a_reproducible_zip_with_an_exe() {
    let cargo_knows_windows = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--target", "x86_64-pc-windows-msvc"])
        .current_dir(root())
        .output();
    if !has("zip", "Zip") || !cargo_knows_windows.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no zip, or the crates for Windows were never fetched");
        return;
    }
    let here = directory("windows");
    let binary = small_binary(&here, "a");
    let zips = ["one", "other"].map(|out| pack_for("windows", "amd64", &binary, &here.join(out)));
    let [one, other] = zips.each_ref().map(|path| std::fs::read(path.trim()).unwrap());
    assert_eq!(one, other);
    let names = run(Command::new("unzip").args(["-Z1", zips[0].trim()]));
    assert!(names.lines().any(|name| name == "kubectl-rollout2.exe"), "{names}");
}
