//! The errors of credential plugins, with kubectl's text for `--compat`.

use std::time::Duration;

use kube::config::ExecConfig;

use super::ExecPlugin;
use crate::error::{Error, ErrorKind};
use crate::model::text::shell_command::{Word, command};

/// The beginning of kubectl's messages.
const CANNOT: &str = "Unable to connect to the server: getting credentials: ";

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
        self.error("is not installed").hint(hint).in_compat(format!(
            "{CANNOT}exec: executable {} not found\n\n\
             It looks like you are trying to use a client-go credential plugin that is not installed.\n\n\
             To learn more about this feature, consult the documentation available at:\n      \
             https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins{}",
            self.command,
            advice.map_or_else(String::new, |advice| format!("\n\n{advice}"))
        ))
    }

    pub(super) fn exit_error(&self, code: Option<i32>, last: Option<String>) -> Error {
        let how =
            code.map_or_else(|| "was killed".to_owned(), |code| format!("failed with exit code {code}"));
        let error = self.error(&how).hint(self.hint()).in_compat(format!(
            "{CANNOT}exec: executable {} failed with exit code {}",
            self.command,
            code.unwrap_or(-1)
        ));
        match last {
            Some(line) => error.caused_by(line.trim()),
            None => error,
        }
    }

    pub(super) fn needs_terminal(&self) -> Error {
        self.error("must prompt for input, and standard input is not a terminal")
            .hint("run this in a terminal, or use credentials that need no prompt")
            .in_compat(format!(
                "{CANNOT}exec plugin cannot support interactive mode: standard input is not a terminal"
            ))
    }

    pub(super) fn timed_out(&self, limit: Duration) -> Error {
        self.error(&format!("did not finish within {limit:?}")).hint(self.hint())
    }

    /// The message omits the output, which may contain a part of a credential.
    pub(super) fn invalid_output(&self, why: &str) -> Error {
        self.error("did not print a credential")
            .caused_by(why)
            .hint(self.hint())
            .in_compat(format!("{CANNOT}decoding stdout: {why}"))
    }

    fn hint(&self) -> String {
        let plugin = [Word::text(self.command, "PLUGIN")];
        command("you may have to log in again; to see what it needs, run it by hand: {}", plugin)
    }
}
