//! The arguments of `diff`, and their lowering.

use clap::{Args, ValueEnum};

use super::duration::count;
use crate::command::CommonOptions;
use crate::command::diff::{Output, Request, TemplateRef};
use crate::command::targets::TargetScope;
use crate::command::targets::target_words::read_one;
use crate::error::{Error, Result};
use crate::model::revision::RevisionWord;
use crate::model::revision::diff::SecretValues;

/// Compare two revisions, or a revision with the live template
///
/// Prints a summary of the changes, then a unified diff of the two pod templates. Containers, env, ports,
/// volumes and similar lists are compared by name, so a different order is not a change. Values of env
/// variables whose names look secret are shown as ***.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "kubectl rollout2 diff TARGET [FROM [TO]] [OPTIONS]")]
pub(super) struct DiffArgs {
    /// The workload, as TYPE/NAME or TYPE NAME, and the revisions to compare [default: previous current]
    ///
    /// If no revision has the live template yet, the default is: current live.
    ///
    /// A revision is a number, current, previous, -N (N before the current one), the name of its
    /// ReplicaSet or ControllerRevision, hash:HASH, or a prefix of its digest. live is the template in
    /// the workload's spec.
    #[arg(value_name = "TARGET [FROM [TO]]", allow_negative_numbers = true)]
    words: Vec<String>,

    /// Show N lines around each change
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3, value_parser = count::<usize>, allow_negative_numbers = true)]
    context: usize,

    /// Print only the summary of the changes
    #[arg(long, conflicts_with = "output")]
    stat: bool,

    /// The output format: json has the changes, and what they do to a pod
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<DiffFormat>,

    /// Exit with 1 when the templates differ, and with 2 or more after an error
    #[arg(long)]
    exit_code: bool,

    /// Show values that look secret
    #[arg(long)]
    show_values: bool,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 diff deployment/web
  kubectl rollout2 diff deployment/web 3 5
  kubectl rollout2 diff statefulset db current live
  kubectl rollout2 diff deployment/web previous --stat

Environment:
  KUBECTL_EXTERNAL_DIFF  a program for the unified diff, called as kubectl diff calls it";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DiffFormat {
    Json,
}

impl DiffArgs {
    pub(super) fn lower(self, common: &CommonOptions) -> Result<Request> {
        let (target, sides) = read_one(&self.words, "deployment/web")?;
        let (from, to) = match sides {
            [] => {
                (TemplateRef::Revision(RevisionWord::Back(1)), TemplateRef::Revision(RevisionWord::Current))
            }
            [from] => (side(from)?, TemplateRef::Revision(RevisionWord::Current)),
            [from, to] => (side(from)?, side(to)?),
            [_, _, rest @ ..] => return Err(too_many(rest)),
        };
        let output = match (self.output, self.stat) {
            (Some(DiffFormat::Json), _) => Output::Json,
            (None, true) => Output::Stat,
            (None, false) => Output::Text { context: self.context },
        };
        let secrets = if self.show_values { SecretValues::Shown } else { SecretValues::Masked };
        let scope = TargetScope {
            targets: vec![target],
            namespace: common.access.namespace.clone(),
            ..TargetScope::default()
        };
        let is_default = sides.is_empty();
        Ok(Request { scope, from, to, is_default, output, secrets, exit_code: self.exit_code })
    }
}

fn side(word: &str) -> Result<TemplateRef> {
    if word == "live" { Ok(TemplateRef::Live) } else { RevisionWord::read(word).map(TemplateRef::Revision) }
}

fn too_many(rest: &[String]) -> Error {
    Error::usage(format!("diff compares two revisions, unexpected argument {:?}", rest.join(" ")))
        .hint("kubectl rollout2 diff --help")
}
