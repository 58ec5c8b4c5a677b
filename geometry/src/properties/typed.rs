//! The properties that engines and visualizers know, by name and type.
//!
//! Groups and names are Drake's, so that property sets mean the same in both libraries.

use super::checks::{
    HYDROELASTIC, MATERIAL, check_max_pieces, check_not_negative, check_not_negative_finite,
    check_positive, check_positive_finite,
};
use super::{
    CoulombFriction, HydroelasticTessellation, HydroelasticType, IllustrationProperties,
    PerceptionProperties, ProximityProperties, RenderLabel,
};
use crate::error::Result;
use crate::rgba::Rgba;
use crate::shape::ProjectedTexture;
use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;

const PHONG: &str = "phong";

/// Contact of points, patches and meshes. Each method adds the property or replaces its value.
impl ProximityProperties {
    fn with<V: Any + Send + Sync>(mut self, group: &str, name: &str, value: V) -> Self {
        self.set_untyped(group, name, value);
        self
    }

    /// Sets the coefficients of friction, `("material", "coulomb_friction")`.
    ///
    /// ```
    /// use tarragon_geometry::{CoulombFriction, ProximityProperties};
    /// let rubber = CoulombFriction::new(1.0, 0.8)?;
    /// let p = ProximityProperties::new().with_friction(rubber).with_point_stiffness(1e5)?;
    /// assert_eq!(p.get::<CoulombFriction>("material", "coulomb_friction")?, &rubber);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_friction(self, friction: CoulombFriction) -> Self {
        self.with(MATERIAL, "coulomb_friction", friction)
    }
    /// Sets the stiffness of point contact (N/m), `("material", "point_contact_stiffness")`.
    ///
    /// # Errors
    /// Returns an error if it is not positive.
    pub fn with_point_stiffness(self, stiffness: f64) -> Result<Self> {
        check_positive("point_contact_stiffness", stiffness)?;
        Ok(self.with(MATERIAL, "point_contact_stiffness", stiffness))
    }
    /// Sets the dissipation of Hunt and Crossley (s/m), `("material",
    /// "hunt_crossley_dissipation")`.
    ///
    /// # Errors
    /// Returns an error if it is negative.
    pub fn with_dissipation(self, dissipation: f64) -> Result<Self> {
        check_not_negative("hunt_crossley_dissipation", dissipation)?;
        Ok(self.with(MATERIAL, "hunt_crossley_dissipation", dissipation))
    }
    /// Sets the relaxation time of linear dissipation (s), `("material", "relaxation_time")`.
    ///
    /// # Errors
    /// Returns an error if it is negative or not finite.
    pub fn with_relaxation_time(self, time: f64) -> Result<Self> {
        check_not_negative_finite("relaxation_time", time)?;
        Ok(self.with(MATERIAL, "relaxation_time", time))
    }

    /// Makes the geometry infinitely stiff in hydroelastic contact, `("hydroelastic",
    /// "compliance_type")`. Spheres, cylinders, capsules and ellipsoids also need a
    /// [resolution hint](Self::with_resolution_hint).
    ///
    /// ```
    /// use tarragon_geometry::{HydroelasticType, ProximityProperties};
    /// let p = ProximityProperties::new().with_rigid_hydroelastic().with_resolution_hint(0.01)?;
    /// let kind = p.get::<HydroelasticType>("hydroelastic", "compliance_type")?;
    /// assert_eq!(*kind, HydroelasticType::Rigid);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_rigid_hydroelastic(self) -> Self {
        self.with(HYDROELASTIC, "compliance_type", HydroelasticType::Rigid)
    }
    /// Makes the geometry compliant in hydroelastic contact, with a modulus (Pa): `("hydroelastic",
    /// "compliance_type")` and `("hydroelastic", "hydroelastic_modulus")`. A half space also needs
    /// a [slab thickness](Self::with_slab_thickness), other shapes a
    /// [resolution hint](Self::with_resolution_hint).
    ///
    /// ```
    /// use tarragon_geometry::ProximityProperties;
    /// let floor = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
    /// let floor = floor.with_slab_thickness(0.1)?;
    /// assert_eq!(*floor.get::<f64>("hydroelastic", "hydroelastic_modulus")?, 1e6);
    /// assert!(floor.with_compliant_hydroelastic(0.0).is_err());
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the modulus is not positive.
    pub fn with_compliant_hydroelastic(self, modulus: f64) -> Result<Self> {
        check_positive("hydroelastic_modulus", modulus)?;
        let kind = HydroelasticType::Compliant;
        let compliant = self.with(HYDROELASTIC, "compliance_type", kind);
        Ok(compliant.with(HYDROELASTIC, "hydroelastic_modulus", modulus))
    }
    /// Sets the edge length of tessellations (m), `("hydroelastic", "resolution_hint")`.
    ///
    /// # Errors
    /// Returns an error if it is not positive and finite.
    pub fn with_resolution_hint(self, length: f64) -> Result<Self> {
        check_positive_finite("resolution_hint", length)?;
        Ok(self.with(HYDROELASTIC, "resolution_hint", length))
    }
    /// Chooses the edge length of the tessellations of spheres, ellipsoids, cylinders and capsules
    /// by the error of the contact force, `("hydroelastic", "relative_force_error")`, in place of a
    /// [resolution hint](Self::with_resolution_hint). The hint is the largest, of half the radius
    /// and its halves, at which a compliant shape that is pressed into a rigid plane has a force
    /// within the error in all directions, if 5 % of its smallest half thickness are below the
    /// plane. The error is smaller where contact is deeper. Drake has no such property. Other
    /// shapes ignore it.
    ///
    /// ```
    /// use tarragon_geometry::{HydroelasticMesh, make_hydroelastic_mesh};
    /// use tarragon_geometry::{ProximityProperties, Sphere};
    /// let soft = ProximityProperties::new().with_compliant_hydroelastic(1e6)?;
    /// let count = |properties: &ProximityProperties| {
    ///     let mesh = make_hydroelastic_mesh(&Sphere::new(0.1)?.into(), properties)?;
    ///     let Some(HydroelasticMesh::Volume(field)) = mesh else {
    ///         panic!("a compliant sphere has a volume");
    ///     };
    ///     Ok::<_, tarragon_geometry::Error>(field.mesh().num_elements())
    /// };
    /// let within = soft.with_relative_force_error(0.05)?;
    /// // The same error takes fewer elements if the volume is right.
    /// assert!(count(&within.clone().with_equal_volume_tessellation())? < count(&within)?);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if it is not positive. An error that is out of reach is an error when the
    /// geometry is registered.
    pub fn with_relative_force_error(self, error: f64) -> Result<Self> {
        check_positive("relative_force_error", error)?;
        Ok(self.with(HYDROELASTIC, "relative_force_error", error))
    }
    /// Sets the thickness of the compliant layer of a half space (m), `("hydroelastic",
    /// "slab_thickness")`.
    ///
    /// # Errors
    /// Returns an error if it is not positive and finite.
    pub fn with_slab_thickness(self, thickness: f64) -> Result<Self> {
        check_positive_finite("slab_thickness", thickness)?;
        Ok(self.with(HYDROELASTIC, "slab_thickness", thickness))
    }
    /// Scales the tessellations of spheres, ellipsoids, cylinders and capsules to the volume of the
    /// shape, `("hydroelastic", "tessellation")`. The error of contact forces becomes smaller.
    /// Drake has no such property. Other shapes ignore it.
    ///
    /// ```
    /// use tarragon_geometry::{HydroelasticMesh, make_hydroelastic_mesh};
    /// use tarragon_geometry::{ProximityProperties, Sphere, calc_volume};
    /// let p = ProximityProperties::new().with_rigid_hydroelastic().with_resolution_hint(0.05)?;
    /// let ball = Sphere::new(0.1)?.into();
    /// let Some(HydroelasticMesh::Surface(mesh)) =
    ///     make_hydroelastic_mesh(&ball, &p.with_equal_volume_tessellation())?
    /// else {
    ///     panic!("a sphere has a mesh");
    /// };
    /// assert!((mesh.calc_enclosed_volume() / calc_volume(&ball)? - 1.0).abs() < 1e-12);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_equal_volume_tessellation(self) -> Self {
        let tessellation = HydroelasticTessellation::EqualVolume;
        self.with(HYDROELASTIC, "tessellation", tessellation)
    }
    /// Sets the distance at which hydroelastic contact begins (m), `("hydroelastic", "margin")`.
    ///
    /// # Errors
    /// Returns an error if it is negative or not finite.
    pub fn with_hydroelastic_margin(self, margin: f64) -> Result<Self> {
        check_not_negative_finite("margin", margin)?;
        Ok(self.with(HYDROELASTIC, "margin", margin))
    }

    /// Makes a [`Mesh`](crate::Mesh) take part with its true surface instead of its convex hull in
    /// distance and penetration queries, `("mesh", "true_surface")`. Other shapes ignore the
    /// property. See
    /// [`signed_distance_true_surface`](crate::proximity::signed_distance_true_surface).
    ///
    /// ```
    /// use tarragon_geometry::ProximityProperties;
    /// let p = ProximityProperties::new().with_true_surface();
    /// assert_eq!(p.get::<bool>("mesh", "true_surface")?, &true);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_true_surface(self) -> Self {
        let (group, name) = Self::TRUE_SURFACE;
        self.with(group, name, true)
    }
    /// Group and name of the property of [`with_true_surface`](Self::with_true_surface).
    pub(crate) const TRUE_SURFACE: (&str, &str) = ("mesh", "true_surface");

    /// Makes a [`Mesh`](crate::Mesh) take part in proximity queries as the union of at most
    /// `max_pieces` convex pieces instead of its convex hull, `("convex_decomposition",
    /// "max_pieces")`. Other shapes ignore the property.
    ///
    /// A mesh is decomposed when it gets these properties in a scene; see
    /// [`convex_decomposition`](crate::mesh::convex_decomposition). The section "Convex pieces of
    /// meshes" of [`proximity`](crate::proximity) defines the results. 32 pieces open a mug or a
    /// bowl.
    ///
    /// ```
    /// use tarragon_geometry::ProximityProperties;
    /// let p = ProximityProperties::new().with_convex_decomposition(32)?;
    /// assert_eq!(p.get::<usize>("convex_decomposition", "max_pieces")?, &32);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `max_pieces` is not from 1 to 256.
    pub fn with_convex_decomposition(mut self, max_pieces: usize) -> Result<Self> {
        self.set_max_pieces(max_pieces)?;
        Ok(self)
    }
    /// As [`with_convex_decomposition`](Self::with_convex_decomposition), in place.
    ///
    /// # Errors
    /// Returns an error if `max_pieces` is not from 1 to 256.
    pub fn set_max_pieces(&mut self, max_pieces: usize) -> Result<()> {
        check_max_pieces(max_pieces)?;
        let (group, name) = Self::MAX_PIECES;
        self.set_untyped(group, name, max_pieces);
        Ok(())
    }
    /// Group and name of the property of
    /// [`with_convex_decomposition`](Self::with_convex_decomposition).
    pub(crate) const MAX_PIECES: (&str, &str) = ("convex_decomposition", "max_pieces");
}

macro_rules! phong_properties {
    ($name:ident) => {
        /// Phong material. Each method adds the property or replaces its value.
        impl $name {
            /// Creates properties with a colour, `("phong", "diffuse")`.
            pub fn phong(diffuse: Rgba) -> Self {
                Self::new().with_diffuse(diffuse)
            }
            /// Sets the colour, `("phong", "diffuse")`.
            #[must_use]
            pub fn with_diffuse(mut self, diffuse: Rgba) -> Self {
                self.set_untyped(PHONG, "diffuse", diffuse);
                self
            }
            /// Sets the image file of the texture, `("phong", "diffuse_map")`.
            #[must_use]
            pub fn with_diffuse_map(mut self, path: impl AsRef<Path>) -> Self {
                let path = path.as_ref().to_string_lossy().into_owned();
                self.set_untyped(PHONG, "diffuse_map", path);
                self
            }
            /// Sets the images on a shape, `("phong", "projected_texture")`.
            #[must_use]
            pub fn with_projected_texture(mut self, texture: ProjectedTexture) -> Self {
                self.set_untyped(PHONG, "projected_texture", texture);
                self
            }
        }
    };
}
phong_properties!(IllustrationProperties);
phong_properties!(PerceptionProperties);

/// Labels and renderers.
impl PerceptionProperties {
    /// Sets the label of the pixels of the geometry, `("label", "id")`.
    ///
    /// ```
    /// use tarragon_geometry::{PerceptionProperties, RenderLabel, Rgba};
    /// let p = PerceptionProperties::phong(Rgba::WHITE).with_label(RenderLabel::new(7)?);
    /// assert_eq!(p.get::<RenderLabel>("label", "id")?.value(), 7);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_label(mut self, label: RenderLabel) -> Self {
        self.set_untyped("label", "id", label);
        self
    }
    /// Shows the geometry only in the images of these render engines, `("renderer", "accepting")`.
    /// Without names, all engines show it.
    ///
    /// ```
    /// use tarragon_geometry::{PerceptionProperties, render::accepts_renderer};
    /// let p = PerceptionProperties::new().with_accepting_renderers(["left", "right"]);
    /// assert!(accepts_renderer(&p, "left")? && !accepts_renderer(&p, "top")?);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    #[must_use]
    pub fn with_accepting_renderers<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        self.set_untyped("renderer", "accepting", names);
        self
    }
}
