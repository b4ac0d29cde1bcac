//! Where the objects come from that the API server would store: `kubectl apply --dry-run=server`, a file, or standard
//! input.

use std::io::Read;

use super::kubectl_apply::{ApplyFlags, ApplyResult, KubectlApply};
use crate::cluster::source::Source;
use crate::command::context::Context;
use crate::error::{Error, Result};
use crate::model::api::object::Object;
use crate::render::ui::Ui;
use crate::snapshot::files::{objects_of, objects_on, read_stdin};
use crate::world::InputPath;

/// Where the applied objects come from.
#[derive(Clone, Debug)]
pub enum AppliedObjects {
    /// `kubectl apply --dry-run=server -o json` prints them.
    Kubectl {
        /// The manifests and flags.
        flags: ApplyFlags,
        /// Standard input, if it is one of the manifests. Filled by `read_stdin`.
        stdin: Result<Vec<u8>>,
    },
    /// Objects in the form in which that command prints them.
    Recorded {
        /// The file.
        path: InputPath,
        /// The objects on standard input. Filled by `read_stdin`.
        stdin: Result<Vec<Object>>,
    },
}

impl AppliedObjects {
    /// Reads standard input if it is needed.
    pub(super) fn read_stdin(&mut self, input: &mut dyn Read) {
        match self {
            Self::Kubectl { flags, stdin } if flags.use_stdin() => *stdin = read_stdin(input),
            Self::Recorded { path: InputPath::Stdin, stdin } => *stdin = objects_on(input),
            Self::Kubectl { .. } | Self::Recorded { .. } => {}
        }
    }

    /// Returns the field manager of the objects.
    pub(super) fn field_manager(&self) -> &str {
        match self {
            Self::Kubectl { flags, .. } => flags.field_manager(),
            Self::Recorded { .. } => "kubectl",
        }
    }

    /// Returns the objects as the API server would store them.
    ///
    /// # Errors
    /// When the file cannot be read, or kubectl cannot be run or fails for all objects.
    pub(super) async fn read(&self, context: &Context<'_>, ui: &mut Ui) -> Result<ApplyResult> {
        let objects = match self {
            Self::Kubectl { flags, stdin } => {
                flags.check_files()?;
                let input = stdin.as_ref().map_err(Error::clone)?;
                let Source::Cluster(cluster) = context.source else {
                    return Err(Error::usage("kubectl cannot apply to recorded objects"));
                };
                return KubectlApply::new(flags, context, cluster).await?.run(input, ui).await;
            }
            Self::Recorded { path: InputPath::Path(path), .. } => objects_of(path)?,
            Self::Recorded { path: InputPath::Stdin, stdin } => stdin.clone()?,
        };
        Ok(ApplyResult { objects, ..ApplyResult::default() })
    }
}
