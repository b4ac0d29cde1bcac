//! What happens while workloads are followed, on the screen.

use super::drive::Tell;
use crate::error::{Error, ErrorKind};
use crate::model::follow::{Event, Failure, Follower, Moment, Outcome, TargetId, Track};
use crate::model::verdict::Verdict;
use crate::render::follow::{json, lines};
use crate::render::screen::Screen;
use crate::render::status::{Company, colored};

/// The forms in which following is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// kubectl's lines on stdout, once each; causes and ends on stderr.
    #[default]
    Lines,
    /// One line of JSON for each change.
    Json,
    /// Frames, each drawn in the place of the one before it.
    Frames,
    /// kubectl's lines, and nothing else: its errors are told all together at the end.
    Kubectl,
}

impl Form {
    /// The form for a person: frames where they can be drawn, and lines where these are wanted.
    #[must_use]
    pub fn of_text(screen: &Screen<'_>, wants_lines: bool) -> Self {
        if screen.can_draw() && !wants_lines { Self::Frames } else { Self::Lines }
    }
}

/// Tells on a screen what happens while workloads are followed.
pub struct Teller<'a, 'w> {
    screen: &'a mut Screen<'w>,
    form: Form,
    company: Company,
    /// kubectl's errors, which it keeps to the end.
    pub errors: Vec<Error>,
}

impl<'a, 'w> Teller<'a, 'w> {
    /// Tells on a screen, in a form, of targets that are in some company.
    pub fn new(screen: &'a mut Screen<'w>, form: Form, company: Company) -> Self {
        Self { screen, form, company, errors: Vec::new() }
    }

    fn lines(&mut self, track: &Track, event: &Event) {
        let company = self.company;
        match event {
            Event::Stands { verdict, line_is_new: true, is_way_back: false, .. } => {
                self.stands(track, verdict);
            }
            Event::Stands { verdict, line_is_new: true, .. } => {
                let line = lines::on_the_way_back(track, verdict, company);
                self.screen.notes(&line.into_iter().collect::<Vec<_>>());
            }
            Event::Stands { .. } | Event::Ask(_) => {}
            Event::Cause { cause, step, .. } => {
                let line =
                    track.verdict().and_then(|verdict| lines::cause(track, verdict, cause, *step, company));
                self.screen.notes(&line.into_iter().collect::<Vec<_>>());
            }
            Event::Log { log, .. } => self.screen.notes(&lines::log(log)),
            Event::Waits { reason, .. } => self.screen.note(&lines::waiting(track, reason)),
            Event::GoesBack { end, revision, .. } => {
                self.screen.notes(&lines::goes_back(track, end, revision, company));
            }
            Event::Ended { end, .. } => {
                self.screen.notes(&lines::ends(track, end, track.way_back().is_some(), company));
            }
        }
    }

    fn stands(&mut self, track: &Track, verdict: &Verdict) {
        if let Some(line) = lines::standing(track, verdict, self.company) {
            self.screen.styled(&colored(&line, verdict.state));
        }
    }

    fn as_kubectl(&mut self, event: &Event) {
        match event {
            Event::Stands { verdict, .. } => self.screen.line(&verdict.line),
            Event::Ended { end, .. } => {
                let text = match &end.outcome {
                    Outcome::Failed(Failure::Kubectl(text)) => text.clone(),
                    Outcome::Deleted => "object has been deleted".to_owned(),
                    Outcome::TimedOut(_) => "timed out waiting for the condition".to_owned(),
                    Outcome::Unreadable(error) => return self.errors.push(error.clone()),
                    _ => return,
                };
                self.errors.push(Error::new(ErrorKind::Failed, text));
            }
            _ => {}
        }
    }
}

impl<'w> Tell<'w, Follower, Event> for Teller<'_, 'w> {
    fn screen(&mut self) -> &mut Screen<'w> {
        self.screen
    }

    fn event(&mut self, follower: &Follower, event: &Event, now: Moment) {
        if self.form == Form::Kubectl {
            return self.as_kubectl(event);
        }
        if self.form == Form::Json {
            if let Some(line) = json::line(follower, event, now.elapsed) {
                self.screen.exact(&line);
            }
            return;
        }
        let track = target(event).and_then(|TargetId(index)| follower.tracks().get(index));
        if let Some(track) = track {
            self.lines(track, event);
        }
    }

    fn is_heard(&self) -> bool {
        self.screen.is_read()
    }

    fn note_once(&mut self, line: &str) {
        if self.form != Form::Kubectl {
            self.screen.note_once(line);
        }
    }
}

fn target(event: &Event) -> Option<TargetId> {
    match event {
        Event::Stands { target, .. }
        | Event::Cause { target, .. }
        | Event::Log { target, .. }
        | Event::Waits { target, .. }
        | Event::GoesBack { target, .. }
        | Event::Ended { target, .. } => Some(*target),
        Event::Ask(_) => None,
    }
}
