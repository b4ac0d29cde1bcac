//! Commands against an API server on a real socket: TLS, kubeconfigs, credentials, proxies, faults.

#![expect(clippy::unwrap_used, reason = "a test that cannot get ready has failed")]

mod changes;
mod evictions;
mod failures;
mod golden;
mod ground;
mod healing;
mod interleavings;
mod kill;
mod kubeconfigs;
mod plugins;
mod proxies;
mod requests;
mod retries;
mod strangers;
mod targets;
mod wire;
