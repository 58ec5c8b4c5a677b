//! Defaults that apply to a whole scene.

use crate::error::{Error, Result};
use crate::hydro::HydroelasticForm;
use crate::properties::checks::{
    HYDROELASTIC, MATERIAL, check_not_negative, check_not_negative_finite, check_positive,
    check_positive_finite,
};
use crate::properties::{CoulombFriction, HydroelasticType, ProximityProperties};
use crate::shape::Shape;
use std::str::FromStr;

/// Configuration of a scene (Drake's `SceneGraphConfig`).
///
/// ```
/// use tarragon_geometry::{SceneGraph, SceneGraphConfig};
/// let mut config = SceneGraphConfig::default();
/// config.default_proximity_properties.point_stiffness = Some(1e5);
/// let mut scene = SceneGraph::with_config(config)?;
/// assert_eq!(scene.config(), &config);
/// config.default_proximity_properties.point_stiffness = Some(-1.0);
/// assert!(scene.set_config(config).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SceneGraphConfig {
    /// Contact properties of geometry that does not declare its own.
    pub default_proximity_properties: DefaultProximityProperties,
}

/// Contact properties of geometry that does not declare its own (Drake's
/// `DefaultProximityProperties`).
///
/// They fill in missing properties, one by one, in the geometry of contexts: when contexts get
/// their geometry from the model, and when geometry gets the proximity role in a context. The model
/// itself keeps the properties as registered.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_geometry::*;
/// let mut scene = SceneGraph::new(); // point_stiffness is 1e6 N/m by default
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
/// let ball = ball.with_proximity(ProximityProperties::new());
/// let ball = scene.register_anchored_geometry(toys, ball)?;
/// assert!(!scene.model_inspector().proximity_properties(ball)?.unwrap().has_group("material"));
/// let mut b = DiagramBuilder::new();
/// let scene = b.add("scene_graph", scene);
/// let ctx = b.build()?.default_context();
/// let inspector = ctx.eval(scene.query)?.inspector();
/// let p = inspector.proximity_properties(ball)?.unwrap();
/// assert_eq!(*p.get::<f64>("material", "point_contact_stiffness")?, 1e6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefaultProximityProperties {
    /// `("hydroelastic", "compliance_type")`.
    pub compliance_type: HydroelasticType,
    /// `("hydroelastic", "hydroelastic_modulus")` (Pa).
    pub hydroelastic_modulus: Option<f64>,
    /// `("hydroelastic", "resolution_hint")` (m), the edge length of tessellations.
    pub resolution_hint: Option<f64>,
    /// `("hydroelastic", "slab_thickness")` (m) of compliant half spaces.
    pub slab_thickness: Option<f64>,
    /// `("hydroelastic", "margin")` (m).
    pub margin: Option<f64>,
    /// Dynamic part of `("material", "coulomb_friction")`; requires `static_friction`.
    pub dynamic_friction: Option<f64>,
    /// Static part of `("material", "coulomb_friction")`; requires `dynamic_friction`.
    pub static_friction: Option<f64>,
    /// `("material", "hunt_crossley_dissipation")` (s/m).
    pub hunt_crossley_dissipation: Option<f64>,
    /// `("material", "relaxation_time")` (s).
    pub relaxation_time: Option<f64>,
    /// `("material", "point_contact_stiffness")` (N/m).
    pub point_stiffness: Option<f64>,
}

impl Default for DefaultProximityProperties {
    /// Creates the configuration with Drake's defaults.
    fn default() -> Self {
        Self {
            compliance_type: HydroelasticType::Undefined,
            hydroelastic_modulus: Some(1e7),
            resolution_hint: Some(0.02),
            slab_thickness: None,
            margin: None,
            dynamic_friction: Some(0.5),
            static_friction: Some(0.5),
            hunt_crossley_dissipation: Some(50.0),
            relaxation_time: Some(0.1),
            point_stiffness: Some(1e6),
        }
    }
}

type NumberCheck = fn(&str, f64) -> Result<()>;

impl DefaultProximityProperties {
    /// Returns group, name, value and domain of the properties that are single numbers.
    fn numbers(&self) -> [(&'static str, &'static str, Option<f64>, NumberCheck); 7] {
        [
            (
                HYDROELASTIC,
                "hydroelastic_modulus",
                self.hydroelastic_modulus,
                check_positive,
            ),
            (
                HYDROELASTIC,
                "resolution_hint",
                self.resolution_hint,
                check_positive_finite,
            ),
            (
                HYDROELASTIC,
                "slab_thickness",
                self.slab_thickness,
                check_positive_finite,
            ),
            (
                HYDROELASTIC,
                "margin",
                self.margin,
                check_not_negative_finite,
            ),
            (
                MATERIAL,
                "hunt_crossley_dissipation",
                self.hunt_crossley_dissipation,
                check_not_negative,
            ),
            (
                MATERIAL,
                "relaxation_time",
                self.relaxation_time,
                check_not_negative_finite,
            ),
            (
                MATERIAL,
                "point_contact_stiffness",
                self.point_stiffness,
                check_positive,
            ),
        ]
    }

    fn friction(&self) -> Result<Option<CoulombFriction>> {
        match (self.static_friction, self.dynamic_friction) {
            (None, None) => Ok(None),
            (Some(s), Some(d)) => CoulombFriction::new(s, d).map(Some),
            (s, d) => Err(Error::invalid(format!(
                "static_friction and dynamic_friction must both be set or both be unset, got {s:?} and {d:?}"
            ))),
        }
    }

    /// Checks all values.
    ///
    /// # Errors
    /// Returns an error if a value is outside its domain, or if only one friction coefficient is
    /// given.
    pub fn validate(&self) -> Result<()> {
        let numbers = self.numbers().into_iter();
        let numbers =
            numbers.map(|(_, name, value, check)| value.map_or(Ok(()), |v| check(name, v)));
        numbers
            .chain([self.friction().map(|_| ())])
            .collect::<Result<()>>()
            .map_err(|e| e.at("default_proximity_properties"))
    }

    /// Adds the missing properties. Returns true if any was missing.
    pub(super) fn fill_in(&self, properties: &mut ProximityProperties) -> bool {
        let mut changed = false;
        for (group, name, value, _) in self.numbers() {
            if let Some(value) = value.filter(|_| !properties.has(group, name)) {
                properties.set_untyped(group, name, value);
                changed = true;
            }
        }
        if !properties.has(HYDROELASTIC, "compliance_type") {
            properties.set_untyped(HYDROELASTIC, "compliance_type", self.compliance_type);
            changed = true;
        }
        let friction = self.friction().ok().flatten();
        if let Some(friction) = friction.filter(|_| !properties.has(MATERIAL, "coulomb_friction")) {
            properties.set_untyped(MATERIAL, "coulomb_friction", friction);
            changed = true;
        }
        changed
    }

    /// Returns how a shape with these properties and these defaults takes part in hydroelastic
    /// contact.
    ///
    /// # Errors
    /// Returns an error if a required property is missing, has the wrong type, or is outside its
    /// domain, or if the mesh cannot be made.
    pub(super) fn hydroelastic_form(
        &self,
        shape: &Shape,
        properties: &ProximityProperties,
    ) -> Result<HydroelasticForm> {
        self.check_hydroelastic(shape, properties)?;
        let mut properties = properties.clone();
        self.fill_in(&mut properties);
        HydroelasticForm::of(shape, &properties)
    }

    /// Checks that a shape with these properties and these defaults can take part in hydroelastic
    /// contact, if its compliance type is defined.
    ///
    /// # Errors
    /// Returns an error if a required property is missing, has the wrong type, or is outside its
    /// domain.
    fn check_hydroelastic(&self, shape: &Shape, properties: &ProximityProperties) -> Result<()> {
        let own = properties.try_get::<HydroelasticType>(HYDROELASTIC, "compliance_type")?;
        let kind = own.copied().unwrap_or(self.compliance_type);
        // Defaults complete the geometry of contexts, but not what a model declares itself.
        let has_own = own.is_some();
        if kind == HydroelasticType::Undefined || matches!(shape, Shape::MeshcatCone(_)) {
            return Ok(());
        }
        let value = |name: &str, default: Option<f64>, check: NumberCheck| -> Result<bool> {
            let own = properties.try_get::<f64>(HYDROELASTIC, name)?;
            let value = own.copied().or(default.filter(|_| !has_own));
            value.map_or(Ok(()), |v| {
                check(&format!("property ('{HYDROELASTIC}', '{name}')"), v)
            })?;
            Ok(value.is_some())
        };
        let needed = |name: &str, default: Option<f64>, check: NumberCheck| {
            if value(name, default, check)? {
                return Ok(());
            }
            Err(Error::invalid(format!(
                "a {} with the compliance type {kind:?} needs the property ('{HYDROELASTIC}', '{name}')",
                shape.type_name()
            )))
        };
        let is_half_space = matches!(shape, Shape::HalfSpace(_));
        let is_tessellated = matches!(
            shape,
            Shape::Sphere(_) | Shape::Capsule(_) | Shape::Cylinder(_) | Shape::Ellipsoid(_)
        );
        let has_error = value("relative_force_error", None, check_positive)?;
        if is_tessellated && !has_error {
            // A length beyond the size of the shape acts like that size, so infinity is valid.
            needed("resolution_hint", self.resolution_hint, check_positive)?;
        }
        if kind == HydroelasticType::Compliant {
            needed(
                "hydroelastic_modulus",
                self.hydroelastic_modulus,
                check_positive,
            )?;
            value("margin", self.margin, check_not_negative_finite)?;
            if is_half_space {
                needed("slab_thickness", self.slab_thickness, check_positive)?;
            }
        }
        Ok(())
    }
}

impl FromStr for HydroelasticType {
    type Err = Error;
    /// Parses a compliance type.
    ///
    /// # Errors
    /// Returns an error if the word is not `undefined`, `rigid` or `compliant`.
    fn from_str(word: &str) -> Result<Self> {
        match word {
            "undefined" => Ok(Self::Undefined),
            "rigid" => Ok(Self::Rigid),
            "compliant" => Ok(Self::Compliant),
            _ => Err(Error::invalid(format!(
                "the compliance type must be 'undefined', 'rigid' or 'compliant', got '{word}'"
            ))),
        }
    }
}
