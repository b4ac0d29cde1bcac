//! Manifests (`-f`): reads the objects in files and on standard input, and finds their kinds.

use std::io::Read;
use std::path::PathBuf;

use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::kind::table::{TypeWord, read_type};
use crate::model::kind::{self, Kind};
use crate::model::text::shell_command::{Word, command};
use crate::snapshot::files::{files_in, matching_paths, objects_at};
use crate::world::InputPath;

/// Parses the values of `-f`: the places to read.
///
/// # Errors
/// When a value is a URL, which is not supported.
pub fn origins(words: &[String]) -> Result<Vec<InputPath>> {
    let origins = words.iter().map(|word| match word.as_str() {
        url if url.starts_with("http://") || url.starts_with("https://") => Err(no_url(url)),
        path => Ok(PathBuf::from(path).into()),
    });
    origins.collect()
}

/// Checks that not more than one path is standard input.
///
/// # Errors
/// When two are.
pub fn check_stdin_once<'a>(paths: impl IntoIterator<Item = &'a InputPath>) -> Result<()> {
    if paths.into_iter().filter(|path| **path == InputPath::Stdin).count() > 1 {
        return Err(Error::usage("standard input cannot be used for multiple arguments"));
    }
    Ok(())
}

/// Returns the objects that have rollouts, and names the others in one note. kubectl fails for each of the
/// others, such as a Service in the same file.
pub(super) fn with_rollouts<'a>(
    declared: impl Iterator<Item = &'a Object>,
    notes: &mut Vec<String>,
) -> Vec<(&'a Object, &'static dyn Kind)> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for object in declared {
        match kind_of(object) {
            Some(kind) => with.push((object, kind)),
            None => without.push(short_name(object)),
        }
    }
    if !without.is_empty() {
        notes.push(format!("note: skipped objects without rollouts: {}", without.join(" ")));
    }
    with
}

/// Returns the type and name of an object in a manifest; in place of a name its `generateName`.
pub(in crate::command) fn short_name(object: &Object) -> String {
    format!("{}/{}", object.kind().to_lowercase(), object.name_or_prefix())
}

/// Returns the kind of an object in a manifest, if it has rollouts. Old manifests have workloads in the group `extensions`.
pub(super) fn kind_of(object: &Object) -> Option<&'static dyn Kind> {
    let api_version = object.text("/apiVersion").unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    kind::of(object.kind(), Some(api_version)).or_else(|| match read_type(object.kind()) {
        TypeWord::Kind(kind) if ["extensions", kind.type_().group()].contains(&group) => Some(kind),
        _ => None,
    })
}

/// Returns the error for a URL. This program has no trust settings for other servers; `curl` has.
fn no_url(url: &str) -> Error {
    Error::usage("-f does not fetch from a URL")
        .hint(command("curl -sSL {} | kubectl rollout2 ... -f -", [Word::text(url, "URL")]))
}

/// Reads the objects of manifests in order; `recursive` says that subdirectories are read too. An error of one does not stop
/// the others.
pub fn read(origins: &[InputPath], recursive: bool, stdin: &mut dyn Read) -> Vec<Result<Object>> {
    let mut declared = Vec::new();
    for origin in origins {
        match files_at(origin, recursive) {
            Ok(files) => {
                declared.extend(files.iter().flat_map(|file| objects_from(objects_at(file, stdin))));
            }
            Err(error) => declared.push(Err(error)),
        }
    }
    declared
}

fn objects_from(objects: Result<Vec<Object>>) -> Vec<Result<Object>> {
    match objects {
        Ok(objects) => objects.into_iter().map(Ok).collect(),
        // The hint of the reader is for recorded objects.
        Err(error) if error.hint_text().is_some() => {
            vec![
                Err(error.hint("a manifest has apiVersion, kind and metadata.name, as for kubectl apply -f")),
            ]
        }
        Err(error) => vec![Err(error)],
    }
}

/// Returns the files at a path: the file, the files of the directory, or the matches of the pattern.
fn files_at(origin: &InputPath, recursive: bool) -> Result<Vec<InputPath>> {
    let InputPath::Path(path) = origin else { return Ok(vec![InputPath::Stdin]) };
    let mut files = Vec::new();
    let paths = if path.exists() { vec![path.clone()] } else { matching_paths(path) };
    if paths.is_empty() {
        return Err(Error::new(
            ErrorKind::File,
            format!("the path {:?} does not exist", path.display().to_string()),
        ));
    }
    for path in paths {
        if path.is_dir() {
            files.extend(files_in(&path, recursive)?.into_iter().map(InputPath::Path));
        } else {
            files.push(InputPath::Path(path));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::kind::advanced_stateful_set::AdvancedStatefulSet;
    use crate::model::kind::daemon_set::DaemonSet;
    use crate::model::kind::deployment::Deployment;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn files_directories_and_standard_input_are_origins_and_urls_are_not() {
        assert_eq!(
            origins(&words("a.yaml - dir")).unwrap(),
            [InputPath::Path("a.yaml".into()), InputPath::Stdin, InputPath::Path("dir".into())]
        );
        let error = origins(&words("https://x/y.yaml")).unwrap_err();
        assert_eq!(error.hint_text(), Some("curl -sSL https://x/y.yaml | kubectl rollout2 ... -f -"));
        assert!(check_stdin_once(&origins(&words("- -")).unwrap()).is_err());
    }

    #[test]
    fn a_manifest_names_an_object_by_kind_and_group() {
        let kind_spec = |api_version: &str, kind: &str| {
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
            kind_of(&Object::read(object).unwrap())
        };
        assert_eq!(kind_spec("apps/v1", "Deployment"), Some(&Deployment as &dyn Kind));
        assert_eq!(kind_spec("extensions/v1beta1", "DaemonSet"), Some(&DaemonSet as &dyn Kind));
        assert_eq!(kind_spec("v1", "Service"), None);
        assert_eq!(
            kind_spec("apps.kruise.io/v1beta1", "StatefulSet"),
            Some(&AdvancedStatefulSet as &dyn Kind)
        );
        assert_eq!(kind_spec("example.org/v1", "StatefulSet"), None);
        assert_eq!(kind_spec("example.org/v1", "Widget"), None);
    }
}
