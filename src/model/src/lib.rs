//! Everything that is a function of API objects and a time: workloads, revisions, verdicts and changes.
//!
//! The model does no I/O, reads no clock and knows nothing of the command line. Most tests are here.
//!
//! Nouns come before verbs. [`text`] and [`api`] use nothing else of the model. Nouns say what a thing is and may use each
//! other: [`kind`], [`revision`], [`diff`], [`observation`], [`hold`], [`cause`]. Verbs use nouns: [`status`], [`change`],
//! [`view`], [`follow`], [`step`]. `tests/architecture` checks it. Every folder and every room uses [`error`] and [`exit`].

pub mod error;
pub mod exit;

pub mod text;

pub mod api;

pub mod kind;

pub mod revision;

pub mod diff;

pub mod observation;

mod settle;

pub mod hold;

pub mod status;

pub mod cause;

pub mod engine;

pub mod finding;

pub mod change;

pub mod view;

pub mod follow;

pub mod step;
