//! Parsing of expressions.

use super::syntax::{Argument, BinaryStep, ComprehensionKind, Expr, ExprKind};
use super::token::{Token, TokenKind, tokens};
use super::value::{PyError, PyResult, PyValue};

/// Maximum depth of nested expressions.
pub(super) const MAX_DEPTH: usize = 100;

/// Parses a text that is one expression.
pub(super) fn parse(text: &str) -> PyResult<Expr> {
    let mut parser = ExprParser {
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
    };
    if parser.peek() == &TokenKind::End {
        return Err(PyError::new("syntax error: the expression is empty").or_at(0));
    }
    let expr = parser.expressions()?;
    match parser.peek() {
        TokenKind::End => Ok(expr),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

pub(super) struct ExprParser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl ExprParser {
    pub(super) fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }
    pub(super) fn at(&self) -> usize {
        self.tokens[self.next].at
    }
    pub(super) fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }
    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(s) if *s == symbol)
    }
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        if found {
            self.advance();
        }
        found
    }
    /// Takes any of the symbols.
    pub(super) fn take_any(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        let found = symbols.iter().copied().find(|s| self.is(s))?;
        self.advance();
        Some(found)
    }
    pub(super) fn require(&mut self, symbol: &str) -> PyResult<()> {
        if self.take(symbol) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{symbol}'")))
        }
    }
    pub(super) fn unexpected(&self, wanted: &str) -> PyError {
        let found = match self.peek() {
            TokenKind::Name(name) => format!("'{name}'"),
            TokenKind::Int(i) => format!("'{i}'"),
            TokenKind::Float(x) => format!("'{x:?}'"),
            TokenKind::Str(_) => "a string".into(),
            TokenKind::Symbol(s @ ("lambda" | "yield" | "await")) => {
                return self.unsupported(&format!("`{s}` is unsupported"));
            }
            TokenKind::Symbol(":=") => {
                return self.unsupported("assignments in expressions are unsupported");
            }
            TokenKind::Symbol(s) => format!("'{s}'"),
            TokenKind::End => "the end".into(),
        };
        PyError::new(format!("syntax error: {wanted} must be here, got {found}")).or_at(self.at())
    }
    fn unsupported(&self, message: &str) -> PyError {
        PyError::new(message).or_at(self.at())
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<V>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> PyResult<V>,
    ) -> PyResult<V> {
        if self.depth == MAX_DEPTH {
            let message = format!("expressions are nested deeper than {MAX_DEPTH}");
            return Err(PyError::limit(message).or_at(self.at()));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses one expression, or several with commas between them as a tuple.
    fn expressions(&mut self) -> PyResult<Expr> {
        let at = self.at();
        let first = self.item()?;
        if !self.is(",") {
            return match first.kind {
                ExprKind::Starred(_) => Err(self.unexpected("',' after '*ITEMS'")),
                _ => Ok(first),
            };
        }
        let mut items = vec![first];
        while self.take(",") {
            if matches!(self.peek(), TokenKind::End | TokenKind::Symbol(")" | "]")) {
                break;
            }
            items.push(self.item()?);
        }
        Ok(Expr {
            at,
            kind: ExprKind::Tuple(items),
        })
    }

    /// Parses an item of a list or a tuple, which may be `*ITEMS`.
    fn item(&mut self) -> PyResult<Expr> {
        let at = self.at();
        if self.take("*") {
            let items = self.nested(|parser| parser.binary(0))?;
            let kind = ExprKind::Starred(items.into());
            Ok(Expr { at, kind })
        } else {
            self.expression()
        }
    }

    fn expression(&mut self) -> PyResult<Expr> {
        self.nested(Self::choice)
    }

    fn choice(&mut self) -> PyResult<Expr> {
        let at = self.at();
        let value = self.or()?;
        if !self.take("if") {
            return Ok(value);
        }
        let condition = self.or()?;
        self.require("else")?;
        let other = self.expression()?;
        Ok(Expr {
            at,
            kind: ExprKind::Choice(Box::new([condition, value, other])),
        })
    }

    pub(super) fn or(&mut self) -> PyResult<Expr> {
        self.logic("or", Self::and)
    }
    fn and(&mut self) -> PyResult<Expr> {
        self.logic("and", Self::not)
    }
    fn logic(
        &mut self,
        operator: &'static str,
        operand: fn(&mut Self) -> PyResult<Expr>,
    ) -> PyResult<Expr> {
        let at = self.at();
        let first = operand(self)?;
        if !self.is(operator) {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.take(operator) {
            operands.push(operand(self)?);
        }
        let kind = ExprKind::Logic(operator, operands);
        Ok(Expr { at, kind })
    }
    fn not(&mut self) -> PyResult<Expr> {
        let at = self.at();
        if self.take("not") {
            let operand = self.nested(Self::not)?;
            Ok(Expr {
                at,
                kind: ExprKind::Unary("not", operand.into()),
            })
        } else {
            self.comparison()
        }
    }

    fn comparison(&mut self) -> PyResult<Expr> {
        let first = self.binary(0)?;
        let mut rest = vec![];
        loop {
            let symbols = ["<=", ">=", "==", "!=", "<", ">", "in", "is"];
            let operator = match self.take_any(&symbols) {
                Some("is") if self.take("not") => "is not",
                Some(operator) => operator,
                None if self.is("not") => {
                    self.advance();
                    self.require("in")?;
                    "not in"
                }
                None => break,
            };
            rest.push((operator, self.binary(0)?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expr {
                at: first.at,
                kind: ExprKind::Compare(first.into(), rest),
            }
        })
    }

    /// Parses operators of a precedence, loosest first, and all that bind closer.
    fn binary(&mut self, level: usize) -> PyResult<Expr> {
        const LEVELS: [&[&str]; 6] = [
            &["|"],
            &["^"],
            &["&"],
            &["<<", ">>"],
            &["+", "-"],
            &["//", "*", "/", "%", "@"],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let first = self.binary(level + 1)?;
        let mut steps = vec![];
        loop {
            let at = self.at();
            let Some(operator) = self.take_any(operators) else {
                break;
            };
            let operand = self.binary(level + 1)?;
            steps.push(BinaryStep {
                at,
                operator,
                operand,
            });
        }
        Ok(if steps.is_empty() {
            first
        } else {
            Expr {
                at: first.at,
                kind: ExprKind::Binary(first.into(), steps),
            }
        })
    }

    fn unary(&mut self) -> PyResult<Expr> {
        let at = self.at();
        let Some(operator) = self.take_any(&["+", "-", "~"]) else {
            return self.power();
        };
        let operand = self.nested(Self::unary)?;
        Ok(Expr {
            at,
            kind: ExprKind::Unary(operator, operand.into()),
        })
    }

    fn power(&mut self) -> PyResult<Expr> {
        let base = self.primary()?;
        let at = self.at();
        if !self.take("**") {
            return Ok(base);
        }
        let step = BinaryStep {
            at,
            operator: "**",
            operand: self.nested(Self::unary)?,
        };
        Ok(Expr {
            at,
            kind: ExprKind::Binary(base.into(), vec![step]),
        })
    }

    fn primary(&mut self) -> PyResult<Expr> {
        let mut value = self.atom()?;
        for _ in 0..MAX_DEPTH {
            let at = self.at();
            let kind = if self.take(".") {
                let TokenKind::Name(name) = self.peek().clone() else {
                    return Err(self.unexpected("a name"));
                };
                self.advance();
                ExprKind::Attribute(value.into(), name)
            } else if self.take("(") {
                ExprKind::Call(value.into(), self.arguments()?)
            } else if self.take("[") {
                let index = self.nested(Self::subscript)?;
                self.require("]")?;
                ExprKind::Index(value.into(), index.into())
            } else {
                return Ok(value);
            };
            value = Expr { at, kind };
        }
        let message = format!("more than {MAX_DEPTH} calls or indices in a row");
        Err(PyError::limit(message).or_at(self.at()))
    }

    fn subscript(&mut self) -> PyResult<Expr> {
        let at = self.at();
        let start = if self.is(":") {
            None
        } else {
            Some(self.expressions()?)
        };
        if !self.take(":") {
            return start.ok_or_else(|| self.unexpected("an index"));
        }
        let part = |parser: &mut Self| {
            if parser.is(":") || parser.is("]") {
                Ok(None)
            } else {
                parser.expression().map(Some)
            }
        };
        let stop = part(self)?;
        let step = if self.take(":") { part(self)? } else { None };
        Ok(Expr {
            at,
            kind: ExprKind::Slice(Box::new([start, stop, step])),
        })
    }

    fn arguments(&mut self) -> PyResult<Vec<Argument>> {
        let mut arguments = vec![];
        while !self.take(")") {
            let at = self.at();
            if self.take("**") {
                arguments.push(Argument::UnpackedNames(self.expression()?));
            } else if self.take("*") {
                arguments.push(Argument::Unpacked(self.expression()?));
            } else {
                let value = self.expression()?;
                if self.is("for") {
                    let loops = self.loops()?;
                    let kind = ComprehensionKind::Generator;
                    let kind = ExprKind::Comprehension(kind, value.into(), None, loops);
                    arguments.push(Argument::Plain(Expr { at, kind }));
                } else if let (ExprKind::Name(name), true) = (&value.kind, self.take("=")) {
                    arguments.push(Argument::Named(name.clone(), self.expression()?));
                } else if arguments.iter().any(|a| matches!(a, Argument::Named(..))) {
                    let message = "syntax error: a plain argument must not follow a named one";
                    return Err(PyError::new(message).or_at(at));
                } else {
                    arguments.push(Argument::Plain(value));
                }
            }
            if !self.take(",") {
                self.require(")")?;
                break;
            }
        }
        Ok(arguments)
    }

    fn atom(&mut self) -> PyResult<Expr> {
        let at = self.at();
        let kind = match self.peek().clone() {
            TokenKind::Name(name) => ExprKind::Name(name),
            TokenKind::Int(i) => ExprKind::Constant(PyValue::Int(i)),
            TokenKind::Float(x) => ExprKind::Constant(PyValue::Float(x)),
            TokenKind::Str(text) => ExprKind::Constant(PyValue::str(text)),
            TokenKind::Symbol("None") => ExprKind::Constant(PyValue::None),
            TokenKind::Symbol("True") => ExprKind::Constant(PyValue::Bool(true)),
            TokenKind::Symbol("False") => ExprKind::Constant(PyValue::Bool(false)),
            TokenKind::Symbol("(") => return self.nested(Self::parenthesized),
            TokenKind::Symbol("[") => return self.nested(Self::list),
            TokenKind::Symbol("{") => return self.nested(Self::dict),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        Ok(Expr { at, kind })
    }

    fn parenthesized(&mut self) -> PyResult<Expr> {
        let at = self.at();
        self.advance();
        if self.take(")") {
            let kind = ExprKind::Tuple(vec![]);
            return Ok(Expr { at, kind });
        }
        let inner = self.expressions()?;
        let inner = if self.is("for") {
            let loops = self.loops()?;
            let kind = ComprehensionKind::Generator;
            let kind = ExprKind::Comprehension(kind, inner.into(), None, loops);
            Expr { at, kind }
        } else {
            inner
        };
        self.require(")")?;
        Ok(inner)
    }

    fn list(&mut self) -> PyResult<Expr> {
        let at = self.at();
        self.advance();
        self.items_until("]", at, None)
    }

    /// Parses the items of a list or a set, of which the first one may have been parsed.
    fn items_until(&mut self, close: &str, at: usize, mut first: Option<Expr>) -> PyResult<Expr> {
        let is_set = close == "}";
        let mut items = vec![];
        while first.is_some() || !self.take(close) {
            items.push(match first.take() {
                Some(first) => first,
                None => self.item()?,
            });
            let is_starred = matches!(items[0].kind, ExprKind::Starred(_));
            if self.is("for") && items.len() == 1 && !is_starred {
                let loops = self.loops()?;
                self.require(close)?;
                let element = items.remove(0).into();
                let kind = if is_set {
                    ComprehensionKind::Set
                } else {
                    ComprehensionKind::List
                };
                let kind = ExprKind::Comprehension(kind, element, None, loops);
                return Ok(Expr { at, kind });
            }
            if !self.take(",") {
                self.require(close)?;
                break;
            }
        }
        let kind = if is_set {
            ExprKind::Set(items)
        } else {
            ExprKind::List(items)
        };
        Ok(Expr { at, kind })
    }

    fn dict(&mut self) -> PyResult<Expr> {
        let at = self.at();
        self.advance();
        let mut entries = vec![];
        while !self.take("}") {
            if self.take("**") {
                entries.push((None, self.nested(|parser| parser.binary(0))?));
                if !self.take(",") {
                    self.require("}")?;
                    break;
                }
                continue;
            }
            let is_first = entries.is_empty();
            if is_first && self.is("*") {
                return self.items_until("}", at, None);
            }
            let key = self.expression()?;
            if is_first && (self.is(",") || self.is("}") || self.is("for")) {
                return self.items_until("}", at, Some(key));
            }
            self.require(":")?;
            let value = self.expression()?;
            if self.is("for") && entries.is_empty() {
                let loops = self.loops()?;
                self.require("}")?;
                let kind = ComprehensionKind::Dict;
                let kind = ExprKind::Comprehension(kind, key.into(), Some(value.into()), loops);
                return Ok(Expr { at, kind });
            }
            entries.push((Some(key), value));
            if !self.take(",") {
                self.require("}")?;
                break;
            }
        }
        let kind = ExprKind::Dict(entries);
        Ok(Expr { at, kind })
    }
}
