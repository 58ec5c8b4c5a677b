//! Copying values from one context to another, also over another scalar.

use super::Context;
use crate::error::WiringError;
use crate::{Error, Result, Scalar};

impl<T: Scalar> Context<T> {
    /// Copies time, state and parameters from a context of the same diagram, over this or another
    /// scalar. Numbers lose their derivatives. Fixed inputs are not copied, nor are values that
    /// belong to their context, such as a log.
    ///
    /// # Errors
    /// Returns an error if the diagrams differ, or if a value depends on the scalar in an
    /// unsupported way (it is neither a number, nor a vector of numbers, nor of one type for all
    /// scalars). In that case nothing changes.
    pub fn set_time_state_and_parameters_from<U: Scalar>(
        &mut self,
        other: &Context<U>,
    ) -> Result<()> {
        self.check_same_diagram(other)?;
        let (mut xa, mut parameters) = (vec![], vec![]);
        for (leaf, node) in self.plan.leaves.iter().zip(&self.plan.nodes) {
            let fail = |what: &str, i: usize| {
                Error::unsupported(format!(
                    "{what} {i} of system '{}' cannot be converted to another scalar; set it by hand",
                    leaf.path
                ))
            };
            for i in 0..leaf.xa0.len() {
                let like = self.data.xa[node.xa0 + i].type_id();
                let value = other.data.xa[node.xa0 + i].converted(like);
                xa.push(value.ok_or_else(|| fail("abstract state", i))?);
            }
            for (i, declared) in leaf.parameters.iter().enumerate() {
                let at = node.parameter0 + i;
                let (from, to) = (&other.data.parameters[at], &self.data.parameters[at]);
                parameters.push(if declared.per_context {
                    to.clone()
                } else {
                    let value = from.converted(to.type_id());
                    value.ok_or_else(|| fail("parameter", i))?
                });
            }
        }
        let values = |x: &[U]| x.iter().map(|x| T::from(x.re())).collect();
        self.data.time = T::from(other.data.time.re());
        self.data.accuracy = other.data.accuracy;
        self.data.xc = values(&other.data.xc);
        self.data.xd = values(&other.data.xd);
        (self.data.xa, self.data.parameters) = (xa, parameters);
        self.invalidate_all();
        Ok(())
    }

    /// Copies the fixed inputs from a context of the same diagram, over this or another scalar.
    ///
    /// # Errors
    /// Same as [`Context::set_time_state_and_parameters_from`].
    pub fn fix_inputs_from<U: Scalar>(&mut self, other: &Context<U>) -> Result<()> {
        self.check_same_diagram(other)?;
        let mut fixed = vec![];
        for (system, (leaf, node)) in self.plan.leaves.iter().zip(&self.plan.nodes).enumerate() {
            for (i, input) in leaf.inputs.iter().enumerate() {
                let Some(from) = &other.data.fixed[node.input0 + i] else {
                    fixed.push(None);
                    continue;
                };
                let value = from.converted(input.type_id).ok_or_else(|| {
                    let port = self.plan.input_name(system, i);
                    let why = "its fixed value cannot be converted to another scalar".into();
                    Error::from(WiringError::FixedInput { port, why })
                })?;
                fixed.push(Some(value));
            }
        }
        self.data.fixed = fixed;
        self.invalidate_all();
        Ok(())
    }

    fn check_same_diagram<U: Scalar>(&self, other: &Context<U>) -> Result<()> {
        if other.plan.id == self.plan.id {
            return Ok(());
        }
        Err(WiringError::ForeignHandle {
            what: "context".into(),
            owner: other.plan.id.to_string(),
            used_with: format!("a context of {}", self.plan.id),
        }
        .into())
    }
}
