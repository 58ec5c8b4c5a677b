//! Pieces of a text: plain, `${expression}`, `$(command)` and escaped `$$`.

/// A piece of a text and its offset in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextPiece<'t> {
    pub(super) at: usize,
    pub(super) kind: PieceKind,
    /// Content, without `${` and `}` or `$(` and `)`.
    pub(super) text: &'t str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Plain,
    Expression,
    Command,
}

/// Splits a text; the error is the offset in characters of a `$` that starts none of these.
pub(super) fn pieces(text: &str) -> Result<Vec<TextPiece<'_>>, usize> {
    let mut found = vec![];
    let (mut rest, mut at) = (text, 0);
    while !rest.is_empty() {
        let (kind, length, inner) = piece(rest).ok_or(at)?;
        found.push(TextPiece {
            at: at + rest[..inner.start].chars().count(),
            kind,
            text: &rest[inner],
        });
        at += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(found)
}

/// Returns the kind, the length and the content of the first piece.
fn piece(rest: &str) -> Option<(PieceKind, usize, std::ops::Range<usize>)> {
    let plain = |length: usize| Some((PieceKind::Plain, length, 0..length));
    if !rest.starts_with('$') {
        return plain(rest.find('$').unwrap_or(rest.len()));
    }
    let dollars = rest.len() - rest.trim_start_matches('$').len();
    let opens = rest[dollars..].starts_with(['{', '(']);
    if dollars > 1 {
        // Of several dollar signs, one is the escape of what follows.
        return opens.then_some((PieceKind::Plain, dollars + 1, 1..dollars + 1));
    }
    for (open, close, kind) in [
        ("${", '}', PieceKind::Expression),
        ("$(", ')', PieceKind::Command),
    ] {
        if rest.starts_with(open) {
            let end = rest.find(close)?;
            return Some((kind, end + 1, 2..end));
        }
    }
    let length = rest[1..]
        .find(['{', '(', '$'])
        .map_or(rest.len(), |i| i + 1);
    if length > 1 || rest.len() == 1 {
        plain(length)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_by_xacro() {
        let kinds = |text| -> Vec<(PieceKind, String)> {
            let found = pieces(text).unwrap();
            found.iter().map(|p| (p.kind, p.text.to_string())).collect()
        };
        let plain = |t: &str| (PieceKind::Plain, t.to_string());
        let expression = |t: &str| (PieceKind::Expression, t.to_string());
        assert_eq!(kinds("a${b}c"), [plain("a"), expression("b"), plain("c")]);
        assert_eq!(kinds("$${b}"), [plain("${"), plain("b}")]);
        assert_eq!(kinds("$$$(b)"), [plain("$$("), plain("b)")]);
        assert_eq!(kinds("5 $"), [plain("5 "), plain("$")]);
        assert_eq!(kinds("$a $b"), [plain("$a "), plain("$b")]);
        assert_eq!(kinds("${$(arg x)}"), [expression("$(arg x)")]);
        let command = (PieceKind::Command, "find p".to_string());
        assert_eq!(kinds("$(find p)/x"), [command, plain("/x")]);
        assert_eq!(pieces("ä${b").unwrap_err(), 1);
        assert_eq!(pieces("$$a").unwrap_err(), 0);
        assert_eq!(pieces("é${b}").unwrap()[1].at, 3);
    }
}
