//! The errors of credential plugins.

use std::time::Duration;

use kube::config::ExecConfig;

use super::ExecPlugin;
use crate::error::{Error, ErrorKind};
use crate::model::text::shell_command::{Word, command};

impl ExecPlugin<'_> {
    pub(super) fn error(&self, what: &str) -> Error {
        Error::new(ErrorKind::Unreachable, format!("the credential plugin {:?} {what}", self.command))
    }

    pub(super) fn start_error(&self, exec: &ExecConfig, error: std::io::Error) -> Error {
        if error.kind() != std::io::ErrorKind::NotFound {
            return self.error("cannot be run").caused_by(error).hint(self.hint());
        }
        let advice = exec.install_hint.as_deref().map(str::trim).filter(|advice| !advice.is_empty());
        let hint = advice.map_or_else(
            || "install it, or give its full path in the kubeconfig as users[].user.exec.command".to_owned(),
            str::to_owned,
        );
        self.error("is not installed").hint(hint)
    }

    pub(super) fn exit_error(&self, code: Option<i32>, last: Option<String>) -> Error {
        let how =
            code.map_or_else(|| "was killed".to_owned(), |code| format!("failed with exit code {code}"));
        let error = self.error(&how).hint(self.hint());
        match last {
            Some(line) => error.caused_by(line.trim()),
            None => error,
        }
    }

    pub(super) fn needs_terminal(&self) -> Error {
        self.error("must prompt for input, and standard input is not a terminal")
            .hint("run this in a terminal, or use credentials that need no prompt")
    }

    pub(super) fn timed_out(&self, limit: Duration) -> Error {
        self.error(&format!("did not finish within {limit:?}")).hint(self.hint())
    }

    /// The message omits the output, which may contain a part of a credential.
    pub(super) fn invalid_output(&self, why: &str) -> Error {
        self.error("did not print a credential").caused_by(why).hint(self.hint())
    }

    fn hint(&self) -> String {
        let plugin = [Word::text(self.command, "PLUGIN")];
        command("you may have to log in again; to see what it needs, run it by hand: {}", plugin)
    }
}
