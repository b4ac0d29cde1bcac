//! The kubeconfig of a served cluster, as JSON, which is YAML too.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::pki::Pair;

/// The credential of a kubeconfig user.
pub(super) enum Credential<'c> {
    Certificate(&'c Pair),
    Token(&'c str),
}

/// Returns a kubeconfig with one cluster, one user and one context.
pub(super) fn kubeconfig(
    server: &str,
    authority: &str,
    user: &str,
    credential: &Credential<'_>,
    namespace: &str,
) -> Value {
    let secret = match credential {
        Credential::Certificate(pair) => {
            json!({ "client-certificate-data": STANDARD.encode(&pair.certificate), "client-key-data": STANDARD.encode(&pair.key) })
        }
        Credential::Token(token) => json!({ "token": token }),
    };
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "simcluster",
        "clusters": [{ "name": "simcluster", "cluster": { "server": server, "certificate-authority-data": STANDARD.encode(authority) } }],
        "users": [{ "name": user, "user": secret }],
        "contexts": [{ "name": "simcluster", "context": { "cluster": "simcluster", "user": user, "namespace": namespace } }],
    })
}
