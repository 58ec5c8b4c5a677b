//! Vector-valued functions of time.

mod pchip;
mod piecewise_polynomial;

pub use piecewise_polynomial::PiecewisePolynomial;
