//! `<geom>`: shapes, appearance, friction and mass.

use super::assets::{grey, read_rgba};
use super::compiler::{boolean, z_to};
use super::contact_properties::{GeomContact, check_contact};
use super::fit::fit;
use super::geom_texture::GeomTexture;
use super::mesh_asset::MeshAsset;
use super::mesh_inertia::{RigidInertia, UnitSolid};
use super::sections::GlobalSections;
use super::shell;
use super::tree::ElementRef;
use crate::reading::target::ParseTarget;
use nalgebra::{Isometry3, Unit, Vector3};
use std::collections::BTreeSet;
use tarragon_documents::names::missing;
use tarragon_documents::names::unused;
use tarragon_documents::xml::Parsed;
use tarragon_framework::{counted, math};
use tarragon_geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, GeometryId, HalfSpace, IllustrationProperties,
    PerceptionProperties, Rgba, Shape, Sphere, calc_mass_properties,
};
use tarragon_multibody::{BodyIndex, VisualProperties};

const IGNORED: [(&str, &str); 3] = [
    ("fluidcoef", "no medium is simulated"),
    ("fluidshape", "no medium is simulated"),
    ("user", "user data is not supported"),
];

/// Density (kg/m^3) of a geom that gives neither mass nor density.
const WATER: f64 = 1000.0;
/// Highest group of geoms that is drawn.
pub(super) const LAST_VISIBLE_GROUP: f64 = 2.0;

/// A geom that was read.
pub(super) struct Geom<'a> {
    node: ElementRef<'a>,
    name: String,
    x_bg: Isometry3<f64>,
    shape: Shape,
    visible: bool,
    contact: GeomContact,
    rgba: Option<Rgba>,
    texture: Option<GeomTexture<'a>>,
    /// Mass properties, if requested; planes have none.
    pub(super) solid: Option<RigidInertia>,
}

/// Shape of a geom.
struct ReadShape<'a> {
    shape: Shape,
    /// Pose of the shape in the frame of the body.
    pose: Isometry3<f64>,
    /// The asset, if the shape is a mesh.
    mesh: Option<&'a MeshAsset>,
}

impl GlobalSections {
    /// Reads the geoms of a body; those that are left out are reported.
    pub(super) fn read_geoms<'a>(
        &'a self,
        body: ElementRef<'a>,
        childclass: Option<&str>,
        want_mass: bool,
    ) -> Vec<Geom<'a>> {
        let mut geoms: Vec<Geom<'a>> = vec![];
        let names: BTreeSet<&str> = body
            .children_named("geom")
            .filter_map(|g| g.name())
            .collect();
        for node in body.children_named("geom") {
            let node = self.defaults.apply(node, childclass);
            let name = node.name().map_or_else(
                || {
                    let name = format!("geom{}", geoms.len());
                    unused(name, |n| {
                        names.contains(n) && !self.main_compiler().as_drake()
                    })
                },
                String::from,
            );
            if let Ok(Some(geom)) = self.read_geom(node, name, want_mass) {
                geoms.push(geom);
            }
        }
        geoms
    }

    fn read_geom<'a>(
        &'a self,
        node: ElementRef<'a>,
        name: String,
        want_mass: bool,
    ) -> Parsed<Option<Geom<'a>>> {
        node.ignore_attributes(&IGNORED);
        check_contact(node, self.main_compiler().as_drake());
        let Some(read) = self.read_shape(node, &name)? else {
            return Ok(None);
        };
        let (shape, x_bg) = (read.shape, read.pose);
        let number = |name: &str, default| Ok(node.number(name)?.unwrap_or(default));
        let contact = self.read_contact(node, &name)?;
        let is_sdf = node.text("type").map(str::trim) == Some("sdf");
        if is_sdf && contact.collides {
            let message = "geoms of type 'sdf' collide with the triangles of their meshes, not with \
                           distance functions";
            node.warning_grouped("type", message);
        }
        if let Some(plugin) = node.first("plugin").filter(|_| !is_sdf) {
            plugin.ignored("only geoms of type 'sdf' have a distance function");
        }
        let material = node
            .text("material")
            .and_then(|m| self.assets.materials.get(m));
        let rgba = read_rgba(node)?.or(material.and_then(|m| m.rgba));
        if let Some(material) = node.text("material")
            && !self.assets.materials.contains_key(material)
        {
            let known = self.assets.materials.keys().map(|k| &**k);
            if !self.assets.is_explained("material", material) {
                let missing = missing("material", material, known);
                node.warning_at(
                    "material",
                    format!("geom '{name}' has no material: {missing}"),
                );
            }
        }
        let group = number("group", 0.0)?;
        let [first, last] = self.main_compiler().inertia_groups;
        let solid = if want_mass && first <= group && group <= last {
            self.read_solid(node, &name, &shape, &x_bg, read.mesh)?
        } else {
            None
        };
        let visible = group <= LAST_VISIBLE_GROUP;
        let texture = self.geom_texture(node, material, (&shape, read.mesh))?;
        Ok(Some(Geom {
            node,
            name,
            x_bg,
            shape,
            visible,
            contact,
            texture,
            rgba,
            solid,
        }))
    }

    /// Reads the shape and its pose; `None` if the geom is left out.
    fn read_shape<'a>(&'a self, node: ElementRef<'_>, name: &str) -> Parsed<Option<ReadShape<'a>>> {
        let compiler = self.compiler(node);
        let kind = node.text("type").map_or("sphere", str::trim);
        let fromto = node.vector::<6>("fromto")?;
        match kind {
            "plane" | "sphere" | "capsule" | "cylinder" | "mesh" => {}
            "box" | "ellipsoid" if fromto.is_none() || !compiler.as_drake() => {}
            "sdf" if !compiler.as_drake() => {}
            "hfield" if !compiler.as_drake() => return self.read_height_geom(node, name),
            "box" | "ellipsoid" => {
                let message =
                    format!("geom '{name}' is left out: 'fromto' of a {kind} is not supported");
                node.lost().warning_at("fromto", message);
                return Ok(None);
            }
            "hfield" | "sdf" => {
                let message =
                    format!("geom '{name}' is left out: shapes of type '{kind}' are not supported");
                node.lost().warning_at("type", message);
                return Ok(None);
            }
            other => {
                let message = format!(
                    "geom '{name}': type must be plane, sphere, capsule, ellipsoid, cylinder, box, \
                     mesh, hfield or sdf, got '{other}'"
                );
                return Err(node.error_at("type", message));
            }
        }
        let (mut x_bg, half_length) = match fromto {
            None => (compiler.pose(node)?, None),
            Some([a, b, c, d, e, f]) => {
                let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
                let Some((z, length)) = Unit::try_new_and_get(to - from, 1e-10) else {
                    let message = format!("geom '{name}': the two points of 'fromto' must differ");
                    return Err(node.error_at("fromto", message));
                };
                let pose = math::pose(z_to(&z), (from + to) / 2.0);
                let framed = node.frame().map_or(pose, |frame| frame.pose * pose);
                (framed, Some(length / 2.0))
            }
        };
        let is_mesh = matches!(kind, "mesh" | "sdf");
        let mesh = match node.text("mesh").map(str::trim).filter(|_| kind != "plane") {
            None if is_mesh => {
                let message =
                    format!("geom '{name}' is of type '{kind}' but has no attribute 'mesh'");
                return Err(node.error(message));
            }
            None => None,
            Some(mesh) => match self.assets.meshes.get(mesh) {
                Some(mesh) => Some(mesh),
                None => {
                    let known = self.assets.meshes.keys().map(|k| &**k);
                    if !self.assets.is_explained("mesh", mesh) {
                        let missing = missing("mesh", mesh, known);
                        node.warning_at("mesh", format!("geom '{name}' is left out: {missing}"));
                    }
                    return Ok(None);
                }
            },
        };
        if mesh.is_none() || is_mesh {
            node.ignore_attributes(&[("fitscale", "the shape is not fitted to a mesh")]);
        }
        let size = match mesh {
            Some(mesh) if is_mesh => {
                return Ok(Some(ReadShape {
                    shape: mesh.mesh.clone().into(),
                    pose: x_bg * mesh.x_gm,
                    mesh: Some(mesh),
                }));
            }
            Some(mesh) => {
                let (size, x_mp) = fit(node, kind, mesh, compiler.fit_aabb)?;
                x_bg *= x_mp;
                size
            }
            None if compiler.as_drake() => node.numbers("size")?.unwrap_or_default(),
            None => node.numbers_over_defaults("size")?,
        };
        let shape = self.make_shape(node, name, kind, &size, half_length)?;
        Ok(Some(ReadShape {
            shape,
            pose: x_bg,
            mesh: None,
        }))
    }

    /// Reads a geom of type `hfield`.
    fn read_height_geom<'a>(
        &'a self,
        node: ElementRef<'_>,
        name: &str,
    ) -> Parsed<Option<ReadShape<'a>>> {
        let Some(asset) = node.text("hfield").map(str::trim) else {
            let message = format!("geom '{name}' is a height field but has no attribute 'hfield'");
            return Err(node.error(message));
        };
        let Some(field) = self.assets.height_fields.get(asset) else {
            let known = self.assets.height_fields.keys().map(|k| &**k);
            if !self.assets.is_explained("hfield", asset) {
                let missing = missing("height field", asset, known);
                node.warning_at("hfield", format!("geom '{name}' is left out: {missing}"));
            }
            return Ok(None);
        };
        Ok(Some(ReadShape {
            shape: field.shape.clone().into(),
            pose: self.compiler(node).pose(node)?,
            mesh: None,
        }))
    }

    fn make_shape(
        &self,
        node: ElementRef<'_>,
        name: &str,
        kind: &str,
        size: &[f64],
        half_length: Option<f64>,
    ) -> Parsed<Shape> {
        let missing = |n: usize| {
            let message = format!(
                "geom '{name}': 'size' of a {kind} must have at least {numbers}, got {}",
                size.len(),
                numbers = counted(n, "number")
            );
            node.error_at("size", message)
        };
        let long = || match (size, half_length) {
            ([r, ..], Some(half)) => Ok((*r, 2.0 * half)),
            ([r, half, ..], None) => Ok((*r, 2.0 * half)),
            ([], Some(_)) => Err(missing(1)),
            _ => Err(missing(2)),
        };
        let three = || match (size, half_length) {
            // Between two points, the cross-section is square or round.
            ([a, ..], Some(half)) => Ok((*a, *a, half)),
            ([a, b, c, ..], None) => Ok((*a, *b, *c)),
            ([], Some(_)) => Err(missing(1)),
            _ => Err(missing(3)),
        };
        let shape = match kind {
            "plane" => Ok(Shape::from(HalfSpace)),
            "capsule" => {
                let (radius, length) = long()?;
                Capsule::new(radius, length).map(Shape::from)
            }
            "cylinder" => {
                let (radius, length) = long()?;
                Cylinder::new(radius, length).map(Shape::from)
            }
            "box" => {
                let (a, b, c) = three()?;
                BoxShape::new(2.0 * a, 2.0 * b, 2.0 * c).map(Shape::from)
            }
            "ellipsoid" => {
                let (a, b, c) = three()?;
                Ellipsoid::new(a, b, c).map(Shape::from)
            }
            _ => {
                if size.is_empty() {
                    node.warning(format!(
                        "geom '{name}' is a sphere without 'size' and gets the radius 0"
                    ));
                }
                Sphere::new(size.first().copied().unwrap_or(0.0)).map(Shape::from)
            }
        };
        shape.map_err(|e| node.error_at("size", format!("geom '{name}': {e}")))
    }

    fn read_solid(
        &self,
        node: ElementRef<'_>,
        name: &str,
        shape: &Shape,
        x_bg: &Isometry3<f64>,
        mesh: Option<&MeshAsset>,
    ) -> Parsed<Option<RigidInertia>> {
        let solid = self.assets.solid_of_height_field(node, shape);
        let shape = solid.as_ref().unwrap_or(shape);
        let unit = match shape {
            Shape::HalfSpace(_) => return Ok(None),
            // Only a sphere without a size can have the radius 0 here.
            Shape::Sphere(s) if s.radius() == 0.0 && node.text("size").is_none() => {
                return Ok(None);
            }
            shape => match (mesh, self.is_shell(node, shape)?) {
                // Its pose is that of the mesh already.
                (Some(mesh), _) => mesh.solid_in_mesh(node)?,
                (None, Some(shell)) => shell,
                (None, None) => {
                    let unit = calc_mass_properties(shape, 1.0);
                    unit.map_err(|e| node.error(format!("geom '{name}': {e}")))?
                        .into()
                }
            },
        };
        if unit.size <= 0.0 {
            let message = format!(
                "geom '{name}' has no volume and thus no inertia; give it a size, or give the body \
                 an <inertial>"
            );
            return Err(node.error_at("size", message));
        }
        let density = node.number("density")?.unwrap_or(WATER);
        let (mass, at) = match node.number("mass")? {
            Some(mass) => (mass, "mass"),
            None => (density * unit.size, "density"),
        };
        if !(mass >= 0.0 && mass.is_finite()) {
            let message =
                format!("geom '{name}': the mass must be finite and at least 0, got {mass:?} kg");
            return Err(node.error_at(at, message));
        }
        let moved = unit.moved(x_bg);
        Ok(Some(RigidInertia {
            mass,
            center: moved.center,
            inertia: moved.inertia * (mass / unit.size),
        }))
    }

    /// Returns the mass properties of the surface of a shape, if the geom asks for them.
    fn is_shell(&self, node: ElementRef<'_>, shape: &Shape) -> Parsed<Option<UnitSolid>> {
        if self.compiler(node).as_drake() {
            node.lost()
                .ignore_attributes(&[("shellinertia", "geoms are solid")]);
            return Ok(None);
        }
        if boolean(node, "shellinertia")? != Some(true) {
            return Ok(None);
        }
        let shell = shell::of_shape(shape);
        if shell.is_none() {
            let message = "attribute 'shellinertia' of <geom> is ignored: this shape is solid";
            node.warning_grouped("shellinertia", message);
        }
        Ok(shell)
    }
}

impl<'a> Geom<'a> {
    /// Returns name, pose in the body and shape, unless the geom has no name.
    pub(super) fn named_shape(&self) -> Option<(&'a str, Isometry3<f64>, &Shape)> {
        let name = self.node.name()?;
        Some((name, self.x_bg, &self.shape))
    }

    /// Returns the name of the geom if it has collision geometry.
    pub(super) fn collision_name(&self) -> Option<&str> {
        self.contact.collides.then_some(&*self.name)
    }

    /// Adds the geom to the scene; returns its collision geometry with its masks, if there is one.
    pub(super) fn register(
        &self,
        body: BodyIndex,
        target: &mut ParseTarget<'_>,
    ) -> Option<(GeometryId, [u32; 2])> {
        let warn = |warnings: Vec<String>| {
            for warning in warnings {
                self.node
                    .warning(format!("geom '{}': {warning}", self.name));
            }
        };
        let result = self.register_visual(body, target).and_then(|warnings| {
            warn(warnings);
            if !self.contact.collides {
                return Ok(None);
            }
            let properties = self.contact.properties()?;
            let (x, shape) = (self.x_bg, self.shape.clone());
            let (id, warnings) =
                target.register_collision(body, x, shape, &self.name, properties)?;
            warn(warnings);
            Ok(id)
        });
        let registered = result.map_err(|error| {
            self.node.error(format!("geom '{}': {error}", self.name));
        });
        registered.ok().flatten().map(|id| (id, self.contact.masks))
    }

    fn register_visual(
        &self,
        body: BodyIndex,
        target: &mut ParseTarget<'_>,
    ) -> crate::Result<Vec<String>> {
        if !self.visible || target.leaves_out(&self.shape) {
            return Ok(vec![]);
        }
        let rgba = self.rgba.unwrap_or_else(grey);
        let mut illustration = IllustrationProperties::phong(rgba);
        let mut perception = PerceptionProperties::phong(rgba);
        if target.has_scene()
            && let Some(texture) = &self.texture
        {
            (illustration, perception) = texture.add_to(
                (illustration, perception),
                (self.node, &self.name),
                &self.shape,
                self.rgba,
            );
        }
        let properties = VisualProperties {
            illustration: Some(illustration),
            perception: Some(perception),
        };
        target.register_visual(body, self.x_bg, self.shape.clone(), &self.name, properties)
    }
}
