//! `status`: how rollouts stand, and why they do not go on.

use super::Ending;
use super::follow::{self, Manner};
use super::gather::{Crowd, Details, Gathered, Scope, workloads_with};
use super::tell::Form;
use crate::cluster::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::Exit;
use crate::model::cause::causes;
use crate::model::follow::{Options, Telling};
use crate::model::observed::Observed;
use crate::model::resource_type::ResourceType;
use crate::model::revision::RevisionWord;
use crate::model::verdict::{self, State, Verdict, kubectl, taken_over};
use crate::model::workload::Workload;
use crate::render::screen::Screen;
use crate::render::status::{self as render, Company, Standing};
use crate::world::Signals;

/// What `status` was asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Of which workloads.
    pub scope: Scope,
    /// The only revision whose rollout counts.
    pub revision: Option<RevisionWord>,
    /// In which form.
    pub output: Output,
    /// Whether the rollouts were to be followed to their end. A snapshot cannot change, so what it
    /// holds is the end.
    pub watch: bool,
    /// Whether lines are wanted even where frames could be drawn.
    pub plain: bool,
    /// What to follow them to, and when to give up.
    pub options: Options,
    /// Whether it is no failure that nothing matches.
    pub allow_empty: bool,
}

/// The forms of a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// kubectl's lines, and a line for each cause.
    #[default]
    Text,
    /// JSON, one document a workload and line.
    Json,
}

/// Shows how the rollout of every workload in scope stands, in the order asked.
pub async fn run(request: &Request, source: &Source, signals: Signals, screen: &mut Screen<'_>) -> Ending {
    let details = if request.watch { Details::All } else { Details::Unmanaged };
    let gathered = match workloads_with(&request.scope, details, refusal, source, screen).await {
        Ok(gathered) => gathered,
        Err(error) => return error.into(),
    };
    let mut ending = Ending { exit: nothing_found(request, &gathered, screen), errors: gathered.errors };
    let company = Company { others: gathered.workloads.len() > 1, namespaces: request.scope.all_namespaces };
    if let (Source::Cluster(cluster), true, false) = (source, request.watch, gathered.workloads.is_empty()) {
        let manner = request.manner(company, signals, screen);
        let so_far = ending.errors.iter().map(Error::exit).fold(ending.exit, Exit::worst);
        return ending.and(follow::run(&manner, gathered.workloads, so_far, cluster, screen).await);
    }
    let mut crowd = Crowd::of(&request.scope, &gathered.workloads, source);
    for workload in gathered.workloads {
        let shown = if screen.is_compat() {
            show_as_kubectl(&workload, request, screen)
        } else {
            show(workload, &mut crowd, company, request, screen).await
        };
        match shown {
            Ok(exit) => ending.exit = ending.exit.worst(exit),
            Err(error) => ending.errors.push(error),
        }
    }
    ending
}

impl Request {
    fn manner(&self, company: Company, signals: Signals, screen: &Screen<'_>) -> Manner {
        let (telling, form) = match self.output {
            _ if screen.is_compat() => (Telling::Kubectl, Form::Kubectl),
            Output::Text => (Telling::Ours, Form::of_text(screen, self.plain)),
            Output::Json => (Telling::Ours, Form::Json),
        };
        let options = Options { telling, revision: self.revision.clone(), ..self.options.clone() };
        Manner { options, form, company, signals }
    }
}

fn refusal(type_: &ResourceType, _name: &str) -> String {
    format!("no status viewer has been implemented for {}", type_.group_kind())
}

/// A pipeline that waits for a rollout must learn that there is none; kubectl calls it success.
fn nothing_found(request: &Request, gathered: &Gathered, screen: &mut Screen<'_>) -> Exit {
    let Some(line) = &gathered.nothing_found else {
        return Exit::Done;
    };
    screen.note(line);
    if request.allow_empty || screen.is_compat() { Exit::Done } else { Exit::Error }
}

async fn show(
    workload: Workload,
    crowd: &mut Crowd<'_>,
    company: Company,
    request: &Request,
    screen: &mut Screen<'_>,
) -> Result<Exit> {
    let mut observed = crowd.glimpse(workload, screen).await?;
    let verdict = judge(&observed, request.revision.as_ref())?;
    if verdict.state != State::Complete {
        observed.events = crowd.warnings(&observed.workload, screen).await?;
    }
    let causes = causes(&observed, crowd.now());
    let standing = Standing { observed: &observed, verdict: &verdict, causes: &causes };
    match request.output {
        Output::Json => screen.exact(&render::json_line(&standing)),
        Output::Text => tell(&standing, company, screen),
    }
    Ok(exit(request.options.goal.state(&observed, &verdict)))
}

fn judge(observed: &Observed, revision: Option<&RevisionWord>) -> Result<Verdict> {
    let pinned = revision.map(|word| taken_over(observed, word)).transpose()?.flatten();
    Ok(pinned.unwrap_or_else(|| verdict::verdict(observed)))
}

/// kubectl's line goes where kubectl prints it: to stdout, but a failure to stderr. The causes stand
/// below it on a terminal; a script that reads stdout sees nothing but kubectl's lines.
fn tell(standing: &Standing<'_>, company: Company, screen: &mut Screen<'_>) {
    let (line, state) = (render::line(standing, company), standing.verdict.state);
    if state == State::Failed {
        screen.note(&format!("error: {line}"));
    } else {
        screen.styled(&render::colored(&line, state));
    }
    let terminal = screen.terminal();
    for cause in standing.causes {
        let line = render::cause_line(cause, standing, company, terminal);
        match terminal {
            Some(_) => screen.styled(&render::colored_cause(line, cause)),
            None => screen.note(&line),
        }
    }
}

/// The exit code of a rollout that was looked at once.
fn exit(state: State) -> Exit {
    match state {
        State::Complete => Exit::Done,
        State::Progressing | State::Unobserved => Exit::Unfinished,
        State::Paused | State::Held => Exit::Held,
        State::Failed => Exit::Failed,
    }
}

/// kubectl waits for what is not done. A snapshot does not change, so that ends as a timeout does.
fn show_as_kubectl(workload: &Workload, request: &Request, screen: &mut Screen<'_>) -> Result<Exit> {
    let revision = match request.revision {
        Some(RevisionWord::Number(number)) => Some(number),
        _ => None,
    };
    let told = kubectl(workload, revision).map_err(|text| Error::new(ErrorKind::Failed, text))?;
    screen.line(&told.line);
    if request.watch && !told.done {
        return Err(Error::new(ErrorKind::Failed, "timed out waiting for the condition"));
    }
    Ok(Exit::Done)
}
