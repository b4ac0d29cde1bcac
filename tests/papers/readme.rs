//! The README agrees with the program: exit codes, files, verbs and command lines.

use rollout2::cli::definition;
use rollout2::cli::reference::EXIT_CODES;

use crate::generated::root;

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

#[test]
fn exit_codes_match_the_help() {
    let readme = readme();
    let section = readme.split("\n## Exit codes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<_> =
        section.lines().filter(|line| line.starts_with("| ") && !line.contains("means")).collect();
    let expected: Vec<_> =
        EXIT_CODES.iter().map(|code| format!("| {} | {} |", code.word, code.meaning)).collect();
    assert_eq!(rows, expected);
}

#[test]
fn every_referenced_file_exists() {
    let readme = readme();
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for target in targets.filter(|target| !target.starts_with("http")) {
        let heading =
            |anchor: &str| readme.contains(&format!("\n## {}", capitalized(&anchor.replace('-', " "))));
        let found = target.strip_prefix('#').map_or_else(|| root().join(target).exists(), heading);
        assert!(found, "{target}");
    }
}

#[test]
fn every_verb_has_a_line_and_every_line_parses() {
    let readme = readme();
    let mut wrong = Vec::new();
    for verb in definition().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        if !readme.contains(&format!("kubectl rollout2 {}", verb.get_name())) {
            wrong.push(format!("{} has no line", verb.get_name()));
        }
    }
    // An indented line is a command. Comments, redirections and pipes are not part of it.
    for line in readme.lines().filter_map(|line| line.strip_prefix("    ")) {
        let Some(line) = line.trim_start_matches("$ ").strip_prefix("kubectl rollout2 ") else { continue };
        let words = line.split(['#', '>', '|']).next().unwrap_or_default().split_whitespace();
        match definition().try_get_matches_from(std::iter::once("kubectl-rollout2").chain(words)) {
            Err(mistake) if mistake.use_stderr() => wrong.push(format!("{line}: {mistake}")),
            Ok(_) | Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
