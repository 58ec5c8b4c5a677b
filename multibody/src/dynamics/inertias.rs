//! Mass properties and reflected inertias that take the place of the model's.

use crate::tree::MobilizedBody;
use nalgebra::{Matrix3, Vector3};
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Mass properties of a body about Bo, expressed in B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyInertia<T: Scalar> {
    /// Mass (kg).
    pub mass: T,
    /// Mass times the position of the centre of mass (kg m).
    pub moment: Vector3<T>,
    /// Rotational inertia (kg m^2).
    pub rotational: Matrix3<T>,
}

/// Mass properties and reflected inertias that take the place of the model's. Where there are none,
/// those of the tree hold; they are numbers without derivatives, so they cost nothing extra.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inertias<T: Scalar> {
    /// By body; empty if all are those of the model.
    pub(crate) bodies: Vec<Option<BodyInertia<T>>>,
    /// Reflected inertia of the motors of the inboard joint, by body; empty if all are those of the
    /// model.
    pub(crate) reflected: Vec<Option<T>>,
}

impl<T: Scalar> Inertias<T> {
    /// Returns the inertias of the model.
    pub(crate) fn of_model() -> Self {
        Self {
            bodies: vec![],
            reflected: vec![],
        }
    }

    /// Returns the mass properties of a node's body if they are not those of the model.
    #[inline]
    pub(crate) fn body(&self, node: &MobilizedBody) -> Option<&BodyInertia<T>> {
        self.bodies.get(node.body as usize)?.as_ref()
    }

    /// Returns the reflected inertia of the motors of a node's joint.
    #[inline]
    pub(crate) fn reflected(&self, node: &MobilizedBody) -> T {
        match self.reflected.get(node.body as usize) {
            Some(Some(reflected)) => *reflected,
            _ => T::from(node.reflected),
        }
    }

    /// Returns true if nothing in it has derivatives, certainly.
    pub(crate) fn is_constant(&self) -> bool {
        let is_constant_body = |m: &BodyInertia<T>| {
            let numbers = m.moment.iter().chain(m.rotational.iter());
            numbers.chain([&m.mass]).all(is_constant)
        };
        self.bodies.iter().flatten().all(is_constant_body)
            && self.reflected.iter().flatten().all(is_constant)
    }

    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> Cow<'_, Inertias<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        let real = |m: &BodyInertia<T>| BodyInertia {
            mass: m.mass.re(),
            moment: m.moment.map(|x| x.re()),
            rotational: m.rotational.map(|x| x.re()),
        };
        Cow::Owned(Inertias {
            bodies: self.bodies.iter().map(|m| m.as_ref().map(real)).collect(),
            reflected: self.reflected.iter().map(|x| x.map(|x| x.re())).collect(),
        })
    }
}
