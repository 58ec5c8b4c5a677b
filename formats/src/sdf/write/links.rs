//! Links with their geometry and cameras.

use super::{SdfWriter, write_pose};
use crate::writing::document::{ModelDocument, TakenNames};
use crate::writing::geometries::BodyGeometry;
use crate::writing::poses::central_inertia;
use crate::writing::xml::{XmlText, number, numbers};
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_framework::math;
use tarragon_geometry::{GeometryProperties, HydroelasticType, MeshSource, Rgba, Shape};
use tarragon_multibody::{BodyIndex, ModelCamera, SpatialInertia};

/// Colours of a material besides `diffuse`.
const MORE_COLORS: [&str; 3] = ["ambient", "specular", "emissive"];

impl SdfWriter<'_> {
    pub(super) fn write_links(&mut self) {
        let plant = self.document.plant;
        for visual in [true, false] {
            let on_world = self.document.geometries(BodyIndex::WORLD, visual);
            let names: Vec<&str> = on_world.iter().map(|g| g.name).collect();
            self.document.leave_out("geometry of the world", &names);
        }
        for (index, body) in plant.bodies().skip(1) {
            let link = self.links[index.index()].clone();
            self.document.xml.start("link").attribute("name", &link);
            self.write_placement(index);
            self.write_inertial(&link, body.spatial_inertia());
            for visual in [true, false] {
                let mut names = TakenNames::default();
                for geometry in self.document.geometries(index, visual) {
                    self.write_geometry(index, visual, &geometry, &mut names);
                }
            }
            self.write_cameras(index);
            self.document.xml.end();
        }
        let on_world = plant.model_cameras().iter();
        let on_world = on_world.filter(|c| plant[c.frame].body() == BodyIndex::WORLD);
        let names: Vec<&str> = on_world.map(|c| &*c.name).collect();
        self.document.leave_out("camera on the world", &names);
    }

    fn write_placement(&mut self, body: BodyIndex) {
        let Some(placed) = self.layout.placements[body.index()] else {
            return;
        };
        let xml = &mut self.document.xml;
        if placed.base == BodyIndex::WORLD {
            write_pose(xml, &(self.x_wm.inverse() * placed.x_wb), None)
        } else {
            let base = &self.links[placed.base.index()];
            write_pose(xml, &placed.x_base_body, Some(base));
        }
    }

    fn write_inertial(&mut self, link: &str, inertia: &SpatialInertia) {
        let central = if *inertia == SpatialInertia::zero() {
            Some(Matrix3::zeros())
        } else {
            central_inertia(inertia).filter(|_| inertia.mass() > 0.0)
        };
        let (mass, i) = match central {
            Some(central) => (inertia.mass(), central),
            None => {
                self.document.warn(format!(
                    "body '{link}': its mass properties become zero, because they are physically \
                     impossible"
                ));
                (0.0, Matrix3::zeros())
            }
        };
        let xml = &mut self.document.xml;
        xml.start("inertial");
        let p = inertia.center_of_mass();
        write_pose(xml, &Isometry3::translation(p.x, p.y, p.z), None);
        xml.text("mass", &number(mass));
        xml.start("inertia");
        for (name, at) in [
            ("ixx", (0, 0)),
            ("ixy", (0, 1)),
            ("ixz", (0, 2)),
            ("iyy", (1, 1)),
            ("iyz", (1, 2)),
            ("izz", (2, 2)),
        ] {
            xml.text(name, &number(i[at]));
        }
        xml.end();
        xml.end();
    }

    fn write_geometry(
        &mut self,
        body: BodyIndex,
        visual: bool,
        geometry: &BodyGeometry<'_>,
        names: &mut TakenNames,
    ) {
        let document = &mut self.document;
        let tag = if visual { "visual" } else { "collision" };
        let link = &self.links[body.index()];
        let what = format!("{tag} '{}' of link '{link}'", geometry.name);
        if visual && geometry.illustration.is_none() && geometry.perception.is_none() {
            document.warn(format!("{what}: left out, because it has no role"));
            return;
        }
        let Some(shape) = document.sdf_shape(&what, geometry.shape, !visual) else {
            return;
        };
        let instance = document.plant[body].model_instance();
        let name = document.name(names, tag, instance, geometry.name);
        document.xml.start(tag).attribute("name", &name);
        let x_bg = match geometry.shape {
            // The reader turns planes by a quarter.
            Shape::HalfSpace(_) => {
                let back = math::rotation_z(-std::f64::consts::FRAC_PI_2);
                geometry.x_bg * math::pose(back, Vector3::zeros())
            }
            _ => *geometry.x_bg,
        };
        write_pose(&mut document.xml, &x_bg, None);
        document.xml.start("geometry").start(shape.tag);
        for (tag, text) in &shape.children {
            document.xml.text(tag, text);
        }
        if shape.convex {
            document.xml.start("drake:declare_convex").end();
        }
        document.xml.end();
        document.xml.end();
        if visual {
            document.write_appearance(&what, body, geometry)
        } else {
            document.write_sdf_contact(&what, geometry)
        }
        document.xml.end();
    }

    fn write_cameras(&mut self, body: BodyIndex) {
        let plant = self.document.plant;
        let mut names = TakenNames::default();
        for camera in plant.model_cameras() {
            let frame = &plant[camera.frame];
            if frame.body() == body {
                let instance = plant[body].model_instance();
                let document = &mut self.document;
                let name = document.name(&mut names, "camera", instance, &camera.name);
                write_camera(
                    &mut document.xml,
                    &name,
                    camera,
                    &(frame.pose_in_body() * camera.x_fc),
                );
            }
        }
    }
}

/// Writes a camera, which looks along x of its sensor with z up.
fn write_camera(xml: &mut XmlText, name: &str, camera: &ModelCamera, x_bc: &Isometry3<f64>) {
    let kind = match (camera.rgb, camera.depth) {
        (true, true) => "rgbd_camera",
        (false, true) => "depth_camera",
        _ => "camera",
    };
    xml.start("sensor").attribute("name", name);
    xml.attribute("type", kind);
    let columns = [-Vector3::y(), -Vector3::z(), Vector3::x()];
    let optical = math::rotation_from_matrix(&Matrix3::from_columns(&columns));
    let x_bs = x_bc * math::pose(optical, Vector3::zeros()).inverse();
    write_pose(xml, &x_bs, None);
    xml.text("update_rate", &number(camera.fps));
    xml.start("camera");
    let ratio = f64::from(camera.height) / f64::from(camera.width);
    let horizontal = 2.0 * ((camera.fov_y / 2.0).tan() / ratio).atan();
    xml.text("horizontal_fov", &number(horizontal));
    xml.start("image");
    xml.text("width", &camera.width.to_string());
    xml.text("height", &camera.height.to_string());
    xml.end();
    xml.start("clip");
    xml.text("near", &number(camera.near));
    xml.text("far", &number(camera.far));
    xml.end();
    xml.end();
    xml.end();
}

/// A shape as an element.
struct SdfShape {
    tag: &'static str,
    children: Vec<(&'static str, String)>,
    convex: bool,
}

impl ModelDocument<'_> {
    /// Returns the element of a shape; reports a shape that has none.
    fn sdf_shape(&mut self, what: &str, shape: &Shape, for_contact: bool) -> Option<SdfShape> {
        let mut mesh = |source: &MeshSource, scale: Vector3<f64>, convex: bool| {
            let uri = self.mesh_uri(source, what, for_contact)?;
            let scale = numbers(scale.as_slice());
            Some(SdfShape {
                tag: "mesh",
                children: vec![("uri", uri), ("scale", scale)],
                convex,
            })
        };
        let (tag, children) = match shape {
            // Readers replace a radius of 0, which Drake permits in URDF.
            Shape::Sphere(s) if s.radius() == 0.0 => {
                self.warn(format!("{what}: left out, because its radius is 0 m"));
                return None;
            }
            Shape::Box(s) => ("box", vec![("size", numbers(s.size().as_slice()))]),
            Shape::Sphere(s) => ("sphere", vec![("radius", number(s.radius()))]),
            Shape::Cylinder(s) => {
                let (r, l) = (number(s.radius()), number(s.length()));
                ("cylinder", vec![("radius", r), ("length", l)])
            }
            Shape::Capsule(s) => {
                let (r, l) = (number(s.radius()), number(s.length()));
                ("capsule", vec![("radius", r), ("length", l)])
            }
            Shape::Ellipsoid(s) => {
                let radii = numbers(s.semi_axes().as_slice());
                ("ellipsoid", vec![("radii", radii)])
            }
            Shape::HalfSpace(_) => {
                let normal = ("normal", "0 0 1".to_string());
                ("plane", vec![normal, ("size", "1 1".to_string())])
            }
            Shape::Mesh(s) => return mesh(s.source(), s.scale3(), false),
            Shape::Convex(s) => return mesh(s.source(), s.scale3(), true),
            other => {
                let kind = other.type_name();
                self.warn(format!(
                    "{what}: left out, because SDFormat has no shape {kind}"
                ));
                return None;
            }
        };
        Some(SdfShape {
            tag,
            children,
            convex: false,
        })
    }

    fn write_appearance(&mut self, what: &str, body: BodyIndex, geometry: &BodyGeometry<'_>) {
        let appearance = self.appearance(what, body, geometry, &MORE_COLORS);
        let texture = appearance.diffuse_map.as_ref();
        let what = format!("texture of {what}");
        let texture = texture.and_then(|path| self.uri(path.as_ref(), &what));
        let of_role = geometry.illustration.or(geometry.perception);
        let color = |name: &str| -> Option<Rgba> {
            let properties: &GeometryProperties = of_role?;
            properties.try_get("phong", name).ok().flatten().copied()
        };
        let colors = ["diffuse"].into_iter().chain(MORE_COLORS);
        let colors: Vec<(&'static str, Rgba)> = colors
            .filter_map(|name| Some((name, color(name)?)))
            .collect();
        let xml = &mut self.xml;
        if !colors.is_empty() || texture.is_some() {
            xml.start("material");
            for (name, color) in colors {
                xml.text(name, &numbers(&color.rgba()));
            }
            if let Some(texture) = texture {
                xml.text("drake:diffuse_map", &texture);
            }
            xml.end();
        }
        for name in appearance.accepting.iter().flatten() {
            xml.text("drake:accepting_renderer", name);
        }
        for (tag, role) in [
            ("drake:illustration_properties", geometry.illustration),
            ("drake:perception_properties", geometry.perception),
        ] {
            if role.is_none() {
                xml.start(tag).attribute("enabled", "false").end();
            }
        }
    }

    fn write_sdf_contact(&mut self, what: &str, geometry: &BodyGeometry<'_>) {
        const LACKING: [&str; 1] = ["drake:slab_thickness"];
        // The modulus of a rigid geometry has no meaning and is ignored.
        const OF_RIGID: [&str; 2] = ["drake:slab_thickness", "drake:hydroelastic_modulus"];
        let kind = geometry
            .proximity
            .and_then(|p| p.try_get("hydroelastic", "compliance_type").ok().flatten());
        let without: &[&str] = match kind {
            Some(HydroelasticType::Rigid) => &OF_RIGID,
            _ => &LACKING,
        };
        let contact = self.contact_properties(what, geometry.proximity, without);
        let xml = &mut self.xml;
        xml.start("drake:proximity_properties");
        match contact.hydroelastic {
            HydroelasticType::Rigid => xml.start("drake:rigid_hydroelastic").end(),
            HydroelasticType::Compliant => xml.start("drake:compliant_hydroelastic").end(),
            HydroelasticType::Undefined => {}
        }
        for (tag, value) in contact.numbers {
            xml.text(tag, &number(value));
        }
        if let Some(mu) = contact.friction {
            xml.text("drake:mu_static", &number(mu.static_friction()));
            xml.text("drake:mu_dynamic", &number(mu.dynamic_friction()));
        }
        if let Some(count) = contact.max_pieces {
            xml.text("tarragon:max_convex_pieces", &count.to_string());
        }
        xml.end();
    }
}
