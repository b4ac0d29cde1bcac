//! The flags that every verb takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::connection::ConnectionArgs;
use crate::command::Common;
use crate::error::{Error, Result};
use crate::model::access::{Access, SnapshotPath};
use crate::model::name;
use crate::render::appearance::Color;

/// The flags that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every verb")]
pub(super) struct CommonArgs {
    /// Look in this namespace
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    namespace: Option<String>,

    /// Read recorded objects instead of a cluster: a file, a directory, or - for standard input
    ///
    /// They are recorded with: kubectl get deploy,rs,sts,ds,controllerrevisions,pods,events -o yaml
    #[arg(long, value_name = "FILE|DIR|-", global = true)]
    from: Option<PathBuf>,

    /// Print and exit exactly as kubectl does
    #[arg(
        long,
        global = true,
        help = "Print and exit exactly as kubectl does [also: ROLLOUT2_COMPAT=kubectl]"
    )]
    compat: bool,

    /// When to use colour
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true)]
    color: When,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum When {
    #[default]
    Auto,
    Always,
    Never,
}

impl CommonArgs {
    /// `compat` was already decided from the flag and the environment together.
    pub(super) fn lower(self, compat: bool) -> Result<Common> {
        let snapshot = self.from.map(|path| match path.to_str() {
            Some("-") => SnapshotPath::Stdin,
            _ => SnapshotPath::Path(path),
        });
        let color = match self.color {
            When::Auto => Color::Auto,
            When::Always => Color::Always,
            When::Never => Color::Never,
        };
        let namespace = self.namespace.filter(|name| !name.is_empty()); // -n "$NS" where NS is not set
        if let Some(namespace) = &namespace {
            check_namespace(namespace, compat)?;
        }
        let access = Access { snapshot, namespace, overrides: self.connection.lower()? };
        Ok(Common { access, compat, color })
    }
}

/// kubectl asks for a namespace of any name that a URL can hold, and finds nothing in it.
fn check_namespace(namespace: &str, compat: bool) -> Result<()> {
    if compat {
        return name::check_namespace(namespace);
    }
    if name::is_namespace(namespace) {
        return Ok(());
    }
    Err(Error::usage(format!("{namespace:?} is no name of a namespace")).hint(
        "lower-case letters, digits and '-' are allowed, 63 of them, with a letter or digit at both ends",
    ))
}
