//! `<hfield>`: height fields.
//!
//! Sources: "XML Reference" of MuJoCo's documentation, `asset/hfield`: heights are scaled to the
//! range from 0 to 1 and then by the third number of `size`; the fourth is the depth of the base.
//! The first row of an image or of `elevation` is at the largest y.

use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::height_field_asset::HeightFieldAsset;
use super::pixels::Pixels;
use super::tree::ElementRef;
use std::path::{Path, PathBuf};
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::{BoxShape, HeightField, Shape};

/// Maximum number of heights of a field.
const MAX_HEIGHTS: usize = 1 << 20;

/// Heights, row by row from the smallest y; x grows along a row.
struct Heights {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Assets {
    /// Reads a height field.
    pub(super) fn read_height_field(
        &mut self,
        node: ElementRef<'_>,
        compiler: &CompilerOptions,
        resolve: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Parsed<()> {
        let Some(size) = node.vector::<4>("size")? else {
            return Err(node.error("<hfield> has no attribute 'size'"));
        };
        if size.iter().any(|x| *x <= 0.0) {
            let message = format!("'size' of <hfield> must be four positive numbers, got {size:?}");
            return Err(node.error_at("size", message));
        }
        let file = node.own_text("file");
        let stem = file.and_then(|f| Path::new(f).file_stem());
        let stem = stem.map(|s| s.to_string_lossy().into_owned());
        let name = node.name().map(String::from).or(stem).unwrap_or_default();
        let heights = match file {
            Some(file) => {
                let uri = compiler.file_name(&compiler.mesh_directory, file);
                let path = resolve(&uri).map_err(|why| node.error_at("file", why))?;
                let heights = from_file(&path);
                heights.map_err(|why| node.error_at("file", format!("'{}': {why}", path.display())))
            }
            None => from_numbers(node),
        }?;
        if heights.rows == 1 || heights.columns == 1 {
            node.warning(format!(
                "height field '{name}' is left out: it must have at least 2 x 2 heights, \
                 got {} x {}",
                heights.rows, heights.columns
            ));
            return Ok(());
        }
        let shape = scaled(heights, size).map_err(|e| node.error(e))?;
        let [x, y, elevation, depth] = size;
        let solid = BoxShape::new(2.0 * x, 2.0 * y, 0.5 * elevation + depth);
        let solid = solid.map_err(|e| node.error_at("size", e))?;
        let asset = HeightFieldAsset { shape, solid };
        self.height_fields.insert(name, asset);
        Ok(())
    }
}

impl Assets {
    /// Returns the shape that has the mass properties of a geom which is a height field.
    pub(super) fn solid_of_height_field(
        &self,
        node: ElementRef<'_>,
        shape: &Shape,
    ) -> Option<Shape> {
        let Shape::HeightField(_) = shape else {
            return None;
        };
        let asset = self.height_fields.get(node.text("hfield")?.trim())?;
        Some(asset.solid.into())
    }
}

/// Checks the numbers of rows and columns.
fn checked(rows: f64, columns: f64) -> Result<(usize, usize), String> {
    let is_count = |n: f64| n >= 1.0 && n.fract() == 0.0;
    if !is_count(rows) || !is_count(columns) || rows * columns > MAX_HEIGHTS as f64 {
        return Err(format!(
            "a height field must have at least 2 rows and 2 columns and at most {MAX_HEIGHTS} \
             heights, got {rows} rows and {columns} columns"
        ));
    }
    Ok((rows as usize, columns as usize))
}

fn from_numbers(node: ElementRef<'_>) -> Parsed<Heights> {
    let count = |name: &str| Ok(node.number(name)?.unwrap_or(0.0));
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    let (rows, columns) = checked(rows, columns).map_err(|why| node.error_at("nrow", why))?;
    let values = match node.numbers("elevation")? {
        // Programs fill such a field later; until then it is flat.
        None => vec![0.0; rows * columns],
        Some(given) if given.len() == rows * columns => {
            given.chunks(columns).rev().flatten().copied().collect()
        }
        Some(given) => {
            let message = format!(
                "'elevation' must have {rows} x {columns} numbers, got {}",
                given.len()
            );
            return Err(node.error_at("elevation", message));
        }
    };
    Ok(Heights {
        rows,
        columns,
        values,
    })
}

fn from_file(path: &Path) -> Result<Heights, String> {
    let bytes = read_file(path).map_err(|e| e.to_string())?;
    let suffix = path.extension().map(|s| s.to_string_lossy().to_lowercase());
    match suffix.as_deref() {
        Some("png") => from_png(&bytes),
        _ => from_binary(&bytes),
    }
}

/// Reads the brightness of a PNG image.
fn from_png(bytes: &[u8]) -> Result<Heights, String> {
    let image = Pixels::from_png(bytes)?;
    let (rows, columns) = checked(image.height as f64, image.width as f64)?;
    // As in MuJoCo, the first channel is the height.
    let rows_of = image.rgb.chunks(columns).rev().flatten();
    Ok(Heights {
        rows,
        columns,
        values: rows_of.map(|pixel| f64::from(pixel[0])).collect(),
    })
}

/// Reads MuJoCo's own format: the numbers of rows and columns as integers, then the heights as
/// floats, all with 32 bits and little-endian.
fn from_binary(bytes: &[u8]) -> Result<Heights, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    let [rows, columns, data @ ..] = words else {
        return Err("the header of 8 bytes is incomplete".into());
    };
    let count = |word: &[u8; 4]| f64::from(i32::from_le_bytes(*word));
    let (rows, columns) = checked(count(rows), count(columns))?;
    if data.len() != rows * columns || !rest.is_empty() {
        return Err(format!(
            "there must be {} bytes after the header for {rows} rows and {columns} columns, got {}",
            4 * rows * columns,
            bytes.len() - 8
        ));
    }
    let values = data.iter().map(|word| f64::from(f32::from_le_bytes(*word)));
    Ok(Heights {
        rows,
        columns,
        values: values.collect(),
    })
}

/// Scales heights to the range from 0 to `elevation` (m); numbers that are not finite become 0.
fn scaled(
    heights: Heights,
    [half_x, half_y, elevation, depth]: [f64; 4],
) -> tarragon_geometry::Result<HeightField> {
    let finite = heights.values.iter().copied().filter(|h| h.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    let scale = if high > low {
        elevation / (high - low)
    } else {
        0.0
    };
    let height = |h: f64| match (h - low) * scale {
        height if height.is_finite() => height,
        _ => 0.0,
    };
    let values = heights.values.into_iter().map(height).collect();
    let size = [2.0 * half_x, 2.0 * half_y];
    HeightField::new(heights.rows, heights.columns, values, size, depth)
}
