//! Which credential plugins kubectl's preferences (`kuberc`) allow: `credentialPluginPolicy` and
//! `credentialPluginAllowlist`, since kubectl 1.35.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::files::read_text;
use crate::world::Environment;
use crate::world::program::find_program;

/// Disables the preferences, as the value of `--kuberc` or `$KUBERC`.
const OFF: &str = "off";

/// The fields of an entry of the allowlist that this program knows. All that are given must match. kubectl 1.35 has
/// `name`; later versions have `command`.
const REQUIREMENTS: [&str; 2] = ["name", "command"];

/// Returns the program to run for a plugin, with its path; none if it is not installed. As in Go, it is found in our own
/// `$PATH`, not in the one that the kubeconfig gives the plugin. `named` is the file of `--kuberc`.
///
/// # Errors
/// When the preferences forbid the plugin, or cannot be read.
pub(super) fn allowed_program(
    command: &str,
    named: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>> {
    let found = find_program(command, environment);
    let Some((path, preference)) = preference(named, environment)? else { return Ok(found) };
    let list = preference.get("credentialPluginAllowlist").filter(|list| !list.is_null());
    let entries = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let forbidden = |why: &str| {
        let message = format!("the credential plugin {command:?} is not allowed by {}", path.display());
        Err(Error::new(ErrorKind::Refused, message)
            .caused_by(why)
            .hint("add it to credentialPluginAllowlist there; KUBERC=off ignores the file"))
    };
    match preference.get("credentialPluginPolicy").map_or("", |policy| policy.as_str().unwrap_or("no text")) {
        "" | "AllowAll" if list.is_none() => Ok(found),
        "" | "AllowAll" => forbidden("it has an allowlist, and its credentialPluginPolicy is not Allowlist"),
        "DenyAll" => forbidden("its credentialPluginPolicy is DenyAll"),
        "Allowlist" => {
            match found
                .filter(|found| entries.iter().any(|entry| is_match(entry, command, found, environment)))
            {
                Some(found) => Ok(Some(found)),
                None => forbidden("it is not in credentialPluginAllowlist"),
            }
        }
        _ => forbidden("its credentialPluginPolicy is unknown"),
    }
}

/// Whether a plugin, found at a path, meets every requirement of an entry. An entry without one matches nothing.
fn is_match(entry: &Value, command: &str, found: &Path, environment: &Environment) -> bool {
    let requirements: Vec<&str> = REQUIREMENTS
        .iter()
        .filter_map(|field| entry.get(field)?.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let is_met = |required: &&str| {
        *required == command || find_program(required, environment).is_some_and(|required| required == found)
    };
    !requirements.is_empty() && requirements.iter().all(is_met)
}

/// Returns the preferences and their file; none if there are none, or if they are disabled.
fn preference(named: Option<&Path>, environment: &Environment) -> Result<Option<(PathBuf, Value)>> {
    let chosen = named.or(environment.get("KUBERC").map(Path::new));
    let is_disabled = chosen.is_some_and(|chosen| chosen == OFF)
        || chosen.is_none() && environment.text("KUBECTL_KUBERC") == Some("false");
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    let default = home.map(|home| Path::new(home).join(".kube").join("kuberc"));
    let Some(path) = chosen.map(Path::to_owned).or(default).filter(|_| !is_disabled) else { return Ok(None) };
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && chosen.is_none() => return Ok(None),
        Err(error) => return Err(unreadable(&path).caused_by(error)),
    };
    let documents = serde_saphyr::from_multiple::<Value>(&text);
    let documents = documents
        .map_err(|error| unreadable(&path).caused_by(error.to_string().lines().next().unwrap_or_default()))?;
    let is_preference = |document: &Value| {
        let text = |field| document.get(field).and_then(Value::as_str).unwrap_or_default();
        let version = text("apiVersion").strip_prefix("kubectl.config.k8s.io/");
        text("kind") == "Preference" && version.is_some_and(|version| version != "v1alpha1")
    };
    Ok(documents.into_iter().find(is_preference).map(|preference| (path, preference)))
}

fn unreadable(path: &Path) -> Error {
    let message = format!("cannot read {}, which may forbid the credential plugin", path.display());
    Error::new(ErrorKind::File, message).hint("KUBERC=off ignores the file")
}
