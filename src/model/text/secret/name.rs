//! Which names suggest a secret.

/// Parts of names that suggest a secret (design rule 15, extended).
const SECRET_WORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "pwd", "token", "secret", "key", "credential"];

/// Whether a value of this name is likely to be a secret. False positives such as `MONKEY` are
/// accepted: a hidden harmless value costs a flag, a printed secret costs more.
#[must_use]
pub fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}
