//! Derivatives of stiffness damping in the nonlinear models.
//!
//! Its matrix is the positive semidefinite part of the stiffness at the end of the step. Where an
//! eigenvalue changes its sign, the part has a kink; elsewhere it is smooth, but its derivative has
//! no short form. It is found by central differences, element by element.

use super::assembly::stress_force;
use super::element::ElementGroup;
use super::lanes::Vector;
use super::material::ElasticMaterial;
use std::array::from_fn;
use tarragon_framework::simd::{LANES, Lanes, Pack};

/// Size of the differences relative to the size of the element and to the moduli. Their error is
/// the square of it, and that of rounding its inverse times 1e-16.
const STEP: f64 = 1e-5;
/// Numbers at the vertices of an element.
const SIZE: usize = 12;

/// A number at each coordinate of the vertices of four elements.
pub(super) type ElementField = [Lanes; SIZE];

/// The product of the matrix of damping, per coefficient, with the velocities at the end of a step,
/// for four elements, and its derivatives.
#[derive(Clone, Debug)]
pub(super) struct DampingChange {
    /// Forces per coefficient of damping (N/s).
    pub(super) product: ElementField,
    /// By coordinate of the positions at the end of the step, with constant velocities.
    pub(super) by_position: [ElementField; SIZE],
    /// By Lamé's parameters lambda and mu.
    pub(super) by_modulus: [ElementField; 2],
}

impl DampingChange {
    /// Computes the product at positions and velocities of the vertices.
    pub(super) fn new(
        material: &ElasticMaterial,
        group: &ElementGroup,
        positions: &[f64],
        velocities: &[f64],
    ) -> Self {
        let q = group.gather(Lanes::ZERO, positions);
        let v = group.gather(Lanes::ZERO, velocities);
        let g = &group.gradients;
        let h = Lanes(from_fn(|k| {
            let squares = g.iter().flatten().map(|x| x.0[k] * x.0[k]);
            STEP / squares.sum::<f64>().sqrt()
        }));
        let by_position = from_fn(|c| {
            let at = |h: Lanes| {
                let mut q = q;
                q[c / 3][c % 3] += h;
                product(material, group, &q, &v)
            };
            difference(&at(h), &at(-h), h)
        });
        let by_modulus = from_fn(|c| {
            let mut h = 0.0;
            let mut at = |sign: f64| {
                let mut changed = *material;
                let modulus = match c {
                    0 => &mut changed.lame.lambda,
                    _ => &mut changed.lame.mu,
                };
                h = STEP * material.modulus();
                *modulus += sign * h;
                product(&changed, group, &q, &v)
            };
            let (above, below) = (at(1.0), at(-1.0));
            difference(&above, &below, Lanes::ZERO.splat(h))
        });
        Self {
            product: product(material, group, &q, &v),
            by_position,
            by_modulus,
        }
    }
}

fn difference(above: &ElementField, below: &ElementField, h: Lanes) -> ElementField {
    from_fn(|i| (above[i] - below[i]) / (h * 2.0))
}

/// Product of the projected stiffness at positions q with a field v.
fn product(
    material: &ElasticMaterial,
    group: &ElementGroup,
    q: &[Vector; 4],
    v: &[Vector; 4],
) -> ElementField {
    let shape = group.shape(Lanes::ZERO);
    let f = shape.gradient(q);
    let d = material.deformation(f, &f);
    let stress = material.projected_stress_change(&d, &shape.gradient(v));
    let forces = stress_force(&stress, &shape.gradients, shape.volume);
    from_fn(|i| forces[i / 3][i % 3])
}

/// Values at the vertices of one element.
pub(super) fn of_lane(field: &ElementField, k: usize) -> [f64; SIZE] {
    debug_assert!(k < LANES);
    field.map(|x| x.0[k])
}
