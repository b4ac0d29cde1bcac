//! Puts a hostile text into each field of each object, and runs every verb.
//!
//! The fields are those of the recorded objects, so fields that the program prints in the future are covered too.

use std::collections::{BTreeMap, BTreeSet};

use crate::security::commands::{COMMANDS, Origin, OutputFormat, StreamKind};
use crate::security::escape_detector::{self, MARK};
use crate::security::printed_commands;
use crate::security::setup::{cluster, shop, trouble};
use serde_json::Value;

/// The names of maps with arbitrary keys.
const MAPS: [&str; 6] = ["labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests"];

/// Returns the field paths, each with an example of its value:
/// `Pod.status.containerStatuses[].state.waiting.reason`, and `Pod.metadata.labels{}` for the names in a map.
fn places(snapshot: &Value) -> BTreeMap<String, Value> {
    let mut places = BTreeMap::new();
    for item in snapshot["items"].as_array().unwrap() {
        visit(&mut item.clone(), root(item), &mut |place, value| {
            places.insert(place.to_owned(), value.clone());
        });
    }
    places
}

/// Returns the first part of the field paths of an object. All workloads have the same one, and all revisions.
fn root(object: &Value) -> &'static str {
    match object["kind"].as_str() {
        Some("Deployment" | "StatefulSet" | "DaemonSet") => "Workload",
        Some("ReplicaSet" | "ControllerRevision") => "Revision",
        Some("Pod") => "Pod",
        Some("ConfigMap" | "Secret") => "Configuration",
        _ => "Event",
    }
}

/// Visits every leaf and every map with arbitrary keys, with its field path.
fn visit(value: &mut Value, place: &str, see: &mut impl FnMut(&str, &mut Value)) {
    let is_free = MAPS.iter().any(|map| place.ends_with(&format!(".{map}")));
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let name = if is_free { "*" } else { name };
                if !name.starts_with("fieldsV1") {
                    // The `data` of a ControllerRevision corresponds to the top level of a ReplicaSet.
                    let place = if name == "data" && place == "Revision" {
                        place.to_owned()
                    } else {
                        format!("{place}.{name}")
                    };
                    visit(member, &place, see);
                }
            }
            if is_free {
                see(&format!("{place}{{}}"), value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, &format!("{place}[]"), see)),
        _ => see(place, value),
    }
}

/// Returns the group of a field path. The fields of one group are tested together, since the program prints them
/// independently. Elsewhere the value of one field can decide whether another is printed.
fn group(place: &str, value: &Value) -> String {
    let steps: Vec<_> = place.split('.').collect();
    let is_time = value.as_str().is_some_and(|text| text.len() == 20 && text.ends_with('Z'));
    let together = match steps.as_slice() {
        [root, ..] if value.is_number() || value.is_boolean() || is_time => {
            return format!("{root}, no texts");
        }
        ["Pod", "spec", ..] => 2,
        ["Workload", "spec", "template", ..] => 3,
        [_, "spec", "template", "spec", list, ..] if list.ends_with("ontainers[]") => 6,
        [_, "spec", "template", "spec", ..] => 5,
        _ => steps.len(),
    };
    steps.into_iter().take(together).collect::<Vec<_>>().join(".")
}

/// Whether a group decides which objects exist, belong together or are shown, or replaces values that are no texts.
fn decides(group: &str) -> bool {
    const STEPS: [&str; 5] = ["labels", "matchLabels", "ownerReferences[]", "involvedObject", "strategy"];
    const LAST: [&str; 11] = [
        "kind",
        "apiVersion",
        "name",
        "namespace",
        "uid",
        "type",
        "status",
        "reason",
        "template",
        "image",
        "spec",
    ];
    let mut steps = group.trim_end_matches(['{', '}']).split('.');
    group.contains(", no texts")
        || LAST.iter().any(|last| group.rsplit('.').next() == Some(last))
        || steps.any(|step| STEPS.contains(&step))
}

/// Returns the field paths of each run. The groups of an object that decide nothing have one run together, and each of
/// the others has its own. Runs of different objects are combined, except those of workloads, which decide what is
/// printed of the others. A run of its own for each group prints no field that these do not print.
fn runs(groups: BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    let mut of_root: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (group, places) in groups {
        let root = group.split(['.', ',']).next().unwrap_or_default();
        let runs = of_root.entry(root.to_owned()).or_insert_with(|| vec![Vec::new()]);
        if decides(&group) { runs.push(places) } else { runs[0].extend(places) }
    }
    // Runs with files are combined with runs with files.
    for runs in of_root.values_mut() {
        runs.sort_by_key(|places| !places.iter().any(|place| is_for_files(place)));
    }
    let of_workloads = of_root.remove("Workload").unwrap_or_default();
    let most = of_root.values().map(Vec::len).max().unwrap_or_default();
    let combined = (0..most)
        .map(|index| of_root.values().filter_map(|runs| runs.get(index)).flatten().cloned().collect());
    of_workloads.into_iter().chain(combined).collect()
}

/// Returns the mark that identifies a field path in its run.
fn mark(index: usize) -> String {
    format!("{MARK}-{index}-")
}

/// Returns the snapshot with a hostile text appended to the fields with these paths.
fn with_hostile_text(snapshot: &Value, at: &[String]) -> Value {
    let mut snapshot = snapshot.clone();
    for (number, item) in snapshot["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        visit(item, root(item), &mut |place, value| {
            let Some(index) = at.iter().position(|at| at == place) else { return };
            let hostile = format!("{}{}{number}", mark(index), escape_detector::text()); // all texts are different
            match value {
                Value::Object(members) => drop(members.insert(hostile, "x".into())),
                Value::String(text) => text.push_str(&hostile),
                _ => *value = hostile.into(),
            }
        });
    }
    snapshot
}

/// The result for one field path.
#[derive(Debug, Default)]
struct FieldResult {
    /// The verbs that print the field as text.
    verbs: BTreeSet<String>,
    wrong: Vec<String>,
}

/// Whether a server rejects any other value of this field, so that only a file can contain one.
fn is_for_files(place: &str) -> bool {
    ["kind", "apiVersion", "metadata.namespace"]
        .iter()
        .any(|end| place.split_once('.').is_some_and(|(_, place)| place == *end))
}

/// A set of objects, and the fields and verbs to test.
struct FieldTest {
    snapshot: fn() -> Value,
    /// Whether a field path is tested.
    includes: fn(&str) -> bool,
    /// The beginning of the command lines to run.
    verb: &'static str,
}

async fn test_fields(snapshot: &Value, verb: &str, places: Vec<String>) -> Vec<(String, FieldResult)> {
    let with_hostile_text = with_hostile_text(snapshot, &places);
    let origin = if places.iter().any(|place| is_for_files(place)) {
        Origin::Snapshot(with_hostile_text.to_string())
    } else {
        Origin::Cluster(cluster(&with_hostile_text, "out of luck"))
    };
    let mut seen: Vec<_> = places.into_iter().map(|place| (place, FieldResult::default())).collect();
    let names = printed_commands::names(snapshot);
    for (args, format, stream) in COMMANDS.iter().filter(|(args, ..)| args.starts_with(verb)) {
        let Some(output) = origin.run(args, *stream).await else { continue };
        let verb = args.split(' ').next().unwrap().replace("__complete", "completion");
        for (index, (_, seen)) in seen.iter_mut().enumerate() {
            if *format != OutputFormat::Exact && output.transcript.contains(&mark(index)) {
                seen.verbs.insert(verb.clone());
            }
        }
        let is_text = *format == OutputFormat::Text && *stream == StreamKind::Pipe;
        let command = is_text.then(|| printed_commands::first_mistake(&output.transcript, &names)).flatten();
        let wrong = format.unsafe_text(&output).into_iter().chain(command);
        seen[0].1.wrong.extend(wrong.map(|wrong| format!("{args} ({stream:?}): {wrong}")));
    }
    seen
}

impl FieldTest {
    /// Tests the groups of one share of `of` shares.
    async fn test_share(&self, share: usize, of: usize) -> BTreeMap<String, FieldResult> {
        let snapshot = (self.snapshot)();
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (place, value) in places(&snapshot).into_iter().filter(|(place, _)| (self.includes)(place)) {
            groups.entry(group(&place, &value)).or_default().push(place);
        }
        let mut seen = BTreeMap::new();
        for places in runs(groups).into_iter().skip(share).step_by(of) {
            seen.extend(test_fields(&snapshot, self.verb, places).await);
        }
        seen
    }

    /// Tests one share of the fields: every output must be safe. Returns how many fields a verb printed.
    async fn run(&self, share: usize, of: usize) -> usize {
        let seen = self.test_share(share, of).await;
        let wrong = seen
            .iter()
            .flat_map(|(place, seen)| seen.wrong.iter().map(move |wrong| format!("{place}: {wrong}")));
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{} times\n{}", wrong.len(), wrong.join("\n"));
        seen.values().map(|result| result.verbs.len()).sum()
    }
}

const SHOP: FieldTest = FieldTest { snapshot: shop, includes: |_| true, verb: "" };
const TROUBLE: FieldTest =
    FieldTest { snapshot: trouble, includes: |place| !place.contains(".spec"), verb: "status" };

/// Requires that many fields are printed, so that no output is safe by being empty.
async fn prints_fields_safely(test: &FieldTest, (share, of): (usize, usize), at_least: usize) {
    let printed = test.run(share, of).await;
    assert!(printed >= at_least, "only {printed} fields are printed");
}

#[tokio::test(start_paused = true)]
async fn no_field_of_the_first_half_reaches_a_terminal_unescaped() {
    prints_fields_safely(&SHOP, (0, 2), 100).await;
}

#[tokio::test(start_paused = true)]
async fn no_field_of_the_second_half_reaches_a_terminal_unescaped() {
    prints_fields_safely(&SHOP, (1, 2), 100).await;
}

#[tokio::test(start_paused = true)]
async fn no_field_of_failed_workloads_reaches_a_terminal_unescaped() {
    prints_fields_safely(&TROUBLE, (0, 1), 10).await;
}
