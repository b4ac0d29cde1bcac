//! The parts of a JSONPath template, which are parsed as client-go's `parser.go` does.

use serde_json::Value;

/// A part of a template. Each turns a list of values into another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathNode {
    /// What is between braces: its parts one after another.
    List(Vec<PathNode>),
    /// Text outside of braces, or a literal, for each value one.
    Literal(Value),
    /// Text in quotes: one value, however many there were.
    Text(Value),
    /// `.name`: a member of objects.
    Field(String),
    /// `[start:end:step]`: elements of lists.
    Slice(Slice),
    /// `[?(left == right)]`: the elements that pass.
    Filter(Box<Filter>),
    /// `.*`: all members or elements.
    Wildcard,
    /// `..`: the value and all values in it that have members or elements.
    Recursive,
    /// `[a,b]`: the results of several parts.
    Union(Vec<Vec<PathNode>>),
    /// `{range LIST}` with what follows up to `{end}`, which is evaluated for each value of the list.
    Range { list: Vec<PathNode>, parts: Vec<PathNode> },
    /// A word, which is an error when it is evaluated. `range` and `end` are none of these where they may be.
    Word(String),
}

/// The elements of a list that a slice selects. Negative indices are counted from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// The first index.
    pub(super) start: i64,
    /// The index after the last; none for the end of the list.
    pub(super) end: Option<i64>,
    /// The distance between two indices.
    pub(super) step: usize,
}

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) left: Vec<PathNode>,
    /// The comparison and its right side; none if the left side must only exist.
    pub(super) comparison: Option<(String, Vec<PathNode>)>,
}

/// Parses a template: text, and parts in braces. A loop without an end ends with the template.
pub(super) fn parse(template: &str) -> Result<Vec<PathNode>, String> {
    let mut parts = Vec::new();
    let mut loops = Vec::new(); // the open ones, each with its list and the parts before it
    let close = |parts: &mut Vec<PathNode>, (list, before)| {
        let parts_of_loop = std::mem::replace(parts, before);
        parts.push(PathNode::Range { list, parts: parts_of_loop });
    };
    let mut rest = template;
    while let Some((text, inside)) = rest.split_once('{') {
        if !text.is_empty() {
            parts.push(PathNode::Text(text.into()));
        }
        let mut action = ActionParser { rest: inside, nodes: Vec::new() };
        action.parse()?;
        rest = action.rest;
        let mut nodes = action.nodes;
        let mut takes = |word: &str| {
            let count = nodes.len();
            nodes.retain(|node| !matches!(node, PathNode::Word(other) if other == word));
            nodes.len() < count
        };
        if takes("range") {
            loops.push((nodes, std::mem::take(&mut parts)));
        } else if takes("end") {
            let last = loops.pop().ok_or_else(|| "not in range, nothing to end".to_owned())?;
            close(&mut parts, last);
        } else {
            parts.push(PathNode::List(nodes));
        }
    }
    if !rest.is_empty() {
        parts.push(PathNode::Text(rest.into()));
    }
    while let Some(last) = loops.pop() {
        close(&mut parts, last);
    }
    Ok(parts)
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
            other => PathNode::Word(other.to_owned()),
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
    let start: i64 = number(0)?.unwrap_or(0);
    let end = match (parts.len(), start) {
        (1, -1) => None,
        (1, start) => Some(start.saturating_add(1)),
        _ => number(1)?,
    };
    let step = usize::try_from(number(2)?.unwrap_or(1)).ok().filter(|step| *step > 0);
    Ok(Slice { start, end, step: step.ok_or_else(|| "step must be > 0".to_owned())? })
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
