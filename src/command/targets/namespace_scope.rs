//! The namespaces that a command searches.

use super::TargetScope;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::api::name;

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

    pub(in crate::command::targets) fn nothing_found(&self) -> String {
        match self {
            Self::One(namespace) => format!("No resources found in {namespace} namespace."),
            Self::All => "No resources found".to_owned(),
        }
    }
}
