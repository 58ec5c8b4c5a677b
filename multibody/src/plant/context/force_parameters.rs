//! Springs, bushings and contact materials in a context, with derivatives.

use super::parameters::check_amount;
use crate::error::{Error, Result};
use crate::model::ForceElement;
use crate::plant::ports::MultibodyPlantPorts;
use crate::plant::values::model_parameters::{
    ContactMaterialOverride, ParameterOwner, check_friction,
};
use nalgebra::Vector3;
use std::ops::Range;
use tarragon_framework::{Context, Scalar};
use tarragon_geometry::GeometryId;

/// Three of the constants of a [`ForceElement::LinearBushingRollPitchYaw`].
///
/// ```
/// use tarragon_multibody::BushingConstants;
/// assert_ne!(BushingConstants::TorqueStiffness, BushingConstants::ForceStiffness);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BushingConstants {
    /// Torque per angle (N m/rad), for roll, pitch and yaw.
    TorqueStiffness,
    /// Torque per angular rate (N m s/rad), for roll, pitch and yaw.
    TorqueDamping,
    /// Force per displacement (N/m), for x, y and z.
    ForceStiffness,
    /// Force per speed (N s/m), for x, y and z.
    ForceDamping,
}

impl BushingConstants {
    fn name(self) -> &'static str {
        match self {
            Self::TorqueStiffness => "torque stiffness (N m/rad)",
            Self::TorqueDamping => "torque damping (N m s/rad)",
            Self::ForceStiffness => "force stiffness (N/m)",
            Self::ForceDamping => "force damping (N s/m)",
        }
    }
    /// Returns where they are among all constants of the element.
    fn range(self) -> Range<usize> {
        let start = 3 * self as usize;
        start..start + 3
    }
}

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Sets the stiffness (N m/rad or N/m) of a spring in a context (Drake's
    /// `RevoluteSpring::SetStiffness` and `PrismaticSpring::SetStiffness`, and the same for a
    /// `LinearSpringDamper` and for tendons); `element` is its index in
    /// [`force_elements`](crate::MultibodyModel::force_elements).
    ///
    /// # Errors
    /// Returns an error if the element is unknown or not a spring, the stiffness is negative or not
    /// finite, unless the plant has [`PositionSource::State`](crate::PositionSource::State), or if
    /// the context belongs to another diagram. Nothing changes in that case.
    pub fn set_spring_stiffness(
        &self,
        context: &mut Context<T>,
        element: usize,
        stiffness: T,
    ) -> Result<()> {
        let spring = self.check_spring(element)?;
        let label = || format!("{} {element}", spring.type_name());
        check_amount(label, "stiffness (N m/rad or N/m)", stiffness)?;
        let mut constants = self.reader(context)?.element(element);
        constants[0] = stiffness;
        let owner = ParameterOwner::Element(element);
        self.store(context, owner, &constants)
    }

    /// Returns the stiffness (N m/rad or N/m) of a spring in a context (Drake's
    /// `RevoluteSpring::GetStiffness` and `PrismaticSpring::GetStiffness`).
    ///
    /// # Errors
    /// Returns an error if the element is unknown or not a spring, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn spring_stiffness(&self, context: &Context<T>, element: usize) -> Result<T> {
        self.check_spring(element)?;
        Ok(self.reader(context)?.element(element)[0])
    }

    /// Sets three constants of a `LinearBushingRollPitchYaw` in a context (Drake's
    /// `SetTorqueStiffnessConstants`, `SetTorqueDampingConstants`, `SetForceStiffnessConstants` and
    /// `SetForceDampingConstants`); `element` is its index in
    /// [`force_elements`](crate::MultibodyModel::force_elements).
    ///
    /// # Errors
    /// Returns an error if the element is unknown or not a bushing, a constant is negative or not
    /// finite, unless the plant has [`PositionSource::State`](crate::PositionSource::State), or if
    /// the context belongs to another diagram. Nothing changes in that case.
    pub fn set_bushing_constants(
        &self,
        context: &mut Context<T>,
        element: usize,
        which: BushingConstants,
        constants: Vector3<T>,
    ) -> Result<()> {
        self.check_bushing(element)?;
        for x in constants.iter() {
            let label = || format!("LinearBushingRollPitchYaw {element}");
            check_amount(label, which.name(), *x)?;
        }
        let mut all = self.reader(context)?.element(element);
        all[which.range()].copy_from_slice(constants.as_slice());
        self.store(context, ParameterOwner::Element(element), &all)
    }

    /// Returns three constants of a `LinearBushingRollPitchYaw` in a context (Drake's
    /// `GetTorqueStiffnessConstants` and its relatives).
    ///
    /// # Errors
    /// Returns an error if the element is unknown or not a bushing, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn bushing_constants(
        &self,
        context: &Context<T>,
        element: usize,
        which: BushingConstants,
    ) -> Result<Vector3<T>> {
        self.check_bushing(element)?;
        let all = self.reader(context)?.element(element);
        Ok(Vector3::from_column_slice(&all[which.range()]))
    }

    /// Sets what a context has in place of the contact properties of a geometry of the plant.
    /// Properties without a value are again those of the scene.
    ///
    /// # Errors
    /// Returns an error if the geometry is no collision geometry of the plant, a value is negative
    /// or not finite, the stiffness is 0, static friction is less than dynamic friction, unless the
    /// plant has [`PositionSource::State`](crate::PositionSource::State), or if the context belongs
    /// to another diagram. Nothing changes in that case. If only one of the coefficients of
    /// friction is given, contact is an error where it does not fit the other one, which is in the
    /// scene.
    pub fn set_contact_material(
        &self,
        context: &mut Context<T>,
        geometry: GeometryId,
        material: ContactMaterialOverride<T>,
    ) -> Result<()> {
        self.check_collision_geometry(geometry)?;
        let names = [
            "static friction",
            "dynamic friction",
            "stiffness (N/m)",
            "dissipation (s/m)",
            "relaxation time (s)",
        ];
        let label = || format!("contact material of geometry {geometry}");
        for (name, value) in names.into_iter().zip(material.fields()) {
            if let Some(value) = value {
                check_amount(label, name, value)?;
            }
        }
        if material.stiffness.is_some_and(|k| k.re() == 0.0) {
            return Err(Error::invalid(format!(
                "{}: the stiffness must be positive, got 0.0 N/m",
                label()
            )));
        }
        if let (Some(mu_s), Some(mu_d)) = (material.static_friction, material.dynamic_friction) {
            check_friction(label, mu_s, mu_d)?;
        }
        self.change_parameters(context, |layout, values| {
            layout.set_material(values, geometry, &material);
        })
    }

    /// Returns what a context has in place of the contact properties of a geometry of the plant.
    ///
    /// # Errors
    /// Returns an error if the geometry is no collision geometry of the plant, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn contact_material(
        &self,
        context: &Context<T>,
        geometry: GeometryId,
    ) -> Result<ContactMaterialOverride<T>> {
        self.check_collision_geometry(geometry)?;
        Ok(self.reader(context)?.material(geometry))
    }

    fn force_element(&self, element: usize) -> Result<&ForceElement> {
        let n = self.force_elements.len();
        self.force_elements.get(element).ok_or_else(|| {
            Error::not_found(format!(
                "the force element index must be below {n}, got {element}"
            ))
        })
    }

    fn check_spring(&self, element: usize) -> Result<&ForceElement> {
        match self.force_element(element)? {
            spring @ (ForceElement::RevoluteSpring { .. }
            | ForceElement::PrismaticSpring { .. }
            | ForceElement::LinearSpringDamper { .. }
            | ForceElement::TendonSpring { .. }
            | ForceElement::SpatialTendon { .. }) => Ok(spring),
            other => Err(Error::invalid(format!(
                "force element {element}: it must be a spring, got a {}",
                other.type_name()
            ))),
        }
    }

    fn check_collision_geometry(&self, geometry: GeometryId) -> Result<()> {
        let lists = self.registration.iter().flat_map(|r| &r.collisions);
        let is_deformable = || self.deformable_body_from_geometry_id(geometry).is_some();
        if lists.flatten().any(|id| *id == geometry) || is_deformable() {
            Ok(())
        } else {
            Err(Error::not_found(format!(
                "geometry {geometry}: it must be a collision geometry of the plant; pass an id of \
             `collision_geometries` or that of a deformable body"
            )))
        }
    }

    fn check_bushing(&self, element: usize) -> Result<()> {
        match self.force_element(element)? {
            ForceElement::LinearBushingRollPitchYaw { .. } => Ok(()),
            other => Err(Error::invalid(format!(
                "force element {element}: it must be a LinearBushingRollPitchYaw, got a {}",
                other.type_name()
            ))),
        }
    }
}
