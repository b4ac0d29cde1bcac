//! Files of objects: one, those of a directory, those that a pattern names, standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::document::read_objects;
use crate::error::{Error, ErrorKind, Result};
use crate::model::object::Object;

/// The files of a directory that are read, as kubectl has it. A file that is named may end as it likes.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// The objects of one file.
pub(super) fn objects_of(path: &Path) -> Result<Vec<Object>> {
    let origin = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| cannot_read(&origin, &error))?;
    objects_in(bytes, &origin)
}

/// The objects on standard input.
pub(super) fn objects_on(stdin: &mut dyn Read) -> Result<Vec<Object>> {
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map_err(|error| cannot_read("standard input", &error))?;
    objects_in(bytes, "standard input")
}

/// The files in a directory, in the order of their names; with `recursive` also those further down.
/// Directories that are links are left alone, as by kubectl: they make circles, and a mounted ConfigMap
/// has every file twice.
pub(super) fn files_in(directory: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(directory, recursive, &mut files)?;
    Ok(files)
}

fn walk(directory: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    let origin = directory.display().to_string();
    let entries = std::fs::read_dir(directory).map_err(|error| cannot_read(&origin, &error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<PathBuf>>>()
        .map_err(|error| cannot_read(&origin, &error))?;
    paths.sort();
    for path in paths {
        if recursive && path.is_dir() && !path.is_symlink() {
            walk(&path, recursive, files)?;
        } else if path.is_file() && path.extension().is_some_and(|end| EXTENSIONS.iter().any(|e| end == *e)) {
            files.push(path);
        }
    }
    Ok(())
}

fn objects_in(bytes: Vec<u8>, origin: &str) -> Result<Vec<Object>> {
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::File, format!("{origin} is no text: it is not UTF-8")))?;
    read_objects(&text, origin)
}

fn cannot_read(origin: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("cannot read {origin}")).caused_by(error)
}
