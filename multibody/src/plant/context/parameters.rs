//! Masses, damping and motors in a context, with derivatives.
//!
//! A context starts with the values of the model. The functions of the plant that take kinematics
//! instead of a context, such as [`calc_mass_matrix`](crate::MultibodyPlant::calc_mass_matrix), use
//! the model's values; the functions of [`MultibodyPlantPorts::in_context`] use the context's.

use crate::error::{Error, Result};
use crate::model::{BodyIndex, JointActuatorIndex, JointIndex};
use crate::plant::ports::MultibodyPlantPorts;
use crate::plant::values::model_parameters::{
    ParameterLayout, ParameterOwner, ParameterReader, StoredInertia,
};
use crate::spatial::SpatialInertia;
use nalgebra::{Matrix3, Vector3};
use tarragon_framework::{Context, Scalar, counted};

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Sets the mass (kg) of a body in a context (Drake's `RigidBody::SetMass`). Centre of mass and
    /// unit inertia stay, so the rotational inertia grows with the mass. A body without mass and
    /// rotational inertia in the model becomes a point mass.
    ///
    /// ```
    /// use nalgebra::{Matrix3, Vector3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.0)?;
    /// let m = SpatialInertia::from_central(2.0, Vector3::zeros(), Matrix3::identity())?;
    /// let cart = plant.add_rigid_body("cart", ModelInstanceIndex::DEFAULT, m)?;
    /// plant.add_joint(Joint::prismatic("rail", BodyIndex::WORLD, cart, Vector3::x())?)?;
    /// let plant = plant.build()?;
    /// let mut b = DiagramBuilder::new();
    /// let plant = b.add("plant", plant);
    /// let diagram = b.build()?.to_scalar::<AutoDiff>()?;
    /// let ports = diagram.ports(&plant)?;
    /// let mut ctx = diagram.default_context();
    /// ctx.fix(ports.applied_generalized_force()?, AutoDiff::from(12.0))?;
    /// ports.set_mass(&mut ctx, cart, AutoDiff::variable(3.0, 0))?;
    /// let vdot = ctx.eval(ports.generalized_acceleration()?)?[0];
    /// assert!((vdot.re - 4.0).abs() < 1e-15 && (vdot.eps[0] + 12.0 / 9.0).abs() < 1e-15);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the body is unknown or the world, the mass is negative or not finite,
    /// the body has rotational inertia but no mass in the model, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram. Nothing changes in that case.
    pub fn set_mass(&self, context: &mut Context<T>, body: BodyIndex, mass: T) -> Result<()> {
        self.check_moving(body)?;
        check_amount(|| self.body_label(body), "mass (kg)", mass)?;
        let now = self.reader(context)?.inertia(body);
        let now = now.ok_or_else(|| self.no_unit_inertia(body))?;
        let numbers = StoredInertia { mass, ..now }.numbers();
        self.store(context, ParameterOwner::Body(body), &numbers)
    }

    /// Returns the mass (kg) of a body in a context (Drake's `RigidBody::get_mass`).
    ///
    /// # Errors
    /// Returns an error if the body is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn mass(&self, context: &Context<T>, body: BodyIndex) -> Result<T> {
        let model = self.body(body)?.spatial_inertia().mass();
        let found = self.reader(context)?.inertia(body);
        Ok(found.map_or_else(|| T::from(model), |m| m.mass))
    }

    /// Sets mass (kg), centre of mass `p_BoBcm_B` (m) and rotational inertia about the centre of
    /// mass `I_BBcm_B` (kg m^2) of a body in a context (Drake's
    /// `RigidBody::SetSpatialInertiaInBodyFrame`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_mass`], and an error if no body can have such mass
    /// properties, if the inertia is not symmetric, or if it is not 0 although the mass is.
    pub fn set_spatial_inertia(
        &self,
        context: &mut Context<T>,
        body: BodyIndex,
        mass: T,
        p_bobcm_b: Vector3<T>,
        i_bbcm_b: Matrix3<T>,
    ) -> Result<()> {
        self.check_moving(body)?;
        let fail = |why: &str| Error::invalid(format!("{}: {why}", self.body_label(body)));
        let i = i_bbcm_b.map(|x| x.re());
        SpatialInertia::from_central(mass.re(), p_bobcm_b.map(|x| x.re()), i)
            .map_err(|e| fail(&e.to_string()))?;
        if i != i.transpose() {
            return Err(fail(&format!(
                "the rotational inertia must be symmetric, got {:?} column by column",
                i.as_slice()
            )));
        }
        if mass.re() == 0.0 && i != Matrix3::zeros() {
            return Err(fail(
                "the mass must be positive where the rotational inertia is not 0, got 0 kg",
            ));
        }
        let p = &p_bobcm_b;
        let unit = |a: usize, b: usize| {
            let square = if a == b { p.dot(p) } else { T::zero() };
            let central = if mass.re() == 0.0 {
                T::zero()
            } else {
                i_bbcm_b[(a, b)] / mass
            };
            central + square - p[a] * p[b]
        };
        let stored = StoredInertia {
            mass,
            p_bobcm_b,
            unit: [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|(a, b)| unit(a, b)),
        };
        self.store(context, ParameterOwner::Body(body), &stored.numbers())
    }

    /// Returns mass (kg), centre of mass `p_BoBcm_B` (m) and rotational inertia about the centre of
    /// mass `I_BBcm_B` (kg m^2) of a body in a context (Drake's
    /// `RigidBody::CalcSpatialInertiaInBodyFrame`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::mass`].
    pub fn spatial_inertia(
        &self,
        context: &Context<T>,
        body: BodyIndex,
    ) -> Result<(T, Vector3<T>, Matrix3<T>)> {
        let model = self.body(body)?.spatial_inertia();
        Ok(match self.reader(context)?.inertia(body) {
            Some(m) => {
                let p = m.p_bobcm_b;
                let shift = Matrix3::from_diagonal_element(p.dot(&p)) - p * p.transpose();
                (m.mass, p, (m.unit_matrix() - shift) * m.mass)
            }
            None => (
                T::from(model.mass()),
                model.center_of_mass().map(T::from),
                model.rotational_inertia().map(T::from),
            ),
        })
    }

    /// Sets the damping of a joint by velocity (N m s/rad or N s/m) in a context (Drake's
    /// `Joint::SetDampingVector`).
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, there are not as many values as velocities, one is
    /// negative or not finite, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram. Nothing changes in that case.
    pub fn set_damping_vector(
        &self,
        context: &mut Context<T>,
        joint: JointIndex,
        damping: &[T],
    ) -> Result<()> {
        let n = self.joint(joint)?.num_velocities();
        if damping.len() != n {
            let why = format!(
                "damping must have {values}, got {}",
                damping.len(),
                values = counted(n, "value")
            );
            return Err(self.joint_error(joint, &why));
        }
        for x in damping {
            let label = || format!("joint '{}'", self.joints[joint.index()].name());
            check_amount(label, "damping (N m s/rad or N s/m)", *x)?;
        }
        self.store(context, ParameterOwner::Joint(joint), damping)
    }

    /// Returns the damping of a joint by velocity (N m s/rad or N s/m) in a context (Drake's
    /// `Joint::GetDampingVector`).
    ///
    /// # Errors
    /// Returns an error if the joint is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn damping_vector(&self, context: &Context<T>, joint: JointIndex) -> Result<Vec<T>> {
        self.joint(joint)?;
        Ok(self.reader(context)?.damping(joint))
    }

    /// Sets the rotor inertia of an actuator (kg m^2, or kg on a prismatic joint) in a context
    /// (Drake's `JointActuator::SetRotorInertia`).
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown, the inertia is negative or not finite, or not 0
    /// on a spatial tendon, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram. Nothing changes in that case.
    pub fn set_rotor_inertia(
        &self,
        context: &mut Context<T>,
        actuator: JointActuatorIndex,
        rotor_inertia: T,
    ) -> Result<()> {
        self.joint_actuator(actuator)?;
        let label = || self.actuator_label(actuator);
        check_amount(label, "rotor inertia (kg m^2 or kg)", rotor_inertia)?;
        self.check_rotor(actuator, rotor_inertia.re())?;
        let [_, gear] = self.reader(context)?.rotor(actuator.index());
        let owner = ParameterOwner::Actuator(actuator.index());
        self.store(context, owner, &[rotor_inertia, gear])
    }

    /// Sets the gear ratio of an actuator's rotor in a context (Drake's
    /// `JointActuator::SetGearRatio`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_rotor_inertia`], but the ratio may be negative. Also
    /// returns an error for another ratio of a rotor without inertia if the actuator has an
    /// [`AffineControl`](crate::AffineControl), whose own gear does not change.
    pub fn set_gear_ratio(
        &self,
        context: &mut Context<T>,
        actuator: JointActuatorIndex,
        gear_ratio: T,
    ) -> Result<()> {
        let control = self.joint_actuator(actuator)?.affine_control();
        let ratio = gear_ratio.re();
        if !ratio.is_finite() {
            let why = format!("the gear ratio must be finite, got {ratio:?}");
            return Err(self.actuator_error(actuator, &why));
        }
        let [rotor, current] = self.reader(context)?.rotor(actuator.index());
        let has_effect = rotor.re() != 0.0 || ratio == current.re();
        if let (Some(control), false) = (control, has_effect) {
            let why = format!(
                "the gear of an AffineControl must stay {:?} in a context, and the gear ratio of a \
                 rotor without inertia has no effect, got {ratio:?}; set the gear in the model",
                control.gear
            );
            return Err(self.actuator_error(actuator, &why));
        }
        let owner = ParameterOwner::Actuator(actuator.index());
        self.store(context, owner, &[rotor, gear_ratio])
    }

    /// Returns the rotor inertia of an actuator (kg m^2, or kg on a prismatic joint) in a context
    /// (Drake's `JointActuator::rotor_inertia`).
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown, unless the plant has
    /// [`PositionSource::State`](crate::PositionSource::State), or if the context belongs to
    /// another diagram.
    pub fn rotor_inertia(&self, context: &Context<T>, actuator: JointActuatorIndex) -> Result<T> {
        self.joint_actuator(actuator)?;
        let [rotor, _] = self.reader(context)?.rotor(actuator.index());
        Ok(rotor)
    }

    /// Returns the gear ratio of an actuator in a context (Drake's `JointActuator::gear_ratio`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::rotor_inertia`].
    pub fn gear_ratio(&self, context: &Context<T>, actuator: JointActuatorIndex) -> Result<T> {
        self.joint_actuator(actuator)?;
        let [_, gear] = self.reader(context)?.rotor(actuator.index());
        Ok(gear)
    }
}

/// Checks that the value of a number is finite and at least 0.
pub(super) fn check_amount<T: Scalar>(place: impl Fn() -> String, what: &str, x: T) -> Result<()> {
    let x = x.re();
    if x >= 0.0 && x.is_finite() {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "{}: the {what} must be finite and at least 0, got {x:?}",
            place()
        )))
    }
}

impl<T: Scalar> MultibodyPlantPorts<T> {
    fn check_moving(&self, body: BodyIndex) -> Result<()> {
        self.body(body)?;
        match body {
            BodyIndex::WORLD => Err(Error::invalid(
                "the world body has no mass to set; set that of another body",
            )),
            _ => Ok(()),
        }
    }

    fn body_label(&self, body: BodyIndex) -> String {
        format!("body '{}'", self.scoped_body_name(body))
    }

    fn actuator_label(&self, actuator: JointActuatorIndex) -> String {
        format!("actuator '{}'", self.actuators[actuator.index()].name())
    }

    #[cold]
    fn no_unit_inertia(&self, body: BodyIndex) -> Error {
        Error::invalid(format!(
            "{}: the mass must be positive in the model, which has rotational inertia, got 0 kg; \
             call `set_spatial_inertia`",
            self.body_label(body)
        ))
    }

    /// Returns a reader of the parameters in a context, after a check that they are of this plant.
    pub(in crate::plant) fn reader<'a>(
        &'a self,
        context: &'a Context<T>,
    ) -> Result<ParameterReader<'a, T>> {
        let handles = self.dynamics()?.parameters;
        let (layout, values) = (
            context.param(handles.layout)?,
            context.param(handles.values)?,
        );
        Ok(ParameterReader {
            plant: self,
            layout,
            values,
        })
    }

    pub(super) fn store(
        &self,
        context: &mut Context<T>,
        owner: ParameterOwner,
        numbers: &[T],
    ) -> Result<()> {
        self.change_parameters(context, |layout, values| {
            layout.set(values, owner, numbers);
        })
    }

    pub(super) fn change_parameters(
        &self,
        context: &mut Context<T>,
        change: impl FnOnce(&mut ParameterLayout, &mut Vec<T>),
    ) -> Result<()> {
        self.reader(context)?;
        let handles = self.dynamics()?.parameters;
        let mut values = std::mem::take(context.param_mut(handles.values)?);
        change(context.param_mut(handles.layout)?, &mut values);
        *context.param_mut(handles.values)? = values;
        Ok(())
    }
}
