//! Writes one man page as roff, from the definition of a command.
//!
//! `clap_mangen` writes the sections about flags. The rest of its page is not used: its synopsis repeats every flag,
//! thirty of them about the connection, and it has neither EXIT STATUS nor EXAMPLES.

use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use rollout2::cli::help::{self, ENVIRONMENT, EXIT_CODES, FILES, ReferenceEntry};

use crate::docs::man_pages::PROGRAM;

/// Returns the lines of one section below a command's flags, such as `Examples`; empty when the command
/// has no such section.
pub(crate) fn section(command: &clap::Command, title: &str) -> Vec<String> {
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let heading = format!("{title}:");
    let after = text.lines().skip_while(|line| *line != heading).skip(1);
    after.take_while(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect()
}

/// Returns the page of the program.
pub(crate) fn of_the_program(command: &clap::Command, see_also: &[String]) -> String {
    let usage = [roman("kubectl rollout2 "), italic("VERB"), roman(" ...")];
    let mut verbs = Roff::new();
    verbs.control("SH", ["VERBS"]);
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let page = format!("{PROGRAM}-{}(1)", verb.get_name());
        item(&mut verbs, &page, &verb.get_about().unwrap_or_default().to_string());
    }
    let beginning = beginning(PROGRAM, command, &usage) + &verbs.to_roff();
    let all_flags = command.clone().mut_args(|flag| flag.hide_short_help(false).hide_long_help(false));
    without_empty_lines(&(beginning + &flags(&all_flags) + &ending(command, EXIT_CODES, see_also)))
}

/// Returns the page of one verb. The flags about the connection are in the page of the program.
pub(crate) fn of_a_verb(verb: &clap::Command, see_also: &[String]) -> String {
    let name = format!("{PROGRAM}-{}", verb.get_name());
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let is_about_connection = |arg: &clap::Arg| arg.is_hide_long_help_set();
    let verb_without = verb.clone().mut_args(|arg| {
        let hidden = arg.is_hide_set() || is_about_connection(&arg);
        arg.hide_short_help(false).hide(hidden)
    });
    let exit_codes = help::exit_codes(verb.get_name());
    let page =
        beginning(&name, verb, &[roman(usage)]) + &flags(&verb_without) + &ending(verb, exit_codes, see_also);
    without_empty_lines(&page)
}

/// The definition of the apostrophe as in `clap_mangen`. groff prints a plain apostrophe only by its name.
const APOSTROPHE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

fn beginning(name: &str, command: &clap::Command, usage: &[Inline]) -> String {
    // Written directly, since roff omits an empty argument. Without a date the page is reproducible.
    let (title, version) = (name.to_uppercase(), env!("CARGO_PKG_VERSION"));
    let title = format!(".TH {title} 1 \"\" \"{PROGRAM} {version}\" \"kubectl rollout2\"\n");
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    let about = command.get_about().unwrap_or_default().to_string();
    roff.text([roman(format!("{name} - {about}"))]);
    roff.control("SH", ["SYNOPSIS"]);
    roff.text(usage.to_vec());
    roff.control("SH", ["DESCRIPTION"]);
    let description = command.get_long_about().or(command.get_about()).unwrap_or_default().to_string();
    // The first paragraph repeats the line under NAME.
    let paragraphs = description.split_once("\n\n").map_or(description.as_str(), |(_, rest)| rest);
    for (index, paragraph) in paragraphs.split("\n\n").enumerate() {
        if index > 0 {
            roff.control("PP", []);
        }
        roff.text([roman(paragraph)]);
    }
    APOSTROPHE.to_owned() + &title + &roff.to_roff()
}

fn flags(command: &clap::Command) -> String {
    let mut flags = Vec::new();
    Man::new(command.clone()).render_options_section(&mut flags).unwrap();
    // Skips the heading of the page of clap_mangen.
    let flags = String::from_utf8(flags).unwrap();
    with_aliases(flags[flags.find(".SH").unwrap()..].to_owned(), command)
}

/// Adds the visible aliases of flags, which `clap_mangen` leaves out.
fn with_aliases(mut page: String, command: &clap::Command) -> String {
    let bold = |long: &str| format!("\\fB\\-\\-{}\\fR", long.replace('-', "\\-"));
    for flag in command.get_arguments() {
        for alias in flag.get_visible_aliases().unwrap_or_default() {
            let name = bold(flag.get_long().unwrap_or_default());
            page = page.replacen(&name, &format!("{name}, {}", bold(alias)), 1);
        }
    }
    page
}

fn ending(command: &clap::Command, exit_codes: &[ReferenceEntry], see_also: &[String]) -> String {
    let roff = &mut Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    items(roff, exit_codes);
    roff.control("SH", ["ENVIRONMENT"]);
    let mut lines = section(command, "Environment").into_iter();
    while let Some(line) = lines.next() {
        let (word, meaning) = match line.split_once("  ") {
            Some((word, meaning)) => (word.to_owned(), meaning.trim().to_owned()),
            None => (line, lines.next().unwrap_or_default()), // a long word has a separate line
        };
        if !ENVIRONMENT.iter().any(|(known, _)| *known == word) {
            item(roff, &word, &meaning);
        }
    }
    items(roff, ENVIRONMENT);
    roff.control("SH", ["FILES"]);
    items(roff, FILES);
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for example in section(command, "Examples") {
        roff.text([roman(example)]);
    }
    roff.control("fi", []);
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(see_also.join(", "))]);
    roff.to_roff()
}

fn items(roff: &mut Roff, entries: &[ReferenceEntry]) {
    for (word, meaning) in entries {
        item(roff, word, meaning);
    }
}

fn item(roff: &mut Roff, word: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(word)]);
    roff.text([roman(meaning)]);
}

/// Replaces empty lines: groff prints a paragraph for them, and mandoc a warning. Inside an item an empty line becomes
/// vertical space, since a paragraph would end the item. `clap_mangen` writes some line breaks twice.
fn without_empty_lines(page: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in page.lines() {
        let line = if line.trim().is_empty() { ".sp" } else { line };
        if line.starts_with('.') && lines.last() == Some(&".sp") {
            lines.pop(); // the next section adds its own space
        }
        if line != ".br" || lines.last() != Some(&".br") {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn sections_are_found_by_their_headings() {
    let command = clap::Command::new("x").after_help("Examples:\n  a b\n  c\n\nEnvironment:\n  D  e");
    assert_eq!(section(&command, "Examples"), ["a b", "c"]);
    assert_eq!(section(&command, "Environment"), ["D  e"]);
    assert!(section(&command, "Files").is_empty());
}
