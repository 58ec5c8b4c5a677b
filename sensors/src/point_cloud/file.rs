//! Point cloud files.

use super::table::PointCloudEncoding;
use super::{PointCloud, pcd, ply};
use crate::{Error, ErrorKind, Result};
use std::path::Path;

/// The formats of point cloud files.
///
/// ```
/// use tarragon_sensors::PointCloudFileFormat;
/// assert_eq!(PointCloudFileFormat::of_path("scan.PLY".as_ref())?, PointCloudFileFormat::Ply);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointCloudFileFormat {
    /// The Polygon File Format, `.ply`.
    Ply,
    /// The format of the Point Cloud Library, `.pcd`.
    Pcd,
}

impl PointCloudFileFormat {
    /// Returns the format of the extension, in any letter case.
    ///
    /// # Errors
    /// Returns an error if the extension is neither `.ply` nor `.pcd`.
    pub fn of_path(path: &Path) -> Result<Self> {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        match &*extension.to_ascii_lowercase() {
            "ply" => Ok(Self::Ply),
            "pcd" => Ok(Self::Pcd),
            _ => Err(Error::unsupported(format!(
                "{}: point cloud files end in .ply or .pcd",
                path.display()
            ))),
        }
    }
}

/// Writes positions, normals and colours to a `.ply` or `.pcd` file. Points that are not finite are
/// also written; many programs accept only finite ones, see [`PointCloud::finite_points`].
///
/// ```
/// use tarragon_sensors::*;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cloud.pcd");
/// let mut cloud = PointCloud::new(1, BaseField::XYZS | BaseField::RGBS);
/// cloud.xyzs_mut()[0] = [0.1, 0.2, 0.3].into();
/// save_point_cloud(&cloud, &path, PointCloudEncoding::Binary)?;
/// assert_eq!(load_point_cloud(&path)?, cloud);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if the extension is neither `.ply` nor `.pcd`, there are no positions, or the
/// file cannot be written. Then no new file appears, and an old one is unchanged.
pub fn save_point_cloud(
    cloud: &PointCloud,
    path: impl AsRef<Path>,
    encoding: PointCloudEncoding,
) -> Result<()> {
    let path = path.as_ref();
    let format = PointCloudFileFormat::of_path(path)?;
    let located = |e: Error| e.at(path.display());
    cloud.expect_xyzs("save").map_err(located)?;
    let bytes = match format {
        PointCloudFileFormat::Ply => ply::write(cloud, encoding),
        PointCloudFileFormat::Pcd => pcd::write(cloud, encoding),
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|e| {
        // The temporary file may not exist, so the result is ignored.
        let _ = std::fs::remove_file(&temporary);
        Error::io(path, e)
    })
}

/// Reads a `.ply` or `.pcd` file: positions, and normals and colours if there are any. Faces and
/// other numbers are ignored.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a valid PLY or PCD file. Compressed PCD
/// files are not supported.
pub fn load_point_cloud(path: impl AsRef<Path>) -> Result<PointCloud> {
    let path = path.as_ref();
    let format = PointCloudFileFormat::of_path(path)?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    parse_point_cloud(&bytes, format).map_err(|e| e.at(path.display()))
}

/// Reads a cloud from the bytes of a file, like [`load_point_cloud`].
///
/// ```
/// use tarragon_sensors::{PointCloudFileFormat, parse_point_cloud};
/// let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
///             property float z\nend_header\n1 2 3\n";
/// let cloud = parse_point_cloud(text.as_bytes(), PointCloudFileFormat::Ply)?;
/// assert_eq!(cloud.xyzs()[0].as_slice(), [1.0, 2.0, 3.0]);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the bytes are not a valid file of this format. Compressed PCD files are not
/// supported.
pub fn parse_point_cloud(bytes: &[u8], format: PointCloudFileFormat) -> Result<PointCloud> {
    let cloud = match format {
        PointCloudFileFormat::Ply => ply::read(bytes),
        PointCloudFileFormat::Pcd => pcd::read(bytes),
    };
    cloud.map_err(|why| Error::new(ErrorKind::Parse, why))
}
