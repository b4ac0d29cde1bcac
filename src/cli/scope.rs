//! The arguments that say which workloads are meant.

use clap::Args;

use crate::command::Common;
use crate::command::gather::Scope;
use crate::error::{Error, Result};
use crate::model::access::SnapshotPath;
use crate::model::manifest::Manifests;
use crate::model::selector::Selector;
use crate::model::target::read_targets;

/// Which workloads are meant.
#[derive(Debug, Args)]
pub(super) struct ScopeArgs {
    /// The workloads: TYPE/NAME..., TYPE NAME..., or TYPE for every one of it
    ///
    /// TYPE is deployment (deploy), daemonset (ds), statefulset (sts), several of them separated by
    /// commas, or all.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    /// Only workloads with these labels: app=web,tier!=cache or 'env in (prod,test)'
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    selector: Option<String>,

    /// Only the workloads that these manifests name: a file, a directory, a pattern, or - for standard input
    #[arg(short, long = "filename", value_name = "FILE|DIR|-", value_delimiter = ',')]
    files: Vec<String>,

    /// Read the directories in a directory too
    #[arg(short = 'R', long)]
    recursive: bool,

    /// Refused, with the line that does it
    #[arg(short, long, value_name = "DIR", hide = true)]
    kustomize: Option<String>,

    /// Look in all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool, // wins over -n, as with kubectl get
}

impl ScopeArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Scope> {
        if let Some(directory) = &self.kustomize {
            return Err(self.refuse_kustomize(directory));
        }
        let manifests = Manifests::read(&self.files, self.recursive)?;
        let asks = if self.files.is_empty() {
            read_targets(&self.targets, self.selector.is_some())?
        } else {
            self.refuse_targets()?;
            Vec::new()
        };
        if manifests.use_stdin() && common.access.snapshot == Some(SnapshotPath::Stdin) {
            return Err(Error::usage("standard input cannot be used for multiple arguments"));
        }
        let selector = self.selector.as_deref().map(Selector::parse).transpose()?.unwrap_or_default();
        let namespace = common.access.namespace.clone().filter(|_| !self.all_namespaces);
        Ok(Scope {
            asks,
            selector,
            namespace,
            all_namespaces: self.all_namespaces,
            manifests,
            ..Scope::default()
        })
    }

    /// A workload is named by words or by a manifest, not by both.
    fn refuse_targets(&self) -> Result<()> {
        match self.targets.first() {
            None => Ok(()),
            Some(word) if word.contains('/') => {
                Err(Error::usage("resource/name arguments cannot be provided when a path is specified"))
            }
            Some(_) => Err(Error::usage(
                "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
            )),
        }
    }

    fn refuse_kustomize(&self, directory: &str) -> Error {
        if !self.files.is_empty() {
            return Error::usage("only one of -f or -k can be specified");
        }
        if self.recursive {
            return Error::usage("the -k flag can't be used with -f or -R");
        }
        Error::usage("-k does not build here")
            .hint(format!("kubectl kustomize {directory} | kubectl rollout2 ... -f -"))
    }
}
