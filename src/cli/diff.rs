//! `diff`: its arguments and their lowering.

use clap::{Args, ValueEnum};

use crate::command::Common;
use crate::command::diff::{Output, Request, SideWord};
use crate::command::gather::Scope;
use crate::error::{Error, Result};
use crate::model::diff::Secrets;
use crate::model::revision::RevisionWord;
use crate::model::target::read_one;

/// Show what differs between two revisions, or between a revision and the live template
///
/// First the changes in words, then a unified diff of the two pod templates. Containers, env, ports,
/// volumes and the like are compared by name and not by position, so another order is no difference.
/// Values of env whose names look secret are shown as ***.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "kubectl rollout2 diff TARGET [FROM [TO]] [OPTIONS]")]
pub(super) struct DiffArgs {
    /// The workload, as TYPE/NAME or TYPE NAME, and the revisions to compare [default: previous current]
    ///
    /// A revision is named by its number, current, previous, -N (N before the current one), the name
    /// of its ReplicaSet or ControllerRevision, hash:HASH, or the beginning of its digest. live is
    /// the template of the workload itself, revision or not.
    #[arg(value_name = "TARGET [FROM [TO]]", allow_negative_numbers = true)]
    words: Vec<String>,

    /// Show N lines around each change
    #[arg(short = 'U', long = "unified", value_name = "N", default_value_t = 3)]
    context: usize,

    /// Show the changes in words only
    #[arg(long, conflicts_with = "output")]
    stat: bool,

    /// Print in another form: json is a list of {path, container, field, from, to}
    #[arg(short, long, value_name = "FORM", ignore_case = true)]
    output: Option<Form>,

    /// Exit with 1 when there are differences, with 2 or more after an error
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
  KUBECTL_EXTERNAL_DIFF  another program for the unified diff, run as kubectl diff runs it";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Json,
}

impl DiffArgs {
    pub(super) fn lower(self, common: &Common) -> Result<Request> {
        let (ask, sides) = read_one(&self.words, "deployment/web")?;
        let (from, to) = match sides {
            [] => (SideWord::Revision(RevisionWord::Back(1)), SideWord::Revision(RevisionWord::Current)),
            [from] => (side(from)?, SideWord::Revision(RevisionWord::Current)),
            [from, to] => (side(from)?, side(to)?),
            [_, _, rest @ ..] => return Err(too_many(rest)),
        };
        let output = match (self.output, self.stat) {
            (Some(Form::Json), _) => Output::Json,
            (None, true) => Output::Stat,
            (None, false) => Output::Text { context: self.context },
        };
        let secrets = if self.show_values { Secrets::Shown } else { Secrets::Masked };
        let scope = Scope { asks: vec![ask], namespace: common.access.namespace.clone(), ..Scope::default() };
        Ok(Request { scope, from, to, output, secrets, exit_code: self.exit_code })
    }
}

fn side(word: &str) -> Result<SideWord> {
    if word == "live" { Ok(SideWord::Live) } else { RevisionWord::read(word).map(SideWord::Revision) }
}

fn too_many(rest: &[String]) -> Error {
    Error::usage(format!("two revisions can be compared, {:?} is one too many", rest.join(" ")))
        .hint("kubectl rollout2 diff --help")
}
