//! A connection through a client of the caller, to a server in the same process.

use http::Uri;
use kube::Client;
use kube::config::{AuthInfo, Cluster};
use tokio::sync::Mutex;

use super::Connection;
use super::active_client::ActiveClient;
use super::header_log::HeaderLog;
use super::round_trips::RoundTrips;
use super::shared_notices::SharedNotices;
use super::timeouts::Timeouts;
use crate::cluster::connection::explain::ApiServer;
use crate::cluster::credential::PluginContext;
use crate::cluster::kubeconfig::Endpoint;
use crate::cluster::listener::Listener;
use crate::cluster::served_versions::ServedVersions;
use crate::world::{Clock, Environment};

impl Connection {
    /// Creates a connection through `client`, whose credential is never renewed.
    pub(in crate::cluster) fn in_process(client: Client, clock: Clock, listener: Listener) -> Self {
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
                stdin_is_terminal: false,
                limit: timeouts.plugin,
                notice_after: timeouts.notice_after,
                listener: listener.clone(),
            },
            timeouts,
            listener,
            logs_requests: false,
            active_client: Mutex::new(Some(ActiveClient::permanent(client))),
            header_log: HeaderLog::new(clock),
            round_trips: RoundTrips::default(),
            shared_notices: SharedNotices::default(),
            served: ServedVersions::default(),
        }
    }
}
