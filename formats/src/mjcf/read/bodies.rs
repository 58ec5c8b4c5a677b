//! `<worldbody>` and `<body>`: the tree of bodies.

use super::builder::MjcfBuilder;
use super::compiler::InertiaFromGeom;
use super::geoms::Geom;
use super::mesh_inertia::RigidInertia;
use super::tree::ElementRef;
use nalgebra::{Isometry3, Matrix3, Vector3};
use tarragon_documents::names::unused;
use tarragon_documents::xml::Parsed;
use tarragon_framework::math;
use tarragon_multibody::{BodyIndex, FrameIndex, SpatialInertia, rotational_inertia};

const IGNORED: [(&str, &str); 3] = [
    ("mocap", "bodies move only by their joints"),
    ("sleep", "bodies never sleep"),
    ("user", "user data is not supported"),
];

/// Elements that MuJoCo's reading expands into bodies.
const EXPANDED: [&str; 5] = ["attach", "composite", "flexcomp", "frame", "replicate"];

/// A body that is still to be added.
struct PendingBody<'d> {
    node: ElementRef<'d>,
    parent: BodyIndex,
    x_wp: Isometry3<f64>,
    childclass: Option<&'d str>,
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    /// Adds the geoms of the world and then all bodies, parents before children.
    pub(super) fn add_worldbody(&mut self, world: ElementRef<'d>) {
        let childclass = self.childclass(world, None);
        let identity = Isometry3::identity();
        for geom in self.document.read_geoms(world, childclass, false) {
            self.add_geom(&geom, BodyIndex::WORLD);
        }
        self.add_annotations(world, BodyIndex::WORLD, childclass);
        let mut waiting = bodies_in(world, BodyIndex::WORLD, identity, childclass);
        while let Some(next) = waiting.pop() {
            // The children of a body that could not be added are left out with it.
            waiting.extend(self.add_body(&next).unwrap_or_default());
        }
    }

    fn add_geom(&mut self, geom: &Geom<'d>, body: BodyIndex) {
        if let Some((name, x_bg, shape)) = geom.named_shape() {
            self.named_geoms.insert(name, (body, x_bg, shape.clone()));
        }
        let registered = geom.register(body, self.target);
        self.collision_masks.extend(registered);
        if let Some(name) = geom.collision_name() {
            let id = registered.map(|(id, _)| id);
            self.collision_geoms.insert(name.into(), (body, id));
        }
    }

    /// Returns the frame of a body that was added.
    pub(super) fn body_frame(&self, body: BodyIndex) -> FrameIndex {
        let body = self.target.plant.body(body);
        body.map_or(FrameIndex::WORLD, |b| b.body_frame())
    }

    fn childclass(&self, node: ElementRef<'d>, around: Option<&'d str>) -> Option<&'d str> {
        let framed = || node.frame().and_then(|frame| frame.class.as_deref());
        let own = node.own_text("childclass").or_else(framed);
        if let Some(class) = own {
            self.document.defaults.check_childclass(node, class);
        }
        own.or(around)
    }

    /// Adds a body with its joints and geoms; returns its child bodies, which are still to be
    /// added.
    fn add_body(&mut self, waiting: &PendingBody<'d>) -> Parsed<Vec<PendingBody<'d>>> {
        let PendingBody {
            node, parent, x_wp, ..
        } = *waiting;
        node.ignore_attributes(&IGNORED);
        let childclass = self.childclass(node, waiting.childclass);
        // After an error in the pose, reading continues to find further errors.
        let x_pb = self.document.compiler(node).pose(node).unwrap_or_default();
        let x_wb = x_wp * x_pb;
        let inertial = node.first("inertial");
        let compiler = self.document.compiler(node);
        let from_geoms = match compiler.inertia_from_geom {
            InertiaFromGeom::Always => true,
            InertiaFromGeom::Auto => inertial.is_none(),
            InertiaFromGeom::Never => false,
        };
        let geoms = self.document.read_geoms(node, childclass, from_geoms);
        let solids = || geoms.iter().filter_map(|g| g.solid);
        // MuJoCo takes what it is given if no geom has a mass.
        let given = inertial.filter(|_| !compiler.as_drake() && solids().all(|s| s.mass == 0.0));
        let inertia = match given.or(inertial.filter(|_| !from_geoms)) {
            None if from_geoms => Ok(total(solids())),
            None if !compiler.as_drake() => Ok(RigidInertia::zero()),
            Some(inertial) => self.read_inertial(inertial),
            None => Err(node.error(
                "<body> has no <inertial>, and the compiler's 'inertiafromgeom' is off; give the \
                 body an <inertial>",
            )),
        };
        let main = self.document.main_compiler();
        let inertia = inertia.and_then(|m| main.corrected(m).map_err(|e| node.error(e)));
        let inertia = inertia.unwrap_or(SpatialInertia::zero());
        let number = self.target.plant.num_bodies();
        let name = node.name().map_or_else(
            || {
                let names = Some(&self.names).filter(|_| !compiler.as_drake());
                unused(format!("body{number}"), |name| {
                    names.is_some_and(|names| names.contains(name))
                })
            },
            String::from,
        );
        let body = self
            .target
            .plant
            .add_rigid_body(&name, self.instance, inertia);
        let body = body.map_err(|e| node.error(e))?;
        if let Some(name) = node.name() {
            self.bodies.insert(name, body);
        }
        self.poses.insert(body, x_wb);
        if !compiler.as_drake() {
            let parent = Some(parent).filter(|_| self.document.flags.filter_parent);
            self.target.plant.set_mjcf_parent(body, parent);
        }
        self.set_gravity_compensation(node, body);
        self.add_joints(node, body, parent, &x_pb, &x_wb, childclass);
        for geom in &geoms {
            self.add_geom(geom, body);
        }
        self.add_annotations(node, body, childclass);
        Ok(bodies_in(node, body, x_wb, childclass))
    }

    fn set_gravity_compensation(&mut self, node: ElementRef<'d>, body: BodyIndex) {
        if self.document.compiler(node).as_drake() {
            return node
                .lost()
                .ignore_attributes(&[("gravcomp", "Drake has no gravity compensation")]);
        }
        // An error in the number was reported.
        let Ok(Some(fraction)) = node.number("gravcomp") else {
            return;
        };
        let plant = &mut *self.target.plant;
        if let Err(error) = plant.set_gravity_compensation(body, fraction) {
            node.error_at("gravcomp", error);
        }
    }

    fn read_inertial(&self, node: ElementRef<'_>) -> Parsed<RigidInertia> {
        let Some(mass) = node.number("mass")? else {
            return Err(node.error("<inertial> has no attribute 'mass'"));
        };
        let as_drake = self.document.compiler(node).as_drake();
        if mass < 0.0 || (mass == 0.0 && as_drake) {
            let message = format!("the mass must be positive, got {mass:?} kg");
            return Err(node.error_at("mass", message));
        }
        let x_bi = self.document.compiler(node).pose(node)?;
        let (moments, products, x_bi) = match (
            node.vector::<3>("diaginertia")?,
            node.vector::<6>("fullinertia")?,
        ) {
            (Some(moments), _) => (moments, [0.0; 3], x_bi),
            (None, Some([xx, yy, zz, xy, xz, yz])) => {
                if x_bi.rotation.angle() != 0.0 {
                    node.warning(
                            "<inertial> has 'fullinertia' and an orientation; the orientation is ignored: \
                             'fullinertia' is in the frame of the body",
                        );
                }
                let x_bi = math::pose(Default::default(), x_bi.translation.vector);
                ([xx, yy, zz], [xy, xz, yz], x_bi)
            }
            (None, None) => {
                let message = "<inertial> has neither 'diaginertia' nor 'fullinertia'";
                return Err(node.error(message));
            }
        };
        Ok(RigidInertia {
            mass,
            center: x_bi.translation.vector,
            inertia: rotational_inertia(moments, products, &x_bi),
        })
    }

    /// Scales the masses of all bodies, so that they add up to `settotalmass`.
    pub(super) fn set_total_mass(&mut self, first: BodyIndex) {
        let Some(wanted) = self.document.main_compiler().total_mass else {
            return;
        };
        let plant = &mut *self.target.plant;
        let bodies = first.index()..plant.num_bodies();
        let mass = |i| {
            plant
                .body(BodyIndex::new(i))
                .map_or(0.0, |b| b.spatial_inertia().mass())
        };
        let total: f64 = bodies.clone().map(mass).sum();
        if total > 0.0 {
            plant.scale_masses(bodies, wanted / total);
        }
    }

    /// Adds the sites and cameras of a body, and warns about unsupported children.
    fn add_annotations(&mut self, node: ElementRef<'d>, body: BodyIndex, childclass: Option<&str>) {
        let as_drake = self.document.main_compiler().as_drake();
        for child in node.children() {
            let why = match child.tag() {
                "site" => {
                    let site = self.document.defaults.apply(child, childclass);
                    // Errors were reported.
                    let _ = self.add_site(site, body);
                    continue;
                }
                "camera" => {
                    let camera = self.document.defaults.apply(child, childclass);
                    let _ = self.add_camera(camera, body);
                    continue;
                }
                "body" | "geom" => continue,
                "joint" | "freejoint" | "inertial" if body != BodyIndex::WORLD => continue,
                "joint" | "freejoint" | "inertial" => "the world has neither joints nor inertia",
                "composite" | "flexcomp" if !as_drake => continue,
                "frame" => "its content is left out as well; move the elements into the body",
                "replicate" => "its content is left out as well; write out the copies",
                "attach" => "attaching models to models is not supported; use model directives",
                "composite" | "flexcomp" => "composite and deformable bodies are not supported",
                "light" => "lights are not part of models",
                "plugin" => "plugins are not supported",
                // The vocabulary check reports all others.
                _ => continue,
            };
            let is_lost = as_drake && EXPANDED.contains(&child.tag());
            child.lost_if(is_lost).ignored(why);
        }
    }
}

/// Returns the child bodies of an element, the last one first.
fn bodies_in<'d>(
    node: ElementRef<'d>,
    parent: BodyIndex,
    x_wp: Isometry3<f64>,
    childclass: Option<&'d str>,
) -> Vec<PendingBody<'d>> {
    let bodies = node.children().rev().filter(|c| c.tag() == "body");
    let waiting = bodies.map(|node| PendingBody {
        node,
        parent,
        x_wp,
        childclass,
    });
    waiting.collect()
}

/// Adds up the mass properties of solids.
fn total(solids: impl Iterator<Item = RigidInertia> + Clone) -> RigidInertia {
    let mass: f64 = solids.clone().map(|s| s.mass).sum();
    if mass == 0.0 {
        return RigidInertia::zero();
    }
    let center = solids
        .clone()
        .map(|s| s.center * s.mass)
        .sum::<Vector3<f64>>()
        / mass;
    let about = solids.map(|s| {
        let p = s.center - center;
        s.inertia + (Matrix3::from_diagonal_element(p.norm_squared()) - p * p.transpose()) * s.mass
    });
    RigidInertia {
        mass,
        center,
        inertia: about.sum(),
    }
}
