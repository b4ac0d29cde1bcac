//! A connection through a client of the caller, to a server in the same process.

use http::Uri;
use kube::Client;
use kube::config::{AuthInfo, Cluster};
use tokio::sync::Mutex;

use super::Connection;
use super::active_client::ActiveClient;
use super::log::ConnectionLog;
use super::retry::Backoff;
use super::timeouts::Timeouts;
use crate::cluster::connection::explain::ApiServer;
use crate::cluster::credential::PluginContext;
use crate::cluster::kubeconfig::Endpoint;
use crate::cluster::notice::Listener;
use crate::cluster::served_versions::ServedVersions;
use crate::cluster::shared_failure::SharedFailure;
use crate::snapshot::memory_budget::{ALL_OBJECTS, CommandMemory};
use crate::world::{Clock, Environment};

impl Connection {
    /// Creates a connection through `client`, whose credential is never renewed. `seed` is that of the pauses before
    /// retries.
    pub(in crate::cluster) fn in_process(
        client: Client,
        clock: Clock,
        seed: u64,
        listener: Listener,
    ) -> Self {
        let namespace = Some(client.default_namespace().to_owned());
        let timeouts = Timeouts::new(None);
        let source = "this process".to_owned();
        let endpoint = Endpoint {
            cluster: Cluster::default(),
            user: AuthInfo::default(),
            namespace,
            source: source.clone(),
            is_server_from_flag: false,
        };
        Self {
            endpoint,
            api_server: ApiServer {
                url: Uri::from_static("http://in-process"),
                proxy: None,
                source,
                is_server_from_flag: false,
                withheld: false,
            },
            proxy: None,
            plugin_context: PluginContext {
                environment: Environment::default(),
                kuberc: None,
                stdin_is_terminal: false,
                limit: timeouts.plugin,
                notice_after: timeouts.notice_after,
                listener: listener.clone(),
            },
            timeouts,
            listener,
            logs_requests: false,
            active_client: Mutex::new(Some(ActiveClient::permanent(client))),
            credential_failure: SharedFailure::default(),
            log: ConnectionLog::new(clock),
            backoff: Backoff::seeded(seed),
            memory: CommandMemory::new(ALL_OBJECTS),
            served: ServedVersions::default(),
        }
    }
}
