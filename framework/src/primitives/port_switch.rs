//! One of several inputs.

use crate::prelude::*;
use crate::{Error, Result};

/// Passes the input that another input names (Drake's `PortSwitch`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `port_selector` | `usize`: index among the inputs `u0`, `u1`, ... |
/// | input | `u0`, `u1`, ... | vectors of `size` |
/// | output | `value` | vector of `size`, direct feedthrough |
///
/// Only the selected input is evaluated; the others may be unconnected. Indices count from the first
/// of these inputs (in Drake, from the selector, which is its port 0).
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::PortSwitch;
///
/// let mut b = DiagramBuilder::new();
/// let switch = b.add("switch", PortSwitch::new(2, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(switch.selector, 1)?;
/// ctx.fix(switch.u[1], vec![4.0])?;
/// assert_eq!(ctx.eval(switch.value)?, &[4.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PortSwitch {
    num_inputs: usize,
    size: usize,
}

impl PortSwitch {
    /// Chooses among `num_inputs` vectors of `size` elements.
    pub fn new(num_inputs: usize, size: usize) -> Self {
        Self { num_inputs, size }
    }
}

/// Ports of [`PortSwitch`].
#[derive(Clone, Debug)]
pub struct PortSwitchPorts<T> {
    /// Index of the input to pass.
    pub selector: InputPort<usize>,
    /// Inputs.
    pub u: Vec<InputPort<Vec<T>>>,
    /// The selected input.
    pub value: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for PortSwitch {
    type Ports = PortSwitchPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let selector = d.input("port_selector");
        let names = (0..self.num_inputs).map(|i| format!("u{i}"));
        let u: Vec<InputPort<Vec<T>>> = names.map(|n| d.vector_input(&n, self.size)).collect();
        let inputs = u.clone();
        let deps = [Dep::AllInputs];
        let value = d.vector_output("value", self.size, &deps, move |_, ctx, y| -> Result<()> {
            let index: usize = *ctx.eval(selector)?;
            let input = inputs.get(index).ok_or_else(|| {
                let n = inputs.len();
                Error::custom(format!(
                    "'port_selector' is {index}, a number below {n} is expected"
                ))
            })?;
            y.copy_from_slice(ctx.eval(*input)?);
            Ok(())
        });
        PortSwitchPorts { selector, u, value }
    }
}
