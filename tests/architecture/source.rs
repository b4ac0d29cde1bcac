//! The source files, and the paths that their code uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::Path;
use std::str::FromStr;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A source file.
pub(crate) struct SourceFile {
    /// The path below the package: `src/model/src/text/secret/mod.rs`.
    pub(crate) name: String,
    /// The paths of two or more words in code that is not a test, from the root of the library where they begin with `crate`,
    /// `super`, `self`, a child of the module or an imported module; those of the model's own root below `crate::model`.
    pub(crate) paths: BTreeSet<String>,
    /// The names that the file exports from other modules (`pub use`), with their paths.
    exports: BTreeMap<String, String>,
    /// The modules that are only compiled for tests.
    test_modules: Vec<String>,
}

/// The source files of the library by their modules, without tests.
pub(crate) struct Sources(BTreeMap<String, SourceFile>);

impl Sources {
    /// Reads every file below `src`.
    pub(crate) fn read() -> Self {
        let mut files = Vec::new();
        read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        assert!(files.len() > 20, "no source file was found");
        Self::of(files)
    }

    pub(crate) fn of(files: Vec<SourceFile>) -> Self {
        let tests: Vec<String> = files.iter().flat_map(|file| file.test_modules.clone()).collect();
        let is_test = |module: &str| tests.iter().any(|test| is_or_below(module, test));
        let files = files.into_iter().map(|file| (file.module(), file));
        let mut files: BTreeMap<_, _> = files.filter(|(module, _)| !is_test(module)).collect();
        let modules: BTreeSet<String> = files.keys().cloned().collect();
        for (module, file) in &mut files {
            file.resolve(module, &modules);
        }
        Self(files)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.0.values()
    }

    /// Returns the other files that a file uses, by the definitions behind exports.
    pub(crate) fn imports<'a>(&'a self, file: &'a SourceFile) -> impl Iterator<Item = &'a SourceFile> {
        let defined = file.paths.iter().filter_map(|path| self.defining(path.clone()));
        defined.filter(move |other| other.name != file.name)
    }

    /// Returns the file that defines the item of a path. An export leads to another path.
    fn defining(&self, mut path: String) -> Option<&SourceFile> {
        for _ in 0..8 {
            let mut module = path.as_str();
            let file = loop {
                match self.0.get(module) {
                    Some(file) => break file,
                    None => module = module.rsplit_once("::")?.0,
                }
            };
            let rest = path[module.len()..].trim_start_matches("::");
            let (name, below) = rest.split_once("::").unwrap_or((rest, ""));
            match file.exports.get(name) {
                Some(target) if below.is_empty() => path.clone_from(target),
                Some(target) => path = format!("{target}::{below}"),
                None => return Some(file).filter(|_| module != "crate"),
            }
        }
        None
    }
}

impl SourceFile {
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let text = if name.starts_with("src/model/") {
            text.replace("crate::", "crate::model::")
        } else {
            text.into()
        };
        let tokens = TokenStream::from_str(&text).expect("the compiler accepts it");
        let mut file = Self {
            name: name.to_owned(),
            paths: BTreeSet::new(),
            exports: BTreeMap::new(),
            test_modules: Vec::new(),
        };
        file.read_tokens(tokens);
        file
    }

    /// Makes the paths absolute that begin with a child of the file's module, or with a module that it imports.
    fn resolve(&mut self, module: &str, modules: &BTreeSet<String>) {
        let imported = self.paths.iter().filter(|path| modules.contains(*path));
        let imported: BTreeMap<_, _> =
            imported.filter_map(|path| Some((path.rsplit("::").next()?.to_owned(), path.clone()))).collect();
        let absolute = |path: String| {
            let Some((first, rest)) = path.split_once("::") else { return path };
            let child = Some(format!("{module}::{first}")).filter(|child| modules.contains(child));
            match child.or_else(|| imported.get(first).cloned()) {
                Some(found) => format!("{found}::{rest}"),
                None => path,
            }
        };
        self.paths = std::mem::take(&mut self.paths).into_iter().map(absolute).collect();
    }

    /// Returns the folder or file below `src` that contains it: `model`, `error`.
    pub(crate) fn room(&self) -> &str {
        self.below("src/")
    }

    /// Returns the folder or file below a folder that contains it; empty for a file elsewhere.
    pub(crate) fn below(&self, folder: &str) -> &str {
        let below = self.name.strip_prefix(folder).unwrap_or_default();
        below.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    fn module(&self) -> String {
        let words = self.name.trim_end_matches(".rs").split('/');
        let words = words.filter(|word| !["src", "mod", "lib", "main"].contains(word));
        std::iter::once("crate").chain(words).collect::<Vec<_>>().join("::")
    }

    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        let mut is_public = false;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let attribute = tokens.next().map(|token| token.to_string()).unwrap_or_default();
                    let attribute = attribute.replace(' ', "");
                    if attribute == "[cfg(test)]" || attribute.starts_with("[cfg(all(test,") {
                        self.skip_test(&mut tokens);
                    }
                }
                TokenTree::Group(group) => self.read_tokens(group.stream()),
                TokenTree::Ident(word) if word == "pub" => {
                    tokens.next_if(|token| is_group(token, Delimiter::Parenthesis));
                    is_public = true;
                    continue;
                }
                TokenTree::Ident(word) if word == "use" && is_public => {
                    for path in read_path(&mut tokens) {
                        let path = self.absolute(&path);
                        let inner = if path.starts_with("crate") {
                            path
                        } else {
                            format!("{}::{path}", self.module())
                        };
                        let name = inner.rsplit("::").next().unwrap_or_default().to_owned();
                        self.exports.insert(name, inner);
                    }
                }
                TokenTree::Ident(word) => {
                    for path in read_path_from(word.to_string(), &mut tokens) {
                        if path.contains("::") {
                            self.paths.insert(self.absolute(&path));
                        }
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            is_public = false;
        }
    }

    /// Skips the item after `#[cfg(test)]`.
    fn skip_test(&mut self, tokens: &mut Peekable<IntoIter>) {
        let mut words = Vec::new();
        for token in tokens {
            match &token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
                TokenTree::Punct(mark) if [';', ','].contains(&mark.as_char()) => break,
                _ => words.push(token.to_string()),
            }
        }
        if let [.., module, name] = words.as_slice()
            && module == "mod"
        {
            self.test_modules.push(format!("{}::{name}", self.module()));
        }
    }

    fn absolute(&self, path: &str) -> String {
        let (mut module, mut rest, mut is_relative) = (self.module(), path, false);
        while let Some((word @ ("self" | "super"), below)) = rest.split_once("::") {
            if word == "super" {
                module.truncate(module.rfind("::").unwrap_or_default());
            }
            (rest, is_relative) = (below, true);
        }
        if is_relative { format!("{module}::{rest}") } else { path.to_owned() }
    }
}

/// Whether a module or item is another one or in it.
pub(crate) fn is_or_below(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

fn read_folder(folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("src can be listed") {
        let path = entry.expect("src can be listed").path();
        if path.is_dir() {
            read_folder(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("below the package");
            let text = fs::read_to_string(&path).expect("a source is text");
            files.push(SourceFile::of(&name.to_string_lossy().replace('\\', "/"), &text));
        }
    }
}

fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

/// Reads the paths of a `use`.
fn read_path(tokens: &mut Peekable<IntoIter>) -> Vec<String> {
    match tokens.next() {
        Some(TokenTree::Ident(word)) => read_path_from(word.to_string(), tokens),
        _ => Vec::new(),
    }
}

/// Reads the rest of a path: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn read_path_from(mut path: String, tokens: &mut Peekable<IntoIter>) -> Vec<String> {
    while is_colon(tokens) {
        let mut ahead = tokens.clone();
        ahead.next();
        if !is_colon(&mut ahead) {
            break;
        }
        ahead.next();
        match ahead.next() {
            Some(TokenTree::Ident(word)) => path = format!("{path}::{word}"),
            Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Brace => {
                *tokens = ahead;
                return listed(&list).into_iter().map(|below| format!("{path}::{below}")).collect();
            }
            _ => break,
        }
        *tokens = ahead;
    }
    vec![path]
}

fn listed(list: &Group) -> Vec<String> {
    let mut tokens = list.stream().into_iter().peekable();
    let mut paths = Vec::new();
    while tokens.peek().is_some() {
        paths.extend(read_path(&mut tokens));
    }
    paths
}

fn is_colon(tokens: &mut Peekable<IntoIter>) -> bool {
    matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == ':')
}
