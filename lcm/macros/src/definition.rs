//! Parsing LCM type definitions from Rust tokens; the grammar is that of
//! <https://lcm-proj.github.io/lcm/content/lcm-type-ref.html>. Comments are gone by then, and doc
//! comments have become attributes.

use crate::file;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree, token_stream};
use quote::{quote, quote_spanned};
use std::iter::Peekable;

/// A mistake in a definition, and its position.
pub(crate) struct Mistake {
    at: Span,
    pub(crate) what: String,
}

impl Mistake {
    fn new(at: Span, what: impl Into<String>) -> Self {
        let what = what.into();
        Self { at, what }
    }
    /// Prefixes the message with a place.
    fn within(self, place: impl std::fmt::Display) -> Self {
        Self::new(self.at, format!("{place}: {}", self.what))
    }
    pub(crate) fn into_compile_error(self) -> TokenStream {
        let what = format!("LCM type definition: {}", self.what);
        quote_spanned!(self.at => ::core::compile_error!(#what);)
    }
}

type Result<V> = std::result::Result<V, Mistake>;

/// The content of `lcm_types!`.
pub(crate) struct File {
    /// Path of the crate tarragon-lcm at the macro's call site.
    pub(crate) root: TokenStream,
    /// Path of the file that was read, if any.
    pub(crate) path: Option<String>,
    pub(crate) structs: Vec<Struct>,
}

pub(crate) struct Struct {
    pub(crate) attributes: TokenStream,
    pub(crate) name: Ident,
    pub(crate) members: Vec<Member>,
    pub(crate) constants: Vec<Constant>,
}

pub(crate) struct Member {
    pub(crate) attributes: TokenStream,
    pub(crate) kind: Kind,
    pub(crate) name: Ident,
    pub(crate) dimensions: Vec<Dimension>,
}

pub(crate) struct Constant {
    pub(crate) attributes: TokenStream,
    pub(crate) kind: Primitive,
    pub(crate) name: Ident,
    pub(crate) value: TokenStream,
}

pub(crate) enum Kind {
    Primitive(Primitive),
    /// A struct of this name, without its package.
    Struct(Ident),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Primitive {
    /// Name in LCM.
    pub(crate) name: &'static str,
    /// Name in Rust.
    pub(crate) rust: &'static str,
}

const PRIMITIVES: [Primitive; 9] = [
    primitive("int8_t", "i8"),
    primitive("int16_t", "i16"),
    primitive("int32_t", "i32"),
    primitive("int64_t", "i64"),
    primitive("byte", "u8"),
    primitive("float", "f32"),
    primitive("double", "f64"),
    primitive("string", "String"),
    primitive("boolean", "bool"),
];

const fn primitive(name: &'static str, rust: &'static str) -> Primitive {
    Primitive { name, rust }
}

impl Primitive {
    pub(crate) fn is_integer(self) -> bool {
        self.name.starts_with("int")
    }
}

pub(crate) enum Dimension {
    Constant {
        text: String,
        size: usize,
    },
    /// The earlier member of the same struct with this index.
    Variable {
        text: String,
        member: usize,
    },
}

impl Dimension {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Constant { text, .. } | Self::Variable { text, .. } => text,
        }
    }
}

struct Tokens {
    tokens: Peekable<token_stream::IntoIter>,
    /// Position of the last token.
    at: Span,
    /// The last token.
    last: Option<TokenTree>,
}

impl Tokens {
    fn new(tokens: TokenStream, at: Span) -> Self {
        let (tokens, last) = (tokens.into_iter().peekable(), None);
        Self { tokens, at, last }
    }
    fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.next();
        if let Some(token) = &token {
            self.at = token.span();
            self.last = Some(token.clone());
        }
        token
    }
    /// Reports something missing after the last token.
    fn expected_after<V>(&self, what: &str) -> Result<V> {
        let place = match &self.last {
            Some(TokenTree::Group(_)) | None => "here".into(),
            Some(token) => format!("after `{token}`"),
        };
        Err(Mistake::new(self.at, format!("expected {what} {place}")))
    }
    /// Reports an unexpected token.
    fn expected<V>(&mut self, what: &str) -> Result<V> {
        let found = match self.tokens.peek() {
            Some(TokenTree::Group(group)) => match group.delimiter() {
                Delimiter::Brace => "found `{`".into(),
                Delimiter::Bracket => "found `[`".into(),
                _ => "found `(`".into(),
            },
            Some(token) => format!("found `{token}`"),
            None => return self.expected_after(what),
        };
        Err(Mistake::new(self.at, format!("expected {what}, {found}")))
    }
    fn ident(&mut self, what: &str) -> Result<Ident> {
        match self.tokens.peek() {
            Some(TokenTree::Ident(ident)) => {
                let ident = ident.clone();
                self.next();
                Ok(ident)
            }
            _ => self.expected(what),
        }
    }
    fn is_punct(&mut self, punct: char) -> bool {
        matches!(self.tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == punct)
    }
    /// Consumes a punctuation mark if it is next.
    fn punct(&mut self, punct: char) -> bool {
        let is = self.is_punct(punct);
        if is {
            self.next();
        }
        is
    }
    fn group(&mut self, delimiter: Delimiter, what: &str) -> Result<Group> {
        match self.tokens.peek() {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => {
                let group = group.clone();
                self.next();
                Ok(group)
            }
            _ => self.expected(what),
        }
    }
    fn is_group(&mut self, delimiter: Delimiter) -> bool {
        matches!(self.tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
    }
    /// Reads attributes; doc comments are attributes here.
    fn attributes(&mut self) -> Result<TokenStream> {
        let mut attributes = TokenStream::new();
        while self.punct('#') {
            let group = self.group(Delimiter::Bracket, "an attribute in brackets")?;
            attributes.extend(quote!(# #group));
        }
        Ok(attributes)
    }
}

/// Parses `PATH; [package a.b;] struct ...`, or `PATH; file "..."`.
pub(crate) fn parse(input: TokenStream) -> Result<File> {
    let mut tokens = Tokens::new(input, Span::call_site());
    let mut root = TokenStream::new();
    while !tokens.punct(';') {
        match tokens.next() {
            Some(token) => root.extend([token]),
            None => return tokens.expected_after("the path of the crate and a semicolon"),
        }
    }
    let is_file = |t: &TokenTree| matches!(t, TokenTree::Ident(word) if word == "file");
    if tokens.tokens.next_if(is_file).is_none() {
        let (path, structs) = (None, parse_structs(&mut tokens)?);
        return Ok(File {
            root,
            path,
            structs,
        });
    }
    let (path, at) = match tokens.next() {
        Some(TokenTree::Literal(literal)) => (literal.to_string(), literal.span()),
        _ => return tokens.expected_after("the path of a file in quotes"),
    };
    let plain = path.strip_prefix('"').and_then(|p| p.strip_suffix('"'));
    let Some(path) = plain.filter(|p| !p.contains('\\')) else {
        let what = "expected the path of a file in quotes, with `/` between folders";
        return Err(Mistake::new(at, what));
    };
    if let Some(more) = tokens.next() {
        let what = "expected nothing after the path of a file; use the macro once per file";
        return Err(Mistake::new(more.span(), what));
    }
    let (definitions, full) = file::read(path).map_err(|what| Mistake::new(at, what))?;
    // Tokens of a file have no spans of their own: mistakes are reported at its name.
    let structs = parse_structs(&mut Tokens::new(definitions, at));
    let structs = structs.map_err(|mistake| Mistake::new(at, mistake.what).within(&full))?;
    let path = Some(full);
    Ok(File {
        root,
        path,
        structs,
    })
}

/// Parses `[package a.b;] struct ...`.
fn parse_structs(tokens: &mut Tokens) -> Result<Vec<Struct>> {
    let mut structs = vec![];
    loop {
        let attributes = tokens.attributes()?;
        if tokens.tokens.peek().is_none() {
            return Ok(structs);
        }
        let keyword = tokens.ident("`struct` or `package`")?;
        match keyword.to_string().as_str() {
            "package" => {
                while !tokens.punct(';') {
                    if tokens.next().is_none() {
                        return tokens.expected_after("a semicolon");
                    }
                }
            }
            "struct" => {
                let name = tokens.ident("the name of the struct")?;
                let body = tokens.group(Delimiter::Brace, "the members of the struct in braces")?;
                let place = format!("struct {name}");
                let parsed = parse_struct(attributes, name, &body);
                structs.push(parsed.map_err(|mistake| mistake.within(place))?);
            }
            "enum" => {
                return Err(Mistake::new(
                    keyword.span(),
                    "enums are not supported, as in current lcm-gen; use constants in a struct",
                ));
            }
            other => {
                let what = format!("expected `struct` or `package`, found `{other}`");
                return Err(Mistake::new(keyword.span(), what));
            }
        }
    }
}

fn parse_struct(attributes: TokenStream, name: Ident, body: &Group) -> Result<Struct> {
    let mut tokens = Tokens::new(body.stream(), body.span_close());
    let (mut members, mut constants) = (vec![], vec![]);
    loop {
        let attributes = tokens.attributes()?;
        if tokens.tokens.peek().is_none() {
            break;
        }
        let mut kind = tokens.ident("a type")?;
        if kind == "const" {
            parse_constants(attributes, &mut tokens, &mut constants)?;
            continue;
        }
        while tokens.punct('.') {
            kind = tokens.ident("the name of a type after the package")?;
        }
        let kind = match PRIMITIVES.iter().find(|p| kind == p.name) {
            Some(primitive) => Kind::Primitive(*primitive),
            None => Kind::Struct(kind),
        };
        // `double x, y, z;` declares three members.
        loop {
            let member = parse_member(attributes.clone(), &kind, &mut tokens, &members)?;
            members.push(member);
            if !tokens.punct(',') {
                break;
            }
        }
        if !tokens.punct(';') {
            return tokens.expected("a semicolon");
        }
    }
    Ok(Struct {
        attributes,
        name,
        members,
        constants,
    })
}

fn parse_member(
    attributes: TokenStream,
    kind: &Kind,
    tokens: &mut Tokens,
    before: &[Member],
) -> Result<Member> {
    let name = tokens.ident("the name of a member")?;
    if before.iter().any(|m| m.name == name) {
        return Err(Mistake::new(
            name.span(),
            format!("there are two members `{name}`"),
        ));
    }
    let mut dimensions = vec![];
    while tokens.is_group(Delimiter::Bracket) {
        let group = tokens.group(Delimiter::Bracket, "a size in brackets")?;
        dimensions.push(parse_dimension(&group, before)?);
    }
    let kind = match kind {
        Kind::Primitive(p) => Kind::Primitive(*p),
        Kind::Struct(name) => Kind::Struct(name.clone()),
    };
    Ok(Member {
        attributes,
        kind,
        name,
        dimensions,
    })
}

fn parse_dimension(group: &Group, before: &[Member]) -> Result<Dimension> {
    let mut tokens = Tokens::new(group.stream(), group.span_close());
    let token = tokens.next();
    let at = tokens.at;
    if let Some(more) = tokens.next() {
        return Err(Mistake::new(
            more.span(),
            "a size must be one number or one member",
        ));
    }
    match token {
        Some(TokenTree::Literal(size)) => {
            let text = size.to_string();
            match text.parse() {
                Ok(size) if size > 0 => Ok(Dimension::Constant { text, size }),
                _ => Err(Mistake::new(
                    at,
                    format!("a size must be a positive integer, got `{text}`"),
                )),
            }
        }
        Some(TokenTree::Ident(name)) => {
            let text = name.to_string();
            let is_size = |m: &Member| {
                matches!(m.kind, Kind::Primitive(p) if p.is_integer()) && m.dimensions.is_empty()
            };
            match before.iter().position(|m| m.name == name) {
                Some(member) if is_size(&before[member]) => {
                    Ok(Dimension::Variable { text, member })
                }
                Some(_) => Err(Mistake::new(
                    at,
                    format!("the size `{text}` must be a member of an integer type"),
                )),
                None => Err(Mistake::new(
                    at,
                    format!("the size `{text}` must be a member declared before the array"),
                )),
            }
        }
        _ => Err(Mistake::new(at, "expected a number or a member as size")),
    }
}

/// Parses `const int32_t A = 1, B = 2;`, after the `const`.
fn parse_constants(
    attributes: TokenStream,
    tokens: &mut Tokens,
    constants: &mut Vec<Constant>,
) -> Result<()> {
    let kind = tokens.ident("the type of a constant")?;
    let allowed = |p: &&Primitive| p.is_integer() || ["float", "double"].contains(&p.name);
    let Some(kind) = PRIMITIVES.iter().filter(allowed).find(|p| kind == p.name) else {
        return Err(Mistake::new(
            kind.span(),
            "constants must be integers, `float` or `double`",
        ));
    };
    loop {
        let name = tokens.ident("the name of a constant")?;
        if !tokens.punct('=') {
            return tokens.expected("`=`");
        }
        let mut value = TokenStream::new();
        while !tokens.is_punct(',') && !tokens.is_punct(';') {
            match tokens.next() {
                Some(token) => value.extend([token]),
                None => return tokens.expected("a semicolon"),
            }
        }
        constants.push(Constant {
            attributes: attributes.clone(),
            kind: *kind,
            name,
            value,
        });
        if tokens.punct(';') {
            return Ok(());
        }
        tokens.punct(',');
    }
}
