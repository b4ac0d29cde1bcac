//! The documentation: man pages, README, CONTRIBUTING, pictures and roles. It is generated from the program
//! or compared with it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
#![expect(clippy::print_stderr, reason = "a skipped test prints a note")]

mod bad_inputs;
mod bot;
mod causes;
mod contributing;
mod generated;
mod help;
mod hints;
mod json;
mod json_fields;
mod man_page;
mod man_pages;
mod picture;
mod pictures;
mod readme;
mod rights;
mod setup;
