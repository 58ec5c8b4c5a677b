//! Deformable links: a mesh of tetrahedra with a material, in place of a rigid body.

use super::builder::{CurrentModel, SdfBuilder};
use super::element::Element;
use super::frames::NodeId;
use nalgebra::Vector3;
use tarragon_documents::xml::Parsed;
use tarragon_fem::{DeformableBodyConfig, MaterialModel};
use tarragon_geometry::{CoulombFriction, GeometryInstance, ProximityProperties, Shape};
use tarragon_multibody::VisualProperties;

/// Known children of Drake's elements, without the prefix `drake:`.
const PROPERTIES: [&str; 6] = [
    "youngs_modulus",
    "poissons_ratio",
    "mass_damping",
    "stiffness_damping",
    "mass_density",
    "material_model",
];
const WALL: [&str; 2] = ["point_on_plane", "outward_normal"];
const CONTACT: [&str; 3] = ["mu_dynamic", "hunt_crossley_dissipation", "relaxation_time"];
/// Resolution of a sphere, which Drake does not read for deformable links.
const HINT: &str = "mesh_resolution_hint";
const IN_LINK: [&str; 2] = ["deformable_properties", "wall_boundary_condition"];
const IN_VISUAL: [&str; 3] = [
    "accepting_renderer",
    "illustration_properties",
    "perception_properties",
];

/// Elements of rigid links that are left out of deformable ones, and what is done instead.
const REASONS: [(&str, &str); 5] = [
    (
        "inertial",
        "<drake:mass_density> and the mesh determine the mass",
    ),
    (
        "pose",
        "the pose of the link places the mesh, and everything follows the mesh",
    ),
    ("kinematic", "the body moves by its forces"),
    (
        "surface",
        "friction is <drake:mu_dynamic> in <drake:proximity_properties>",
    ),
    (
        "tarragon:max_convex_pieces",
        "contact is that of the tetrahedra",
    ),
];

/// Resolution of a sphere if the file gives none (m), as in Drake.
const DEFAULT_HINT: f64 = 1.0;
/// Shorter normals of walls are refused, as in Drake.
const SHORTEST_NORMAL: f64 = 1e-10;

/// A wall that holds the vertices behind it: a point and the normal out of it, in W.
type Wall = (Vector3<f64>, Vector3<f64>);

impl SdfBuilder<'_, '_> {
    /// Adds a link with `<drake:deformable_properties>`.
    pub(super) fn deformable_link(
        &mut self,
        node: NodeId,
        link: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let report = self.report;
        self.deformables.insert(node, None);
        if !self.target.has_scene() {
            let message = format!(
                "deformable link '{}' is ignored: it needs a scene, and there is none; load the \
                 model with its geometry",
                link.name()
            );
            report.warning(link, message);
            return Ok(());
        }
        self.check_all(link, &["pose", "collision", "visual"], &IN_LINK);
        // All parts are read, so that the errors of all of them are reported.
        let config = self.deformable_config(link);
        let walls: Vec<Parsed<Wall>> = link
            .all("drake:wall_boundary_condition")
            .map(|wall| self.wall(wall))
            .collect();
        let solid = self.deformable_collision(link);
        let visual = self.deformable_visual(link);
        let (config, visual) = (config?, visual?);
        let (shape, properties, hint) = solid?;
        let walls: Vec<Wall> = walls.into_iter().collect::<Parsed<_>>()?;
        let x_wl = self.graph.in_world(node).isometry();
        let geometry = GeometryInstance::new(x_wl, shape, link.name());
        let mut geometry = geometry.map_err(|e| report.error(link, e))?;
        geometry = geometry.with_proximity(properties);
        if let Some(illustration) = visual.illustration {
            geometry = geometry.with_illustration(illustration);
        }
        if let Some(perception) = visual.perception {
            geometry = geometry.with_perception(perception);
        }
        let added = self
            .target
            .register_deformable(current.instance, geometry, &config, hint);
        let (body, warnings) = added.map_err(|e| report.error(link, e))?;
        for warning in warnings {
            report.warning(link, warning);
        }
        self.deformables.insert(node, Some(body));
        for (p_wq, n_w) in &walls {
            let plant = &mut *self.target.plant;
            let held = plant.set_wall_boundary_condition(body, p_wq, n_w);
            held.map_err(|e| report.error(link, e))?;
        }
        Ok(())
    }

    /// Checks the children of an element, of which those without a prefix are ignored unless they
    /// are in a list, and warns about repeated ones of Drake.
    fn check_all(&self, element: &Element, read: &[&str], drake: &[&str]) {
        let mut ignored = vec![];
        for child in element.children.iter().filter(|c| !read.contains(&&*c.tag)) {
            match REASONS.iter().find(|(tag, _)| *tag == child.tag) {
                Some((tag, why)) => {
                    let message = format!("<{tag}> in <{}> is ignored: {why}", element.tag);
                    self.report.warning_grouped(child, message);
                }
                None if !child.tag.contains(':') => ignored.push(&*child.tag),
                None => {}
            }
        }
        self.report.check_children(element, &ignored, drake);
        for (i, child) in element.children.iter().enumerate() {
            let own = child.tag.strip_prefix("drake:");
            let is_repeated = element.children[..i].iter().any(|c| c.tag == child.tag);
            let may_repeat = ["wall_boundary_condition", "accepting_renderer"];
            if is_repeated && own.is_some_and(|own| !may_repeat.contains(&own)) {
                let message = format!(
                    "another <{}> in <{}> is ignored: the first one is used",
                    child.tag, element.tag
                );
                self.report.warning(child, message);
            }
        }
    }

    /// Reads material and damping.
    fn deformable_config(&self, link: &Element) -> Parsed<DeformableBodyConfig> {
        let report = self.report;
        let element = report.required_child(link, "drake:deformable_properties")?;
        self.check_all(element, &[], &PROPERTIES);
        let usual = DeformableBodyConfig::default();
        let value = |name: &str, default: f64, condition: &str, holds: fn(f64) -> bool| {
            let tag = format!("drake:{name}");
            let Some(child) = element.child(&tag) else {
                return Ok(default);
            };
            let [value] = report.numbers::<1>(child)?;
            if holds(value) {
                Ok(value)
            } else {
                let message = format!("<{tag}> must be {condition}, got {value:?}");
                Err(report.error(child, message))
            }
        };
        let positive = |name, default| value(name, default, "positive", |x| x > 0.0);
        let damping = |name, default| value(name, default, "at least 0", |x| x >= 0.0);
        let youngs_modulus = positive("youngs_modulus", usual.youngs_modulus);
        let poissons_ratio = value(
            "poissons_ratio",
            usual.poissons_ratio,
            "greater than -1 and less than 0.5",
            |x| x > -1.0 && x < 0.5,
        );
        let mass_density = positive("mass_density", usual.mass_density);
        let mass_damping = damping("mass_damping", usual.mass_damping_coefficient);
        let stiffness_damping = damping("stiffness_damping", usual.stiffness_damping_coefficient);
        let material_model = self.material_model(element);
        Ok(DeformableBodyConfig {
            youngs_modulus: youngs_modulus?,
            poissons_ratio: poissons_ratio?,
            mass_density: mass_density?,
            mass_damping_coefficient: mass_damping?,
            stiffness_damping_coefficient: stiffness_damping?,
            material_model: material_model?,
            ..usual
        })
    }

    fn material_model(&self, properties: &Element) -> Parsed<MaterialModel> {
        let Some(element) = properties.child("drake:material_model") else {
            return Ok(MaterialModel::default());
        };
        match element.text.as_str() {
            "linear" => Ok(MaterialModel::Linear),
            "linear_corotated" => Ok(MaterialModel::LinearCorotated),
            "corotated" => Ok(MaterialModel::Corotated),
            "neohookean" => Ok(MaterialModel::NeoHookean),
            other => {
                let message = format!(
                    "<drake:material_model> must be linear, linear_corotated, corotated or \
                     neohookean, got '{other}'"
                );
                Err(self.report.error(element, message))
            }
        }
    }

    /// Reads a `<drake:wall_boundary_condition>`.
    fn wall(&self, element: &Element) -> Parsed<Wall> {
        let report = self.report;
        self.check_all(element, &[], &WALL);
        let point = report.required_numbers::<3>(element, "drake:point_on_plane");
        let normal = report.required_numbers::<3>(element, "drake:outward_normal");
        let (point, normal) = (Vector3::from(point?), Vector3::from(normal?));
        if normal.norm() <= SHORTEST_NORMAL {
            let message = format!(
                "<drake:outward_normal> must not be zero, got {:?}",
                normal.as_slice()
            );
            let normal = report.required_child(element, "drake:outward_normal")?;
            return Err(report.error(normal, message));
        }
        Ok((point, normal.normalize()))
    }

    /// Reads the only collision of a deformable link: its shape, the properties of its contacts,
    /// and the resolution of a sphere (m).
    fn deformable_collision(&self, link: &Element) -> Parsed<(Shape, ProximityProperties, f64)> {
        let report = self.report;
        let mut all = link.all("collision");
        let Some(collision) = all.next() else {
            let message = format!("deformable link '{}' must have a <collision>", link.name());
            return Err(report.error(link, message));
        };
        if let Some(second) = all.next() {
            let message = format!(
                "deformable link '{}' must have exactly one <collision>, got {}",
                link.name(),
                2 + all.count()
            );
            return Err(report.error(second, message));
        }
        self.check_all(collision, &["geometry"], &["proximity_properties"]);
        let geometry = report.required_child(collision, "geometry")?;
        let Some((shape, _)) = self.shape(geometry)? else {
            let message = "the <geometry> of a deformable link must hold a <mesh> of a .vtk file \
                           or a <sphere>";
            return Err(report.error(geometry, message));
        };
        let is_sphere = match &shape {
            Shape::Sphere(_) => true,
            Shape::Mesh(file) if file.extension() == ".vtk" => false,
            other => {
                let got = match other {
                    Shape::Mesh(file) => format!("a mesh of a {} file", file.extension()),
                    other => format!("a {}", other.type_name()),
                };
                let message = format!(
                    "the <geometry> of a deformable link must be a <mesh> of a .vtk file or a \
                     <sphere>, got {got}"
                );
                return Err(report.error(geometry, message));
            }
        };
        let (properties, hint) = self.deformable_contact(collision, is_sphere)?;
        Ok((shape, properties, hint))
    }

    /// Reads `<drake:proximity_properties>`: the properties, and the resolution of a sphere (m).
    fn deformable_contact(
        &self,
        collision: &Element,
        is_sphere: bool,
    ) -> Parsed<(ProximityProperties, f64)> {
        let report = self.report;
        let mut properties = ProximityProperties::new();
        let Some(element) = collision.child("drake:proximity_properties") else {
            return Ok((
                properties.with_friction(CoulombFriction::DEFAULT),
                DEFAULT_HINT,
            ));
        };
        let known: Vec<&str> = CONTACT
            .into_iter()
            .chain(is_sphere.then_some(HINT))
            .collect();
        self.check_all(element, &[], &known);
        let value = |name: &str| {
            let tag = format!("drake:{name}");
            let value = report.optional_number(element, &tag)?;
            match (value, element.child(&tag)) {
                (Some(value), Some(child)) if value < 0.0 => {
                    let message = format!("<{tag}> must be at least 0, got {value:?}");
                    Err(report.error(child, message))
                }
                _ => Ok(value),
            }
        };
        let friction = match value("mu_dynamic")? {
            Some(mu) => CoulombFriction::new(mu, mu).map_err(|e| report.error(element, e))?,
            None => CoulombFriction::DEFAULT,
        };
        for name in ["hunt_crossley_dissipation", "relaxation_time"] {
            if let Some(value) = value(name)? {
                properties.set_untyped("material", name, value);
            }
        }
        let mut hint = DEFAULT_HINT;
        if let Some(child) = element
            .child("drake:mesh_resolution_hint")
            .filter(|_| is_sphere)
        {
            [hint] = report.numbers::<1>(child)?;
            if hint <= 0.0 {
                let message =
                    format!("<drake:mesh_resolution_hint> must be positive, got {hint:?} m");
                return Err(report.error(child, message));
            }
        }
        Ok((properties.with_friction(friction), hint))
    }

    /// Reads the visual of a deformable link, which has at most one.
    fn deformable_visual(&self, link: &Element) -> Parsed<VisualProperties> {
        let report = self.report;
        let mut all = link.all("visual");
        let Some(visual) = all.next() else {
            return Ok(VisualProperties::default());
        };
        if let Some(second) = all.next() {
            let message = format!(
                "deformable link '{}' must have at most one <visual>, got {}",
                link.name(),
                2 + all.count()
            );
            return Err(report.error(second, message));
        }
        self.check_all(visual, &["geometry", "material"], &IN_VISUAL);
        let mut properties = self.visual_properties(visual)?;
        if properties.illustration.is_none() {
            let message = format!(
                "visual '{}' is disabled for illustration, which is ignored: as in Drake, viewers \
                 show deformable bodies",
                visual.name()
            );
            report.warning(visual, message);
        }
        let Some(geometry) = visual.child("geometry") else {
            return Ok(properties);
        };
        self.check_all(geometry, &["empty", "mesh"], &[]);
        let Some(mesh) = geometry.child("mesh") else {
            return Ok(properties);
        };
        self.check_all(mesh, &["uri", "scale"], &[]);
        let Some(perception) = &mut properties.perception else {
            let message = format!(
                "the <mesh> of visual '{}' is ignored: cameras would show it, but perception is \
                 disabled, and viewers show the surface of the deformable body",
                visual.name()
            );
            report.warning(mesh, message);
            return Ok(properties);
        };
        let scale = |mesh: Option<&Element>| {
            let scale = mesh.and_then(|m| m.vector::<3>("scale"));
            scale.unwrap_or([1.0; 3])
        };
        let body = link.descendant(&["collision", "geometry", "mesh"]);
        let (own, of_body) = (scale(Some(mesh)), scale(body));
        if own != of_body {
            let message = format!(
                "<scale> is {own:?}, which is ignored: as in Drake, the mesh has the scale of the \
                 deformable body, {of_body:?}"
            );
            report.warning(mesh, message);
        }
        let uri = report.required_text(mesh, "uri")?;
        let directory = mesh.place.source.directory.as_deref();
        let path = self.target.resolve(uri, directory);
        let path = path.map_err(|why| report.error(mesh, why))?;
        perception.set_untyped("deformable", "embedded_mesh", path.display().to_string());
        Ok(properties)
    }
}
