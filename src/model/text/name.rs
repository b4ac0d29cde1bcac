//! Validates names before they become part of a URL, where `..` and `/` would change the path.

use crate::error::{Error, Result};

/// The longest label of RFC 1123.
const LONGEST_LABEL: usize = 63;

/// The longest subdomain of RFC 1123.
const LONGEST_SUBDOMAIN: usize = 253;

/// Checks the name of an object as kubectl does before a request.
///
/// # Errors
/// kubectl's usage error.
pub fn check_object(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::usage("resource name may not be empty"));
    }
    check_piece("resource name", name)
}

/// Checks the name of a namespace as kubectl does before a request.
///
/// # Errors
/// kubectl's usage error.
pub fn check_namespace(name: &str) -> Result<()> {
    check_piece("namespace", name)
}

/// Whether a namespace can have this name: a label of RFC 1123.
#[must_use]
pub fn is_namespace_name(name: &str) -> bool {
    name.len() <= LONGEST_LABEL && is_label(name)
}

/// Whether a workload, a pod or a node can have this name: a subdomain of RFC 1123.
#[must_use]
pub fn is_object_name(name: &str) -> bool {
    name.len() <= LONGEST_SUBDOMAIN && name.split('.').all(is_label)
}

/// Whether the text is a label of RFC 1123, of any length.
fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (label.bytes().next(), label.bytes().last());
    label.bytes().all(|byte| is_plain(byte) || byte == b'-')
        && first.is_some_and(is_plain)
        && last.is_some_and(is_plain)
}

/// Escaping is not enough: servers and proxies resolve `%2E%2E` as they resolve `..`.
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
            assert!(is_namespace_name(name), "{name}");
        }
        for name in ["", "-", "a-", "-a", "A", "a.b", "a/b", "..", "ä", &"a".repeat(64)] {
            assert!(!is_namespace_name(name), "{name}");
        }
    }

    #[test]
    fn an_object_is_a_subdomain() {
        for name in ["a", "web-1", "db.v2", "0", "ip-10-0-0-1.ec2.internal", &"a".repeat(253)] {
            assert!(is_object_name(name), "{name}");
        }
        for name in ["", ".", "a.", ".a", "a..b", "-a", "A", "a b", "a;b", "ä", &"a".repeat(254)] {
            assert!(!is_object_name(name), "{name}");
        }
    }

    #[test]
    fn names_that_change_a_url_are_refused() {
        for name in [".", "..", "a/b", "../x", "%2e%2e"] {
            assert!(check_object(name).is_err() && check_namespace(name).is_err(), "{name}");
        }
        assert!(check_object("a..b").is_ok() && check_object("").is_err());
    }
}
