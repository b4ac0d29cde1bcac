//! Puts a hostile text into each field of each object, and runs every verb.
//!
//! The fields are those of the recorded objects, so fields that the program prints in the future are covered too.
//! [`printed_fields`](crate::trust::printed_fields) lists the printed fields. A test fails for a missing one, so that a new
//! field is reviewed.

use std::collections::{BTreeMap, BTreeSet};

use crate::trust::commands::{COMMANDS, Origin, OutputFormat, StreamKind};
use crate::trust::escape_detector::{self, MARK};
use crate::trust::printed_commands;
use crate::trust::printed_fields::SHOWN;
use crate::trust::setup::{cluster, shop, trouble};
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

/// Returns the field paths of each run. A workload decides what is printed of the others, and names, labels and owners
/// decide which objects belong together, so these groups are tested alone. The others are tested with one group each of
/// a pod, a revision and an event.
fn runs(groups: BTreeMap<String, Vec<String>>) -> Vec<Vec<String>> {
    const ALONE: [&str; 5] = ["Workload", "metadata", "involvedObject", "kind", "apiVersion"];
    let is_alone = |group: &String| ALONE.iter().any(|part| group.contains(part));
    let (alone, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        groups.into_iter().partition(|(group, _)| is_alone(group));
    let mut together: Vec<Vec<String>> = Vec::new();
    for root in ["Pod", "Revision", "Event"] {
        let of_root = others.iter().filter(|(group, _)| group.starts_with(root));
        for (index, (_, places)) in of_root.enumerate() {
            together.resize(together.len().max(index + 1), Vec::new());
            together[index].extend_from_slice(places);
        }
    }
    assert_eq!(together.iter().flatten().count(), others.values().flatten().count());
    alone.into_values().chain(together).collect()
}

/// Returns the mark that identifies a field path in its group.
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

    /// Tests one share of the fields: every output must be safe, and every printed field must be listed.
    fn run(&self, share: usize, of: usize) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let seen = runtime.block_on(self.test_share(share, of));
        let wrong = seen
            .iter()
            .flat_map(|(place, seen)| seen.wrong.iter().map(move |wrong| format!("{place}: {wrong}")));
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "{} times\n{}", wrong.len(), wrong.join("\n"));
        let shows = |place: &str, verb: &str| {
            let is_it = |listed: &str| {
                place.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || listed.ends_with('.'))
            };
            SHOWN.iter().any(|(listed, verbs)| is_it(listed) && verbs.split(' ').any(|listed| listed == verb))
        };
        let unlisted: Vec<_> = seen
            .iter()
            .flat_map(|(place, seen)| seen.verbs.iter().map(move |verb| (place, verb)))
            .filter(|(place, verb)| !shows(place, verb))
            .map(|(place, verb)| format!("{place}: {verb}"))
            .collect();
        assert!(
            unlisted.is_empty(),
            "printed, but not in tests/trust/printed_fields.rs:\n{}",
            unlisted.join("\n")
        );
    }
}

const SHOP: FieldTest = FieldTest { snapshot: shop, includes: |_| true, verb: "" };
const TROUBLE: FieldTest =
    FieldTest { snapshot: trouble, includes: |place| !place.contains(".spec"), verb: "status" };

#[test]
fn no_field_of_the_first_share_reaches_a_terminal_unescaped() {
    SHOP.run(0, 2);
}

#[test]
fn no_field_of_the_second_share_reaches_a_terminal_unescaped() {
    SHOP.run(1, 2);
}

#[test]
fn no_field_of_a_failing_workload_reaches_a_terminal_unescaped() {
    TROUBLE.run(0, 1);
}

#[test]
fn the_listed_fields_exist() {
    let (shop, trouble) = (places(&shop()), places(&trouble()));
    for (listed, _) in SHOWN {
        let is_there = shop.keys().chain(trouble.keys()).any(|place| place.starts_with(listed));
        assert!(is_there, "no recorded object has the field {listed}");
    }
}
