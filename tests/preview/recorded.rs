//! Manifests that were previewed and then applied to a real 1.36.2 control plane. Each file has the objects before,
//! what `kubectl apply --dry-run=server -o json` printed, and what happened when the manifest was applied.

use std::fs;

use harness::prelude::*;

use crate::preview::setup::{Directory, MANIFEST, preview_with, run_on};

/// Returns the recorded cases by name.
fn cases() -> Vec<(String, Value)> {
    let files = fs::read_dir(data().join("preview/recorded")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: std::path::PathBuf| {
        let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        (case["case"].as_str().unwrap().to_owned(), case)
    };
    files.into_iter().map(read).collect()
}

/// `preview ARGS...` of a recorded case.
async fn preview(case: &Value, args: &[&str]) -> Output {
    let cluster = SimCluster::builder().snapshot(&case["before"]).unwrap().build();
    let run = Run::of(["preview", "-n", "preview", "-f", "-"].iter().chain(args)).kubectl_applies();
    run_on(&cluster, run.stdin(case["applied"].to_string())).await
}

/// Compares a preview with what happened, and returns the differences.
fn differences(name: &str, item: &Value, happened: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |what: &str, foretold: &Value, happened: &Value| {
        if foretold != happened {
            wrong.push(format!("{name}: {what}: foretold {foretold}, happened {happened}"));
        }
    };
    if happened["outcome"] == "new-template-while-paused" {
        compare("outcome", &item["outcome"], &json!("new-revision"));
        compare("afterPause", &item["afterPause"], &json!(true));
        return wrong;
    }
    compare("outcome", &item["outcome"], &happened["outcome"]);
    if let Some(number) = happened.get("number") {
        compare("toRevision", &item["toRevision"], number);
    }
    if !item["revisionName"].is_null() {
        compare("revisionName", &item["revisionName"], &happened["name"]);
    }
    if let Some(number) = happened.get("returnsTo") {
        compare("returnsTo", &item["returnsTo"], number);
    }
    if let Some(replaced) = happened.get("replaced") {
        // Recorded is how many pods were deleted.
        let foretold = item["effect"]["replaced"].as_array().map_or(0, |names| names.len() as u64);
        let removed = item["effect"]["removed"].as_u64().unwrap_or_default();
        compare("replaced", &json!(foretold + removed), replaced);
    }
    wrong
}

#[tokio::test]
async fn what_was_foretold_is_what_happened() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, case) in cases().iter().filter(|(_, case)| !case["applied"].is_null()) {
        let ended = preview(case, &["-o", "json"]).await;
        assert_eq!((ended.stderr.as_str(), ended.exit), ("", 0), "{name}");
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        let happened = case["happened"].as_array().unwrap();
        let items = document["items"].as_array().unwrap();
        assert_eq!(items.len(), happened.len(), "{name}");
        for (item, happened) in items.iter().zip(happened) {
            wrong.extend(differences(name, item, happened));
            checked += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked >= 20, "{checked}");
}

/// One block of text for each case.
#[tokio::test]
async fn the_words_of_every_recorded_case() {
    let mut transcript = String::new();
    for (name, case) in cases().iter().filter(|(_, case)| !case["applied"].is_null()) {
        transcript += &format!("# {name}\n{}\n", preview(case, &[]).await.transcript);
    }
    insta::assert_snapshot!(transcript);
}

/// What kubectl printed when the API server refused a manifest.
#[cfg(unix)]
#[tokio::test]
async fn recorded_refusals_are_reported() {
    let mut transcript = String::new();
    for (name, case) in cases().iter().filter(|(_, case)| case["applied"].is_null()) {
        let directory = Directory::new();
        directory.write("manifest.json", &case["manifest"].to_string());
        directory.write("stderr", case["stderr"].as_str().unwrap());
        let program =
            directory.program("case $1 in create) cat manifest.json;; *) cat stderr >&2; exit 1;; esac");
        let cluster = SimCluster::builder().snapshot(&case["before"]).unwrap().build();
        let ended = run_on(&cluster, preview_with(&program, &["-f", MANIFEST])).await;
        assert_eq!(ended.exit, 1, "{name}");
        assert_eq!(case["happened"][0]["outcome"], "refused", "{name}");
        transcript += &format!("# {name}\n{}\n", ended.transcript);
    }
    insta::assert_snapshot!(transcript);
}
