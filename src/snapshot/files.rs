//! Reads objects from files, directories and standard input.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Result as IoResult};
use std::path::{Component, Path, PathBuf};

use super::document::read_objects;
use super::json::LIMIT;
use crate::error::{Error, ErrorKind, Result};
use crate::model::api::object::Object;
use crate::model::text::wildcard::matches;
use crate::world::InputPath;

/// The extensions of files that are read from a directory, as in kubectl. A named file can have any.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// Reads the objects of a file or of standard input.
pub(crate) fn objects_at(path: &InputPath, stdin: &mut dyn Read) -> Result<Vec<Object>> {
    read_objects(text_at(path, stdin)?, &path.to_string())
}

/// Reads the text of a file or of standard input.
pub(super) fn text_at(path: &InputPath, stdin: &mut dyn Read) -> Result<String> {
    let bytes = match path {
        InputPath::Path(file) => read(file).map_err(|error| cannot_read(path, error))?,
        InputPath::Stdin => read_stdin(stdin)?,
    };
    decoded(bytes).ok_or_else(|| Error::new(ErrorKind::File, format!("{path} is not UTF-8 text")))
}

/// Reads standard input, up to 1 GiB.
pub(crate) fn read_stdin(stdin: &mut dyn Read) -> Result<Vec<u8>> {
    bounded(stdin).map_err(|error| cannot_read(&InputPath::Stdin, error))
}

/// Reads a file or a pipe, up to 1 GiB. A device may have no end.
pub(crate) fn read(path: &Path) -> IoResult<Vec<u8>> {
    bounded(&mut File::open(path)?)
}

/// Reads a file or a pipe as text.
pub(crate) fn read_text(path: &Path) -> IoResult<String> {
    decoded(read(path)?).ok_or_else(|| std::io::Error::other("it is not UTF-8"))
}

/// Returns the text of a file without its byte order mark. Windows PowerShell 5 writes UTF-16, which begins with such a mark.
fn decoded(bytes: Vec<u8>) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => {
            let text = String::from_utf8(bytes).ok()?;
            return Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text));
        }
    };
    let units = bytes.get(2..)?.chunks_exact(2);
    let is_whole = units.remainder().is_empty();
    let units: Vec<u16> = units.filter_map(|pair| pair.try_into().ok()).map(unit).collect();
    String::from_utf16(&units).ok().filter(|_| is_whole)
}

fn bounded(source: &mut dyn Read) -> IoResult<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LIMIT {
        return Err(std::io::Error::other("it has more than 1 GiB"));
    }
    Ok(bytes)
}

/// Lists the files in a directory, sorted by name; with `recursive` also those in its subdirectories.
/// Symbolic links to directories are skipped, as in kubectl: they can form cycles, and a mounted ConfigMap
/// would contain every file twice. Empty files are skipped too. A directory without any other is an error.
pub(crate) fn files_in(directory: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(directory, recursive, &mut files)?;
    if files.is_empty() {
        let message = format!("{} contains no .json, .yaml or .yml file", directory.display());
        return Err(Error::new(ErrorKind::File, message));
    }
    Ok(files)
}

fn walk(directory: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    let origin = directory.display();
    let entries = std::fs::read_dir(directory).map_err(|error| cannot_read(&origin, error))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<PathBuf>>>()
        .map_err(|error| cannot_read(&origin, error))?;
    paths.sort();
    for path in paths {
        if recursive && path.is_dir() && !path.is_symlink() {
            walk(&path, recursive, files)?;
        } else if path.extension().is_some_and(|end| EXTENSIONS.iter().any(|e| end == *e))
            && path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the paths that a pattern (`*`, `?`) matches, sorted; no path without a wildcard. As with Go's
/// `filepath.Glob`, a wildcard matches within one segment of the path. A shell expands unquoted patterns; kubectl expands
/// quoted ones.
pub(crate) fn matching_paths(pattern: &Path) -> Vec<PathBuf> {
    if !pattern.to_string_lossy().contains(['*', '?']) {
        return Vec::new();
    }
    let mut paths = vec![PathBuf::new()];
    for component in pattern.components() {
        paths = match component {
            Component::Normal(segment) => {
                let segment = segment.to_string_lossy();
                paths.iter().flat_map(|directory| entries(directory, &segment)).collect()
            }
            other => paths.into_iter().map(|path| path.join(other)).collect(),
        };
    }
    paths
}

fn entries(directory: &Path, segment: &str) -> Vec<PathBuf> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = std::fs::read_dir(here).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| matches(segment, &name.to_string_lossy())).collect();
    names.sort();
    names.into_iter().map(|name| directory.join(name)).collect()
}

fn cannot_read(origin: &dyn Display, error: std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("cannot read {origin}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_order_mark_tells_the_encoding() {
        for (bytes, text) in [
            (&b"k: \xc3\xa9"[..], Some("k: é")),
            (b"\xef\xbb\xbfk", Some("k")),
            (b"\xff\xfek\x00\xe9\x00", Some("ké")),
            (b"\xfe\xff\x00k\x00\xe9", Some("ké")),
            (b"\xff\xfe", Some("")),
            (b"", Some("")),
            (b"\xe9", None),
            (b"\xff\xfek", None),
            (b"\xff\xfe\x00\xd8", None),
        ] {
            assert_eq!(decoded(bytes.to_vec()).as_deref(), text, "{bytes:?}");
        }
    }

    #[test]
    fn only_a_pattern_is_expanded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(matching_paths(&root.join("src/ma?n.rs")), [root.join("src/main.rs")]);
        assert!(matching_paths(&root.join("src/main.rs")).is_empty());
        assert_eq!(matching_paths(&root.join("sr*/snapshot/f?les.rs")), [root.join("src/snapshot/files.rs")]);
    }
}
