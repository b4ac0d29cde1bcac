//! Commands against an API server on a real socket: TLS, kubeconfigs, credentials, proxies, faults.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod changes;
mod connection_flags;
mod evictions;
mod failures;
mod foreign_responses;
mod input_limits;
mod interleavings;
mod killed_processes;
mod kubeconfigs;
mod kubectl_texts;
mod plain_http;
mod plugin_policy;
mod plugins;
mod preflight;
mod protocols;
mod proxies;
mod questions;
mod repeated_patches;
mod request_counts;
mod retries;
mod round_trips;
mod setup;
mod stale_configuration;
mod stuck_pods;
mod targets;
