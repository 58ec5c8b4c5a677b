//! Collection of the geometries of a scene with their transformations.

use super::document::{DaeDocument, child, children, words};
use crate::error::Result;
use crate::error::short;
use crate::mesh::import::affine::{Affine, direction};
use nalgebra::{Matrix3, Vector3};
use roxmltree::Node;
use tarragon_framework::math;

/// Maximum nesting depth of nodes; cycles exceed it.
const MAX_DEPTH: usize = 500;

/// Maximum number of nodes and elements of nodes that are visited. Nested instances multiply, so a
/// small file could ask for any amount of time.
const MAX_STEPS: usize = 1 << 21;

/// Geometry with its transformation.
pub(super) struct PlacedGeometry<'x> {
    /// Element that instantiates the geometry and binds its materials.
    pub(super) instance: Node<'x, 'x>,
    pub(super) geometry: Node<'x, 'x>,
    /// Transformation from its coordinates to those of the mesh.
    pub(super) x_gn: Affine,
}

/// Returns all geometries of the scene, in the order of the file.
pub(super) fn placed_geometries<'x>(document: &DaeDocument<'x>) -> Result<Vec<PlacedGeometry<'x>>> {
    let root = document.root();
    let x_gs = Affine::scaling(meters(document)?);
    let named = match child(root, &["scene", "instance_visual_scene"]) {
        Some(instance) => Some(document.referred(instance, "url", &["visual_scene"])?),
        None => child(root, &["library_visual_scenes", "visual_scene"]),
    };
    let Some(scene) = named else {
        let libraries = children(root, "library_geometries");
        let all = libraries.flat_map(|library| children(library, "geometry"));
        return Ok(all
            .map(|geometry| PlacedGeometry {
                instance: geometry,
                geometry,
                x_gn: x_gs,
            })
            .collect());
    };
    let mut walk = SceneWalk {
        document,
        open: vec![],
        placed: vec![],
    };
    walk.open_nodes(scene, x_gs, 0);
    walk.run()?;
    Ok(walk.placed)
}

/// Returns the length of the file's unit in metres.
fn meters(document: &DaeDocument<'_>) -> Result<f64> {
    let Some(unit) = child(document.root(), &["asset", "unit"]) else {
        return Ok(1.0);
    };
    let word = unit.attribute("meter").unwrap_or("1").trim();
    match word.parse::<f64>() {
        Ok(meters) if meters > 0.0 && meters.is_finite() => Ok(meters),
        _ => Err(document.error(
            unit,
            format!("meter must be positive and finite, got '{}'", short(word)),
        )),
    }
}

/// Node that is still to be visited, with the transformation of its parent and its depth.
type PendingNode<'x> = (Node<'x, 'x>, Affine, usize);

struct SceneWalk<'d, 'x> {
    document: &'d DaeDocument<'x>,
    open: Vec<PendingNode<'x>>,
    placed: Vec<PlacedGeometry<'x>>,
}

impl<'x> SceneWalk<'_, 'x> {
    /// Pushes the child nodes of an element on the stack, so that the first is visited next.
    fn open_nodes(&mut self, parent: Node<'x, 'x>, x_gp: Affine, depth: usize) {
        let first = self.open.len();
        let is_node = |n: &Node<'_, '_>| n.has_tag_name("node") || n.has_tag_name("instance_node");
        let nodes = parent.children().filter(is_node);
        self.open.extend(nodes.map(|node| (node, x_gp, depth)));
        self.open[first..].reverse();
    }

    /// Visits all nodes; iterative, because chains of nodes may be long.
    fn run(&mut self) -> Result<()> {
        let mut steps_left = MAX_STEPS;
        while let Some((mut node, x_gp, depth)) = self.open.pop() {
            if depth > MAX_DEPTH {
                return Err(self.document.error(
                    node,
                    format!(
                        "nodes must be nested at most {MAX_DEPTH} deep; does one contain itself?"
                    ),
                ));
            }
            if node.has_tag_name("instance_node") {
                node = self.document.referred(node, "url", &["node"])?;
            }
            steps_left = self.count(steps_left, node)?;
            let mut x_gn = x_gp;
            for element in node.children().filter(Node::is_element) {
                steps_left = self.count(steps_left, element)?;
                match element.tag_name().name() {
                    "instance_geometry" => self.place(element, element, x_gn)?,
                    "instance_controller" => self.place_controlled(element, x_gn)?,
                    _ => {
                        if let Some(transform) = self.transform(element)? {
                            x_gn = x_gn.times(&transform);
                        }
                    }
                }
            }
            self.open_nodes(node, x_gn, depth + 1);
        }
        Ok(())
    }

    /// Decrements the number of steps left; an error if there is none left.
    fn count(&self, steps_left: usize, at: Node<'x, 'x>) -> Result<usize> {
        steps_left.checked_sub(1).ok_or_else(|| {
            let message = format!("the scene must have at most {MAX_STEPS} nodes and instances");
            self.document.error(at, message)
        })
    }

    /// Adds the geometry that an element refers to.
    fn place(
        &mut self,
        instance: Node<'x, 'x>,
        reference: Node<'x, 'x>,
        x_gn: Affine,
    ) -> Result<()> {
        let attribute = if reference.has_tag_name("instance_geometry") {
            "url"
        } else {
            "source"
        };
        let geometry = self
            .document
            .referred(reference, attribute, &["geometry"])?;
        self.placed.push(PlacedGeometry {
            instance,
            geometry,
            x_gn,
        });
        Ok(())
    }

    /// Adds the mesh that a skin or a morph target deforms.
    fn place_controlled(&mut self, instance: Node<'x, 'x>, x_gn: Affine) -> Result<()> {
        let controller = self.document.referred(instance, "url", &["controller"])?;
        if let Some(skin) = child(controller, &["skin"]) {
            let bind = child(skin, &["bind_shape_matrix"]);
            let bind = bind.map_or(Ok(Affine::scaling(1.0)), |m| self.matrix(m))?;
            return self.place(instance, skin, x_gn.times(&bind));
        }
        match child(controller, &["morph"]) {
            Some(morph) => self.place(instance, morph, x_gn),
            None => Ok(()),
        }
    }

    /// Returns the transformation that an element describes, or `None` if it describes none.
    fn transform(&self, element: Node<'x, 'x>) -> Result<Option<Affine>> {
        let document = self.document;
        let linear = |linear| Affine {
            linear,
            offset: Vector3::zeros(),
        };
        Ok(Some(match element.tag_name().name() {
            "matrix" => self.matrix(element)?,
            "translate" => Affine {
                linear: Matrix3::identity(),
                offset: Vector3::from(document.numbers::<3>(element)?),
            },
            "scale" => {
                let factors = Vector3::from(document.numbers::<3>(element)?);
                linear(Matrix3::from_diagonal(&factors))
            }
            "rotate" => {
                let [x, y, z, degrees] = document.numbers::<4>(element)?;
                match direction(Vector3::new(x, y, z)) {
                    Some(axis) => {
                        let rotation = math::rotation_exp(&(axis * degrees.to_radians()));
                        linear(rotation.to_rotation_matrix().into_inner())
                    }
                    // Exporters write 0 0 0 0 for "no rotation".
                    None if degrees == 0.0 => return Ok(None),
                    None => {
                        return Err(document.error(
                            element,
                            format!("the axis must have a direction, got ({x:?}, {y:?}, {z:?})"),
                        ));
                    }
                }
            }
            "lookat" => self.look_at(element)?,
            "skew" => {
                return Err(
                    document.error(element, "<skew> is not supported; write it as a <matrix>")
                );
            }
            _ => return Ok(None),
        }))
    }

    /// Reads a matrix of sixteen numbers, row by row. An empty element, which some files have, is
    /// the identity.
    fn matrix(&self, element: Node<'x, 'x>) -> Result<Affine> {
        if words(element).next().is_none() {
            return Ok(Affine::scaling(1.0));
        }
        let m = self.document.numbers::<16>(element)?;
        let last = [m[12], m[13], m[14], m[15]];
        // The row may contain rounding, because programs compute it.
        let off = |(k, v): (usize, &f64)| (v - if k == 3 { 1.0 } else { 0.0 }).abs() > 1e-5;
        if last.iter().enumerate().any(off) {
            return Err(self.document.error(
                element,
                format!("the last row must be [0, 0, 0, 1], got {last:?}"),
            ));
        }
        Ok(Affine {
            linear: Matrix3::new(m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]),
            offset: Vector3::new(m[3], m[7], m[11]),
        })
    }

    /// Reads eye, point of interest and up vector; -z points from the eye to the point of interest.
    fn look_at(&self, element: Node<'x, 'x>) -> Result<Affine> {
        let n = self.document.numbers::<9>(element)?;
        let [eye, interest, up] = [0, 3, 6].map(|k| Vector3::new(n[k], n[k + 1], n[k + 2]));
        let back = direction(eye - interest);
        let right = back.and_then(|back| direction(up.cross(&back)));
        match (back, right) {
            (Some(back), Some(right)) => Ok(Affine {
                linear: Matrix3::from_columns(&[right, back.cross(&right), back]),
                offset: eye,
            }),
            _ => Err(self.document.error(
                element,
                "the line from the eye to the point of interest must have a length and must not be \
                parallel to the direction of up",
            )),
        }
    }
}
