//! Affine state-space systems, and code shared with linear systems and matrix gains.

use super::check;
use crate::prelude::*;
use crate::systems::value::in_blocks_of_rows;
use crate::{IntoValue, Result};
use nalgebra::DMatrix;

/// Affine system `xdot = A x + B u + f0` or, with a period, `x[n+1] = A x[n] + B u[n] + f0`; in
/// both cases `y = C x + D u + y0` (Drake's `AffineSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector with one element per column of B |
/// | output | `y0` | vector with one element per row of C; direct feedthrough if D is not zero |
///
/// A system without inputs reads nothing: its empty port may stay unconnected.
///
/// ```
/// use nalgebra::dmatrix;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::AffineSystem;
///
/// let one = dmatrix![1.0];
/// let zero = dmatrix![0.0];
/// let counter = AffineSystem::new(one.clone(), one.clone(), one, zero)?
///     .with_offsets([2.0], [0.5])?
///     .with_period(0.1)?;
/// let mut b = DiagramBuilder::new();
/// let counter = b.add("counter", counter);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(counter.u, 1.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.95)?;
/// assert_eq!(sim.context().eval(counter.y)?, &[30.5]); // ten steps of 2 + 1
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AffineSystem {
    /// Name of the type in messages.
    name: &'static str,
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
    f0: Vec<f64>,
    y0: Vec<f64>,
    period: f64,
    initial_state: Vec<f64>,
}

impl AffineSystem {
    /// Creates a continuous system without offsets from its matrices.
    ///
    /// # Errors
    /// Returns an error if sizes do not agree or a number is not finite.
    pub fn new(a: DMatrix<f64>, b: DMatrix<f64>, c: DMatrix<f64>, d: DMatrix<f64>) -> Result<Self> {
        Self::named("AffineSystem", [a, b, c, d])
    }

    /// Same as [`AffineSystem::new`], for systems with another `name`.
    pub(super) fn named(name: &'static str, [a, b, c, d]: [DMatrix<f64>; 4]) -> Result<Self> {
        let (states, inputs, outputs) = (a.nrows(), d.ncols(), d.nrows());
        check::matrix(name, "A", &a, states, states)?;
        check::matrix(name, "B", &b, states, inputs)?;
        check::matrix(name, "C", &c, outputs, states)?;
        check::matrix(name, "D", &d, outputs, inputs)?;
        Ok(Self {
            name,
            initial_state: vec![0.0; states],
            f0: vec![0.0; states],
            y0: vec![0.0; outputs],
            a,
            b,
            c,
            d,
            period: 0.0,
        })
    }

    /// Sets the offsets of the derivative or next state and of the output, which are zero by
    /// default.
    ///
    /// # Errors
    /// Returns an error if `f0` does not have one finite element per state, or `y0` one per output.
    pub fn with_offsets(
        mut self,
        f0: impl IntoValue<Vec<f64>>,
        y0: impl IntoValue<Vec<f64>>,
    ) -> Result<Self> {
        let (f0, y0) = (f0.into_value(), y0.into_value());
        check::length(self.name, "f0", f0.len(), self.a.nrows())?;
        check::length(self.name, "y0", y0.len(), self.d.nrows())?;
        check::finite(self.name, "f0", &f0)?;
        check::finite(self.name, "y0", &y0)?;
        (self.f0, self.y0) = (f0, y0);
        Ok(self)
    }

    /// Makes the system discrete, with updates every `period` (s); 0 keeps it continuous.
    ///
    /// # Errors
    /// Returns an error if the period is negative or not finite.
    pub fn with_period(mut self, period: f64) -> Result<Self> {
        if period != 0.0 {
            check::positive_time(self.name, "period", period)?;
        }
        self.period = period;
        Ok(self)
    }

    /// Sets the initial state, which is zero by default.
    ///
    /// # Errors
    /// Returns an error if `x0` does not have one finite element per state.
    pub fn with_initial_state(mut self, x0: impl IntoValue<Vec<f64>>) -> Result<Self> {
        let x0 = x0.into_value();
        check::length(self.name, "x0", x0.len(), self.a.nrows())?;
        check::finite(self.name, "x0", &x0)?;
        self.initial_state = x0;
        Ok(self)
    }

    /// Returns the matrix A.
    pub fn a(&self) -> &DMatrix<f64> {
        &self.a
    }
    /// Returns the matrix B.
    pub fn b(&self) -> &DMatrix<f64> {
        &self.b
    }
    /// Returns the matrix C.
    pub fn c(&self) -> &DMatrix<f64> {
        &self.c
    }
    /// Returns the matrix D.
    pub fn d(&self) -> &DMatrix<f64> {
        &self.d
    }
    /// Returns the offset f0 of the derivative or of the next state.
    pub fn f0(&self) -> &[f64] {
        &self.f0
    }
    /// Returns the offset y0 of the output.
    pub fn y0(&self) -> &[f64] {
        &self.y0
    }
    /// Returns the time between updates (s), 0 for a continuous system.
    pub fn period(&self) -> f64 {
        self.period
    }

    /// Computes the derivative or the next state.
    fn advance<T: Scalar>(
        &self,
        ctx: &LeafContext<'_, T>,
        u: InputPort<Vec<T>>,
        x: &[T],
        next: &mut [T],
    ) -> Result<()> {
        let u = match self.b.ncols() {
            0 => &[],
            _ => ctx.eval(u)?.as_slice(),
        };
        combine(next, |i| T::from(self.f0[i]), [(&self.a, x), (&self.b, u)]);
        Ok(())
    }

    /// Declares the system for any `S` that contains one.
    pub(super) fn declare_in<S: LeafSystem<T>, T: Scalar>(
        &self,
        d: &mut Declare<S, T>,
        this: fn(&S) -> &AffineSystem,
    ) -> AffineSystemPorts<T> {
        let u = d.vector_input("u0", self.d.ncols());
        let x0: Vec<T> = self.initial_state.iter().map(|x| T::from(*x)).collect();
        let (mut continuous, mut discrete) = (None, None);
        let mut deps: Vec<Dep> = vec![];
        if !x0.is_empty() && self.period > 0.0 {
            let x = d.discrete_state(&x0);
            d.discrete_update_on(Trigger::every(self.period), move |s, ctx, next| {
                this(s).advance(ctx, u, ctx.xd(x), next.get_mut(x))?;
                Ok(EventStatus::Succeeded)
            });
            discrete = Some(x);
            deps.push(x.into());
        } else if !x0.is_empty() {
            let x = d.continuous_state((0, 0, x0.len()), &x0, (Dep::Z, u), move |s, ctx, xdot| {
                this(s).advance(ctx, u, ctx.xc(), xdot)
            });
            continuous = Some(x);
            deps.push(Dep::Z);
        }
        let feeds_through = self.d.iter().any(|d| *d != 0.0);
        if feeds_through {
            deps.push(u.into());
        }
        let y = d.vector_output("y0", self.d.nrows(), deps, move |s, ctx, y| {
            let s = this(s);
            let x = match discrete {
                Some(x) => ctx.xd(x),
                None if continuous.is_some() => ctx.xc(),
                None => &[],
            };
            let u = if feeds_through {
                ctx.eval(u)?.as_slice()
            } else {
                &[]
            };
            combine(y, |i| T::from(s.y0[i]), [(&s.c, x), (&s.d, u)]);
            Ok(())
        });
        AffineSystemPorts {
            u,
            y,
            continuous,
            discrete,
        }
    }
}

/// Ports of [`AffineSystem`].
#[derive(Clone, Copy, Debug)]
pub struct AffineSystemPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The state of a continuous system.
    pub continuous: Option<ContinuousState<Vec<T>>>,
    /// The state of a discrete system.
    pub discrete: Option<DiscreteState<Vec<T>>>,
}

impl<T: Scalar> LeafSystem<T> for AffineSystem {
    type Ports = AffineSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        self.declare_in(d, |s| s)
    }
}

/// Computes `y = offset + sum of m x`, several rows at a time so that their sums stay in registers.
/// Skips products with an empty x.
pub(super) fn combine<T: Scalar, const P: usize>(
    y: &mut [T],
    offset: impl Fn(usize) -> T,
    products: [(&DMatrix<f64>, &[T]); P],
) {
    in_blocks_of_rows!(y.len(), combine_rows::<T, P>, y, &offset, &products);
}

/// Same as [`combine`], for rows `row..row + N`; matrices are stored column by column.
#[inline(always)]
fn combine_rows<T: Scalar, const N: usize, const P: usize>(
    row: usize,
    y: &mut [T],
    offset: &impl Fn(usize) -> T,
    products: &[(&DMatrix<f64>, &[T]); P],
) {
    let mut sums: [T; N] = std::array::from_fn(|i| offset(row + i));
    for (m, x) in products {
        let (m, n) = (m.as_slice(), m.nrows());
        let mut at = row;
        for x in *x {
            for (sum, m) in sums.iter_mut().zip(&m[at..at + N]) {
                *sum += *x * T::from(*m);
            }
            at += n;
        }
    }
    y[row..row + N].copy_from_slice(&sums);
}
