//! Rows of numbers in named columns, the common content of point cloud files.

use super::{BaseField, Fields, PointCloud};
use nalgebra::Vector3;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl NumberType {
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
    /// Reads the number at the beginning of `bytes`; returns zero if there are too few bytes.
    pub(crate) fn read(self, bytes: &[u8], big_endian: bool) -> f64 {
        fn first<const N: usize>(bytes: &[u8], big_endian: bool) -> [u8; N] {
            let mut first: [u8; N] = bytes.first_chunk().copied().unwrap_or([0; N]);
            if big_endian {
                first.reverse();
            }
            first
        }
        match self {
            Self::I8 => i8::from_le_bytes(first(bytes, false)).into(),
            Self::U8 => u8::from_le_bytes(first(bytes, false)).into(),
            Self::I16 => i16::from_le_bytes(first(bytes, big_endian)).into(),
            Self::U16 => u16::from_le_bytes(first(bytes, big_endian)).into(),
            Self::I32 => i32::from_le_bytes(first(bytes, big_endian)).into(),
            Self::U32 => u32::from_le_bytes(first(bytes, big_endian)).into(),
            Self::F32 => f32::from_le_bytes(first(bytes, big_endian)).into(),
            Self::F64 => f64::from_le_bytes(first(bytes, big_endian)),
        }
    }
}

/// A column of a file.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: NumberType,
    /// Number of values in each row.
    pub(crate) count: usize,
}

/// The rows of a file.
pub(crate) struct Table<'a> {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: usize,
    pub(crate) body: &'a [u8],
    pub(crate) encoding: Encoding,
}

/// The encoding of numbers in a point cloud file.
///
/// ```
/// use tarragon_sensors::{BaseField, PointCloud, PointCloudEncoding, save_point_cloud};
/// let folder = tempfile::tempdir()?;
/// let (path, cloud) = (folder.path().join("a.ply"), PointCloud::new(1, BaseField::XYZS));
/// save_point_cloud(&cloud, &path, PointCloudEncoding::Ascii)?;
/// assert!(std::fs::read_to_string(&path)?.ends_with("end_header\nNaN NaN NaN\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointCloudEncoding {
    /// Text, which reads back to the same bits.
    Ascii,
    /// Little-endian bytes.
    Binary,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// Indices of the values of a cloud within a row.
#[derive(Default)]
struct ColumnLayout {
    xyz: Option<[usize; 3]>,
    normal: Option<[usize; 3]>,
    rgb: Option<[usize; 3]>,
    /// Index and type of a number that packs three bytes, as in PCD files.
    packed_rgb: Option<(usize, NumberType)>,
}

impl Table<'_> {
    /// Converts the table to a cloud.
    ///
    /// # Errors
    /// Returns an error that names the missing column or the invalid row.
    pub(crate) fn to_cloud(&self) -> Result<PointCloud, String> {
        let layout = self.layout()?;
        let mut base = BaseField::XYZS;
        if layout.normal.is_some() {
            base = base | BaseField::NORMALS;
        }
        if layout.rgb.is_some() || layout.packed_rgb.is_some() {
            base = base | BaseField::RGBS;
        }
        let numbers: usize = self.columns.iter().map(|c| c.count).sum();
        // Every number takes at least one byte, so the size of the file bounds the number of
        // points.
        let bytes_per_row = match self.encoding {
            Encoding::Ascii => numbers,
            _ => self.columns.iter().map(|c| c.kind.size() * c.count).sum(),
        };
        let needed = self.rows.checked_mul(bytes_per_row);
        if needed.is_none_or(|needed| needed > self.body.len()) {
            return Err(format!(
                "the header promises {} points, but the {} bytes after it are too few",
                self.rows,
                self.body.len()
            ));
        }
        let mut cloud = PointCloud::new(self.rows, Fields::from(base));
        let mut row = vec![0.0; numbers];
        match self.encoding {
            Encoding::Ascii => {
                let text = std::str::from_utf8(self.body)
                    .map_err(|_| "the points must be text, as the header says".to_owned())?;
                let mut words = text.split_ascii_whitespace();
                for i in 0..self.rows {
                    for value in &mut row {
                        let word = words.next();
                        let word = word.ok_or_else(|| {
                            format!("the file ends at point {i} of {}", self.rows)
                        })?;
                        *value = word.parse().map_err(|_| {
                            format!("point {i} must consist of numbers, got '{word}'")
                        })?;
                    }
                    layout.store(&row, i, &mut cloud);
                }
            }
            encoding => {
                for (i, bytes) in self
                    .body
                    .chunks_exact(bytes_per_row)
                    .take(self.rows)
                    .enumerate()
                {
                    let mut rest = bytes;
                    let mut values = row.iter_mut();
                    for column in &self.columns {
                        for value in values.by_ref().take(column.count) {
                            *value = column.kind.read(rest, encoding == Encoding::BigEndian);
                            rest = &rest[column.kind.size()..];
                        }
                    }
                    layout.store(&row, i, &mut cloud);
                }
            }
        }
        Ok(cloud)
    }

    fn layout(&self) -> Result<ColumnLayout, String> {
        let mut at = 0;
        let mut places = vec![];
        for column in &self.columns {
            places.push((&*column.name, at, column.kind));
            at += column.count;
        }
        let find = |name: &str| places.iter().find(|p| p.0 == name).map(|p| (p.1, p.2));
        let three = |names: [&str; 3]| -> Option<[usize; 3]> {
            let [a, b, c] = names.map(|n| find(n).map(|p| p.0));
            Some([a?, b?, c?])
        };
        let layout = ColumnLayout {
            xyz: three(["x", "y", "z"]),
            normal: three(["nx", "ny", "nz"])
                .or_else(|| three(["normal_x", "normal_y", "normal_z"])),
            rgb: three(["red", "green", "blue"]),
            packed_rgb: find("rgb").or_else(|| find("rgba")),
        };
        if layout.xyz.is_none() {
            let known: Vec<&str> = self.columns.iter().map(|c| &*c.name).collect();
            return Err(format!(
                "the points must have x, y and z, got [{}]",
                known.join(", ")
            ));
        }
        Ok(layout)
    }
}

impl ColumnLayout {
    fn store(&self, row: &[f64], i: usize, cloud: &mut PointCloud) {
        let vector = |at: [usize; 3]| Vector3::from(at.map(|k| row[k] as f32));
        if let Some(at) = self.xyz {
            cloud.xyzs[i] = vector(at);
        }
        if let Some(at) = self.normal {
            cloud.normals[i] = vector(at);
        }
        if let Some(at) = self.rgb {
            cloud.rgbs[i] = at.map(|k| row[k] as u8);
        } else if let Some((at, kind)) = self.packed_rgb {
            // PCL packs colours into the bits of a float.
            let bits = match kind {
                NumberType::F32 => (row[at] as f32).to_bits(),
                _ => row[at] as i64 as u32,
            };
            let [_, r, g, b] = bits.to_be_bytes();
            cloud.rgbs[i] = [r, g, b];
        }
    }
}
