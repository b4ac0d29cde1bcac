//! What the manual says beside verbs and flags: exit codes, variables and files, as data.
//!
//! `--help`, the man pages and the README's tables are made from it or held against it, so that they
//! cannot disagree. What belongs to one verb only stands in that verb's own file, in the text below its
//! flags, and is taken apart here.

/// A word of the manual and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The word: a number, a variable, a path.
    pub word: &'static str,
    /// What it means, in one line without a full stop.
    pub meaning: &'static str,
}

const fn entry(word: &'static str, meaning: &'static str) -> Entry {
    Entry { word, meaning }
}

/// Every exit code there is.
pub const EXIT_CODES: &[Entry] = &[
    entry("0", "done: complete, changed, or nothing to do"),
    entry("1", "error: not found, nothing matched, forbidden, unreachable, refused, conflict"),
    entry("2", "usage: bad flag, bad argument, unreadable file"),
    entry("3", "not finished: timed out, or still going with --watch=false"),
    entry(
        "4",
        "failed: deadline exceeded, pods that cannot start, another revision took over, batch or check",
    ),
    entry("5", "held: outdated pods remain because of a pause, a plan, OnDelete or a partition"),
    entry("130", "interrupted (SIGINT); what the cluster keeps doing is said"),
    entry("143", "terminated (SIGTERM)"),
];

/// The exit codes of `diff`, which are those of `diff` everywhere once they are asked for.
const EXIT_CODES_OF_DIFF: &[Entry] = &[
    entry("0", "the templates were compared; with --exit-code: they are the same"),
    entry("1", "error; with --exit-code: the templates differ"),
    entry("2", "usage: bad flag, bad argument, unreadable file"),
    entry("3", "with --exit-code only: error, because 1 has another meaning then"),
];

/// The exit codes that a verb can end with; every one of them for a verb that follows rollouts.
#[must_use]
pub fn exit_codes(verb: &str) -> &'static [Entry] {
    match verb {
        "diff" => EXIT_CODES_OF_DIFF,
        "history" | "completion" => &EXIT_CODES[..3],
        _ => EXIT_CODES,
    }
}

/// The variables that every verb heeds.
pub const ENVIRONMENT: &[Entry] = &[
    entry("KUBECONFIG", "kubeconfig files to read instead of ~/.kube/config, a list as for PATH"),
    entry("ROLLOUT2_COMPAT", "kubectl: print and exit exactly as kubectl does, as with --compat"),
    entry("ROLLOUT2_REDACT", "1: secrets are masked in objects and templates too, even with --compat"),
    entry("NO_COLOR", "no colours, unless --color asks for them"),
    entry("CLICOLOR_FORCE", "colours where there is no terminal too, unless it is 0"),
    entry("TERM", "no colours when it is dumb"),
    entry("HTTPS_PROXY, HTTP_PROXY", "the proxy on the way to the API server, in small letters too"),
    entry("NO_PROXY", "servers that are reached without it, in small letters too"),
    entry("POD_NAMESPACE", "in a pod without kubeconfig: the namespace to look in"),
];

/// The files that every verb reads.
pub const FILES: &[Entry] = &[
    entry("~/.kube/config", "where the cluster is and who we are, as for kubectl"),
    entry(
        "/var/run/secrets/kubernetes.io/serviceaccount",
        "the same for a process in a pod, where there is no kubeconfig",
    ),
];

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 status deployment/web
  kubectl rollout2 history deployment/web
  kubectl rollout2 diff deployment/web 3 5";

/// The text below the flags in the help of the whole program.
pub(super) fn below_the_flags() -> String {
    let lists = [("Exit codes", EXIT_CODES), ("Environment", ENVIRONMENT), ("Files", FILES)];
    let lists = lists.map(|(title, entries)| format!("{title}:\n{}", list(entries)));
    format!("{EXAMPLES}\n\n{}", lists.join("\n\n"))
}

/// A longer word gets a line of its own, so that it does not push all meanings aside.
const LONG_WORD: usize = 24;

fn list(entries: &[Entry]) -> String {
    let width = entries.iter().map(|entry| entry.word.len()).filter(|width| *width <= LONG_WORD).max();
    let width = width.unwrap_or_default();
    let lines = entries.iter().map(|Entry { word, meaning }| match word.len() {
        length if length > LONG_WORD => format!("  {word}\n  {:width$}  {meaning}", ""),
        _ => format!("  {word:width$}  {meaning}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of one section of the text below a command's flags, such as `Examples`; none when the
/// command has no such section.
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
        let text = below_the_flags();
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
