//! Limits, damping and default positions of joints.
//!
//! A failed change leaves the joint as it was, and its error gives the reason only. The caller adds
//! the joint's name, which a plant may have to scope.

use super::checks::check_at_least_zero;
use super::joint::Joint;
use super::joint_kind::Limited;

impl Joint {
    pub(crate) fn set_limits(
        &mut self,
        of: Limited,
        lower: Vec<f64>,
        upper: Vec<f64>,
    ) -> Result<(), String> {
        let (nq, nv) = (self.num_positions(), self.num_velocities());
        let (name, n, limits) = match of {
            Limited::Position => ("position", nq, &mut self.position_limits),
            Limited::Velocity => ("velocity", nv, &mut self.velocity_limits),
            Limited::Acceleration => ("acceleration", nv, &mut self.acceleration_limits),
        };
        check_limits(name, n, &lower, &upper)?;
        *limits = (lower, upper);
        Ok(())
    }
    pub(crate) fn set_dampings(&mut self, damping: Vec<f64>) -> Result<(), String> {
        let (n, found) = (self.num_velocities(), damping.len());
        if found != n {
            return Err(format!(
                "the number of damping values must be {n}, got {found}"
            ));
        }
        for value in &damping {
            check_at_least_zero("damping", *value)?;
        }
        self.damping = damping;
        Ok(())
    }

    /// Checks default positions before they are set.
    pub(crate) fn check_default_positions(&self, q: &[f64]) -> Result<(), String> {
        let (n, found) = (self.num_positions(), q.len());
        if found != n {
            return Err(format!(
                "the number of default positions must be {n}, got {found}"
            ));
        }
        if q.iter().any(|x| !x.is_finite()) {
            return Err(format!("the default positions must be finite, got {q:?}"));
        }
        if self.kind.has_quaternion() && q[..4].iter().all(|x| *x == 0.0) {
            return Err(
                "the default quaternion must not be zero; set a rotation, such as [1, 0, 0, 0]"
                    .into(),
            );
        }
        Ok(())
    }
}

fn check_limits(what: &str, n: usize, lower: &[f64], upper: &[f64]) -> Result<(), String> {
    if lower.len() != n || upper.len() != n {
        return Err(format!(
            "the number of {what} limits must be {n} lower and {n} upper, got {} and {}",
            lower.len(),
            upper.len()
        ));
    }
    let bad = |(l, u): &(&f64, &f64)| l.is_nan() || u.is_nan() || l > u;
    match lower.iter().zip(upper).find(bad) {
        None => Ok(()),
        Some((l, u)) => Err(format!(
            "the lower {what} limit must not be above the upper one, got [{l:?}, {u:?}]"
        )),
    }
}
