//! Where workloads are looked for.

use super::Scope;
use crate::cluster::source::Source;
use crate::error::Result;
use crate::model::name;

/// Where objects are looked for.
pub(super) enum Place {
    Namespace(String),
    Everywhere,
}

impl Place {
    pub(super) fn of(scope: &Scope, source: &Source) -> Result<Self> {
        match &scope.namespace {
            _ if scope.all_namespaces => Ok(Self::Everywhere),
            Some(namespace) => Ok(Self::Namespace(namespace.clone())),
            None => {
                let namespace = source.default_namespace()?;
                if source.is_live() {
                    name::check_namespace(&namespace)?; // a kubeconfig's word for it was not checked yet
                }
                Ok(Self::Namespace(namespace))
            }
        }
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Namespace(namespace) => Some(namespace),
            Self::Everywhere => None,
        }
    }

    pub(super) fn nothing_found(&self) -> String {
        match self {
            Self::Namespace(namespace) => format!("No resources found in {namespace} namespace."),
            Self::Everywhere => "No resources found".to_owned(),
        }
    }
}
