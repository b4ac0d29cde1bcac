//! The arguments of `diff`.

use clap::Args;

use super::common::CommonArgs;
use super::scope::{NamedTarget, read_one_target, refuse_read_only};
use super::values::{DOCUMENTS, count, output_form};
use crate::error::{Error, Result};
use crate::model::diff::SecretValues;
use crate::model::revision::RevisionWord;
use crate::model::text::untrusted;
use crate::render::output_form::OutputForm;

/// Compare two revisions, or two workloads
///
/// Prints a summary of the changes, then a unified diff of the two pod templates. Containers, env, ports,
/// volumes and similar lists are compared by name, so a different order is not a change, except that of init
/// containers, env and envFrom. Values whose names look secret (env, headers, arguments, annotations), and
/// credentials in other values, are shown as ***.
///
/// The other workload is in another namespace or context. Workloads elsewhere are compared without the
/// namespace in the template's metadata and without generated fields: the metadata that servers write, hash
/// labels, and the annotation of `kubectl rollout restart`. To compare a manifest, use preview or kubectl diff.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "kubectl rollout2 diff TARGET [FROM [TO]] [OPTIONS]\n       \
                      kubectl rollout2 diff TARGET [FROM] [OTHER] [--with-...] [OPTIONS]"
)]
pub struct DiffArgs {
    /// The workload, as TYPE/NAME or TYPE NAME, and the revisions to compare [default: previous current]
    ///
    /// If no revision has the live template yet, the second one is live.
    ///
    /// A revision is a number, current, previous (the one that undo rolls back to), -N (N - 1 before that), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest. live is the template in
    /// the workload's spec. A second TYPE/NAME compares the live templates of two workloads.
    #[arg(value_name = "TARGET [FROM [TO]]", allow_negative_numbers = true)]
    words: Vec<String>,

    /// Compare with the workload of this namespace
    #[arg(long, value_name = "NAMESPACE")]
    with_namespace: Option<String>,

    /// Compare with the workload in the cluster of this context, in the namespace of -n or else of that context
    ///
    /// Flags for the server, the credentials and the impersonated user, such as --server, --token and --as, apply to
    /// the first cluster only.
    #[arg(long, value_name = "NAME")]
    pub with_context: Option<String>,

    /// Compare the workload of the first of these contexts with that of each other one: names, or globs such as 'prod-*'
    ///
    /// The first one is the first in the kubeconfig. Each has the namespace of -n, or else its own.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', conflicts_with_all = ["with_context", "with_namespace"])]
    pub contexts: Vec<String>,

    /// The revision of the other workload [default: live]
    #[arg(long, value_name = "REV", allow_hyphen_values = true, value_parser = side)]
    with_revision: Option<TemplateRef>,

    /// How the changes are shown.
    #[command(flatten)]
    pub format: DiffFormatArgs,

    /// Print only the summary of the changes
    #[arg(long, conflicts_with = "output")]
    stat: bool,

    /// The output format: json and yaml have the changes, and what they do to a pod
    ///
    /// jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE and custom-columns=SPEC print this document in kubectl's dialect
    /// of JSONPath.
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = output_form(DOCUMENTS), default_value = "", hide_default_value = true)]
    pub output: OutputForm,

    /// Exit with 1 when the templates differ, and with 2 or more after an error
    #[arg(long)]
    pub exit_code: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 diff deployment/web
  kubectl rollout2 diff deployment/web 3 5
  kubectl rollout2 diff statefulset db current live
  kubectl rollout2 diff deployment/web previous --stat
  kubectl rollout2 diff cloneset/web --stat
  kubectl rollout2 diff deployment/web --with-namespace staging
  kubectl rollout2 diff deployment/web --with-context prod --with-revision 5
  kubectl rollout2 diff deployment/web --contexts prod-eu,prod-us --stat
  kubectl rollout2 diff deployment/web statefulset/web

Environment:
  KUBECTL_EXTERNAL_DIFF  a program for the unified diff, called as kubectl diff calls it";

/// The two templates that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The workload.
    pub target: NamedTarget,
    /// The template to compare.
    pub from: TemplateRef,
    /// The template to compare it with: of the same workload, or of the one elsewhere.
    pub to: TemplateRef,
    /// Whether the second one was not given: the current revision, or the live template that no revision has yet.
    pub to_is_default: bool,
    /// Where the other workload is; `None` to compare templates of one workload.
    pub elsewhere: Option<Elsewhere>,
}

/// One side of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRef {
    /// `live`: the workload's own template.
    Live,
    /// A revision.
    Revision(RevisionWord),
}

/// Where the other workload of a comparison is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Another workload; `None` for the same type and name.
    pub workload: Option<NamedTarget>,
    /// Its namespace, if one is given.
    pub namespace: Option<String>,
    /// The context of its cluster; `None` for the same cluster or snapshot.
    pub context: Option<String>,
}

impl DiffArgs {
    /// Checks the arguments.
    ///
    /// # Errors
    /// Usage errors.
    pub(super) fn validate(&self, common: &CommonArgs) -> Result<()> {
        self.sides(common, !self.contexts.is_empty() || common.from.len() > 1).map(drop)
    }

    /// Returns what is compared; `across_contexts` says that it is the workload of several contexts.
    ///
    /// # Errors
    /// Usage errors.
    pub fn sides(&self, common: &CommonArgs, across_contexts: bool) -> Result<Sides> {
        let (target, sides) = read_one_target(&self.words, "deployment/web")?;
        refuse_read_only(target.kind, Some(&target.name), "diff")?;
        let (sides, other) = match sides {
            [sides @ .., other] if other.contains('/') => {
                (sides, Some(read_one_target(std::slice::from_ref(other), "statefulset/web")?.0))
            }
            sides => (sides, None),
        };
        other.iter().try_for_each(|other| refuse_read_only(other.kind, Some(&other.name), "diff"))?;
        if let Some(other) = other.as_ref().filter(|_| across_contexts) {
            return Err(Error::usage(format!(
                "one workload is compared across contexts, not {} too",
                other.name
            )));
        }
        let elsewhere = self.elsewhere(other, across_contexts)?;
        let other_side = || self.with_revision.clone().unwrap_or(TemplateRef::Live);
        let (from, to) = match (sides, &elsewhere) {
            ([], None) => {
                (TemplateRef::Revision(RevisionWord::Back(1)), TemplateRef::Revision(RevisionWord::Current))
            }
            ([from], None) => (side(from)?, TemplateRef::Revision(RevisionWord::Current)),
            ([from, to], None) => (side(from)?, side(to)?),
            ([], Some(_)) => (TemplateRef::Live, other_side()),
            ([from], Some(_)) => (side(from)?, other_side()),
            ([_, rest @ ..], Some(_)) => return Err(too_many_elsewhere(rest)),
            ([_, _, rest @ ..], None) => return Err(too_many(rest)),
        };
        let to_is_default = sides.len() < 2 && elsewhere.is_none();
        let target = NamedTarget { namespace: common.namespace().map(str::to_owned), ..target };
        Ok(Sides { target, from, to, to_is_default, elsewhere })
    }

    /// Returns the number of equal lines around each change of the unified diff; `None` for no diff.
    #[must_use]
    pub fn unified(&self) -> Option<usize> {
        (!self.stat && !self.output.is_document()).then_some(self.format.context)
    }

    /// Returns where the other workload is; `None` to compare templates of one workload.
    fn elsewhere(&self, workload: Option<NamedTarget>, across_contexts: bool) -> Result<Option<Elsewhere>> {
        let namespace = self.with_namespace.clone().filter(|name| !name.is_empty());
        namespace.as_deref().map_or(Ok(()), untrusted::check_namespace_name)?;
        let context = self.with_context.clone();
        if workload.is_some() || namespace.is_some() || context.is_some() || across_contexts {
            return Ok(Some(Elsewhere { workload, namespace, context }));
        }
        match &self.with_revision {
            None if self.with_namespace.is_some() => Err(Error::usage("--with-namespace has no name")),
            None => Ok(None),
            Some(_) => Err(Error::usage("--with-revision needs another workload to compare with")
                .hint("add --with-namespace or --with-context, or a second workload")),
        }
    }
}

fn side(word: &str) -> Result<TemplateRef> {
    if word == "live" { Ok(TemplateRef::Live) } else { RevisionWord::read(word).map(TemplateRef::Revision) }
}

fn too_many(rest: &[String]) -> Error {
    Error::usage(format!("diff compares two revisions, unexpected argument {:?}", rest.join(" ")))
        .hint("kubectl rollout2 diff --help")
}

fn too_many_elsewhere(rest: &[String]) -> Error {
    Error::usage(format!(
        "only one revision of this workload is compared, unexpected argument {:?}",
        rest.join(" ")
    ))
    .hint("--with-revision is the revision of the other workload")
}

/// How the changes of a template are shown.
#[derive(Debug, Args)]
pub struct DiffFormatArgs {
    /// Show N lines around each change of the unified diff
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3, value_parser = count::<usize>, allow_negative_numbers = true)]
    pub context: usize,

    /// Show values that look secret
    #[arg(long)]
    show_values: bool,
}

impl DiffFormatArgs {
    /// Returns whether values that look secret are shown.
    #[must_use]
    pub fn secrets(&self) -> SecretValues {
        if self.show_values { SecretValues::Shown } else { SecretValues::Masked }
    }
}
