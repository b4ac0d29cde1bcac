//! No format prints secret-looking values, but every format prints that they changed.

use serde_json::{Value, json};

use crate::diff::{changes_in, diff_of, web};

fn templates() -> [Value; 2] {
    let env = |pairs: &[(&str, &str)]| -> Value {
        pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let from = env(&[("DB_PASSWORD", "hunter1"), ("api_token", "hunter1"), ("MODE", "dev")]);
    let to = env(&[
        ("DB_PASSWORD", "hunter2"),
        ("MODE", "prod"),
        ("AwsSecretAccess", "hunter3"),
        ("CREDENTIALS", "hunter4"),
    ]);
    [web(&json!({"image": "web:1", "env": from})), web(&json!({"image": "web:1", "env": to}))]
}

#[test]
fn text_masks_secrets() {
    insta::assert_snapshot!(diff_of(&templates(), &[]).run().stdout);
}

#[test]
fn json_masks_secrets() {
    let document = diff_of(&templates(), &["-o", "json"]).run().stdout;
    insta::assert_snapshot!(format!("{:#}\n", changes_in(&document)));
}

#[test]
fn no_output_shows_a_secret_without_show_values() {
    for args in [&[][..], &["--stat"], &["-o", "json"], &["-U", "99"]] {
        let masked = diff_of(&templates(), args).run();
        assert!(!masked.transcript.contains("hunter"), "{args:?} {}", masked.transcript);
        assert!(masked.stdout.contains("*** (changed)"), "{args:?} {}", masked.stdout);
        let shown = diff_of(&templates(), &[args, &["--show-values"]].concat()).run();
        assert!(
            shown.stdout.contains("hunter2") && !shown.stdout.contains("***"),
            "{args:?} {}",
            shown.stdout
        );
    }
}

#[test]
fn a_password_in_a_url_is_masked_under_a_harmless_name() {
    let with = |url: &str| {
        web(
            &json!({"image": "web:1", "env": [{"name": "DATABASE", "value": url}, {"name": "PGPASSWD", "value": "hunter0"}]}),
        )
    };
    let templates = [with("postgres://app:hunter1@db/shop"), with("postgres://app:hunter2@db/shop")];
    for args in [&[][..], &["--stat"], &["-o", "json"], &["-U", "99"]] {
        let masked = diff_of(&templates, args).run();
        assert!(!masked.transcript.contains("hunter"), "{args:?} {}", masked.transcript);
        assert!(masked.stdout.contains("postgres://app:*** (changed)@db/shop"), "{args:?} {}", masked.stdout);
    }
    let moved = [with("postgres://app:hunter1@db/shop"), with("postgres://app:hunter1@db2/shop")];
    let stat = diff_of(&moved, &["--stat"]).run().stdout;
    assert!(stat.contains("DATABASE=postgres://app:***@db/shop -> postgres://app:***@db2/shop"), "{stat}");
}

#[test]
fn a_change_of_a_secret_only_sets_the_exit_code() {
    let with = |password: &str| web(&json!({"env": [{"name": "KEY", "value": password}]}));
    let output = diff_of(&[with("hunter1"), with("hunter2")], &["--exit-code", "--stat"]).run();
    output.prints("env   KEY=*** -> *** (changed)").ends(1);
}
