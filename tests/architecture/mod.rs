//! The allowed dependencies between the rooms of the crate, which are the top-level folders of `src`, and between the
//! folders of the model.
//!
//! Every path in the code is a dependency, also outside `use` lines. Tests in `src` are left out.

#![expect(clippy::expect_used, reason = "a test that cannot read the sources has failed")]

mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use source::{SourceFile, Sources, is_or_below};

static SOURCES: LazyLock<Sources> = LazyLock::new(Sources::read);

/// A room, the rooms that it may use beside [those of all](FOR_ALL), and the crates and modules that it must not use.
struct Room {
    name: &'static str,
    uses: &'static [&'static str],
    forbidden: &'static [&'static str],
}

/// The rooms that every room may use. The model is a package of its own, so the compiler keeps it from using another one, and
/// crates that its `Cargo.toml` does not name.
const FOR_ALL: [&str; 2] = ["model", "world"];

const PROCESS: [&str; 4] = ["std::env", "std::process", "std::thread", "std::time"];

const ROOMS: [Room; 7] = [
    Room { name: "model", uses: &[], forbidden: &["std::fs", "std::io", "std::net", "Instant::now"] },
    Room { name: "render", uses: &[], forbidden: &["clap", "kube", "tokio", "std::fs", "std::net"] },
    Room {
        name: "snapshot",
        uses: &[],
        forbidden: &["clap", "kube", "tokio", "tabled", "std::io::Write", "std::net"],
    },
    Room { name: "cluster", uses: &["snapshot"], forbidden: &["clap", "tabled"] },
    Room {
        name: "command",
        uses: &["cli", "cluster", "snapshot", "render"],
        forbidden: &["clap", "kube", "tabled"],
    },
    Room { name: "cli", uses: &["render"], forbidden: &["kube", "tokio", "tabled", "std::fs", "std::io"] },
    Room { name: "world", uses: &[], forbidden: &["clap", "kube", "tabled"] },
];

#[test]
fn rooms_depend_on_each_other_in_one_direction_only() {
    let mut wrong = Vec::new();
    for file in SOURCES.iter() {
        let Some(room) = ROOMS.iter().find(|room| room.name == file.room()) else { continue };
        for path in &file.paths {
            let reached = path.strip_prefix("crate::").and_then(|path| path.split("::").next());
            let is_allowed = reached.is_none_or(|reached| {
                let is_room = ROOMS.iter().any(|room| room.name == reached);
                !is_room || reached == room.name || room.uses.contains(&reached) || FOR_ALL.contains(&reached)
            });
            if !is_allowed {
                wrong.push(format!("{}: {} may not use {path}", file.name, room.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_use_only_allowed_crates_and_calls() {
    let mut wrong = Vec::new();
    for file in SOURCES.iter() {
        let room = ROOMS.iter().find(|room| room.name == file.room());
        let process: &[&str] = if ["world", "main"].contains(&file.room()) { &[] } else { &PROCESS };
        let forbidden = room.map_or(&[] as &[_], |room| room.forbidden).iter().chain(process);
        for path in &file.paths {
            if forbidden.clone().any(|name| is_or_below(path, name)) && !is_allowed(file.room(), path) {
                wrong.push(format!("{}: {} may not use {path}", file.name, file.room()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a path of `std` reads no clock and no environment. `cluster` runs credential plugins, and the model words the errors
/// of the system.
fn is_allowed(room: &str, path: &str) -> bool {
    let of_room: &[&str] = match room {
        "cluster" => &["std::process::Stdio", "std::env::split_paths"],
        "model" => &["std::io::Error", "std::io::Error::raw_os_error"],
        _ => &[],
    };
    ["std::time::Duration", "std::time::Instant"].contains(&path)
        || path.starts_with("std::env::consts::")
        || of_room.contains(&path)
}

#[test]
fn no_files_import_each_other_in_a_cycle() {
    assert_eq!(cycles(&file_graph(&SOURCES)), [""; 0]);
}

/// The folders of the model that use no other one, except that `api` uses `text`.
const BASICS: [&str; 2] = ["text", "api"];

/// The folders and files of the model that say what a thing is. They may use each other and the basics.
const NOUNS: [&str; 9] =
    ["kind", "revision", "diff", "observation", "hold", "cause", "settle", "engine", "finding"];

/// The folders of the model that do something with nouns, each with the verbs that it may use.
const VERBS: [(&str, &[&str]); 5] = [
    ("status", &[]),
    ("change", &["status"]),
    ("view", &["status", "change"]),
    ("follow", &["status", "change", "view"]),
    ("step", &["status", "change", "view", "follow"]),
];

#[test]
fn nouns_of_the_model_use_no_verbs() {
    let mut wrong = Vec::new();
    for file in SOURCES.iter().filter(|file| file.name.starts_with("src/model/src/")) {
        let folder = file.below("src/model/src/");
        if ["lib", "error", "exit"].contains(&folder) {
            continue;
        }
        let is_noun = NOUNS.contains(&folder);
        let verbs = VERBS.iter().find(|(verb, _)| *verb == folder).map(|(_, verbs)| *verbs);
        assert!(
            BASICS.contains(&folder) || is_noun || verbs.is_some(),
            "{} is neither a noun nor a verb of the model",
            file.name
        );
        let may_use = |used: &str| {
            let is_basic = BASICS.contains(&used);
            used == folder
                || match verbs {
                    Some(verbs) => is_basic || NOUNS.contains(&used) || verbs.contains(&used),
                    None if is_noun => is_basic || NOUNS.contains(&used),
                    None => folder == "api" && used == "text",
                }
        };
        let is_folder = |used: &str| {
            BASICS.contains(&used) || NOUNS.contains(&used) || VERBS.iter().any(|(verb, _)| *verb == used)
        };
        let used = |path: &str| Some(path.strip_prefix("crate::model::")?.split("::").next()?.to_owned());
        let below = file
            .paths
            .iter()
            .filter(|path| used(path).is_some_and(|used| is_folder(&used) && !may_use(&used)));
        wrong.extend(below.map(|path| format!("{}: {path}", file.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands for some kinds, with the files outside their folder that may name it.
const PROPERTIES_OF_KINDS: [(&str, &[&str]); 1] =
    [("MechanismName", &["src/model/src/hold/mechanism/table.rs", "src/model/src/step/mod.rs"])];

/// A kind is a file and an entry in the table. Other code that names a kind, or a property that stands for one, would not
/// handle a new kind.
#[test]
fn only_the_folder_of_the_kinds_names_a_kind() {
    let table = SOURCES.iter().find(|file| file.name == "src/model/src/kind/table.rs").expect("the table");
    let of_kind =
        |path: &str| Some(path.strip_prefix("crate::model::kind::")?.split("::").next()?.to_owned());
    let is_file =
        |name: &String| SOURCES.iter().any(|file| file.name == format!("src/model/src/kind/{name}.rs"));
    let kinds: BTreeSet<_> = table.paths.iter().filter_map(|path| of_kind(path)).filter(is_file).collect();
    assert!(kinds.len() >= 6, "{kinds:?}");
    let mut wrong = Vec::new();
    for file in SOURCES.iter().filter(|file| !file.name.starts_with("src/model/src/kind/")) {
        let is_wrong = |path: &&String| {
            let Some(name) = of_kind(path) else { return false };
            let property = PROPERTIES_OF_KINDS.iter().find(|(property, _)| *property == name);
            kinds.contains(&name) || property.is_some_and(|(_, users)| !users.contains(&file.name.as_str()))
        };
        wrong.extend(file.paths.iter().filter(is_wrong).map(|path| format!("{}: {path}", file.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The word before a message is that of a finding's severity, and `render` writes it.
#[test]
fn only_render_writes_the_word_before_a_message() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = ["\"note: ", "\"warning: ", "\"hint: ", "format!(\"error: "];
    let mut wrong = Vec::new();
    for file in SOURCES.iter().filter(|file| file.room() != "render") {
        let text = std::fs::read_to_string(root.join(&file.name)).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().enumerate().filter(|(_, line)| words.iter().any(|word| line.contains(word)));
        wrong.extend(lines.map(|(number, _)| format!("{}:{}", file.name, number + 1)));
    }
    assert!(wrong.is_empty(), "make it a Finding: {}", wrong.join("\n"));
}

#[test]
fn main_uses_only_the_library() {
    let main = SOURCES.iter().find(|file| file.room() == "main").expect("src/main.rs");
    let modules: Vec<_> = main.paths.iter().filter(|path| path.starts_with("crate::")).collect();
    assert!(modules.is_empty(), "{modules:?}");
}

/// The imports of each file or folder.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn file_graph(sources: &Sources) -> Graph {
    let imports = |file| sources.imports(file).map(|other| other.name.clone()).collect();
    sources.iter().map(|file| (file.name.clone(), imports(file))).collect()
}

/// Returns the imports that lie on a cycle, as `FROM -> TO`.
fn cycles(graph: &Graph) -> Vec<String> {
    let mut reached: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for from in graph.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(node) = next.pop() {
            next.extend(graph.get(node).into_iter().flatten().filter(|other| seen.insert(*other)));
        }
        reached.insert(from, seen);
    }
    let imports = graph.iter().flat_map(|(from, imports)| imports.iter().map(move |to| (from, to)));
    let in_cycle = imports.filter(|(from, to)| reached.get(to).is_some_and(|back| back.contains(from)));
    in_cycle.map(|(from, to)| format!("{from} -> {to}")).collect()
}

#[test]
fn cycles_through_exports_are_found() {
    let files = [
        ("src/model/src/a/mod.rs", "mod b;\npub use b::B;\n#[cfg(test)]\nmod tests;"),
        ("src/model/src/a/b.rs", "use crate::c::C;\n#[cfg(test)]\nmod tests { use super::super::D; }"),
        ("src/model/src/a/tests.rs", "use super::B;"),
        ("src/model/src/c.rs", "use super::a::B;"),
        ("src/model/src/d.rs", "use crate::a::B;"),
        ("src/model/src/e/mod.rs", "mod f;\npub fn e() { f::run() }"),
        ("src/model/src/e/f.rs", "use super::e;\npub fn run() { e() }"),
        ("src/model/src/g.rs", "use crate::h;\nfn g() { h::run() }"),
        ("src/model/src/h.rs", "use super::g;\npub fn run() { g::g() }"),
    ];
    let sources = Sources::of(files.iter().map(|(name, text)| SourceFile::of(name, text)).collect());
    let expected = [
        "src/model/src/a/b.rs -> src/model/src/c.rs",
        "src/model/src/c.rs -> src/model/src/a/b.rs",
        "src/model/src/e/f.rs -> src/model/src/e/mod.rs",
        "src/model/src/e/mod.rs -> src/model/src/e/f.rs",
        "src/model/src/g.rs -> src/model/src/h.rs",
        "src/model/src/h.rs -> src/model/src/g.rs",
    ];
    assert_eq!(cycles(&file_graph(&sources)), expected);
}

#[test]
fn every_form_of_a_path_is_checked() {
    let file = SourceFile::of(
        "src/very/deep/file.rs",
        "use crate::{error::Error, render};\nfn f() { super::super::super::cli::x(); }\n// crate::cluster\n\
         fn g() { let s = \"crate::world\"; m!(std::env::var(s)) }",
    );
    let paths: Vec<_> = file.paths.iter().map(String::as_str).collect();
    assert_eq!(paths, ["crate::cli::x", "crate::error::Error", "crate::render", "std::env::var"]);
}
