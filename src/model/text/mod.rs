//! Text: digests, secrets, hidden characters, shell commands, and the formats of Go and YAML.

pub mod control;
pub mod digest;
pub mod go_duration;
pub mod go_json;
pub mod jsonpath;
pub mod name;
pub mod plural;
pub mod secret;
pub mod shell_command;
pub mod yaml;
