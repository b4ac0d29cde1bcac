//! Templates of a third of a megabyte, with hostile content.

use std::time::Instant;

use rollout2::model::diff::{Diff, SecretValues};
use rollout2::model::revision::template::Template;
use serde_json::{Value, json};

use crate::diff::{diff_of, web};

/// Returns pairs of templates that are slow to compare: many changed keys, one very long line, many
/// different lines in random order, and many containers.
fn pairs() -> [(&'static str, [Value; 2]); 4] {
    let env = |salt: usize| -> Value {
        (0..8_000)
            .map(|n| json!({"name": format!("VARIABLE_{n:06}"), "value": (n * salt).to_string()}))
            .collect()
    };
    let containers = |salt: usize| -> Value {
        (0..8_000)
            .map(|n| json!({"name": format!("c{n:06}"), "image": format!("shop/web:{}", n * salt)}))
            .collect()
    };
    let config = |seed, between| web(&json!({"env": [{"name": "CONFIG", "value": noise(seed, between)}]}));
    let crowd = |salt| json!({"spec": {"containers": containers(salt)}});
    [
        ("env", [web(&json!({"env": env(3)})), web(&json!({"env": env(7)}))]),
        ("one line", [config(1, " "), config(2, " ")]),
        ("many lines", [config(1, "\n"), config(2, "\n")]),
        ("containers", [crowd(3), crowd(7)]),
    ]
}

/// Returns about 300,000 characters of random words from a list of 5,000.
fn noise(seed: u64, between: &str) -> String {
    let next = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    let numbers = std::iter::successors(Some(seed), next).take(60_000);
    let words: Vec<String> = numbers.map(|number| format!("{:04}", (number >> 33) % 5_000)).collect();
    words.join(between)
}

/// With a deadline in the past the hunks are coarser but correct. A quadratic algorithm would take hours. A benchmark
/// measures the time.
#[test]
fn a_large_diff_ends_at_the_deadline() {
    for (name, [from, to]) in pairs() {
        assert!(from.to_string().len() > 300_000, "{name}");
        let diff = Diff::between(&Template::new(&from), &Template::new(&to), SecretValues::Masked);
        assert!(!diff.summary().is_empty() && !diff.rows().is_empty(), "{name}");
        assert!(!diff.hunks(3, Some(Instant::now())).is_empty(), "{name}");
    }
}

#[test]
fn the_diff_command_ends_at_the_deadline() {
    for (name, templates) in pairs() {
        let output = diff_of(&templates, &["--exit-code"]).run();
        assert_eq!((output.stderr.as_str(), output.exit), ("", 1), "{name}");
    }
}
