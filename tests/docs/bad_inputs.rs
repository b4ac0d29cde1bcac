//! Bad inputs: the exit code and the message of each.

use harness::Run;

use crate::docs::man_pages::words;

/// Command lines after `$`, what they print on stderr, and their exit codes. `SHOP` and `BROKEN` are recorded objects, and
/// `DIR` has files that are no manifests.
const BAD_INPUTS: [&str; 5] = [
    include_str!("bad_inputs/verbs.txt"),
    include_str!("bad_inputs/status.txt"),
    include_str!("bad_inputs/history_and_diff.txt"),
    include_str!("bad_inputs/undo_and_holds.txt"),
    include_str!("bad_inputs/step.txt"),
];

/// Returns the command line, the lines on stderr and the exit code of each bad input.
fn bad_inputs() -> impl Iterator<Item = (&'static str, Vec<&'static str>, u8)> {
    BAD_INPUTS.iter().flat_map(|inputs| inputs.trim_end().split("\n\n")).map(|input| {
        let (line, printed) = input.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let (stderr, exit) = printed.rsplit_once("\n=> ").unwrap();
        (line, stderr.lines().collect(), exit.parse().unwrap())
    })
}

const DIRECTORY: &str = "tests/docs/bad_inputs/";

/// Words of Rust and of its crates that a cluster may send. Each run of a test checks for the others.
const WORDS_OF_RUST: [&str; 3] = ["EOF", "\\u{", "None"];

#[test]
fn every_bad_input_has_its_code_and_its_message() {
    assert!(bad_inputs().count() >= 60);
    let mut wrong = Vec::new();
    for (line, lines, exit) in bad_inputs() {
        let line = line
            .replace("SHOP", "--from tests/data/shop/snapshot.json")
            .replace("BROKEN", "--from tests/data/broken/snapshot.json")
            .replace("DIR/", DIRECTORY);
        let ended = Run::of(words(&line)).run();
        let stderr = ended.stderr.replace(DIRECTORY, "DIR/");
        if (ended.exit, stderr.lines().collect()) != (exit, lines) || !ended.stdout.is_empty() {
            wrong.push(format!("$ {line}\n{stderr}=> {}", ended.exit));
        }
        if let Some(word) = WORDS_OF_RUST.iter().find(|word| stderr.contains(**word)) {
            wrong.push(format!("$ {line}\n{stderr}has {word:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// An error is one lowercase sentence. kubectl's own messages keep their words.
#[test]
fn every_message_has_the_same_form() {
    let forms = ["error: ", "hint: ", "note: ", "No resources found"];
    for (line, lines, _) in bad_inputs() {
        for text in lines {
            assert!(forms.iter().any(|form| text.starts_with(form)), "{line}: {text}");
            assert!(
                !text.ends_with('.') || text.starts_with("No resources") || text.contains("dry-run"),
                "{line}: {text}"
            );
        }
    }
}
