//! Help: the text of `help VERB` and `help options`, and whether it has colour.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Args, Command};

use super::connection::{CONNECTION_OPTIONS, ConnectionArgs};
use crate::render::appearance::Color;
use crate::render::line::{Line, Style};

/// The heading of the options of `step` that `-h` leaves out.
pub(super) const ADVANCED: &str = "Advanced";

/// The line in every help text that replaces the connection options.
const OPTIONS_LINE: &str = "Connection options, as in kubectl: kubectl rollout2 help options";

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
    let program = program.mut_subcommands(|verb| {
        let with_line = |after: &StyledStr| format!("{OPTIONS_LINE}\n\n{after}");
        let (short, long) = (verb.get_after_help(), verb.get_after_long_help());
        let (short, long) = (short.map(with_line).unwrap_or_default(), long.map(with_line));
        let verb = verb.after_help(short);
        match long {
            Some(long) => verb.after_long_help(long),
            None => verb,
        }
    });
    let after = program.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    program.after_help(OPTIONS_LINE).after_long_help(format!("{OPTIONS_LINE}\n\n{after}"))
}

/// Turns `help VERB` into `VERB --help`. clap's own help verb would be a verb in completions and man pages.
pub(super) fn with_help_flag(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// Whether the command line is `help options`, after [`with_help_flag`].
pub(super) fn asks_for_options(args: &[OsString]) -> bool {
    matches!(args, [_, topic, .., last] if topic == "options" && last == "--help")
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
