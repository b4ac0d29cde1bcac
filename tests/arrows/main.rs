//! Holds the code to the one way in which its rooms may depend on each other.
//!
//! `use` lines and paths spelled out in the code count alike; comments and texts do not.

#![expect(clippy::expect_used, reason = "a test that cannot read the sources has failed")]

mod graph;
mod source;

use graph::{Graph, Modules, circles};
use source::{Mention, SourceFile};

/// A room, the rooms it may use, and what of the world outside it may not touch.
struct Room {
    name: &'static str,
    uses: &'static [&'static str],
    never: &'static [&'static str],
}

/// Every room may use these; they use no room.
const COMMON_GROUND: [&str; 3] = ["error", "exit", "world"];

const PROCESS: [&str; 4] = ["std::env", "std::process", "std::thread", "std::time"];

const ROOMS: [Room; 6] = [
    Room {
        name: "model",
        uses: &["error"],
        never: &[
            "clap",
            "kube",
            "tokio",
            "unicode_width",
            "terminal_size",
            "std::fs",
            "std::io",
            "std::net",
            "Instant::now",
        ],
    },
    Room { name: "render", uses: &["model"], never: &["clap", "kube", "tokio", "std::fs", "std::net"] },
    Room { name: "cluster", uses: &["model"], never: &["clap", "unicode_width"] },
    Room {
        name: "command",
        uses: &["cluster", "render", "model"],
        never: &["clap", "kube", "unicode_width"],
    },
    Room {
        name: "cli",
        uses: &["command", "render", "model"],
        never: &["kube", "tokio", "unicode_width", "std::fs"],
    },
    Room { name: "world", uses: &[], never: &["clap", "kube", "unicode_width"] },
];

#[test]
fn rooms_depend_on_each_other_in_one_direction_only() {
    let mut wrong = Vec::new();
    for file in SourceFile::all() {
        let Some(room) = ROOMS.iter().find(|room| room.name == file.room()) else {
            continue;
        };
        for Mention { path, line } in file.mentions() {
            let reaches = path.strip_prefix("crate::").and_then(|path| path.split("::").next());
            let allowed = reaches.is_none_or(|reached| {
                reached == room.name
                    || room.uses.contains(&reached)
                    || is_common_ground(room, reached)
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
        let never = ROOMS.iter().find(|room| room.name == file.room()).map_or(&[] as &[_], |room| room.never);
        let room_name = file.room();
        let process: &[&str] = if ["world", "main"].contains(&file.room()) { &[] } else { &PROCESS };
        for Mention { path, line } in file.mentions() {
            let is = |forbidden: &&str| path == **forbidden || path.starts_with(&format!("{forbidden}::"));
            if never.iter().chain(process).any(is) && !is_harmless(room_name, &path) {
                wrong.push(format!("{}:{line}: {} may not touch {path}", file.name(), file.room()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that are excluded from the search for circles, with the reason.
const LEFT_OUT: [(&str, &str); 1] =
    [("src/cluster/connection/", "what is sent, refused and pooled are still one knot")];

/// Files that may name a kind, and why.
const NAME_A_KIND: [(&str, &str); 0] = [];

#[test]
fn no_files_import_each_other_in_a_circle() {
    let wrong = described(&Modules::of(files()).file_graph());
    assert!(wrong.is_empty(), "circles:\n{wrong}");
}

#[test]
fn no_model_folders_import_each_other_in_a_circle() {
    let wrong = described(&Modules::of(SourceFile::all()).folder_graph("src/model"));
    assert!(wrong.is_empty(), "circles:\n{wrong}");
}

/// A kind is a file and an entry in the table. Other code that names a kind would not handle a new one.
#[test]
fn only_the_table_knows_the_kinds_by_name() {
    let kinds = [
        "deployment",
        "daemonset",
        "statefulset",
        "clone_set",
        "advanced_stateful_set",
        "advanced_daemon_set",
        "kruise",
    ]
    .map(|kind| format!("crate::model::workload::{kind}::"));
    let modules = Modules::of(SourceFile::all());
    let elsewhere = modules.files().iter().filter(|file| !file.name().starts_with("src/model/workload/"));
    let mut wrong = Vec::new();
    for file in elsewhere.filter(|file| !NAME_A_KIND.iter().any(|(name, _)| file.name() == *name)) {
        for Mention { path, line } in file.mentions() {
            if kinds.iter().any(|kind| path.starts_with(kind)) {
                wrong.push(format!("{}:{line}: {path}", file.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the files to search for circles.
fn files() -> Vec<SourceFile> {
    let is_left_out = |file: &SourceFile| LEFT_OUT.iter().any(|(folder, _)| file.name().starts_with(folder));
    SourceFile::all().into_iter().filter(|file| !is_left_out(file)).collect()
}

/// The arrows of every circle, a line each.
fn described(graph: &Graph) -> String {
    let mut lines = Vec::new();
    for circle in circles(graph) {
        let arrows = circle.iter().flat_map(|from| graph[from].iter().map(move |to| (from, to)));
        let within = arrows.filter(|(_, to)| circle.contains(to));
        lines.extend(within.map(|(from, to)| format!("{from} -> {to}")).chain([String::new()]));
    }
    lines.join("\n")
}

#[test]
fn circles_through_reexports_are_found() {
    let files = [
        ("src/model/a/mod.rs", "mod b;\npub use b::B;\n#[cfg(test)]\nmod tests;"),
        ("src/model/a/b.rs", "use crate::model::c::C;\n#[cfg(test)]\nmod tests { use super::super::D; }"),
        ("src/model/a/tests.rs", "use super::B;"),
        ("src/model/c.rs", "use super::a::B;"),
        ("src/model/d.rs", "use crate::model::a::B;"),
    ];
    let modules = Modules::of(files.iter().map(|(name, text)| SourceFile::of(name, text)).collect());
    assert_eq!(circles(&modules.file_graph()), [["src/model/a/b.rs", "src/model/c.rs"]]);
}

#[test]
fn main_uses_only_the_library() {
    let main = SourceFile::all().into_iter().find(|file| file.room() == "main").expect("src/main.rs");
    let strangers: Vec<_> =
        main.mentions().into_iter().filter(|mention| mention.path.starts_with("crate::")).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}

#[test]
fn every_spelling_of_a_path_is_checked() {
    let file = SourceFile::of(
        "src/model/deep/file.rs",
        "use crate::{error::Error, render};\nfn f() { super::super::super::cli::x(); }\n// crate::cluster\nlet s = \"crate::world\"; std::env::var(s)",
    );
    let paths: Vec<_> = file.mentions().into_iter().map(|mention| mention.path).collect();
    assert_eq!(paths, ["crate::error::Error", "crate::render", "crate::cli::x", "std::env::var"]);
}

fn is_room(name: &str) -> bool {
    ROOMS.iter().any(|room| room.name == name) || COMMON_GROUND.contains(&name)
}

/// The model does not use streams and clocks.
fn is_common_ground(room: &Room, reached: &str) -> bool {
    COMMON_GROUND.contains(&reached) && room.name != "model"
}

/// A `Duration` is a number, an `Instant` a point, and what system this was built for a constant; only
/// clocks and variables are kept out. What a credential plugin gets for its streams is the business of
/// the one room that runs plugins.
fn is_harmless(room: &str, path: &str) -> bool {
    ["std::time::Duration", "std::time::Instant"].contains(&path)
        || path.starts_with("std::env::consts::")
        || (room, path) == ("cluster", "std::process::Stdio")
}
