//! CONTRIBUTING.md: every path in it exists.

use std::path::Path;

use crate::docs::generated::root;

/// The top-level folders whose paths are recognised in the text.
const FOLDERS: [&str; 6] = ["src/", "tests/", "krew/", "man/", ".ci/", ".github/"];

#[test]
fn every_path_in_contributing_exists() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let is_separator = |c: char| c.is_whitespace() || "`()[]|,;<>".contains(c);
    let words = text.split(is_separator).map(|word| word.trim_end_matches(['.', ':']));
    let paths: Vec<_> =
        words.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder))).map(Path::new).collect();
    assert!(paths.len() > 50, "{} paths", paths.len());
    let missing: Vec<_> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
