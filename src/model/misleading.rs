//! Characters that a terminal obeys, or that an eye does not see.

/// Whether a character could mislead a terminal or a reader: C0 and C1 controls, delete, line and
/// paragraph separators, bidirectional formatting, and every character that Unicode lets a program leave
/// undrawn (`Default_Ignorable_Code_Point`): zero-width ones, fillers, tags and variation selectors, in
/// which a whole text can be hidden. The joiners and selectors inside emoji and of scripts that need
/// them are among those: in names and messages of a cluster, hidden is worse than ugly.
#[must_use]
pub fn is_misleading(character: char) -> bool {
    matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
