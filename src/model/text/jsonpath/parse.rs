//! Parses a template as client-go's `parser.go` does.

use serde_json::Value;

use super::path_node::{Filter, PathNode, Slice, SliceEnd};

/// Parses a template: text, and parts in braces.
pub(super) fn parse(template: &str) -> Result<Vec<PathNode>, String> {
    let mut nodes = Vec::new();
    let mut rest = template;
    while let Some((text, inside)) = rest.split_once('{') {
        if !text.is_empty() {
            nodes.push(PathNode::Text(text.into()));
        }
        let mut action = ActionParser { rest: inside, nodes: Vec::new() };
        action.parse()?;
        nodes.push(PathNode::List(action.nodes));
        rest = action.rest;
    }
    if !rest.is_empty() {
        nodes.push(PathNode::Text(rest.into()));
    }
    Ok(nodes)
}

/// Parses a text as if it stood in braces.
fn parse_inside(text: &str) -> Result<Vec<PathNode>, String> {
    let closed = format!("{text}}}");
    let mut action = ActionParser { rest: &closed, nodes: Vec::new() };
    action.parse()?;
    Ok(action.nodes)
}

/// Parses what is between braces.
struct ActionParser<'t> {
    rest: &'t str,
    nodes: Vec<PathNode>,
}

impl<'t> ActionParser<'t> {
    /// Parses up to the closing brace.
    fn parse(&mut self) -> Result<(), String> {
        loop {
            if let Some(rest) = self.rest.strip_prefix("[?(") {
                self.filter(rest)?;
            } else if let Some(rest) = self.rest.strip_prefix("..") {
                self.recursive(rest)?;
            } else {
                let Some(character) = self.rest.chars().next() else { return Err(unclosed()) };
                let after = self.rest.get(character.len_utf8()..).unwrap_or_default();
                match character {
                    '}' => {
                        self.rest = after;
                        return Ok(());
                    }
                    '\r' | '\n' => return Err(unclosed()),
                    ' ' | '@' | '$' => self.rest = after,
                    '[' => self.brackets(after)?,
                    '"' | '\'' => self.quote(character)?,
                    '.' => self.field(after),
                    '+' | '-' => self.number()?,
                    digit if digit.is_numeric() => self.number()?,
                    letter if letter == '_' || letter.is_alphabetic() => self.word(),
                    other => return Err(unrecognized(other)),
                }
            }
        }
    }

    /// Takes characters while they are wanted.
    fn take(&mut self, is_wanted: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|character| !is_wanted(character)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn word(&mut self) {
        let word = self.take(|character| !is_terminator(character));
        self.nodes.push(match word {
            "true" => PathNode::Literal(true.into()),
            "false" => PathNode::Literal(false.into()),
            "range" => PathNode::Range,
            "end" => PathNode::End,
            other => PathNode::Unknown(other.to_owned()),
        });
    }

    fn number(&mut self) -> Result<(), String> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = self.rest.get(sign..).unwrap_or_default();
        let length = digits.find(|character: char| character != '.' && !character.is_numeric());
        let (number, rest) = self.rest.split_at(sign + length.unwrap_or(digits.len()));
        self.rest = rest;
        let value = match (number.parse::<i64>(), number.parse::<f64>()) {
            (Ok(integer), _) => Value::from(integer),
            (_, Ok(float)) => Value::from(float),
            _ => return Err(format!("cannot parse number {number}")),
        };
        self.nodes.push(PathNode::Literal(value));
        Ok(())
    }

    /// Parses the name of a member, in which a backslash takes a terminator as a character.
    fn field(&mut self, after: &'t str) {
        let mut escaped = false;
        let end = after.find(|character| {
            let is_end = !escaped && is_terminator(character);
            escaped = !escaped && character == '\\';
            is_end
        });
        let (name, rest) = after.split_at(end.unwrap_or(after.len()));
        self.rest = rest;
        self.nodes.push(if name == "*" {
            PathNode::Wildcard
        } else {
            PathNode::Field(name.replace('\\', ""))
        });
    }

    fn recursive(&mut self, after: &'t str) -> Result<(), String> {
        if self.nodes.last() == Some(&PathNode::Recursive) {
            return Err("invalid multiple recursive descent".to_owned());
        }
        self.nodes.push(PathNode::Recursive);
        self.rest = after;
        if after.starts_with(|next: char| next == '_' || next.is_alphanumeric()) {
            self.field(after);
        }
        Ok(())
    }

    fn quote(&mut self, quote: char) -> Result<(), String> {
        let mut before = quote;
        let end = self.rest.char_indices().skip(1).find(|(_, character)| {
            let is_end = (*character == quote && before != '\\') || *character == '\n';
            before = *character;
            is_end
        });
        let Some((end, _)) = end.filter(|(_, character)| *character == quote) else {
            return Err("unterminated quoted string".to_owned());
        };
        let (quoted, rest) = self.rest.split_at(end + quote.len_utf8());
        self.rest = rest;
        let text = unquoted(quoted).ok_or_else(|| format!("unquote string {quoted} error invalid syntax"))?;
        self.nodes.push(PathNode::Text(text.into()));
        Ok(())
    }

    /// Parses what is between brackets: a union, a key in quotes, or a slice.
    fn brackets(&mut self, after: &'t str) -> Result<(), String> {
        let end = after.find([']', '\n']).filter(|end| after[*end..].starts_with(']'));
        let Some(end) = end else { return Err("unterminated array".to_owned()) };
        let (inside, rest) = (&after[..end], &after[end + 1..]);
        self.rest = rest;
        if inside.contains(',') {
            let parts = inside.split(',').map(|part| parse_inside(&format!("[{}]", part.trim_matches(' '))));
            self.nodes.push(PathNode::Union(parts.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = inside.strip_prefix('\'').and_then(|key| key.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            self.nodes.extend(parse_inside(&format!(".{key}"))?); // a dot in a key separates two, unless escaped
            return Ok(());
        }
        self.nodes.push(PathNode::Slice(slice(if inside == "*" { ":" } else { inside })?));
        Ok(())
    }

    fn filter(&mut self, after: &'t str) -> Result<(), String> {
        let (mut quote, mut is_closed, mut before) = (None, false, '(');
        let mut end = None;
        for (index, character) in after.char_indices() {
            match (character, quote) {
                ('\n', _) => break,
                ('"' | '\'', None) => quote = Some(character),
                ('"' | '\'', Some(open)) if before != '\\' && character == open => is_closed = true,
                (')', open) if open.is_some() == is_closed => {
                    end = Some(index);
                    break;
                }
                _ => {}
            }
            before = character;
        }
        let Some(end) = end else { return Err("unterminated filter".to_owned()) };
        let Some(rest) = after[end + 1..].strip_prefix(']') else {
            return Err("unclosed array expect ]".to_owned());
        };
        self.rest = rest;
        self.nodes.push(PathNode::Filter(Box::new(filter(&after[..end])?)));
        Ok(())
    }
}

/// Parses what is between the parentheses of a filter.
fn filter(text: &str) -> Result<Filter, String> {
    let is_operator = |character: char| "!<>=".contains(character);
    let start = text.find(is_operator).filter(|start| *start > 0);
    let compared = start.and_then(|start| {
        let rest = &text[start..];
        let length = rest.find(|character| !is_operator(character)).unwrap_or(rest.len() - 1);
        let (operator, right) = rest.split_at(length);
        (!operator.is_empty()).then_some((&text[..start], operator, right))
    });
    Ok(match compared {
        Some((left, operator, right)) => Filter {
            left: parse_inside(left)?,
            comparison: Some((operator.to_owned(), parse_inside(right)?)),
        },
        None => Filter { left: parse_inside(text)?, comparison: None },
    })
}

/// Parses `start:end:step`. One number alone is an index.
fn slice(text: &str) -> Result<Slice, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let is_number =
        |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(is_number) {
        return Err(format!("invalid array index {text}"));
    }
    let number = |index: usize| match parts.get(index).copied().filter(|part| !part.is_empty()) {
        None => Ok(None),
        Some(part) => part.parse().map(Some).map_err(|_| format!("array index {part} is not a number")),
    };
    let end = match (parts.len(), number(1)?) {
        (1, _) => SliceEnd::AfterStart,
        (_, Some(end)) => SliceEnd::At(end),
        (_, None) => SliceEnd::OfList,
    };
    Ok(Slice { start: number(0)?, end, step: number(2)? })
}

/// Whether a character ends a name.
fn is_terminator(character: char) -> bool {
    " \t\r\n.,[]$@{}".contains(character)
}

fn unclosed() -> String {
    "unclosed action".to_owned()
}

fn unrecognized(character: char) -> String {
    let shown = if character.is_control() { String::new() } else { format!(" '{character}'") };
    format!("unrecognized character in action: U+{:04X}{shown}", u32::from(character))
}

/// Returns the text in quotes, with the escapes of JSON in single quotes too; none for an invalid escape.
fn unquoted(quoted: &str) -> Option<String> {
    let quote = quoted.chars().next()?;
    let inside = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut json = String::from('"');
    let mut characters = inside.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next()? {
                '\'' if quote == '\'' => json.push('\''),
                escaped => json.extend([character, escaped]),
            },
            '"' => json.push_str("\\\""),
            control if control.is_control() => json += &format!("\\u{:04x}", u32::from(control)),
            other => json.push(other),
        }
    }
    serde_json::from_str(&(json + "\"")).ok()
}
