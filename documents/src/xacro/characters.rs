//! Characters that XML allows, in texts and in names.

/// Returns the first character of a text that no document of XML may hold.
pub(super) fn forbidden(text: &str) -> Option<char> {
    text.chars().find(|c| match c {
        '\t' | '\n' | '\r' => false,
        c => (*c as u32) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}'),
    })
}

/// Returns whether a name is one of XML, with a prefix or without.
pub(super) fn is_qualified_name(name: &str) -> bool {
    let is_part = |part: &str| part.starts_with(is_name_start) && part.chars().all(is_name_part);
    name.split(':').count() <= 2 && name.split(':').all(is_part)
}

fn is_name_start(c: char) -> bool {
    matches!(
        c,
        '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
            | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
            | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
            | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
            | '\u{10000}'..='\u{effff}'
    )
}

fn is_name_part(c: char) -> bool {
    is_name_start(c)
        || matches!(
            c,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_xml() {
        for name in ["a", "_1", "a:b-c.d", "é", "a\u{b7}", "日本"] {
            assert!(is_qualified_name(name), "{name}");
        }
        for name in ["", "1", "-a", "µ", "a½", "a:", ":a", "a:1", "a:b:c", "a b"] {
            assert!(!is_qualified_name(name), "{name}");
        }
    }

    #[test]
    fn control_characters_are_forbidden() {
        assert_eq!(forbidden("a\t\r\n é"), None);
        assert_eq!(forbidden("a\u{1}\u{2}"), Some('\u{1}'));
        assert_eq!(forbidden("\u{ffff}"), Some('\u{ffff}'));
    }
}
