//! The source files, and the paths that they use.

use std::fs;
use std::path::Path;

/// A source file of the package.
pub(crate) struct SourceFile {
    name: String,
    /// The code without comments, strings, tests and reexports.
    code: String,
    test_modules: Vec<String>,
    reexports: Vec<String>,
}

/// An absolute path that the code uses, and its line number.
#[derive(Debug)]
pub(crate) struct PathUse {
    pub(crate) path: String,
    pub(crate) line: usize,
}

impl SourceFile {
    /// Every file under `src`.
    pub(crate) fn all() -> Vec<Self> {
        let mut files = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        assert!(files.len() > 20, "no source file was found");
        files
    }

    pub(crate) fn of(name: &str, text: &str) -> Self {
        let mut code = without_comments_and_strings(text);
        blank_visibility(&mut code);
        let test_modules = blank_tests(&mut code);
        let reexports = blank_reexports(&mut code);
        Self { name: name.to_owned(), code, test_modules, reexports }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first part of the path below `src`: the room, or a shared file.
    pub(crate) fn room(&self) -> &str {
        let below = self.name.strip_prefix("src/").unwrap_or(&self.name);
        below.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    /// Returns every path of two or more parts. `use` lists are split, and `super` and `self` are resolved.
    pub(crate) fn path_uses(&self) -> Vec<PathUse> {
        let mut path_uses = Vec::new();
        let mut rest = self.code.as_str();
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let offset = self.code.len() - rest.len() + start;
            let line = self.code[..offset].matches('\n').count() + 1;
            let length = path_length(&rest[start..]);
            let text = &rest[start..start + length];
            rest = &rest[start + length..];
            if !text.contains("::") {
                continue;
            }
            for path in split_list(text) {
                path_uses.push(PathUse { path: self.absolute(&path), line });
            }
        }
        path_uses
    }

    /// `crate::model::workload` for `src/model/workload/mod.rs`.
    pub(crate) fn module(&self) -> String {
        std::iter::once("crate").chain(self.module_words()).collect::<Vec<_>>().join("::")
    }

    fn module_words(&self) -> Vec<&str> {
        let below = self.name.strip_prefix("src/").unwrap_or(&self.name).trim_end_matches(".rs");
        below.split('/').filter(|word| !["mod", "lib", "main"].contains(word)).collect()
    }

    /// Returns the test modules of this file (`#[cfg(test)] mod x;`).
    pub(crate) fn test_modules(&self) -> Vec<String> {
        self.test_modules.iter().map(|name| format!("{}::{name}", self.module())).collect()
    }

    /// Returns the reexports (`pub use`): the module and the name, and the path that it refers to.
    pub(crate) fn reexports(&self) -> Vec<((String, String), String)> {
        let paths = self.reexports.iter().flat_map(|path| split_list(path));
        let targets = paths.map(|path| match self.absolute(&path) {
            path if path.starts_with("crate::") => path,
            path => format!("{}::{path}", self.module()),
        });
        let named = targets.filter_map(|path| Some((path.rsplit_once("::")?.1.to_owned(), path)));
        named.map(|(name, path)| ((self.module(), name), path)).collect()
    }

    fn absolute(&self, path: &str) -> String {
        let mut module = self.module_words();
        let mut words: Vec<&str> = path.split("::").collect();
        if !["super", "self"].contains(&words[0]) {
            return path.to_owned();
        }
        while ["super", "self"].contains(words.first().unwrap_or(&"")) {
            if words.remove(0) == "super" {
                module.pop();
            }
        }
        std::iter::once("crate").chain(module).chain(words).collect::<Vec<_>>().join("::")
    }
}

fn collect(directory: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(directory).expect("src can be listed") {
        let path = entry.expect("src can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("below the package");
            let text = fs::read_to_string(&path).expect("a source is text");
            files.push(SourceFile::of(&name.to_string_lossy(), &text));
        }
    }
}

/// Returns the length of the path at the beginning of a text, with a list in braces at its end.
fn path_length(text: &str) -> usize {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    while let Some(rest) = text[end..].strip_prefix("::") {
        if rest.starts_with('{') {
            return end + 2 + closing_brace(rest);
        }
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            break;
        }
        end += 2 + word;
    }
    end
}

fn closing_brace(text: &str) -> usize {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return index + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Splits `a::{b, c::{d, e}}` into `a::b`, `a::c::d` and `a::c::e`.
fn split_list(path: &str) -> Vec<String> {
    let Some((head, list)) = path.split_once("::{") else {
        return vec![path.trim().to_owned()];
    };
    let (mut depth, mut items, mut item) = (0_usize, Vec::new(), String::new());
    for character in list.strip_suffix('}').unwrap_or(list).chars() {
        match character {
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            _ => {
                depth = depth + usize::from(character == '{') - usize::from(character == '}');
                item.push(character);
            }
        }
    }
    items.push(item);
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    items.flat_map(|item| split_list(&format!("{}::{item}", head.trim()))).collect()
}

/// Blanks the items under `#[cfg(test)]`, and returns the names of the modules among them that have their own files.
fn blank_tests(code: &mut String) -> Vec<String> {
    const MARK: &str = "#[cfg(test)]";
    let mut modules = Vec::new();
    while let Some(start) = code.find(MARK) {
        let rest = &code[start + MARK.len()..];
        let end = rest.find(['{', ';', ',']).map_or(rest.len(), |at| match rest.as_bytes()[at] {
            b'{' => at + closing_brace(&rest[at..]),
            _ => at + 1,
        });
        let item = rest[..end].trim();
        if let Some(name) = item.strip_prefix("mod ").and_then(|item| item.strip_suffix(';')) {
            modules.push(name.to_owned());
        }
        blank(code, start, start + MARK.len() + end);
    }
    modules
}

/// Blanks the path in `pub(in path)`, since a visibility is no dependency.
fn blank_visibility(code: &mut String) {
    while let Some(start) = code.find("(in crate") {
        let end = code[start..].find(')').map_or(code.len(), |end| start + end + 1);
        blank(code, start, end);
    }
}

/// Blanks every `pub use` with any visibility, and returns the paths.
fn blank_reexports(code: &mut String) -> Vec<String> {
    let mut paths = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find("use ").map(|at| from + at) {
        from = at + 4;
        let line = code[..at].rfind('\n').map_or(0, |line| line + 1);
        if code[line..at].trim_start().starts_with("pub") {
            let end = code[at..].find(';').map_or(code.len(), |end| at + end);
            paths.push(code[from..end].split_whitespace().collect::<Vec<_>>().join(" "));
            blank(code, line, end);
        }
    }
    paths
}

/// Blanks a range of the code, and keeps the newlines.
fn blank(code: &mut String, start: usize, end: usize) {
    let blanked: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    code.replace_range(start..end, &blanked);
}

/// Returns the code with blanked comments and strings, and keeps the newlines.
fn without_comments_and_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if character == '"' {
            string_length(rest)
        } else if ["'\"'", "'\\''", "b'\"'"].iter().any(|quote| rest.starts_with(quote)) {
            3
        } else {
            code.push(character);
            rest = &rest[character.len_utf8()..];
            continue;
        };
        code.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    code
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}
