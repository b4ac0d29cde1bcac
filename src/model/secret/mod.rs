//! What looks secret, by its name or by its shape, and what stands in its place.

mod assigned;
mod scheme;
mod template;
mod url;
mod value;

#[cfg(test)]
mod tests;

pub use template::secrets_in;
pub use url::without_url_secrets;

/// What stands for a secret value.
pub const MASK: &str = "***";

/// What a name holds that is likely to be one of a secret (design rule 15, and some more).
const WORDS: [&str; 8] = ["password", "passwd", "passphrase", "pwd", "token", "secret", "key", "credential"];

/// Whether a value of this name is likely to be a secret. `MONKEY` is one too: a harmless value that
/// is hidden costs a flag, a shown secret costs more.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A text without what has the shape of a secret: `PASSWORD=x`, `token: x`, `"token":"x"`,
/// `--password x`, `Bearer x`, and what a URL lets one in with.
///
/// Words about a secret are no secret: registries and kubelets write `failed to fetch anonymous token:
/// unexpected status`, and image names have colons in them.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let text = without_url_secrets(text, MASK);
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(Word { before, name, after }) = Word::next(&text, at) {
        let found = assigned::secret(before, name, after).or_else(|| scheme::secret(before, name, after));
        let (gap, length) = found.unwrap_or_default();
        masked += text.get(at..text.len() - after.len() + gap).unwrap_or_default();
        if length > 0 {
            masked += MASK;
        }
        at = text.len() - after.len() + gap + length;
    }
    masked + text.get(at..).unwrap_or_default()
}

/// A word that may be a name, and what stands around it.
struct Word<'a> {
    before: &'a str,
    name: &'a str,
    after: &'a str,
}

impl<'a> Word<'a> {
    fn next(text: &'a str, at: usize) -> Option<Self> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let start = at + text.get(at..)?.find(is_part)?;
        let (before, rest) = text.split_at_checked(start)?;
        let (name, after) = rest.split_at_checked(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
        Some(Self { before, name, after })
    }
}
