//! A demo cluster in this process, with rollouts in every state.
//!
//! Without arguments it serves a demo shop until it is interrupted, and prints the path of its kubeconfig. With arguments
//! it runs one command of the program on that shop, and exits with its exit code.

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
        playground.print_description()?;
        tokio::signal::ctrl_c().await?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(playground.run(args).await)
}

/// The demo shop on a socket, and its kubeconfig.
struct Playground {
    directory: PathBuf,
    served: Served,
}

impl Playground {
    /// Simulates the history of the shop, and then serves the shop on the system clock.
    fn open() -> io::Result<Self> {
        let builder = SimCluster::builder().snapshot(&past::of(NAMESPACE)).map_err(io::Error::other)?;
        let cluster = builder
            .clock(Clock::System)
            .seed(1) // the recorded past has uids of the seed 0
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

    /// Prints the path of the kubeconfig and the workloads of the shop.
    fn print_description(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "export KUBECONFIG={}", self.kubeconfig().display())?;
        writeln!(out, "# {}", shop::DESCRIPTION.join("\n# "))?;
        out.flush()
    }

    /// Runs one command of the program with the streams and the environment of this process.
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
    /// Removes the directory. An error is ignored.
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
