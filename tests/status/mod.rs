//! `status`: verdicts and causes of recorded and constructed objects.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap fails the test")]

mod causes;
mod exit_codes;
mod holds;
mod hostile;
mod kubectl_lines;
mod objects;
mod output;
mod recorded;
mod upstream;
mod what_serves;
