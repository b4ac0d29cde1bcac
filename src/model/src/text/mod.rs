//! Text: secrets, text that something would obey, shell commands, and the formats of Go, JSONPath and YAML.

pub mod go_duration;
pub mod json;
pub mod jsonpath;
pub mod plural;
pub mod secret;
pub mod shell_command;
pub mod untrusted;
pub mod wildcard;
pub mod yaml;
