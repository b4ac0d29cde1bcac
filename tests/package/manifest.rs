//! The rules of krew for a manifest, from its validator and the checks of its index.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::package::{directory, root, run};

/// Returns the manifest that `krew/render` generates for some archives.
pub(crate) fn render(archives: &[&Path]) -> Value {
    let mut command = Command::new(root().join("krew/render"));
    command.args([
        "--homepage",
        "https://forge.example/rollout2",
        "--download",
        "https://forge.example/files/",
    ]);
    serde_saphyr::from_str(&run(command.args(archives))).unwrap()
}

/// Returns every rule that a manifest of these archives violates.
pub(crate) fn broken_rules(manifest: &Value, archives: &[&Path]) -> Vec<String> {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut broken = Vec::new();
    let mut rule = |holds: bool, rule: &str| {
        if !holds {
            broken.push(rule.to_owned());
        }
    };
    rule(text("/apiVersion") == "krew.googlecontainertools.github.com/v1alpha2", "apiVersion");
    rule(text("/kind") == "Plugin", "kind");
    // The file in the index is rollout2.yaml, as the name of the template.
    rule(text("/metadata/name") == "rollout2", "the name is the file's and fits [\\w-]+");
    let short = text("/spec/shortDescription");
    rule(!short.is_empty() && short.len() <= 50 && !short.contains('\n'), "a short description of one line");
    let description = text("/spec/description");
    rule(!description.is_empty(), "a description");
    rule(
        !description.contains("kubectl rollout2") && !description.contains("--"),
        "it lists no commands and no flags",
    );
    rule(text("/spec/homepage").starts_with("https://"), "a homepage");
    rule(is_version(text("/spec/version")), "a version: v and three numbers");
    let platforms =
        manifest.pointer("/spec/platforms").and_then(Value::as_array).cloned().unwrap_or_default();
    rule(platforms.len() == archives.len(), "a platform for each archive");
    let mut covered = BTreeSet::new();
    for (platform, archive) in platforms.iter().zip(archives) {
        let text = |pointer: &str| platform.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (os, arch) = (text("/selector/matchLabels/os"), text("/selector/matchLabels/arch"));
        rule(PLATFORMS.contains(&(os, arch)), "a platform of krew");
        rule(covered.insert((os.to_owned(), arch.to_owned())), "no two platforms overlap");
        let labels = platform.pointer("/selector/matchLabels").and_then(Value::as_object);
        rule(labels.is_some_and(|labels| labels.len() == 2), "a selector by os and arch only");
        let fields: Vec<_> = platform.as_object().unwrap().keys().map(String::as_str).collect();
        rule(fields == ["bin", "selector", "sha256", "uri"], "no more fields than are needed");
        let (uri, name) = (text("/uri"), archive.file_name().unwrap().to_string_lossy());
        rule(uri == format!("https://forge.example/files/{name}"), "an address");
        rule([".tar.gz", ".zip"].iter().any(|end| uri.ends_with(end)), "a .tar.gz or a .zip");
        rule(text("/sha256") == sha256(archive), "the checksum of the archive, in lower case");
        rule(
            (text("/bin") == "kubectl-rollout2.exe") == (os == "windows"),
            "an .exe for Windows and nowhere else",
        );
    }
    broken
}

const PLATFORMS: [(&str, &str); 5] =
    [("linux", "amd64"), ("linux", "arm64"), ("darwin", "amd64"), ("darwin", "arm64"), ("windows", "amd64")];

fn is_version(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<_> = core.strip_prefix('v').unwrap_or_default().split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
}

fn sha256(path: &Path) -> String {
    Sha256::digest(std::fs::read(path).unwrap())
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[test]
fn a_manifest_of_all_platforms_is_valid() {
    let here = directory("manifest");
    let archives: Vec<_> = PLATFORMS
        .iter()
        .map(|(os, arch)| {
            let end = if *os == "windows" { "zip" } else { "tar.gz" };
            let path = here.join(format!("kubectl-rollout2-v1.2.3-{os}-{arch}.{end}"));
            std::fs::write(&path, format!("{os} {arch}")).unwrap();
            path
        })
        .collect();
    let archives: Vec<&Path> = archives.iter().map(AsRef::as_ref).collect();
    let manifest = render(&archives);
    assert_eq!(broken_rules(&manifest, &archives), [""; 0], "{manifest:#}");
    std::fs::write(archives[0], "altered").unwrap();
    let broken = broken_rules(&manifest, &archives);
    assert_eq!(broken, ["the checksum of the archive, in lower case"]);
}

#[test]
fn no_checksum_is_committed() {
    let template = std::fs::read_to_string(root().join("krew/rollout2.yaml.template")).unwrap();
    let is_checksum = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(!template.split_whitespace().any(is_checksum), "{template}");
}

#[test]
fn archives_of_two_versions_or_with_unknown_names_are_refused() {
    let here = directory("strange");
    let names =
        ["kubectl-rollout2-v1.0.0-linux-amd64.tar.gz", "kubectl-rollout2-v1.0.1-linux-arm64.tar.gz", "x.zip"];
    let paths = names.map(|name| here.join(name));
    for path in &paths {
        std::fs::write(path, "").unwrap();
    }
    let render = |archives: &[&Path]| {
        let mut command = Command::new(root().join("krew/render"));
        let output = command
            .args(["--homepage", "https://h", "--download", "https://d"])
            .args(archives)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (archives, why) in [
        ([paths[0].as_path(), &paths[1]].as_slice(), "of another version"),
        (&[&paths[2]], "is no name that"),
        (&[Path::new("/does/not/exist")], "there is no"),
        (&[], "which archives"),
    ] {
        let (code, stderr) = render(archives);
        assert!(code == Some(2) && stderr.contains(why), "{archives:?}: {stderr}");
    }
}
