//! `man/`: one page for the program and one for each verb, generated from the definition of the command line.

use std::process::{Command, Stdio};

use rollout2::cli::definition;

use crate::docs::generated::{Files, root};
use crate::docs::man_page;

pub(crate) const PROGRAM: &str = "kubectl-rollout2";

/// Returns the definition of the program with its global flags in every verb.
fn program() -> clap::Command {
    let mut program = definition();
    program.build();
    program
}

fn verbs(program: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    program.get_subcommands().filter(|verb| !verb.is_hide_set())
}

/// Returns every page by its path.
pub(crate) fn pages() -> Files {
    let program = program();
    let pages: Vec<String> =
        verbs(&program).map(|verb| format!("{PROGRAM}-{}(1)", verb.get_name())).collect();
    let others: Vec<String> = std::iter::once("kubectl(1)".to_owned()).chain(pages).collect();
    let mut files = Files::new();
    files.insert(format!("man/{PROGRAM}.1"), man_page::of_the_program(&program, &others));
    for verb in verbs(&program) {
        let name = format!("{PROGRAM}-{}", verb.get_name());
        let see_also = ["kubectl(1)".to_owned(), format!("{PROGRAM}(1)")];
        files.insert(format!("man/{name}.1"), man_page::of_a_verb(verb, &see_also));
    }
    files
}

#[test]
fn every_verb_has_examples_and_every_example_parses() {
    let program = program();
    let mut wrong = Vec::new();
    for command in verbs(&program).chain([&program]) {
        let examples = man_page::section(command, "Examples");
        if examples.is_empty() {
            wrong.push(format!("{} has no examples", command.get_name()));
        }
        for example in examples {
            // Only our own command is parsed, without the rest of the shell line.
            let line = example.split_once("kubectl rollout2 ").map(|(_, line)| line).unwrap_or_default();
            let line = line.split(['|', '>', '#', ';', ')']).next().unwrap_or_default();
            let args = words(line);
            if let Err(mistake) =
                definition().try_get_matches_from(std::iter::once(PROGRAM.to_owned()).chain(args))
            {
                wrong.push(format!("{example}: {mistake}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Splits a line into words. Single quotes group words.
pub(crate) fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn every_list_entry_has_a_meaning() {
    for (path, page) in pages() {
        for section in ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
            assert!(
                page.lines().any(|line| line.trim_end_matches('"').ends_with(section)),
                "{path}: {section}"
            );
        }
        // Some flags before these sections have only a list of values.
        let lists = page.split_once("EXIT STATUS").map(|(_, lists)| lists).unwrap_or_default();
        let mut wrong = lists.match_indices("\\fR\n.TP").map(|(end, _)| lists[..end].lines().last());
        assert_eq!(wrong.next(), None, "{path}");
    }
}

/// Each installed formatter, with its flags for strict warnings.
const FORMATTERS: [(&str, &[&str]); 3] = [
    ("man", &["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]),
    ("groff", &["-man", "-ww", "-z", "-Tutf8"]),
    ("mandoc", &["-Tlint", "-Wwarning"]),
];

#[test]
fn pages_are_rendered_without_warnings() {
    let mut rendered = 0;
    for (formatter, args) in FORMATTERS {
        for path in pages().into_keys() {
            let started = Command::new(formatter)
                .args(args)
                .arg(root().join(&path))
                .stdin(Stdio::null())
                .stdout(if formatter == "mandoc" { Stdio::piped() } else { Stdio::null() })
                .stderr(Stdio::piped())
                .output();
            let Ok(output) = started else {
                eprintln!("skipped: {formatter} is not there");
                break;
            };
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8_lossy(&printed);
            // The pages have no date, so that they are reproducible. mandoc warns about that.
            let printed: Vec<_> = printed.lines().filter(|line| !line.contains("missing date")).collect();
            assert!(printed.is_empty(), "{formatter} {path}:\n{}", printed.join("\n"));
            rendered += 1;
        }
    }
    eprintln!("{rendered} renderings without a warning");
}
