//! Formats the output: tables, lines, live frames, JSON, YAML and colour, and escapes untrusted text.

pub mod age;
pub mod appearance;
pub mod change;
mod columns;
pub mod completion;
pub mod diff;
mod fit_width;
mod frame;
pub mod history;
pub mod hold;
pub mod job_summary;
pub mod json;
pub mod kubectl_json;
pub mod line;
pub mod list;
pub mod message_writer;
pub mod owner_warnings;
pub mod pods;
pub mod preview;
pub mod recent;
mod revisions;
pub mod state_words;
pub mod status;
pub mod step;
pub mod template_form;
pub mod template_text;
pub mod ui;
