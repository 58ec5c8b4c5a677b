//! `<hfield>`: height fields as closed meshes.
//!
//! Sources: "XML Reference" of MuJoCo's documentation, `asset/hfield`: heights are scaled to the
//! range from 0 to 1 and then by the third number of `size`; the fourth is the depth of the base.
//! The first row of an image or of `elevation` is at the largest y.

use super::assets::Assets;
use super::compiler::CompilerOptions;
use super::obj_text::to_obj;
use super::pixels::Pixels;
use super::tree::ElementRef;
use crate::document::input::read_file;
use crate::document::xml::Parsed;
use nalgebra::Vector3;
use std::path::{Path, PathBuf};
use tarragon_geometry::Mesh;

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
        let source = mesh(heights, size, &name);
        let mesh = Mesh::with_scale(source, Vector3::repeat(1.0)).map_err(|e| node.error(e))?;
        self.height_fields.insert(name, mesh);
        Ok(())
    }
}

/// Checks the numbers of rows and columns.
fn checked(rows: f64, columns: f64) -> Result<(usize, usize), String> {
    let is_count = |n: f64| n >= 2.0 && n.fract() == 0.0;
    if !is_count(rows) || !is_count(columns) || rows * columns > MAX_HEIGHTS as f64 {
        return Err(format!(
            "a height field must have at least 2 rows and 2 columns and at most {MAX_HEIGHTS} \
             heights, got {rows:?} rows and {columns:?} columns"
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

/// Returns the solid between the heights and the base.
fn mesh(heights: Heights, size: [f64; 4], name: &str) -> tarragon_geometry::MeshSource {
    let Heights {
        rows,
        columns,
        values,
    } = heights;
    let [half_x, half_y, elevation, depth] = size;
    let finite = values.iter().copied().filter(|h| h.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    let scale = if high > low {
        elevation / (high - low)
    } else {
        0.0
    };
    let place = |row: usize, column: usize, z: f64| {
        let along = |i: usize, n: usize| 2.0 * i as f64 / (n - 1) as f64 - 1.0;
        Vector3::new(
            half_x * along(column, columns),
            half_y * along(row, rows),
            z,
        )
    };
    let index = |row: usize, column: usize| (row * columns + column) as u32;
    let mut vertices = vec![];
    for row in 0..rows {
        for column in 0..columns {
            let height = (values[row * columns + column] - low) * scale;
            let height = if height.is_finite() { height } else { 0.0 };
            vertices.push(place(row, column, height));
        }
    }
    let mut faces = vec![];
    for row in 0..rows - 1 {
        for column in 0..columns - 1 {
            let [a, b] = [index(row, column), index(row, column + 1)];
            let [c, d] = [index(row + 1, column), index(row + 1, column + 1)];
            faces.extend([[a, b, d], [a, d, c]]);
        }
    }
    // The border, counterclockwise as seen from above, and the walls below it.
    let last = (rows - 1, columns - 1);
    let border: Vec<(usize, usize)> = (0..last.1)
        .map(|c| (0, c))
        .chain((0..last.0).map(|r| (r, last.1)))
        .chain((1..=last.1).rev().map(|c| (last.0, c)))
        .chain((1..=last.0).rev().map(|r| (r, 0)))
        .collect();
    let base = vertices.len() as u32;
    let count = border.len() as u32;
    vertices.extend(
        border
            .iter()
            .map(|(row, column)| place(*row, *column, -depth)),
    );
    vertices.push(Vector3::new(0.0, 0.0, -depth));
    for (i, (row, column)) in (0..count).zip(&border) {
        let next = (i + 1) % count;
        let (next_row, next_column) = border[next as usize];
        let (top, next_top) = (index(*row, *column), index(next_row, next_column));
        faces.extend([
            [top, base + i, base + next],
            [top, base + next, next_top],
            [base + count, base + next, base + i],
        ]);
    }
    to_obj(&vertices, &faces, &[], name)
}
