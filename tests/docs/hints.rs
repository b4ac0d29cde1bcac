//! Every command of this program in a message or hint can be parsed.

use std::fs;
use std::path::{Path, PathBuf};

use rollout2::cli::definition;

use crate::docs::generated::root;

#[test]
fn every_printed_command_parses() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let (mut parsed, mut wrong, mut program) = (0, Vec::new(), definition());
    for file in files {
        for line in fs::read_to_string(&file).unwrap().lines() {
            for command in commands(line) {
                parsed += 1;
                let args = command.split_whitespace();
                match program.try_get_matches_from_mut(std::iter::once("kubectl-rollout2").chain(args)) {
                    Err(mistake) if mistake.use_stderr() => {
                        wrong.push(format!("{}: {command}: {mistake}", file.display()));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(parsed >= 25, "found only {parsed} commands; has their form changed?");
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns our commands in a line of code, without the name of the program. Usage lines with brackets and commands with
/// an ellipsis are skipped. Examples are on separate lines, and other tests run them.
fn commands(line: &str) -> Vec<String> {
    let line = line.trim_start();
    if line.starts_with("//") || line.starts_with("kubectl") {
        return Vec::new();
    }
    // clap does not know `help`: the program handles it before.
    let commands = line.split("kubectl rollout2 ").skip(1).filter(|rest| !rest.starts_with("help "));
    let commands = commands.filter_map(|rest| {
        let end = rest.find(['"', '\\', ',', ';', ':', '&', '|', ')', '`']).unwrap_or(rest.len());
        let command = rest[..end].split(" and ").next().unwrap_or_default();
        (!command.contains("...") && !command.contains('[')).then(|| with_names(command))
    });
    commands.collect()
}

/// Returns a command with names in place of its format arguments.
fn with_names(command: &str) -> String {
    let mut pieces = command.split('{');
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, rest) = piece.split_once('}').unwrap_or_default();
        whole += match &whole {
            whole if whole.ends_with('/') => "db",
            whole if whole.ends_with("--to ") => "3",
            _ => "statefulset/db",
        };
        whole += rest;
    }
    whole.replace("TARGET", "statefulset/db").replace("NUMBER", "3")
}
