//! Quantities that are asked of a plant most often, in the state of a context.

use crate::error::{Error, Result};
use crate::model::{BodyIndex, FrameIndex};
use crate::plant::ports::MultibodyPlantPorts;
use crate::spatial::SpatialVector;
use nalgebra::{DMatrix, Isometry3, Vector3};
use tarragon_documents::names;
use tarragon_framework::{Context, Scalar};
use tarragon_geometry::GeometryId;

/// One call each. To ask for several quantities in one state, [`Self::in_context`] computes the
/// kinematics only once.
impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Computes the kinetic and the potential energy (J) in a context, with its masses and springs.
    ///
    /// # Errors
    /// Returns the errors of [`Self::in_context`].
    pub fn energy(&self, context: &Context<T>) -> Result<T> {
        let here = self.in_context(context)?;
        Ok(here.calc_kinetic_energy() + here.calc_potential_energy())
    }
    /// Computes the kinetic energy (J) in a context, with its masses.
    ///
    /// # Errors
    /// Returns the errors of [`Self::in_context`].
    pub fn kinetic_energy(&self, context: &Context<T>) -> Result<T> {
        Ok(self.in_context(context)?.calc_kinetic_energy())
    }
    /// Computes the potential energy (J) of gravity and of springs in a context.
    ///
    /// # Errors
    /// Returns the errors of [`Self::in_context`].
    pub fn potential_energy(&self, context: &Context<T>) -> Result<T> {
        Ok(self.in_context(context)?.calc_potential_energy())
    }
    /// Computes the mass matrix M(q) in a context, `num_velocities` square (kg, kg m, kg m^2).
    ///
    /// # Errors
    /// Returns the errors of [`Self::in_context`].
    pub fn mass_matrix(&self, context: &Context<T>) -> Result<DMatrix<T>> {
        Ok(self.in_context(context)?.calc_mass_matrix())
    }
    /// Computes the position of the center of mass of all bodies in a context, `p_WoScm_W` (m).
    ///
    /// # Errors
    /// Returns the errors of [`Self::in_context`], and an error if no body has mass.
    pub fn center_of_mass(&self, context: &Context<T>) -> Result<Vector3<T>> {
        self.in_context(context)?
            .calc_center_of_mass_position_in_world()
    }

    /// Returns the pose `X_WB` of a body in a context (Drake's `EvalBodyPoseInWorld`).
    ///
    /// # Errors
    /// Returns an error if the body is unknown, the positions have no value, or the context belongs
    /// to another diagram.
    pub fn body_pose(&self, context: &Context<T>, body: BodyIndex) -> Result<Isometry3<T>> {
        self.body(body)?;
        Ok(context.eval(self.body_poses)?[body.index()])
    }
    /// Returns the spatial velocity `V_WB` of a body in a context (rad/s, m/s; Drake's
    /// `EvalBodySpatialVelocityInWorld`).
    ///
    /// # Errors
    /// Returns the errors of [`Self::body_pose`].
    pub fn body_spatial_velocity(
        &self,
        context: &Context<T>,
        body: BodyIndex,
    ) -> Result<SpatialVector<T>> {
        self.body(body)?;
        Ok(context.eval(self.body_spatial_velocities)?[body.index()])
    }
    /// Returns the pose `X_WF` of a frame in a context.
    ///
    /// # Errors
    /// Returns an error if the frame is unknown, and the errors of [`Self::body_pose`].
    pub fn frame_pose(&self, context: &Context<T>, frame: FrameIndex) -> Result<Isometry3<T>> {
        let frame = self.frame(frame)?;
        let x_wb = self.body_pose(context, frame.body())?;
        Ok(x_wb * nalgebra::convert::<Isometry3<f64>, Isometry3<T>>(*frame.pose_in_body()))
    }

    /// Returns the sum of all forces of contact on a body or on one of its geometries, in W (N), as
    /// the port `contact_results` reports them. `name` names a body (plain or scoped,
    /// `model::body`) or else a collision geometry.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use tarragon_framework::prelude::*;
    /// use tarragon_formats::Parser;
    /// use tarragon_geometry::{HalfSpace, ProximityProperties, SceneGraph};
    /// use tarragon_multibody::*;
    /// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.001)?, SceneGraph::new());
    /// let ball = r#"<robot name="toy"><link name="ball"><inertial><mass value="2"/>
    ///     <inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
    ///     <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"#;
    /// Parser::with_scene_graph(&mut plant, &mut scene).add_models_from_string(ball, "urdf")?;
    /// let (world, level) = (BodyIndex::WORLD, Isometry3::identity());
    /// let floor = ProximityProperties::new();
    /// plant.register_collision_geometry(&mut scene, world, level, HalfSpace, "floor", floor)?;
    ///
    /// let mut b = DiagramBuilder::new();
    /// let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene)?;
    /// let diagram = b.build()?;
    /// let mut ctx = diagram.default_context();
    /// plant.set_positions(&mut ctx, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1])?;
    /// let mut sim = Simulator::new(&diagram, ctx)?;
    /// sim.advance_to(1.0)?;
    /// let weight = plant.contact_force(sim.context(), "ball")?.z;
    /// assert!((weight - 2.0 * 9.81).abs() < 1e-3);
    /// assert_eq!(plant.contact_force_between(sim.context(), "ball", "floor")?.z, weight);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if nothing has this name, if several geometries have it, or unless the
    /// plant has [`PositionSource::State`](crate::PositionSource::State).
    pub fn contact_force(&self, context: &Context<T>, name: &str) -> Result<Vector3<T>> {
        let own = self.geometries_named(context, name)?;
        self.sum_of_contact_forces(context, &own, |_| true)
    }

    /// Returns the sum of all forces of contact that one body or geometry exerts on another, in W
    /// (N): the forces on `name`. Names mean the same as in [`Self::contact_force`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::contact_force`].
    pub fn contact_force_between(
        &self,
        context: &Context<T>,
        name: &str,
        other: &str,
    ) -> Result<Vector3<T>> {
        let own = self.geometries_named(context, name)?;
        let others = self.geometries_named(context, other)?;
        self.sum_of_contact_forces(context, &own, |id| others.contains(&id))
    }

    /// Adds the forces on some geometries, where the other geometry is one that counts.
    fn sum_of_contact_forces(
        &self,
        context: &Context<T>,
        own: &[GeometryId],
        counts: impl Fn(GeometryId) -> bool,
    ) -> Result<Vector3<T>> {
        let mut sum = Vector3::zeros();
        let contacts = context.eval(self.contact_results()?)?;
        contacts.for_each_force(|on, from, force| {
            if own.contains(&on) && counts(from) {
                sum += force;
            }
            if own.contains(&from) && counts(on) {
                sum -= force;
            }
        });
        Ok(sum)
    }

    /// Returns the collision geometries of the body with a name, or the geometry with it.
    fn geometries_named(&self, context: &Context<T>, name: &str) -> Result<Vec<GeometryId>> {
        let unknown = match self.body_by_name(name) {
            Ok(body) => return Ok(self.collision_geometries(body).to_vec()),
            Err(unknown) => unknown,
        };
        // Without a scene, there are no geometries to name.
        let Ok(port) = self.geometry_query() else {
            return Err(unknown);
        };
        let Some(query) = context.eval_optional_input(port)? else {
            return Err(unknown);
        };
        let inspector = query.inspector();
        let mut matches = vec![];
        for id in self.all_collision_geometries() {
            let full = inspector.name(id)?;
            if full == name || full.rsplit("::").next() == Some(name) {
                let frame = inspector.frame_name(inspector.frame_id(id)?)?;
                matches.push((id, format!("{frame}/{full}")));
            }
        }
        let found = names::only_match("geometry", name, &matches)?;
        let id = found.ok_or_else(|| {
            Error::not_found(format!(
                "no collision geometry has this name, and {unknown}"
            ))
        })?;
        Ok(vec![id])
    }
}
