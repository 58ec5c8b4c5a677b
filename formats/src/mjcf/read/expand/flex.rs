//! `<flexcomp>`: a body with sliding joints for every vertex, as in MuJoCo.

use super::expander::{Expander, text};
use super::flex_points::Grid;
use super::gmsh;
use crate::mjcf::read::compiler::boolean;
use crate::mjcf::read::tree::ElementRef;
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeSet;
use std::path::Path;
use tarragon_documents::read_file;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::Mesh;

/// Maximum number of vertices.
const MAX_POINTS: usize = 20_000;
/// Description of the bodies of a flexcomp.
const LOOSE: &str = "it becomes one body per vertex; its elasticity, its edges and its contacts do \
                     not act, and it is not drawn";

/// A vertex that moves.
struct Vertex {
    name: String,
    position: Vector3<f64>,
    axes: Vec<Vector3<f64>>,
}

/// The vertices of a flexcomp, the grid that they are on, and those that elements use, if others
/// do not move.
struct FlexPoints {
    points: Vec<Vector3<f64>>,
    grid: Option<Grid>,
    used: Option<BTreeSet<usize>>,
}

/// A flexcomp that was read.
struct Flex {
    vertices: Vec<Vertex>,
    /// Mass (kg) and moment of inertia (kg m^2) of every vertex.
    mass: f64,
    moment: f64,
}

impl Expander<'_> {
    /// Returns the bodies that a `<flexcomp>` stands for. Frames around it do not move it, as in
    /// MuJoCo 3.3.
    pub(super) fn flexcomp(&mut self, flexcomp: usize) -> Parsed<Vec<usize>> {
        let Some(flex) = self.read_flex(flexcomp)? else {
            return Ok(vec![]);
        };
        let moments = text(&[flex.moment; 3]);
        let mass = text(&[flex.mass]);
        let mut bodies = vec![];
        for vertex in flex.vertices {
            let inertial = vec![
                ("pos", text(&[0.0; 3])),
                ("mass", mass.clone()),
                ("diaginertia", moments.clone()),
            ];
            let mut children = vec![self.make("inertial", flexcomp, inertial, vec![])?];
            for axis in vertex.axes {
                let joint = vec![("type", "slide".into()), ("axis", text(axis.as_slice()))];
                children.push(self.make("joint", flexcomp, joint, vec![])?);
            }
            let body = vec![
                ("name", vertex.name),
                ("pos", text(vertex.position.as_slice())),
            ];
            bodies.push(self.make("body", flexcomp, body, children)?);
        }
        Ok(bodies)
    }

    /// Reads a flexcomp; `None` if it is left out.
    fn read_flex(&self, flexcomp: usize) -> Parsed<Option<Flex>> {
        let node = self.node(flexcomp);
        let Some(name) = node.name() else {
            return Err(node.error("<flexcomp> has no attribute 'name'"));
        };
        node.warning_grouped("type", format!("<flexcomp> is not deformable: {LOOSE}"));
        let dof = node.text("dof").map_or("full", str::trim);
        if !matches!(dof, "full" | "radial" | "trilinear") || node.text("cellcount").is_some() {
            node.ignored("only the degrees of freedom full, radial and trilinear are supported");
            return Ok(None);
        }
        if boolean(node, "rigid")? == Some(true) {
            return Ok(None);
        }
        let dim = node.number("dim")?.unwrap_or(2.0);
        let Some(FlexPoints { points, grid, used }) = self.flex_points(node, dim)? else {
            return Ok(None);
        };
        let x = self.compilers[node.document()].pose_in_frame(node)?;
        let mass = node.number("mass")?.unwrap_or(1.0);
        let half = node.number("inertiabox")?.unwrap_or(0.005);
        let pinned = pins(node, grid.as_ref())?;
        let used = match used {
            Some(used) => Some(used),
            None => read_used(node, points.len(), dim)?,
        };
        let scale = Vector3::from(node.vector::<3>("scale")?.unwrap_or([1.0; 3]));
        let points: Vec<Vector3<f64>> = points.iter().map(|p| p.component_mul(&scale)).collect();
        let (vertices, count) = match dof {
            "trilinear" => (corners(name, &points, &x), 8),
            _ => (vertices(name, &points, &x, dof == "radial"), points.len()),
        };
        let mass = mass / count.max(1) as f64;
        let is_free = |(i, vertex): (usize, Vertex)| {
            let is_used = dof == "trilinear" || used.as_ref().is_none_or(|u| u.contains(&i));
            let free = is_used && !pinned.contains(&i) && !vertex.axes.is_empty();
            free.then_some(vertex)
        };
        Ok(Some(Flex {
            vertices: vertices
                .into_iter()
                .enumerate()
                .filter_map(is_free)
                .collect(),
            mass,
            moment: 2.0 * mass * half * half / 3.0,
        }))
    }

    fn flex_points(&self, node: ElementRef<'_>, dim: f64) -> Parsed<Option<FlexPoints>> {
        let kind = node.text("type").map_or("grid", str::trim);
        let (points, used) = match kind {
            "grid" | "box" | "ellipsoid" | "cylinder" | "square" | "disc" | "circle" => {
                let grid = read_grid(node)?;
                let is_solid = dim == 3.0;
                let points = match kind {
                    "box" => grid.surface(is_solid, |p| p),
                    "ellipsoid" => grid.ellipsoid(is_solid),
                    "cylinder" => grid.cylinder(is_solid),
                    "disc" => grid.disc(),
                    "circle" => grid.circle(),
                    _ => grid.points(),
                };
                return Ok(Some(FlexPoints {
                    points,
                    grid: Some(grid),
                    used: None,
                }));
            }
            "direct" => {
                let numbers = node.numbers("point")?.unwrap_or_default();
                let (points, rest) = numbers.as_chunks::<3>();
                if !rest.is_empty() || numbers.iter().any(|x| !x.is_finite()) {
                    let message = "'point' of <flexcomp> must have three finite numbers per vertex";
                    return Err(node.error_at("point", message));
                }
                let points = points.iter().map(|p| Vector3::from(*p));
                (points.collect(), None)
            }
            "mesh" | "gmsh" => match self.points_of_file(node, kind)? {
                Some(found) => found,
                None => return Ok(None),
            },
            other => {
                node.ignored(&format!("vertices of type '{other}' are not supported"));
                return Ok(None);
            }
        };
        checked(node, points.len())?;
        Ok(Some(FlexPoints {
            points,
            grid: None,
            used,
        }))
    }

    /// Returns the vertices of a file, and those that its elements use if others do not move;
    /// `None` if it cannot be read.
    #[allow(clippy::type_complexity, reason = "one caller")]
    fn points_of_file(
        &self,
        node: ElementRef<'_>,
        kind: &str,
    ) -> Parsed<Option<(Vec<Vector3<f64>>, Option<BTreeSet<usize>>)>> {
        let Some(file) = node.own_text("file") else {
            let message = format!("<flexcomp> of type '{kind}' has no attribute 'file'");
            return Err(node.error(message));
        };
        let compiler = &self.compilers[node.document()];
        let name = compiler.file_name(&compiler.mesh_directory, file);
        let directory = self.directory.as_deref();
        let path = (self.resolve)(&name, directory.map(Path::new));
        let read = path.and_then(|path| match kind {
            "gmsh" => {
                let name = path.display();
                let bytes = read_file(&path).map_err(|e| format!("'{name}': {e}"))?;
                let found = gmsh::parse(&bytes, MAX_POINTS);
                let found = found.map_err(|why| format!("'{name}': {why}"))?;
                Ok((found.points, Some(found.used)))
            }
            _ => {
                let surface = Mesh::new(path).surface().map_err(|e| e.to_string())?;
                Ok((surface.vertices().to_vec(), None))
            }
        });
        match read {
            Ok(found) => Ok(Some(found)),
            // The rest of the model does not depend on it.
            Err(why) => {
                node.warning_at("file", format!("the <flexcomp> is left out: {why}"));
                Ok(None)
            }
        }
    }
}

fn checked(node: ElementRef<'_>, count: usize) -> Parsed<()> {
    if count > MAX_POINTS {
        let message = format!("<flexcomp> must have at most {MAX_POINTS} vertices, got {count}");
        return Err(node.error(message));
    }
    Ok(())
}

fn read_grid(node: ElementRef<'_>) -> Parsed<Grid> {
    let count = node.vector::<3>("count")?.unwrap_or([10.0; 3]);
    let total: f64 = count.iter().product();
    if count.iter().any(|n| *n < 1.0 || n.fract() != 0.0) || total > MAX_POINTS as f64 {
        let message = format!(
            "'count' of <flexcomp> must be three positive integers and at most {MAX_POINTS} \
             vertices, got {count:?}"
        );
        return Err(node.error_at("count", message));
    }
    Ok(Grid {
        count: count.map(|n| n as usize),
        spacing: node.vector::<3>("spacing")?.unwrap_or([0.02; 3]),
    })
}

/// Returns a vertex for every point; a radial vertex at the origin does not move.
fn vertices(
    name: &str,
    points: &[Vector3<f64>],
    x: &Isometry3<f64>,
    is_radial: bool,
) -> Vec<Vertex> {
    let vertex = |(i, point): (usize, &Vector3<f64>)| {
        let position = x.transform_point(&Point3::from(*point)).coords;
        let axes = match is_radial {
            false => [Vector3::x(), Vector3::y(), Vector3::z()].into(),
            true if point.norm() < 1e-10 => vec![],
            true => vec![position.try_normalize(1e-10).unwrap_or(Vector3::z())],
        };
        Vertex {
            name: format!("{name}_{i}"),
            position,
            axes,
        }
    };
    points.iter().enumerate().map(vertex).collect()
}

/// Returns the corners of the box around all points, which move instead of the points.
fn corners(name: &str, points: &[Vector3<f64>], x: &Isometry3<f64>) -> Vec<Vertex> {
    let moved = points
        .iter()
        .map(|p| x.transform_point(&Point3::from(*p)).coords);
    let moved: Vec<Vector3<f64>> = moved.collect();
    let Some(first) = moved.first() else {
        return vec![];
    };
    let low = moved.iter().fold(*first, |l, p| l.inf(p));
    let high = moved.iter().fold(*first, |h, p| h.sup(p));
    let corner = |i: usize| {
        let bits = [i >> 2 & 1, i >> 1 & 1, i & 1];
        let along = |k: usize| if bits[k] == 1 { high[k] } else { low[k] };
        Vertex {
            name: format!("{name}_{}_{}_{}", bits[0], bits[1], bits[2]),
            position: Vector3::new(along(0), along(1), along(2)),
            axes: vec![Vector3::x(), Vector3::y(), Vector3::z()],
        }
    };
    (0..8).map(corner).collect()
}

/// Returns the vertices that `<pin>` fixes to the body around them.
fn pins(node: ElementRef<'_>, grid: Option<&Grid>) -> Parsed<BTreeSet<usize>> {
    let mut pinned = BTreeSet::new();
    for pin in node.children_named("pin") {
        let list = |name: &str| -> Parsed<Vec<usize>> {
            let numbers = pin.numbers(name)?.unwrap_or_default();
            Ok(numbers.iter().map(|x| x.max(0.0) as usize).collect())
        };
        pinned.extend(list("id")?);
        for pair in list("range")?.as_chunks::<2>().0 {
            pinned.extend(pair[0]..=pair[1].min(MAX_POINTS));
        }
        let Some(grid) = grid else {
            continue;
        };
        let clamped = |index: [usize; 3]| {
            let inside = [0, 1, 2].map(|k| index[k].min(grid.count[k] - 1));
            (inside == index).then_some(inside)
        };
        for index in list("grid")?.as_chunks::<3>().0 {
            pinned.extend(clamped(*index).map(|index| grid.index(index)));
        }
        for [x0, y0, z0, x1, y1, z1] in list("gridrange")?.as_chunks::<6>().0 {
            let last = [x1, y1, z1];
            let [x1, y1, z1] = [0, 1, 2].map(|k| (*last[k]).min(grid.count[k] - 1));
            let xy = (*x0..=x1).flat_map(|x| (*y0..=y1).map(move |y| (x, y)));
            let all = xy.flat_map(|(x, y)| (*z0..=z1).map(move |z| [x, y, z]));
            pinned.extend(all.map(|index| grid.index(index)));
        }
    }
    Ok(pinned)
}

/// Returns the vertices that the elements of a flexcomp use; `None` if there is no list of them.
fn read_used(node: ElementRef<'_>, count: usize, dim: f64) -> Parsed<Option<BTreeSet<usize>>> {
    let Some(elements) = node.numbers("element")? else {
        return Ok(None);
    };
    let is_index = |x: &f64| *x >= 0.0 && *x < count as f64 && x.fract() == 0.0;
    if !elements.iter().all(is_index) || elements.len() % (dim as usize + 1) != 0 {
        let message = format!(
            "'element' of <flexcomp> must have {} indices below {count} per element",
            dim + 1.0
        );
        return Err(node.error_at("element", message));
    }
    Ok(Some(elements.iter().map(|x| *x as usize).collect()))
}
