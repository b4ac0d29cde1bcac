//! The documentation: man pages, README, CONTRIBUTING, pictures and roles. It is generated from the program
//! or compared with it.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]
#![expect(clippy::print_stderr, reason = "a test that skips says what it skips")]

mod bad_inputs;
mod contributing;
mod generated;
mod help;
mod hints;
mod json;
mod man_page;
mod man_pages;
mod picture;
mod pictures;
mod readme;
mod rights;
mod setup;
