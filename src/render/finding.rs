//! The layouts of a finding: a line, and the members of a document.

use serde_json::{Value, json};

use crate::model::finding::{Finding, Severity};
use crate::model::text::secret::without_secrets;

/// Returns the line of a finding without its hint: `note: deployment/web: waiting`.
#[must_use]
pub fn line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Info => String::new(),
        severity => format!("{}: ", severity.word()),
    };
    let subject = finding.subject.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
    severity + &subject + &finding.text
}

/// Returns the members of a document that has a finding, with secret-looking values masked.
#[must_use]
pub fn members(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.word(),
        "reason": finding.reason,
        "message": without_secrets(&finding.text),
        "hint": finding.hint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::Reason;

    #[test]
    fn a_line_has_the_severity_and_the_subject() {
        let finding = Finding::note(Reason::Waiting, "waiting for its pods");
        assert_eq!(line(&finding), "note: waiting for its pods");
        assert_eq!(line(&finding.about("deployment/web")), "note: deployment/web: waiting for its pods");
        assert_eq!(line(&Finding::info(Reason::Interrupted, "stopped")), "stopped");
    }
}
