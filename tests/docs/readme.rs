//! The README and docs/ agree with the program: exit codes, files, verbs, causes and command lines.

use rollout2::cli::definition;
use rollout2::cli::help::EXIT_CODES;
use rollout2::model::cause::CauseId;
use rollout2::model::status::stale_configuration::STALE_CONFIG;

use crate::docs::generated::root;

fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the README and every page of docs/, by path.
fn pages() -> Vec<(String, String)> {
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| format!("docs/{}", entry.unwrap().file_name().to_string_lossy()));
    let paths = docs
        .filter(|path| std::path::Path::new(path).extension().is_some_and(|kind| kind == "md"))
        .chain(["README.md".to_owned()]);
    paths.map(|path| (path.clone(), page(&path))).collect()
}

#[test]
fn exit_codes_match_the_help() {
    let readme = page("README.md");
    let section = readme.split("\n## Exit codes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<_> =
        section.lines().filter(|line| line.starts_with("| ") && !line.contains("means")).collect();
    let expected: Vec<_> =
        EXIT_CODES.iter().map(|(code, meaning)| format!("| {code} | {meaning} |")).collect();
    assert_eq!(rows, expected);
}

#[test]
fn the_readme_is_short() {
    assert!((7_000..=9_216).contains(&page("README.md").len()), "{}", page("README.md").len());
}

#[test]
fn every_referenced_file_and_heading_exists() {
    for (path, text) in pages() {
        let folder = root().join(&path).parent().unwrap().to_owned();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.starts_with("http") {
                continue;
            }
            let file = if file.is_empty() { root().join(&path) } else { folder.join(file) };
            assert!(file.exists(), "{path}: {target}");
            let has_heading = |text: &str| text.lines().any(|line| heading_anchor(line) == anchor);
            assert!(
                anchor.is_empty() || has_heading(&std::fs::read_to_string(&file).unwrap()),
                "{path}: {target}"
            );
        }
    }
}

/// Returns the anchor of a heading on GitHub; empty for other lines.
fn heading_anchor(line: &str) -> String {
    let text = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()).unwrap_or_default();
    let letters = text.to_lowercase().replace(' ', "-");
    letters.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

#[test]
fn every_verb_has_a_line_and_every_line_parses() {
    let mut wrong = Vec::new();
    for verb in definition().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let line = format!("kubectl rollout2 {}", verb.get_name());
        if !pages().iter().any(|(_, text)| text.contains(&line)) {
            wrong.push(format!("{} has no line", verb.get_name()));
        }
    }
    for (path, text) in pages() {
        // An indented line is a command. Comments, redirections and pipes are not part of it.
        for line in text.lines().filter_map(|line| line.strip_prefix("    ")) {
            let Some(line) = line.trim_start_matches("$ ").strip_prefix("kubectl rollout2 ") else {
                continue;
            };
            let words = line.split(['#', '>', '|']).next().unwrap_or_default().split_whitespace();
            match definition().try_get_matches_from(std::iter::once("kubectl-rollout2").chain(words)) {
                Err(mistake) if mistake.use_stderr() => wrong.push(format!("{path}: {line}: {mistake}")),
                Ok(_) | Err(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the ids in the table of a section of docs/status.md.
fn ids(section: &str) -> Vec<String> {
    let page = page("docs/status.md");
    let text = page.split(&format!("\n## {section}\n")).nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(id, _)| id.to_owned()).collect()
}

#[test]
fn every_cause_has_a_row_and_every_row_a_cause() {
    assert_eq!(ids("Causes"), CauseId::ALL.map(CauseId::name));
    assert_eq!(ids("Remarks"), [STALE_CONFIG]);
}

/// `--replace-stuck-pods` was missing.
#[test]
fn every_goal_and_time_limit_of_status_is_described() {
    let definition = definition();
    let status = definition.find_subcommand("status").unwrap();
    let options = status.get_arguments().filter(|arg| arg.get_help_heading() == Some("Goal and time limits"));
    let names: Vec<_> = options.filter_map(clap::Arg::get_long).collect();
    assert!(names.contains(&"replace-stuck-pods"), "{names:?}");
    let page = page("docs/status.md");
    let missing = names.into_iter().filter(|name| !page.contains(&format!("`--{name}")));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0]);
}

/// Returns the code spans of a text.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// A flag in a code span belongs to the verb in front of it. A flag alone belongs to a verb of its section or page, or to
/// most verbs.
#[test]
fn every_flag_in_the_text_belongs_to_its_verb() {
    let mut definition = definition();
    definition.build(); // with the global flags
    let verbs: Vec<_> = definition.get_subcommands().collect();
    let verb = |word: &str| verbs.iter().find(|verb| verb.get_name() == word);
    let has =
        |verb: &&clap::Command, flag: &str| verb.get_arguments().any(|arg| arg.get_long() == Some(flag));
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        let topic = path.strip_prefix("docs/").and_then(|page| page.strip_suffix(".md"));
        for section in text.split("\n## ") {
            let prose: String = section
                .lines()
                .filter(|line| !line.starts_with("    "))
                .flat_map(|line| [line, "\n"])
                .collect();
            let words = section.split(|c: char| !c.is_alphanumeric()).chain(topic);
            let near: Vec<_> = words.filter_map(verb).collect();
            for span in spans(&prose) {
                let span = span.trim_start_matches("kubectl rollout2 ");
                let owner = span.split(' ').next().and_then(verb);
                let flags = span.split(' ').filter_map(|word| word.strip_prefix("--"));
                let flags =
                    flags.filter_map(|word| word.split(|c: char| c != '-' && !c.is_alphanumeric()).next());
                for flag in flags.filter(|flag| !flag.is_empty() && !span.starts_with("kubectl ")) {
                    let is_common = 2 * verbs.iter().filter(|verb| has(verb, flag)).count() > verbs.len();
                    let is_known = match owner {
                        Some(verb) => has(verb, flag),
                        None => is_common || near.iter().any(|verb| has(verb, flag)),
                    };
                    if !is_known {
                        wrong.push(format!("{path}: {span}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
