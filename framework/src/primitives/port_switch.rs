//! Selection of one of several inputs.

use crate::prelude::*;
use crate::systems::value::Value;
use crate::{Error, Result};

/// Switch that passes the input selected by another input (Drake's `PortSwitch`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `port_selector` | `usize`: index among the inputs `u0`, `u1`, ... |
/// | input | `u0`, `u1`, ... | vectors of `size` |
/// | output | `value` | vector of `size`, direct feedthrough |
///
/// Only the selected input is evaluated; the others may be unconnected. Index 0 is `u0` (in Drake,
/// port 0 is the selector itself).
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::PortSwitch;
///
/// let mut b = DiagramBuilder::new();
/// let switch = b.add("switch", PortSwitch::new(2, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(switch.selector, 1)?;
/// ctx.fix(switch.u[1], 4.0)?;
/// assert_eq!(ctx.eval(switch.value)?, &[4.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PortSwitch {
    num_inputs: usize,
    size: usize,
}

impl PortSwitch {
    /// Creates a switch between `num_inputs` vectors of `size` elements.
    pub fn new(num_inputs: usize, size: usize) -> Self {
        Self { num_inputs, size }
    }
}

/// Same as [`PortSwitch`], for values of any type: the inputs and `value` carry a `V`.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ValuePortSwitch;
///
/// let mut b = DiagramBuilder::new();
/// let switch = b.add("switch", ValuePortSwitch::new(2, String::new()));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(switch.selector, 1)?;
/// ctx.fix(switch.u[1], "this".to_string())?;
/// assert_eq!(ctx.eval(switch.value)?, "this");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValuePortSwitch<V> {
    num_inputs: usize,
    model: V,
}

impl<V: Value + Clone> ValuePortSwitch<V> {
    /// Creates a switch between `num_inputs` values like `model`, which is the storage of the
    /// output before its first evaluation.
    pub fn new(num_inputs: usize, model: V) -> Self {
        Self { num_inputs, model }
    }
}

/// Ports of [`PortSwitch`], with `Vec<T>` for `V`, and of [`ValuePortSwitch`].
#[derive(Clone, Debug)]
pub struct PortSwitchPorts<V> {
    /// Index of the input to pass.
    pub selector: InputPort<usize>,
    /// Inputs.
    pub u: Vec<InputPort<V>>,
    /// The selected input.
    pub value: OutputPort<V>,
}

/// Declares a switch. `input` and `output` declare its ports; `output` receives the selection that
/// finds the selected value.
fn declare_switch<S: LeafSystem<T>, T: Scalar, V: Value>(
    d: &mut Declare<S, T>,
    num_inputs: usize,
    input: impl Fn(&mut Declare<S, T>, &str) -> InputPort<V>,
    output: impl FnOnce(&mut Declare<S, T>, Selection<V>) -> OutputPort<V>,
) -> PortSwitchPorts<V> {
    let selector = d.input("port_selector");
    let u: Vec<InputPort<V>> = (0..num_inputs)
        .map(|i| input(d, &format!("u{i}")))
        .collect();
    let inputs = u.clone();
    let value = output(d, Selection { selector, inputs });
    PortSwitchPorts { selector, u, value }
}

/// Selector and inputs of a switch.
struct Selection<V> {
    selector: InputPort<usize>,
    inputs: Vec<InputPort<V>>,
}

impl<V: Value> Selection<V> {
    /// Returns the selected value; the other inputs are not evaluated.
    fn eval<'a, T: Scalar>(&self, ctx: &LeafContext<'a, T>) -> Result<&'a V> {
        let index: usize = *ctx.eval(self.selector)?;
        let input = self.inputs.get(index).ok_or_else(|| {
            let n = self.inputs.len();
            Error::invalid(format!("'port_selector' must be below {n}, got {index}"))
        })?;
        ctx.eval(*input)
    }
}

impl<T: Scalar> LeafSystem<T> for PortSwitch {
    type Ports = PortSwitchPorts<Vec<T>>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.size;
        declare_switch(
            d,
            self.num_inputs,
            |d, name| d.vector_input(name, size),
            |d, selection| {
                d.vector_output("value", size, Dep::AllInputs, move |_, ctx, y| {
                    y.copy_from_slice(selection.eval(ctx)?);
                    Ok(())
                })
            },
        )
    }
}

impl<T: Scalar, V: Value + Clone> LeafSystem<T> for ValuePortSwitch<V> {
    type Ports = PortSwitchPorts<V>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let model = self.model.clone();
        declare_switch(
            d,
            self.num_inputs,
            |d, name| d.input(name),
            |d, selection| {
                d.output("value", model, Dep::AllInputs, move |_, ctx, y: &mut V| {
                    y.clone_from(selection.eval(ctx)?);
                    Ok(())
                })
            },
        )
    }
}
