//! Commands that are printed for a user to paste into a POSIX shell.
//!
//! Other clients control annotations, names and events. So only [`command`] builds a command: the
//! template is a literal, and every word from outside is a [`Word`].

use std::fmt;

use super::untrusted::is_misleading;
use crate::text::untrusted::is_object_name;

/// The placeholder for a word in a template.
const HOLE: &str = "{}";

/// Returns a command: `template` with each `{}` replaced by the next word.
///
/// The template is a literal, so text from outside cannot be one.
#[must_use]
pub fn command(template: &'static str, words: impl IntoIterator<Item = Word>) -> String {
    let mut pieces = template.split(HOLE);
    let mut command = pieces.next().unwrap_or_default().to_owned();
    for (word, piece) in words.into_iter().zip(pieces) {
        command += &word.0;
        command += piece;
    }
    command
}

/// One or more words of a command, quoted for a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(String);

impl Word {
    /// Returns the name of an object, or `placeholder` for text that no object can be named.
    #[must_use]
    pub fn name(name: &str, placeholder: &'static str) -> Self {
        Self(if is_object_name(name) { name.to_owned() } else { placeholder.to_owned() })
    }

    /// Returns the names of objects, with `placeholder` for each text that no object can be named.
    #[must_use]
    pub fn names<'n>(names: impl IntoIterator<Item = &'n str>, placeholder: &'static str) -> Self {
        let words: Vec<_> = names.into_iter().map(|name| Self::name(name, placeholder).0).collect();
        Self(words.join(" "))
    }

    /// Returns an object with its type: `deployment/web`.
    #[must_use]
    pub fn typed_name(type_: &'static str, name: &str) -> Self {
        Self(format!("{type_}/{}", Self::name(name, "NAME")))
    }

    /// Returns ` -n shop`, for commands that may be run in another namespace; empty without a
    /// namespace.
    #[must_use]
    pub fn in_namespace(namespace: &str) -> Self {
        if namespace.is_empty() {
            return Self(String::new());
        }
        Self(format!(" -n {}", Self::name(namespace, "NAMESPACE")))
    }

    /// Returns any text, quoted if a shell needs it: a file, a context, a URL. Returns
    /// `placeholder` for text that is not safe to print, that looks like a flag, or whose quotes
    /// would end elsewhere in fish or PowerShell: `'` and `\` mean something else there.
    #[must_use]
    pub fn text(text: &str, placeholder: &'static str) -> Self {
        if text.is_empty() || text.starts_with('-') || text.contains(is_misleading) {
            return Self(placeholder.to_owned());
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
        if text.chars().all(is_plain) {
            return Self(text.to_owned());
        }
        if text.contains(['\'', '\\']) {
            return Self(placeholder.to_owned());
        }
        Self(format!("'{text}'"))
    }

    /// Returns the words of a [`command`], for a longer one.
    #[must_use]
    pub fn command(template: &'static str, words: impl IntoIterator<Item = Self>) -> Self {
        Self(command(template, words))
    }

    /// Joins two words without a space.
    #[must_use]
    pub fn and(self, next: &Self) -> Self {
        Self(self.0 + &next.0)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits a command as a POSIX shell does. Supports single quotes, backslashes and blanks, and
    /// rejects every other special character.
    fn tokenize(text: &str) -> Option<Vec<String>> {
        let (mut words, mut word) = (Vec::new(), None::<String>);
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                ' ' => words.extend(word.take()),
                '\'' => {
                    let word = word.get_or_insert_default();
                    loop {
                        match characters.next()? {
                            '\'' => break,
                            other => word.push(other),
                        }
                    }
                }
                '\\' => word.get_or_insert_default().push(characters.next()?),
                other if "|&;<>()$`\"\t\n*?[]#~{}!^".contains(other) => return None,
                other => word.get_or_insert_default().push(other),
            }
        }
        words.extend(word);
        Some(words)
    }

    #[test]
    fn an_invalid_name_becomes_a_placeholder() {
        assert_eq!(command("helm rollback {}", [Word::name("web-1.x", "RELEASE")]), "helm rollback web-1.x");
        for name in
            ["", "web; touch x #", "-n", "Web", "a b", "$(x)", "web\n", "a/b", "ä", ".", &"a".repeat(254)]
        {
            assert_eq!(Word::name(name, "NAME").to_string(), "NAME", "{name:?}");
        }
        let target = Word::typed_name("deployment", "web").and(&Word::in_namespace("shop"));
        assert_eq!(command("undo {} --yes", [target]), "undo deployment/web -n shop --yes");
        let target = Word::typed_name("deployment", "w'b").and(&Word::in_namespace("a;b"));
        assert_eq!(target.to_string(), "deployment/NAME -n NAMESPACE");
        assert_eq!(Word::in_namespace("").to_string(), "");
        assert_eq!(Word::names(["a", "b c", "d"], "NODE").to_string(), "a NODE d");
    }

    #[test]
    fn text_is_quoted_only_if_needed() {
        for (text, word) in [
            ("https://x/y.yaml", "https://x/y.yaml"),
            ("a b", "'a b'"),
            ("it's; touch x", "FILE"),
            ("a\\'; touch x; '", "FILE"),
            ("C:\\x", "FILE"),
            ("$(x)`y`\"z\"", "'$(x)`y`\"z\"'"),
            ("-f", "FILE"),
            ("", "FILE"),
            ("a\nb", "FILE"),
            ("a\u{202e}b", "FILE"),
        ] {
            assert_eq!(Word::text(text, "FILE").to_string(), word);
        }
    }

    #[test]
    fn a_template_and_its_words_belong_together() {
        assert_eq!(command("kubectl get nodes", []), "kubectl get nodes");
        assert_eq!(command("a {} && b {}", [Word::name("x", "X"), Word::name("{}", "Y")]), "a x && b Y");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_stays_one_word(one in any::<String>(), two in "[ -~]{0,12}", name in "[a-z;$ -]{1,8}") {
            for text in [&one, &two, &name] {
                let built = command("cat {} x", [Word::text(text, "FILE")]);
                let word = tokenize(&built).and_then(|words| match words.as_slice() {
                    [cat, word, x] if cat == "cat" && x == "x" => Some(word.clone()),
                    _ => None,
                });
                prop_assert!(word.as_ref() == Some(text) || word.as_deref() == Some("FILE"), "{built:?}");
                let built = command("kubectl delete pod {}{}", [Word::name(text, "POD"), Word::in_namespace(text)]);
                let words = tokenize(&built);
                prop_assert!(words.is_some_and(|words| words.len() == if text.is_empty() { 4 } else { 6 }), "{built:?}");
            }
        }
    }
}
