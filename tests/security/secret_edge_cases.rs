//! Edge cases of secrets: init containers, the shortest value, headers in lower case.

use rollout2::model::revision::template::secrets_in;
use rollout2::model::text::secret::without_secrets;
use serde_json::json;

#[test]
fn secrets_are_read_from_the_env_of_init_containers_too() {
    let env = |value: &str| json!([{"name": "API_TOKEN", "value": value}]);
    let template = json!({"spec": {
        "initContainers": [{"name": "migrate", "env": env("from-init")}],
        "containers": [{"name": "app", "env": env("from-app")}],
    }});
    assert_eq!(secrets_in(&template), ["from-init", "from-app"]);
}

#[test]
fn secrets_of_four_characters_are_masked() {
    let secrets = |value: &str| {
        let env = json!([{"name": "PASSWORD", "value": value}]);
        secrets_in(&json!({"spec": {"containers": [{"name": "app", "env": env}]}}))
    };
    assert_eq!(secrets("abc"), [""; 0]);
    assert_eq!(secrets("abcd"), ["abcd"]);
}

/// The values look like ordinary text, so that only the header's name marks them as credentials.
#[test]
fn a_header_in_lower_case_is_masked() {
    for (text, masked) in [
        ("authorization: basic letmein", "authorization: basic ***"),
        ("AUTHORIZATION: Basic letmein", "AUTHORIZATION: Basic ***"),
        (r#"{"authorization":"bearer token"}"#, r#"{"authorization":"bearer ***"}"#),
    ] {
        assert_eq!(without_secrets(text), masked);
    }
}
