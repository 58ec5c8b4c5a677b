//! Reader of Wavefront OBJ files.

use super::lines::{LineOrigin, for_each_line};
use super::mtl;
use super::origin::FileOrigin;
use crate::error::short;
use crate::error::{Result, parse_error};
use crate::mesh::FileSource;
use crate::mesh::normals::{Smoothing, add_missing};
use crate::mesh::triangulate::triangulate;
use crate::mesh::{MaterialGroup, RenderMesh};
use nalgebra::{Point3, Vector3};
use std::path::{Path, PathBuf};
use tarragon_framework::git_lfs_pointer;
use tarragon_framework::warnings::warn;

/// Reads the content of an OBJ file; material files are looked up in the folder of `path`.
///
/// Polygons are triangulated. Missing normals are computed: flat or smooth according to the
/// smoothing group (`s`); in files without any `s`, smooth between triangles that meet at less than
/// 30 degrees. A missing material file leaves its faces without colour, as does an unknown
/// material; both are logged, and so are wrong statements of material files and faces with fewer
/// than three corners, which are left out.
/// Lines, points and free-form surfaces are skipped.
///
/// # Errors
/// Returns an error if a number is not finite, an index is out of range, or there are no faces.
pub fn parse_obj(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    parse(FileOrigin::on_disk(path), bytes)
}

/// Reads an OBJ file as [`parse_obj`] does, with material files from any origin.
pub(super) fn parse(origin: FileOrigin<'_>, bytes: &[u8]) -> Result<RenderMesh> {
    let path = origin.path;
    let mut reader = ObjReader {
        origin,
        mesh: RenderMesh::default(),
        without_normals: vec![],
        smoothing: None,
        material: None,
        corners: vec![],
        points: vec![],
        pieces: vec![],
        short_faces: None,
    };
    let mut last_line = 1;
    for_each_line(path, bytes, |place, key, rest| {
        last_line = place.line;
        reader.statement(place, key, rest)
    })?;
    if let Some((line, count)) = reader.short_faces {
        let what = match count {
            1 => "a face has fewer than three corners and is".to_owned(),
            n => format!(
                "{n} faces, of which this is the first, have fewer than three corners and are"
            ),
        };
        warn(format!("{}:{line}: {what} left out", path.display()));
    }
    if reader.mesh.triangles.is_empty() {
        return Err(parse_error(
            path,
            last_line,
            "the mesh must have at least one face, got none",
        ));
    }
    Ok(reader.finish())
}

/// Indices of one corner.
#[derive(Clone, Copy)]
struct ObjCorner {
    position: u32,
    uv: Option<u32>,
    normal: Option<u32>,
}

struct ObjReader<'a> {
    origin: FileOrigin<'a>,
    mesh: RenderMesh,
    /// Triangles whose normals are still to be computed.
    without_normals: Vec<(usize, Smoothing)>,
    smoothing: Option<Smoothing>,
    material: Option<usize>,
    /// Corners of the current face. These three are kept only to reuse their storage.
    corners: Vec<ObjCorner>,
    points: Vec<Point3<f64>>,
    pieces: Vec<[usize; 3]>,
    /// Line of the first face with fewer than three corners, and the number of such faces.
    short_faces: Option<(usize, usize)>,
}

impl ObjReader<'_> {
    fn statement(&mut self, place: LineOrigin<'_>, key: &str, rest: &str) -> Result<()> {
        let mut words = rest.split_whitespace();
        match key {
            "v" => {
                let p = place.numbers3(&mut words, "the vertex")?;
                self.mesh.positions.push(Point3::from(p));
            }
            "vn" => {
                let n = Vector3::from(place.numbers3(&mut words, "the normal")?);
                // Exporters write zero normals for degenerate faces, where any direction will do.
                let n = n.try_normalize(0.0).filter(|n| n.norm_squared() > 0.5);
                self.mesh.normals.push(n.unwrap_or_else(Vector3::z));
            }
            "vt" => {
                let u = place.number(words.next(), "u of the texture coordinate")?;
                let v = match words.next() {
                    None => 0.0,
                    v => place.number(v, "v of the texture coordinate")?,
                };
                self.mesh.uvs.push([u, v]);
            }
            "f" => self.face(place, words)?,
            "s" => {
                self.smoothing = Some(match rest {
                    "off" | "0" => Smoothing::Flat,
                    "on" => Smoothing::Group(1),
                    number => Smoothing::Group(number.parse().map_err(|_| {
                        place.error(format!(
                            "the smoothing group must be a number, 'on' or 'off', got '{}'",
                            short(number)
                        ))
                    })?),
                });
            }
            "usemtl" => {
                self.material = self.mesh.materials.iter().position(|m| m.name == rest);
                if self.material.is_none() {
                    warn(format!(
                        "{}:{}: there is no material '{}'",
                        place.path.display(),
                        place.line,
                        short(rest)
                    ));
                }
            }
            "mtllib" => self.material_file(place, rest)?,
            _ => {}
        }
        Ok(())
    }

    fn material_file(&mut self, place: LineOrigin<'_>, name: &str) -> Result<()> {
        let found = self.origin.find(name, &name.replace('\\', "/"));
        let found = found.map_err(|why| (short(name), format!(" {why}")));
        let file = found.and_then(|source| match source {
            FileSource::Memory(file) => Ok((PathBuf::from(name), file.contents().clone())),
            FileSource::Path(path) => match std::fs::read(&path) {
                Ok(bytes) => Ok((path, bytes.into())),
                Err(e) => Err((path.display().to_string(), format!(": {e}"))),
            },
        });
        let file = file.and_then(|(path, bytes)| match git_lfs_pointer(&bytes) {
            Some(why) => Err((path.display().to_string(), format!(": {why}"))),
            None => Ok((path, bytes)),
        });
        match file {
            Ok((path, bytes)) => {
                let materials = mtl::parse(self.origin.of(&path), &bytes);
                self.mesh.materials.extend(materials);
            }
            Err((file, why)) => warn(format!(
                "{}:{}: material file '{file}'{why}",
                place.path.display(),
                place.line
            )),
        }
        Ok(())
    }

    fn face<'w>(
        &mut self,
        place: LineOrigin<'_>,
        words: impl Iterator<Item = &'w str>,
    ) -> Result<()> {
        self.corners.clear();
        for word in words {
            let corner = self.corner(place, word)?;
            self.corners.push(corner);
        }
        if self.corners.len() < 3 {
            let (line, count) = self.short_faces.unwrap_or((place.line, 0));
            self.short_faces = Some((line, count + 1));
            return Ok(());
        }
        let position = |c: &ObjCorner| self.mesh.positions[c.position as usize];
        self.points.clear();
        self.points.extend(self.corners.iter().map(position));
        triangulate(&self.points, &mut self.pieces);
        let smoothing = self.smoothing.unwrap_or(Smoothing::Auto);
        for piece in &self.pieces {
            let t = self.mesh.triangles.len();
            let corners = piece.map(|k| self.corners[k]);
            self.mesh.triangles.push(corners.map(|c| c.position));
            let uvs = corners.map(|c| c.uv.unwrap_or(RenderMesh::NO_UV));
            self.mesh.triangle_uvs.push(uvs);
            let normals = corners.map(|c| c.normal);
            if normals.contains(&None) {
                self.without_normals.push((t, smoothing));
            }
            self.mesh
                .triangle_normals
                .push(normals.map(Option::unwrap_or_default));
            match self.mesh.groups.last_mut() {
                Some(group) if group.material == self.material => group.triangles.end = t + 1,
                _ => self.mesh.groups.push(MaterialGroup {
                    material: self.material,
                    triangles: t..t + 1,
                }),
            }
        }
        Ok(())
    }

    /// Parses a corner: `v`, `v/vt`, `v//vn` or `v/vt/vn`.
    fn corner(&self, place: LineOrigin<'_>, word: &str) -> Result<ObjCorner> {
        let mut parts = word.split('/');
        let mut next = |what: &str, count: usize| match parts.next() {
            None | Some("") => Ok(None),
            Some(text) => index(place, text, what, count).map(Some),
        };
        let position = next("vertex", self.mesh.positions.len())?;
        let uv = next("texture coordinate", self.mesh.uvs.len())?;
        let normal = next("normal", self.mesh.normals.len())?;
        match (position, parts.next()) {
            (Some(position), None) => Ok(ObjCorner {
                position,
                uv,
                normal,
            }),
            _ => Err(place.error(format!(
                "the corner must be v, v/vt, v//vn or v/vt/vn, got '{}'",
                short(word)
            ))),
        }
    }

    fn finish(self) -> RenderMesh {
        let mut mesh = self.mesh;
        add_missing(&mut mesh, &self.without_normals);
        let no_uv = [RenderMesh::NO_UV; 3];
        if mesh.triangle_uvs.iter().all(|t| *t == no_uv) {
            mesh.triangle_uvs = Vec::new();
        }
        mesh
    }
}

/// Converts an OBJ index, which counts from 1 or backwards from -1, to one from 0.
fn index(place: LineOrigin<'_>, text: &str, what: &str, count: usize) -> Result<u32> {
    let found: i64 = text.parse().map_err(|_| {
        place.error(format!(
            "the index of a {what} must be a whole number, got '{}'",
            short(text)
        ))
    })?;
    let from_zero = if found < 0 {
        found.checked_add(count as i64)
    } else {
        found.checked_sub(1)
    };
    from_zero
        .and_then(|i| u32::try_from(i).ok())
        .filter(|i| (*i as usize) < count && *i != RenderMesh::NO_UV)
        .ok_or_else(|| {
            place.error(format!(
                "the index of a {what} must be within the {count} defined so far, got {found}"
            ))
        })
}
