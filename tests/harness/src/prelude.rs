//! The names that most tests of the program use: `use harness::prelude::*;`.

pub use std::time::Duration;

pub use serde_json::{Value, json};
pub use simcluster::fault::{Fault, FaultAction, Requests};
pub use simcluster::patch::Format;
pub use simcluster::refusal::Refusal;
pub use simcluster::resource::{
    ADVANCED_DAEMONSETS, ADVANCED_STATEFULSETS, CLONESETS, CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS,
    EVENTS, JOBS, NODES, PODS, REPLICASETS, STATEFULSETS,
};
pub use simcluster::rules::{Author, Deletion, Part};
pub use simcluster::{Controllers, Key, Resource, Rule, SimCluster, User, Verb};

pub use crate::cluster::{Editor, image_change, key};
pub use crate::{Cluster, Output, Process, Recorded, Run, data, is_ready, merged, snapshot, snapshot_path};
