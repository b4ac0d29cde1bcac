//! What is read and written: a snapshot on disk, or a cluster.
//!
//! This room knows requests and files. It prints nothing and judges nothing; what happens on the way is
//! told to a [`Listener`](listener::Listener).

mod connection;
mod credential;
pub mod document;
mod files;
mod glob;
mod item;
pub mod kubeconfig;
mod list;
pub mod listener;
pub mod live;
pub mod manifest;
pub mod observe;
mod page;
mod proxy;
pub mod snapshot;
pub mod source;
pub mod write;
