//! Reads and writes the objects of an API server, or reads recorded ones.
//!
//! This room makes requests. It prints nothing and shows no verdict. It reports retries,
//! warnings and slow responses to a [`Listener`](notice::Listener).

pub mod access;
pub mod concurrent;
pub mod configuration;
mod connection;
mod container_log;
pub mod credential;
pub mod kubeconfig;
pub mod list;
mod list_decoder;
pub mod notice;
pub mod objects;
mod served_versions;
pub mod source;
pub mod write;
