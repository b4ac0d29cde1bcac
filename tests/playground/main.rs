//! A cluster to play with: no machine, no container, and everything a rollout shows.
//!
//! Without arguments it serves a demo shop until it is interrupted, and prints how to reach it. With arguments it
//! runs one command of ours against that shop and ends with the command's exit code.

mod past;
mod shop;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use rollout2::world::World;
use simcluster::{Clock, Controllers, Finalization, Served, SimCluster};

/// The namespace of the shop, and of the context in the kubeconfig.
const NAMESPACE: &str = "shop";

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let playground = Playground::open()?;
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if args.is_empty() {
        playground.invite()?;
        tokio::signal::ctrl_c().await?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(playground.run(args).await)
}

/// The shop on a socket, with a kubeconfig that leads there.
struct Playground {
    directory: PathBuf,
    served: Served,
}

impl Playground {
    /// Lets the shop's past happen, and goes on from there in the time of the machine's clock.
    fn open() -> io::Result<Self> {
        let builder = SimCluster::builder().snapshot(&past::of(NAMESPACE)).map_err(io::Error::other)?;
        let cluster = builder
            .clock(Clock::System)
            .finalization(Finalization::ByControllers)
            .history(100_000)
            .kruise()
            .build();
        tokio::spawn(Controllers::new().run(cluster.clone()));
        let served = cluster.serve()?;
        let port = served.address().port();
        let directory = std::env::temp_dir().join(format!("rollout2-playground-{port}"));
        std::fs::create_dir_all(&directory)?;
        let playground = Self { directory, served };
        playground.served.write_kubeconfig(&playground.kubeconfig(), NAMESPACE)?;
        Ok(playground)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// Says how to reach the shop and what is there to see.
    fn invite(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "export KUBECONFIG={}", self.kubeconfig().display())?;
        writeln!(out, "# {}", shop::SIGHTS.join("\n# "))?;
        out.flush()
    }

    /// Runs one command of ours in the world of this process, but for the cluster.
    async fn run(&self, args: Vec<OsString>) -> ExitCode {
        let mut world = World::of_this_process();
        let variables = std::env::vars_os().filter(|(name, _)| name != "KUBECONFIG");
        let own = (OsString::from("KUBECONFIG"), self.kubeconfig().into_os_string());
        world.environment = variables.chain([own]).collect();
        let exit = rollout2::run(std::iter::once("kubectl-rollout2".into()).chain(args), &mut world).await;
        ExitCode::from(exit.code())
    }
}

impl Drop for Playground {
    /// Leaves nothing behind; a directory that cannot be removed is no reason to fail.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
