//! Registration of deformable geometry, and its rigid partners in contact.

use super::contact_partner::ContactPartner;
use super::state::{GeometryState, RegisteredGeometry, WORLD};
use crate::deformable::DeformableForm;
use crate::error::{Error, Result};
use crate::hydro::HydroelasticForm;
use crate::ids::{FrameId, GeometryId, SourceId};
use crate::properties::{
    GeometryProperties, HydroelasticType, PerceptionProperties, ProximityProperties,
};
use crate::scene::instance::GeometryInstance;
use crate::shape::Shape;
use std::sync::Arc;
use tarragon_framework::warnings::warn;

impl RegisteredGeometry {
    /// Makes the meshes that a perception role drives, if the geometry is deformable.
    ///
    /// # Errors
    /// Returns an error if the file of an embedded mesh cannot be used.
    pub(super) fn drive_perception(&mut self, properties: &PerceptionProperties) -> Result<()> {
        if let Some(form) = &self.deformable {
            self.deformable = Some(Arc::new(form.with_perception(properties)?));
        }
        Ok(())
    }
}

impl GeometryState {
    /// Adds a geometry whose shape is a tetrahedral mesh with vertices that move on their own
    /// (Drake's `RegisterDeformableGeometry`). The pose of the instance places the reference mesh
    /// in the world; later positions come in through the source's port for configurations.
    ///
    /// A `Mesh` of a VTK file is its tetrahedra. A `Sphere` is an octahedron whose tetrahedra are
    /// divided into eight until the edges of its surface are no longer than `resolution_hint` (m),
    /// which other shapes do not need. The geometry counts as dynamic, although it is on the world.
    ///
    /// Perception shows the boundary of the mesh, or the surfaces of the file that the property
    /// `("deformable", "embedded_mesh")`, a `String`, names: they have the scale and pose of the
    /// shape, and move with the tetrahedra that hold their vertices.
    ///
    /// ```
    /// use nalgebra::Isometry3;
    /// use tarragon_geometry::{GeometryInstance, SceneGraph, Sphere};
    /// let mut scene = SceneGraph::new();
    /// let toys = scene.register_source("toys")?;
    /// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
    /// let world = scene.world_frame_id();
    /// let ball = scene.register_deformable_geometry(toys, world, ball, 0.06)?;
    /// let mesh = scene.model_inspector().reference_mesh(ball)?;
    /// assert_eq!((mesh.num_vertices(), mesh.num_elements()), (129, 512));
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error in the cases of [`GeometryState::register_geometry`], if the frame is not
    /// the world, if the shape is another one, if the hint is not positive or gives more than a
    /// quarter of a million tetrahedra, if a tetrahedron of the file has no positive volume, or if
    /// a vertex of an embedded surface is outside the reference mesh by more than 1e-6 of its size.
    /// In that case nothing is registered.
    pub fn register_deformable_geometry(
        &mut self,
        source: SourceId,
        frame: FrameId,
        instance: GeometryInstance,
        resolution_hint: f64,
    ) -> Result<GeometryId> {
        self.source_number(source)?;
        let number = self.frame_number(frame)?;
        if number != WORLD {
            return Err(Error::invalid(format!(
                "geometry '{}': deformable geometry must be on the world frame, got frame '{}'; its \
                 vertices have coordinates in the world",
                instance.name, self.frames[number].name
            )));
        }
        let x_wg = instance.x_pg;
        self.add_geometry(source, WORLD, instance, |geometry| {
            let form = DeformableForm::new(&geometry.shape, &x_wg, resolution_hint)?;
            geometry.deformable = Some(Arc::new(form));
            match geometry.perception.clone() {
                Some(properties) => geometry.drive_perception(&properties),
                None => Ok(()),
            }
        })
    }

    /// Returns the rigid geometries that deformable geometry can touch: those with the proximity
    /// role, a resolution hint and a modulus, but for half spaces. They are represented by
    /// compliant hydroelastic meshes, even if they are rigid.
    ///
    /// # Errors
    /// Returns an error if the mesh of a geometry cannot be made.
    pub(in crate::scene) fn contact_partners(&self) -> Result<Arc<[ContactPartner]>> {
        if let Some(partners) = self.contact_partners.get() {
            return Ok(partners.clone());
        }
        let mut partners = vec![];
        for (number, geometry) in self.geometries.iter().enumerate() {
            let Some(properties) = geometry.proximity.as_ref() else {
                continue;
            };
            if geometry.bound.is_some() && has_hint_and_modulus(properties) {
                let form = compliant_form(geometry, properties);
                let form = form.map_err(|e| e.at(self.place(geometry)))?;
                if let Some((mesh, modulus)) = form.as_ref().and_then(HydroelasticForm::compliant) {
                    partners.push(ContactPartner {
                        geometry: number,
                        mesh: mesh.clone(),
                        modulus,
                    });
                }
            }
        }
        Ok(self
            .contact_partners
            .get_or_init(|| partners.into())
            .clone())
    }
}

fn has_hint_and_modulus(properties: &GeometryProperties) -> bool {
    let has = |name: &str| properties.has("hydroelastic", name);
    has("resolution_hint") && has("hydroelastic_modulus")
}

/// Returns the form of a geometry as if it were compliant; `None` for a half space.
fn compliant_form(
    geometry: &RegisteredGeometry,
    properties: &ProximityProperties,
) -> Result<Option<HydroelasticForm>> {
    if matches!(geometry.shape, Shape::HalfSpace(_)) {
        warn(format!(
            "geometry '{}' is a half space, which deformable geometry does not touch; use a large box",
            geometry.name
        ));
        return Ok(None);
    }
    if geometry.hydroelastic.compliant().is_some() {
        return Ok(Some(geometry.hydroelastic.clone()));
    }
    let mut compliant = properties.clone();
    compliant.set_untyped(
        "hydroelastic",
        "compliance_type",
        HydroelasticType::Compliant,
    );
    HydroelasticForm::of(&geometry.shape, &compliant).map(Some)
}
