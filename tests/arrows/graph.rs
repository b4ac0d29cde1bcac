//! Which file takes names from which other, and the circles among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;

/// What takes names from what: files by their names below `src`, or folders.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The modules of the package, and where a name of each is really defined.
pub(crate) struct Modules {
    files: Vec<SourceFile>,
    /// Module path to the index of its file.
    of_path: BTreeMap<String, usize>,
    /// What a module only hands on (`pub use`): its path and the name, and the path that it stands for.
    handed_on: BTreeMap<(String, String), String>,
}

impl Modules {
    /// The modules of these files, without those that exist in tests only.
    pub(crate) fn of(files: Vec<SourceFile>) -> Self {
        let tests: BTreeSet<_> = files.iter().flat_map(SourceFile::test_modules).collect();
        let is_test = |file: &SourceFile| {
            let module = file.module();
            tests.iter().any(|test| module == *test || module.starts_with(&format!("{test}::")))
        };
        let files: Vec<_> = files.into_iter().filter(|file| !is_test(file)).collect();
        let of_path = files.iter().enumerate().map(|(index, file)| (file.module(), index)).collect();
        let handed_on = files.iter().flat_map(SourceFile::handed_on).collect();
        Self { files, of_path, handed_on }
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Which files take names from which.
    pub(crate) fn file_graph(&self) -> Graph {
        let mut graph = Graph::new();
        for file in &self.files {
            let reached = graph.entry(file.name().to_owned()).or_default();
            for mention in file.mentions() {
                if let Some(other) =
                    self.file_of(&mention.path, file).filter(|other| other.name() != file.name())
                {
                    reached.insert(other.name().to_owned());
                }
            }
        }
        graph
    }

    /// Which folders below `room` take names from which. A folder and one inside it are one house: between
    /// their files the graph of files decides.
    pub(crate) fn folder_graph(&self, room: &str) -> Graph {
        let mut graph = Graph::new();
        let folder = |name: &str| name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        for (file, reached) in self.file_graph() {
            for (from, to) in reached.iter().map(|other| (folder(&file), folder(other))) {
                let is_apart = !to.starts_with(&from) && !from.starts_with(&to);
                if from.starts_with(room) && to.starts_with(room) && is_apart {
                    graph.entry(from).or_default().insert(to);
                }
            }
        }
        graph
    }

    /// The file that defines what a path leads to, seen from a file.
    fn file_of(&self, path: &str, from: &SourceFile) -> Option<&SourceFile> {
        let child = format!("{}::{path}", from.module());
        let mut path = if path.starts_with("crate::") { path.to_owned() } else { child };
        for _ in 0..8 {
            let (module, index, rest) = self.longest_module(&path)?;
            let name = rest.split("::").next().unwrap_or_default();
            match self.handed_on.get(&(module, name.to_owned())) {
                Some(target) => path = rest.replacen(name, target, 1),
                None if index == 0 => return None,
                None => return Some(&self.files[index - 1]),
            }
        }
        None
    }

    /// The longest beginning of a path that is a module, its file counted from 1, and the rest.
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

/// Every circle: sets of nodes each of which can be reached from each other.
pub(crate) fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|node| (node, reached(graph, node))).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for (node, others) in &reach {
        if others.contains(node) && !seen.contains(node) {
            let circle =
                others.iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(node)));
            let circle: Vec<String> = circle.map(|other| (*other).clone()).collect();
            seen.extend(others.iter().filter(|other| circle.contains(other)).copied());
            circles.push(circle);
        }
    }
    circles
}

fn reached<'a>(graph: &'a Graph, from: &'a String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(node) = next.pop() {
        next.extend(graph.get(node).into_iter().flatten().filter(|other| reached.insert(*other)));
    }
    reached
}
