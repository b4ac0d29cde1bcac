//! The query string of a request.

use crate::refusal::Refusal;

/// The decoded parameters, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes `a=b&c=d`.
    pub fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The value of a parameter; empty when it is absent.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Whether a parameter is `true` or `1`.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), "true" | "1")
    }

    /// Returns the number in a parameter, if the parameter is present.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        match self.get(name) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Refusal::bad_request(format!("strconv.ParseUint: parsing \"{text}\": invalid syntax"))
            }),
        }
    }

    /// Whether the request is a dry run.
    pub fn dry_run(&self) -> Result<bool, Refusal> {
        match self.get("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => Err(Refusal::bad_request(format!(
                "dryRun: Unsupported value: \"{other}\": supported values: \"All\""
            ))),
        }
    }
}
