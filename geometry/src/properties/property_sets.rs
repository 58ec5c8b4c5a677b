//! Property sets: named values in groups, one type per role.

use crate::error::{Error, Result};
use crate::rgba::Rgba;
use nalgebra::Vector4;
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// Property value of any type, shared by all copies of its property set.
///
/// ```
/// use tarragon_geometry::ProximityProperties;
/// let p = ProximityProperties::new().with_point_stiffness(1e4)?;
/// let (name, value) = p.properties_in_group("material")?.next().unwrap();
/// assert_eq!((name, value.type_name()), ("point_contact_stiffness", "f64"));
/// assert_eq!(value.downcast_ref::<f64>(), Some(&1e4));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct PropertyValue {
    any: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
}

impl PropertyValue {
    fn new<V: Any + Send + Sync>(value: V) -> Self {
        let vector = (&value as &dyn Any).downcast_ref::<Vector4<f64>>();
        if let Some(color) = vector.and_then(|v| Rgba::try_from(*v).ok()) {
            // Consumers of colours read an `Rgba`; `downcast_ref` also returns the vector.
            return Self {
                any: Arc::new(color),
                type_name: type_name::<Rgba>(),
            };
        }
        Self {
            any: Arc::new(value),
            type_name: type_name::<V>(),
        }
    }
    /// Returns the name of the type, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }
    /// Returns the value if it is a `V`. A colour is also a `Vector4<f64>`.
    pub fn downcast_ref<V: Any>(&self) -> Option<&V> {
        self.any.downcast_ref().or_else(|| {
            let color = self.any.downcast_ref::<Rgba>()?;
            (color.as_vector() as &dyn Any).downcast_ref()
        })
    }
}

impl fmt::Debug for PropertyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PropertyValue({})", self.type_name)
    }
}

type PropertyGroups = BTreeMap<String, BTreeMap<String, PropertyValue>>;

/// Values of any type, addressed by group and name (Drake's `GeometryProperties`).
///
/// A clone shares its storage with the original until one of them changes. A `Vector4<f64>` whose
/// components are in `[0, 1]` is stored as the [`Rgba`] with these channels, and an `Rgba` can be
/// read as a `Vector4<f64>`.
///
/// ```
/// use tarragon_geometry::{PerceptionProperties, Rgba};
/// let p = PerceptionProperties::phong(Rgba::WHITE);
/// assert_eq!(p.get::<Rgba>("phong", "diffuse")?, &Rgba::WHITE);
/// assert!(p.get::<f64>("phong", "diffuse").is_err()); // another type is an error
/// assert_eq!(p.get_or("phong", "shininess", 0.5)?, 0.5);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone)]
pub struct GeometryProperties {
    groups: Arc<PropertyGroups>,
}

impl Default for GeometryProperties {
    fn default() -> Self {
        static EMPTY: OnceLock<Arc<PropertyGroups>> = OnceLock::new();
        let group = (Self::DEFAULT_GROUP.to_owned(), BTreeMap::new());
        let groups = EMPTY.get_or_init(|| Arc::new(BTreeMap::from([group])));
        Self {
            groups: groups.clone(),
        }
    }
}

impl GeometryProperties {
    /// Name of the group for properties without a group of their own; it always exists.
    pub const DEFAULT_GROUP: &'static str = "__default__";

    /// Creates an empty set of properties.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a property, or replaces it regardless of its type. This is for properties of your own,
    /// which a custom render engine reads; the sets of the roles have typed methods for all others,
    /// such as [`PerceptionProperties::with_diffuse`].
    ///
    /// ```
    /// use tarragon_geometry::PerceptionProperties;
    /// let mut glass = PerceptionProperties::new();
    /// glass.set_untyped("my_engine", "refraction", 1.5);
    /// assert_eq!(*glass.get::<f64>("my_engine", "refraction")?, 1.5);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    pub fn set_untyped<V: Any + Send + Sync>(&mut self, group: &str, name: &str, value: V) {
        let groups = Arc::make_mut(&mut self.groups);
        let group = groups.entry(group.into()).or_default();
        group.insert(name.into(), PropertyValue::new(value));
    }
    /// Adds a new property.
    ///
    /// # Errors
    /// Returns an error if the group already has a property with this name.
    pub fn add<V: Any + Send + Sync>(&mut self, group: &str, name: &str, value: V) -> Result<()> {
        self.check_absent(group, name)?;
        self.set_untyped(group, name, value);
        Ok(())
    }
    fn check_absent(&self, group: &str, name: &str) -> Result<()> {
        if self.has(group, name) {
            return Err(Error::exists(format!(
                "property ('{group}', '{name}') exists already; use `update` or `set_untyped` to replace it"
            )));
        }
        Ok(())
    }
    /// Adds a property, or replaces the value of an existing one of the same type.
    ///
    /// # Errors
    /// Returns an error if the property exists with another type.
    pub fn update<V: Any + Send + Sync>(
        &mut self,
        group: &str,
        name: &str,
        value: V,
    ) -> Result<()> {
        self.try_get::<V>(group, name)?;
        self.set_untyped(group, name, value);
        Ok(())
    }
    /// Returns true if the group exists. A group outlives its last property.
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }
    /// Returns true if the property exists, whatever its type.
    pub fn has(&self, group: &str, name: &str) -> bool {
        self.groups.get(group).is_some_and(|g| g.contains_key(name))
    }
    /// Returns the number of groups, including the default group.
    pub fn num_groups(&self) -> usize {
        self.groups.len()
    }
    /// Returns the value of a property.
    ///
    /// # Errors
    /// Returns an error if the property does not exist or has another type.
    pub fn get<V: Any>(&self, group: &str, name: &str) -> Result<&V> {
        self.try_get(group, name)?.ok_or_else(|| {
            Error::not_found(match self.groups.get(group) {
                None => format!(
                    "there is no property ('{group}', '{name}'), because there is no group '{group}'; \
                     groups: [{}]",
                    self.group_names().collect::<Vec<_>>().join(", ")
                ),
                Some(_) => format!(
                    "there is no property ('{group}', '{name}'); properties of that group: [{}]",
                    self.property_names(group).collect::<Vec<_>>().join(", ")
                ),
            })
        })
    }
    /// Returns the value of a property, or `default` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the property has another type.
    pub fn get_or<V: Any + Clone>(&self, group: &str, name: &str, default: V) -> Result<V> {
        Ok(self.try_get(group, name)?.cloned().unwrap_or(default))
    }
    /// Returns the value of a property, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the property has another type.
    pub fn try_get<V: Any>(&self, group: &str, name: &str) -> Result<Option<&V>> {
        let Some(value) = self.groups.get(group).and_then(|g| g.get(name)) else {
            return Ok(None);
        };
        value.downcast_ref().map(Some).ok_or_else(|| {
            Error::invalid(format!(
                "property ('{group}', '{name}') has the type {}, not the requested {}",
                value.type_name,
                type_name::<V>()
            ))
        })
    }
    /// Removes a property. Returns true if it existed.
    pub fn remove(&mut self, group: &str, name: &str) -> bool {
        // The test comes first, so that removing a missing property copies nothing.
        self.has(group, name)
            && Arc::make_mut(&mut self.groups)
                .get_mut(group)
                .and_then(|g| g.remove(name))
                .is_some()
    }
    /// Returns the sorted names of all groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }
    /// Returns the sorted names of the properties of a group; empty if the group does not exist.
    pub fn property_names(&self, group: &str) -> impl Iterator<Item = &str> {
        self.groups
            .get(group)
            .into_iter()
            .flat_map(|g| g.keys().map(String::as_str))
    }
    /// Returns the names and values of the properties of a group, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the group does not exist.
    pub fn properties_in_group(
        &self,
        group: &str,
    ) -> Result<impl Iterator<Item = (&str, &PropertyValue)>> {
        let found = self.groups.get(group).ok_or_else(|| {
            Error::not_found(format!(
                "there is no group '{group}' of properties; groups: [{}]",
                self.group_names().collect::<Vec<_>>().join(", ")
            ))
        })?;
        Ok(found.iter().map(|(name, value)| (&**name, value)))
    }
    /// Returns true if both sets are known to be equal because they share their storage: one is a
    /// clone of the other and neither has changed since.
    pub(crate) fn is_same_clone(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.groups, &other.groups)
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
            /// Creates an empty set of properties.
            pub fn new() -> Self {
                Self::default()
            }
        }
        /// Wraps a set of properties, for example a copy of another role's.
        impl From<GeometryProperties> for $name {
            fn from(properties: GeometryProperties) -> Self {
                Self(properties)
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
    /// let p = ProximityProperties::new().with_point_stiffness(1e4)?;
    /// assert_eq!(*p.get::<f64>("material", "point_contact_stiffness")?, 1e4);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    ProximityProperties,
    /// Properties of a geometry with the illustration role.
    ///
    /// ```
    /// use tarragon_geometry::{IllustrationProperties, Rgba};
    /// let p = IllustrationProperties::phong(Rgba::WHITE);
    /// assert!(p.has("phong", "diffuse"));
    /// ```
    IllustrationProperties,
    /// Properties of a geometry with the perception role.
    ///
    /// ```
    /// use tarragon_geometry::{PerceptionProperties, RenderLabel, Rgba};
    /// let p = PerceptionProperties::phong(Rgba::WHITE).with_label(RenderLabel::new(7)?);
    /// assert_eq!(p.get::<RenderLabel>("label", "id")?.value(), 7);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    PerceptionProperties
);
