//! Patterns with wildcards, for names of files and of contexts.

/// Whether a pattern matches a whole name. `*` stands for any characters, `?` for one.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = name.chars();
    let mut pattern = pattern.chars();
    loop {
        match pattern.next() {
            None => return rest.as_str().is_empty(),
            Some('*') => {
                let (after, name) = (pattern.as_str(), rest.as_str());
                let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
                return ends.rev().any(|at| name.get(at..).is_some_and(|end| matches(after, end)));
            }
            Some('?') if rest.next().is_some() => {}
            Some(one) if one != '?' && rest.next() == Some(one) => {}
            Some(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, name, expected) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", "a.yml", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[ab]*", "[ab]c", true),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
