//! The output of the renderers, compared with the output of kubectl.

#![expect(clippy::expect_used, reason = "a panic message describes the expectation")]

mod cases;
mod json;
mod recorded;
mod template_text;
mod yaml;
