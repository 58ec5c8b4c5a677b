//! Point clouds with colours, normals and descriptors.

mod down_sample;
mod fields;
mod file;
pub(crate) mod from_depth_image;
mod kd_tree;
mod normals;
mod pcd;
mod ply;
pub(crate) mod table;

pub use fields::{BaseField, DescriptorType, Fields};
pub use file::{PointCloudFileFormat, load_point_cloud, parse_point_cloud, save_point_cloud};
pub use table::PointCloudEncoding;

use crate::{Error, Result};
use nalgebra::Vector3;

/// Points in space with optional values per point (Drake's `PointCloud`).
///
/// A cloud has some of these [`Fields`], each with one entry per point: positions (m), unit
/// normals, colours (red, green, blue) and descriptors, whose numbers are stored one after the
/// other. New values are NaN, new colours black. A field that the cloud does not have is empty.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_sensors::{BaseField, PointCloud};
/// let mut cloud = PointCloud::new(2, BaseField::XYZS | BaseField::RGBS);
/// cloud.xyzs_mut().copy_from_slice(&[Vector3::new(0.0, 0.0, 1.0), Vector3::new(0.0, 0.0, 3.0)]);
/// cloud.rgbs_mut()[0] = [255, 0, 0];
/// assert!(cloud.has_rgbs() && !cloud.has_normals());
/// let near = cloud.crop(Vector3::repeat(-2.0), Vector3::repeat(2.0))?;
/// assert_eq!((near.size(), near.rgbs()), (1, &[[255, 0, 0]][..]));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    size: usize,
    fields: Fields,
    xyzs: Vec<Vector3<f32>>,
    normals: Vec<Vector3<f32>>,
    rgbs: Vec<[u8; 3]>,
    descriptors: Vec<f32>,
}

const NAN: Vector3<f32> = Vector3::new(f32::NAN, f32::NAN, f32::NAN);

impl PointCloud {
    /// Creates a cloud of `size` points with unknown values.
    pub fn new(size: usize, fields: impl Into<Fields>) -> Self {
        let mut cloud = Self::default();
        cloud.set_fields(fields);
        cloud.resize(size);
        cloud
    }

    /// Returns the number of points.
    pub fn size(&self) -> usize {
        self.size
    }
    /// Returns the fields that each point has.
    pub fn fields(&self) -> Fields {
        self.fields
    }
    /// Returns true if points have positions.
    pub fn has_xyzs(&self) -> bool {
        self.fields.base_fields.contains(BaseField::XYZS)
    }
    /// Returns true if points have normals.
    pub fn has_normals(&self) -> bool {
        self.fields.base_fields.contains(BaseField::NORMALS)
    }
    /// Returns true if points have colours.
    pub fn has_rgbs(&self) -> bool {
        self.fields.base_fields.contains(BaseField::RGBS)
    }
    /// Returns true if points have descriptors.
    pub fn has_descriptors(&self) -> bool {
        self.fields.descriptor.is_some()
    }

    /// Returns the positions (m).
    pub fn xyzs(&self) -> &[Vector3<f32>] {
        &self.xyzs
    }
    /// Returns the positions (m), mutable.
    pub fn xyzs_mut(&mut self) -> &mut [Vector3<f32>] {
        &mut self.xyzs
    }
    /// Returns the unit normals.
    pub fn normals(&self) -> &[Vector3<f32>] {
        &self.normals
    }
    /// Returns the unit normals, mutable.
    pub fn normals_mut(&mut self) -> &mut [Vector3<f32>] {
        &mut self.normals
    }
    /// Returns the colours: red, green, blue.
    pub fn rgbs(&self) -> &[[u8; 3]] {
        &self.rgbs
    }
    /// Returns the colours, mutable.
    pub fn rgbs_mut(&mut self) -> &mut [[u8; 3]] {
        &mut self.rgbs
    }
    /// Returns the descriptors, [`DescriptorType::size`] numbers for each point.
    pub fn descriptors(&self) -> &[f32] {
        &self.descriptors
    }
    /// Returns the descriptors, mutable.
    pub fn descriptors_mut(&mut self) -> &mut [f32] {
        &mut self.descriptors
    }

    /// Changes the number of points: points at the end are removed, new ones have unknown values.
    pub fn resize(&mut self, size: usize) {
        self.size = size;
        let of = |has: bool, n: usize| if has { n * size } else { 0 };
        self.xyzs.resize(of(self.has_xyzs(), 1), NAN);
        self.normals.resize(of(self.has_normals(), 1), NAN);
        self.rgbs.resize(of(self.has_rgbs(), 1), [0; 3]);
        let n = self.fields.descriptor.map_or(0, |d| d.size());
        self.descriptors.resize(of(n > 0, n), f32::NAN);
    }

    /// Changes the fields: values of fields that the cloud already has are kept, new ones are
    /// unknown.
    pub fn set_fields(&mut self, fields: impl Into<Fields>) {
        let fields = fields.into();
        if fields.descriptor != self.fields.descriptor {
            self.descriptors.clear();
        }
        self.fields = fields;
        self.resize(self.size);
    }

    /// Copies the points of another cloud (Drake's `SetFrom`). Without `fields`, all fields of the
    /// other cloud are copied; with `fields`, only these, which both clouds must have. The other
    /// fields of this cloud keep their values, and are extended with unknown values if the size
    /// grows.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if a cloud does not have the fields.
    pub fn set_from(&mut self, other: &Self, fields: Option<Fields>) -> Result<()> {
        let Some(fields) = fields else {
            self.clone_from(other);
            return Ok(());
        };
        for (cloud, name) in [(&*self, "this cloud"), (other, "the other cloud")] {
            if !cloud.fields.contain(fields) {
                return Err(Error::invalid(format!(
                    "PointCloud: {name} must have {fields}, got {}; call `set_fields` first",
                    cloud.fields
                )));
            }
        }
        self.resize(other.size);
        if fields.base_fields.contains(BaseField::XYZS) {
            self.xyzs.clone_from(&other.xyzs);
        }
        if fields.base_fields.contains(BaseField::NORMALS) {
            self.normals.clone_from(&other.normals);
        }
        if fields.base_fields.contains(BaseField::RGBS) {
            self.rgbs.clone_from(&other.rgbs);
        }
        if fields.descriptor.is_some() {
            self.descriptors.clone_from(&other.descriptors);
        }
        Ok(())
    }

    /// Joins the points of all clouds in order (Drake's `Concatenate`).
    ///
    /// ```
    /// use tarragon_sensors::{BaseField, PointCloud};
    /// let left = PointCloud::new(2, BaseField::XYZS);
    /// let right = PointCloud::new(3, BaseField::XYZS);
    /// assert_eq!(PointCloud::concatenate([&left, &right])?.size(), 5);
    /// # Ok::<(), tarragon_sensors::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no cloud, or the clouds differ in their fields.
    pub fn concatenate<'a>(clouds: impl IntoIterator<Item = &'a Self>) -> Result<Self> {
        let mut clouds = clouds.into_iter();
        let Some(first) = clouds.next() else {
            return Err(Error::invalid(
                "PointCloud::concatenate: there must be at least one cloud, got none",
            ));
        };
        let mut joined = first.clone();
        for (i, cloud) in clouds.enumerate() {
            if cloud.fields != joined.fields {
                return Err(Error::invalid(format!(
                    "PointCloud::concatenate: cloud {} must have the fields of cloud 0, {}, got {}; call \
                     `set_fields` first",
                    i + 1,
                    joined.fields,
                    cloud.fields
                )));
            }
            joined.size += cloud.size;
            joined.xyzs.extend_from_slice(&cloud.xyzs);
            joined.normals.extend_from_slice(&cloud.normals);
            joined.rgbs.extend_from_slice(&cloud.rgbs);
            joined.descriptors.extend_from_slice(&cloud.descriptors);
        }
        Ok(joined)
    }

    /// Returns the points inside an axis-aligned box with the given corners (m; Drake's `Crop`).
    /// Points that are not finite are never inside.
    ///
    /// # Errors
    /// Returns an error if there are no positions, or a component of `lower` exceeds that of
    /// `upper`.
    pub fn crop(&self, lower: Vector3<f32>, upper: Vector3<f32>) -> Result<Self> {
        self.expect_xyzs("crop")?;
        if !(0..3).all(|i| lower[i] <= upper[i]) {
            return Err(Error::invalid(format!(
                "PointCloud::crop: the lower corner must not exceed the upper corner, got {:?} m \
                 and {:?} m",
                lower.as_slice(),
                upper.as_slice()
            )));
        }
        let is_in = |p: &Vector3<f32>| (0..3).all(|i| lower[i] <= p[i] && p[i] <= upper[i]);
        Ok(self.filtered(|i| is_in(&self.xyzs[i]) && self.xyzs[i].iter().all(|x| x.is_finite())))
    }

    /// Returns the points whose positions are finite, which excludes pixels where a depth camera
    /// saw nothing.
    ///
    /// # Errors
    /// Returns an error if there are no positions.
    pub fn finite_points(&self) -> Result<Self> {
        self.expect_xyzs("finite_points")?;
        Ok(self.filtered(|i| self.xyzs[i].iter().all(|x| x.is_finite())))
    }

    /// Flips normals that point away from the point `p_cp` (m), such as the camera's position
    /// (Drake's `FlipNormalsTowardPoint`).
    ///
    /// # Errors
    /// Returns an error if there are no positions or no normals.
    pub fn flip_normals_toward_point(&mut self, p_cp: Vector3<f32>) -> Result<()> {
        self.expect_xyzs("flip_normals_toward_point")?;
        if !self.has_normals() {
            return Err(Error::invalid(
                "PointCloud::flip_normals_toward_point: the cloud must have normals; call \
                 `estimate_normals` first",
            ));
        }
        for (normal, xyz) in self.normals.iter_mut().zip(&self.xyzs) {
            if normal.dot(&(p_cp - xyz)) < 0.0 {
                *normal = -*normal;
            }
        }
        Ok(())
    }

    fn expect_xyzs(&self, operation: &str) -> Result<()> {
        if self.has_xyzs() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "PointCloud::{operation}: the cloud must have positions (BaseField::XYZS), got {}",
            self.fields
        )))
    }

    /// Returns the points whose indices are kept, in order.
    fn filtered(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.size).filter(|i| keep(*i)).collect();
        fn pick<V: Copy>(all: &[V], kept: &[usize]) -> Vec<V> {
            if all.is_empty() {
                return vec![];
            }
            kept.iter().map(|i| all[*i]).collect()
        }
        let n = self.fields.descriptor.map_or(1, |d| d.size());
        let descriptors = &self.descriptors;
        let descriptors = if descriptors.is_empty() {
            vec![]
        } else {
            let of = |i: &usize| descriptors[i * n..(i + 1) * n].iter().copied();
            kept.iter().flat_map(of).collect()
        };
        Self {
            size: kept.len(),
            fields: self.fields,
            xyzs: pick(&self.xyzs, &kept),
            normals: pick(&self.normals, &kept),
            rgbs: pick(&self.rgbs, &kept),
            descriptors,
        }
    }
}
