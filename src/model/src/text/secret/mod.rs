//! Detects values that look secret, by their name or their form, and masks them: after the name of a secret, and after an
//! authorization scheme.

/// The text that replaces a secret value.
pub const MASK: &str = "***";

/// The shortest value that is masked in other texts.
const SHORTEST_SECRET: usize = 4;

/// The longest single word that is not masked in other texts: `production`.
const LONGEST_WORD: usize = 10;

/// Whether a secret value is masked in other texts too, and not only after its name. Short values and single words, such as
/// `login` of `SMTP_AUTH`, occur there by chance: the mask would make the text unreadable, and reveal them.
pub(crate) fn is_masked_anywhere(value: &str) -> bool {
    let is_one_of = |is_letter: fn(&u8) -> bool| value.bytes().skip(1).all(|byte| is_letter(&byte));
    let is_word = value.len() <= LONGEST_WORD
        && value.starts_with(|first: char| first.is_ascii_alphabetic())
        && (is_one_of(u8::is_ascii_lowercase) || is_one_of(u8::is_ascii_uppercase));
    value.len() >= SHORTEST_SECRET && !is_word
}

/// Returns a text without secrets: `PASSWORD=x`, `token: x`, `"token":"x"`, `--password x`,
/// `Bearer x`, the credentials of URLs and Go DSNs, and JSON Web Tokens in any position.
///
/// Messages about secrets stay as they are. Registries and kubelets write `failed to fetch
/// anonymous token: unexpected status`, and image names contain colons.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    without_secrets_as(text, MASK)
}

/// As [`without_secrets`], with another mask.
pub(crate) fn without_secrets_as(text: &str, mask: &str) -> String {
    let text = without_private_keys(text, mask);
    let text = without_dsn_passwords(&without_url_secrets(&text, mask), mask);
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(NameCandidate { before, name, after }) = NameCandidate::next(&text, at) {
        if is_json_web_token(name) {
            masked += text.get(at..before.len()).unwrap_or_default();
            masked += mask;
            at = text.len() - after.len();
            continue;
        }
        let found = named_value(before, name, after).or_else(|| authorization_value(before, name, after));
        let (gap, length) = found.unwrap_or_default();
        masked += text.get(at..text.len() - after.len() + gap).unwrap_or_default();
        if length > 0 {
            masked += mask;
        }
        at = text.len() - after.len() + gap + length;
    }
    masked + text.get(at..).unwrap_or_default()
}

/// Returns a text without private keys in PEM. A key without an end is masked to the end of the text.
fn without_private_keys(text: &str, mask: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("-----BEGIN ") {
        masked.extend([before, "-----BEGIN "]);
        rest = after;
        let Some((label, key)) = after.split_once("-----") else { continue };
        if label.contains("PRIVATE KEY") {
            masked.extend([label, "-----", mask]);
            rest = key.find("-----END ").and_then(|end| key.get(end..)).unwrap_or_default();
        }
    }
    masked + rest
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
        let user_info = authority.rsplit_once('@').map(|(user_info, _)| user_info);
        let Some(user_info) = user_info.or_else(|| user_info_with_slash(authority, after)) else {
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

/// Returns the user info of a URL whose password has a slash, so that no port follows the colon.
fn user_info_with_slash<'a>(authority: &str, after: &'a str) -> Option<&'a str> {
    let (_, port) = authority.split_once(':')?;
    if authority.starts_with('[') || port.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let url = after.split("://").next()?;
    url.get(..word_length(url))?.rsplit_once('@').map(|(user_info, _)| user_info)
}

/// Returns a text without the passwords of Go DSNs: `app:hunter2@tcp(db:3306)/shop`.
fn without_dsn_passwords(text: &str, mask: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    for (at, _) in text.match_indices('@') {
        let (start, address) = rest.split_at(at - (text.len() - rest.len()));
        let is_address = ["@tcp(", "@unix("].iter().any(|protocol| address.starts_with(protocol));
        if is_address && let Some((_, password)) = word_start(start).split_once(':') {
            masked.extend([start.strip_suffix(password).unwrap_or_default(), mask]);
            rest = address;
        }
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

/// The lists of a template whose elements are names with values.
pub(crate) const NAMED_VALUES: [&str; 2] = ["env", "httpHeaders"];

/// Parts of names that suggest a secret.
const SECRET_WORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "pwd", "token", "secret", "key", "credential"];

/// Whole parts of names that suggest a secret. `BYPASS` and `PASSTHROUGH` have none.
const SECRET_PARTS: [&str; 5] = ["pass", "pgpass", "dsn", "cookie", "webhook"];

/// Whether a value of this name is likely to be a secret. False positives such as `MONKEY` are
/// accepted: a hidden harmless value costs a flag, a printed secret costs more. `auth` counts at the
/// end of a name only: `AUTH_MODE` is no secret.
#[must_use]
fn looks_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut parts = name.split(|c: char| !c.is_alphanumeric());
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || parts.clone().any(|part| SECRET_PARTS.contains(&part))
        || parts.next_back() == Some("auth")
}

/// Whether the value of an env, a header or an annotation with this name is secret.
#[must_use]
pub fn holds_secret(name: &str) -> bool {
    looks_secret(name) || name.to_lowercase().ends_with("authorization")
}

/// The separators between a name and its value. A separator follows those that it is a prefix of.
const SEPARATORS: [&str; 5] = [":=", "=>", "==", "=", ":"];

/// The quotes around values.
const QUOTES: [char; 2] = ['"', '\''];

/// The words that follow `Bearer` in prose.
const PROSE: [&str; 9] =
    ["token", "tokens", "auth", "authentication", "authorization", "realm", "error", "scheme", "challenge"];

/// How the messages of errors about files begin.
const ERRORS: [&str; 4] = ["no such ", "permission denied", "not a ", "is a "];

/// The types of workloads, as our messages write them.
const WORKLOAD_TYPES: [&str; 6] = ["deployment", "statefulset", "daemonset", "cloneset", "asts", "ads"];

/// The shortest JSON Web Token that is masked.
const SHORTEST_TOKEN: usize = 16;

/// Whether a word is a JSON Web Token, or the start of one. Its header is a JSON object in base64, so
/// it starts with the base64 of `{"`.
fn is_json_web_token(word: &str) -> bool {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    word.len() >= SHORTEST_TOKEN && word.starts_with("eyJ") && word.chars().all(is_base64)
}

/// Returns the offset in `after` and the length of the value after the name of a secret.
fn named_value(before: &str, name: &str, after: &str) -> Option<(usize, usize)> {
    // Few words of a text are followed by a value, so this is decided first. It is a necessary condition only.
    let is_assigned = after.trim_start_matches([' ', '\t', '"', '\'', '\\']).starts_with([':', '=']);
    if !(is_assigned || name.starts_with('-')) || !is_secret_name(name) {
        return None;
    }
    let (value, length) = assigned_value(before, name, after).or_else(|| flag_value(name, after))?;
    (length > 0).then_some((after.len() - value.len(), length))
}

/// Whether the argument after this one is a secret, as after `--password`.
pub(crate) fn is_secret_flag(argument: &str) -> bool {
    argument.starts_with('-') && is_name_of_argument(argument)
}

/// Returns the beginning of an argument whose rest is a secret, such as `--password=` or `DB_PASSWORD=`.
pub(crate) fn secret_assignment(argument: &str) -> Option<&str> {
    let (name, _) = argument.split_once('=')?;
    argument.get(..=name.len()).filter(|_| is_name_of_argument(name))
}

/// Whether a text is only the name of a secret.
fn is_name_of_argument(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    text.chars().all(is_part) && is_secret_name(text)
}

/// Whether a word is the name of a secret. `keycloak` is none, and every log line of Keycloak has
/// it.
fn is_secret_name(name: &str) -> bool {
    let is_loud = name.contains(|c: char| c.is_ascii_uppercase());
    let without_key = name.to_lowercase().replace("key", "");
    looks_secret(name)
        && (is_loud
            || looks_secret(&without_key)
            || name.split(['_', '-', '.']).any(|part| part.ends_with("key") || part.ends_with("keys")))
}

/// Returns the value of `NAME=value`, `NAME: value` or `"name":"value"`, and its length.
fn assigned_value<'a>(before: &str, name: &str, after: &'a str) -> Option<(&'a str, usize)> {
    let closed = opening_quote(after).and_then(|quote| after.strip_prefix(quote));
    let spaced = closed.unwrap_or(after).trim_start_matches([' ', '\t']);
    let (separator, tight) =
        SEPARATORS.iter().find_map(|separator| Some((*separator, spaced.strip_prefix(separator)?)))?;
    let value = tight.trim_start_matches([' ', '\t']);
    if let Some(quote) = opening_quote(value) {
        let inside = value.strip_prefix(quote)?;
        return Some((inside, quoted_length(inside, quote)));
    }
    let is_tight = value.len() == tight.len();
    let is_value = match (separator, closed.is_some()) {
        (":", true) => is_tight, // `volume "db-secret" : mount failed` is prose
        (":", false) if is_tight && !name.contains(|c: char| c.is_ascii_uppercase()) => false, // an image
        (":", false)
            if is_path(before) || is_type(before) || ERRORS.iter().any(|error| value.starts_with(error)) =>
        {
            false
        }
        (":", false) => is_tight || !is_sentence(before, name, value),
        _ => true,
    };
    if !is_value {
        return None;
    }
    let first = bare_length(value);
    let is_cookie = separator == ":" && name.to_ascii_lowercase().ends_with("cookie");
    let has_more = is_cookie && value.get(..first).is_some_and(|first| first.ends_with(';'));
    let length = if has_more { value.find(['\n', '"', '\'']).unwrap_or(value.len()) } else { first };
    let end = value.get(..length)?.find([',', '}', ']']).filter(|_| closed.is_some());
    Some((value, end.unwrap_or(length)))
}

/// The longest start of a word that is looked at, in characters. A text may be one word of a megabyte.
const LONGEST_START: usize = 4_096;

/// Returns the start of the word that continues after the text.
fn word_start(before: &str) -> &str {
    let last = before.char_indices().rev().take(LONGEST_START);
    let word = last.take_while(|(_, c)| !c.is_whitespace() && !QUOTES.contains(c));
    word.last().and_then(|(at, _)| before.get(at..)).unwrap_or_default()
}

/// Whether a word is the last part of a path: `open /etc/tls/tls.key: no such file or directory`.
fn is_path(before: &str) -> bool {
    let start = word_start(before);
    start.ends_with('/') && start.starts_with(['/', '.', '~'])
}

/// Whether the text ends with the type of a workload, before its name: `deployment/token-server: timed out`.
fn is_type(before: &str) -> bool {
    let type_ = word_start(before).strip_suffix('/').and_then(|type_| type_.split('.').next());
    type_.is_some_and(|type_| WORKLOAD_TYPES.contains(&type_))
}

/// Whether a sentence about a token, a key or a webhook continues after the colon.
fn is_sentence(before: &str, name: &str, value: &str) -> bool {
    let text = before.trim_end();
    if ["non-existent config", "non-existent secret"].iter().any(|words| text.ends_with(words)) {
        return true; // the kubelet's `references non-existent secret key: K`
    }
    let is_noun =
        ["token", "tokens", "secret", "secrets", "key", "keys", "credential", "credentials"].contains(&name);
    let follows = text.len() < before.len() && text.ends_with(char::is_alphabetic);
    let (word, rest) = value.split_at_checked(word_length(value)).unwrap_or_default();
    let is_word = word.trim_end_matches([':', ',']).chars().all(char::is_alphabetic);
    let is_component = name.ends_with("auth") || name.ends_with("webhook"); // `failed to call webhook: Post ...`
    (is_noun && follows || is_component) && is_word && rest.starts_with(' ') && !is_scheme(word)
}

/// Returns the value of `--password value`, also in a list of arguments, and its length.
fn flag_value<'a>(name: &str, after: &'a str) -> Option<(&'a str, usize)> {
    let value = after.trim_start_matches([' ', ',', '"', '\'', '\\']);
    let gap = after.get(..after.len() - value.len())?;
    if !name.starts_with('-') || !gap.contains([' ', ',']) || value.starts_with('-') {
        return None;
    }
    let is_quoted = gap.ends_with(QUOTES);
    let quote = gap.get(gap.trim_end_matches(QUOTES).trim_end_matches('\\').len()..)?;
    Some((value, if is_quoted { quoted_length(value, quote) } else { word_length(value) }))
}

/// Whether a word is an authorization scheme.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns the offset and length of the credential after an authorization scheme.
fn authorization_value(before: &str, word: &str, after: &str) -> Option<(usize, usize)> {
    if !is_scheme(word) {
        return None;
    }
    let value = after.trim_start_matches(' ');
    let (gap, length) = (after.len() - value.len(), word_length(value));
    if gap == 0 || length == 0 {
        return None;
    }
    let is_one = is_header(before) || is_credential(word, value.get(..length)?);
    is_one.then_some((gap, length))
}

/// Whether the text ends with the name of an `Authorization` header.
fn is_header(before: &str) -> bool {
    const NAME: &str = "authorization";
    let name = before.trim_end_matches([' ', '"', '\'', '\\', ':', '=', '[']);
    let end = name.len().checked_sub(NAME.len()).and_then(|at| name.get(at..));
    name.len() < before.len() && end.is_some_and(|end| end.eq_ignore_ascii_case(NAME))
}

/// Whether a word is a credential and not the next word of a sentence. `Basic` often occurs in
/// prose, `Bearer` rarely.
fn is_credential(scheme: &str, value: &str) -> bool {
    let words = value.trim_end_matches(|c: char| c.is_ascii_punctuation());
    if scheme == "Bearer" {
        return !words.is_empty() && !PROSE.iter().any(|prose| words.eq_ignore_ascii_case(prose));
    }
    let tail = words.get(1..).unwrap_or_default();
    words.len() >= 6 && tail.chars().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
}

/// Returns the opening quote of a value, with the backslashes of nested logs before it.
fn opening_quote(value: &str) -> Option<&str> {
    let quote = value.trim_start_matches('\\').strip_prefix(QUOTES)?;
    value.get(..value.len() - quote.len())
}

/// Returns the length of a quoted value; to the end of the line if it is not closed.
fn quoted_length(inside: &str, opening: &str) -> usize {
    let backslashes = opening.len().saturating_sub(1);
    let mut run = 0;
    for (at, c) in inside.char_indices() {
        match c {
            '\\' => run += 1,
            '\n' => return at,
            c if opening.ends_with(c) && run == backslashes => return at - run,
            _ => run = 0,
        }
    }
    inside.len()
}

/// Returns the length of an unquoted value: one word, or two if the first is an authorization
/// scheme.
fn bare_length(value: &str) -> usize {
    let first = word_length(value);
    if !value.get(..first).is_some_and(is_scheme) {
        return first;
    }
    let rest = value.get(first..).unwrap_or_default();
    let second = rest.trim_start_matches(' ');
    first + (rest.len() - second.len()) + word_length(second)
}

/// Returns the length of the first word. Commas and brackets may be part of a password, so they
/// count, but not after a mask.
fn word_length(text: &str) -> usize {
    let length = text.find(|c: char| c.is_whitespace() || QUOTES.contains(&c)).unwrap_or(text.len());
    let is_mask = text.get(..length).is_some_and(|word| word.trim_end_matches([',', ';', ')']) == MASK);
    if is_mask { MASK.len() } else { length }
}

#[cfg(test)]
mod tests;
