//! Reader of binary and ASCII STL files.

use super::lines::{finite_numbers3, for_each_line, is_last_line, without_byte_order_mark};
use crate::error::{Error, Result, parse_error};
use crate::mesh::normals::{Smoothing, add_missing};
use crate::mesh::{MaterialGroup, RenderMesh};
use foldhash::fast::RandomState;
use nalgebra::Point3;
use std::collections::HashMap;
use std::path::Path;
use std::str::SplitWhitespace;
use tarragon_framework::counted;

/// Number of bytes before the first triangle of a binary file.
const HEADER: usize = 84;
/// Number of bytes per triangle of a binary file.
const RECORD: usize = 50;

/// Reads the content of an STL file; `path` is for messages.
///
/// Normals are computed, smooth between triangles that meet at less than 30 degrees, because those
/// of the format are flat and often wrong.
///
/// # Errors
/// Returns an error if the content is truncated, has more triangles than its header announces, a
/// coordinate that is not finite, or no triangles.
pub fn parse_stl(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    let mut surface = Surface::default();
    let marked = bytes;
    let bytes = without_byte_order_mark(bytes);
    // Binary files may also start with "solid", so the length is checked first.
    let binary_len = declared_len(marked);
    let start = bytes.trim_ascii_start().get(..5).unwrap_or_default();
    let text = start.eq_ignore_ascii_case(b"solid") && !bytes.contains(&0);
    if binary_len == Some(marked.len()) || !text {
        parse_binary(path, marked, &mut surface)?;
    } else {
        parse_ascii(path, bytes, &mut surface)?;
    }
    surface.finish(path)
}

/// Returns the length that the header of a binary file announces.
fn declared_len(bytes: &[u8]) -> Option<usize> {
    let count = u32::from_le_bytes(bytes.get(80..HEADER)?.try_into().ok()?);
    (count as usize).checked_mul(RECORD)?.checked_add(HEADER)
}

fn parse_binary(path: &Path, bytes: &[u8], surface: &mut Surface) -> Result<()> {
    let wrong = |message: String| parse_error(path, 0, message);
    let has_length = declared_len(bytes) == Some(bytes.len());
    if let Some(text) = as_text(bytes).filter(|_| !has_length) {
        return Err(wrong(format!(
            "the file must be STL (text that starts with 'solid', or binary), got other text, \
             which starts with '{text}'; export it again"
        )));
    }
    let Some(declared) = declared_len(bytes) else {
        return Err(wrong(format!(
            "the file must be STL (text that starts with 'solid', or a binary header of {HEADER} \
            bytes), got {} bytes",
            bytes.len()
        )));
    };
    if bytes.len() < declared {
        return Err(wrong(format!(
            "the file must have {declared} bytes for the {1} triangles that its header announces, \
            got {0}; it is cut off, or it is not STL",
            bytes.len(),
            (declared - HEADER) / RECORD
        )));
    }
    // Some exporters append attributes, so other extra bytes are no error. MuJoCo refuses them all.
    let extra = bytes.len() - declared;
    if extra > 0 && extra.is_multiple_of(RECORD) {
        return Err(wrong(format!(
            "the header must announce all triangles of the file, which has {}, got {}; export it \
             again",
            counted((bytes.len() - HEADER) / RECORD, "triangle"),
            (declared - HEADER) / RECORD
        )));
    }
    for (i, record) in bytes[HEADER..declared].chunks_exact(RECORD).enumerate() {
        let mut xyz = [0.0; 9];
        for (value, word) in xyz.iter_mut().zip(record[12..48].chunks_exact(4)) {
            *value = f32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        }
        if let Some(bad) = xyz.iter().find(|x| !x.is_finite()) {
            return Err(wrong(format!(
                "byte {}: coordinates of triangle {i} must be finite, got {bad:?}",
                HEADER + i * RECORD + 12
            )));
        }
        let corner = |k: usize| [xyz[k], xyz[k + 1], xyz[k + 2]].map(f64::from);
        surface.push([corner(0), corner(3), corner(6)]);
    }
    Ok(())
}

/// Returns the start of a file that is text; binary files have zeros or other control characters.
fn as_text(bytes: &[u8]) -> Option<String> {
    let is_text = |b: &u8| !b.is_ascii_control() || b.is_ascii_whitespace();
    let line = bytes
        .trim_ascii()
        .split(|b| matches!(b, b'\n' | b'\r'))
        .next();
    let start = str::from_utf8(line?).ok().filter(|line| !line.is_empty())?;
    bytes
        .iter()
        .all(is_text)
        .then(|| crate::error::short(start))
}

fn parse_ascii(path: &Path, bytes: &[u8], surface: &mut Surface) -> Result<()> {
    let mut corners = Vec::with_capacity(3);
    let mut last_line = 1;
    // Nothing follows the statement that is wrong.
    let cut_off = |line: usize, rest: &SplitWhitespace<'_>| {
        let ends = rest.clone().next().is_none() && is_last_line(bytes, line);
        if ends { "; the file looks cut off" } else { "" }
    };
    for_each_line(path, bytes, |place, key, rest| {
        last_line = place.line;
        // All statements may be on one line.
        let (mut word, mut words) = (key, rest.split_whitespace());
        loop {
            // Some exporters write capitals.
            let key = word.to_ascii_lowercase();
            match &*key {
                "vertex" => {
                    let corner = finite_numbers3(&mut words, "the vertex");
                    corners.push(corner.map_err(|why| {
                        place.error(format!("{why}{}", cut_off(place.line, &words)))
                    })?);
                }
                "endloop" => {
                    let triangle = std::mem::take(&mut corners);
                    let n = triangle.len();
                    surface.push(triangle.try_into().map_err(|_| {
                        place.error(format!("the loop must have three vertices, got {n}"))
                    })?);
                }
                "solid" | "facet" | "outer" | "endfacet" | "endsolid" => {}
                _ => {
                    return Err(place.error(format!(
                        "the line must begin with solid, facet, outer, vertex, endloop, endfacet \
                         or endsolid, got '{}'{}",
                        crate::error::short(word),
                        cut_off(place.line, &words)
                    )));
                }
            }
            match next_statement(&mut words, key.ends_with("solid")) {
                Some(next) => word = next,
                None => return Ok(()),
            }
        }
    })?;
    if corners.is_empty() {
        Ok(())
    } else {
        Err(parse_error(
            path,
            last_line,
            "the file ends within a loop of vertices; it is cut off",
        ))
    }
}

/// Returns the next word that begins a statement. A name, which may hold such words, ends before
/// `facet normal` or `endsolid`.
fn next_statement<'w>(words: &mut SplitWhitespace<'w>, after_name: bool) -> Option<&'w str> {
    const STATEMENTS: [&str; 5] = ["outer", "vertex", "endloop", "endfacet", "endsolid"];
    while let Some(word) = words.next() {
        let is = |statement: &str| word.eq_ignore_ascii_case(statement);
        let mut after = words.clone();
        let normal = after
            .next()
            .is_some_and(|w| w.eq_ignore_ascii_case("normal"));
        let begins = if after_name {
            is("endsolid")
        } else {
            is("solid") || STATEMENTS.iter().any(|s| is(s))
        };
        if begins || is("facet") && normal {
            return Some(word);
        }
    }
    None
}

/// Surface under construction, in which equal corners become one vertex.
#[derive(Default)]
struct Surface {
    mesh: RenderMesh,
    known: HashMap<[u64; 3], u32, RandomState>,
}

impl Surface {
    fn push(&mut self, corners: [[f64; 3]; 3]) {
        let triangle = corners.map(|p| {
            let key = p.map(|x| (x + 0.0).to_bits()); // adding zero makes -0 and 0 equal
            *self.known.entry(key).or_insert_with(|| {
                self.mesh.positions.push(Point3::from(p));
                self.mesh.positions.len() as u32 - 1
            })
        });
        self.mesh.triangles.push(triangle);
    }
    fn finish(self, path: &Path) -> Result<RenderMesh> {
        let mut mesh = self.mesh;
        let n = mesh.triangles.len();
        if n == 0 {
            return Err(Error::invalid(format!(
                "{}: the mesh must have at least one triangle, got none",
                path.display()
            )));
        }
        mesh.triangle_normals = vec![[0; 3]; n];
        mesh.groups = vec![MaterialGroup {
            material: None,
            triangles: 0..n,
        }];
        let all: Vec<_> = (0..n).map(|t| (t, Smoothing::Auto)).collect();
        add_missing(&mut mesh, &all);
        Ok(mesh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> Vec<[[f32; 3]; 3]> {
        let v = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]];
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
            .map(|t| t.map(|i: usize| v[i]))
            .to_vec()
    }
    fn binary(header: &[u8], triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend((triangles.len() as u32).to_le_bytes());
        for t in triangles {
            bytes.extend([0; 12]);
            bytes.extend(t.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }
    fn ascii(triangles: &[[[f32; 3]; 3]]) -> String {
        let mut s = "solid x\n".to_owned();
        for t in triangles {
            s += "facet normal 0 0 0\nouter loop\n";
            for p in t {
                s += &format!("vertex {} {} {}\n", p[0], p[1], p[2]);
            }
            s += "endloop\nendfacet\n";
        }
        s + "endsolid\n"
    }
    fn message(bytes: &[u8]) -> String {
        parse_stl(Path::new("x.stl"), bytes)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn binary_and_ascii_give_the_same_mesh() {
        let t = tetrahedron();
        let a = parse_stl(Path::new("x.stl"), ascii(&t).as_bytes()).unwrap();
        assert_eq!((a.positions.len(), a.triangles.len()), (4, 4));
        for header in [&b"exported"[..], b"solid but binary"] {
            assert_eq!(
                parse_stl(Path::new("x.stl"), &binary(header, &t)).unwrap(),
                a
            );
        }
    }

    #[test]
    fn capitals_are_read_as_small_letters() {
        let small = ascii(&tetrahedron());
        let expected = parse_stl(Path::new("x.stl"), small.as_bytes()).unwrap();
        let capitals = small.to_uppercase();
        let only_solid = capitals.replacen("SOLID", "solid", 1);
        for text in [
            capitals.clone(),
            only_solid,
            small.replace("facet", "Facet"),
        ] {
            let mesh = parse_stl(Path::new("x.stl"), text.as_bytes()).unwrap();
            assert_eq!(mesh, expected, "{text}");
        }
        let error = message(capitals.replace("VERTEX 0", "VERTEX A").as_bytes());
        assert!(
            error.contains("x.stl:4: x of the vertex must be"),
            "{error}"
        );
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_do_not_matter() {
        let lines = ascii(&tetrahedron()).replace("solid x", "solid a facet of x");
        let expected = parse_stl(Path::new("x.stl"), lines.as_bytes()).unwrap();
        for text in [
            lines.replace('\n', " "),
            lines.replace('\n', "\r"),
            lines.replace('\n', "\r\n"),
            format!("\u{feff}{lines}"),
            // Two solids.
            format!("{lines}{lines}").replace('\n', " "),
        ] {
            let mut mesh = parse_stl(Path::new("x.stl"), text.as_bytes()).unwrap();
            let n = expected.triangles.len();
            assert!(mesh.triangles.len().is_multiple_of(n), "{text}");
            mesh.triangles.truncate(n);
            assert_eq!(mesh.triangles, expected.triangles, "{text}");
            assert_eq!(mesh.positions, expected.positions, "{text}");
        }
        let cut = lines.replace('\n', "\r").replace("vertex 1", "vertex z");
        let error = message(cut.as_bytes());
        assert!(
            error.contains("x.stl:6: x of the vertex must be"),
            "{error}"
        );
    }

    #[test]
    fn text_that_ends_within_a_statement_looks_cut_off() {
        let start = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
        let loops = "endloop\nendfacet\nendsolid";
        for (end, expected) in [
            ("vertex 0 1", "z of the vertex is missing"),
            ("vertex", "x of the vertex is missing"),
            ("vertex 0 1 1e", "must be a finite number, got '1e'"),
            ("verte", "got 'verte'"),
            ("vertex 0 1 0", "the file ends within a loop of vertices"),
        ] {
            let line = format!("x.stl:6: {expected}").replace("must", "z of the vertex must");
            let line = line.replace("got 'verte'", "the line must begin with");
            for text in [format!("{start}{end}"), format!("{start}{end}\r\n \n")] {
                let error = message(text.as_bytes());
                assert!(error.contains(&line), "{error}");
                assert!(error.ends_with("cut off"), "{error}");
            }
            if !end.ends_with(" 0") {
                let error = message(format!("{start}{end}\n{loops}").as_bytes());
                assert!(!error.contains("cut off"), "{error}");
            }
        }
    }

    #[test]
    fn text_that_is_not_stl_is_reported_as_such() {
        // As a binary header, the digits announce 808 333 344 triangles.
        let numbers = "1.0 0.0 ".repeat(40);
        for (text, start) in [
            (&*numbers, "1.0 0.0 "),
            (
                "version https://git-lfs.github.com/spec/v1\noid sha256:1",
                "version https",
            ),
            ("<!DOCTYPE html>", "<!DOCTYPE html>"),
            ("o cube\nv 1 2 3", "o cube'"),
            ("\u{e4}\u{f6}", "\u{e4}\u{f6}"),
        ] {
            let error = message(text.as_bytes());
            let expected = format!("got other text, which starts with '{start}");
            assert!(error.contains(&expected), "{error}");
            assert!(!error.contains("triangles"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_place_and_the_value() {
        let t = tetrahedron();
        let whole = binary(b"", &t);
        assert!(message(&whole[..200]).contains("x.stl: the file must have 284 bytes for the 4 triangles that its header announces, got 200"));
        assert!(message(&whole[..200]).ends_with("it is cut off, or it is not STL"));
        assert!(message(&[0; 10]).contains("got 10 bytes"));
        assert!(message(&binary(b"", &[])).contains("must have at least one triangle"));
        assert!(message(b"solid\nendsolid").contains("must have at least one triangle"));
        let mut bad = t.clone();
        bad[1][2][0] = f32::NAN;
        assert!(
            message(&binary(b"", &bad))
                .contains("byte 146: coordinates of triangle 1 must be finite, got NaN")
        );
        assert!(
            message(ascii(&bad).as_bytes())
                .contains("x.stl:13: x of the vertex must be a finite number, got 'NaN'")
        );
        assert!(message(b"solid\nfacet\nouter loop\nvertex 1 2 3").contains("ends within a loop"));
        assert!(
            message(b"solid\nvertex 1 2 3\nendloop")
                .contains("the loop must have three vertices, got 1")
        );
        assert!(message(b"solid\nhello").contains("x.stl:2: the line must begin with solid, facet, outer, vertex, endloop, endfacet or endsolid, got 'hello'"));
    }
}
