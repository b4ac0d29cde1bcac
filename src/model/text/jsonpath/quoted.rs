//! Reads strings in quotes as client-go's `UnquoteExtend` does: Go's escapes, in single quotes too.

/// Returns the text in quotes; none for an invalid escape. A byte that is no character is replaced by U+FFFD.
pub(super) fn unquoted(quoted: &str) -> Option<String> {
    let quote = quoted.chars().next()?;
    let inside = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut bytes = Vec::new();
    let mut rest = inside;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        if character == '\\' {
            rest = escape(rest, quote, &mut bytes)?;
        } else {
            push(character, &mut bytes);
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the escape after a backslash, and returns the rest.
fn escape<'t>(text: &'t str, quote: char, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let kind = text.chars().next()?;
    let rest = &text[kind.len_utf8()..];
    let hex = |digits: usize| {
        let number =
            rest.get(..digits).filter(|number| number.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some((u32::from_str_radix(number, 16).ok()?, &rest[digits..]))
    };
    let single = match kind {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        '\'' | '"' if kind == quote => quote,
        'x' => {
            let (byte, rest) = hex(2)?;
            bytes.push(u8::try_from(byte).ok()?);
            return Some(rest);
        }
        'u' | 'U' => {
            let (character, rest) = hex(if kind == 'u' { 4 } else { 8 })?;
            push(char::from_u32(character)?, bytes);
            return Some(rest);
        }
        '0'..='7' => {
            let digits =
                text.get(..3).filter(|digits| digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte)))?;
            bytes.push(u8::from_str_radix(digits, 8).ok()?);
            return Some(&text[3..]);
        }
        _ => return None,
    };
    push(single, bytes);
    Some(rest)
}

fn push(character: char, bytes: &mut Vec<u8>) {
    bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
}
