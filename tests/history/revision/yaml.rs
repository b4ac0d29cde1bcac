//! YAML, compared with the output of kubectl, and read back.

use harness::prelude::*;
use proptest::prelude::*;
use rollout2::model::text::yaml::yaml;
use serde_json::Map;

use crate::strategies::{any_text, matching};

/// `kubectl rollout undo --dry-run=client -o yaml` printed the live objects.
#[test]
fn every_recorded_object_matches_kubectl() {
    let mut compared = 0;
    let mut recorded = Recorded::of_verb("undo");
    recorded.retain(|recorded| recorded.args.ends_with(&["-o".to_owned(), "yaml".to_owned()]));
    for recorded in recorded.iter().filter(|recorded| !recorded.stdout.is_empty()) {
        let mut list = snapshot(&recorded.args[1]);
        let is_target = |object: &&mut Value| {
            let kind = object["kind"].as_str().expect("a kind").to_lowercase();
            recorded.args[3] == format!("{kind}/{}", object["metadata"]["name"].as_str().expect("a name"))
        };
        let objects = list["items"].as_array_mut().expect("items");
        let object = objects.iter_mut().find(is_target).expect("a recorded object");
        object["metadata"].as_object_mut().expect("metadata").remove("managedFields");
        assert_eq!(yaml(object), recorded.stdout, "{}", recorded.name);
        compared += 1;
    }
    assert_eq!(compared, 19);
}

/// A real kubectl (1.33) printed `strings.yaml` for `strings.json`.
#[test]
fn strings_match_kubectl() {
    let object: Value = serde_json::from_str(include_str!("strings.json")).expect("JSON");
    assert_eq!(yaml(&object), include_str!("strings.yaml"));
}

#[test]
fn strings_that_kubectl_writes_as_invalid_yaml_are_quoted() {
    for (text, written) in [
        ("<<", "\"<<\"\n"),
        ("1e400", "\"1e400\"\n"),
        ("0xfffffffffffffffffffff", "\"0xfffffffffffffffffffff\"\n"),
        ("a\u{2028}b\nc", "\"a\\Lb\\nc\"\n"),
        ("a\u{2029}b\u{85}", "\"a\\Pb\\N\"\n"),
    ] {
        assert_eq!(yaml(&text.into()), written);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn printed_yaml_parses_back(tree in tree()) {
        let written = yaml(&tree);
        let read: Value = serde_saphyr::from_str(&written).map_err(|error| {
            TestCaseError::fail(format!("{error}\nin\n{written}"))
        })?;
        prop_assert_eq!(read, tree, "from\n{}", written);
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        8 => text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// Strings that need quotes in YAML, and sequences of such strings.
fn text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 56] = [
        "null",
        "~",
        "true",
        "no",
        "y",
        "0x1f",
        "0o17",
        "017",
        "0b11",
        "1e3",
        "1e400",
        "1_000",
        "1.",
        ".5",
        "-.inf",
        "2026-11-20",
        "2026-11-20T13:25:25Z",
        "1:30",
        "<<",
        "=",
        "-",
        "--- ",
        "...",
        "? ",
        ":",
        ": ",
        " #",
        "#",
        "&a",
        "*a",
        "!!str",
        "|",
        ">",
        "%",
        "@",
        "`",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        "\"",
        "\\",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "🎉",
        "\u{7f}",
        "\u{0}",
    ];
    let piece = prop_oneof![3 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned), 2 => matching("[a-z0-9]{1,9}")];
    prop_oneof![
        3 => prop::collection::vec(piece.clone(), 0..6).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(piece, 20..60).prop_map(|pieces| pieces.join(" ")),
        1 => matching("[a-z ]{80,300}"),
        1 => any_text(),
    ]
}
