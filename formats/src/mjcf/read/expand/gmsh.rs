//! Files of Gmsh with the vertices of a `<flexcomp>`.
//!
//! The formats 2.2 and 4.1, as text and binary, of "File formats" in the reference manual of Gmsh,
//! <https://gmsh.info/doc/texinfo/gmsh.html#File-formats>. As in MuJoCo, vertices keep the order of
//! the file, and a vertex that no triangle or tetrahedron uses does not move.

use nalgebra::Vector3;
use std::collections::{BTreeSet, HashMap};

/// Vertices of a file, and those that elements of the highest dimension use.
#[derive(Debug, PartialEq)]
pub(super) struct Gmsh {
    pub(super) points: Vec<Vector3<f64>>,
    pub(super) used: BTreeSet<usize>,
}

/// Reads the content of a file with at most `most` vertices.
pub(super) fn parse(bytes: &[u8], most: usize) -> Result<Gmsh, String> {
    let mut reader = Reader {
        bytes,
        at: 0,
        is_binary: false,
    };
    reader.find("$MeshFormat")?;
    let version = reader.word()?.to_string();
    let is_binary = reader.number("the file type")? != 0;
    if reader.number("the size of a number")? != 8 {
        return Err("numbers must have 8 bytes".into());
    }
    let is_4 = match &*version {
        "4.1" => true,
        "2.2" => false,
        other => {
            return Err(format!("the format must be 2.2 or 4.1, got {other}"));
        }
    };
    if is_binary {
        reader.end_line();
        reader.is_binary = true;
        if reader.integer(4)? != 1 {
            return Err("binary numbers must be little-endian".into());
        }
    }
    let (points, indices) = if is_4 {
        reader.nodes_4(most)?
    } else {
        reader.nodes_2(most)?
    };
    let elements = if is_4 {
        reader.elements_4()?
    } else {
        reader.elements_2()?
    };
    let highest = elements.iter().map(|(kind, _)| *kind).max();
    let Some(highest) = highest else {
        return Err("there are no triangles and no tetrahedra".into());
    };
    let mut used = BTreeSet::new();
    for (kind, tags) in elements {
        for tag in tags {
            let Some(index) = indices.get(&tag) else {
                return Err(format!(
                    "an element has the node {tag}, which is not in the file"
                ));
            };
            if kind == highest {
                used.insert(*index);
            }
        }
    }
    Ok(Gmsh { points, used })
}

/// Points, and their indices by the tags of the nodes.
type Nodes = (Vec<Vector3<f64>>, HashMap<i64, usize>);
/// Triangles and tetrahedra, with the tags of their nodes; tetrahedra come last in their order.
type Elements = Vec<(i64, Vec<i64>)>;

/// Types of elements that flexes have.
const TRIANGLE: i64 = 2;
const TETRAHEDRON: i64 = 4;

/// Returns the number of nodes of a type of elements.
fn node_count(kind: i64) -> Result<usize, String> {
    Ok(match kind {
        15 => 1,
        1 => 2,
        TRIANGLE | 8 => 3,
        3 | TETRAHEDRON => 4,
        7 => 5,
        6 | 9 => 6,
        5 => 8,
        10 => 9,
        11 => 10,
        other => return Err(format!("elements of type {other} are not supported")),
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    is_binary: bool,
}

impl<'a> Reader<'a> {
    /// Moves behind the line that is `name`.
    fn find(&mut self, name: &str) -> Result<(), String> {
        let rest = &self.bytes[self.at..];
        let found = rest.windows(name.len()).position(|w| w == name.as_bytes());
        let Some(start) = found else {
            return Err(format!("there is no section {name}"));
        };
        self.at += start + name.len();
        self.end_line();
        Ok(())
    }

    /// Moves behind the end of the line.
    fn end_line(&mut self) {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| *b == b'\n');
        self.at += end.map_or(rest.len(), |end| end + 1);
    }

    /// Returns the next word of text.
    fn word(&mut self) -> Result<&'a str, String> {
        let rest = &self.bytes[self.at..];
        let is_space = |b: &u8| b.is_ascii_whitespace();
        let start = rest.iter().take_while(|b| is_space(b)).count();
        let length = rest[start..].iter().take_while(|b| !is_space(b)).count();
        self.at += start + length;
        let word = &rest[start..start + length];
        match std::str::from_utf8(word) {
            Ok(word) if !word.is_empty() => Ok(word),
            Ok(_) => Err("the file ends early".into()),
            Err(_) => Err("there are binary data in place of a number".into()),
        }
    }

    /// Returns the next integer of text.
    fn number(&mut self, what: &str) -> Result<i64, String> {
        let word = self.word()?;
        let parsed = word.parse();
        parsed.map_err(|_| format!("{what} must be an integer, got '{word}'"))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let found = self.bytes[self.at..].first_chunk::<N>();
        let Some(found) = found else {
            return Err("the file ends early".into());
        };
        self.at += N;
        Ok(*found)
    }

    /// Returns the next integer, which has `width` bytes in binary files.
    fn integer(&mut self, width: usize) -> Result<i64, String> {
        match (self.is_binary, width) {
            (false, _) => self.number("a number of nodes or elements"),
            (true, 4) => Ok(i64::from(i32::from_le_bytes(self.take()?))),
            (true, _) => Ok(i64::from_le_bytes(self.take()?)),
        }
    }

    /// Returns the next integer as a count of things of at least a byte each.
    fn count(&mut self, width: usize) -> Result<usize, String> {
        let count = self.integer(width)?;
        match usize::try_from(count) {
            Ok(count) if count <= self.bytes.len() => Ok(count),
            _ => Err(format!(
                "the file is too short for {count} nodes or elements"
            )),
        }
    }

    fn coordinate(&mut self) -> Result<f64, String> {
        let value = if self.is_binary {
            f64::from_le_bytes(self.take()?)
        } else {
            let word = self.word()?;
            let parsed = word.parse();
            parsed.map_err(|_| format!("a coordinate must be a number, got '{word}'"))?
        };
        if value.is_finite() {
            Ok(value)
        } else {
            Err(format!("a coordinate must be finite, got {value}"))
        }
    }

    fn point(&mut self) -> Result<Vector3<f64>, String> {
        Ok(Vector3::new(
            self.coordinate()?,
            self.coordinate()?,
            self.coordinate()?,
        ))
    }

    /// Returns the count that heads a section of format 2.2, which is text in binary files too.
    fn heading(&mut self, name: &str) -> Result<usize, String> {
        self.find(name)?;
        let count = self.number("the count of a section")?;
        self.end_line();
        let count = usize::try_from(count)
            .ok()
            .filter(|n| *n <= self.bytes.len());
        count.ok_or_else(|| format!("the file is too short for its section {name}"))
    }

    fn nodes_2(&mut self, most: usize) -> Result<Nodes, String> {
        let count = self.heading("$Nodes")?;
        check_count(count, most)?;
        let (mut points, mut indices) = (Vec::with_capacity(count), HashMap::new());
        for index in 0..count {
            indices.insert(self.integer(4)?, index);
            points.push(self.point()?);
        }
        Ok((points, indices))
    }

    fn nodes_4(&mut self, most: usize) -> Result<Nodes, String> {
        self.find("$Nodes")?;
        let (blocks, count) = (self.count(8)?, self.count(8)?);
        check_count(count, most)?;
        let (_, _) = (self.integer(8)?, self.integer(8)?);
        let (mut points, mut indices) = (Vec::with_capacity(count), HashMap::new());
        for _ in 0..blocks {
            let (dimension, _, is_parametric) =
                (self.integer(4)?, self.integer(4)?, self.integer(4)? != 0);
            let count = self.count(8)?;
            check_count(points.len() + count, most)?;
            for index in 0..count {
                indices.insert(self.integer(8)?, points.len() + index);
            }
            for _ in 0..count {
                points.push(self.point()?);
                let parameters = if is_parametric {
                    dimension.clamp(0, 3)
                } else {
                    0
                };
                for _ in 0..parameters {
                    self.coordinate()?;
                }
            }
        }
        Ok((points, indices))
    }

    fn elements_2(&mut self) -> Result<Elements, String> {
        let count = self.heading("$Elements")?;
        let mut elements = vec![];
        let mut left = count;
        while left > 0 {
            // Binary files have one header for many elements; text has one for each.
            let mut block = 1;
            let mut number = None;
            if !self.is_binary {
                number = Some(self.integer(4)?);
            }
            let kind = self.integer(4)?;
            if self.is_binary {
                block = self.count(4)?.clamp(1, left);
            }
            let tags = self.count(4)?;
            for _ in 0..block {
                if number.is_none() {
                    self.integer(4)?;
                }
                for _ in 0..tags {
                    self.integer(4)?;
                }
                self.element(kind, 4, &mut elements)?;
            }
            left -= block;
        }
        Ok(elements)
    }

    fn elements_4(&mut self) -> Result<Elements, String> {
        self.find("$Elements")?;
        let blocks = self.count(8)?;
        for _ in 0..3 {
            self.integer(8)?;
        }
        let mut elements = vec![];
        for _ in 0..blocks {
            let (_, _, kind) = (self.integer(4)?, self.integer(4)?, self.integer(4)?);
            for _ in 0..self.count(8)? {
                self.integer(8)?;
                self.element(kind, 8, &mut elements)?;
            }
        }
        Ok(elements)
    }

    /// Reads the nodes of an element, and keeps them if it is a triangle or a tetrahedron.
    fn element(&mut self, kind: i64, width: usize, to: &mut Elements) -> Result<(), String> {
        let nodes = (0..node_count(kind)?).map(|_| self.integer(width));
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        if matches!(kind, TRIANGLE | TETRAHEDRON) {
            to.push((kind, nodes));
        }
        Ok(())
    }
}

fn check_count(count: usize, most: usize) -> Result<(), String> {
    if count <= most {
        Ok(())
    } else {
        Err(format!(
            "there must be at most {most} vertices, got {count}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f64; 3]; 6] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [5.0, 5.0, 5.0],
    ];
    const TETRAHEDRA: [&[i64]; 2] = [&[1, 2, 3, 4], &[2, 3, 4, 5]];
    const TRIANGLES: [&[i64]; 2] = [&[1, 2, 3], &[2, 3, 4]];

    /// Writes numbers as text or binary.
    struct Writer(Vec<u8>, bool);

    impl Writer {
        fn new(version: &str, is_binary: bool) -> Self {
            let mut this = Self(vec![], is_binary);
            this.text(&format!(
                "$MeshFormat\n{version} {} 8\n",
                u8::from(is_binary)
            ));
            if is_binary {
                this.integers(4, &[1]);
                this.text("\n");
            }
            this.text("$EndMeshFormat\n$Comments\nby hand\n$EndComments\n");
            this
        }
        fn text(&mut self, text: &str) {
            self.0.extend(text.as_bytes());
        }
        fn integers(&mut self, width: usize, all: &[i64]) {
            for n in all {
                if self.1 {
                    self.0.extend(&n.to_le_bytes()[..width])
                } else {
                    self.text(&format!("{n} "))
                }
            }
        }
        fn point(&mut self, p: &[f64; 3]) {
            for x in p {
                if self.1 {
                    self.0.extend(x.to_le_bytes())
                } else {
                    self.text(&format!("{x} "))
                }
            }
        }
        fn ended(mut self) -> Vec<u8> {
            self.text("\n$EndElements\n");
            self.0
        }
    }

    fn format_4(elements: &[&[i64]], kind: i64, is_binary: bool) -> Vec<u8> {
        let mut w = Writer::new("4.1", is_binary);
        w.text("$Nodes\n");
        w.integers(8, &[1, 6, 1, 6]);
        w.integers(4, &[3, 1, 0]);
        w.integers(8, &[6, 1, 2, 3, 4, 5, 6]);
        POINTS.iter().for_each(|p| w.point(p));
        w.text("\n$EndNodes\n$Elements\n");
        w.integers(8, &[1, 2, 1, 2]);
        w.integers(4, &[3, 1, kind]);
        w.integers(8, &[2]);
        for (i, element) in elements.iter().enumerate() {
            w.integers(8, &[i as i64 + 1]);
            w.integers(8, element);
        }
        w.ended()
    }

    fn format_2(elements: &[&[i64]], kind: i64, is_binary: bool) -> Vec<u8> {
        let mut w = Writer::new("2.2", is_binary);
        w.text("$Nodes\n6\n");
        for (i, p) in POINTS.iter().enumerate() {
            w.integers(4, &[i as i64 + 1]);
            w.point(p);
        }
        w.text("\n$EndNodes\n$Elements\n3\n");
        // A line, which a flex does not use.
        for (i, element) in [&[5, 6][..]].iter().chain(elements).enumerate() {
            let kind = if i == 0 { 1 } else { kind };
            let number = i as i64 + 1;
            if is_binary {
                w.integers(4, &[kind, 1, 2, number, 0, 1])
            } else {
                w.integers(4, &[number, kind, 2, 0, 1])
            }
            w.integers(4, element);
        }
        w.ended()
    }

    /// MuJoCo 3.3.7 moves the vertices 0 to 4 of the volume and 0 to 3 of the surface.
    #[test]
    fn surfaces_and_volumes_have_the_vertices_of_mujoco() {
        let points: Vec<_> = POINTS.iter().map(|p| Vector3::from(*p)).collect();
        for is_binary in [false, true] {
            for write in [format_4, format_2] {
                for (elements, kind, count) in
                    [(TETRAHEDRA, TETRAHEDRON, 5), (TRIANGLES, TRIANGLE, 4)]
                {
                    let found = parse(&write(&elements, kind, is_binary), 6).unwrap();
                    assert_eq!(found.points, points);
                    assert_eq!(found.used, (0..count).collect());
                }
            }
        }
    }

    #[test]
    fn files_cut_anywhere_are_errors() {
        for is_binary in [false, true] {
            for write in [format_4, format_2] {
                let whole = write(&TETRAHEDRA, TETRAHEDRON, is_binary);
                let end = whole.len() - "5 \n$EndElements\n".len();
                for length in 0..end {
                    assert!(parse(&whole[..length], 6).is_err(), "{length}");
                }
                assert!(
                    parse(&whole, 5)
                        .unwrap_err()
                        .contains("at most 5 vertices, got 6")
                );
            }
        }
    }
}
