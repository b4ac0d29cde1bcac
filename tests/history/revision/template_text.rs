//! The text of a pod template with nearly every field, with unusual values, and of any JSON.

use proptest::prelude::*;
use rollout2::render::template_text::{pod_template_text, with_change_cause};
use serde_json::{Value, json};

use crate::strategies::any_text;

/// A real kubectl printed `rich.txt`, except the volumes and the topology spread constraints.
#[test]
fn a_template_with_most_fields_matches_kubectl() {
    let template: Value = serde_json::from_str(include_str!("rich.json")).expect("JSON");
    let template = with_change_cause(&template, "rich v1");
    assert_eq!(pod_template_text(&template), include_str!("rich.txt"));
}

/// A real kubectl (1.33) printed `edges.txt`: unset and unusual values of all fields except volumes and topology spread
/// constraints.
#[test]
fn unset_and_unusual_values_match_kubectl() {
    let template: Value = serde_json::from_str(include_str!("edges.json")).expect("JSON");
    assert_eq!(pod_template_text(&template), include_str!("edges.txt"));
}

#[test]
fn an_empty_template_matches_kubectl() {
    let text = "Pod Template:\n  Labels:\t<none>\n  Containers: <none>\n  Volumes:\t<none>\n  \
                Node-Selectors:\t<none>\n  Tolerations:\t<none>\n";
    for empty in [json!({}), json!(null), json!(7), json!({"metadata": [], "spec": "x"})] {
        assert_eq!(pod_template_text(&empty), text, "{empty}");
    }
}

#[test]
fn escape_characters_are_escaped() {
    let template = json!({"spec": {"containers": [{"name": "a", "command": ["\u{1b}[31mred\r"]}]}});
    assert!(pod_template_text(&template).contains("      ^[[31mred\\r\n"));
}

proptest! {
    #[test]
    fn any_json_can_be_printed(template in invalid_templates()) {
        prop_assert!(pod_template_text(&template).ends_with('\n'));
    }
}

/// Templates with most fields, in which random values have a wrong type.
fn invalid_templates() -> impl Strategy<Value = Value> {
    let wrong = prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        Just(json!([1, "x", null, {}, []])),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), wrong), 1..8).prop_map(|changes| {
        let mut template: Value = serde_json::from_str(include_str!("rich.json")).expect("JSON");
        for (place, wrong) in changes {
            let mut pointers = Vec::new();
            list_pointers(&template, String::new(), &mut pointers);
            if let Some(value) = template.pointer_mut(&pointers[place.index(pointers.len())]) {
                *value = wrong;
            }
        }
        template
    })
}

fn list_pointers(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                list_pointers(member, format!("{pointer}/{name}"), pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                list_pointers(item, format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
    pointers.push(pointer);
}
