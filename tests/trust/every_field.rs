//! Puts a hostile text into each field of each object, and runs every verb.
//!
//! The fields are those of the recorded objects, so a field that is printed later is covered already.
//! [`printed_fields`](crate::printed_fields) lists the printed fields. A test fails for a missing one, so that a new
//! field is reviewed.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::{COMMANDS, Form, Origin, To};
use crate::escape_detector::{self, MARK};
use crate::printed_commands;
use crate::printed_fields::SHOWN;
use crate::setup::{cluster, shop, trouble};
use serde_json::Value;

/// Maps with arbitrary keys.
const FREE: [&str; 6] = ["labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests"];

/// The kinds of places, each with an example of its value:
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

/// The role of an object. All kinds of workloads have the same places, and so have their revisions.
fn root(object: &Value) -> &'static str {
    match object["kind"].as_str() {
        Some("Deployment" | "StatefulSet" | "DaemonSet") => "Workload",
        Some("ReplicaSet" | "ControllerRevision") => "Revision",
        Some("Pod") => "Pod",
        _ => "Event",
    }
}

/// Visits every leaf and every map with arbitrary keys, with its place.
fn visit(value: &mut Value, place: &str, see: &mut impl FnMut(&str, &mut Value)) {
    let is_free = FREE.iter().any(|map| place.ends_with(&format!(".{map}")));
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

/// Groups places that are tried together: fields of one template or pod spec are printed independently.
/// Elsewhere the value of one field can decide whether another is printed.
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

/// The mark of a place, which identifies it among places that are tried together.
fn mark(index: usize) -> String {
    format!("{MARK}-{index}-")
}

/// Returns the snapshot with a hostile text appended at some kinds of places.
fn poisoned(snapshot: &Value, at: &[String]) -> Value {
    let mut poisoned = snapshot.clone();
    for (number, item) in poisoned["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        visit(item, root(item), &mut |place, value| {
            let Some(index) = at.iter().position(|at| at == place) else { return };
            let hostile = format!("{}{}{number}", mark(index), escape_detector::text()); // no two are the same
            match value {
                Value::Object(members) => drop(members.insert(hostile, "x".into())),
                Value::String(text) => text.push_str(&hostile),
                _ => *value = hostile.into(),
            }
        });
    }
    poisoned
}

/// The result for one kind of place.
#[derive(Debug, Default)]
struct Seen {
    /// The verbs that print it as text.
    verbs: BTreeSet<String>,
    wrong: Vec<String>,
}

/// Objects that a server would reject and a file can contain.
fn is_for_files(place: &str) -> bool {
    ["kind", "apiVersion", "metadata.namespace"]
        .iter()
        .any(|end| place.split_once('.').is_some_and(|(_, place)| place == *end))
}

/// Objects, and the places and verbs to try.
struct Tour {
    snapshot: fn() -> Value,
    /// Whether a kind of place is tried.
    tries: fn(&str) -> bool,
    /// The beginning of the command lines to try.
    verb: &'static str,
}

async fn try_out(snapshot: &Value, verb: &str, places: Vec<String>) -> Vec<(String, Seen)> {
    let poisoned = poisoned(snapshot, &places);
    let origin = if places.iter().any(|place| is_for_files(place)) {
        Origin::Snapshot(poisoned.to_string())
    } else {
        Origin::Cluster(cluster(&poisoned, "out of luck"))
    };
    let mut seen: Vec<_> = places.into_iter().map(|place| (place, Seen::default())).collect();
    let names = printed_commands::names(snapshot);
    for (words, form, to) in COMMANDS.iter().filter(|(words, ..)| words.starts_with(verb)) {
        let Some(output) = origin.run(words, *to).await else { continue };
        let verb = words.split(' ').next().unwrap().replace("__complete", "completion");
        for (index, (_, seen)) in seen.iter_mut().enumerate() {
            if *form != Form::Exact && output.transcript.contains(&mark(index)) {
                seen.verbs.insert(verb.clone());
            }
        }
        let is_text = *form == Form::Text && *to == To::Pipe;
        let pasted = is_text.then(|| printed_commands::wrong_in(&output.transcript, &names)).flatten();
        let wrong = form.wrong_with(&output).into_iter().chain(pasted);
        seen[0].1.wrong.extend(wrong.map(|wrong| format!("{words} ({to:?}): {wrong}")));
    }
    seen
}

impl Tour {
    /// Tries the `share`-th part of `of` parts of its places.
    async fn all_places(&self, share: usize, of: usize) -> BTreeMap<String, Seen> {
        let snapshot = (self.snapshot)();
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (place, value) in places(&snapshot).into_iter().filter(|(place, _)| (self.tries)(place)) {
            groups.entry(group(&place, &value)).or_default().push(place);
        }
        let mut seen = BTreeMap::new();
        for places in groups.into_values().skip(share).step_by(of) {
            seen.extend(try_out(&snapshot, self.verb, places).await);
        }
        seen
    }

    /// Tries some of its places: all output must be safe, and printed places must be listed.
    fn go(&self, share: usize, of: usize) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let seen = runtime.block_on(self.all_places(share, of));
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
            "shown, and not in tests/trust/printed_fields.rs:\n{}",
            unlisted.join("\n")
        );
    }
}

const SHOP: Tour = Tour { snapshot: shop, tries: |_| true, verb: "" };
const TROUBLE: Tour = Tour { snapshot: trouble, tries: |place| !place.contains(".spec"), verb: "status" };

#[test]
fn no_field_reaches_a_terminal_unescaped() {
    SHOP.go(0, 2);
}

#[test]
fn no_unlisted_field_reaches_a_terminal_unescaped() {
    SHOP.go(1, 2);
}

#[test]
fn no_error_reaches_a_terminal_unescaped() {
    TROUBLE.go(0, 1);
}

#[test]
fn the_listed_fields_exist() {
    let (shop, trouble) = (places(&shop()), places(&trouble()));
    for (listed, _) in SHOWN {
        let is_there = shop.keys().chain(trouble.keys()).any(|place| place.starts_with(listed));
        assert!(is_there, "{listed} is no place of the recorded objects");
    }
}
