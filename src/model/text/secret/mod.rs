//! Detects values that look secret, by their name or their form, and masks them.

mod detection;

#[cfg(test)]
mod tests;

pub use detection::looks_secret;

/// The text that replaces a secret value.
pub const MASK: &str = "***";

/// The shortest value that is masked in other texts. Shorter ones occur in words by chance, and the
/// mask would reveal them.
pub(in crate::model) const SHORTEST_SECRET: usize = 4;

/// Returns a text without secrets: `PASSWORD=x`, `token: x`, `"token":"x"`, `--password x`,
/// `Bearer x`, the credentials of URLs, and JSON Web Tokens in any position.
///
/// Messages about secrets stay as they are. Registries and kubelets write `failed to fetch
/// anonymous token: unexpected status`, and image names contain colons.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let text = without_url_secrets(text, MASK);
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(NameCandidate { before, name, after }) = NameCandidate::next(&text, at) {
        if detection::is_json_web_token(name) {
            masked += text.get(at..before.len()).unwrap_or_default();
            masked += MASK;
            at = text.len() - after.len();
            continue;
        }
        let found = detection::find(before, name, after);
        let (gap, length) = found.unwrap_or_default();
        masked += text.get(at..text.len() - after.len() + gap).unwrap_or_default();
        if length > 0 {
            masked += MASK;
        }
        at = text.len() - after.len() + gap + length;
    }
    masked + text.get(at..).unwrap_or_default()
}

/// Returns a text without the credentials of URLs: `postgres://app:hunter2@db` without the password,
/// `https://TOKEN@host` without the token. Other schemes have user names there (`ssh://git@host`).
#[must_use]
pub fn without_url_secrets(text: &str, mask: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        masked.extend([before, "://"]);
        rest = after;
        let ends = |c: char| matches!(c, '/' | '"') || c.is_whitespace();
        let authority = after.split(ends).next().unwrap_or_default();
        let Some((user_info, _)) = authority.rsplit_once('@') else {
            continue;
        };
        let is_web = before.ends_with("http") || before.ends_with("https");
        let kept = match user_info.split_once(':') {
            Some((user, "" | "x-oauth-basic")) if is_web && !user.is_empty() => "", // the user is the token
            Some((user, _)) => user_info.get(..=user.len()).unwrap_or_default(),
            None if is_web && !user_info.is_empty() => "",
            None => continue,
        };
        masked.extend([kept, mask]);
        rest = after.get(user_info.len()..).unwrap_or_default();
    }
    masked + rest
}

/// A word that may be the name of a secret, with the text around it.
struct NameCandidate<'a> {
    before: &'a str,
    name: &'a str,
    after: &'a str,
}

impl<'a> NameCandidate<'a> {
    fn next(text: &'a str, at: usize) -> Option<Self> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let start = at + text.get(at..)?.find(is_part)?;
        let (before, rest) = text.split_at_checked(start)?;
        let (name, after) = rest.split_at_checked(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
        Some(Self { before, name, after })
    }
}
