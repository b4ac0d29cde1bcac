//! Facts into text: tables, lines, JSON, YAML, colour, and the escaping of what cannot be trusted.

pub mod appearance;
pub mod change;
pub mod compat_history;
pub mod compat_undo;
pub mod completion;
pub mod diff;
pub mod escape;
mod field_order;
pub mod follow;
pub mod frame;
pub mod go_json;
pub mod history;
pub mod hold;
pub mod live;
pub mod narrator;
pub mod notice;
pub mod owners;
pub mod revision_document;
pub mod screen;
pub mod status;
pub mod step;
pub mod style;
mod tab_writer;
mod table;
pub mod template_text;
mod wrap;
pub mod yaml;
