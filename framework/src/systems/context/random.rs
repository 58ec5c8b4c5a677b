//! Random state and parameters.

use super::Context;
use crate::random::RandomGenerator;
use crate::systems::data::StateCopy;
use crate::systems::event::{ParameterUpdate, StateUpdate};
use crate::{Result, Scalar};

/// Treatment of values that no system draws.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Default,
    Keep,
}

impl<T: Scalar> Context<T> {
    /// Draws parameters, then state; see [`Context::set_random_parameters`] and
    /// [`Context::set_random_state`] (Drake's `SetRandomContext`).
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::random::{RandomDistribution, RandomGenerator};
    ///
    /// /// Starts somewhere between 0 and 1.
    /// struct Start;
    /// impl<T: Scalar> LeafSystem<T> for Start {
    ///     type Ports = ContinuousState<Vec<T>>;
    ///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
    ///         d.random_state(|_, _, generator, x| {
    ///             x.xc_mut()[0] = T::from(generator.sample(RandomDistribution::Uniform));
    ///             Ok(())
    ///         });
    ///         d.continuous_state((1, 0, 0), &[T::zero()], Dep::Nothing, |_, _, _| Ok(()))
    ///     }
    /// }
    ///
    /// let mut b = DiagramBuilder::new();
    /// let start = b.add("start", Start);
    /// let mut ctx = b.build()?.default_context();
    /// ctx.set_random(&mut RandomGenerator::new(1))?;
    /// assert!((0.0..1.0).contains(&ctx.xc(*start.ports())?[0]));
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the first error of a closure that draws; in that case nothing changes.
    pub fn set_random(&mut self, generator: &mut RandomGenerator) -> Result<()> {
        self.draw(generator, Others::Default)
    }

    /// Same as [`Context::set_random`], but values that no system draws stay unchanged.
    pub(crate) fn draw_declared(&mut self, generator: &mut RandomGenerator) -> Result<()> {
        self.draw(generator, Others::Keep)
    }

    fn draw(&mut self, generator: &mut RandomGenerator, others: Others) -> Result<()> {
        let before = self.data.parameters.clone();
        self.draw_parameters(generator, others)?;
        self.draw_state(generator, others).inspect_err(|_| {
            self.data.parameters = before;
            self.invalidate_all();
        })
    }

    /// Draws the parameters of systems that declare random ones and resets those of other systems
    /// to their defaults. Values that belong to this context, such as a log, are left alone.
    ///
    /// # Errors
    /// Same as [`Context::set_random`].
    pub fn set_random_parameters(&mut self, generator: &mut RandomGenerator) -> Result<()> {
        self.draw_parameters(generator, Others::Default)
    }

    fn draw_parameters(&mut self, generator: &mut RandomGenerator, others: Others) -> Result<()> {
        let mut drawn = self.data.parameters.clone();
        for (system, (leaf, node)) in self.plan.leaves.iter().zip(&self.plan.nodes).enumerate() {
            let parameters = &mut drawn[node.parameters()];
            for (value, declared) in parameters.iter_mut().zip(&leaf.parameters) {
                if !declared.per_context && others == Others::Default {
                    *value = (declared.model)();
                }
            }
            if let Some(draw) = &leaf.random_parameters {
                let mut update = ParameterUpdate {
                    parameters,
                    owner: (self.plan.id, system as u32),
                };
                draw(generator, &mut update).map_err(|e| {
                    e.locate(None, || format!("random parameters of '{}'", leaf.path))
                })?;
            }
        }
        self.data.parameters = drawn;
        self.invalidate_all();
        Ok(())
    }

    /// Draws the state of systems that declare random state, given the current parameters, and
    /// resets the state of other systems to its default.
    ///
    /// # Errors
    /// Same as [`Context::set_random`].
    pub fn set_random_state(&mut self, generator: &mut RandomGenerator) -> Result<()> {
        self.draw_state(generator, Others::Default)
    }

    fn draw_state(&mut self, generator: &mut RandomGenerator, others: Others) -> Result<()> {
        let mut drawn = match others {
            Others::Default => self.plan.default_state(),
            Others::Keep => StateCopy {
                xc: self.data.xc.clone(),
                xd: self.data.xd.clone(),
                xa: self.data.xa.clone(),
            },
        };
        for (system, (leaf, node)) in self.plan.leaves.iter().zip(&self.plan.nodes).enumerate() {
            if let Some(draw) = &leaf.random_state {
                let mut update = StateUpdate {
                    xc: &mut drawn.xc[node.xc.clone()],
                    xd: &mut drawn.xd,
                    groups: &node.xd,
                    xa: &mut drawn.xa[node.xa()],
                    owner: (self.plan.id, system as u32),
                };
                draw(&self.leaf_context(system), generator, &mut update)
                    .map_err(|e| e.locate(None, || format!("random state of '{}'", leaf.path)))?;
            }
        }
        self.data.xc = drawn.xc;
        self.data.xd = drawn.xd;
        self.data.xa = drawn.xa;
        self.invalidate_all();
        Ok(())
    }
}
