//! Properties that hold for all templates, valid or hostile.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::apply::apply;
use super::changes;
use crate::diff::compare::compare;
use crate::diff::secret::{mask_change, without_secret_values};
use crate::diff::{Diff, DiffSide, SecretValues, yaml};
use crate::revision::template::Template;

/// Any JSON, including member names with a meaning in templates.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        3 => prop::sample::select(vec![
            "metadata", "spec", "containers", "env", "name", "value", "labels", "limits", "resources", "ports",
            "containerPort", "protocol", "tolerations", "key", "effect", "args", "$patch", "pod-template-hash",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["A", "B", "a#2", "true", "8080", ""]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(name.clone(), inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Mostly keyed lists, with duplicate keys and optional members.
fn any_list(key: &'static str, member: &'static str) -> impl Strategy<Value = Value> {
    let element = ("[ABC]", prop::option::weighted(0.9, "[xy]"), any::<bool>()).prop_map(
        move |(name, value, has_key)| {
            let mut element = json!({});
            if has_key || name != "C" {
                element[key] = name.into();
            }
            if let Some(value) = value {
                element[member] = value.into();
            }
            element
        },
    );
    prop::collection::vec(element, 0..4).prop_map(Value::Array)
}

/// Templates similar to those of an API server.
fn any_template() -> impl Strategy<Value = Template> {
    let container = (any_list("name", "value"), any_list("containerPort", "protocol"), any_json()).prop_map(
        |(env, ports, other)| json!({"env": env, "ports": ports, "resources": {"limits": other}, "args": [other]}),
    );
    let containers = prop::collection::vec(("[ab]", container), 0..3).prop_map(|containers| {
        let named = |(name, mut container): (String, Value)| {
            container["name"] = name.into();
            container
        };
        containers.into_iter().map(named).collect::<Value>()
    });
    let sensible = (containers, any_list("key", "effect"), prop::option::of(any_json())).prop_map(
        |(containers, tolerations, other)| {
            let annotations = json!({"a.b/c": "d"});
            json!({"metadata": {"annotations": other.map(|_| annotations)},
                "spec": {"containers": containers, "tolerations": tolerations}})
        },
    );
    prop_oneof![3 => sensible, 1 => any_json()].prop_map(|raw| Template::new(&raw))
}

proptest! {
    // A failed case becomes a named test, not a line in a file of seeds.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn applying_the_changes_gives_the_other_template(from in any_template(), to in any_template()) {
        let applied = apply(&from.canonical(), &changes(&from, &to));
        let (left, _) = compare(&applied, &to.canonical(), SecretValues::Shown);
        prop_assert_eq!(&left.changes, &vec![]);
        if left.reordered.is_empty() {
            prop_assert_eq!(Template::new(&applied).digest(), to.digest());
        }
    }

    #[test]
    fn equal_templates_have_equal_digests(from in any_template(), to in any_template()) {
        let diff = Diff::between(&from, &to, SecretValues::Shown);
        if diff.summary().is_empty() {
            prop_assert_eq!(from.digest(), to.digest());
        }
    }

    #[test]
    fn nothing_changes_between_a_template_and_itself(template in any_template()) {
        prop_assert_eq!(apply(&template.canonical(), &[]), template.canonical());
        let (comparison, _) = compare(&template.canonical(), &template.canonical(), SecretValues::Shown);
        prop_assert!(comparison.changes.is_empty() && comparison.reordered.is_empty());
    }

    #[test]
    fn changes_are_symmetric(from in any_template(), to in any_template()) {
        let mut there = changes(&from, &to);
        let mut back = changes(&to, &from);
        for change in &mut back {
            std::mem::swap(&mut change.from, &mut change.to);
        }
        there.sort_by(|a, b| a.path.cmp(&b.path));
        back.sort_by(|a, b| a.path.cmp(&b.path));
        prop_assert_eq!(there, back);
    }

    #[test]
    fn a_masked_change_is_still_a_change(from in any_template(), to in any_template()) {
        let raw = changes(&from, &to);
        let masked: Vec<_> = raw.iter().cloned().map(mask_change).collect();
        prop_assert_eq!(masked.len(), raw.len());
        for change in &masked {
            prop_assert_ne!(&change.from, &change.to);
        }
        let from = without_secret_values(&from.canonical());
        prop_assert_eq!(apply(&from, &masked) == from, masked.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hunks_contain_the_changes_only(from in any_template(), to in any_template()) {
        let diff = Diff::between(&from, &to, SecretValues::Masked);
            let hunks = diff.hunks(usize::MAX, None);
        prop_assert_eq!(hunks.is_empty(), diff.changes.is_empty());
        let side = |other: DiffSide| {
            let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side != other);
            lines.map(|line| line.text.clone() + "\n").collect::<String>()
        };
        if let (false, [from, to]) = (hunks.is_empty(), &diff.templates) {
            prop_assert_eq!((side(DiffSide::To), side(DiffSide::From)), (yaml(from), yaml(to)));
        }
    }
}
