//! The evaluator against what kubectl 1.36.2 printed (`tests/data/jsonpath`).

use serde_json::{Value, json};

use super::JsonPath;
use crate::text::json::go_text;

const SNAPSHOT: &str = include_str!("../../../../../tests/data/jsonpath/snapshot.json");
const CASES: &str = include_str!("../../../../../tests/data/jsonpath/cases.json");

/// Returns the object or the list that `kubectl get` printed.
fn got(what: &str) -> Value {
    let mut list: Value = serde_json::from_str(SNAPSHOT).unwrap();
    let items = list["items"].as_array_mut().unwrap();
    items.retain(|item| what.contains(&item["kind"].as_str().unwrap().to_lowercase()));
    if what.contains("web") { items[0].clone() } else { list }
}

#[test]
fn results_and_errors_are_kubectls() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for case in cases.as_array().unwrap() {
        let text = |name: &str| case[name].as_str().unwrap();
        let (Some(what), "jsonpath") = (text("command").strip_prefix("get "), text("output")) else {
            continue;
        };
        let (begun, ended) = (text("expression").matches("range "), text("expression").matches("end"));
        if begun.count() > ended.count() {
            continue; // kubectl evaluates the parts of a loop without an end once more
        }
        let document = got(what);
        let path = JsonPath::parse(text("expression"));
        let printed = path.and_then(|path| path.print(&document));
        let is_same = match &printed {
            Ok(printed) => case["exit"] == 0 && printed == text("stdout"),
            Err(message) => case["exit"] == 1 && text("stderr").contains(message.as_str()),
        };
        count += 1;
        if !is_same {
            wrong.push(format!(
                "{}\n  ours {printed:?}\n  kubectl {:?} {:?}",
                text("expression"),
                text("stdout"),
                text("stderr")
            ));
        }
    }
    assert!(count > 70, "{count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_template_makes_it_panic() {
    let document = json!({"a": [1, {"b": "c"}, null], "d": {"e": [[]]}});
    let parts = [
        "{", "}", "[", "]", "..", ".a", "*", "[?(", ")]", "@", "==", "\"", "'", "\\", "é", "range ", "end",
        ":", "-1", ",", "\n",
    ];
    let mut state = 7_usize;
    for _ in 0..20_000 {
        let mut template = String::new();
        for _ in 0..9 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            template += parts[(state >> 33) % parts.len()];
        }
        let _ = JsonPath::parse(&template).and_then(|path| path.print(&document)); // only must return
    }
}

#[test]
fn members_are_visited_by_name() {
    let document = json!({"b": {"x": 1}, "a": {"x": 2}});
    let print = |template| JsonPath::parse(template).unwrap().print(&document).unwrap();
    assert_eq!(print("{..x}"), "2 1");
    assert_eq!(print("{.*.x}"), "2 1");
}

/// As in kubectl: an empty slice ends the evaluation, and a range without an end ends with the template.
#[test]
fn lists_after_an_empty_slice_are_left_out_and_the_last_range_needs_no_end() {
    let document = json!({"a": [{"l": [1]}, {"l": [1, 2]}, {"l": [3, 4]}], "b": [{"y": 5}, {"y": 6}]});
    let print = |template| JsonPath::parse(template).unwrap().print(&document).unwrap();
    assert_eq!(print("{.a[*].l[1:]}"), "");
    assert_eq!(print("{range .a[*]}{.l[0]} {end}{range .b[*]}{.y}"), "1 1 3 56");
}

#[test]
fn values_are_printed_as_in_go() {
    for (value, text) in [
        (json!(2_147_483_647), "2147483647"),
        (json!(-1_000_000), "-1000000"),
        (json!(0.000_01), "1e-05"),
        (json!(1.5), "1.5"),
        (json!({"b": [1, null, true], "a": {}}), "map[a:map[] b:[1 <nil> true]]"),
    ] {
        assert_eq!(go_text(&value), text);
    }
}
