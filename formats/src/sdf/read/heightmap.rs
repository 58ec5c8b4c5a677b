//! `<heightmap>`: terrain from the brightness of an image.
//!
//! Source: `ImageHeightmap` of Gazebo's common library. The first row of the image is at the
//! largest y, and its brightest pixel has the height of `<size>`; black is at z = 0.

use super::builder::SdfBuilder;
use super::element::Element;
use super::geometry::PlacedShape;
use crate::reading::png_image::PngImage;
use nalgebra::{Isometry3, Vector3};
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::HeightField;

const IGNORED: [&str; 4] = ["texture", "blend", "use_terrain_paging", "sampling"];

/// Depth of the base below the surface (m); SDFormat has none.
const BASE: f64 = 1.0;

impl SdfBuilder<'_, '_> {
    /// Reads a terrain. Returns `None` after a warning if its size is wrong, or if its image is
    /// not named, missing or has an unsupported format.
    pub(super) fn heightmap(&self, element: &Element) -> Parsed<Option<PlacedShape>> {
        let report = self.report;
        report.check_children(element, &IGNORED, &[]);
        let Some(uri) = element.child("uri").map(|uri| uri.text.as_str()) else {
            let message = "<heightmap> is left out: it must name an image by <uri>, got none";
            report.warning(element, message);
            return Ok(None);
        };
        let left_out = |why: String| {
            let message = format!("<heightmap> is left out: '{uri}': {why}");
            report.warning(element, message);
            Ok(None)
        };
        let size = element.vector::<3>("size").unwrap_or([1.0; 3]);
        if !size.iter().all(|x| *x > 0.0 && x.is_finite()) {
            return left_out(format!(
                "<size> must be three positive numbers, got {size:?} m"
            ));
        }
        let directory = element.place.source.directory.as_deref();
        let path = match self.target.resolve(uri, directory) {
            Ok(path) => path,
            // It names the file.
            Err(why) => {
                report.warning(element, format!("<heightmap> is left out: {why}"));
                return Ok(None);
            }
        };
        let suffix = path.extension().unwrap_or_default().to_string_lossy();
        if !suffix.eq_ignore_ascii_case("png") {
            return left_out(format!(
                "the image must be a PNG file, got '.{suffix}'; convert it to PNG"
            ));
        }
        let bytes = match read_file(&path) {
            Ok(bytes) => bytes,
            Err(why) => return left_out(why.to_string()),
        };
        let image = match Brightness::from_png(&bytes) {
            Ok(image) => image,
            Err(why) => return left_out(why),
        };
        let shape = image.terrain(size).map_err(|e| report.error(element, e))?;
        let p = Vector3::from(element.vector::<3>("pos").unwrap_or([0.0; 3]));
        Ok(Some((shape.into(), Isometry3::translation(p.x, p.y, p.z))))
    }
}

/// First channel of the pixels of an image, row by row from the top.
struct Brightness {
    width: usize,
    height: usize,
    values: Vec<u16>,
}

impl Brightness {
    /// Reads a PNG image of 8 or 16 bits per channel.
    fn from_png(bytes: &[u8]) -> Result<Self, String> {
        let image = PngImage::decode(bytes, png::Transformations::EXPAND, 2)?;
        let value = |pixel: &[u8]| match (image.sample_size, pixel) {
            (2, [high, low, ..]) => u16::from_be_bytes([*high, *low]),
            (_, [value, ..]) => u16::from(*value),
            _ => 0,
        };
        Ok(Self {
            width: image.width,
            height: image.height,
            values: image.pixels().map(value).collect(),
        })
    }

    /// Returns the terrain of a size (m).
    fn terrain(&self, [x, y, z]: [f64; 3]) -> tarragon_geometry::Result<HeightField> {
        let brightest = self.values.iter().copied().max().unwrap_or(0).max(1);
        let scale = z / f64::from(brightest);
        let rows = self.values.chunks(self.width).rev();
        let heights = rows.flatten().map(|v| f64::from(*v) * scale).collect();
        HeightField::new(self.height, self.width, heights, [x, y], BASE)
    }
}
