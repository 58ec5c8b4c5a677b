//! Reader of legacy VTK files of tetrahedra.
//!
//! The format is described in "The VTK User's Guide", 11th edition, 2010, section 19.3; version 5.1
//! is that of vtkDataWriter.

use crate::error::short;
use crate::error::{Error, Result, parse_error};
use crate::mesh::VolumeMesh;
use nalgebra::Vector3;
use std::path::Path;
use tarragon_framework::counted;

/// VTK's number of the cell type "tetrahedron".
const TETRAHEDRON: i64 = 10;

/// Reads the content of a legacy VTK file, text or binary: an unstructured grid that has only
/// tetrahedra as cells. Data at points and cells is skipped. Versions up to 5.1 are supported.
///
/// ```
/// use std::path::Path;
/// use tarragon_geometry::mesh::parse_vtk;
/// let text = b"# vtk DataFile Version 2.0\none tetrahedron\nASCII\nDATASET UNSTRUCTURED_GRID\n\
///     POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";
/// let mesh = parse_vtk(Path::new("x.vtk"), text)?;
/// assert_eq!((mesh.num_vertices(), mesh.num_elements()), (4, 1));
/// let error = parse_vtk(Path::new("x.vtk"), &text[..70]).unwrap_err();
/// assert!(error.to_string().starts_with("x.vtk:"));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the content is something else, a coordinate is not finite, or a vertex does
/// not exist; the message gives the file and the line, or the byte within binary data.
pub fn parse_vtk(path: &Path, bytes: &[u8]) -> Result<VolumeMesh> {
    let mut reader = VtkReader {
        path,
        bytes,
        at: 0,
        line: 1,
        is_binary: false,
    };
    reader.header()?;
    let mut sections = VtkSections::default();
    while let Some(keyword) = reader.word() {
        let keyword = keyword.to_ascii_uppercase();
        if !sections.read(&mut reader, &keyword)? {
            break;
        }
    }
    sections.finish(&reader)
}

/// Sections read so far.
#[derive(Default)]
struct VtkSections {
    points: Option<Vec<Vector3<f64>>>,
    /// Vertices of each cell.
    cells: Option<Vec<Vec<i64>>>,
    types: Option<Vec<i64>>,
}

impl VtkSections {
    /// Reads the section that the keyword begins. Returns false if nothing relevant follows.
    fn read(&mut self, reader: &mut VtkReader<'_>, keyword: &str) -> Result<bool> {
        let twice = match keyword {
            "POINTS" => self.points.is_some(),
            "CELLS" => self.cells.is_some(),
            "CELL_TYPES" => self.types.is_some(),
            _ => false,
        };
        if twice {
            return Err(reader.error(format!(
                "there must be only one section {keyword}, got another"
            )));
        }
        match keyword {
            "POINTS" => {
                let n = reader.count("the number of points")?;
                let kind = reader.kind()?;
                let numbers = reader.numbers(n, 3, kind, "a coordinate")?;
                let points = numbers.chunks_exact(3);
                self.points = Some(points.map(|p| Vector3::new(p[0], p[1], p[2])).collect());
            }
            "CELLS" => self.cells = Some(reader.cells()?),
            "CELL_TYPES" => {
                let n = reader.count("the number of cell types")?;
                self.types = Some(reader.integers(n, ScalarType::INT, "a cell type")?);
            }
            "METADATA" => reader.skip_metadata(),
            "FIELD" => reader.skip_field()?,
            "POINT_DATA" | "CELL_DATA" => return Ok(false),
            other => {
                return Err(reader.error(format!(
                    "the keyword must be POINTS, CELLS, CELL_TYPES, FIELD, METADATA, POINT_DATA or \
                    CELL_DATA, got '{}'",
                    short(other)
                )));
            }
        }
        Ok(true)
    }

    fn finish(self, reader: &VtkReader<'_>) -> Result<VolumeMesh> {
        let missing = |what: &str| reader.error(format!("the file must have a section {what}"));
        let points = self.points.ok_or_else(|| missing("POINTS"))?;
        let cells = self.cells.ok_or_else(|| missing("CELLS"))?;
        let types = self.types.ok_or_else(|| missing("CELL_TYPES"))?;
        let wrong = |message: String| Err(parse_error(reader.path, 0, message));
        if cells.len() != types.len() {
            return wrong(format!(
                "there must be as many cell types as cells, {}, got {}",
                cells.len(),
                types.len()
            ));
        }
        let mut elements = Vec::with_capacity(cells.len());
        for (i, (cell, kind)) in cells.iter().zip(&types).enumerate() {
            let (&TETRAHEDRON, &[a, b, c, d]) = (kind, &cell[..]) else {
                return wrong(format!(
                    "cell {i} must be a tetrahedron (type {TETRAHEDRON}, 4 vertices), got type {kind} \
                    and {vertices}",
                    vertices = counted(cell.len(), "vertex")
                ));
            };
            if let Some(bad) = cell.iter().find(|v| **v < 0 || **v >= points.len() as i64) {
                return wrong(format!(
                    "vertex indices of cell {i} must be from 0 to below the number of points, {}, got \
                    {bad}",
                    points.len()
                ));
            }
            elements.push([a, b, c, d].map(|v| v as u32));
        }
        VolumeMesh::new(elements, points).map_err(|e| e.at(reader.path.display().to_string()))
    }
}

/// Number type of binary data.
#[derive(Clone, Copy)]
struct ScalarType {
    size: usize,
    is_float: bool,
    is_signed: bool,
}

impl ScalarType {
    const INT: Self = Self {
        size: 4,
        is_float: false,
        is_signed: true,
    };

    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (size, is_float) = match name.trim_start_matches("unsigned_") {
            "float" => (4, true),
            "double" => (8, true),
            "char" | "vtktypeint8" | "vtktypeuint8" => (1, false),
            "short" | "vtktypeint16" | "vtktypeuint16" => (2, false),
            "int" | "vtkidtype" | "vtktypeint32" | "vtktypeuint32" => (4, false),
            "long" | "vtktypeint64" | "vtktypeuint64" => (8, false),
            _ => return None,
        };
        Some(Self {
            size,
            is_float,
            is_signed: !name.contains("unsigned") && !name.contains("uint"),
        })
    }
    /// Reads one big-endian integer.
    fn integer(self, bytes: &[u8]) -> i64 {
        let extension = if self.is_signed && bytes[0] >= 0x80 {
            0xff
        } else {
            0
        };
        let mut wide = [extension; 8];
        wide[8 - bytes.len()..].copy_from_slice(bytes);
        i64::from_be_bytes(wide)
    }
    fn number(self, bytes: &[u8]) -> f64 {
        match (self.is_float, bytes) {
            (true, &[a, b, c, d]) => f64::from(f32::from_be_bytes([a, b, c, d])),
            (true, &[a, b, c, d, e, f, g, h]) => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => self.integer(bytes) as f64,
        }
    }
}

struct VtkReader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// Line number, from 1; lines in binary data are not counted.
    line: usize,
    is_binary: bool,
}

impl<'a> VtkReader<'a> {
    fn error(&self, message: impl Into<String>) -> Error {
        if self.is_binary {
            let message = message.into();
            parse_error(self.path, 0, format!("byte {}: {message}", self.at))
        } else {
            parse_error(self.path, self.line, message)
        }
    }

    /// Reads the three lines that every file begins with, and the kind of data set.
    fn header(&mut self) -> Result<()> {
        const MAGIC: &str = "# vtk DataFile Version ";
        let first = self.rest_of_line();
        let version = String::from_utf8_lossy(first).trim_end().to_owned();
        let expected = |found: &str| {
            format!(
                "the file must begin with '{MAGIC}' and a version up to 5.1, got '{}'",
                short(found)
            )
        };
        let Some(number) = version.strip_prefix(MAGIC) else {
            return Err(parse_error(self.path, 1, expected(&version)));
        };
        match number.trim().parse::<f64>() {
            Ok(v) if (1.0..=5.1).contains(&v) => {}
            _ => return Err(parse_error(self.path, 1, expected(&version))),
        }
        self.rest_of_line();
        let format = self.expect(&["ASCII", "BINARY"])?;
        self.expect(&["DATASET"])?;
        self.expect(&["UNSTRUCTURED_GRID"])?;
        self.is_binary = format == "BINARY";
        Ok(())
    }

    /// Reads one of the given words.
    fn expect(&mut self, words: &[&'static str]) -> Result<&'static str> {
        let found = self.word().unwrap_or_default();
        let known = words.iter().find(|w| w.eq_ignore_ascii_case(&found));
        known.copied().ok_or_else(|| {
            self.error(format!(
                "the keyword must be {1}, got '{0}'",
                short(&found),
                words.join(" or ")
            ))
        })
    }

    /// Returns the rest of the line and advances to the next one.
    fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n');
        self.at += end.map_or(rest.len(), |e| e + 1);
        self.line += 1;
        &rest[..end.unwrap_or(rest.len())]
    }

    /// Returns the next word, or `None` at the end of the file.
    fn word(&mut self) -> Option<String> {
        self.raw_word()
            .map(|w| String::from_utf8_lossy(w).into_owned())
    }
    fn raw_word(&mut self) -> Option<&'a [u8]> {
        while let Some(b) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*b == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    fn count(&mut self, what: &str) -> Result<usize> {
        let word = self.word().unwrap_or_default();
        // No section can have more elements than the file has bytes.
        match word.parse::<usize>() {
            Ok(n) if n <= self.bytes.len() => Ok(n),
            _ => Err(self.error(format!(
                "{what} must be a whole number that fits the {1} bytes of the file, got '{0}'",
                short(&word),
                self.bytes.len()
            ))),
        }
    }

    fn kind(&mut self) -> Result<ScalarType> {
        let word = self.word().unwrap_or_default();
        ScalarType::of(&word).ok_or_else(|| {
            self.error(format!(
                "the number type must be double, float or an integer type, got '{}'",
                short(&word)
            ))
        })
    }

    /// Returns the bytes of `n` elements of `width` binary numbers, which begin on the next line.
    fn binary(&mut self, n: usize, width: usize, kind: ScalarType) -> Result<&'a [u8]> {
        self.rest_of_line();
        let size = n.saturating_mul(width).saturating_mul(kind.size);
        let rest = &self.bytes[self.at..];
        if rest.len() < size {
            return Err(self.error(format!(
                "the data must have {size} bytes, got {} before the end of the file",
                rest.len()
            )));
        }
        self.at += size;
        Ok(&rest[..size])
    }

    /// Reads `n` elements of `width` finite numbers.
    fn numbers(
        &mut self,
        n: usize,
        width: usize,
        kind: ScalarType,
        what: &str,
    ) -> Result<Vec<f64>> {
        if self.is_binary {
            let data = self.binary(n, width, kind)?;
            let start = self.at - data.len();
            let values: Vec<f64> = data
                .chunks_exact(kind.size)
                .map(|b| kind.number(b))
                .collect();
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                self.at = start + i * kind.size;
                return Err(self.error(format!(
                    "{what} must be a finite number, got {:?}",
                    values[i]
                )));
            }
            return Ok(values);
        }
        self.words(n.saturating_mul(width), what, "a finite number", |w| {
            w.parse().ok().filter(|x: &f64| x.is_finite())
        })
    }

    /// Reads `n` whole numbers.
    fn integers(&mut self, n: usize, kind: ScalarType, what: &str) -> Result<Vec<i64>> {
        if self.is_binary {
            let data = self.binary(n, 1, kind)?;
            let all = data.chunks_exact(kind.size);
            return Ok(all.map(|b| kind.integer(b)).collect());
        }
        self.words(n, what, "a whole number", |w| w.parse().ok())
    }

    fn words<V>(
        &mut self,
        n: usize,
        what: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<V>,
    ) -> Result<Vec<V>> {
        let mut values = Vec::new();
        for _ in 0..n {
            let word = self.raw_word().unwrap_or_default();
            let value = std::str::from_utf8(word).ok().and_then(&parse);
            values.push(value.ok_or_else(|| {
                let found = short(&String::from_utf8_lossy(word));
                self.error(format!("{what} must be {expected}, got '{found}'"))
            })?);
        }
        Ok(values)
    }

    /// Reads the vertices of every cell. The format is either a list of lengths and vertices or,
    /// since version 5.0, the start offsets of the lists and all lists.
    fn cells(&mut self) -> Result<Vec<Vec<i64>>> {
        let n = self.count("the number of cells")?;
        let size = self.count("the size of the cells")?;
        let before = (self.at, self.line);
        if self
            .word()
            .is_some_and(|w| w.eq_ignore_ascii_case("OFFSETS"))
        {
            let kind = self.kind()?;
            let offsets = self.integers(n, kind, "an offset")?;
            self.expect(&["CONNECTIVITY"])?;
            let kind = self.kind()?;
            let all = self.integers(size, kind, "a vertex")?;
            let list = |w: &[i64]| {
                let range = usize::try_from(w[0]).ok()?..usize::try_from(w[1]).ok()?;
                all.get(range).map(<[i64]>::to_vec)
            };
            let lists: Option<Vec<_>> = offsets.windows(2).map(list).collect();
            return lists.ok_or_else(|| {
                self.error(format!(
                    "the offsets of CELLS must ascend within the {numbers} of CONNECTIVITY",
                    numbers = counted(size, "number")
                ))
            });
        }
        (self.at, self.line) = before;
        let all = self.integers(size, ScalarType::INT, "a number of the cells")?;
        let mut rest = &all[..];
        let mut lists = Vec::new();
        while let Some((&length, after)) = rest.split_first() {
            let length = usize::try_from(length).ok().filter(|l| *l <= after.len());
            let Some(length) = length else {
                return Err(self.error(format!(
                    "cell {} has {} vertices, but CELLS has only {numbers} left",
                    lists.len(),
                    rest[0],
                    numbers = counted(after.len(), "number")
                )));
            };
            lists.push(after[..length].to_vec());
            rest = &after[length..];
        }
        if lists.len() != n {
            return Err(self.error(format!(
                "CELLS must have {cells} in its {numbers}, got {}",
                lists.len(),
                cells = counted(n, "cell"),
                numbers = counted(size, "number")
            )));
        }
        Ok(lists)
    }

    /// Skips metadata, which ends with an empty line.
    fn skip_metadata(&mut self) {
        self.rest_of_line();
        while self.at < self.bytes.len() && !self.rest_of_line().trim_ascii().is_empty() {}
    }

    /// Skips the arrays that belong to the data set as a whole, such as the time of a simulation.
    fn skip_field(&mut self) -> Result<()> {
        self.word();
        let arrays = self.count("the number of arrays of a field")?;
        for _ in 0..arrays {
            let mut name = self.word().unwrap_or_default();
            while name.eq_ignore_ascii_case("METADATA") {
                self.skip_metadata();
                name = self.word().unwrap_or_default();
            }
            let width = self.count("the number of components of an array")?;
            let n = self.count("the number of tuples of an array")?;
            let kind = self.kind()?;
            if self.is_binary {
                self.binary(n, width, kind)?;
            } else {
                self.words(n.saturating_mul(width), "a number", "a number", |w| {
                    w.parse::<f64>().ok()
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
