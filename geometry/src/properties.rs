//! Typed properties of geometry, in named groups, per role.

use crate::error::{Error, Result};
use crate::render::RenderLabel;
use crate::rgba::Rgba;
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What a geometry is used for.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{GeometryInstance, ProximityProperties, Role, SceneGraph, Sphere};
/// let mut scene = SceneGraph::new();
/// let toys = scene.register_source("toys")?;
/// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")
///     .with_proximity(ProximityProperties::new());
/// scene.register_anchored_geometry(toys, ball)?;
/// let inspector = scene.model_inspector();
/// assert_eq!(inspector.num_geometries_with_role(Role::Proximity), 1);
/// assert_eq!(inspector.num_geometries_with_role(Role::Perception), 0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Nothing: it only exists.
    Unassigned,
    /// Distance and contact.
    Proximity,
    /// Visualizers.
    Illustration,
    /// Simulated cameras.
    Perception,
}

#[derive(Clone)]
struct Value {
    any: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
}

/// Values of any type, found by group and name.
///
/// ```
/// use tarragon_geometry::{PerceptionProperties, Rgba};
/// let mut p = PerceptionProperties::new();
/// p.set("phong", "diffuse", Rgba::WHITE);
/// assert_eq!(p.get::<Rgba>("phong", "diffuse")?, &Rgba::WHITE);
/// assert!(p.get::<f64>("phong", "diffuse").is_err()); // another type is an error
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct GeometryProperties {
    groups: BTreeMap<String, BTreeMap<String, Value>>,
}

impl GeometryProperties {
    /// The group of properties added without one (Drake's default group).
    pub const DEFAULT_GROUP: &'static str = "";

    /// No properties.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds or replaces a property.
    pub fn set<V: Any + Send + Sync>(&mut self, group: &str, name: &str, value: V) {
        let value = Value {
            any: Arc::new(value),
            type_name: type_name::<V>(),
        };
        let group = self.groups.entry(group.into()).or_default();
        group.insert(name.into(), value);
    }
    /// Adds a new property.
    ///
    /// # Errors
    /// If the group already has a property of that name.
    pub fn add<V: Any + Send + Sync>(&mut self, group: &str, name: &str, value: V) -> Result<()> {
        if self.has(group, name) {
            return Err(Error::invalid(format!(
                "property ('{group}', '{name}') exists already; use `set` to replace it"
            )));
        }
        self.set(group, name, value);
        Ok(())
    }
    /// True if the property exists, of whatever type.
    pub fn has(&self, group: &str, name: &str) -> bool {
        self.groups.get(group).is_some_and(|g| g.contains_key(name))
    }
    /// The value of a property.
    ///
    /// # Errors
    /// If it does not exist or has another type.
    pub fn get<V: Any>(&self, group: &str, name: &str) -> Result<&V> {
        self.try_get(group, name)?
            .ok_or_else(|| Error::invalid(format!("there is no property ('{group}', '{name}')")))
    }
    /// The value of a property, or `None` if it does not exist.
    ///
    /// # Errors
    /// If it has another type.
    pub fn try_get<V: Any>(&self, group: &str, name: &str) -> Result<Option<&V>> {
        let Some(value) = self.groups.get(group).and_then(|g| g.get(name)) else {
            return Ok(None);
        };
        value.any.downcast_ref().map(Some).ok_or_else(|| {
            Error::invalid(format!(
                "property ('{group}', '{name}') is a {}, a {} was asked for",
                value.type_name,
                type_name::<V>()
            ))
        })
    }
    /// Removes a property; true if it existed.
    pub fn remove(&mut self, group: &str, name: &str) -> bool {
        let removed = self.groups.get_mut(group).and_then(|g| g.remove(name));
        removed.is_some()
    }
    /// Names of all groups, sorted.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }
    /// Names of the properties of a group, sorted; none if there is no such group.
    pub fn property_names(&self, group: &str) -> impl Iterator<Item = &str> {
        self.groups
            .get(group)
            .into_iter()
            .flat_map(|g| g.keys().map(String::as_str))
    }
}

impl fmt::Debug for GeometryProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.groups.iter().flat_map(|(group, names)| {
            names
                .iter()
                .map(move |(name, value)| (format!("{group}/{name}"), value.type_name))
        });
        f.debug_map().entries(entries).finish()
    }
}

macro_rules! role_properties {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name(GeometryProperties);

        impl $name {
            /// No properties.
            pub fn new() -> Self {
                Self::default()
            }
        }
        impl Deref for $name {
            type Target = GeometryProperties;
            fn deref(&self) -> &GeometryProperties {
                &self.0
            }
        }
        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut GeometryProperties {
                &mut self.0
            }
        }
    )*};
}
role_properties!(
    /// Properties of a geometry with the proximity role.
    ///
    /// ```
    /// use tarragon_geometry::ProximityProperties;
    /// let mut p = ProximityProperties::new();
    /// p.set("material", "point_contact_stiffness", 1e4);
    /// assert_eq!(*p.get::<f64>("material", "point_contact_stiffness")?, 1e4);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ProximityProperties,
    /// Properties of a geometry with the illustration role.
    ///
    /// ```
    /// use tarragon_geometry::{IllustrationProperties, Rgba};
    /// let p = IllustrationProperties::with_color(Rgba::WHITE);
    /// assert!(p.has("phong", "diffuse"));
    /// ```
    IllustrationProperties,
    /// Properties of a geometry with the perception role.
    ///
    /// ```
    /// use tarragon_geometry::{PerceptionProperties, RenderLabel, Rgba};
    /// let p = PerceptionProperties::with_color_and_label(Rgba::WHITE, RenderLabel::new(7)?);
    /// assert_eq!(p.get::<RenderLabel>("label", "id")?.value(), 7);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    PerceptionProperties
);

impl PerceptionProperties {
    /// A colour (`phong/diffuse`) and a label (`label/id`).
    pub fn with_color_and_label(diffuse: Rgba, label: RenderLabel) -> Self {
        let mut p = Self::new();
        p.set("phong", "diffuse", diffuse);
        p.set("label", "id", label);
        p
    }
}

impl IllustrationProperties {
    /// A colour (`phong/diffuse`).
    pub fn with_color(diffuse: Rgba) -> Self {
        let mut p = Self::new();
        p.set("phong", "diffuse", diffuse);
        p
    }
}
