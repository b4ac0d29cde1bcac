//! The arguments of `version`, and its text.

use clap::Args;
use serde_json::json;

use super::common::UnusedArgs;
use super::values::{DOCUMENTS, fixed_form, go_bool};
use crate::render::output_form::OutputForm;
use crate::render::ui::Ui;

/// The version of kubectl whose lines and documents this program prints.
const KUBECTL: &str = "1.36";

/// Print the version
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VersionArgs {
    /// The output format
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = fixed_form(DOCUMENTS), default_value = "", hide_default_value = true)]
    pub output: OutputForm,

    /// Has no effect: the version of the server is never read. kubectl version has the flag
    #[arg(
        long, hide = true, value_name = "BOOL", value_parser = go_bool, num_args = 0..=1, require_equals = true,
        default_missing_value = "true"
    )]
    client: Option<bool>,

    #[command(flatten)]
    unused: UnusedArgs,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 version
  kubectl rollout2 version -o json";

impl VersionArgs {
    /// Prints the version as text or as a document.
    pub(super) fn print(&self, ui: &mut Ui) {
        let version = env!("CARGO_PKG_VERSION");
        if !self.output.is_document() {
            return ui.out_text(&format!("kubectl-rollout2 {version}\n"));
        }
        let document = json!({
            "apiVersion": "rollout2/v1", "kind": "Version", "version": version, "compatibleWithKubectl": KUBECTL,
        });
        // A document without a template has no error.
        let _ = ui.out_document(&document, &self.output, true);
    }
}
