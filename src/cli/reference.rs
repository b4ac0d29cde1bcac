//! Exit codes, environment variables and files, as data for `--help`, man pages and README.
//!
//! Tests compare the man pages and the README with this data. Text that belongs to one verb is in that
//! verb's file, below its flags; [`section`] extracts it.

/// A term and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceEntry {
    /// The term: a number, a variable or a path.
    pub word: &'static str,
    /// The meaning, in one line without a full stop.
    pub meaning: &'static str,
}

const fn entry(word: &'static str, meaning: &'static str) -> ReferenceEntry {
    ReferenceEntry { word, meaning }
}

/// All exit codes.
pub const EXIT_CODES: &[ReferenceEntry] = &[
    entry("0", "done: complete, changed, or nothing to do"),
    entry("1", "error: not found, nothing matched, forbidden, unreachable, refused, conflict"),
    entry("2", "usage: bad flag, bad argument, unreadable file"),
    entry("3", "not finished: timed out, stdout was closed, or still progressing with --watch=false"),
    entry("4", "failed: deadline exceeded, pods that cannot start, another revision, a batch or a check"),
    entry("5", "held: a pause, a plan, OnDelete, or a partition that lets no pod update keeps pods outdated"),
    entry("130", "interrupted (SIGINT); prints what continues in the cluster"),
    entry("143", "terminated (SIGTERM)"),
    entry("129", "hung up (SIGHUP): the terminal was closed"),
];

/// The exit codes of `diff`; with `--exit-code` they are those of the `diff` program.
const EXIT_CODES_OF_DIFF: &[ReferenceEntry] = &[
    entry("0", "the templates were compared; with --exit-code: they are equal"),
    entry("1", "error; with --exit-code: the templates differ"),
    entry("2", "usage: bad flag, bad argument, unreadable file"),
    entry("3", "with --exit-code only: error"),
];

/// The exit codes of `preview`.
const EXIT_CODES_OF_PREVIEW: &[ReferenceEntry] = &[
    entry("0", "the preview was printed; with --exit-code: nothing rolls out"),
    entry("1", "error; with --exit-code: something rolls out"),
    entry("2", "usage: bad flag, bad argument, unreadable file"),
    entry("3", "with --exit-code only: error, also when the API server refuses an object"),
    entry("130", "interrupted (SIGINT)"),
    entry("143", "terminated (SIGTERM)"),
    entry("129", "hung up (SIGHUP): the terminal was closed"),
];

/// Returns the exit codes of a verb.
#[must_use]
pub fn exit_codes(verb: &str) -> &'static [ReferenceEntry] {
    match verb {
        "diff" => EXIT_CODES_OF_DIFF,
        "preview" => EXIT_CODES_OF_PREVIEW,
        "history" | "completion" | "version" => &EXIT_CODES[..3],
        _ => EXIT_CODES,
    }
}

/// The environment variables that every verb reads.
pub const ENVIRONMENT: &[ReferenceEntry] = &[
    entry("KUBECONFIG", "the kubeconfig files, separated as in PATH [default: ~/.kube/config]"),
    entry("ROLLOUT2_REDACT", "1: mask secrets in objects and templates too"),
    entry("NO_COLOR", "no colour, unless --color is always"),
    entry("CLICOLOR_FORCE", "colour without a terminal too, unless 0"),
    entry("TERM", "no colour and no redrawing when dumb"),
    entry("CI", "no redrawing, no CI commands; also TF_BUILD, TEAMCITY_VERSION"),
    entry("GITHUB_ACTIONS", "true: errors are annotations too, and logs are folded"),
    entry("GITHUB_STEP_SUMMARY", "in GitHub Actions: the file for a table of the rollouts"),
    entry("HTTPS_PROXY, HTTP_PROXY", "the proxy for the API server; also in lower case"),
    entry("NO_PROXY", "servers to reach without the proxy; also in lower case"),
    entry("POD_NAMESPACE", "in a pod without a kubeconfig: the default namespace"),
];

/// The files that every verb reads.
pub const FILES: &[ReferenceEntry] = &[
    entry("~/.kube/config", "the cluster and the user, as for kubectl"),
    entry(
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "the cluster and the user in a pod without a kubeconfig",
    ),
];

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 status deployment/web
  kubectl rollout2 history deployment/web
  kubectl rollout2 diff deployment/web 3 5";

/// Returns the text below the flags in the help of the program.
pub(super) fn after_help() -> String {
    let lists = [("Exit codes", EXIT_CODES), ("Environment", ENVIRONMENT), ("Files", FILES)];
    let lists = lists.map(|(title, entries)| format!("{title}:\n{}", list(entries)));
    format!("{EXAMPLES}\n\n{}", lists.join("\n\n"))
}

/// The maximum width of the first column. A longer word gets its own line.
const LONG_WORD: usize = 24;

fn list(entries: &[ReferenceEntry]) -> String {
    let width = entries.iter().map(|entry| entry.word.len()).filter(|width| *width <= LONG_WORD).max();
    let width = width.unwrap_or_default();
    let lines = entries.iter().map(|ReferenceEntry { word, meaning }| match word.len() {
        length if length > LONG_WORD => format!("  {word}\n  {:width$}  {meaning}", ""),
        _ => format!("  {word:width$}  {meaning}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the lines of one section below a command's flags, such as `Examples`; empty when the command
/// has no such section.
#[must_use]
pub fn section(command: &clap::Command, title: &str) -> Vec<String> {
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let heading = format!("{title}:");
    let after = text.lines().skip_while(|line| *line != heading).skip(1);
    after.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_a_hundred_columns() {
        let text = after_help();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn sections_are_found_by_their_headings() {
        let command = clap::Command::new("x").after_help("Examples:\n  a b\n  c\n\nEnvironment:\n  D  e");
        assert_eq!(section(&command, "Examples"), ["a b", "c"]);
        assert_eq!(section(&command, "Environment"), ["D  e"]);
        assert!(section(&command, "Files").is_empty());
    }
}
