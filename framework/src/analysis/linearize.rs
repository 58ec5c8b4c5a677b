//! First-order approximation of a diagram around a context, by dual numbers.

use super::equilibrium::{AVOID_SAMPLED_PORTS, check_equilibrium};
use crate::autodiff::try_jacobian;
use crate::{AutoDiff, Context, Diagram, Error, InputPort, OutputPort, Result};
use nalgebra::{DMatrix, DVector};

/// Linear approximation of a diagram, to first order, around an operating point (x0, u0):
///
/// ```text
/// dx/dt or x[n+1]  =  A (x - x0) + B (u - u0) + f0
/// y                =  C (x - x0) + D (u - u0) + y0
/// ```
///
/// x is all continuous state of the diagram, or all its discrete state, in the order of the
/// systems. u and y are the given ports, without elements where there is none.
///
/// ```
/// use tarragon_framework::analysis::first_order_taylor_approximation;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Gain, Integrator};
/// let mut b = DiagramBuilder::new();
/// let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -2.0)));
/// b.connect(x.y, k.u);
/// b.connect(k.y, x.u);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.xc_mut(x.x)?[0] = 3.0;
/// let line = first_order_taylor_approximation(&diagram, &ctx, None, Some(k.y))?;
/// assert_eq!((line.x0[0], line.a[0], line.f0[0]), (3.0, -2.0, -6.0));
/// assert_eq!((line.c[0], line.y0[0], line.b.ncols()), (-2.0, -6.0, 0));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FirstOrderApproximation {
    /// Derivatives with respect to the state: rows are states, columns are states.
    pub a: DMatrix<f64>,
    /// Rows are states, columns are inputs.
    pub b: DMatrix<f64>,
    /// Rows are outputs, columns are states.
    pub c: DMatrix<f64>,
    /// Rows are outputs, columns are inputs.
    pub d: DMatrix<f64>,
    /// Time derivative, or next state, at the operating point.
    pub f0: DVector<f64>,
    /// Output at the operating point.
    pub y0: DVector<f64>,
    /// State at the operating point.
    pub x0: DVector<f64>,
    /// Input at the operating point.
    pub u0: DVector<f64>,
    /// Period of the discrete update (s); 0 for continuous time.
    pub time_period: f64,
}

/// Kind of state that is approximated.
enum Kind {
    Continuous,
    /// Discrete state; holds the index of the only period with updates.
    Discrete(usize),
}

/// Computes the first-order Taylor approximation of a diagram around the time, state, parameters
/// and fixed inputs of `context` (Drake's `FirstOrderTaylorApproximation`). Derivatives are exact.
///
/// The diagram must have continuous state, or discrete state whose updates share one period and
/// offset, or no state. The input port, if any, must have a fixed value: the operating point.
///
/// ```
/// use tarragon_framework::analysis::first_order_taylor_approximation;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Gain, Integrator};
/// let mut b = DiagramBuilder::new();
/// let gain = b.add("gain", Gain::new(1, 3.0));
/// let sum = b.add("sum", Integrator::new(1));
/// b.connect(gain.y, sum.u);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(gain.u, 0.5)?;
/// let line = first_order_taylor_approximation(&diagram, &ctx, Some(gain.u), Some(sum.y))?;
/// assert_eq!((line.a[0], line.b[0], line.c[0], line.f0[0]), (0.0, 3.0, 1.0, 1.5));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a system does not support dual numbers, if there is state of both kinds or
/// there are updates with different periods or offsets, if there is abstract state, if the input
/// has no fixed value, or if a computation fails.
pub fn first_order_taylor_approximation(
    diagram: &Diagram<f64>,
    context: &Context<f64>,
    input: Option<InputPort<Vec<f64>>>,
    output: Option<OutputPort<Vec<f64>>>,
) -> Result<FirstOrderApproximation> {
    diagram.owns(context)?;
    let kind = kind(context)?;
    let dual = diagram.to_scalar::<AutoDiff>()?;
    let mut ctx = dual.default_context();
    ctx.set_time_state_and_parameters_from(context)?;
    ctx.fix_inputs_from(context)?;
    // The same ports over dual numbers: places do not depend on the scalar.
    let input = input.map(|port| InputPort::<Vec<AutoDiff>>::at(port.place));
    let output = output.map(|port| OutputPort::<Vec<AutoDiff>>::at(port.place));

    let values = |x: &[AutoDiff]| x.iter().map(|x| x.re).collect::<Vec<f64>>();
    let x0 = match kind {
        Kind::Continuous => context.data.xc.clone(),
        Kind::Discrete(_) => context.data.xd.clone(),
    };
    let u0 = match input {
        Some(port) => values(ctx.fixed_mut(port)?),
        None => vec![],
    };
    let (n, time) = (x0.len(), ctx.time());
    let z0: Vec<f64> = x0.iter().chain(&u0).copied().collect();
    let function = |z: &[AutoDiff]| -> Result<Vec<AutoDiff>> {
        if let Some(port) = input {
            ctx.fixed_mut(port)?.copy_from_slice(&z[n..]);
        }
        let mut result = vec![AutoDiff::constant(0.0); n];
        match kind {
            Kind::Continuous => {
                ctx.set_time_and_xc(time, &z[..n]);
                ctx.time_derivatives(&mut result)?;
            }
            Kind::Discrete(index) => {
                ctx.set_xd(&z[..n]);
                result = ctx.next_discrete_state(ctx.plan.events.periodic[index].set)?;
            }
        }
        if let Some(port) = output {
            result.extend(ctx.eval(port)?);
        }
        Ok(result)
    };
    let (value, jacobian) = try_jacobian(function, &z0)?;
    let (outputs, inputs) = (value.len() - n, u0.len());
    Ok(FirstOrderApproximation {
        a: jacobian.view((0, 0), (n, n)).into_owned(),
        b: jacobian.view((0, n), (n, inputs)).into_owned(),
        c: jacobian.view((n, 0), (outputs, n)).into_owned(),
        d: jacobian.view((n, n), (outputs, inputs)).into_owned(),
        f0: value.rows(0, n).into_owned(),
        y0: value.rows(n, outputs).into_owned(),
        x0: x0.into(),
        u0: u0.into(),
        time_period: match kind {
            Kind::Continuous => 0.0,
            Kind::Discrete(set) => context.plan.events.periodic[set].period,
        },
    })
}

/// Same as [`first_order_taylor_approximation`], at an equilibrium (Drake's `Linearize`): the
/// constant terms vanish up to `tolerance`, see [`is_equilibrium`](super::is_equilibrium).
///
/// # Errors
/// Same as [`first_order_taylor_approximation`]. Also returns an error if the operating point is
/// not an equilibrium; the message names the element that moves most.
pub fn linearize(
    diagram: &Diagram<f64>,
    context: &Context<f64>,
    input: Option<InputPort<Vec<f64>>>,
    output: Option<OutputPort<Vec<f64>>>,
    tolerance: f64,
) -> Result<FirstOrderApproximation> {
    let found = first_order_taylor_approximation(diagram, context, input, output)?;
    check_equilibrium(diagram, context, tolerance).map_err(|e| e.at("linearize"))?;
    Ok(found)
}

fn kind(context: &Context<f64>) -> Result<Kind> {
    let plan = &context.plan;
    let fail = |why: String| {
        Err(Error::unsupported(format!(
            "first-order approximation: {why}"
        )))
    };
    if let Some(leaf) = plan.leaves.iter().find(|leaf| !leaf.xa0.is_empty()) {
        return fail(format!(
            "system '{}' has abstract state, which has no derivatives; {AVOID_SAMPLED_PORTS}",
            leaf.path
        ));
    }
    if context.data.xd.is_empty() {
        return Ok(Kind::Continuous);
    }
    if !context.data.xc.is_empty() {
        return fail("the diagram has both continuous and discrete state".into());
    }
    let periodic = plan.events.periodic.iter().enumerate();
    let updating: Vec<usize> = periodic
        .filter(|(_, p)| !plan.events.set(p.set).discrete.is_empty())
        .map(|(i, _)| i)
        .collect();
    match updating[..] {
        [only] => Ok(Kind::Discrete(only)),
        _ => fail(format!(
            "the updates of the discrete state must share one period and offset, got {} different ones",
            updating.len()
        )),
    }
}
