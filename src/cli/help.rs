//! Help: what every verb has in common, the text of `help VERB` and `help options`, and whether it has colour.

use std::ffi::OsString;

use clap::{Args, Command};

use super::common::{CONNECTION_OPTIONS, ConnectionArgs};
use crate::render::appearance::Color;
use crate::render::line::{Line, Style};

/// The heading of the options of `step` that `-h` leaves out.
pub(super) const ADVANCED: &str = "Advanced";

/// clap's own template, with a line that replaces the connection options.
const TEMPLATE: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}

Connection options, as in kubectl: kubectl rollout2 help options{after-help}";

/// The template of a verb that reads no cluster.
const TEMPLATE_WITHOUT_CLUSTER: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}{after-help}";

/// The word before the forms of a command line.
const USAGE: &str = "Usage:";

/// The indentation of the text of an option in the long help.
const DETAILS: &str = "          ";

/// Hides the connection options in the help of each verb, and adds the line about them below the flags.
pub(super) fn with_options_line(program: Command) -> Command {
    let program = program.mut_args(|option| match option.get_help_heading() {
        Some(CONNECTION_OPTIONS) => option.hide_short_help(true).hide_long_help(true),
        _ => option,
    });
    program.help_template(TEMPLATE).mut_subcommands(|verb| {
        let reads_cluster = !matches!(verb.get_name(), "completion" | "explain" | "version");
        verb.help_template(if reads_cluster { TEMPLATE } else { TEMPLATE_WITHOUT_CLUSTER })
    })
}

/// Turns `help VERB` into `VERB --help`. clap's own help verb would be a verb in completions and man pages. `options` is
/// `help options`, as in kubectl.
pub(super) fn with_help_flag(mut args: Vec<OsString>) -> Vec<OsString> {
    let first = args.get(1).and_then(|word| word.to_str());
    let is_help = first == Some("help");
    if is_help || first == Some(OPTIONS) {
        args.push("--help".into());
    }
    if is_help {
        args.remove(1);
    }
    args
}

/// The word for the list of connection options.
const OPTIONS: &str = "options";

/// Whether the command line is `help options`, after [`with_help_flag`].
pub(super) fn asks_for_options(args: &[OsString]) -> bool {
    matches!(args, [_, topic, .., last] if topic == OPTIONS && last == "--help")
}

/// Returns the list of connection options.
pub(super) fn options() -> String {
    let list = ConnectionArgs::augment_args(Command::new("options"))
        .disable_help_flag(true)
        .max_term_width(100)
        .help_template("Every verb takes these options.\n\n{all-args}\n");
    list.clone().render_long_help().to_string()
}

/// Returns a help text without the empty lines between and within options, so that more of it fits on a screen.
pub(super) fn compacted(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_of_option = |line: &str| ["  -", "      --", DETAILS].iter().any(|start| line.starts_with(start));
    let is_kept = |index: usize| {
        lines.get(index) != Some(&"") || !lines.get(index + 1).is_some_and(|next| is_of_option(next))
    };
    let kept = lines.iter().enumerate().filter(|(index, _)| is_kept(*index));
    kept.fold(String::new(), |text, (_, line)| text + line + "\n")
}

/// Returns the value of `--color`, which clap does not parse when it prints help or an error.
pub(super) fn color(args: &[OsString]) -> Color {
    let words: Vec<&str> = args.iter().map_while(|word| word.to_str().filter(|word| *word != "--")).collect();
    let mut flags =
        words.iter().enumerate().filter_map(|(index, word)| match word.strip_prefix("--color=") {
            Some(value) => Some(value),
            None if *word == "--color" => words.get(index + 1).copied(),
            None => None,
        });
    match flags.next_back() {
        Some("always") => Color::Always,
        Some("never") => Color::Never,
        _ => Color::Auto,
    }
}

/// Returns a help text with its headings styled: lines such as `Options:` below an empty one, and the word `Usage:`.
pub(super) fn styled(text: &str) -> Vec<Line> {
    let before = std::iter::once("").chain(text.lines());
    text.lines().zip(before).map(|(text, before)| line(text, before.trim().is_empty())).collect()
}

fn line(line: &str, is_first: bool) -> Line {
    let is_heading = is_first && !line.starts_with(' ') && line.trim_end().ends_with(':');
    match line.strip_prefix(USAGE) {
        _ if is_heading => Line::styled(Style::Heading, line.trim_end()),
        Some(rest) => Line::styled(Style::Heading, USAGE).with(Style::Plain, rest),
        None => Line::of(line),
    }
}

/// A term, such as a number, a variable or a path, and its meaning in one line without a full stop.
pub type ReferenceEntry = (&'static str, &'static str);

/// All exit codes.
pub const EXIT_CODES: &[ReferenceEntry] = &[
    ("0", "done: complete, changed, or nothing to do"),
    ("1", "error: not found, nothing matched, forbidden, unreachable, refused, conflict"),
    ("2", "usage: bad flag, bad argument, unreadable file"),
    ("3", "not finished: timed out, stdout closed (step: 143), or under way with --watch=false"),
    ("4", "failed: deadline exceeded, a cause of --fail-fast, another revision, a batch or a check"),
    ("5", "held: a pause, a plan, OnDelete, or a partition that lets no pod update keeps pods outdated"),
    ("130", "interrupted (SIGINT); prints what continues in the cluster"),
    ("143", "terminated (SIGTERM)"),
    ("129", "hung up (SIGHUP): the terminal was closed"),
];

/// The exit codes of `diff`; with `--exit-code` they are those of the `diff` program.
const EXIT_CODES_OF_DIFF: &[ReferenceEntry] = &[
    ("0", "the templates were compared; with --exit-code: they are equal"),
    ("1", "error; with --exit-code: the templates differ"),
    ("2", "usage: bad flag, bad argument, unreadable file"),
    ("3", "with --exit-code only: error"),
];

/// The exit codes of `preview`.
const EXIT_CODES_OF_PREVIEW: &[ReferenceEntry] = &[
    ("0", "the preview was printed; with --exit-code: nothing rolls out"),
    ("1", "error; with --exit-code: something rolls out"),
    ("2", "usage: bad flag, bad argument, unreadable file"),
    ("3", "with --exit-code only: error, also when the API server refuses an object"),
    ("130", "interrupted (SIGINT)"),
    ("143", "terminated (SIGTERM)"),
    ("129", "hung up (SIGHUP): the terminal was closed"),
];

/// Returns the exit codes of a verb.
#[must_use]
pub fn exit_codes(verb: &str) -> &'static [ReferenceEntry] {
    match verb {
        "diff" => EXIT_CODES_OF_DIFF,
        "preview" => EXIT_CODES_OF_PREVIEW,
        "history" | "completion" | "explain" | "version" => &EXIT_CODES[..3],
        _ => EXIT_CODES,
    }
}

/// The environment variables that every verb reads.
pub const ENVIRONMENT: &[ReferenceEntry] = &[
    ("KUBECONFIG", "the kubeconfig files, separated as in PATH [default: ~/.kube/config]"),
    ("ROLLOUT2_REDACT", "1: mask secrets in objects and templates too"),
    ("NO_COLOR", "no colour, unless --color is always"),
    ("CLICOLOR_FORCE", "colour without a terminal too, unless 0"),
    ("TERM", "no colour and no redrawing when dumb"),
    ("CI", "no redrawing, no CI commands; also TF_BUILD, TEAMCITY_VERSION"),
    ("GITHUB_ACTIONS", "true: errors are annotations too, and logs are folded"),
    ("GITHUB_STEP_SUMMARY", "in GitHub Actions: the file for a table of the rollouts"),
    ("HTTPS_PROXY, HTTP_PROXY", "the proxy for the API server; also in lower case"),
    ("NO_PROXY", "servers to reach without the proxy; also in lower case"),
    ("POD_NAMESPACE", "in a pod: the default namespace"),
    ("KUBERC", "the policy of credential plugins; off or KUBECTL_KUBERC=false: none"),
];

/// The files that every verb reads.
pub const FILES: &[ReferenceEntry] = &[
    ("~/.kube/config", "the cluster and the user, as for kubectl"),
    (
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
    let width = entries.iter().map(|(word, _)| word.len()).filter(|width| *width <= LONG_WORD).max();
    let width = width.unwrap_or_default();
    let lines = entries.iter().map(|(word, meaning)| match word.len() {
        length if length > LONG_WORD => format!("  {word}\n  {:width$}  {meaning}", ""),
        _ => format!("  {word:width$}  {meaning}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_a_hundred_columns() {
        let text = after_help();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
