//! Connections: kubeconfigs, credentials, TLS, proxies, faults, limits, and the number of requests, against an API server
//! on a real socket.

#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod certificates;
mod connection_flags;
pub(crate) mod failures;
mod foreign_responses;
mod input_limits;
mod kubeconfigs;
mod plain_http;
mod plugin_policy;
mod plugins;
mod protocols;
mod proxies;
mod request_counts;
mod retries;
mod round_trips;
