//! Where constraints act: contacts at points, and other sites.

use super::optional_list::OptionalList;
use super::regularization::{ContactParameters, SoftContact};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::Scalar;

/// A contact at a point: three rows, the velocity of body B relative to body A there, along
/// directions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ContactSite<T: Scalar> {
    /// A and B.
    pub(crate) bodies: [BodyIndex; 2],
    /// Position of the contact point in W.
    pub(crate) p_wc: Vector3<T>,
    /// Two tangents and the normal out of A into B, expressed in W, as columns.
    pub(crate) r_wc: Matrix3<T>,
    pub(crate) parameters: ContactParameters<T>,
}

impl ContactSite<f64> {
    /// Creates a contact to be overwritten.
    pub(crate) fn unknown() -> Self {
        Self {
            bodies: [BodyIndex::new(0); 2],
            p_wc: Vector3::zeros(),
            r_wc: Matrix3::identity(),
            parameters: ContactParameters {
                k: 0.0,
                d: 0.0,
                tau: 0.0,
                mu: 0.0,
                depth: 0.0,
                soft: None,
            },
        }
    }
}

impl<T: Scalar> ContactSite<T> {
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> ContactSite<f64> {
        let c = &self.parameters;
        ContactSite {
            bodies: self.bodies,
            p_wc: self.p_wc.map(|x| x.re()),
            r_wc: self.r_wc.map(|x| x.re()),
            parameters: ContactParameters {
                k: c.k.re(),
                d: c.d.re(),
                tau: c.tau.re(),
                mu: c.mu.re(),
                depth: c.depth.re(),
                soft: c.soft.as_ref().map(|soft| SoftContact {
                    regularization: soft.regularization.map(|x| x.re()),
                    reference: soft.reference.re(),
                    damping: soft.damping,
                }),
            },
        }
    }
    /// Returns a site without derivatives.
    pub(super) fn lift(real: &ContactSite<f64>) -> Self {
        Self {
            bodies: real.bodies,
            p_wc: real.p_wc.map(T::from),
            r_wc: real.r_wc.map(T::from),
            parameters: real.parameters.lift(),
        }
    }
}

/// All contacts of a step.
#[derive(Clone, Debug)]
pub(crate) struct ContactSites<T: Scalar> {
    /// All of them without derivatives.
    pub(crate) real: Vec<ContactSite<f64>>,
    /// Those with derivatives.
    pub(crate) derived: OptionalList<ContactSite<T>>,
}

impl<T: Scalar> ContactSites<T> {
    pub(crate) fn empty() -> Self {
        Self {
            real: vec![],
            derived: OptionalList::empty(),
        }
    }
    pub(crate) fn clear(&mut self) {
        self.real.clear();
        self.derived.clear();
    }
    /// Returns a contact.
    pub(crate) fn get(&self, k: usize) -> Cow<'_, ContactSite<T>> {
        let real = &self.real[k];
        let same_scalar = (real as &dyn Any).downcast_ref();
        match self.derived.get(k).or(same_scalar) {
            Some(site) => Cow::Borrowed(site),
            None => Cow::Owned(ContactSite::lift(real)),
        }
    }
}

/// Velocities that the rows of another constraint measure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Site<T: Scalar> {
    /// One row: a sum of velocities with coefficients.
    Velocities(SmallVec<[(usize, f64); 2]>),
    /// Rows of the velocity of a point of body B relative to a point of body A. In a box, because
    /// it is large and rare.
    Bodies(Box<BodiesSite<T>>),
    /// One row: the rate of a length whose gradient depends on the positions. In a box for the same
    /// reasons.
    Length(Box<LengthSite<T>>),
}

/// Points of two bodies whose velocity relative to each other is measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodiesSite<T: Scalar> {
    /// A and B.
    pub(crate) bodies: [BodyIndex; 2],
    /// Positions of the points in W.
    pub(crate) points: [Vector3<T>; 2],
    /// Directions of the rows, expressed in W.
    pub(crate) rows: SmallVec<[SpatialVector<T>; 3]>,
}

/// The rate of a length, a sum over velocities and over points of bodies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LengthSite<T: Scalar> {
    /// Velocities with the change of the length per unit of each.
    pub(crate) velocities: SmallVec<[(usize, T); 2]>,
    pub(crate) points: Vec<LengthPoint<T>>,
}

/// A point P of a body that a length depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LengthPoint<T: Scalar> {
    pub(crate) body: BodyIndex,
    /// Position of P in W.
    pub(crate) p_w: Vector3<T>,
    /// Change of the length with the position of P, expressed in W.
    pub(crate) gradient: Vector3<T>,
}

impl<T: Scalar> LengthSite<T> {
    /// Creates the site of a length that is constant.
    pub(crate) fn constant() -> Self {
        Self {
            velocities: SmallVec::new(),
            points: vec![],
        }
    }
    fn real(&self) -> LengthSite<f64> {
        let terms = self.velocities.iter();
        LengthSite {
            velocities: terms
                .map(|(k, coefficient)| (*k, coefficient.re()))
                .collect(),
            points: self.points.iter().map(LengthPoint::real).collect(),
        }
    }
    /// Adds the rate of another length times a factor.
    pub(crate) fn add_scaled(&mut self, other: &Self, factor: T) {
        let terms = other.velocities.iter();
        self.velocities
            .extend(terms.map(|(k, coefficient)| (*k, *coefficient * factor)));
        self.points
            .extend(other.points.iter().map(|point| LengthPoint {
                gradient: point.gradient * factor,
                ..*point
            }));
    }
}

impl<T: Scalar> LengthPoint<T> {
    fn real(&self) -> LengthPoint<f64> {
        LengthPoint {
            body: self.body,
            p_w: self.p_w.map(|x| x.re()),
            gradient: self.gradient.map(|x| x.re()),
        }
    }
}

impl<T: Scalar> Site<T> {
    /// Returns the same without derivatives.
    pub(super) fn real(&self) -> Cow<'_, Site<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        Cow::Owned(match self {
            Self::Velocities(terms) => Site::Velocities(terms.clone()),
            Self::Bodies(site) => Site::Bodies(Box::new(BodiesSite {
                bodies: site.bodies,
                points: site.points.map(|p| p.map(|x| x.re())),
                rows: site.rows.iter().map(SpatialVector::real).collect(),
            })),
            Self::Length(site) => Site::Length(Box::new(site.real())),
        })
    }
    pub(crate) fn num_rows(&self) -> usize {
        match self {
            Self::Velocities(_) | Self::Length(_) => 1,
            Self::Bodies(site) => site.rows.len(),
        }
    }

    /// Calls a function with each body that impulses of the rows act on, the point of the body in W
    /// where they do, and the spatial impulse there, expressed in W.
    pub(crate) fn for_bodies(
        &self,
        row: impl Fn(usize) -> T,
        mut f: impl FnMut(BodyIndex, &Vector3<T>, SpatialVector<T>),
    ) {
        match self {
            Self::Velocities(_) => {}
            Self::Bodies(site) => {
                let mut impulse = SpatialVector::zero();
                for (k, direction) in site.rows.iter().enumerate() {
                    impulse += *direction * row(k);
                }
                let ends = site.bodies.iter().zip(&site.points);
                for ((body, p_w), impulse) in ends.zip([-impulse, impulse]) {
                    f(*body, p_w, impulse);
                }
            }
            Self::Length(site) => {
                let tension = row(0);
                for point in &site.points {
                    let impulse = SpatialVector {
                        rotational: Vector3::zeros(),
                        translational: point.gradient * tension,
                    };
                    f(point.body, &point.p_w, impulse);
                }
            }
        }
    }

    /// Returns the velocity that a row measures.
    pub(crate) fn velocity(
        &self,
        row: usize,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> T {
        let mut sum = T::zero();
        match self {
            Self::Velocities(terms) => {
                for (k, coefficient) in terms {
                    sum += velocities.velocities()[*k] * *coefficient;
                }
            }
            Self::Length(site) => {
                for (k, coefficient) in &site.velocities {
                    sum += velocities.velocities()[*k] * *coefficient;
                }
            }
            Self::Bodies(_) => {}
        }
        // The power of a unit impulse.
        let unit = |k: usize| if k == row { T::one() } else { T::zero() };
        self.for_bodies(unit, |body, p_w, impulse| {
            let arm = p_w - positions.x_wb(body).translation.vector;
            sum += velocities.v_wb(body).velocity_at(&arm).dot(&impulse);
        });
        sum
    }
}
