//! Characters that control a terminal or are invisible.

/// Whether a character can mislead a terminal or a reader.
///
/// These are C0 and C1 controls, delete, line and paragraph separators, bidirectional formatting,
/// and every `Default_Ignorable_Code_Point` of Unicode: zero-width characters, fillers, tags and
/// variation selectors. A whole text can be hidden in those. The joiners inside emoji and some
/// scripts are among them; in names and messages from a cluster that is acceptable.
#[must_use]
pub fn is_misleading(character: char) -> bool {
    !matches!(character, ' '..='~') // almost every character: tested alone, before the list
        && matches!(character,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
