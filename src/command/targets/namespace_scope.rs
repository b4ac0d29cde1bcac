//! The namespaces that a command searches.

use super::TargetScope;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::text::name;

/// One namespace, or all of them.
pub(in crate::command::targets) enum NamespaceScope {
    One(String),
    All,
}

impl NamespaceScope {
    pub(in crate::command::targets) fn of(scope: &TargetScope, source: &Source) -> Result<Self> {
        match &scope.namespace {
            _ if scope.all_namespaces => Ok(Self::All),
            Some(namespace) => Ok(Self::One(namespace.clone())),
            None => {
                let namespace = source.default_namespace()?;
                if source.is_live() {
                    name::check_namespace(&namespace)?; // it comes from the kubeconfig, unchecked
                }
                Ok(Self::One(namespace))
            }
        }
    }

    pub(in crate::command::targets) fn namespace(&self) -> Option<&str> {
        match self {
            Self::One(namespace) => Some(namespace),
            Self::All => None,
        }
    }

    /// Returns kubectl's line for a search that found nothing.
    pub(in crate::command::targets) fn nothing_found(&self) -> String {
        match self {
            Self::One(namespace) => format!("No resources found in {namespace} namespace."),
            Self::All => "No resources found".to_owned(),
        }
    }

    /// Returns the error of a search that found nothing.
    pub(in crate::command::targets) fn nothing_found_error(&self) -> Error {
        let place =
            self.namespace().map(|namespace| format!(" in namespace {namespace:?}")).unwrap_or_default();
        Error::new(ErrorKind::NotFound, format!("no workload found{place}"))
    }
}
