//! Expands file name patterns (`*`, `?`, `[a-z]`) within one path segment, as Go's `filepath.Glob`.
//!
//! A shell expands unquoted patterns; kubectl expands quoted ones.

use std::path::{Component, Path, PathBuf};

/// Returns the paths that a pattern matches, sorted; none when it contains no wildcard.
pub(crate) fn matches(pattern: &Path) -> Vec<PathBuf> {
    if !pattern.to_string_lossy().contains(['*', '?', '[']) {
        return Vec::new();
    }
    let mut paths = vec![PathBuf::new()];
    for component in pattern.components() {
        paths = match component {
            Component::Normal(segment) => {
                let segment: Vec<char> = segment.to_string_lossy().chars().collect();
                paths.iter().flat_map(|directory| entries(directory, &segment)).collect()
            }
            other => paths.into_iter().map(|path| path.join(other)).collect(),
        };
    }
    paths
}

fn entries(directory: &Path, segment: &[char]) -> Vec<PathBuf> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = std::fs::read_dir(here).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let fits = |name: &std::ffi::OsString| fits(segment, &name.to_string_lossy().chars().collect::<Vec<_>>());
    let mut names: Vec<_> = names.filter(fits).collect();
    names.sort();
    names.into_iter().map(|name| directory.join(name)).collect()
}

fn fits(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            (0..=name.len()).any(|taken| fits(rest, name.get(taken..).unwrap_or_default()))
        }
        (['?', rest @ ..], [_, name @ ..]) => fits(rest, name),
        (['[', rest @ ..], [first, name @ ..]) => match rest.iter().position(|character| *character == ']') {
            Some(end) => {
                let (class, rest) = rest.split_at(end);
                is_in(class, *first) && fits(rest.get(1..).unwrap_or_default(), name)
            }
            None => false,
        },
        ([literal, rest @ ..], [first, name @ ..]) => literal == first && fits(rest, name),
        _ => false,
    }
}

/// Whether a class such as `abc`, `a-c` or `^a-c` contains a character.
fn is_in(class: &[char], character: char) -> bool {
    match class {
        ['^', class @ ..] => !is_in(class, character),
        [from, '-', to, rest @ ..] => (*from..=*to).contains(&character) || is_in(rest, character),
        [one, rest @ ..] => *one == character || is_in(rest, character),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, name, expected) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a.yml", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[ab", "a", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
        ] {
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!(fits(&characters(pattern), &characters(name)), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn only_a_pattern_is_expanded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(matches(&root.join("src/ma?n.rs")), [root.join("src/main.rs")]);
        assert!(matches(&root.join("src/main.rs")).is_empty());
        assert_eq!(matches(&root.join("sr*/snapshot/g[k-m]ob.rs")), [root.join("src/snapshot/glob.rs")]);
    }
}
