//! The completions at each position of a command line.

use rollout2::cli::definition;

use crate::completion::{completions, completions_in_shop, suggestions};

#[test]
fn every_verb_is_offered_except_the_hidden_one() {
    let definition = definition();
    let verbs: Vec<_> = definition.get_subcommands().filter(|verb| !verb.is_hide_set()).collect();
    let all = completions(&[""]);
    let (offered, directive) = suggestions(&all);
    let names = verbs.iter().map(|verb| verb.get_name()).chain(["help"]);
    assert_eq!(offered, names.collect::<Vec<_>>());
    assert_eq!(directive, ":4");
    assert!(all.contains("history\tShow revisions, what each one changed"));
    assert_eq!(suggestions(&completions(&["hi"])).0, ["history"]);
    assert_eq!(completions(&[]), all);
    assert_eq!(suggestions(&completions(&["help", "h"])).0, ["history"]);
    assert_eq!(suggestions(&completions(&["help", "opt"])).0, ["options"]);
    assert_eq!(suggestions(&completions(&["help", "history", ""])).0, [""; 0]);
}

#[test]
fn every_flag_of_every_verb_is_offered() {
    let mut program = definition();
    program.build();
    for verb in program.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        for flag in verb.get_arguments().filter(|flag| !flag.is_hide_set()) {
            let Some(long) = flag.get_long() else { continue };
            let answer = completions(&[verb.get_name(), &format!("--{long}")]);
            let named = |word: &&str| word.trim_end_matches("=false") == format!("--{long}");
            assert!(suggestions(&answer).0.iter().any(named), "{} --{long}: {answer}", verb.get_name());
        }
    }
    let short = completions(&["history", "-"]);
    assert!(short.contains("--output\t") && !short.contains("--client-key"), "{short}");
}

#[test]
fn types_names_and_revisions_are_offered_in_their_positions() {
    let web = "5 4 3 1";
    let sides = "5 4 3 1 current previous live";
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&["history"], "", "daemonset deployment statefulset ads asts cloneset all", ":4"),
        (&["list"], "a", "ads asts all", ":4"),
        (&["history"], "dep", "deployment", ":4"),
        (&["history"], "deploy,sta", "deploy,statefulset", ":4"),
        (&["history"], "deployment/", "deployment/checkout deployment/web", ":4"),
        (&["history"], "deploy/w", "deploy/web", ":4"),
        (&["history"], "sts/", "sts/db", ":4"),
        (&["history"], "pods/", "", ":4"),
        (&["history"], "zebra/", "", ":4"),
        (&["history", "deploy"], "", "checkout web", ":4"),
        (&["history", "deploy", "web"], "", "checkout", ":4"),
        (&["list", "deploy"], "s", "statefulset", ":4"),
        (&["list"], "deploy,sta", "deploy,statefulset", ":4"),
        (&["history", "-n", "other", "-n", "shop", "deploy"], "", "checkout web", ":4"),
        (&["history", "-Rn", "shop", "deploy"], "", "checkout web", ":4"),
        (&["history", "-ARnshop", "deploy"], "", "checkout web", ":4"),
        (&["history", "deploy,sts"], "", "checkout web db", ":4"),
        (&["history", "all"], "", "agent checkout web db", ":4"),
        (&["history", "deploy/web"], "", "daemonset/ deployment/ statefulset/ ads/ asts/ cloneset/", ":6"),
        (&["history", "deploy/web"], "deploy/", "deploy/checkout", ":4"),
        (&["history", "deploy/web", "--revision"], "", web, ":36"),
        (&["history", "deploy", "web", "--revision"], "", web, ":36"),
        (&["history", "deploy/web"], "--revision=", web, ":36"),
        (&["history", "deploy/web"], "--revision=3", "3", ":36"),
        (&["history", "--revision"], "", "", ":36"),
        (&["history", "deploy", "--revision"], "", "", ":36"),
        (&["history", "deploy/none", "--revision"], "", "", ":36"),
        (&["history", "-Rl", "x=y", "-n", "shop", "deploy/web", "--revision"], "", web, ":36"),
        (&["history", "-nshop", "deploy/web", "--revision"], "", web, ":36"),
        (&["history", "-n", "elsewhere", "deploy"], "", "", ":4"),
        (&["diff"], "ds/", "ds/agent", ":4"),
        (&["diff", "deploy/web"], "", sides, ":36"),
        (&["diff", "deploy/web", "-2"], "", sides, ":36"),
        (&["diff", "deploy"], "w", "web", ":4"),
        (&["diff", "deploy", "web", "3"], "l", "live", ":36"),
        (&["diff", "deploy", "web", "3", "5"], "", "", ":4"),
        (&["history", "--"], "deploy/w", "deploy/web", ":4"),
        (&["undo", "deploy/web", "--to"], "", "4 3 1 5 previous stable", ":36"),
        (&["step"], "", "daemonset deployment statefulset ads asts cloneset", ":4"),
        (&["step"], "sts/", "sts/db", ":4"),
        (&["step"], "deploy/", "deploy/checkout deploy/web", ":4"),
        (&["step", "ds"], "", "agent", ":4"),
        (&["step", "all"], "", "agent checkout web db", ":4"),
        (&["step", "deploy"], "", "checkout web", ":4"),
        (&["step", "sts/db"], "", "", ":4"),
        (&["step", "sts", "db"], "", "", ":4"),
        (&["step", "sts/db", "--by"], "", "", ":4"),
    ];
    for (args, typed, expected, directive) in cases {
        let answer = completions_in_shop(args, typed);
        let (offered, printed) = suggestions(&answer);
        assert_eq!((offered.join(" ").as_str(), printed), (*expected, *directive), "{args:?} {typed:?}");
    }
}

#[test]
fn names_have_images_and_revisions_have_changes_as_descriptions() {
    assert!(completions_in_shop(&["history"], "deploy/w").starts_with("deploy/web\tshop/web:1.1\n"));
    let revisions = completions_in_shop(&["history", "deploy/web", "--revision"], "");
    assert!(revisions.contains("1\tfirst: shop/web:1.0\n"), "{revisions}");
    assert!(revisions.contains("3\t+env CACHE\n"), "{revisions}");
    assert!(revisions.starts_with("5\tcurrent: -env CACHE"), "{revisions}");
}

#[test]
fn values_are_offered_by_their_type() {
    for (args, expected) in [
        (["status", "--watch="].as_slice(), "true\nfalse\n:4\n"),
        (&["history", "-o", "j"], "json\n:4\n"),
        (&["--color", "a"], "auto\nalways\n:4\n"),
        (&["completion", "z"], "zsh\n:4\n"),
        (&["explain", "init-"], "init-crash\ninit-running\n:4\n"),
        (&["explain", "init-crash", ""], ":4\n"),
        (&["completion", "zsh", ""], ":4\n"),
        (&["history", "--from", ""], ":0\n"),
        (&["history", "--from="], ":0\n"),
        (&["--kubeconfig", "x"], ":0\n"),
        (&["status", "-f", ""], ":0\n"),
        (&["history", "-l", ""], ":4\n"),
        (
            &["undo", "--to", ""],
            "previous\tthe revision before the current one\nstable\tthe revision that served before the rollout\n:36\n",
        ),
        (&["status", "--fail-on", "crash"], "crash-loop\n:6\n"),
        (
            &["status", "--until", "avail"],
            "available\tThese pods are available\navailable=\tSo many pods are available, such as 3 or 90%, or ready-nodes\n:4\n",
        ),
        (
            &["status", "--until", "available="],
            "available=\tSo many pods are available, such as 3 or 90%, or ready-nodes\n:6\n",
        ),
        (&["undo", "--dry-run="], "client\nserver\nnone\n:4\n"),
        (&["step", "--dry-run=c"], "client\n:4\n"),
        (&["step", "--on-failure", "u"], "undo\n:4\n"),
        (&["step", "--batches", ""], ":4\n"),
        (&["step", "--order", ""], ":4\n"),
        (&["step", "-o", ""], "json\n:4\n"),
    ] {
        assert_eq!(completions(args), expected, "{args:?}");
    }
}

#[test]
fn an_invalid_line_gets_no_completions() {
    for args in [
        ["bogus", ""].as_slice(),
        &["history", "--bogus", ""],
        &["history", "-xyz", ""],
        &["history", "--from", "/does/not/exist", "deploy/"],
        &["history", "--from", "-", "deploy/"],
        &["history", "--request-timeout", "soon", "deploy/"],
        &["history", "deploy/web", "--revision", "\u{1b}[31m"],
    ] {
        let answer = completions(args);
        assert!(suggestions(&answer).0.is_empty(), "{args:?}: {answer}");
    }
}
