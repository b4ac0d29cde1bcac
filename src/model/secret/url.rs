//! What URLs let one in with.

/// `postgres://app:hunter2@db` without the password, and `https://TOKEN@host` without the token.
/// Other schemes have mere names there (`ssh://git@host`).
#[must_use]
pub fn without_url_secrets(text: &str, mask: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        masked.extend([before, "://"]);
        rest = after;
        let ends = |c: char| matches!(c, '/' | '"') || c.is_whitespace();
        let authority = after.split(ends).next().unwrap_or_default();
        let Some((who, _)) = authority.rsplit_once('@') else {
            continue;
        };
        let is_web = before.ends_with("http") || before.ends_with("https");
        let kept = match who.split_once(':') {
            Some((user, "" | "x-oauth-basic")) if is_web && !user.is_empty() => "", // the user is the token
            Some((user, _)) => who.get(..=user.len()).unwrap_or_default(),
            None if is_web && !who.is_empty() => "",
            None => continue,
        };
        masked.extend([kept, mask]);
        rest = after.get(who.len()..).unwrap_or_default();
    }
    masked + rest
}
