//! Names that may be asked for. They become pieces of a URL, where `..` and `/` lead elsewhere.

use crate::error::{Error, Result};

/// The longest label of RFC 1123.
const LONGEST_LABEL: usize = 63;

/// Checks the name of an object as kubectl does before a request.
///
/// # Errors
/// A usage error in kubectl's words.
pub fn check_object(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::usage("resource name may not be empty"));
    }
    check_piece("resource name", name)
}

/// Checks the name of a namespace as kubectl does before a request.
///
/// # Errors
/// A usage error in kubectl's words.
pub fn check_namespace(name: &str) -> Result<()> {
    check_piece("namespace", name)
}

/// Whether a namespace can have this name: a label of RFC 1123.
#[must_use]
pub fn is_namespace(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (name.bytes().next(), name.bytes().last());
    name.len() <= LONGEST_LABEL
        && name.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && first.is_some_and(is_plain)
        && last.is_some_and(is_plain)
}

/// Escaping would not do: servers and proxies resolve `%2E%2E` as they do `..`.
fn check_piece(what: &str, name: &str) -> Result<()> {
    let faults: Vec<String> = match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        _ => ['/', '%']
            .iter()
            .filter(|&&c| name.contains(c))
            .map(|c| format!("may not contain '{c}'"))
            .collect(),
    };
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!("invalid {what} {name:?}: [{}]", faults.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_label() {
        for name in ["a", "shop", "a-b", "0", &"a".repeat(63)] {
            assert!(is_namespace(name), "{name}");
        }
        for name in ["", "-", "a-", "-a", "A", "a.b", "a/b", "..", "ä", &"a".repeat(64)] {
            assert!(!is_namespace(name), "{name}");
        }
    }

    #[test]
    fn what_leads_elsewhere_in_a_url_is_no_name() {
        for name in [".", "..", "a/b", "../x", "%2e%2e"] {
            assert!(check_object(name).is_err() && check_namespace(name).is_err(), "{name}");
        }
        assert!(check_object("a..b").is_ok() && check_object("").is_err());
    }
}
