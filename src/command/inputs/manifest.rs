//! Reads manifests: the objects of `-f`, and standard input for `kubectl apply`.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::snapshot::files::{files_in, matching_paths, objects_at, read_stdin};
use crate::world::InputPath;

/// Reads the objects of manifests in order; `recursive` says that subdirectories are read too. An error of one does not stop
/// the others.
pub(super) fn read(origins: &[InputPath], recursive: bool, stdin: &mut dyn Read) -> Vec<Result<Object>> {
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
        return Err(missing(&path.display().to_string()));
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

fn missing(path: &str) -> Error {
    Error::new(ErrorKind::File, format!("the path {path:?} does not exist"))
}

/// Returns standard input if it is one of the manifests of kubectl.
///
/// # Errors
/// When standard input cannot be read, or another manifest does not exist.
pub(super) fn input_of(files: &[String], stdin: &mut dyn Read) -> Result<Vec<u8>> {
    let is_url = |file: &str| file.starts_with("http://") || file.starts_with("https://");
    // kubectl expands patterns.
    let is_path = |file: &str| file != "-" && !is_url(file) && !file.contains(['*', '?', '[']);
    match files.iter().find(|file| is_path(file) && !Path::new(file).exists()) {
        Some(file) => Err(missing(file)),
        None if files.iter().any(|file| file == "-") => read_stdin(stdin),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_local_path_that_does_not_exist_is_refused() {
        for (file, is_refused) in [
            ("nofile.yaml", true),
            ("Cargo.toml", false),
            ("-", false),
            ("https://x/y.yaml", false),
            ("*.nofile", false),
        ] {
            let error = input_of(&[file.to_owned()], &mut &b""[..]).err();
            assert_eq!(error.map(|error| error.exit().code()), is_refused.then_some(2), "{file}");
        }
    }
}
