//! An in-memory Kubernetes API server for tests. The README describes its structure and its limits.
//!
//! ```
//! use simcluster::{Key, SimCluster, resource::DEPLOYMENTS};
//!
//! let recorded = serde_json::json!({ "items": [{
//!     "apiVersion": "apps/v1", "kind": "Deployment",
//!     "metadata": { "name": "web", "namespace": "shop", "resourceVersion": "41", "generation": 1 },
//!     "spec": { "replicas": 1 },
//! }] });
//! let cluster = SimCluster::builder().snapshot(&recorded)?.build();
//! let web = Key::new(&DEPLOYMENTS, "shop", "web");
//! let replicas = cluster.store(|store| store.find(&web).map(|web| web["spec"]["replicas"].clone()))?;
//! assert_eq!(replicas, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "the only callers are tests, which fail"
)]

mod builder;
pub mod clock;
mod cluster;
pub mod controller;
pub mod fault;
mod journal;
pub mod object;
pub mod patch;
pub mod random;
pub mod refusal;
mod request;
pub mod resource;
pub mod rules;
pub mod selector;
mod serve;
mod service;
pub mod store;
mod users;

pub use self::{
    builder::Builder,
    clock::Clock,
    cluster::SimCluster,
    controller::{Controller, Controllers, KubeletTiming, Order, Task},
    journal::RecordedRequest,
    refusal::Refusal,
    request::{Query, Route, Target, Verb, View},
    resource::Resource,
    serve::{Protocols, Served, ServerCertificate},
    service::{Lost, ReplyBody, SimService},
    store::{Finalization, Key, Store},
    users::{Rule, User, Users},
};
