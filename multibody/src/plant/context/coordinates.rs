//! Positions and velocities of a plant in the context of its diagram: state or input self.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{BodyIndex, ModelInstanceIndex};
use crate::plant::ports::MultibodyPlantPorts;
use crate::spatial::SpatialVector;
use crate::tree::CoordinateKind;
use nalgebra::{Isometry3, Vector3};
use std::ops::Range;
use tarragon_framework::prelude::InputPort;
use tarragon_framework::{Context, Scalar};

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Returns the positions q of the plant in a context, from its state or its input port
    /// `position` (Drake's `GetPositions`).
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram, or if the port has no value.
    pub fn positions(&self, context: &Context<T>) -> Result<Vec<T>> {
        self.read(CoordinateKind::Positions, context)
    }
    /// Returns the velocities v of the plant in a context, from its state or its input port
    /// `velocity` (Drake's `GetVelocities`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::positions`].
    pub fn velocities(&self, context: &Context<T>) -> Result<Vec<T>> {
        self.read(CoordinateKind::Velocities, context)
    }
    /// Returns the positions of one model instance in a context (Drake's `GetPositions(context,
    /// model_instance)`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::positions`], and an error if the instance is unknown.
    pub fn positions_in(
        &self,
        context: &Context<T>,
        instance: ModelInstanceIndex,
    ) -> Result<Vec<T>> {
        self.positions_from_array(instance, &self.positions(context)?)
    }
    /// Returns the velocities of one model instance in a context (Drake's `GetVelocities(context,
    /// model_instance)`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::positions`], and an error if the instance is unknown.
    pub fn velocities_in(
        &self,
        context: &Context<T>,
        instance: ModelInstanceIndex,
    ) -> Result<Vec<T>> {
        self.velocities_from_array(instance, &self.velocities(context)?)
    }

    /// Sets the positions q of the plant in a context: in its state, or as the value of its input
    /// port `position`, which must not be connected (Drake's `SetPositions`).
    ///
    /// # Errors
    /// Returns an error if the number of values is wrong, a value is not finite, the port is
    /// connected, or the context belongs to another diagram. Nothing changes in that case.
    pub fn set_positions(&self, context: &mut Context<T>, q: impl AsRef<[T]>) -> Result<()> {
        self.write(CoordinateKind::Positions, context, q.as_ref())
    }
    /// Sets the velocities v of the plant in a context: in its state, or as the value of its input
    /// port `velocity`, which must not be connected (Drake's `SetVelocities`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_positions`].
    pub fn set_velocities(&self, context: &mut Context<T>, v: impl AsRef<[T]>) -> Result<()> {
        self.write(CoordinateKind::Velocities, context, v.as_ref())
    }
    /// Sets the positions of one model instance in a context (Drake's `SetPositions(context,
    /// model_instance, q)`). The other positions keep their values, or get their defaults if the
    /// input port `position` has no value yet.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_framework::prelude::*;
    /// use tarragon_multibody::{BodyIndex, Joint, MultibodyPlantBuilder, SpatialInertia};
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let arm = plant.add_model_instance("arm")?;
    /// let link = plant.add_rigid_body("link", arm, SpatialInertia::zero())?;
    /// plant.add_joint(Joint::revolute("elbow", BodyIndex::WORLD, link, Vector3::z())?)?;
    /// let plant = plant.build()?;
    /// let mut b = DiagramBuilder::new();
    /// let plant = b.add("plant", plant);
    /// let mut ctx = b.build()?.default_context();
    /// plant.set_positions_in(&mut ctx, arm, &[0.5])?;
    /// assert_eq!(plant.positions(&ctx)?, [0.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_positions`], and an error if the instance is unknown.
    pub fn set_positions_in(
        &self,
        context: &mut Context<T>,
        instance: ModelInstanceIndex,
        q_instance: impl AsRef<[T]>,
    ) -> Result<()> {
        let which = CoordinateKind::Positions;
        self.write_in(which, context, instance, q_instance.as_ref())
    }
    /// Sets the velocities of one model instance in a context (Drake's `SetVelocities(context,
    /// model_instance, v)`). The other velocities keep their values, or become 0 if the input port
    /// `velocity` has no value yet.
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_positions`], and an error if the instance is unknown.
    pub fn set_velocities_in(
        &self,
        context: &mut Context<T>,
        instance: ModelInstanceIndex,
        v_instance: impl AsRef<[T]>,
    ) -> Result<()> {
        let which = CoordinateKind::Velocities;
        self.write_in(which, context, instance, v_instance.as_ref())
    }

    /// Sets the pose `X_WB` of a free body in a context (Drake's `SetFreeBodyPose`); everything
    /// else keeps its positions, or gets its defaults if the input port `position` has no value
    /// yet.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use tarragon_framework::prelude::*;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let model = ModelInstanceIndex::DEFAULT;
    /// let ball = plant.add_rigid_body("ball", model, SpatialInertia::zero())?;
    /// let plant = plant.build()?;
    /// let mut b = DiagramBuilder::new();
    /// let plant = b.add("plant", plant);
    /// let mut ctx = b.build()?.default_context();
    /// let system = plant.system();
    /// plant.set_free_body_pose(&mut ctx, ball, Isometry3::translation(0.0, 0.0, 2.0))?;
    /// let (rotational, translational) = (Vector3::y() * 10.0, Vector3::x());
    /// let rolling = SpatialVector { rotational, translational };
    /// plant.set_free_body_spatial_velocity(&mut ctx, ball, rolling)?;
    /// assert_eq!(plant.positions(&ctx)?, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    /// assert_eq!(plant.velocities(&ctx)?, [0.0, 10.0, 0.0, 1.0, 0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_positions`], and an error if the body is unknown or not
    /// free.
    pub fn set_free_body_pose(
        &self,
        context: &mut Context<T>,
        body: BodyIndex,
        x_wb: Isometry3<T>,
    ) -> Result<()> {
        let which = CoordinateKind::Positions;
        let starts = &self.topology.starts;
        let joint = self.floating_joint(body)?.index();
        let (p, r) = (&x_wb.translation, &x_wb.rotation);
        let position = [("x", p.x), ("y", p.y), ("z", p.z)].map(|(name, x)| (name, x, " m"));
        let quaternion = [("w", r.w), ("x", r.i), ("y", r.j), ("z", r.k)];
        let quaternion = quaternion.map(|(name, x)| (name, x, ""));
        self.check_given(body, "position of the pose", &position)?;
        self.check_given(body, "quaternion of the pose", &quaternion)?;
        let (start, own) = (
            starts[joint].0,
            self.joints[joint].floating_positions(&x_wb),
        );
        let mut all = self.coordinates_or_defaults(which, context)?;
        all[start..start + own.len()].copy_from_slice(&own);
        self.write(which, context, &all)
    }
    /// Sets the spatial velocity `V_WB` of a free body in a context, of its origin in the world and
    /// expressed in the world (rad/s, m/s; Drake's `SetFreeBodySpatialVelocity`). The pose of the
    /// body is set first, if it changes, too. Everything else keeps its velocities, or gets 0 if
    /// the input port `velocity` has no value yet.
    ///
    /// # Errors
    /// Returns the errors of [`Self::set_free_body_pose`].
    pub fn set_free_body_spatial_velocity(
        &self,
        context: &mut Context<T>,
        body: BodyIndex,
        v_wb: SpatialVector<T>,
    ) -> Result<()> {
        let which = CoordinateKind::Velocities;
        let starts = &self.topology.starts;
        let joint = self.floating_joint(body)?.index();
        let named = |v: &Vector3<T>, unit| [("x", v.x, unit), ("y", v.y, unit), ("z", v.z, unit)];
        self.check_given(body, "angular velocity", &named(&v_wb.rotational, " rad/s"))?;
        self.check_given(body, "velocity", &named(&v_wb.translational, " m/s"))?;
        let q = self.coordinates_or_defaults(CoordinateKind::Positions, context)?;
        let x_wb = *self.calc_position_kinematics(&q)?.x_wb(body);
        let (start, joint) = (starts[joint].1, &self.joints[joint]);
        let own = joint.floating_velocities(&x_wb, &v_wb);
        let mut all = self.coordinates_or_defaults(which, context)?;
        all[start..start + own.len()].copy_from_slice(&own);
        self.write(which, context, &all)
    }

    /// Checks that the components of a vector that a caller gives for a body are finite. Each has
    /// its name, its value and the unit.
    fn check_given(
        &self,
        body: BodyIndex,
        what: &str,
        components: &[(&str, T, &str)],
    ) -> Result<()> {
        match components.iter().find(|(_, x, _)| !x.re().is_finite()) {
            None => Ok(()),
            Some((name, bad, unit)) => Err(Error::invalid(format!(
                "body '{}': {name} of the {what} must be finite, got {:?}{unit}",
                self.scoped_body_name(body),
                bad.re()
            ))),
        }
    }

    fn read(&self, which: CoordinateKind, context: &Context<T>) -> Result<Vec<T>> {
        let found = self.read_optional(which, context)?;
        found.ok_or_else(|| {
            let port = match which {
                CoordinateKind::Velocities => "velocity",
                _ => "position",
            };
            let message = format!(
                "MultibodyPlant: input port '{port}' must have a value before its {} are read, got \
                 none; connect it or call `set_{}`",
                which.name(),
                which.name()
            );
            Error::new(ErrorKind::Unconnected, message)
        })
    }

    /// Returns the coordinates in a context; `None` if their input port has no value.
    fn read_optional(&self, which: CoordinateKind, context: &Context<T>) -> Result<Option<Vec<T>>> {
        let (port, range) = self.place(which);
        if let Some(port) = port {
            return Ok(context.eval_optional_input(port)?.cloned());
        }
        let x = match (self.discrete_state, self.continuous_state) {
            (Some(state), _) => context.xd(state)?,
            (None, Some(state)) => context.xc(state)?,
            (None, None) => &[],
        };
        Ok(Some(x[range].to_vec()))
    }

    fn write(&self, which: CoordinateKind, context: &mut Context<T>, values: &[T]) -> Result<()> {
        self.topology.check(which, values)?;
        let (port, range) = self.place(which);
        if let Some(port) = port {
            return context.fix(port, values.to_vec());
        }
        let x = match (self.discrete_state, self.continuous_state) {
            (Some(state), _) => context.xd_mut(state)?,
            (None, Some(state)) => context.xc_mut(state)?,
            (None, None) => &mut [],
        };
        x[range].copy_from_slice(values);
        Ok(())
    }

    fn write_in(
        &self,
        which: CoordinateKind,
        context: &mut Context<T>,
        instance: ModelInstanceIndex,
        own: &[T],
    ) -> Result<()> {
        let mut all = self.coordinates_or_defaults(which, context)?;
        self.put(instance, which, own, &mut all)?;
        self.write(which, context, &all)
    }

    /// Returns the coordinates in a context, or their defaults if their input port has no value.
    pub(super) fn coordinates_or_defaults(
        &self,
        which: CoordinateKind,
        context: &Context<T>,
    ) -> Result<Vec<T>> {
        Ok(match (self.read_optional(which, context)?, which) {
            (Some(found), _) => found,
            (None, CoordinateKind::Velocities) => vec![T::zero(); self.num_velocities()],
            (None, _) => self.default_positions().into_iter().map(T::from).collect(),
        })
    }

    /// Returns the input port that supplies the coordinates, if any, and their range in a state
    /// `[q; v]`.
    fn place(&self, which: CoordinateKind) -> (Option<InputPort<Vec<T>>>, Range<usize>) {
        let (nq, nv) = (self.num_positions(), self.num_velocities());
        match which {
            CoordinateKind::Velocities => (self.velocity, nq..nq + nv),
            _ => (self.position, 0..nq),
        }
    }
}
