//! What came of a write, and how sure we are of it.

use http::StatusCode;

use super::connection::{Answer, Failure, Fault};
use crate::error::{Error, ErrorKind};

/// How a write is to be made.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'a> {
    /// Whether the server only judges it (`dryRun=All`).
    pub dry_run: bool,
    /// The name under which the server remembers who owns the fields.
    pub field_manager: &'a str,
}

/// A write that did not bring the answer that it was made.
#[derive(Clone, Debug)]
pub struct WriteFailure {
    /// What happened, in words.
    pub error: Error,
    /// The server's own sentence, when it gave one.
    pub message: Option<String>,
    /// What that means for the object.
    pub fate: Fate,
}

/// What a failure says of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was not changed.
    Unchanged,
    /// It was not changed, because a test of the patch did not hold, or the patch makes no sense: the
    /// server says the same of both.
    TestsFailed,
    /// It was not changed, because others changed it too often in the meantime.
    Contended,
    /// It was not changed, and may be later: the server asks for patience, or a PodDisruptionBudget
    /// does not let the pod go now.
    NotNow,
    /// It is not there any more.
    Gone,
    /// Nobody knows: the request may have arrived.
    Unknown,
}

impl WriteFailure {
    /// A write that a snapshot cannot take.
    pub(super) fn of_a_snapshot() -> Self {
        let error = Error::new(ErrorKind::Refused, "a snapshot cannot be changed")
            .hint("look at what would be done with --dry-run=client");
        Self { error, message: None, fate: Fate::Unchanged }
    }

    /// A yes without the object that was changed.
    pub(super) fn of_no_object(why: &str) -> Self {
        let error = Error::new(ErrorKind::Malformed, format!("the server's answer to the change {why}"));
        Self { error, message: None, fate: Fate::Unknown }
    }

    /// A request that failed; `explain` has words for what is no refusal of the object itself.
    pub(super) fn of(failure: Failure, explain: impl FnOnce(Failure) -> Error) -> Self {
        let fate = Fate::of(&failure);
        let (message, invalid) = match &failure {
            Failure::Refused(answer) => (answer.message(), invalid(answer).or_else(|| not_evicted(answer))),
            _ => (None, None),
        };
        Self { error: invalid.unwrap_or_else(|| explain(failure)), message, fate }
    }
}

impl Fate {
    fn of(failure: &Failure) -> Self {
        match failure {
            // Before the connection stands nothing is sent; a connection that broke may have carried it.
            Failure::Fault(Fault::Broken(_) | Fault::Tls(_)) | Failure::Silent(_) | Failure::OutOfTime(_) => {
                Self::Unknown
            }
            Failure::NotSent(_) | Failure::Fault(_) => Self::Unchanged,
            Failure::Refused(answer) => match answer.status {
                StatusCode::UNPROCESSABLE_ENTITY if answer.causes().is_empty() => Self::TestsFailed,
                StatusCode::CONFLICT => Self::Contended,
                StatusCode::NOT_FOUND => Self::Gone,
                StatusCode::TOO_MANY_REQUESTS => Self::NotNow,
                _ if answer.message().is_some_and(|message| message.contains(SEVERAL_BUDGETS)) => {
                    Self::Unchanged
                }
                // A server or a proxy that gave up may have passed it on before.
                status if status.is_server_error() || status.is_success() => Self::Unknown,
                _ => Self::Unchanged,
            },
        }
    }
}

/// What an API server says with a 500, though nothing went wrong, of a pod that several budgets match.
const SEVERAL_BUDGETS: &str = "more than one PodDisruptionBudget";

/// An eviction that a PodDisruptionBudget does not allow now, in the server's words.
fn not_evicted(answer: &Answer) -> Option<Error> {
    let causes = answer.causes();
    let is_refused = answer.status == StatusCode::TOO_MANY_REQUESTS && !causes.is_empty();
    is_refused.then(|| Error::new(ErrorKind::Refused, causes.join("; ")))
}

/// A change that the server understood and does not accept, with its reasons.
fn invalid(answer: &Answer) -> Option<Error> {
    let causes = answer.causes();
    if answer.status != StatusCode::UNPROCESSABLE_ENTITY || causes.is_empty() {
        return None;
    }
    let error = Error::new(ErrorKind::Refused, "the server refuses the change").caused_by(causes.join("; "));
    Some(match answer.subject() {
        Some((kind, name)) => error.in_compat(match causes.as_slice() {
            [only] => format!("The {kind} {name:?} is invalid: {only}"),
            several => format!("The {kind} {name:?} is invalid: \n* {}", several.join("\n* ")),
        }),
        None => error,
    })
}
