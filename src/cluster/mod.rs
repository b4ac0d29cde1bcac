//! Reads and writes the objects of an API server, or reads recorded ones.
//!
//! This room makes requests. It prints nothing and shows no verdict. It reports retries,
//! warnings and slow responses to a [`Listener`](notice::Listener).

pub mod access;
pub mod concurrently;
pub mod configuration;
mod connection;
pub mod credential;
pub mod kubeconfig;
mod list;
pub mod list_query;
pub mod live;
mod memory;
pub mod notice;
pub mod observe;
mod owned;
mod page;
mod pod_labels;
mod proxy;
pub mod reader;
mod served_versions;
mod shared_failure;
pub mod source;
pub mod write;
