//! Tokens of expressions in Python's syntax.

use super::value::{PyError, PyResult};
use std::iter::Peekable;
use std::str::Chars;

/// A token with its offset in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name(String),
    Int(i128),
    Float(f64),
    Str(String),
    /// An operator, a bracket or a word that Python reserves.
    Symbol(&'static str),
    End,
}

/// Words that Python reserves, which no name may be.
pub(crate) const RESERVED: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Operators and brackets, longer ones before those that they start with.
const SYMBOLS: [&str; 47] = [
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "+", "-", "*", "/", "%", "(", ")", "[",
    "]", "{", "}", ",", ":", ".", "<", ">", "=", "&", "|", "^", "~", "@", ";",
];

/// Returns whether a name may be one of Python's.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let start = chars.next().is_some_and(is_name_start);
    start && chars.all(is_name_part) && !RESERVED.contains(&name)
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}
fn is_name_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Splits an expression into tokens.
pub(super) fn tokens(text: &str) -> PyResult<Vec<Token>> {
    let mut lexer = Lexer {
        chars: text.chars().peekable(),
        at: 0,
        depth: 0,
        found: vec![],
    };
    lexer.read()?;
    Ok(lexer.found)
}

struct Lexer<'t> {
    chars: Peekable<Chars<'t>>,
    at: usize,
    /// Number of open brackets; within them, line breaks are spaces.
    depth: usize,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        self.at += 1;
        self.chars.next()
    }
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().copied()
    }
    fn rest(&self) -> String {
        self.chars.clone().take(3).collect()
    }
    fn push(&mut self, at: usize, kind: TokenKind) {
        self.found.push(Token { at, kind });
    }

    fn read(&mut self) -> PyResult<()> {
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                self.push(at, TokenKind::End);
                return Ok(());
            };
            if matches!(c, ' ' | '\t' | '\u{c}') || (self.depth > 0 && matches!(c, '\n' | '\r')) {
                self.next();
            } else if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if is_name_start(c) {
                self.word(at).map_err(|e| e.or_at(at))?;
            } else if c.is_ascii_digit() || (c == '.' && self.second_is_digit()) {
                let number = self.number().map_err(|e| e.or_at(at))?;
                self.push(at, number);
            } else if c == '"' || c == '\'' {
                let text = self.string(false).map_err(|e| e.or_at(at))?;
                self.push_string(at, text);
            } else {
                self.symbol(at)?;
            }
        }
    }

    fn second_is_digit(&self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next();
        ahead.next().is_some_and(|c| c.is_ascii_digit())
    }

    fn symbol(&mut self, at: usize) -> PyResult<()> {
        let rest = self.rest();
        let Some(symbol) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) else {
            let found = rest.chars().next().unwrap_or(' ');
            let message = match found {
                '\n' | '\r' => "a line break must be within brackets".into(),
                c => format!("syntax error: '{c}' is no part of an expression"),
            };
            return Err(PyError::new(message).or_at(at));
        };
        for _ in 0..symbol.len() {
            self.next();
        }
        match *symbol {
            "(" | "[" | "{" => self.depth += 1,
            ")" | "]" | "}" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.push(at, TokenKind::Symbol(symbol));
        Ok(())
    }

    /// Reads a name, a reserved word, or a string with a prefix.
    fn word(&mut self, at: usize) -> PyResult<()> {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| is_name_part(*c)) {
            word.push(c);
            self.next();
        }
        let reserved = RESERVED.iter().find(|r| **r == word);
        if reserved.is_none() && matches!(self.peek(), Some('"' | '\'')) {
            return match &*word.to_lowercase() {
                "r" => {
                    let text = self.string(true)?;
                    self.push_string(at, text);
                    Ok(())
                }
                "u" => {
                    let text = self.string(false)?;
                    self.push_string(at, text);
                    Ok(())
                }
                "f" | "fr" | "rf" => Err(PyError::new(
                    "f-strings are unsupported; use `+`, `%` or `.format`",
                )),
                "b" | "br" | "rb" => Err(PyError::new("bytes are unsupported")),
                _ => Err(PyError::new("syntax error: a string follows a name")),
            };
        }
        let kind = match reserved {
            Some(reserved) => TokenKind::Symbol(reserved),
            None => TokenKind::Name(word),
        };
        self.push(at, kind);
        Ok(())
    }

    /// Adds a string; adjacent strings are one.
    fn push_string(&mut self, at: usize, text: String) {
        match self.found.last_mut() {
            Some(Token {
                kind: TokenKind::Str(last),
                ..
            }) => last.push_str(&text),
            _ => self.push(at, TokenKind::Str(text)),
        }
    }

    fn digits(&mut self, text: &mut String) -> PyResult<()> {
        let mut last_is_digit = false;
        while let Some(c) = self.peek() {
            match c {
                '_' if last_is_digit => last_is_digit = false,
                c if c.is_ascii_digit() => {
                    text.push(c);
                    last_is_digit = true;
                }
                _ => break,
            }
            self.next();
        }
        if last_is_digit || text.is_empty() {
            Ok(())
        } else {
            Err(PyError::new("syntax error: a number must end with a digit"))
        }
    }

    fn number(&mut self) -> PyResult<TokenKind> {
        let rest = self.rest().to_lowercase();
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if rest.starts_with(prefix) {
                return self.based(radix);
            }
        }
        let mut text = String::new();
        self.digits(&mut text)?;
        let mut is_float = false;
        if self.peek() == Some('.') {
            self.next();
            is_float = true;
            text.push('.');
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                self.digits(&mut text)?;
            }
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let mut ahead = self.chars.clone();
            ahead.next();
            let mut sign = ahead.next();
            if matches!(sign, Some('+' | '-')) {
                sign = ahead.next();
            }
            if sign.is_some_and(|c| c.is_ascii_digit()) {
                is_float = true;
                text.push('e');
                self.next();
                while let Some(c) = self.peek().filter(|c| matches!(c, '+' | '-')) {
                    text.push(c);
                    self.next();
                }
                let mut exponent = String::new();
                self.digits(&mut exponent)?;
                text.push_str(&exponent);
            }
        }
        if self.peek().is_some_and(|c| matches!(c, 'j' | 'J')) {
            return Err(PyError::new("complex numbers are unsupported"));
        }
        if self.peek().is_some_and(is_name_start) {
            return Err(PyError::new(format!(
                "syntax error: '{text}' is followed by a letter; an operator is missing"
            )));
        }
        if is_float {
            let value = text
                .parse::<f64>()
                .map_err(|_| PyError::new(format!("syntax error: '{text}' must be a number")))?;
            return Ok(TokenKind::Float(value));
        }
        if text.starts_with('0') && text.chars().any(|c| c != '0') {
            return Err(PyError::new(format!(
                "syntax error: a whole number must not start with 0, got '{text}'"
            )));
        }
        let value = text.parse::<i128>();
        value.map(TokenKind::Int).map_err(|_| too_big(&text))
    }

    fn based(&mut self, radix: u32) -> PyResult<TokenKind> {
        self.next();
        self.next();
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_alphanumeric() || *c == '_') {
            if c != '_' {
                text.push(c);
            }
            self.next();
        }
        if text.is_empty() || !text.chars().all(|c| c.is_digit(radix)) {
            return Err(PyError::new(format!(
                "syntax error: '{text}' must have digits of base {radix}"
            )));
        }
        let value = i128::from_str_radix(&text, radix);
        value.map(TokenKind::Int).map_err(|_| too_big(&text))
    }

    fn string(&mut self, raw: bool) -> PyResult<String> {
        let quote = self.next().unwrap_or('"');
        let mut ahead = self.chars.clone();
        let triple = ahead.next() == Some(quote) && ahead.next() == Some(quote);
        if triple {
            self.next();
            self.next();
        }
        let open = || PyError::new(format!("syntax error: the string must end with {quote}"));
        let mut text = String::new();
        loop {
            let c = self.next().ok_or_else(open)?;
            if c == quote {
                let mut ahead = self.chars.clone();
                if !triple {
                    return Ok(text);
                }
                if ahead.next() == Some(quote) && ahead.next() == Some(quote) {
                    self.next();
                    self.next();
                    return Ok(text);
                }
                text.push(c);
            } else if c == '\\' {
                let escaped = self.next().ok_or_else(open)?;
                if raw {
                    text.extend(['\\', escaped]);
                } else {
                    self.escape(escaped, &mut text)?;
                }
            } else if c == '\n' && !triple {
                return Err(open());
            } else {
                text.push(c);
            }
        }
    }

    fn escape(&mut self, escaped: char, text: &mut String) -> PyResult<()> {
        let plain = match escaped {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            '\\' | '\'' | '"' => Some(escaped),
            _ => None,
        };
        if let Some(plain) = plain {
            text.push(plain);
            return Ok(());
        }
        let digits = match escaped {
            '\n' => return Ok(()),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '0'..='7' => {
                let mut code = escaped.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + digit;
                    self.next();
                }
                text.extend(char::from_u32(code));
                return Ok(());
            }
            'N' => return Err(PyError::new("characters by name are unsupported")),
            other => {
                text.extend(['\\', other]);
                return Ok(());
            }
        };
        let mut code = 0;
        for _ in 0..digits {
            let digit = self.next().and_then(|c| c.to_digit(16)).ok_or_else(|| {
                PyError::new(format!(
                    "syntax error: '\\{escaped}' must be followed by {digits} hexadecimal digits"
                ))
            })?;
            code = code * 16 + digit;
        }
        match char::from_u32(code) {
            Some(c) => text.push(c),
            None => return Err(PyError::new(format!("there is no character {code:#x}"))),
        }
        Ok(())
    }
}

fn too_big(text: &str) -> PyError {
    PyError::limit(format!(
        "a whole number must have at most 127 bits, got one of {} digits",
        text.len()
    ))
}
