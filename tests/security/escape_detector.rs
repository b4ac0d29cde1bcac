//! A text with every kind of terminal control sequence, and the check that none of them was printed.

/// The mark that finds the text in an output.
pub(crate) const MARK: &str = "mark-me";

/// Starts a line of the output if a newline of the text was printed.
const FORGED: &str = "FORGED";

/// Returns a text with each control character, bidi override and invisible character, and all escape sequences.
pub(crate) fn text() -> String {
    let controls: String =
        ('\0'..='\x1f').chain('\x7f'..='\u{9f}').filter(|c| !"\n\r".contains(*c)).collect();
    let unseen: String = MISLEADING.iter().flat_map(|&(first, last)| [first, last]).collect();
    let sequences = [
        "\x1b[2J\x1b[5m",                                      // CSI
        "\u{9b}5m",                                            // its C1 form
        "\x1b]0;title\x07",                                    // OSC: a title
        "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",         // a link
        "\x1b]52;c;cm0gLXJmIC8=\x07",                          // the clipboard
        "\u{9d}52;c;eA==\u{9c}",                               // its C1 form
        "\x1bPtmux;x\x1b\\\u{90}q\u{9c}",                      // DCS
        "\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\\x1bc\x1b7", // APC, PM, SOS, reset, cursor
    ];
    // A shell would execute this in a pasted command.
    let shell = "; touch x $(touch x) `touch x` | sh && touch x '\"";
    format!("{shell}{controls}{unseen}{}\r{FORGED}\n{FORGED}\r\n{FORGED}", sequences.concat())
}

/// Ranges of invisible and bidirectional characters. The list is independent of the list of the program, so that a test
/// fails if that one is incomplete.
const MISLEADING: [(char, char); 13] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{e0000}', '\u{e007f}'),
];

/// The escape sequences that the program writes itself.
const OWN_SEQUENCES: [&str; 8] = ["1", "2", "31", "32", "33", "36", "0", ""];

/// Returns the first control or invisible character that was printed, if there is one.
pub(crate) fn control_in(printed: &str) -> Option<String> {
    let text = without_own_sequences(printed);
    let is_bad = |c: char| {
        (c.is_control() && c != '\n')
            || !c.is_ascii() && MISLEADING.iter().any(|(first, last)| (*first..=*last).contains(&c))
    };
    let at = text.find(is_bad)?;
    let before: String = text[..at].chars().rev().take(40).collect();
    Some(format!("{:?} after {:?}", text[at..].chars().next(), before.chars().rev().collect::<String>()))
}

/// Returns the line that a newline of the text started, if there is one.
pub(crate) fn forged_in(printed: &str) -> Option<String> {
    without_own_sequences(printed)
        .lines()
        .find(|line| line.starts_with(FORGED))
        .map(|line| format!("a forged line: {line}"))
}

/// Removes the program's own colours and cursor movements; other escape sequences stay.
fn without_own_sequences(printed: &str) -> String {
    let mut text = String::new();
    let mut rest = printed;
    while let Some(at) = rest.find(['\x1b', '\r']) {
        text += &rest[..at];
        let (kept, remaining) = split_own_sequence(&rest[at..]);
        text += kept;
        rest = remaining;
    }
    text + rest
}

/// Splits a text after its first escape sequence or character. The first part is empty for a sequence of the program.
fn split_own_sequence(text: &str) -> (&str, &str) {
    let moves = text.strip_prefix('\r').filter(|rest| rest.starts_with("\x1b[")).unwrap_or(text);
    if let Some(sequence) = moves.strip_prefix("\x1b[") {
        let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(sequence.len());
        let (digits, rest) = sequence.split_at(end);
        let is_own = match rest.chars().next() {
            Some('m') => OWN_SEQUENCES.contains(&digits),
            Some('K' | 'J') => digits.is_empty(),
            Some('A') => true,
            _ => false,
        };
        if is_own {
            return ("", &rest[1..]);
        }
    }
    text.split_at(text.chars().next().map_or(0, char::len_utf8))
}

#[test]
fn the_detector_finds_raw_sequences_only() {
    for wrong in ["\x1b[2J", "\x1b[5m", "a\rb", "\u{9b}m", "\u{202e}", "\x1b]52;c;x", "tab\t", "\x1b"] {
        assert!(control_in(wrong).is_some(), "{wrong:?}");
    }
    for fine in ["", "a\nb\n", "\x1b[31mx\x1b[0m", "\r\x1b[3A\x1b[Kx\n\x1b[J", "^[[2J \\nFORGED"] {
        assert_eq!((control_in(fine), forged_in(fine)), (None, None), "{fine:?}");
    }
    assert!(forged_in("x\nFORGED").is_some());
}
