//! The flags that every verb takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use crate::command::Access;
use crate::command::CommonOptions;
use crate::error::{Error, Result};
use crate::model::text::name;
use crate::render::appearance::Color;
use crate::world::input_path::InputPath;

/// The flags that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every verb")]
pub(super) struct CommonArgs {
    /// Select workloads in this namespace
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    namespace: Option<String>,

    /// Read recorded objects instead of a cluster: a file, a directory, or - for standard input
    ///
    /// Record them with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml
    #[arg(long, value_name = "FILE|DIR|-", global = true, hide_short_help = true)]
    from: Option<PathBuf>,

    /// When to use colour: auto, always or never
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        global = true,
        hide_short_help = true,
        hide_possible_values = true
    )]
    color: ColorArg,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ColorArg {
    #[default]
    Auto,
    Always,
    Never,
}

impl CommonArgs {
    pub(super) fn lower(self) -> Result<CommonOptions> {
        let snapshot = self.from.map(InputPath::from);
        let color = match self.color {
            ColorArg::Auto => Color::Auto,
            ColorArg::Always => Color::Always,
            ColorArg::Never => Color::Never,
        };
        let namespace = self.namespace.filter(|name| !name.is_empty()); // as in -n "$NS" with NS unset
        if let Some(namespace) = &namespace {
            check_namespace(namespace)?;
        }
        let access = Access { snapshot, namespace, overrides: self.connection.lower()? };
        Ok(CommonOptions { access, color })
    }
}

/// Checks a namespace. kubectl sends any name that a URL can contain, and finds nothing in it.
fn check_namespace(namespace: &str) -> Result<()> {
    if name::is_namespace_name(namespace) {
        return Ok(());
    }
    Err(Error::usage(format!("{namespace:?} is not a valid namespace name"))
        .hint("use up to 63 lower-case letters, digits and '-', with a letter or digit at both ends"))
}
