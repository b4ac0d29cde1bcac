//! Serves a simulated cluster of any size for measurements: `crowd small=1x10x5 many=2000x5x5` has one Deployment of 10
//! revisions and 5 pods in the namespace `small`, and 2,000 Deployments of 5 revisions and 5 pods in `many`. Every
//! twentieth one crashes. It prints the path of its kubeconfig, and exits at an interrupt.

use std::io::{self, Write};
use std::path::PathBuf;

use harness::many_workloads::{Shape, WorkloadGenerator};
use serde_json::{Value, json};
use simcluster::{Clock, Served, SimCluster};

/// In a namespace with many Deployments, one of this many crashes.
const CRASHING: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let generator = WorkloadGenerator::from_recording();
    let mut items = Vec::new();
    for word in std::env::args().skip(1) {
        let place = NamespaceSize::read(&word)
            .ok_or_else(|| io::Error::other(format!("{word:?} is no NAMESPACE=1x2x3")))?;
        place.populate(&generator, &mut items);
    }
    let builder = SimCluster::builder().snapshot(&json!({ "items": items })).map_err(io::Error::other)?;
    drop(items);
    let served = builder.clock(Clock::System).build().serve()?;
    let kubeconfig = Kubeconfig::of(&served)?;
    println_now(&format!("export KUBECONFIG={}", kubeconfig.0.display()))?;
    tokio::signal::ctrl_c().await
}

/// A namespace, and the number and size of its Deployments.
struct NamespaceSize<'a> {
    namespace: &'a str,
    deployments: usize,
    shape: Shape,
}

impl<'a> NamespaceSize<'a> {
    /// Reads `many=2000x5x5`.
    fn read(word: &'a str) -> Option<Self> {
        let (namespace, sizes) = word.split_once('=')?;
        let mut sizes = sizes.split('x').map(|size| size.parse().ok());
        let (deployments, revisions, pods) = (sizes.next()??, sizes.next()??, sizes.next()??);
        Some(Self { namespace, deployments, shape: Shape { revisions, pods, crashing: false } })
    }

    fn populate(&self, generator: &WorkloadGenerator, items: &mut Vec<Value>) {
        for index in 0..self.deployments {
            let shape = Shape { crashing: index % CRASHING == CRASHING - 1, ..self.shape };
            items.extend(generator.deployment(self.namespace, &format!("web-{index:04}"), shape));
        }
    }
}

/// A kubeconfig that is deleted when the server exits.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn of(served: &Served) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("rollout2-crowd-{}", served.address().port()));
        served.write_kubeconfig(&path, "default")?;
        Ok(Self(path))
    }
}

impl Drop for Kubeconfig {
    /// Removes the file. An error is ignored.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn println_now(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
