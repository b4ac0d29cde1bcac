//! The sources as the test sees them: which paths a file mentions.

use std::fs;
use std::path::Path;

/// A source file of the package.
pub(crate) struct SourceFile {
    name: String,
    /// The code without comments, texts, tests and what is only handed on.
    code: String,
    test_modules: Vec<String>,
    handed_on: Vec<String>,
}

/// An absolute path that the code uses, and its line number.
#[derive(Debug)]
pub(crate) struct Mention {
    pub(crate) path: String,
    pub(crate) line: usize,
}

impl SourceFile {
    /// Every file under `src`.
    pub(crate) fn all() -> Vec<Self> {
        let mut files = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        assert!(files.len() > 20, "the sources were not found");
        files
    }

    pub(crate) fn of(name: &str, text: &str) -> Self {
        let mut code = without_comments_and_texts(text);
        blank_visibility(&mut code);
        let test_modules = blank_tests(&mut code);
        let handed_on = blank_handed_on(&mut code);
        Self { name: name.to_owned(), code, test_modules, handed_on }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The first word of the path below `src`: the room, or a file that is common ground.
    pub(crate) fn room(&self) -> &str {
        let below = self.name.strip_prefix("src/").unwrap_or(&self.name);
        below.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    /// Every path of two or more words, `use` lists taken apart, `super` and `self` resolved.
    pub(crate) fn mentions(&self) -> Vec<Mention> {
        let mut mentions = Vec::new();
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
            for path in take_apart(text) {
                mentions.push(Mention { path: self.absolute(&path), line });
            }
        }
        mentions
    }

    /// `crate::model::workload` for `src/model/workload/mod.rs`.
    pub(crate) fn module(&self) -> String {
        std::iter::once("crate").chain(self.module_words()).collect::<Vec<_>>().join("::")
    }

    fn module_words(&self) -> Vec<&str> {
        let below = self.name.strip_prefix("src/").unwrap_or(&self.name).trim_end_matches(".rs");
        below.split('/').filter(|word| !["mod", "lib", "main"].contains(word)).collect()
    }

    /// The modules of this file that exist in tests only (`#[cfg(test)] mod x;`).
    pub(crate) fn test_modules(&self) -> Vec<String> {
        self.test_modules.iter().map(|name| format!("{}::{name}", self.module())).collect()
    }

    /// What the file only hands on (`pub use`): its module and the name, and the path that it stands for.
    pub(crate) fn handed_on(&self) -> Vec<((String, String), String)> {
        let paths = self.handed_on.iter().flat_map(|path| take_apart(path));
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

/// How long the path at the beginning of a text is, a braced list at its end included.
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

/// `a::{b, c::{d, e}}` into `a::b`, `a::c::d`, `a::c::e`.
fn take_apart(path: &str) -> Vec<String> {
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
    items.flat_map(|item| take_apart(&format!("{}::{item}", head.trim()))).collect()
}

/// Blanks what exists in tests only, and returns the modules among it that have files of their own.
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

/// Blanks the path in `pub(in path)`: who may see an item is no use of it.
fn blank_visibility(code: &mut String) {
    while let Some(start) = code.find("(in crate") {
        let end = code[start..].find(')').map_or(code.len(), |end| start + end + 1);
        blank(code, start, end);
    }
}

/// Blanks every `pub use`, in whatever visibility, and returns the paths.
fn blank_handed_on(code: &mut String) -> Vec<String> {
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

/// Blanks a stretch of code; lines stay lines.
fn blank(code: &mut String, start: usize, end: usize) {
    let blanked: String = code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
    code.replace_range(start..end, &blanked);
}

/// Comments and texts blanked, newlines kept.
fn without_comments_and_texts(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if character == '"' {
            text_length(rest)
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

fn text_length(text: &str) -> usize {
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
