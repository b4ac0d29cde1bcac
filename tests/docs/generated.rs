//! The generated files in the repository: a test checks them, and `.ci/regenerate` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::docs::{causes, json_fields, man_pages, pictures};

/// Files by their paths below the root of the repository.
pub(crate) type Files = BTreeMap<String, String>;

/// The directories that contain only generated files.
const DIRECTORIES: [&str; 2] = ["man", ".github/pictures"];

fn all() -> Files {
    let pages = [man_pages::pages(), pictures::pictures(), json_fields::page(), causes::pages()];
    pages.into_iter().flatten().collect()
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn generated_files_are_current() {
    let files = all();
    let mut stale: Vec<&String> = Vec::new();
    for (path, text) in &files {
        if fs::read_to_string(root().join(path)).ok().as_ref() != Some(text) {
            stale.push(path);
        }
    }
    let left_over: Vec<_> = committed().into_iter().filter(|path| !files.contains_key(path)).collect();
    stale.extend(&left_over);
    assert!(stale.is_empty(), "generated files are not current; run .ci/regenerate: {stale:?}");
}

/// Writes the files. It is no test, so it runs only on request.
#[test]
#[ignore = "it writes the files: run .ci/regenerate"]
fn regenerate() {
    let files = all(); // a failure leaves every file
    for path in committed() {
        fs::remove_file(root().join(path)).unwrap();
    }
    for (path, text) in files {
        let path = root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Returns the paths of the files in the directories.
fn committed() -> Vec<String> {
    let in_one = |directory: &str| {
        let entries = fs::read_dir(root().join(directory)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.map(|name| Path::new(directory).join(name).to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    DIRECTORIES.iter().flat_map(|directory| in_one(directory)).collect()
}
