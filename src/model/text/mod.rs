//! Text: digests, secrets, hidden characters, shell commands, and the formats of Go and YAML.

pub mod digest;
pub mod go_duration;
pub mod go_json;
pub mod hidden_character;
pub mod jsonpath;
pub mod name;
pub mod plural;
pub mod secret;
pub mod shell_command;
pub mod start_time;
pub mod workflow_command;
pub mod yaml;
