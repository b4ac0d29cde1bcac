//! Parses the output of a credential plugin: an `ExecCredential`, as JSON or YAML.

use k8s_openapi::ByteString;
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::cluster::access::Secret;

/// The API group of `ExecCredential`, in every version.
pub(super) const GROUP: &str = "client.authentication.k8s.io/";

/// The existing versions. Any other text in this field is not printed.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The credential that a plugin printed.
#[derive(Debug)]
pub struct PluginCredential {
    /// A bearer token.
    pub token: Option<Secret>,
    /// A certificate and its key, both as base64 of PEM, as in a kubeconfig.
    pub identity: Option<(String, Secret)>,
    /// When it expires, if that is known.
    pub expires: Option<Timestamp>,
}

/// Parses the output of a plugin. `wanted` is the version that the kubeconfig requires.
///
/// # Errors
/// The reason why it is not a credential, as a fragment. It quotes no part of the output.
pub fn read(stdout: &[u8], wanted: Option<&str>) -> Result<PluginCredential, String> {
    // Some plugins print YAML, of which JSON is a subset.
    let printed: Option<Value> =
        std::str::from_utf8(stdout).ok().and_then(|text| serde_saphyr::from_str(text).ok());
    let printed = printed.filter(Value::is_object).ok_or("it printed no JSON object")?;
    let text =
        |pointer: &str| printed.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    if text("/kind") != Some("ExecCredential") {
        return Err("it printed an object that is not an ExecCredential".to_owned());
    }
    let version = text("/apiVersion").unwrap_or_default();
    if let Some(wanted) = wanted
        && version != wanted
    {
        let is_known = version.strip_prefix(GROUP).is_some_and(|version| VERSIONS.contains(&version));
        let version = if is_known { version } else { "another version" };
        return Err(format!("it uses {version:?}, but the kubeconfig requires {wanted:?}"));
    }
    let encoded = |text: &str| match serde_json::to_value(ByteString(text.as_bytes().to_vec())) {
        Ok(Value::String(base64)) => base64,
        _ => String::new(),
    };
    let certificate = text("/status/clientCertificateData").map(encoded);
    let key = text("/status/clientKeyData").map(|key| Secret(encoded(key)));
    let token = text("/status/token").map(|token| Secret(token.to_owned()));
    if token.is_none() && (certificate.is_none() || key.is_none()) {
        return Err("it has neither a token nor a certificate with a key".to_owned());
    }
    let expires = text("/status/expirationTimestamp").map(str::parse);
    let expires = expires.transpose().map_err(|_| "its expirationTimestamp is not a time")?;
    Ok(PluginCredential { token, identity: certificate.zip(key), expires })
}
