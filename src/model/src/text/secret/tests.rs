use proptest::prelude::*;

use super::*;

#[test]
fn text_in_the_form_of_a_secret_is_masked() {
    for (text, masked) in [
        (
            r#"DB_PASSWORD=hunter2 pg postgres://u:p4ss@h/db --password hunter3 "token":"abc123" Authorization: Bearer eyJhbGci.x.y end"#,
            r#"DB_PASSWORD=*** pg postgres://u:***@h/db --password *** "token":"***" Authorization: Bearer *** end"#,
        ),
        ("password: hunter2", "password: ***"),
        ("PGPASSWD: hunter2 and more", "PGPASSWD: *** and more"),
        ("login with password: hunter and so on", "login with password: *** and so on"),
        ("DB_PWD:hunter2", "DB_PWD:***"),
        ("api_key = abc, mode = x", "api_key = *** mode = x"),
        ("api-key: abc", "api-key: ***"),
        ("read kv/password: hunter2", "read kv/password: ***"),
        ("/etc/app.conf: password: hunter2", "/etc/app.conf: password: ***"),
        ("wrote /run/token=abc", "wrote /run/token=***"),
        ("my token: abc123 is bad", "my token: *** is bad"),
        ("x-token: Bearer abc", "x-token: ***"),
        (r#"{"token" : "a b","pin_key":123,"x":1}"#, r#"{"token" : "***","pin_key":***,"x":1}"#),
        (r#"{\"token\":\"a\",\"x\":1}"#, r#"{\"token\":\"***\",\"x\":1}"#),
        (r#"{"secret":"a\"b","x":1}"#, r#"{"secret":"***","x":1}"#),
        (r#"passphrase: "never closed"#, r#"passphrase: "***"#),
        ("PASSWORD='a b' x", "PASSWORD='***' x"),
        ("run --password=hunter2 --mode x", "run --password=*** --mode x"),
        (r#"["--token","a b","-v"]"#, r#"["--token","***","-v"]"#),
        (r#"--token "a b" -v"#, r#"--token "***" -v"#),
        ("curl -H 'authorization: basic aGk6aG8=' x", "curl -H 'authorization: basic ***' x"),
        (r#"{"Authorization":["Bearer lower"]}"#, r#"{"Authorization":["Bearer ***"]}"#),
        ("sent Bearer sesame, refused", "sent Bearer *** refused"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        ("clone https://ghp_123@github.com/a/b", "clone https://***@github.com/a/b"),
        ("https://ghp_123:x-oauth-basic@github.com", "https://***@github.com"),
        ("redis://:hunter2@cache", "redis://:***@cache"),
        ("postgres://app:hunt/er8@db:5432/shop and more", "postgres://app:***@db:5432/shop and more"),
        ("dsn app:hunter2@tcp(db:3306)/shop x@y", "dsn app:***@tcp(db:3306)/shop x@y"),
        ("host=db password=hunter2 sslmode=off", "host=db password=*** sslmode=off"),
        ("SMTP_PASS: hunter2", "SMTP_PASS: ***"),
        ("PGPASS=hunter2 REDIS_AUTH=hunter2 SENTRY_DSN=hunter2", "PGPASS=*** REDIS_AUTH=*** SENTRY_DSN=***"),
        (r#"{"auths":{"r.io":{"auth":"aHVudGVyMg=="}}}"#, r#"{"auths":{"r.io":{"auth":"***"}}}"#),
        ("curl -H 'Cookie: a=1; b=2' x", "curl -H 'Cookie: ***' x"),
        ("env PASSWORD=***, MODE=x", "env PASSWORD=***, MODE=x"),
        ("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "***"),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMIIEow\nab+/=\n-----END RSA PRIVATE KEY-----\nb",
            "a -----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nb",
        ),
        (
            r"x=-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----\n",
            r"x=-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\n",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "-----BEGIN OPENSSH PRIVATE KEY-----***"),
        (
            "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
        ),
        ("got eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln, and (eyJhbGciOiJSUzI1NiJ9)", "got ***, and (***)"),
    ] {
        assert_eq!(without_secrets(text), masked);
        assert_eq!(without_secrets(masked), masked, "what is masked stays as it is");
    }
}

/// Messages about secrets contain no secret.
#[test]
fn messages_about_secrets_are_unchanged() {
    for text in [
        "",
        r#"secret "db-token" not found"#,
        r#"MountVolume.SetUp failed for volume "db-secret" : secret "tls" not found"#,
        "references non-existent secret key: a.yaml",
        "couldn't find key password in Secret shop/cfg",
        "failed to sync secret cache: timed out waiting for the condition",
        "failed to fetch anonymous token: unexpected status from GET request to https://a/token?scope=x: 401",
        r#"failed to fetch oauth token: Get "https://auth.docker.io/": dial tcp"#,
        "may require authorization: server message: insufficient_scope: authorization failed",
        r#"Back-off pulling image "quay.io/keycloak/keycloak:24.0""#,
        "docker.io/shop/token-service:1.2: not found",
        "keycloak: starting",
        "note: skipped deployment/token-server: it is no longer failed",
        "error: statefulset.apps/api-key: timed out",
        "open /etc/tls/tls.key: no such file or directory",
        "open /var/run/secrets/token: permission denied",
        "mkdir /etc/passwd: not a directory",
        "stat ./tls.key: input/output error",
        "tls.key: no such file or directory",
        "unknown flag: --password",
        "BYPASS=1 PASSTHROUGH=yes AUTH_MODE=oidc AUTHOR=ada",
        r#"failed to call webhook: Post "https://a.b.svc:443/x": dial tcp"#,
        "auth: connection refused",
        r#"admission webhook "a" denied the request"#,
        "see https://host:8080/a@b and image web:1@sha256:0",
        "Basic authentication is required",
        r#"WWW-Authenticate: Bearer realm="https://a/b""#,
        "ssh://git@host/x",
        "https://registry.k8s.io/v2/: no",
    ] {
        assert_eq!(without_secrets(text), text);
    }
}

/// A megabyte takes no time that grows with its square.
#[test]
fn hostile_text_is_scanned_once() {
    for (part, masked) in [(r#""token":1"#, r#""token":***"#), ("token:", "token:"), ("/token:", "/token:")] {
        assert_eq!(without_secrets(&part.repeat(100_000)), masked.repeat(100_000));
    }
}

#[test]
fn passwords_in_urls_are_masked() {
    for (text, masked) in [
        ("dial postgres://app:hunter2@db:5432/shop failed", "dial postgres://app:***@db:5432/shop failed"),
        (
            r#"Get "https://u:p@a/v2/" and https://b/c:d@e"#,
            r#"Get "https://u:***@a/v2/" and https://b/c:d@e"#,
        ),
        ("amqp://guest:a@b@mq", "amqp://guest:***@mq"),
        ("https://registry.k8s.io/v2/: no", "https://registry.k8s.io/v2/: no"),
    ] {
        assert_eq!(without_url_secrets(text, MASK), masked);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Text that names no secret, without a scheme and without `@`.
    #[test]
    fn other_text_is_unchanged(text in r#"([ac-jl-oqru-z0-9A-Z:="' ,.{}/\n\\-]|é|大){0,60}"#) {
        let lower = text.to_lowercase();
        prop_assume!(!looks_secret(&text) && !["bearer", "basic", "auth"].iter().any(|word| lower.contains(word)));
        prop_assert_eq!(without_secrets(&text), text);
    }

    /// Any text is scanned to its end, and the secret is masked.
    #[test]
    fn a_secret_is_masked_in_any_text(around in r#"(\PC|[-"'\\=: \n@]|token|--key|Bearer ){0,20}"#) {
        let masked = without_secrets(&format!("{around} DB_PASSWORD=hunter2 {around}"));
        prop_assert!(!masked.contains("hunter2"), "{}", masked);
    }
}
