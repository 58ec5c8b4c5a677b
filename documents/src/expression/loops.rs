//! Parsing of the loops of comprehensions.

use super::parse::{ExprParser, MAX_DEPTH};
use super::syntax::{Loop, LoopTarget};
use super::token::TokenKind;
use super::value::{PyError, PyResult};

impl ExprParser {
    /// Parses `for TARGET in ITEMS if CONDITION ...`, any number of times.
    pub(super) fn loops(&mut self) -> PyResult<Vec<Loop>> {
        let mut loops = vec![];
        while self.take("for") {
            if loops.len() == MAX_DEPTH {
                let message = format!("a comprehension must have at most {MAX_DEPTH} loops");
                return Err(PyError::limit(message).or_at(self.at()));
            }
            let target = self.targets()?;
            self.require("in")?;
            let items = self.nested(Self::or)?;
            let mut conditions = vec![];
            while self.take("if") {
                conditions.push(self.nested(Self::or)?);
            }
            loops.push(Loop {
                target,
                items,
                conditions,
            });
        }
        Ok(loops)
    }

    /// Parses one target, or several with commas between them.
    fn targets(&mut self) -> PyResult<LoopTarget> {
        let first = self.target()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut targets = vec![first];
        while self.take(",") {
            if !matches!(
                self.peek(),
                TokenKind::Name(_) | TokenKind::Symbol("(" | "[")
            ) {
                break;
            }
            targets.push(self.target()?);
        }
        Ok(LoopTarget::Parts(targets))
    }

    fn target(&mut self) -> PyResult<LoopTarget> {
        if let TokenKind::Name(name) = self.peek().clone() {
            self.advance();
            return Ok(LoopTarget::Name(name));
        }
        let Some(open) = self.take_any(&["(", "["]) else {
            return Err(self.unexpected("a name"));
        };
        let target = self.nested(Self::targets)?;
        self.require(if open == "(" { ")" } else { "]" })?;
        Ok(match (open, target) {
            ("[", LoopTarget::Name(name)) => LoopTarget::Parts(vec![LoopTarget::Name(name)]),
            (_, target) => target,
        })
    }
}
