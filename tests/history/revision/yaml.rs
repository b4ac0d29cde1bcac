//! YAML, compared with the output of kubectl, and read back.

use proptest::prelude::*;
use rollout2::model::text::yaml::yaml;
use serde_json::{Map, Value};

use crate::history::revision::recorded;

#[test]
fn every_recorded_object_matches_kubectl() {
    let mut runs = recorded::runs(".undo-client-yaml");
    runs.retain(|run| !run.stdout.is_empty());
    for run in &runs {
        let (target, _) = run.name.split_once('.').expect("a target");
        let (kind, name) = target.split_once('-').expect("a kind and a name");
        let object = recorded::object(&run.namespace, recorded::kind(kind), name);
        assert_eq!(yaml(&recorded::without_managed_fields(object)), run.stdout, "{}", run.file.display());
    }
    assert_eq!(runs.len(), 19, "recorded objects");
}

#[test]
fn revisions_of_a_deployment_are_replica_sets() {
    let web = recorded::object("shop", "Deployment", "web");
    let revision = |number| yaml(&recorded::without_managed_fields(recorded::replica_set(&web, number)));
    assert_eq!(revision("3"), recorded::run("shop", "web.history-revision-3-yaml").stdout);
    let all = ["1", "3", "4", "5"].map(revision).join("---\n");
    assert_eq!(all, recorded::run("shop", "web.history-yaml").stdout);
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
    let piece =
        prop_oneof![3 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned), 2 => "[a-z0-9]{1,9}"];
    prop_oneof![
        3 => prop::collection::vec(piece.clone(), 0..6).prop_map(|pieces| pieces.concat()),
        1 => prop::collection::vec(piece, 20..60).prop_map(|pieces| pieces.join(" ")),
        1 => "[a-z ]{80,300}",
        1 => any::<String>(),
    ]
}
