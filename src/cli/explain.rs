//! The arguments of `explain`, and its text.

use clap::Args;

use super::common::UnusedArgs;
use super::status::{GRACE, cause};
use crate::model::cause::{CauseId, CauseRow, CauseSeverity};
use crate::render::ui::Ui;

/// Explain a cause that status prints
///
/// Prints what the cause means, how it is found, what usually helps, and how long it may last before it fails a
/// rollout. Without a name it lists all causes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArgs {
    /// The cause, such as crash-loop
    #[arg(value_name = "CAUSE", value_parser = cause)]
    cause: Option<CauseId>,

    #[command(flatten)]
    unused: UnusedArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 explain
  kubectl rollout2 explain crash-loop";

impl ExplainArgs {
    /// Prints the page of the cause, or a line for each cause.
    pub(super) fn print(&self, ui: &mut Ui) {
        if let Some(id) = self.cause {
            return page(id).iter().for_each(|line| ui.out_wrapped(line));
        }
        let width = CauseId::ALL.map(|id| id.name().len()).into_iter().max().unwrap_or_default();
        for id in CauseId::ALL {
            ui.out_line(&format!("{:width$}  {}", id.name(), id.row().means.replace('`', "")));
        }
    }
}

/// Returns the lines of the page of a cause.
fn page(id: CauseId) -> [String; 5] {
    let CauseRow { name, severity, means, found, helps } = id.row();
    let fails = match severity {
        CauseSeverity::Fatal => format!("{GRACE} with --fail-fast; --fail-on {name}=GRACE sets another"),
        CauseSeverity::Hold => "none: a hold is no failure, and status exits with 5".to_owned(),
        CauseSeverity::NeedsFix | CauseSeverity::MayPass => {
            format!("none, unless --fail-on {name}[=GRACE] sets one ({GRACE} by default)")
        }
    };
    [
        format!("{name}: {}", id.severity_words()),
        format!("Means: {means}."),
        format!("Found: {found}."),
        format!("What helps: {helps}."),
        format!("Grace period: {fails}."),
    ]
    .map(|line| line.replace('`', ""))
}
