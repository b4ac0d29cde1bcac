//! The imports between files and folders, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::source::SourceFile;

/// The imports of each file or folder, by its path below `src`.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules of the package, and the definitions behind their reexports.
pub(crate) struct Modules {
    files: Vec<SourceFile>,
    /// Module path to the index of its file.
    of_path: BTreeMap<String, usize>,
    /// The reexports (`pub use`): the module and the name, and the path that it refers to.
    reexports: BTreeMap<(String, String), String>,
}

impl Modules {
    /// Returns the modules of these files, without test modules.
    pub(crate) fn of(files: Vec<SourceFile>) -> Self {
        let tests: BTreeSet<_> = files.iter().flat_map(SourceFile::test_modules).collect();
        let is_test = |file: &SourceFile| {
            let module = file.module();
            tests.iter().any(|test| module == *test || module.starts_with(&format!("{test}::")))
        };
        let files: Vec<_> = files.into_iter().filter(|file| !is_test(file)).collect();
        let of_path = files.iter().enumerate().map(|(index, file)| (file.module(), index)).collect();
        let reexports = files.iter().flat_map(SourceFile::reexports).collect();
        Self { files, of_path, reexports }
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Returns the imports of each file.
    pub(crate) fn file_graph(&self) -> Graph {
        let mut graph = Graph::new();
        for file in &self.files {
            let imports = graph.entry(file.name().to_owned()).or_default();
            for path_use in file.path_uses() {
                if let Some(other) =
                    self.file_of(&path_use.path, file).filter(|other| other.name() != file.name())
                {
                    imports.insert(other.name().to_owned());
                }
            }
        }
        graph
    }

    /// Returns the imports of each folder below `room`. Imports between a folder and its subfolder are left out: the
    /// graph of files covers them.
    pub(crate) fn folder_graph(&self, room: &str) -> Graph {
        let mut graph = Graph::new();
        let folder = |name: &str| name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        for (file, imports) in self.file_graph() {
            for (from, to) in imports.iter().map(|other| (folder(&file), folder(other))) {
                let is_separate = !to.starts_with(&from) && !from.starts_with(&to);
                if from.starts_with(room) && to.starts_with(room) && is_separate {
                    graph.entry(from).or_default().insert(to);
                }
            }
        }
        graph
    }

    /// Returns the file that defines the item of a path in a file.
    fn file_of(&self, path: &str, from: &SourceFile) -> Option<&SourceFile> {
        let child = format!("{}::{path}", from.module());
        let mut path = if path.starts_with("crate::") { path.to_owned() } else { child };
        for _ in 0..8 {
            let (module, index, rest) = self.longest_module(&path)?;
            let name = rest.split("::").next().unwrap_or_default();
            match self.reexports.get(&(module, name.to_owned())) {
                Some(target) => path = rest.replacen(name, target, 1),
                None if index == 0 => return None,
                None => return Some(&self.files[index - 1]),
            }
        }
        None
    }

    /// Returns the longest prefix of a path that is a module, the number of its file from 1, and the rest of the path.
    fn longest_module(&self, path: &str) -> Option<(String, usize, String)> {
        let mut end = path.len();
        loop {
            if let Some(index) = self.of_path.get(&path[..end]) {
                let rest = path[end..].trim_start_matches("::").to_owned();
                return Some((path[..end].to_owned(), index + 1, rest));
            }
            end = path[..end].rfind("::")?;
        }
    }
}

/// Returns the cycles: the sets of nodes that can all be reached from each other.
pub(crate) fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reachable(graph, node))).collect();
    let mut cycles = Vec::new();
    let mut seen = BTreeSet::new();
    for (node, others) in &reach {
        if others.contains(node) && !seen.contains(node) {
            let cycle =
                others.iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(node)));
            let cycle: Vec<String> = cycle.map(|other| (*other).clone()).collect();
            seen.extend(others.iter().filter(|other| cycle.contains(other)).copied());
            cycles.push(cycle);
        }
    }
    cycles
}

fn reachable<'a>(graph: &'a Graph, from: &'a String) -> BTreeSet<&'a String> {
    let mut reachable = BTreeSet::new();
    let mut next = vec![from];
    while let Some(node) = next.pop() {
        next.extend(graph.get(node).into_iter().flatten().filter(|other| reachable.insert(*other)));
    }
    reachable
}
