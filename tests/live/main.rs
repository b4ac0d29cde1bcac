//! Commands against an API server on a real socket: TLS, kubeconfigs, credentials, proxies, faults.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod changes;
mod endless;
mod evictions;
mod failures;
mod golden;
mod ground;
mod healing;
mod interleavings;
mod kill;
mod kubeconfigs;
mod plain_http;
mod plugins;
mod protocols;
mod proxies;
mod repeated_patches;
mod requests;
mod retries;
mod round_trips;
mod strangers;
mod targets;
mod wire;
