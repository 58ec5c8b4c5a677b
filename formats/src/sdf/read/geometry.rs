//! Visual and collision geometry.

use super::builder::{CurrentModel, SdfBuilder};
use super::element::Element;
use super::frames::NodeId;
use crate::reading::mesh_files;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::BTreeSet;
use std::f64::consts::PI;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, MeshcatCone, Shape, Sphere,
};
use tarragon_multibody::BodyIndex;

const IGNORED_IN_VISUAL: [&str; 6] = [
    "cast_shadows",
    "laser_retro",
    "transparency",
    "visibility_flags",
    "meta",
    "plugin",
];
const DRAKE_IN_VISUAL: [&str; 3] = [
    "accepting_renderer",
    "illustration_properties",
    "perception_properties",
];
const IGNORED_IN_COLLISION: [&str; 2] = ["max_contacts", "auto_inertia_params"];
const IGNORED_IN_GEOMETRY: [&str; 3] = ["cone", "image", "polyline"];

/// A shape and its pose in the frame of its `<geometry>`.
pub(super) type PlacedShape = (Shape, Isometry3<f64>);

impl SdfBuilder<'_, '_> {
    /// Registers the geometry of a link: visuals before collisions, as Drake does.
    pub(super) fn link_geometry(
        &mut self,
        node: NodeId,
        body: BodyIndex,
        link: &Element,
        current: CurrentModel<'_>,
    ) {
        for tag in ["visual", "collision"] {
            let mut names = BTreeSet::new();
            for element in link.all(tag) {
                if !names.insert(element.name()) {
                    let message = format!(
                        "another <{tag}> of link '{}' is named '{}'",
                        link.name(),
                        element.name()
                    );
                    self.report.error(element, message);
                    continue;
                }
                // Errors were reported; the rest is still read.
                let _ = match tag {
                    "visual" => self.visual(node, body, element, current),
                    _ => self.collision(node, body, element, current),
                };
            }
        }
    }

    fn visual(
        &mut self,
        link: NodeId,
        body: BodyIndex,
        element: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let report = self.report;
        report.check_children(element, &IGNORED_IN_VISUAL, &DRAKE_IN_VISUAL);
        let Some((shape, x)) = self.shape_in(element)? else {
            return Ok(());
        };
        let properties = self.visual_properties(element)?;
        if properties.illustration.is_none() && properties.perception.is_none() {
            let message = format!(
                "visual '{}' is disabled for both illustration and perception; it is left out",
                element.name()
            );
            report.warning(element, message);
            return Ok(());
        }
        let x_bg = self.pose_on_link(link, element, current)?.isometry() * x;
        let added = self
            .target
            .register_visual(body, x_bg, shape, element.name(), properties);
        for warning in added.map_err(|e| report.error(element, e))? {
            report.warning(element, warning);
        }
        Ok(())
    }

    fn collision(
        &mut self,
        link: NodeId,
        body: BodyIndex,
        element: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let report = self.report;
        let drake = ["proximity_properties"];
        report.check_children(element, &IGNORED_IN_COLLISION, &drake);
        if element.number("laser_retro").is_some_and(|x| x != 0.0) {
            report.warning(element, "<laser_retro> other than 0 is ignored");
        }
        let Some((shape, x)) = self.shape_in(element)? else {
            return Ok(());
        };
        let properties = self.proximity_properties(element)?;
        report.check_surface(element);
        let x_bg = self.pose_on_link(link, element, current)?.isometry() * x;
        let added = self
            .target
            .register_collision(body, x_bg, shape, element.name(), properties);
        for warning in added.map_err(|e| report.error(element, e))?.1 {
            report.warning(element, warning);
        }
        Ok(())
    }

    fn shape_in(&self, element: &Element) -> Parsed<Option<PlacedShape>> {
        let geometry = element.child("geometry");
        match geometry.filter(|g| self.target.mesh_geometry || g.child("mesh").is_none()) {
            Some(geometry) => self.shape(geometry),
            None => Ok(None),
        }
    }

    /// Reads the shape of a `<geometry>`; `None` if it has no supported shape. Of several shapes,
    /// the first in the order below is used. Sizes that are not positive are replaced with the
    /// format's defaults, as in its library.
    pub(super) fn shape(&self, geometry: &Element) -> Parsed<Option<PlacedShape>> {
        let drake = ["capsule", "ellipsoid"];
        self.report
            .check_children(geometry, &IGNORED_IN_GEOMETRY, &drake);
        let found = [
            "drake:capsule",
            "drake:ellipsoid",
            "box",
            "capsule",
            "cylinder",
            "ellipsoid",
            "plane",
            "sphere",
            "heightmap",
            "mesh",
        ];
        let Some(element) = found.iter().find_map(|tag| geometry.child(tag)) else {
            return Ok(None);
        };
        let is_other = |e: &&Element| found.contains(&e.tag.as_str()) && !std::ptr::eq(*e, element);
        if let Some(other) = geometry.children.iter().find(is_other) {
            let message = format!(
                "<{}> in <geometry> is ignored: <{}> is used, because a geometry has one shape",
                other.tag, element.tag
            );
            self.report.warning_grouped(other, message);
        }
        let radius = |default| self.size(element, "radius", default);
        let shape = match element.tag.as_str() {
            "box" => {
                let [x, y, z] = self.sizes(element, "size", [1.0; 3]);
                BoxShape::new(x, y, z).map(Shape::from)
            }
            "sphere" => Sphere::new(radius(1.0)).map(Shape::from),
            "cylinder" => {
                let length = self.size(element, "length", 1.0);
                Cylinder::new(radius(0.5), length).map(Shape::from)
            }
            "capsule" | "drake:capsule" => {
                let length = self.size(element, "length", 1.0);
                Capsule::new(radius(0.5), length).map(Shape::from)
            }
            "ellipsoid" => {
                let [a, b, c] = self.sizes(element, "radii", [1.0; 3]);
                Ellipsoid::new(a, b, c).map(Shape::from)
            }
            "drake:ellipsoid" => {
                let axis = |name| self.report.required_numbers::<1>(element, name);
                let ([a], [b], [c]) = (axis("a")?, axis("b")?, axis("c")?);
                Ellipsoid::new(a, b, c).map(Shape::from)
            }
            "plane" => return self.plane(element).map(Some),
            "heightmap" => return self.heightmap(element),
            _ => {
                let mesh = self.mesh(element)?;
                return Ok(mesh.map(|shape| (shape, Isometry3::identity())));
            }
        };
        let shape = shape.map_err(|e| self.report.error(element, e))?;
        Ok(Some((shape, Isometry3::identity())))
    }

    /// Reads a cone, which has mass properties only.
    pub(super) fn cone(&self, element: &Element) -> Parsed<PlacedShape> {
        let radius = self.size(element, "radius", 0.5);
        let length = self.size(element, "length", 1.0);
        let cone = MeshcatCone::new(length, radius, radius);
        let cone = cone.map_err(|e| self.report.error(element, e))?;
        // SDFormat's cone points up, with its origin at half its height.
        let x = math::pose(math::rotation_x(PI), Vector3::new(0.0, 0.0, length / 2.0));
        Ok((cone.into(), x))
    }

    fn size(&self, element: &Element, tag: &str, default: f64) -> f64 {
        match element.number(tag) {
            None => default,
            Some(size) if size > 0.0 => size,
            Some(size) => {
                let message = format!(
                    "<{tag}> must be positive, got {size:?}; {default:?} is used \
                                       instead"
                );
                self.report.warning(element, message);
                default
            }
        }
    }

    fn sizes(&self, element: &Element, tag: &str, default: [f64; 3]) -> [f64; 3] {
        match element.vector::<3>(tag) {
            None => default,
            Some(sizes) if sizes.iter().all(|x| *x > 0.0) => sizes,
            Some(sizes) => {
                let message =
                    format!("<{tag}> must be positive, got {sizes:?}; {default:?} is used instead");
                self.report.warning(element, message);
                default
            }
        }
    }

    /// Reads a plane, which is unbounded whatever its size.
    fn plane(&self, element: &Element) -> Parsed<PlacedShape> {
        let normal = element.vector::<3>("normal").unwrap_or([0.0, 0.0, 1.0]);
        let normal = Vector3::from(normal);
        let length = normal.norm();
        if !(length.is_finite() && length >= 1e-10) {
            let message = format!(
                "the normal must be finite and not zero, got {:?}",
                normal.as_slice()
            );
            return Err(self.report.error(element, message));
        }
        let x = math::pose(turned_to(&(normal / length)), Vector3::zeros());
        Ok((HalfSpace.into(), x))
    }

    fn mesh(&self, element: &Element) -> Parsed<Option<Shape>> {
        let report = self.report;
        report.check_children(
            element,
            &["submesh", "convex_decomposition"],
            &["declare_convex"],
        );
        let uri = report.required_text(element, "uri")?;
        let scale = Vector3::from(element.vector::<3>("scale").unwrap_or([1.0; 3]));
        let directory = element.place.source.directory.as_deref();
        let path = self.target.resolve(uri, directory);
        let path = path.map_err(|why| report.error(element, why))?;
        if let Some(why) = mesh_files::refusal(&path) {
            report.warning(element, format!("'{uri}': {why}"));
            return Ok(None);
        }
        let source = self.target.mesh_source(path);
        let shape = match element.child("drake:declare_convex") {
            Some(_) => Convex::with_scale(source, scale).map(Shape::from),
            None => Mesh::with_scale(source, scale).map(Shape::from),
        };
        shape.map(Some).map_err(|e| report.error(element, e))
    }
}

/// Returns the rotation that takes the z axis to a unit vector and that Drake uses: its x axis is
/// perpendicular to the coordinate axis that is farthest from the vector.
fn turned_to(z: &Vector3<f64>) -> nalgebra::UnitQuaternion<f64> {
    let mut farthest = 0;
    for i in 1..3 {
        if z[i].abs() < z[farthest].abs() {
            farthest = i;
        }
    }
    let mut axis = Vector3::zeros();
    axis[farthest] = 1.0;
    // The cross product is at least sqrt(2/3) long.
    let x = z.cross(&axis).normalize();
    let y = z.cross(&x);
    math::rotation_from_matrix(&Matrix3::from_columns(&[x, y, *z]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_oriented_as_in_drake() {
        // pydrake 1.51.1, X_FG of <plane>: quaternions w, x, y, z.
        let h = std::f64::consts::FRAC_1_SQRT_2;
        for (normal, wxyz) in [
            ([0.0, 0.0, 1.0], [h, 0.0, 0.0, h]),
            ([0.0, 1.0, 0.0], [0.5, -0.5, 0.5, 0.5]),
            ([0.0, 0.0, -1.0], [0.0, h, -h, 0.0]),
        ] {
            let q = turned_to(&Vector3::from(normal));
            let [w, x, y, z] = wxyz;
            let dot = q.w * w + q.i * x + q.j * y + q.k * z;
            assert!((dot.abs() - 1.0).abs() < 1e-15, "{normal:?} {q:?}");
        }
    }
}
