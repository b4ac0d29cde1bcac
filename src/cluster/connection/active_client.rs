//! A client, with the credential that it sends.

use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::config::AuthInfo;

use crate::cluster::credential::Credential;

/// A client and the credential it was built with.
pub(super) struct ActiveClient {
    pub(super) client: Client,
    pub(super) credential: Credential,
}

impl ActiveClient {
    /// Wraps a client whose credential is never renewed.
    pub(super) fn permanent(client: Client) -> Self {
        Self { client, credential: Credential::permanent(AuthInfo::default()) }
    }

    /// Whether the credential has not expired at this time.
    pub(super) fn is_valid_at(&self, time: Timestamp) -> bool {
        self.credential.expires.is_none_or(|expires| expires > time)
    }
}

impl std::fmt::Debug for ActiveClient {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ActiveClient")
            .field("expires", &self.credential.expires)
            .finish_non_exhaustive()
    }
}
