//! The fields of a point cloud.

use std::fmt;
use std::ops::BitOr;

/// A set of positions, normals and colours (Drake's `BaseField`).
///
/// ```
/// use tarragon_sensors::BaseField;
/// let fields = BaseField::XYZS | BaseField::NORMALS;
/// assert!(fields.contains(BaseField::XYZS) && !fields.contains(BaseField::RGBS));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseField(u8);

impl BaseField {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Positions.
    pub const XYZS: Self = Self(2);
    /// Normals.
    pub const NORMALS: Self = Self(4);
    /// Colours.
    pub const RGBS: Self = Self(8);

    /// Returns true if this set includes all of `other`.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for BaseField {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A kind of descriptor: numbers that describe the neighbourhood of a point (Drake's
/// `DescriptorType`).
///
/// ```
/// use tarragon_sensors::{BaseField, DescriptorType, Fields, PointCloud};
/// let mut fields = Fields::from(BaseField::XYZS);
/// fields.descriptor = Some(DescriptorType::FPFH);
/// assert_eq!(PointCloud::new(2, fields).descriptors().len(), 2 * 33);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorType {
    size: usize,
    name: &'static str,
}

impl DescriptorType {
    /// The curvature of the surface.
    pub const CURVATURE: Self = Self::new(1, "curvature");
    /// Fast point feature histogram.
    pub const FPFH: Self = Self::new(33, "FPFH");

    /// Creates a user-defined kind of `size` numbers per point.
    pub const fn new(size: usize, name: &'static str) -> Self {
        Self { size, name }
    }
    /// Returns the number of values per point.
    pub const fn size(&self) -> usize {
        self.size
    }
    /// Returns the name, which is used in messages.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// The fields of a [`PointCloud`](crate::PointCloud).
///
/// ```
/// use tarragon_sensors::{BaseField, Fields};
/// let fields = Fields::from(BaseField::XYZS | BaseField::RGBS);
/// assert_eq!(fields.to_string(), "xyzs, rgbs");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Positions, normals, colours.
    pub base_fields: BaseField,
    /// Descriptors.
    pub descriptor: Option<DescriptorType>,
}

impl Fields {
    /// Returns true if all of `other` is included.
    pub(super) fn contain(self, other: Self) -> bool {
        self.base_fields.contains(other.base_fields)
            && (other.descriptor.is_none() || other.descriptor == self.descriptor)
    }
}

impl From<BaseField> for Fields {
    fn from(base_fields: BaseField) -> Self {
        Self {
            base_fields,
            descriptor: None,
        }
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = [
            (BaseField::XYZS, "xyzs"),
            (BaseField::NORMALS, "normals"),
            (BaseField::RGBS, "rgbs"),
        ];
        let names = base
            .into_iter()
            .filter(|(field, _)| self.base_fields.contains(*field));
        let mut names: Vec<&str> = names.map(|(_, name)| name).collect();
        names.extend(self.descriptor.map(|d| d.name()));
        f.write_str(if names.is_empty() { "no fields" } else { "" })?;
        f.write_str(&names.join(", "))
    }
}
