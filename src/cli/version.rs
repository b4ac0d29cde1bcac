//! The arguments of `version`, and its text.

use clap::Args;
use serde_json::json;

use super::values::{JSON, words};

/// The version of kubectl whose lines and documents this program prints.
const KUBECTL: &str = "1.36";

/// Print the version
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct VersionArgs {
    /// The output format
    #[arg(short, long, value_name = "FORM", ignore_case = true, value_parser = words(JSON))]
    output: Option<()>,
}

const EXAMPLES: &str = "\
Examples:
  kubectl rollout2 version
  kubectl rollout2 version -o json";

impl VersionArgs {
    /// Returns the version as text or as JSON.
    pub(super) fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        if self.output.is_none() {
            return format!("kubectl-rollout2 {version}\n");
        }
        let document = json!({
            "apiVersion": "rollout2/v1", "kind": "Version", "version": version, "compatibleWithKubectl": KUBECTL,
        });
        format!("{document:#}\n")
    }
}
