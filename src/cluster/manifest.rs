//! Manifests: which objects the files after `-f` name.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::files::{files_in, objects_of, objects_on};
use super::glob;
use crate::error::{Error, ErrorKind, Result};
use crate::model::manifest::{Declared, Manifests, Origin};
use crate::model::object::Object;

/// Reads what manifests name, in the order asked. What cannot be read does not stop the rest.
pub fn read(manifests: &Manifests, stdin: &mut dyn Read) -> Vec<Result<Declared>> {
    let mut declared = Vec::new();
    for origin in &manifests.origins {
        match origin {
            Origin::Stdin => declared.extend(each(objects_on(stdin), "standard input")),
            Origin::Path(path) => match files_meant(path, manifests.recursive) {
                Ok(files) => {
                    let each = |file: PathBuf| each(objects_of(&file), &file.display().to_string());
                    declared.extend(files.into_iter().flat_map(each));
                }
                Err(error) => declared.push(Err(error)),
            },
        }
    }
    declared
}

fn each(objects: Result<Vec<Object>>, origin: &str) -> Vec<Result<Declared>> {
    match objects {
        Ok(objects) => objects.iter().map(|object| Ok(Declared::by(object, origin))).collect(),
        Err(error) => vec![Err(error)],
    }
}

/// The files that a word after `-f` means: itself, those in it, or those that it is a pattern of.
fn files_meant(path: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let paths = if path.exists() { vec![path.to_owned()] } else { glob::matches(path) };
    if paths.is_empty() {
        return Err(Error::new(
            ErrorKind::File,
            format!("the path {:?} does not exist", path.display().to_string()),
        ));
    }
    for path in paths {
        if path.is_dir() {
            files.extend(files_in(&path, recursive)?);
        } else {
            files.push(path);
        }
    }
    if files.is_empty() {
        let origin = path.display();
        return Err(Error::new(
            ErrorKind::File,
            format!("{origin} has no file that ends in .json, .yaml or .yml"),
        )
        .in_compat(format!("error reading [{origin}]: recognized file extensions are [.json .yaml .yml]")));
    }
    Ok(files)
}
