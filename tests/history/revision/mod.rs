//! What `history --revision` prints, compared with kubectl: the text of a template, JSON and YAML.

#![expect(clippy::expect_used, reason = "a panic message describes the expectation")]

mod cases;
mod json;
mod template_text;
mod yaml;
