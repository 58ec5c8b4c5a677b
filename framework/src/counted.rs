//! Numbers of things in messages.

use std::fmt::Display;

/// Returns a number with its noun: "1 face", "2 faces", "0 vertices".
///
/// ```
/// use tarragon_framework::counted;
/// assert_eq!(counted(1, "warning"), "1 warning");
/// assert_eq!(counted(2, "open edge"), "2 open edges");
/// assert_eq!(counted(0, "vertex"), "0 vertices");
/// assert_eq!(counted(3, "body"), "3 bodies");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    if count == N::from(1) {
        format!("1 {noun}")
    } else {
        format!("{count} {}", plural(noun))
    }
}

fn plural(noun: &str) -> String {
    const IRREGULAR: [(&str, &str); 3] = [
        ("vertex", "vertices"),
        ("tetrahedron", "tetrahedra"),
        ("degree of freedom", "degrees of freedom"),
    ];
    for (one, many) in IRREGULAR {
        if let Some(start) = noun.strip_suffix(one) {
            return format!("{start}{many}");
        }
    }
    let hisses = ["s", "x", "sh", "ch"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        _ if hisses => format!("{noun}es"),
        Some(start) if !start.ends_with(['a', 'e', 'o', 'u']) => format!("{start}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        for (noun, many) in [
            ("face", "2 faces"),
            ("boundary edge", "2 boundary edges"),
            ("entry", "2 entries"),
            ("key", "2 keys"),
            ("mesh", "2 meshes"),
            ("box", "2 boxes"),
            ("tetrahedron", "2 tetrahedra"),
        ] {
            assert_eq!(counted(2, noun), many);
            assert_eq!(counted(1, noun), format!("1 {noun}"));
        }
    }
}
