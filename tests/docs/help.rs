//! Help texts: their groups, the list of connection options, and their colour.

use harness::Run;
use rollout2::cli::definition;

use crate::docs::man_page::section;

fn help(words: &[&str]) -> String {
    let ended = Run::of(words).run();
    assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""), "{words:?}");
    ended.stdout
}

/// The headings of a help text, in order.
fn headings(text: &str) -> Vec<&str> {
    let paragraphs = text.split("\n\n").filter_map(|paragraph| paragraph.lines().next());
    paragraphs.filter(|line| !line.starts_with(' ')).filter_map(|line| line.strip_suffix(':')).collect()
}

#[test]
fn a_verbs_own_flags_come_first() {
    for (verb, own, groups) in [
        (
            "undo",
            "--to-revision",
            &["Arguments", "Options", "Selecting workloads", "Writing", "Goal and time limits"][..],
        ),
        ("status", "--watch", &["Arguments", "Options", "Selecting workloads", "Goal and time limits"]),
        ("history", "--output", &["Arguments", "Options", "Selecting workloads"]),
    ] {
        let expected = [groups, &["Options for every verb", "Examples"]].concat();
        for help in [help(&[verb, "-h"]), help(&[verb, "--help"]), help(&["help", verb])] {
            assert_eq!(headings(&help), expected, "{help}");
            let place = |word: &str| help.find(word).unwrap_or(usize::MAX);
            assert!(place(own) < place("--selector") && place("--selector") < place("--namespace"), "{help}");
            assert!(!help.contains("--kubeconfig"), "{help}");
            let line = "\nConnection options, as in kubectl: kubectl rollout2 help options\n";
            assert_eq!(help.matches(line).count(), 1, "{help}");
        }
    }
    let (short, long) = (help(&["undo", "-h"]), help(&["undo", "--help"]));
    assert!(short.lines().count() * 2 < long.lines().count(), "{short}");
}

/// Exit code 3 was said to come only from `--timeout`.
#[test]
fn the_help_of_status_says_when_one_evaluation_exits_with_3() {
    let words = help(&["status", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("3 when it timed out, or with --watch=false when a rollout is not complete yet"),
        "{words}"
    );
}

#[test]
fn connection_options_have_their_own_list() {
    let options = help(&["help", "options"]);
    assert_eq!(headings(&options), ["Connection options, as in kubectl"], "{options}");
    for option in
        ["--kubeconfig <FILE>", "-s, --server <URL>", "--as-group <GROUP>", "--request-timeout <DURATION>"]
    {
        assert!(options.contains(option), "{options}");
    }
    assert!(!options.contains("--cache-dir"), "an option without an effect: {options}");
    assert_eq!(help(&["options"]), options, "as kubectl options");
}

#[test]
fn headings_have_colour_only_on_request_and_on_terminals() {
    let plain = help(&["undo", "-h"]);
    assert!(!plain.contains('\x1b'));
    for colored in [
        help(&["undo", "-h", "--color=always"]),
        help(&["undo", "--color", "always", "-h"]),
        Run::of(["undo", "-h"]).terminal(100, 40).run().stdout,
    ] {
        assert!(colored.contains("\x1b[1mOptions:\x1b[0m\n"), "{colored}");
        assert!(colored.contains("\x1b[1mUsage:\x1b[0m kubectl rollout2 undo"), "{colored}");
        assert_eq!(colored.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain);
    }
    let never = Run::of(["undo", "-h", "--color=never"]).terminal(100, 40).run().stdout;
    assert_eq!(never, plain);
    let missing = Run::of(["--color=always"]).run();
    assert_eq!((missing.exit, missing.stdout.as_str()), (2, ""), "{}", missing.stderr);
}

#[test]
fn errors_and_hints_have_colour_and_are_readable_without() {
    for words in [&["undo", "deployment/web", "--bogus"][..], &["frobnicate"], &["status", "deploy/a b"]] {
        let plain = Run::of(words).run();
        let colored = Run::of(words).args(["--color=always"]).run();
        assert!(plain.stderr.starts_with("error: ") && !plain.stderr.contains('\x1b'), "{}", plain.stderr);
        assert!(colored.stderr.starts_with("\x1b[31merror:\x1b[0m "), "{}", colored.stderr);
        assert_eq!(colored.stderr.contains("\x1b[36mhint:\x1b[0m "), plain.stderr.contains("\nhint: "));
    }
}

/// A wrapped example cannot be pasted, and most terminals have 80 columns.
#[test]
fn examples_fit_into_80_columns() {
    let program = definition();
    for verb in program.get_subcommands().filter(|verb| verb.get_name() != "completion") {
        for example in section(verb, "Examples") {
            assert!(example.len() + 2 <= 80, "{example}");
        }
    }
}

#[test]
fn the_short_help_fits_on_two_screens_and_the_long_one_has_no_needless_empty_lines() {
    for verb in ["status", "undo", "restart", "history"] {
        let (short, long) = (help(&[verb, "-h"]), help(&[verb, "--help"]));
        assert!(short.lines().count() < 56, "{short}");
        assert!(!long.contains("\n\n      --") && !long.contains("\n\n          "), "{long}");
        assert!(long.lines().all(|line| line == line.trim_end()), "{long}");
    }
}

#[test]
fn verbs_that_read_no_cluster_have_no_flags_about_one() {
    for verb in ["version", "completion", "explain"] {
        let text = help(&[verb, "--help"]);
        for flag in ["--namespace", "--from", "help options"] {
            assert!(!text.contains(flag), "{flag}: {text}");
        }
        assert!(text.contains("--help"), "{text}");
    }
    // kubectl's own flags are accepted, as before.
    assert_eq!(help(&["version", "--context", "shop", "-n", "shop"]), help(&["version"]));
    for words in [&["version"][..], &["explain"], &["completion", "bash"]] {
        assert_eq!(help(&[words, &["--from", "snapshot.json"]].concat()), help(words)); // the parser panicked
    }
}

#[test]
fn version_takes_the_flags_of_kubectl() {
    assert_eq!(help(&["version", "--client"]), help(&["version"]));
    let yaml = help(&["version", "--client=true", "-o", "yaml"]);
    assert!(yaml.starts_with("apiVersion: rollout2/v1\n") && yaml.contains("\nkind: Version\n"), "{yaml}");
}

#[test]
fn a_visible_alias_of_a_flag_is_in_the_man_page() {
    let page = std::fs::read_to_string("man/kubectl-rollout2-undo.1").unwrap();
    assert!(page.contains("\\fB\\-\\-to\\fR"), "{page}");
}

#[test]
fn usage_on_stderr_has_colour_on_request() {
    let colored = Run::of(["--color=always"]).run();
    assert!(colored.stderr.contains("\x1b["), "{}", colored.stderr);
}
