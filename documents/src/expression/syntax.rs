//! Syntax trees of expressions.

use super::value::PyValue;

/// An expression with its offset in characters.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) at: usize,
    pub(super) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Constant(PyValue),
    Name(String),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    /// Keys and values; without a key, the value is a dictionary whose entries are added.
    Dict(Vec<(Option<Expr>, Expr)>),
    /// `*ITEMS` among the items of a list or a tuple.
    Starred(Box<Expr>),
    Attribute(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<[Option<Expr>; 3]>),
    Call(Box<Expr>, Vec<Argument>),
    Unary(&'static str, Box<Expr>),
    /// A chain of binary operators, applied from left to right.
    Binary(Box<Expr>, Vec<BinaryStep>),
    /// Operands of `and` or of `or`.
    Logic(&'static str, Vec<Expr>),
    /// A chain of comparisons.
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    /// Condition, value if true, value if false.
    Choice(Box<[Expr; 3]>),
    /// Element of a list or a set, or key and value of a dictionary, for all members of the loops.
    Comprehension(ComprehensionKind, Box<Expr>, Option<Box<Expr>>, Vec<Loop>),
}

/// A binary operator with its offset in characters, and the operand on its right.
#[derive(Clone, Debug)]
pub(super) struct BinaryStep {
    pub(super) at: usize,
    pub(super) operator: &'static str,
    pub(super) operand: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComprehensionKind {
    List,
    Set,
    Dict,
    Generator,
}

/// `for TARGET in ITEMS if CONDITION ...`.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) target: LoopTarget,
    pub(super) items: Expr,
    pub(super) conditions: Vec<Expr>,
}

/// Names that the items of a loop are bound to.
#[derive(Clone, Debug)]
pub(super) enum LoopTarget {
    Name(String),
    /// Targets into which each item is unpacked.
    Parts(Vec<LoopTarget>),
}

/// Argument of a call.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    Plain(Expr),
    Named(String, Expr),
    Unpacked(Expr),
    UnpackedNames(Expr),
}
