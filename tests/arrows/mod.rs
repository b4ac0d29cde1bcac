//! The allowed dependencies between the rooms of the crate, which are the top-level folders of `src`.
//!
//! `use` lines and full paths in the code are dependencies; comments and strings are not.

#![expect(clippy::expect_used, reason = "a test that cannot read the sources has failed")]

mod graph;
mod source;

use graph::{Graph, Modules, cycles};
use source::{PathUse, SourceFile};

/// A room, the rooms that it may use, and the crates and modules that it must not use.
struct Room {
    name: &'static str,
    uses: &'static [&'static str],
    forbidden: &'static [&'static str],
}

/// Files that every room may use, and that use no room.
const SHARED_FILES: [&str; 3] = ["error", "exit", "world"];

const PROCESS: [&str; 4] = ["std::env", "std::process", "std::thread", "std::time"];

const ROOMS: [Room; 6] = [
    Room {
        name: "model",
        uses: &["error"],
        forbidden: &[
            "clap",
            "kube",
            "tokio",
            "tabled",
            "terminal_size",
            "std::fs",
            "std::io",
            "std::net",
            "Instant::now",
        ],
    },
    Room { name: "render", uses: &["model"], forbidden: &["clap", "kube", "tokio", "std::fs", "std::net"] },
    Room { name: "cluster", uses: &["model"], forbidden: &["clap", "tabled"] },
    Room { name: "command", uses: &["cluster", "render", "model"], forbidden: &["clap", "kube", "tabled"] },
    Room {
        name: "cli",
        uses: &["command", "render", "model"],
        forbidden: &["kube", "tokio", "tabled", "std::fs"],
    },
    Room { name: "world", uses: &[], forbidden: &["clap", "kube", "tabled"] },
];

#[test]
fn rooms_depend_on_each_other_in_one_direction_only() {
    let mut wrong = Vec::new();
    for file in SourceFile::all() {
        let Some(room) = ROOMS.iter().find(|room| room.name == file.room()) else {
            continue;
        };
        for PathUse { path, line } in file.path_uses() {
            let reaches = path.strip_prefix("crate::").and_then(|path| path.split("::").next());
            let allowed = reaches.is_none_or(|reached| {
                reached == room.name
                    || room.uses.contains(&reached)
                    || is_shared(room, reached)
                    || !is_room(reached)
            });
            if !allowed {
                wrong.push(format!("{}:{line}: {} may not use {path}", file.name(), room.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rooms_use_only_allowed_crates_and_calls() {
    let mut wrong = Vec::new();
    for file in SourceFile::all() {
        let forbidden =
            ROOMS.iter().find(|room| room.name == file.room()).map_or(&[] as &[_], |room| room.forbidden);
        let room_name = file.room();
        let process: &[&str] = if ["world", "main"].contains(&file.room()) { &[] } else { &PROCESS };
        for PathUse { path, line } in file.path_uses() {
            let is = |forbidden: &&str| path == **forbidden || path.starts_with(&format!("{forbidden}::"));
            if forbidden.iter().chain(process).any(is) && !is_allowed(room_name, &path) {
                wrong.push(format!("{}:{line}: {} may not use {path}", file.name(), file.room()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that may name a kind, and why.
const FILES_THAT_NAME_A_KIND: [(&str, &str); 0] = [];

#[test]
fn no_files_import_each_other_in_a_cycle() {
    let wrong = listed(&Modules::of(SourceFile::all()).file_graph());
    assert!(wrong.is_empty(), "cycles:\n{wrong}");
}

#[test]
fn no_model_folders_import_each_other_in_a_cycle() {
    let wrong = listed(&Modules::of(SourceFile::all()).folder_graph("src/model"));
    assert!(wrong.is_empty(), "cycles:\n{wrong}");
}

/// A kind is a file and an entry in the table. Other code that names a kind would not handle a new one.
#[test]
fn only_the_table_knows_the_kinds_by_name() {
    let kinds = [
        "deployment",
        "daemon_set",
        "stateful_set",
        "clone_set",
        "advanced_stateful_set",
        "advanced_daemon_set",
        "kruise",
    ]
    .map(|kind| format!("crate::model::workload::{kind}::"));
    let modules = Modules::of(SourceFile::all());
    let elsewhere = modules.files().iter().filter(|file| !file.name().starts_with("src/model/workload/"));
    let mut wrong = Vec::new();
    for file in elsewhere.filter(|file| !FILES_THAT_NAME_A_KIND.iter().any(|(name, _)| file.name() == *name))
    {
        for PathUse { path, line } in file.path_uses() {
            if kinds.iter().any(|kind| path.starts_with(kind)) {
                wrong.push(format!("{}:{line}: {path}", file.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the imports of every cycle, one a line.
fn listed(graph: &Graph) -> String {
    let mut lines = Vec::new();
    for cycle in cycles(graph) {
        let imports = cycle.iter().flat_map(|from| graph[from].iter().map(move |to| (from, to)));
        let within = imports.filter(|(_, to)| cycle.contains(to));
        lines.extend(within.map(|(from, to)| format!("{from} -> {to}")).chain([String::new()]));
    }
    lines.join("\n")
}

#[test]
fn cycles_through_reexports_are_found() {
    let files = [
        ("src/model/a/mod.rs", "mod b;\npub use b::B;\n#[cfg(test)]\nmod tests;"),
        ("src/model/a/b.rs", "use crate::model::c::C;\n#[cfg(test)]\nmod tests { use super::super::D; }"),
        ("src/model/a/tests.rs", "use super::B;"),
        ("src/model/c.rs", "use super::a::B;"),
        ("src/model/d.rs", "use crate::model::a::B;"),
    ];
    let modules = Modules::of(files.iter().map(|(name, text)| SourceFile::of(name, text)).collect());
    assert_eq!(cycles(&modules.file_graph()), [["src/model/a/b.rs", "src/model/c.rs"]]);
}

#[test]
fn main_uses_only_the_library() {
    let main = SourceFile::all().into_iter().find(|file| file.room() == "main").expect("src/main.rs");
    let modules: Vec<_> =
        main.path_uses().into_iter().filter(|path_use| path_use.path.starts_with("crate::")).collect();
    assert!(modules.is_empty(), "{modules:?}");
}

#[test]
fn every_form_of_a_path_is_checked() {
    let file = SourceFile::of(
        "src/model/deep/file.rs",
        "use crate::{error::Error, render};\nfn f() { super::super::super::cli::x(); }\n// crate::cluster\nlet s = \"crate::world\"; std::env::var(s)",
    );
    let paths: Vec<_> = file.path_uses().into_iter().map(|path_use| path_use.path).collect();
    assert_eq!(paths, ["crate::error::Error", "crate::render", "crate::cli::x", "std::env::var"]);
}

fn is_room(name: &str) -> bool {
    ROOMS.iter().any(|room| room.name == name) || SHARED_FILES.contains(&name)
}

/// The model does not use streams and clocks.
fn is_shared(room: &Room, reached: &str) -> bool {
    SHARED_FILES.contains(&reached) && room.name != "model"
}

/// Whether a path of `std` reads no clock and no environment. `cluster` may use `Stdio`, since it runs credential plugins.
fn is_allowed(room: &str, path: &str) -> bool {
    ["std::time::Duration", "std::time::Instant"].contains(&path)
        || path.starts_with("std::env::consts::")
        || (room, path) == ("cluster", "std::process::Stdio")
}
