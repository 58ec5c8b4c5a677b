//! Sampled values of any type in transit through a system.

use crate::prelude::*;
use crate::systems::value::Value;
use std::collections::VecDeque;

/// Ports of [`super::ValueDiscreteTimeDelay`] and [`super::ValueZeroOrderHold`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ValueZeroOrderHold;
///
/// let mut b = DiagramBuilder::new();
/// let hold = b.add("hold", ValueZeroOrderHold::new(String::from("idle"), 0.1, 0.0));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(hold.u, String::from("walk"))?;
/// assert_eq!((ctx.eval(hold.y)?.as_str(), ctx.xa(hold.x)?.len()), ("idle", 1));
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.05)?;
/// assert_eq!(sim.context().eval(hold.y)?, "walk");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Debug)]
pub struct SampledValuePorts<V> {
    /// Input.
    pub u: InputPort<V>,
    /// Output: the oldest sample.
    pub y: OutputPort<V>,
    /// Samples in transit, oldest first.
    pub x: AbstractState<VecDeque<V>>,
}

impl<V> Clone for SampledValuePorts<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for SampledValuePorts<V> {}

/// Declares an input, state for its last `count` samples (taken on `trigger`), and an output of the
/// oldest.
pub(super) fn declare_samples<S: LeafSystem<T>, T: Scalar, V: Value + Clone>(
    d: &mut Declare<S, T>,
    input: &str,
    output: &str,
    trigger: Trigger,
    count: usize,
    model: &V,
) -> SampledValuePorts<V> {
    let u = d.input(input);
    let x = d.abstract_state(VecDeque::from(vec![model.clone(); count]));
    d.unrestricted_update_on(trigger, move |_, ctx, next| {
        let samples = next.xa_mut(x);
        samples.rotate_left(1);
        if let Some(newest) = samples.back_mut() {
            newest.clone_from(ctx.eval(u)?);
        }
        Ok(EventStatus::Succeeded)
    });
    let y = d.output(output, model.clone(), x, move |_, ctx, y: &mut V| {
        if let Some(oldest) = ctx.xa(x).front() {
            y.clone_from(oldest);
        }
        Ok(())
    });
    SampledValuePorts { u, y, x }
}
