//! Reads and writes objects: an API server, or a recorded snapshot on disk.
//!
//! This room makes requests and reads files. It prints nothing and computes no verdict. It reports retries,
//! warnings and slow responses to a [`Listener`](listener::Listener).

pub mod access;
pub mod concurrently;
mod connection;
pub mod credential;
pub mod document;
pub(crate) mod files;
pub(crate) mod glob;
mod json_decoder;
pub mod kubeconfig;
mod list;
pub mod listener;
pub mod live;
mod memory_budget;
pub mod notice;
pub mod observe;
mod page;
mod proxy;
mod record;
mod served_versions;
pub mod snapshot;
pub mod source;
pub mod write;
