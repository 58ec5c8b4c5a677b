//! Parsing a line of the input.

use super::fields::{Fields, array, number, numbers, wrong};
use super::hydroelastic::{self, SurfaceRequest};
use crate::json_lines::json_error;
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tarragon::framework::counted;
use tarragon::framework::math;
use tarragon::geometry::{
    BoxShape, Capsule, Convex, Cylinder, DefaultProximityProperties, Ellipsoid, HalfSpace,
    HeightField, Mesh, ProximityProperties, Shape, Sphere,
};

/// One geometry of a scene.
pub(super) struct Geometry {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) x_wg: Isometry3<f64>,
    pub(super) anchored: bool,
    pub(super) proximity: ProximityProperties,
}

/// A scene and the queries about it.
pub(super) struct Scene {
    pub(super) geometries: Vec<Geometry>,
    pub(super) penetration: bool,
    pub(super) signed_distance: bool,
    pub(super) contact_surfaces: Option<SurfaceRequest>,
    pub(super) hydro_meshes: bool,
    pub(super) defaults: DefaultProximityProperties,
    /// The point for distance queries.
    pub(super) point: Option<Vector3<f64>>,
    pub(super) max_distance: f64,
    pub(super) autodiff: bool,
}

impl Scene {
    /// Parses a scene; errors name the place.
    pub(super) fn parse(text: &[u8], meshes: &MeshFiles) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(text).map_err(|e| json_error(&e))?;
        let mut scene = Fields::new(value, "scene", "")?;
        let items = array(scene.required("geometries")?, "geometries")?;
        let queries = scene.optional("queries");
        let max_distance = max_distance(scene.optional("max_distance"))?;
        let point = scene.optional("point");
        let point = point.map(|p| numbers(&p, "point").map(Vector3::from));
        let point = point.transpose()?;
        let autodiff = match scene.optional("scalar") {
            None => false,
            Some(value) => match value.as_str() {
                Some("f64") => false,
                Some("autodiff") => true,
                _ => return Err(wrong("scalar", "\"f64\" or \"autodiff\"", &value)),
            },
        };
        let request = SurfaceRequest::parse(&mut scene)?;
        let defaults = hydroelastic::defaults(scene.optional("defaults"))?;
        scene.finish()?;
        let (mut contact_surfaces, mut hydro_meshes) = (None, false);
        let [mut penetration, mut signed_distance, mut to_point] = [true, true, point.is_some()];
        if let Some(queries) = queries {
            [penetration, signed_distance, to_point] = [false; 3];
            for (i, query) in array(queries, "queries")?.into_iter().enumerate() {
                match query.as_str() {
                    Some("penetration") => penetration = true,
                    Some("signed_distance") => signed_distance = true,
                    Some("point") => to_point = true,
                    Some("contact_surfaces") => contact_surfaces = Some(request),
                    Some("hydro_meshes") => hydro_meshes = true,
                    _ => {
                        let path = format!("queries[{i}]");
                        let known = "\"penetration\", \"signed_distance\", \"point\", \
                                     \"contact_surfaces\" or \"hydro_meshes\"";
                        return Err(wrong(&path, known, &query));
                    }
                }
            }
        }
        if to_point && point.is_none() {
            return Err("point: this field is missing; the query \"point\" needs it".into());
        }
        Ok(Self {
            geometries: geometries(items, meshes)?,
            penetration,
            signed_distance,
            contact_surfaces,
            hydro_meshes,
            defaults,
            point: point.filter(|_| to_point),
            max_distance,
            autodiff,
        })
    }
}

fn max_distance(value: Option<Value>) -> Result<f64, String> {
    let Some(value) = value else {
        return Ok(f64::INFINITY);
    };
    match value.as_f64() {
        Some(distance) => Ok(distance),
        // The spelling of the output is accepted.
        None if value == "inf" => Ok(f64::INFINITY),
        _ => Err(wrong("max_distance", "a number (m) or null", &value)),
    }
}

fn geometries(items: Vec<Value>, meshes: &MeshFiles) -> Result<Vec<Geometry>, String> {
    let mut numbers = HashMap::new();
    let mut geometries = Vec::with_capacity(items.len());
    for (i, item) in items.into_iter().enumerate() {
        let geometry = geometry(item, i, meshes)?;
        // The scene graph compares names in the same way.
        match numbers.entry(geometry.name.trim_matches([' ', '\t']).to_owned()) {
            Entry::Vacant(entry) => entry.insert(i),
            Entry::Occupied(entry) => {
                return Err(format!(
                    "geometries[{i}].name must be unique, got '{}', which is already the name of \
                     geometries[{}]",
                    geometry.name,
                    entry.get()
                ));
            }
        };
        geometries.push(geometry);
    }
    Ok(geometries)
}

fn geometry(item: Value, i: usize, meshes: &MeshFiles) -> Result<Geometry, String> {
    let mut fields = Fields::new(
        item,
        &format!("geometries[{i}]"),
        format!("geometries[{i}]."),
    )?;
    let name = fields.text("name")?;
    if name.trim_matches([' ', '\t']).is_empty() {
        return Err(format!("geometries[{i}].name must not be empty"));
    }
    fields.set_place(format!("geometry '{name}': "));
    let shape = shape(fields.required("shape")?, &name, meshes)?;
    let x_wg = pose(fields.numbers("pose")?).ok_or_else(|| {
        format!(
            "{}: the first four numbers are the quaternion w, x, y, z, which must not be zero",
            fields.path("pose")
        )
    })?;
    let anchored = match fields.optional("anchored") {
        None => false,
        Some(Value::Bool(anchored)) => anchored,
        Some(other) => {
            let path = fields.path("anchored");
            return Err(wrong(&path, "true or false", &other));
        }
    };
    let proximity = hydroelastic::properties(fields.optional("hydro"), &fields.path("hydro"))?;
    fields.finish()?;
    Ok(Geometry {
        name,
        shape,
        x_wg,
        anchored,
        proximity,
    })
}

/// The pose of a quaternion, which is normalized, and a position. None for a zero quaternion.
pub(super) fn pose([w, x, y, z, px, py, pz]: [f64; 7]) -> Option<Isometry3<f64>> {
    let rotation = math::quaternion_wxyz([w, x, y, z]).or_else(|| {
        // The square of a large quaternion overflows, so it is scaled first.
        let largest = [w, x, y, z]
            .into_iter()
            .fold(0.0, |m: f64, c| m.max(c.abs()));
        math::quaternion_wxyz([w, x, y, z].map(|c| c / largest))
    })?;
    Some(math::pose(rotation, Vector3::new(px, py, pz)))
}

fn shape(value: Value, name: &str, meshes: &MeshFiles) -> Result<Shape, String> {
    shape_at(value, format!("geometry '{name}': shape"), meshes)
}

/// Parses a shape; errors call it `what`.
pub(super) fn shape_at(value: Value, what: String, meshes: &MeshFiles) -> Result<Shape, String> {
    let mut fields = Fields::new(value, &what, format!("{what}."))?;
    let kind = fields.text("type")?;
    let shape = match kind.as_str() {
        "Box" => {
            let [x, y, z] = fields.numbers("size")?;
            BoxShape::new(x, y, z).map(Shape::from)
        }
        "Sphere" => Sphere::new(fields.number("radius")?).map(Shape::from),
        "Cylinder" => {
            Cylinder::new(fields.number("radius")?, fields.number("length")?).map(Shape::from)
        }
        "Capsule" => {
            Capsule::new(fields.number("radius")?, fields.number("length")?).map(Shape::from)
        }
        "Ellipsoid" => {
            let [a, b, c] = fields.numbers("abc")?;
            Ellipsoid::new(a, b, c).map(Shape::from)
        }
        "HalfSpace" => Ok(HalfSpace.into()),
        "HeightField" => {
            let heights = fields.required("heights")?;
            let (rows, columns, heights) = height_rows(heights, &fields.path("heights"))?;
            let size = fields.numbers("size")?;
            let depth = fields.number("base_depth")?;
            HeightField::new(rows, columns, heights, size, depth).map(Shape::from)
        }
        "Convex" | "Mesh" => {
            let file = fields.text("file")?;
            let scale3 = match fields.optional("scale3") {
                None => [1.0; 3],
                Some(one @ Value::Number(_)) => [number(&one, &fields.path("scale3"))?; 3],
                Some(three) => numbers(&three, &fields.path("scale3"))?,
            };
            meshes.shape(&kind, &file, scale3, &fields.path("file"))?
        }
        other => {
            return Err(format!(
                "{what}.type must be one of Box, Capsule, Convex, Cylinder, Ellipsoid, \
                 HalfSpace, HeightField, Mesh, Sphere, got '{other}'"
            ));
        }
    };
    let shape = shape.map_err(|e| format!("{what}: {e}"))?;
    fields.finish()?;
    Ok(shape)
}

/// Parses the rows of a height field; returns their number, their length and all heights.
fn height_rows(value: Value, place: &str) -> Result<(usize, usize, Vec<f64>), String> {
    let (mut columns, mut heights) = (None, vec![]);
    let rows = array(value, place)?;
    let count_of_rows = rows.len();
    for (i, row) in rows.into_iter().enumerate() {
        let place = format!("{place}[{i}]");
        let row = array(row, &place)?;
        let count = *columns.get_or_insert(row.len());
        if row.len() != count {
            return Err(format!(
                "{place} must have {numbers} as the first row has, got {}",
                row.len(),
                numbers = counted(count, "number")
            ));
        }
        for (k, height) in row.iter().enumerate() {
            heights.push(number(height, &format!("{place}[{k}]"))?);
        }
    }
    Ok((count_of_rows, columns.unwrap_or(0), heights))
}

/// Kind, file and scale of a mesh.
type MeshKey = (String, PathBuf, [u64; 3]);

/// Cache of the meshes that lines have named. Shapes share their data, so that a file is not read
/// again for every line.
pub(super) struct MeshFiles {
    /// Directory of the input, if it is a file.
    folder: Option<PathBuf>,
    shapes: Mutex<HashMap<MeshKey, Shape>>,
}

impl MeshFiles {
    /// Number of cached meshes beyond which the cache is cleared, so that memory is bounded.
    const MOST: usize = 256;

    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            shapes: Mutex::default(),
        }
    }

    /// Finds a file in the current directory or in that of the input.
    fn find(&self, file: &str, place: &str) -> Result<PathBuf, String> {
        let here = Path::new(file);
        if here.exists() {
            return Ok(here.into());
        }
        let beside = self.folder.as_ref().map(|folder| folder.join(here));
        match beside {
            Some(beside) if beside.exists() => Ok(beside),
            Some(beside) if beside != here => Err(format!(
                "{place}: there is neither '{file}' nor '{}'",
                beside.display()
            )),
            _ => Err(format!("{place}: there is no '{file}'")),
        }
    }

    fn shape(
        &self,
        kind: &str,
        file: &str,
        scale3: [f64; 3],
        place: &str,
    ) -> Result<tarragon::geometry::Result<Shape>, String> {
        let path = self.find(file, place)?;
        let key = (kind.to_owned(), path.clone(), scale3.map(f64::to_bits));
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = shapes.get(&key) {
            return Ok(Ok(shape.clone()));
        }
        let scale3 = Vector3::from(scale3);
        let shape = match kind {
            "Convex" => Convex::with_scale(path, scale3).map(Shape::from),
            _ => Mesh::with_scale(path, scale3).map(Shape::from),
        };
        if let Ok(shape) = &shape {
            if shapes.len() >= Self::MOST {
                shapes.clear();
            }
            shapes.insert(key, shape.clone());
        }
        Ok(shape)
    }
}
