//! Evaluation of expressions.

use super::builtins::builtin;
use super::evaluator::{CallArguments, Evaluator};
use super::math;
use super::operators::{binary, check_items, compare, unary};
use super::percent::percent;
use super::set_values::set_of;
use super::syntax::{Argument, ComprehensionKind, Expr, ExprKind, Loop, LoopTarget};
use super::value::{PyEntries, PyError, PyNamespace, PyResult, PyValue};
use std::rc::Rc;
use tarragon_framework::counted;

impl Evaluator<'_> {
    /// Computes the value of an expression.
    pub(super) fn value(&mut self, expr: &Expr) -> PyResult {
        let value = self.nested(|evaluator| {
            let value = evaluator.kind(expr)?;
            // A chain of operators counts each of its results.
            if !matches!(
                expr.kind,
                ExprKind::Name(_) | ExprKind::Constant(_) | ExprKind::Binary(..)
            ) {
                evaluator.spend_on(&value)?;
            }
            Ok(value)
        });
        value.map_err(|e| e.or_at(expr.at))
    }

    fn kind(&mut self, expr: &Expr) -> PyResult {
        match &expr.kind {
            ExprKind::Constant(value) => Ok(value.clone()),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Tuple(items) => Ok(PyValue::tuple(self.values(items)?)),
            ExprKind::List(items) => Ok(PyValue::list(self.values(items)?)),
            ExprKind::Set(items) => {
                let items = self.values(items)?;
                set_of(items, false, self.host)
            }
            ExprKind::Dict(entries) => {
                let mut dict = PyEntries::default();
                for (key, value) in entries {
                    let key = key.as_ref().map(|key| self.value(key)).transpose()?;
                    match (key, self.value(value)?) {
                        (Some(key), value) => dict.insert(key, value, self.host)?,
                        (None, PyValue::Dict(more)) => {
                            for (key, value) in more.entries.borrow().iter() {
                                self.host.spend(1)?;
                                dict.insert(key.clone(), value.clone(), self.host)?;
                            }
                        }
                        (None, other) => {
                            let found = other.a_type();
                            let message = format!("'**' must be followed by a dict, got {found}");
                            return Err(PyError::new(message));
                        }
                    }
                }
                Ok(PyValue::dict(dict))
            }
            ExprKind::Starred(_) => Err(PyError::new("'*' must be within a list or a tuple")),
            ExprKind::Attribute(value, name) => {
                let value = self.value(value)?;
                self.attribute(&value, name)
            }
            ExprKind::Index(value, index) => {
                let value = self.value(value)?;
                let index = self.value(index)?;
                self.item(&value, &index)
            }
            ExprKind::Slice(parts) => {
                let mut values = [PyValue::None, PyValue::None, PyValue::None];
                for (value, part) in values.iter_mut().zip(parts.iter()) {
                    if let Some(part) = part {
                        *value = self.value(part)?;
                    }
                }
                Ok(PyValue::Slice(Rc::new(values)))
            }
            ExprKind::Call(function, arguments) => {
                let function = self.value(function)?;
                let arguments = self.arguments(arguments)?;
                self.call(&function, arguments)
            }
            ExprKind::Unary("not", operand) => Ok(PyValue::Bool(!self.value(operand)?.truth())),
            ExprKind::Unary(operator, operand) => unary(operator, &self.value(operand)?),
            ExprKind::Binary(first, steps) => {
                let mut left = self.value(first)?;
                for step in steps {
                    let right = self.value(&step.operand)?;
                    let result = self.step(step.operator, &left, &right);
                    left = result.map_err(|e| e.or_at(step.at))?;
                }
                Ok(left)
            }
            ExprKind::Logic(operator, operands) => {
                let mut value = PyValue::None;
                for operand in operands {
                    value = self.value(operand)?;
                    if value.truth() == (*operator == "or") {
                        break;
                    }
                }
                Ok(value)
            }
            ExprKind::Compare(first, rest) => {
                let mut left = self.value(first)?;
                for (operator, right) in rest {
                    let right = self.value(right)?;
                    if !compare(operator, &left, &right, self.host)? {
                        return Ok(PyValue::Bool(false));
                    }
                    left = right;
                }
                Ok(PyValue::Bool(true))
            }
            ExprKind::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                if self.value(condition)?.truth() {
                    self.value(yes)
                } else {
                    self.value(no)
                }
            }
            ExprKind::Comprehension(kind, element, value, loops) => {
                let mut found = vec![];
                self.comprehend(loops, element, value.as_deref(), &mut found)?;
                match kind {
                    ComprehensionKind::Dict => {
                        let mut dict = PyEntries::default();
                        for (key, value) in found {
                            dict.insert(key, value.unwrap_or(PyValue::None), self.host)?;
                        }
                        Ok(PyValue::dict(dict))
                    }
                    ComprehensionKind::List => Ok(PyValue::list(
                        found.into_iter().map(|(item, _)| item).collect(),
                    )),
                    ComprehensionKind::Set => {
                        set_of(found.into_iter().map(|(item, _)| item), false, self.host)
                    }
                    ComprehensionKind::Generator => {
                        Ok(PyValue::iterator(found.into_iter().map(|(item, _)| item)))
                    }
                }
            }
        }
    }

    /// Applies a binary operator, and counts the work of making its result.
    fn step(&mut self, operator: &str, left: &PyValue, right: &PyValue) -> PyResult {
        let value = match (operator, left) {
            ("%", PyValue::Str(template)) => {
                percent(template, right, self.host).map(PyValue::str)?
            }
            _ => binary(operator, left, right, self.host)?,
        };
        self.spend_on(&value)?;
        Ok(value)
    }

    fn values(&mut self, exprs: &[Expr]) -> PyResult<Vec<PyValue>> {
        let mut values = vec![];
        for expr in exprs {
            match &expr.kind {
                ExprKind::Starred(items) => {
                    let items = self.value(items)?;
                    values.extend(self.items(&items)?);
                    check_items(values.len())?;
                }
                _ => values.push(self.value(expr)?),
            }
        }
        Ok(values)
    }

    fn name(&mut self, name: &str) -> PyResult {
        check_name(name)?;
        self.host.spend(self.variables.len() / 8)?;
        if let Some((_, value)) = self.variables.iter().rev().find(|(n, _)| n == name) {
            return Ok(value.clone());
        }
        let found = self.host.name(name)?;
        found.ok_or_else(|| PyError::new(format!("name '{name}' is not defined")))
    }

    fn comprehend(
        &mut self,
        loops: &[Loop],
        element: &Expr,
        value: Option<&Expr>,
        found: &mut Vec<(PyValue, Option<PyValue>)>,
    ) -> PyResult<()> {
        let Some((first, rest)) = loops.split_first() else {
            let key = self.value(element)?;
            let value = value.map(|v| self.value(v)).transpose()?;
            found.push((key, value));
            return check_items(found.len());
        };
        let items = self.value(&first.items)?;
        for item in self.items(&items)? {
            let outer = self.variables.len();
            self.bind(&first.target, item)?;
            let mut keep = true;
            for condition in &first.conditions {
                keep = keep && self.value(condition)?.truth();
            }
            if keep {
                self.nested(|evaluator| evaluator.comprehend(rest, element, value, found))?;
            }
            self.variables.truncate(outer);
        }
        Ok(())
    }

    /// Binds the names of a target, which the parser has nested to a bounded depth.
    fn bind(&mut self, target: &LoopTarget, item: PyValue) -> PyResult<()> {
        let targets = match target {
            LoopTarget::Name(name) => {
                self.variables.push((name.clone(), item));
                return Ok(());
            }
            LoopTarget::Parts(targets) => targets,
        };
        let parts = self.items(&item)?;
        if parts.len() != targets.len() {
            return Err(PyError::new(format!(
                "an item must have {parts} to unpack, got {}",
                parts.len(),
                parts = counted(targets.len(), "part")
            )));
        }
        targets
            .iter()
            .zip(parts)
            .try_for_each(|(target, part)| self.bind(target, part))
    }

    fn arguments(&mut self, arguments: &[Argument]) -> PyResult<CallArguments> {
        let mut values = CallArguments::default();
        for argument in arguments {
            match argument {
                Argument::Plain(expr) => values.plain.push(self.value(expr)?),
                Argument::Named(name, expr) => {
                    let value = self.value(expr)?;
                    values.named.push((name.clone(), value));
                }
                Argument::Unpacked(expr) => {
                    let value = self.value(expr)?;
                    values.plain.extend(self.items(&value)?);
                    check_items(values.plain.len())?;
                }
                Argument::UnpackedNames(expr) => {
                    let PyValue::Dict(dict) = self.value(expr)? else {
                        return Err(PyError::new("'**' must be followed by a dict"));
                    };
                    for (key, value) in dict.entries.borrow().iter() {
                        let PyValue::Str(key) = key else {
                            return Err(PyError::new("the names of arguments must be text"));
                        };
                        self.host.spend(1 + key.len() / 16)?;
                        values.named.push((key.to_string(), value.clone()));
                        check_items(values.named.len())?;
                    }
                }
            }
        }
        Ok(values)
    }

    fn attribute(&mut self, value: &PyValue, name: &str) -> PyResult {
        check_name(name)?;
        let missing = || {
            let kind = value.a_type();
            PyError::new(format!("{kind} has no attribute '{name}'"))
        };
        match value {
            PyValue::Namespace(PyNamespace::Math) => math::name(name)
                .ok_or_else(|| PyError::new(format!("name 'math.{name}' is not defined"))),
            PyValue::Namespace(PyNamespace::Python) => match name {
                "True" => Ok(PyValue::Bool(true)),
                "False" => Ok(PyValue::Bool(false)),
                name => builtin(name)
                    .ok_or_else(|| PyError::new(format!("name 'python.{name}' is not defined"))),
            },
            PyValue::Namespace(PyNamespace::Host(namespace)) => {
                let found = self.host.attribute(*namespace, name)?;
                found.ok_or_else(|| PyError::new(format!("name '{name}' is not defined")))
            }
            _ if self.has_method(value, name) => {
                Ok(PyValue::Method(Rc::new((value.clone(), name.into()))))
            }
            PyValue::Dict(dict) if dict.dotted => {
                let key = PyValue::str(name).key(self.host)?;
                let found = dict.entries.borrow().get(&key).cloned();
                let found = found.map(PyValue::dotted);
                found.ok_or_else(|| {
                    let keys = dict.entries.borrow().keys();
                    PyError::new(crate::names::unknown("key", name, strings(&keys)).to_string())
                })
            }
            PyValue::Dict(dict) => {
                let key = PyValue::str(name).key(self.host)?;
                let known = dict.entries.borrow().get(&key).is_some();
                let cure = if known {
                    format!("; write ['{name}'], or make it by xacro.dotify(...)")
                } else {
                    String::new()
                };
                let error = missing();
                Err(PyError::new(error.message + &cure))
            }
            PyValue::Range(range) => match name {
                "start" => Ok(PyValue::Int(range.start)),
                "stop" => Ok(PyValue::Int(range.stop)),
                "step" => Ok(PyValue::Int(range.step)),
                _ => Err(missing()),
            },
            PyValue::Slice(parts) => match name {
                "start" => Ok(parts[0].clone()),
                "stop" => Ok(parts[1].clone()),
                "step" => Ok(parts[2].clone()),
                _ => Err(missing()),
            },
            PyValue::Float(x) if matches!(name, "real" | "imag") => {
                Ok(PyValue::Float(if name == "real" { *x } else { 0.0 }))
            }
            PyValue::Int(_) | PyValue::Bool(_) => match (name, value.as_int()) {
                ("real" | "numerator", Some(i)) => Ok(PyValue::Int(i)),
                ("imag", _) => Ok(PyValue::Int(0)),
                ("denominator", _) => Ok(PyValue::Int(1)),
                _ => Err(missing()),
            },
            _ => Err(missing()),
        }
    }
}

fn strings(keys: &[PyValue]) -> impl Iterator<Item = &str> {
    keys.iter().filter_map(|key| match key {
        PyValue::Str(text) => Some(&**text),
        _ => None,
    })
}

/// Refuses names that reach into the interpreter.
fn check_name(name: &str) -> PyResult<()> {
    if name.starts_with("__") {
        Err(PyError::new(format!(
            "a name must not start with two underscores, got '{name}'"
        )))
    } else {
        Ok(())
    }
}
