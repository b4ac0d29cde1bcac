//! Workloads, revisions, templates and what follows from them: objects and a time in, facts out.
//!
//! Nothing here does I/O, waits, reads a clock or knows the command line. Most of the tests are here.

pub mod access;
pub mod age;
pub mod authorship;
pub mod candidate;
pub mod cause;
pub mod condition;
pub mod conflict;
pub mod container;
pub mod controller_hash;
pub mod diff;
pub mod digest;
pub mod effect;
pub mod event;
pub mod follow;
pub mod go_duration;
pub mod go_json;
pub mod history;
pub mod hold;
pub mod kind;
pub mod manifest;
pub mod misleading;
pub mod name;
pub mod notice;
pub mod object;
pub mod observed;
pub mod owners;
pub mod patch;
pub(crate) mod plain_text;
pub mod pod;
pub mod quantity;
pub mod resource_type;
pub mod restart;
pub mod revision;
pub mod rounding;
pub mod secret;
pub mod selector;
pub mod stage;
pub mod strategy;
pub mod stuck;
pub mod target;
pub mod template;
pub mod undo;
pub mod verdict;
pub mod workload;
