//! Invalid and hostile templates.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::diff::{diff_of, web};

#[test]
fn escape_sequences_are_escaped_and_each_change_is_one_line() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\tsplit\nbroken\u{9b}31m";
    let from = web(&json!({"image": hostile, "env": [{"name": "A", "value": "1"}]}));
    let mut to = web(&json!({"image": "web:1", "env": [{"name": hostile, "value": hostile}]}));
    to["metadata"]["annotations"] = json!({ hostile: hostile });
    to["spec"]["containers"][0]["name"] = hostile.into();
    let unsafe_characters = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
    for args in [&[][..], &["--stat"], &["-o", "json"]] {
        let output = diff_of(&[from.clone(), to.clone()], args).terminal(80, 24).env("NO_COLOR", "1").run();
        assert!(!output.transcript.contains(unsafe_characters), "{args:?}: {:?}", output.transcript);
    }
    let colored = diff_of(&[from.clone(), to.clone()], &[]).terminal(80, 24).env("TERM", "xterm").run();
    let styles = colored.transcript.split('\u{1b}').skip(1).map(|rest| rest.split_once('m').unwrap().0);
    for style in styles {
        assert!(style.trim_start_matches('[').chars().all(|c| c.is_ascii_digit() || c == ';'), "{style:?}");
    }
    let words = diff_of(&[from, to], &["--stat"]).run().stdout;
    assert_eq!(words.lines().count(), 4, "each change stays on its row: {words}");
}

/// Any JSON with the depth of a template.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "metadata",
        "annotations",
        "spec",
        "containers",
        "env",
        "name",
        "value",
        "image",
        "x y",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(name.clone(), inner, 0..5).prop_map(|members| Value::Object(
                members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_two_templates_can_be_compared(from in any_json(), to in any_json()) {
        for args in [&["1", "2", "--exit-code"][..], &["1", "2", "--exit-code", "-o", "json"]] {
            let output = diff_of(&[from.clone(), to.clone()], args).run();
            prop_assert_eq!(output.stderr.as_str(), "");
            let same = output.stdout.contains("\"changes\": []") || output.stdout.contains("\nno differences");
            prop_assert_eq!(output.exit, u8::from(!same), "{}", output.stdout);
        }
    }
}
