//! What the renderers write, compared with what kubectl wrote.

#![expect(clippy::expect_used, reason = "a test says what it expected")]

mod cases;
mod json;
mod recorded;
mod template_text;
mod yaml;
