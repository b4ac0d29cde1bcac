//! The papers that come with the program: man pages, README, pictures, rights. They are made from the
//! program or held against it, so that none of them tells of a program that is no more.

#![expect(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]
#![expect(clippy::print_stderr, reason = "a test that skips says what it skips")]

mod generated;
mod ground;
mod hints;
mod man_page;
mod man_pages;
mod picture;
mod pictures;
mod readme;
mod rights;
