//! The library behind `kubectl rollout2`: it reads, explains and drives rollouts.
//!
//! The rooms, and the only directions in which they may depend on each other:
//!
//! ```text
//! command  ->  { cli, cluster, snapshot, render }  ->  model
//!                cli      ->  render
//!                cluster  ->  snapshot
//! ```
//!
//! `cli` has the arguments of each verb, which `command` reads without clap. Every room may use the [model], with
//! [`error`] and [`exit`], which is a package of its own; the other rooms may use [`world`]. `tests/architecture` checks this.

pub mod cli;
pub mod cluster;
pub mod command;
pub mod render;
pub mod snapshot;
pub mod world;

pub use rollout2_model as model;
pub use rollout2_model::{error, exit};

use std::ffi::OsString;

use cli::ParsedArgs;
use cluster::access::Access;
use cluster::notice::Listener;
use cluster::source::Source;
use error::Result;
use exit::Exit;
use world::World;

/// Runs one command line: the whole program.
///
/// The first of `args` is the program's own name. All output goes to the streams of `world`.
/// Returns the exit code.
pub async fn run(args: impl IntoIterator<Item = OsString>, world: &mut World) -> Exit {
    run_on(Source::open, args, world).await
}

/// As [`run`], on the sources that `open` returns.
pub async fn run_on(
    open: impl FnMut(&Access, &mut World, Listener) -> Result<Source>,
    args: impl IntoIterator<Item = OsString>,
    world: &mut World,
) -> Exit {
    match cli::parse(args, world) {
        ParsedArgs::Command(arguments) => Box::pin(command::run(open, *arguments, world)).await,
        ParsedArgs::Completion(request) => command::complete::run(open, *request, world).await,
        ParsedArgs::Handled(exit) => exit,
    }
}
