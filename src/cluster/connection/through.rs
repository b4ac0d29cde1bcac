//! A connection through a client that somebody else made: to a server in the same process.

use http::Uri;
use kube::Client;
use kube::config::{AuthInfo, Cluster};
use tokio::sync::Mutex;

use super::Connection;
use super::client::Live;
use super::observations::Observations;
use super::patience::Patience;
use super::peer::Peer;
use crate::cluster::credential::PluginWorld;
use crate::cluster::kubeconfig::Endpoint;
use crate::cluster::listener::Listener;
use crate::world::{Clock, Environment};

impl Connection {
    /// A connection through a client. Its credential is its own business, and is never renewed.
    pub(in crate::cluster) fn through(client: Client, clock: Clock, listener: Listener) -> Self {
        let namespace = Some(client.default_namespace().to_owned());
        let patience = Patience::new(None);
        let source = "this process".to_owned();
        let endpoint = Endpoint {
            cluster: Cluster::default(),
            user: AuthInfo::default(),
            namespace,
            source: source.clone(),
        };
        Self {
            endpoint,
            peer: Peer { url: Uri::from_static("http://in-process"), proxy: None, source },
            proxy: None,
            plugin_world: PluginWorld {
                environment: Environment::default(),
                somebody_is_there: false,
                limit: patience.plugin,
                untold: patience.untold,
                listener: listener.clone(),
            },
            patience,
            listener,
            tells_requests: false,
            live: Mutex::new(Some(Live::lasting(client))),
            observations: Observations::new(clock),
        }
    }
}
