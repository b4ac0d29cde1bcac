//! Where the objects come from that the API server would store: `kubectl apply --dry-run=server`, a file, or standard
//! input.

use std::io::Read;

use super::kubectl_apply::{ApplyArgs, ApplyResult, KubectlApply};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::error::{Error, Result};
use crate::model::api::object::Object;
use crate::render::ui::Ui;
use crate::snapshot::files::{objects_of, objects_on};
use crate::world::InputPath;

/// Where the applied objects come from.
#[derive(Clone, Debug)]
pub enum AppliedObjects {
    /// `kubectl apply --dry-run=server -o json` prints them.
    Kubectl(ApplyArgs),
    /// Objects that were read in the form in which that command prints them.
    Recorded(Result<Vec<Object>>),
}

impl AppliedObjects {
    /// Reads the objects of a file or of standard input.
    pub fn recorded(path: &InputPath, stdin: &mut dyn Read) -> Self {
        Self::Recorded(match path {
            InputPath::Stdin => objects_on(stdin),
            InputPath::Path(path) => objects_of(path),
        })
    }

    /// Returns the field manager of the objects.
    pub(super) fn field_manager(&self) -> &str {
        match self {
            Self::Kubectl(args) => &args.field_manager,
            Self::Recorded(_) => "kubectl",
        }
    }

    /// Returns the objects as the API server would store them.
    ///
    /// # Errors
    /// When the file cannot be read, or kubectl cannot be run or fails for all objects.
    pub(super) async fn read(&self, context: &Context<'_>, ui: &mut Ui) -> Result<ApplyResult> {
        match self {
            Self::Recorded(objects) => {
                Ok(ApplyResult { objects: objects.clone()?, ..ApplyResult::default() })
            }
            Self::Kubectl(args) => {
                let input = args.input.as_ref().map_err(Error::clone)?;
                let Source::Cluster(cluster) = context.source else {
                    return Err(Error::usage("kubectl cannot apply to recorded objects"));
                };
                KubectlApply::new(args, context, cluster).await?.run(input, ui).await
            }
        }
    }
}
