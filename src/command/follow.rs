//! Following workloads to their end, and telling of it.

use tokio::time::Instant;

use super::Ending;
use super::draw::{Drawer, Picture};
use super::drive::{follow, worst_exit};
use super::tell::{Form, Teller};
use crate::cluster::live::Cluster;
use crate::exit::Exit;
use crate::model::follow::{Event, Follower, Moment, Options};
use crate::model::workload::Workload;
use crate::render::follow::{json, lines};
use crate::render::frame::{Frame, Scene};
use crate::render::screen::Screen;
use crate::render::status::Company;
use crate::world::{Signals, Terminal};

/// How workloads are followed.
#[derive(Clone, Debug)]
pub struct Manner {
    /// What to wait for, and when to give up.
    pub options: Options,
    /// How it is told.
    pub form: Form,
    /// What beside a workload a line must tell apart.
    pub company: Company,
    /// Who can ask us to stop.
    pub signals: Signals,
}

/// Follows workloads to their end. With kubectl's form one after the other, as it does, each with a
/// timeout of its own; otherwise all at once. `so_far` is how the command would end without them.
pub async fn run(
    manner: &Manner,
    found: Vec<Workload>,
    so_far: Exit,
    cluster: &Cluster,
    screen: &mut Screen<'_>,
) -> Ending {
    let started = Instant::now();
    let groups: Vec<Vec<Workload>> = match manner.form {
        Form::Kubectl => found.into_iter().map(|workload| vec![workload]).collect(),
        Form::Frames => return draw(manner, found, cluster, screen).await,
        Form::Lines | Form::Json => vec![found],
    };
    let mut ending = Ending { exit: Exit::Done, errors: Vec::new() };
    for group in groups {
        let mut teller = Teller::new(screen, manner.form, manner.company);
        let follower = follow(cluster, manner.options.clone(), group, manner.signals, &mut teller).await;
        ending.errors.append(&mut teller.errors);
        let exit = worst_exit(&follower);
        ending.exit = ending.exit.worst(exit);
        finish(manner.form, &follower, exit.worst(so_far), started, screen);
        if matches!(exit, Exit::Interrupted | Exit::Terminated) {
            break;
        }
    }
    ending
}

/// The same, drawn.
async fn draw(manner: &Manner, found: Vec<Workload>, cluster: &Cluster, screen: &mut Screen<'_>) -> Ending {
    let company = manner.company;
    let mut drawer = Drawer::new(screen, Rollouts { company });
    let follower = follow(cluster, manner.options.clone(), found, manner.signals, &mut drawer).await;
    let ends = || follower.tracks().iter().filter_map(|track| Some((track, track.end()?)));
    let elapsed = ends().map(|(_, end)| end.after).max().unwrap_or_default();
    let now = Moment { elapsed, wall: cluster.now() };
    let screen = drawer.finish(|_, size| Frame::last(Scene { follower: &follower, now, company }, size));
    // What did not end well is said below it: that is for stderr, where whoever keeps only that will look.
    for (track, end) in ends() {
        screen.notes(&lines::ends(track, end, false, company));
    }
    Ending { exit: worst_exit(&follower), errors: Vec::new() }
}

/// Rollouts that are followed, a block each.
struct Rollouts {
    company: Company,
}

impl Picture<Follower, Event> for Rollouts {
    fn frame(&self, follower: &Follower, now: Moment, size: Terminal) -> Frame {
        Frame::of(Scene { follower, now, company: self.company }, size)
    }
}

fn finish(form: Form, follower: &Follower, exit: Exit, started: Instant, screen: &mut Screen<'_>) {
    if form == Form::Json {
        screen.exact(&json::verdict(follower, exit.code(), started.elapsed()));
    }
}
